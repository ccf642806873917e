#include "config.h"

#include "kmeans/points/table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool table_open(struct table *table, const char *path, int dimensions, npy_type first,
                npy_type second, app_problem *problem) {
    char why[NPY_PROBLEM_SIZE];
    table->path = path;
    table->file = fopen(path, "rb");
    if (!table->file)
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    if (!npy_read_header(table->file, &table->header, why))
        return app_refuse(problem, "%s: %s", path, why);
    npy_type type = table->header.type;
    if (table->header.dimensions != dimensions || (type != first && type != second))
        return app_refuse(problem, "%s: has %d dimensions of %s; %d of %s are needed", path,
                          table->header.dimensions, npy_type_name(type), dimensions,
                          npy_type_name(first));
    if (!table->header.shape[0] || !table->header.shape[1])
        return app_refuse(problem, "%s: is empty", path);
    return true;
}

void table_close(struct table *table) {
    if (table->file)
        fclose(table->file);
}

bool table_seek(struct table *table, uint64_t row, app_problem *problem) {
    uint64_t row_size = table->header.shape[1] * npy_type_size(table->header.type);
    if (!fseeko(table->file, (off_t)(table->header.offset + row * row_size), SEEK_SET))
        return true;
    return app_refuse(problem, "%s: %s", table->path, strerror(errno));
}

bool table_read(struct table *table, void *row, app_problem *problem) {
    size_t row_size = table->header.shape[1] * npy_type_size(table->header.type);
    if (fread(row, row_size, 1, table->file) == 1)
        return true;
    return app_refuse(problem, "%s: %s", table->path,
                      ferror(table->file) ? strerror(errno) : "was cut off while it was read");
}

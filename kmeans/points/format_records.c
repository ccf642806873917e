/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are records of one size, as in .npy, .bvecs and .fbin. */
#include "config.h"

#include "app/progress.h"
#include "kmeans/points/format.h"
#include "kmeans/points/real.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vector files are little-endian");

bool km_has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

bool km_read_at(int file, const char *path, uint64_t offset, void *into, size_t count,
                app_problem *problem) {
    char *at = into;
    while (count > 0) {
        ssize_t got = pread(file, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return app_refuse(problem, "%s: can't be read: %s", path, strerror(errno));
        if (got == 0)
            return app_refuse(problem, "%s: ends early, at byte %" PRIu64, path, offset);
        at += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return true;
}

void km_report_read(const km_source *source, const char *what, uint64_t done, uint64_t all) {
    if (source->reports && app_progress_due())
        app_progress("%s %s: %.0f%%", what, source->path, 100 * (double)done / (double)all);
}

/* Reports a problem with VALUE, and its place in the file. */
static bool refuse_value(const km_source *source, uint64_t row, size_t column, double value,
                         const char *remedy, app_problem *problem) {
    const km_layout *layout = &source->layout;
    size_t size = npy_type_size(layout->element);
    if (source->dataset)
        return app_refuse(problem, "%s: row %" PRIu64 ", column %zu (counted from 0) is %g; %s",
                          source->path, row, column, value, remedy);
    uint64_t byte = layout->start + row * (layout->prefix + layout->dim * size) + layout->prefix +
                    column * size;
    return app_refuse(
        problem, "%s, byte %" PRIu64 ": row %" PRIu64 ", column %zu (counted from 0) is %g; %s",
        source->path, byte, row, column, value, remedy);
}

/* Converts the features of one record to float32. */
static bool convert_to_reals(const km_source *source, uint64_t row, const unsigned char *from,
                             uint8_t *into, app_problem *problem) {
    for (size_t column = 0; column < source->layout.dim; column++) {
        double number = npy_value(source->layout.element, from, column);
        float value = (float)number;
        if (!isfinite(value))
            return refuse_value(source, row, column, number,
                                "features are finite numbers within float32", problem);
        memcpy(into + column * sizeof value, &value, sizeof value);
    }
    return true;
}

/* Converts the features of one record to uint8. */
static bool convert_to_bytes(const km_source *source, uint64_t row, const unsigned char *from,
                             uint8_t *into, app_problem *problem) {
    size_t dim = source->layout.dim;
    if (source->layout.element == NPY_UINT8) {
        memcpy(into, from, dim);
        return true;
    }
    for (size_t column = 0; column < dim; column++) {
        double value = npy_value(source->layout.element, from, column);
        if (!(value >= 0 && value <= 255 && value == trunc(value)))
            return refuse_value(
                source, row, column, value,
                "features must be whole numbers from 0 to 255 if a file is text or gzipped",
                problem);
        into[column] = (uint8_t)value;
    }
    return true;
}

bool km_convert_record(const km_source *source, uint64_t row, const unsigned char *record,
                       uint8_t *into, app_problem *problem) {
    const km_layout *layout = &source->layout;
    if (layout->prefix) {
        int32_t dim;
        memcpy(&dim, record, sizeof dim);
        if (dim < 0 || (uint64_t)dim != layout->dim)
            return app_refuse(problem,
                              "%s: row %" PRIu64 " (counted from 0) has %" PRId32 " features where "
                              "row 0 has %" PRIu64,
                              source->path, row, dim, layout->dim);
    }
    return (source->reals ? convert_to_reals
                          : convert_to_bytes)(source, row, record + layout->prefix, into, problem);
}

/* Returns whether all of COUNT features are finite. */
static bool are_finite(const float *features, size_t count) {
    int other = 0;
#pragma omp simd reduction(| : other)
    for (size_t i = 0; i < count; i++)
        other |= !(fabsf(features[i]) <= FLT_MAX);
    return !other;
}

/* Converts COUNT records from number FIRST on to rows at INTO. If the records have the form of
 * rows, RECORDS is INTO, and only their features are checked. */
static bool convert_records(const km_source *source, uint64_t first, size_t count,
                            const unsigned char *records, size_t record, uint8_t *into,
                            app_problem *problem) {
    const size_t dim = source->layout.dim, bytes = dim * (source->reals ? sizeof(float) : 1);
    if (records == into && (!source->reals || are_finite((const float *)into, count * dim)))
        return true;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good =
            km_convert_record(source, first + i, records + i * record, into + i * bytes, problem);
    return good;
}

bool km_read_records(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                     app_problem *problem) {
    const km_layout *layout = &source->layout;
    size_t record = layout->prefix + layout->dim * npy_type_size(layout->element);
    const bool plain =
        layout->prefix == 0 && layout->element == (source->reals ? NPY_FLOAT32 : NPY_UINT8);
    enum { BUFFER = 1 << 20 };
    size_t most = record < BUFFER ? BUFFER / record : 1;
    unsigned char *buffer = plain ? NULL : malloc(most * record);
    if (!plain && !buffer)
        return app_refuse(problem, "%s: out of memory", source->path);
    bool good = true;
    size_t size = source->reals ? sizeof(float) : 1;
    for (size_t done = 0; good && done < rows;) {
        size_t count = rows - done < most ? rows - done : most;
        uint8_t *to = into + done * layout->dim * size;
        unsigned char *records = plain ? to : buffer;
        km_report_read(source, "reading", done, rows);
        good = km_read_at(file, source->path, layout->start + (first + done) * record, records,
                          count * record, problem) &&
               convert_records(source, first + done, count, records, record, to, problem);
        done += count;
    }
    free(buffer);
    return good;
}

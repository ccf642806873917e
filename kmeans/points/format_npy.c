/* SPDX-License-Identifier: BSD-3-Clause */
/* NumPy's .npy: a two-dimensional array of uint8, int8, float16, float32 or float64. */
#include "config.h"

#include "kmeans/points/format.h"
#include "kmeans/points/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether the file is a zip archive, such as one of several arrays (.npz). */
static bool is_archive(const char *path, const unsigned char *head, size_t count) {
    return km_has_suffix(path, ".npz") || (count >= 4 && memcmp(head, "PK\x03\x04", 4) == 0);
}

static bool recognise(const char *path, const unsigned char *head, size_t count) {
    return km_has_suffix(path, ".npy") || (count >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) ||
           is_archive(path, head, count);
}

static bool read_header(int file, const km_source *source, npy_header *header,
                        app_problem *problem) {
    uint64_t bytes = source->layout.bytes;
    size_t count = bytes < NPY_HEADER_LONGEST ? (size_t)bytes : NPY_HEADER_LONGEST;
    unsigned char *head = malloc(NPY_HEADER_LONGEST);
    if (!head)
        return app_refuse(problem, "%s: out of memory", source->path);
    bool good = km_read_at(file, source->path, 0, head, count, problem) &&
                npy_parse_header(source->path, head, count, header, problem);
    free(head);
    return good;
}

static bool read_layout(int file, km_source *source, app_problem *problem) {
    npy_header header;
    km_layout *layout = &source->layout;
    unsigned char head[4];
    size_t count = layout->bytes < sizeof head ? (size_t)layout->bytes : sizeof head;
    if (!km_read_at(file, source->path, 0, head, count, problem))
        return false;
    if (is_archive(source->path, head, count))
        return app_refuse(problem,
                          "%s: is an archive of arrays; save one of them as .npy: "
                          "numpy.save(\"points.npy\", numpy.load(\"%s\")[NAME])",
                          source->path, source->path);
    if (!read_header(file, source, &header, problem))
        return false;
    if (header.type == NPY_INT32 || header.type == NPY_UINT32 || header.type == NPY_INT64)
        return app_refuse(problem,
                          "%s: elements are %s; save them as uint8, int8, float16, float32 or "
                          "float64",
                          source->path, npy_type_name(header.type));
    if (header.dimensions != 2)
        return app_refuse(problem, "%s: has one dimension; points are an array of rows x features",
                          source->path);
    uint64_t promised = npy_data_size(&header), held = layout->bytes - header.offset;
    if (held != promised)
        return app_refuse(problem,
                          "%s: %s: its header promises %" PRIu64 " bytes of features, it "
                          "holds %" PRIu64,
                          source->path, held < promised ? "truncated" : "is too long", promised,
                          held);
    layout->element = header.type;
    layout->rows = header.shape[0];
    layout->dim = header.shape[1];
    layout->start = header.offset;
    layout->prefix = 0;
    return true;
}

const km_format km_format_npy = {
    .recognise = recognise,
    .describe = read_layout,
    .read = km_read_records,
    .typed = true,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TEXMEX vectors, .bvecs and .fvecs: each row is its number of features as a 32-bit integer and
 * then the features, as uint8 or float32. Also the files of big-ann-benchmarks, .u8bin, .i8bin and
 * .fbin: the numbers of rows and of features as 32-bit integers, and then the rows, as uint8, int8
 * or float32. All are little-endian.
 */
#include "config.h"

#include "kmeans/points/format.h"

#include <inttypes.h>

static bool recognise(const char *path, const unsigned char *head, size_t count) {
    (void)head, (void)count;
    return km_has_suffix(path, ".bvecs") || km_has_suffix(path, ".fvecs");
}

static bool read_layout(int file, km_source *source, app_problem *problem) {
    km_layout *layout = &source->layout;
    npy_type element = km_has_suffix(source->path, ".fvecs") ? NPY_FLOAT32 : NPY_UINT8;
    int32_t dim;
    if (layout->bytes == 0)
        return app_refuse(problem, "%s: is empty", source->path);
    if (!km_read_at(file, source->path, 0, &dim, sizeof dim, problem))
        return false;
    if (dim <= 0)
        return app_refuse(problem, "%s: its first row has %" PRId32 " features", source->path, dim);
    uint64_t record = sizeof dim + (uint64_t)dim * npy_type_size(element);
    if (layout->bytes % record)
        return app_refuse(problem,
                          "%s: truncated, or rows of different length: %" PRIu64
                          " bytes are no whole "
                          "number of rows of %" PRId32 " features",
                          source->path, layout->bytes, dim);
    layout->rows = layout->bytes / record;
    layout->dim = (uint64_t)dim;
    layout->start = 0;
    layout->prefix = sizeof dim;
    layout->element = element;
    return true;
}

static bool recognise_bin(const char *path, const unsigned char *head, size_t count) {
    (void)head, (void)count;
    return km_has_suffix(path, ".u8bin") || km_has_suffix(path, ".i8bin") ||
           km_has_suffix(path, ".fbin");
}

static bool read_bin_layout(int file, km_source *source, app_problem *problem) {
    km_layout *layout = &source->layout;
    uint32_t lengths[2];
    if (!km_read_at(file, source->path, 0, lengths, sizeof lengths, problem))
        return false;
    layout->rows = lengths[0];
    layout->dim = lengths[1];
    layout->start = sizeof lengths;
    layout->prefix = 0;
    layout->element = km_has_suffix(source->path, ".fbin")    ? NPY_FLOAT32
                      : km_has_suffix(source->path, ".i8bin") ? NPY_INT8
                                                              : NPY_UINT8;
    /* check_dim (points.c) refuses such a long row; for shorter rows the product fits 64 bits. */
    if (lengths[1] > INT32_MAX / sizeof(float))
        return true;
    uint64_t promised = layout->rows * layout->dim * npy_type_size(layout->element);
    uint64_t held = layout->bytes - layout->start;
    return promised == held ||
           app_refuse(problem,
                      "%s: its first 8 bytes promise %" PRIu32 " rows of %" PRIu32
                      " features, %" PRIu64 " bytes, but %" PRIu64
                      " follow; copy it again, or correct its header",
                      source->path, lengths[0], lengths[1], promised, held);
}

const km_format km_format_vecs = {
    .recognise = recognise, .describe = read_layout, .read = km_read_records, .typed = true};

const km_format km_format_bin = {.recognise = recognise_bin,
                                 .describe = read_bin_layout,
                                 .read = km_read_records,
                                 .typed = true};

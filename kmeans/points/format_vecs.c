/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TEXMEX vectors, .bvecs and .fvecs: each row is its number of features as a 32-bit integer and
 * then the features, as uint8 or float32.
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
    uint64_t element = km_has_suffix(source->path, ".fvecs") ? sizeof(float) : 1;
    int32_t dim;
    if (layout->bytes == 0)
        return app_refuse(problem, "%s: is empty", source->path);
    if (!km_read_at(file, source->path, 0, &dim, sizeof dim, problem))
        return false;
    if (dim <= 0)
        return app_refuse(problem, "%s: its first row has %" PRId32 " features", source->path, dim);
    uint64_t record = sizeof dim + (uint64_t)dim * element;
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

const km_format km_format_vecs = {
    .recognise = recognise, .describe = read_layout, .read = km_read_records};

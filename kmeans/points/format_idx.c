/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IDX, the format of MNIST, plain or gzipped: a magic number whose byte 2 is the type and byte 3
 * the number of dimensions, the dimensions' lengths as big-endian 32-bit integers, and the values.
 * The first dimension counts the points; the others together are the features.
 */
#include "config.h"

#include "kmeans/points/format.h"
#include "kmeans/points/gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    IDX_UINT8 = 0x08,
    MAGIC = 4,
    LENGTH = 4,
    DIMENSIONS_MOST = 8,
    DEFLATE_MOST = 1032 /* the most bytes that one compressed byte expands to */
};

static bool recognise_plain(const char *path, const unsigned char *head, size_t count) {
    (void)path;
    return count >= MAGIC && !head[0] && !head[1] && head[2] >= 0x08 && head[2] <= 0x0e && head[3];
}

static bool recognise_gz(const char *path, const unsigned char *head, size_t count) {
    (void)path;
    return count >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static bool check_magic(const unsigned char *magic, const char *path, app_problem *problem) {
    if (magic[0] || magic[1])
        return app_refuse(problem, "%s: is gzipped but not an IDX file; gunzip it first", path);
    if (magic[2] != IDX_UINT8)
        return app_refuse(problem,
                          "%s: is an IDX file of type 0x%02x; points have type 0x08 (unsigned "
                          "byte)",
                          path, magic[2]);
    if (magic[3] < 2 || magic[3] > DIMENSIONS_MOST)
        return app_refuse(problem, "%s: is an IDX file of %d dimensions; points have 2 to %d", path,
                          magic[3], DIMENSIONS_MOST);
    return true;
}

/* Fills the layout from the lengths after the magic number. */
static bool parse_lengths(km_source *source, const unsigned char *bytes, int dimensions,
                          app_problem *problem) {
    km_layout *layout = &source->layout;
    layout->dim = 1;
    for (int i = 0; i < dimensions; i++, bytes += LENGTH) {
        uint64_t length = (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 |
                          (uint64_t)bytes[2] << 8 | bytes[3];
        if (i == 0)
            layout->rows = length;
        else if (length > UINT32_MAX / layout->dim)
            return app_refuse(problem, "%s: damaged header: its lengths are past 2^32",
                              source->path);
        else
            layout->dim = layout->dim * length;
        if (!length)
            return app_refuse(problem, "%s: is empty", source->path);
    }
    layout->start = MAGIC + (uint64_t)dimensions * LENGTH;
    layout->prefix = 0;
    layout->element = NPY_UINT8;
    return true;
}

static bool describe_plain(int file, km_source *source, app_problem *problem) {
    unsigned char magic[MAGIC], lengths[DIMENSIONS_MOST * LENGTH];
    const char *path = source->path;
    const km_layout *layout = &source->layout;
    if (!km_read_at(file, path, 0, magic, MAGIC, problem) || !check_magic(magic, path, problem) ||
        !km_read_at(file, path, MAGIC, lengths, (size_t)magic[3] * LENGTH, problem) ||
        !parse_lengths(source, lengths, magic[3], problem))
        return false;
    uint64_t promised = layout->rows * layout->dim, held = layout->bytes - layout->start;
    return promised == held ||
           app_refuse(problem,
                      "%s: its header promises %" PRIu64 " bytes of features, it holds %" PRIu64,
                      path, promised, held);
}

/*
 * Opens the file, from its beginning, with zlib on a duplicate descriptor. Returns NULL and a
 * problem on failure.
 */
static gzFile open_gz(int file, const char *path, app_problem *problem) {
    int own = dup(file);
    gzFile packed = own >= 0 && lseek(own, 0, SEEK_SET) == 0 ? gzdopen(own, "rb") : NULL;
    if (packed)
        return packed;
    app_refuse(problem, "%s: %s", path, errno ? strerror(errno) : "out of memory");
    if (own >= 0)
        close(own);
    return NULL;
}

/* Reads COUNT bytes; skips them if INTO is NULL. */
static bool read_bytes(gzFile packed, const km_source *source, uint8_t *into, uint64_t count,
                       app_problem *problem) {
    uint8_t skipped[1 << 14];
    enum { PIECE = 1 << 20 };
    const uint64_t all = count;
    while (count > 0) {
        km_report_read(source, "reading", all - count, all);
        uint64_t most = into ? PIECE : sizeof skipped;
        unsigned piece = (unsigned)(count < most ? count : most);
        if (gzread(packed, into ? into : skipped, piece) != (int)piece)
            return gz_failed(packed, source->path, "its features", problem);
        into = into ? into + piece : NULL;
        count -= piece;
    }
    return true;
}

/*
 * Checks only that the compressed bytes can expand to the size that the header promises; the exact
 * size can't be checked yet.
 */
static bool describe_gz(int file, km_source *source, app_problem *problem) {
    unsigned char magic[MAGIC], lengths[DIMENSIONS_MOST * LENGTH];
    const char *path = source->path;
    const km_layout *layout = &source->layout;
    gzFile packed = open_gz(file, path, problem);
    if (!packed)
        return false;
    bool good = read_bytes(packed, source, magic, MAGIC, problem) &&
                check_magic(magic, path, problem) &&
                read_bytes(packed, source, lengths, (uint64_t)magic[3] * LENGTH, problem) &&
                parse_lengths(source, lengths, magic[3], problem);
    gzclose_r(packed);
    return good && (layout->rows <= layout->bytes * DEFLATE_MOST / layout->dim ||
                    app_refuse(problem, "%s: is cut off within its features", path));
}

/* Only the rank that reads the last row has read all data, so it verifies the checksum. */
static bool read_gz(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                    app_problem *problem) {
    const km_layout *layout = &source->layout;
    const char *path = source->path;
    gzFile packed = open_gz(file, path, problem);
    if (!packed)
        return false;
    bool good = read_bytes(packed, source, NULL, layout->start + first * layout->dim, problem) &&
                read_bytes(packed, source, into, rows * layout->dim, problem);
    if (good && first + rows == layout->rows)
        good = gz_end(packed, path, problem);
    gzclose_r(packed);
    return good;
}

const km_format km_format_idx = {
    .recognise = recognise_plain,
    .describe = describe_plain,
    .read = km_read_records,
    .typed = true,
};

const km_format km_format_idx_gz = {
    .recognise = recognise_gz,
    .describe = describe_gz,
    .read = read_gz,
};

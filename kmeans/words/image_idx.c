/* SPDX-License-Identifier: BSD-3-Clause */
/* IDX, the format of MNIST: big-endian magic number, count, height and width, then the pixels. */
#include "kmeans/points/gzip.h"
#include "kmeans/words/image_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDX_UINT8 = 0x08, IDX_HEADER_SIZE = 16 };

struct reader {
    gzFile file; /* zlib reads plain files as they are */
    const char *path;
    uint32_t count, done;
    struct image image;
};

static bool recognise(const unsigned char first[8]) {
    bool gzip = first[0] == 0x1f && first[1] == 0x8b;
    bool idx = !first[0] && !first[1] && first[2] >= 0x08 && first[2] <= 0x0e && first[3];
    return gzip || idx;
}

static uint32_t big_endian(const unsigned char *byte) {
    return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

/* Reads exactly SIZE bytes; WHAT names them in the problem. */
static bool read_exactly(struct reader *reader, void *bytes, size_t size, const char *what,
                         app_problem *problem) {
    return gzread(reader->file, bytes, (unsigned)size) == (int)size ||
           gz_failed(reader->file, reader->path, what, problem);
}

static bool read_header(struct reader *reader, app_problem *problem) {
    unsigned char header[IDX_HEADER_SIZE] = {0};
    if (!read_exactly(reader, header, 4, "its header", problem))
        return false;
    if (header[0] || header[1])
        return app_refuse(problem, "%s: is not an IDX file (magic 0x%08" PRIx32 ")", reader->path,
                          big_endian(header));
    if (header[2] != IDX_UINT8 || header[3] != 3)
        return app_refuse(problem,
                          "%s: is an IDX file of type 0x%02x and %d dimensions; images have type "
                          "0x08 (unsigned byte) and 3",
                          reader->path, header[2], header[3]);
    if (!read_exactly(reader, header + 4, IDX_HEADER_SIZE - 4, "its header", problem))
        return false;
    reader->count = big_endian(header + 4);
    reader->image.height = big_endian(header + 8);
    reader->image.width = big_endian(header + 12);
    if (!reader->image.height || !reader->image.width ||
        reader->image.height > IMAGE_PIXELS_MOST / reader->image.width)
        return app_refuse(problem, "%s: damaged header: images of %zu x %zu pixels", reader->path,
                          reader->image.width, reader->image.height);
    return true;
}

static void close_reader(void *opened) {
    struct reader *reader = opened;
    gzclose_r(reader->file);
    free(reader->image.pixels);
    free(reader);
}

static void *open_reader(const char *path, app_problem *problem) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        app_refuse(problem, "out of memory");
        return NULL;
    }
    reader->path = path;
    reader->file = gzopen(path, "rb");
    if (!reader->file) {
        app_refuse(problem, "%s: %s", path, errno ? strerror(errno) : "out of memory");
        free(reader);
        return NULL;
    }
    if (read_header(reader, problem)) {
        reader->image.pixels = malloc(reader->image.width * reader->image.height);
        if (reader->image.pixels)
            return reader;
        app_refuse(problem, "out of memory");
    }
    close_reader(reader);
    return NULL;
}

static next_state read_next(void *opened, struct image *image, app_problem *problem) {
    struct reader *reader = opened;
    if (reader->done == reader->count)
        return gz_end(reader->file, reader->path, problem) ? NEXT_NONE : NEXT_FAILED;
    char what[64];
    snprintf(what, sizeof what, "image %" PRIu32 " of %" PRIu32, reader->done + 1, reader->count);
    if (!read_exactly(reader, reader->image.pixels, reader->image.width * reader->image.height,
                      what, problem))
        return NEXT_FAILED;
    reader->done++;
    *image = reader->image;
    return NEXT_READ;
}

const image_format image_format_idx = {
    .recognise = recognise,
    .open = open_reader,
    .next = read_next,
    .close = close_reader,
};

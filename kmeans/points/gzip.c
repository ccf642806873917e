/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/gzip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Returns zlib's TEXT without the name in front of it: the path, or "<fd:5>" for a descriptor. */
static const char *without_name(const char *text, const char *path) {
    size_t length = strlen(path);
    if (strncmp(text, path, length) != 0)
        length = strcspn(text, ">") + 1;
    return strlen(text) > length + 2 ? text + length + 2 : text;
}

bool gz_failed(gzFile file, const char *path, const char *what, app_problem *problem) {
    int error;
    const char *text = gzerror(file, &error);
    if (error == Z_OK || error == Z_BUF_ERROR || error == Z_STREAM_END)
        return app_refuse(problem, "%s: is cut off within %s", path, what);
    return app_refuse(problem, "%s: %s", path,
                      error == Z_ERRNO ? strerror(errno) : without_name(text, path));
}

/* Returns whether FILE holds nothing but gzipped data to its end; gzread ignores trailing bytes. */
static bool is_all_gzipped(FILE *file, z_stream *stream) {
    unsigned char packed[1 << 14], unpacked[1 << 16];
    int state = Z_OK;
    while (state == Z_OK || state == Z_STREAM_END) {
        if (!stream->avail_in) {
            stream->next_in = packed;
            stream->avail_in = (unsigned)fread(packed, 1, sizeof packed, file);
            if (!stream->avail_in)
                break;
        }
        if (state == Z_STREAM_END)
            inflateReset(stream);
        stream->next_out = unpacked;
        stream->avail_out = sizeof unpacked;
        state = inflate(stream, Z_NO_FLUSH);
    }
    return state == Z_STREAM_END && !ferror(file);
}

static bool check_trailing_bytes(const char *path, app_problem *problem) {
    z_stream stream = {.next_in = NULL};
    FILE *file = fopen(path, "rb");
    if (!file)
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    bool good =
        inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK || app_refuse(problem, "out of memory");
    good = good && (is_all_gzipped(file, &stream) ||
                    app_refuse(problem, "%s: holds other bytes after its gzipped data", path));
    inflateEnd(&stream);
    fclose(file);
    return good;
}

bool gz_end(gzFile file, const char *path, app_problem *problem) {
    char more;
    int error, got = gzread(file, &more, 1);
    gzerror(file, &error);
    if (got > 0)
        return app_refuse(problem, "%s: holds more than its header promises", path);
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
        return gz_failed(file, path, "its checksum", problem);
    return gzdirect(file) || check_trailing_bytes(path, problem);
}

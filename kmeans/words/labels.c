/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/words/labels.h"

#include "app/options.h"
#include "kmeans/points/gzip.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDX_UINT8 = 0x08, HEADER = 8, LINE = 64 };

static bool append_label(struct labels *labels, size_t *room, int32_t value, app_problem *problem) {
    if (!km_grow(&labels->values, labels->count, room, sizeof *labels->values))
        return app_refuse(problem, "out of memory");
    labels->values[labels->count++] = value;
    return true;
}

/* Reads what follows the magic number: a big-endian count, and a byte for each label. */
static bool read_idx(gzFile file, const char *path, const unsigned char magic[4],
                     struct labels *labels, app_problem *problem) {
    unsigned char bytes[4];
    size_t room = 0;
    if (magic[2] != IDX_UINT8 || magic[3] != 1)
        return app_refuse(problem,
                          "%s: is an IDX file of type 0x%02x and %d dimensions; labels have type "
                          "0x08 (unsigned byte) and 1",
                          path, magic[2], magic[3]);
    if (gzread(file, bytes, sizeof bytes) != sizeof bytes)
        return gz_failed(file, path, "its header", problem);
    uint32_t count =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    while (labels->count < count) {
        int label = gzgetc(file);
        if (label < 0)
            return gz_failed(file, path, "its labels", problem);
        if (!append_label(labels, &room, label, problem))
            return false;
    }
    return gz_end(file, path, problem);
}

static bool read_text(gzFile file, const char *path, struct labels *labels, app_problem *problem) {
    char line[LINE];
    size_t room = 0;
    while (gzgets(file, line, sizeof line)) {
        int64_t value;
        line[strcspn(line, "\r\n")] = '\0';
        if (!app_parse_integer(line, INT32_MIN, INT32_MAX, &value))
            return app_refuse(problem,
                              "%s:%zu: is not an integer; labels are an IDX file, or an integer "
                              "on each line",
                              path, labels->count + 1);
        if (!append_label(labels, &room, (int32_t)value, problem))
            return false;
    }
    return gzeof(file) ? gz_end(file, path, problem) : gz_failed(file, path, "its labels", problem);
}

bool labels_read(const char *path, struct labels *labels, app_problem *problem) {
    unsigned char magic[4];
    *labels = (struct labels){0};
    gzFile file = gzopen(path, "rb");
    if (!file)
        return app_refuse(problem, "%s: %s", path, errno ? strerror(errno) : "out of memory");
    int got = gzread(file, magic, sizeof magic);
    bool idx = got == sizeof magic && !magic[0] && !magic[1];
    bool good;
    if (got < 0)
        good = gz_failed(file, path, "its header", problem);
    else if (idx)
        good = read_idx(file, path, magic, labels, problem);
    else if (gzrewind(file))
        good = app_refuse(problem, "%s: can't be read from the begin again: %s", path,
                          strerror(errno));
    else
        good = read_text(file, path, labels, problem);
    if (good && !labels->count)
        good = app_refuse(problem, "%s: holds no labels", path);
    gzclose_r(file);
    if (!good) {
        free(labels->values);
        labels->values = NULL;
    }
    return good;
}

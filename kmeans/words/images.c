/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/words/images.h"

#include "kmeans/points/memory.h"
#include "kmeans/words/image_format.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const image_format *const formats[] = {&image_format_idx, &image_format_jpeg,
                                              &image_format_png};
enum { FORMATS = sizeof formats / sizeof *formats };

struct image_set {
    char **files;
    size_t count, room;
    size_t opened;              /* files[opened - 1] is being read, or was read last */
    const image_format *format; /* of the file being read; NULL between files */
    void *reader;               /* for a file of several images */
    uint8_t *pixels;            /* pixels of the last file with one image */
};

/* Adds DIRECTORY/NAME, or NAME alone if DIRECTORY is NULL. */
static bool add_file(image_set *set, const char *directory, const char *name,
                     app_problem *problem) {
    const char *slash = directory ? "/" : "";
    if (!km_grow(&set->files, set->count, &set->room, sizeof *set->files) ||
        asprintf(&set->files[set->count], "%s%s%s", directory ? directory : "", slash, name) < 0)
        return app_refuse(problem, "out of memory");
    set->count++;
    return true;
}

bool images_reads(const char *name) {
    static const char *const suffixes[] = {".png", ".jpg", ".jpeg"};
    const char *suffix = strrchr(name, '.');
    for (int i = 0; i < 3; i++)
        if (suffix && name[0] != '.' && !strcasecmp(suffix, suffixes[i]))
            return true;
    return false;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_directory(image_set *set, const char *path, app_problem *problem) {
    size_t first = set->count;
    struct dirent *entry;
    DIR *directory = opendir(path);
    if (!directory)
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    bool good = true;
    for (errno = 0; good && (entry = readdir(directory)); errno = 0)
        if (images_reads(entry->d_name))
            good = add_file(set, path, entry->d_name, problem);
    if (good && errno)
        good = app_refuse(problem, "%s: %s", path, strerror(errno));
    closedir(directory);
    if (!good)
        return false;
    if (set->count == first)
        return app_refuse(problem, "%s: holds no PNG or JPEG files", path);
    qsort(set->files + first, set->count - first, sizeof *set->files, compare_names);
    return true;
}

static bool add_path(image_set *set, const char *path, app_problem *problem) {
    struct stat about;
    if (stat(path, &about))
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    return S_ISDIR(about.st_mode) ? add_directory(set, path, problem)
                                  : add_file(set, NULL, path, problem);
}

image_set *images_open(const char *const *paths, size_t count, app_problem *problem) {
    image_set *set = calloc(1, sizeof *set);
    if (!set) {
        app_refuse(problem, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!add_path(set, paths[i], problem)) {
            images_close(set);
            return NULL;
        }
    return set;
}

static void close_file(image_set *set) {
    if (set->format && !set->format->decode)
        set->format->close(set->reader);
    set->format = NULL;
}

static next_state report_failure(const char *path, const char *why, app_problem *problem) {
    app_refuse(problem, "%s: %s", path, why);
    return NEXT_FAILED;
}

/* Prepares SET to read the file at PATH, which is of FORMAT. Fails if this build can't decode it.
 */
static next_state begin_file(image_set *set, const image_format *format, const char *path,
                             app_problem *problem) {
    if (format->refusal)
        return report_failure(path, format->refusal, problem);
    set->reader = format->decode ? NULL : format->open(path, problem);
    set->format = format->decode || set->reader ? format : NULL;
    return set->format ? NEXT_READ : NEXT_FAILED;
}

/* Opens the file; returns NEXT_BAD if no format recognises it. */
static next_state open_file(image_set *set, const char *path, app_problem *problem) {
    unsigned char first[8] = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return report_failure(path, strerror(errno), problem);
    size_t got = fread(first, 1, sizeof first, file);
    bool unread = ferror(file);
    int error = errno;
    fclose(file);
    if (unread)
        return report_failure(path, strerror(error), problem);
    for (int i = 0; got && i < FORMATS; i++)
        if (formats[i]->recognise(first))
            return begin_file(set, formats[i], path, problem);
    app_refuse(problem,
               got ? "%s: is neither an IDX (plain or gzipped) nor a PNG or JPEG file"
                   : "%s: is empty",
               path);
    return NEXT_BAD;
}

/* Opens the next file; returns NEXT_NONE after the last one. */
static next_state open_next(image_set *set, app_problem *problem) {
    if (set->opened == set->count)
        return NEXT_NONE;
    return open_file(set, set->files[set->opened++], problem);
}

/* Reads the image of a file with one image. */
static next_state decode_file(image_set *set, struct image *image, app_problem *problem) {
    const char *path = images_file(set);
    const image_format *format = set->format;
    close_file(set);
    free(set->pixels);
    set->pixels = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return report_failure(path, strerror(errno), problem);
    *image = (struct image){0};
    bool good = format->decode(file, path, image, problem);
    set->pixels = image->pixels;
    fclose(file);
    return good ? NEXT_READ : NEXT_BAD;
}

next_state images_next(image_set *set, struct image *image, app_problem *problem) {
    for (;;) {
        next_state state = set->format ? NEXT_READ : open_next(set, problem);
        if (state != NEXT_READ)
            return state;
        if (set->format->decode)
            return decode_file(set, image, problem);
        state = set->format->next(set->reader, image, problem);
        if (state == NEXT_READ)
            return state;
        close_file(set);
        if (state != NEXT_NONE)
            return state;
    }
}

next_state images_skip(image_set *set, app_problem *problem) {
    struct image passed;
    next_state state = NEXT_NONE;
    if (set->format)
        state = set->format->next(set->reader, &passed, problem);
    if (state != NEXT_NONE)
        return state;
    close_file(set);
    state = open_next(set, problem);
    if (state == NEXT_BAD || (state == NEXT_READ && set->format->decode)) {
        close_file(set);
        problem->text[0] = '\0';
        return NEXT_READ;
    }
    return state == NEXT_READ ? images_skip(set, problem) : state;
}

const char *images_file(const image_set *set) {
    return set->opened ? set->files[set->opened - 1] : "";
}

void images_close(image_set *set) {
    if (!set)
        return;
    close_file(set);
    free(set->pixels);
    for (size_t i = 0; i < set->count; i++)
        free(set->files[i]);
    free(set->files);
    free(set);
}

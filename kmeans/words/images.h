/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of images, read one after another as 8-bit grey: IDX files (plain or gzipped), PNG and JPEG
 * files, and directories of PNG and JPEG files. Only one image at a time is in memory.
 */
#ifndef COLL_KMEANS_WORDS_IMAGES_H
#define COLL_KMEANS_WORDS_IMAGES_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

enum { IMAGE_PIXELS_MOST = 1 << 28 }; /* of one image; larger ones are treated as damaged */

struct image {
    size_t width, height;
    uint8_t *pixels; /* row by row */
};

typedef struct image_set image_set;

/*
 * The result of asking for the next item of a stream. NEXT_BAD is a file whose format is unknown,
 * or whose only image can't be decoded: the problem names the file, and the caller may continue
 * with the next image.
 */
typedef enum next_state { NEXT_FAILED, NEXT_BAD, NEXT_NONE, NEXT_READ } next_state;

/*
 * Opens the images of PATHS, in that order; a directory stands for its *.png, *.jpg and *.jpeg
 * files in the byte order of their names. Returns NULL and a problem if a path does not exist or a
 * directory holds no such files.
 */
image_set *images_open(const char *const *paths, size_t count, app_problem *problem);

/* Returns whether a file NAME in a directory is treated as an image. */
bool images_reads(const char *name);

/* Reads the next image. The set owns the pixels, which are valid until the next call. */
next_state images_next(image_set *set, struct image *image, app_problem *problem);

/* Skips the next image; an image in a file of its own is not decoded. */
next_state images_skip(image_set *set, app_problem *problem);

/* Returns the file that the last image came from. */
const char *images_file(const image_set *set);

/* Closes the set, which may be NULL. */
void images_close(image_set *set);

#endif

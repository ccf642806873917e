/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of an image format. A new format needs its own file, a declaration below, and a
 * line of the table in images.c.
 */
#ifndef COLL_KMEANS_WORDS_IMAGE_FORMAT_H
#define COLL_KMEANS_WORDS_IMAGE_FORMAT_H

#include "kmeans/words/images.h"

#include <stdio.h>

typedef struct image_format {
    /*
     * Returns whether a file that begins with these 8 bytes is of this format. Bytes past the end
     * of a shorter file are zeros.
     */
    bool (*recognise)(const unsigned char first[8]);

    /*
     * For formats with one image a file: decodes FILE, named PATH. On false, the image is NEXT_BAD.
     * The pixels are allocated; the caller frees them, also after a failure.
     */
    bool (*decode)(FILE *file, const char *path, struct image *image, app_problem *problem);
    const char *refusal; /* message for all such files if this build can't decode them */

    /*
     * For formats with several images a file: opens the file. Returns NULL and a problem on
     * failure.
     */
    void *(*open)(const char *path, app_problem *problem);
    /*
     * Reads the next image of the file. The reader owns the pixels, which are valid until its next
     * call.
     */
    next_state (*next)(void *reader, struct image *image, app_problem *problem);
    void (*close)(void *reader);
} image_format;

extern const image_format image_format_idx;
extern const image_format image_format_jpeg;
extern const image_format image_format_png;

#endif

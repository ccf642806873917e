/* The contract of an image format: a new one costs its file and a line of the table in images.c. */
#ifndef COLL_KMEANS_WORDS_IMAGE_FORMAT_H
#define COLL_KMEANS_WORDS_IMAGE_FORMAT_H

#include "kmeans/words/images.h"

#include <stdio.h>

typedef struct image_format {
    /* Whether a file that begins with these 8 bytes (zeros past its end) is of this format. */
    bool (*recognise)(const unsigned char first[8]);

    /*
     * Where a file is one image: decodes FILE, called PATH. False, with a problem, is NEXT_BAD. The
     * pixels are allocated; the caller frees them, after a failure too.
     */
    bool (*decode)(FILE *file, const char *path, struct image *image, app_problem *problem);
    const char *refusal; /* what is wrong with all such files, where this build can't decode them */

    /* Where it may be several: opens the file; NULL and a problem on failure. */
    void *(*open)(const char *path, app_problem *problem);
    /* Reads the next image of the file. The pixels are the reader's until its next call. */
    next_state (*next)(void *reader, struct image *image, app_problem *problem);
    void (*close)(void *reader);
} image_format;

extern const image_format image_format_idx;
extern const image_format image_format_jpeg;
extern const image_format image_format_png;

#endif

/* The contract of an image format: a new one costs its file and a line of the table in images.c. */
#ifndef COLL_KMEANS_WORDS_IMAGE_FORMAT_H
#define COLL_KMEANS_WORDS_IMAGE_FORMAT_H

#include "kmeans/words/images.h"

typedef struct image_format {
    bool single; /* a file is one image; one that can't be decoded is NEXT_BAD */
    /* Whether a file that begins with these 8 bytes (zeros past its end) is of this format. */
    bool (*recognise)(const unsigned char first[8]);
    /* Opens the file; NULL and a problem on failure. */
    void *(*open)(const char *path, app_problem *problem);
    /* Reads the next image of the file. The pixels are the reader's until its next call. */
    next_state (*next)(void *reader, struct image *image, app_problem *problem);
    void (*close)(void *reader);
} image_format;

extern const image_format image_format_idx;
extern const image_format image_format_jpeg;
extern const image_format image_format_png;

#endif

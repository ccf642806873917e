/* Image formats of which a file is one image: what their readers have in common. */
#ifndef COLL_KMEANS_WORDS_IMAGE_SINGLE_H
#define COLL_KMEANS_WORDS_IMAGE_SINGLE_H

#include "kmeans/words/image_format.h"

#include <stdio.h>

typedef struct image_single {
    FILE *file;
    const char *path;
    uint8_t *pixels; /* NULL until the image is read */
} image_single;

/* Allocates READER's pixels and fills them; sets the width and height of IMAGE. */
typedef bool image_decode(image_single *reader, struct image *image, app_problem *problem);

/* The open, next and close of an image_format. */
void *image_single_open(const char *path, app_problem *problem);
next_state image_single_next(image_single *reader, image_decode *decode, struct image *image,
                             app_problem *problem);
void image_single_close(void *opened);

#endif

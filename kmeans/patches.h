/*
 * The dense patches of a set of images, one after another: in order of image, row and column. All
 * verbs walk the images this way, so row i of a features file is patch i of the same images.
 */
#ifndef COLL_KMEANS_PATCHES_H
#define COLL_KMEANS_PATCHES_H

#include "kmeans/images.h"

typedef struct word_list {
    const char **words; /* free() the list; its words are the command line's */
    size_t count;
} word_list;

/* Which patches: the user's --images, --limit, --patch and --stride. */
typedef struct patch_choice {
    word_list paths; /* none: the training images of Fashion-MNIST, from their Debian package */
    uint64_t limit;  /* at most so many images */
    uint64_t patch;  /* pixels along each side */
    uint64_t stride; /* pixels from patch to patch, along both axes */
} patch_choice;

typedef struct patch_stream patch_stream;

/* Opens the images of CHOICE, whose patch and stride are positive; NULL and a problem on failure.
 */
patch_stream *patches_open(const patch_choice *choice, struct problem *problem);

/* Copies the next patch, row by row; fails at an image in which no patch fits. */
next_state patches_next(patch_stream *stream, uint8_t *pixels, struct problem *problem);

/* Images begun so far. */
uint64_t patches_images(const patch_stream *stream);

/* STREAM may be NULL. */
void patches_close(patch_stream *stream);

#endif

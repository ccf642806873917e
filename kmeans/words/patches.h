/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dense patches of a set of images, one after another: in the order of image, row and column.
 * The verbs that cut patches visit them in this order, so row i of a features file is patch i of
 * the same images.
 */
#ifndef COLL_KMEANS_WORDS_PATCHES_H
#define COLL_KMEANS_WORDS_PATCHES_H

#include "app/files.h"
#include "app/options.h"
#include "kmeans/words/images.h"

/* The user's choice of patches: --images, --limit, --patch, --stride and --skip-bad. */
typedef struct patch_choice {
    app_words paths; /* none: the training images of Fashion-MNIST, from their Debian package */
    uint64_t limit;  /* the most images */
    uint64_t patch;  /* pixels along each side */
    uint64_t stride; /* pixels from one patch to the next, along both axes */
    bool skip_bad;   /* leave out images that can't be decoded, each named on stderr */
} patch_choice;

/* The position of a patch: its upper left pixel, and the size of its image. */
typedef struct patch_place {
    size_t x, y, width, height;
} patch_place;

typedef struct patch_stream patch_stream;

/* Returns the files from which the images of CHOICE are read; the result points into CHOICE. */
app_file_use patches_files(const patch_choice *choice);

/*
 * Opens the images of CHOICE, whose patch and stride are positive. Returns NULL and a problem on
 * failure.
 */
patch_stream *patches_open(const patch_choice *choice, app_problem *problem);

/* Copies the next patch of all images, row by row; fails if an image is smaller than a patch. */
next_state patches_next(patch_stream *stream, uint8_t *pixels, app_problem *problem);

/*
 * Goes to the next image, whose patches patches_cut then returns. Returns NEXT_BAD for an image
 * that skip_bad leaves out, after naming it on stderr.
 */
next_state patches_image(patch_stream *stream, app_problem *problem);

/* Skips the next image. */
next_state patches_skip_image(patch_stream *stream, app_problem *problem);

/* Copies the next patch of the image; returns false if there is none. PLACE may be NULL. */
bool patches_cut(patch_stream *stream, uint8_t *pixels, patch_place *place);

/* Returns the number of images so far, including images that were skipped or left out. */
uint64_t patches_images(const patch_stream *stream);

/* Returns the number of images left out so far. */
uint64_t patches_bad(const patch_stream *stream);

/* Returns whether as many images as --limit allows have been read or skipped. */
bool patches_limited(const patch_stream *stream);

/* Closes the stream, which may be NULL. */
void patches_close(patch_stream *stream);

#endif

/*
 * The dense patches of a set of images, one after another: in order of image, row and column. All
 * verbs walk the images this way, so row i of a features file is patch i of the same images.
 */
#ifndef COLL_KMEANS_WORDS_PATCHES_H
#define COLL_KMEANS_WORDS_PATCHES_H

#include "app/files.h"
#include "app/options.h"
#include "kmeans/words/images.h"

/* Which patches: the user's --images, --limit, --patch, --stride and --skip-bad. */
typedef struct patch_choice {
    app_words paths; /* none: the training images of Fashion-MNIST, from their Debian package */
    uint64_t limit;  /* at most so many images */
    uint64_t patch;  /* pixels along each side */
    uint64_t stride; /* pixels from patch to patch, along both axes */
    bool skip_bad;   /* leave out images that can't be decoded, each named on stderr */
} patch_choice;

/* Where a patch lies: its upper left pixel, and the size of its image. */
typedef struct patch_place {
    size_t x, y, width, height;
} patch_place;

typedef struct patch_stream patch_stream;

/* What the images of CHOICE are read from; points into CHOICE. */
app_file_use patches_files(const patch_choice *choice);

/* Opens the images of CHOICE, whose patch and stride are positive; NULL and a problem on failure.
 */
patch_stream *patches_open(const patch_choice *choice, app_problem *problem);

/* Copies the next patch of all, row by row; fails at an image in which no patch fits. */
next_state patches_next(patch_stream *stream, uint8_t *pixels, app_problem *problem);

/*
 * Goes to the next image, whose patches patches_cut then gives; NEXT_BAD, once it has been named,
 * where skip_bad leaves it out.
 */
next_state patches_image(patch_stream *stream, app_problem *problem);

/* Passes over the next image. */
next_state patches_skip_image(patch_stream *stream, app_problem *problem);

/* Copies the next patch of the image; false when there is none. PLACE may be NULL. */
bool patches_cut(patch_stream *stream, uint8_t *pixels, patch_place *place);

/* Images so far, those passed over and left out among them. */
uint64_t patches_images(const patch_stream *stream);

/* Images left out so far. */
uint64_t patches_bad(const patch_stream *stream);

/* Whether --limit ended the images, rather than their end. */
bool patches_limited(const patch_stream *stream);

/* STREAM may be NULL. */
void patches_close(patch_stream *stream);

#endif

/*
 * Histograms of oriented gradients (Dalal and Triggs, 2005) of a square grey patch: CELLS x CELLS
 * cells of BINS orientations. 4 x 4 cells of 32, 512 bytes, are the features of the K-means papers.
 *
 * Byte (row * CELLS + column) * BINS + bin is the histogram of a cell. Bins are centred and divide
 * the full circle, so that bin 0 holds gradients to the right (darker left of brighter), BINS / 4
 * those downward. Each pixel's gradient is the central difference within the patch (its edge pixels
 * repeat outward); its length is shared linearly between the two nearest orientations and the four
 * nearest cells. The sums are normalised by L2-Hys: to length 1, clipped at 0.2, to length 1 again.
 * They are then scaled by L / (L + F), where L is their first length and F that of gradients of one
 * grey level everywhere, so that noise stays faint and an even patch gives zeros; and by 512,
 * rounded, and cut at 255.
 */
#ifndef COLL_KMEANS_WORDS_HOG_H
#define COLL_KMEANS_WORDS_HOG_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

enum {
    HOG_CELLS_MOST = 16, /* along each side of a patch */
    HOG_BINS_LEAST = 2,
    HOG_BINS_MOST = 64,
    HOG_SIZE_MOST = HOG_CELLS_MOST * HOG_CELLS_MOST * HOG_BINS_MOST,
    HOG_PATCH_LEAST = 4, /* pixels along each side; one a cell at least */
    HOG_PATCH_MOST = 1024
};

typedef struct hog_shape {
    uint64_t cells; /* along each side, 1 to HOG_CELLS_MOST */
    uint64_t bins;  /* HOG_BINS_LEAST to HOG_BINS_MOST */
} hog_shape;

/* Bytes of a description. */
size_t hog_size(hog_shape shape);

/* Describes the PATCH x PATCH pixels, row by row, by hog_size(SHAPE) bytes; pure. */
void hog_describe(hog_shape shape, const uint8_t *pixels, size_t patch, uint8_t *features);

/* Patches that are described together, by threads: a few MB of them, or one. */
struct batch {
    hog_shape shape;
    size_t patch;       /* pixels along each side */
    size_t room, count; /* patches that fit, and that are there */
    uint8_t *pixels;    /* patches one after another */
    uint8_t *features;  /* hog_size(shape) bytes of each */
};

/* An empty batch; batch_end it, after a failure too. */
bool batch_begin(struct batch *batch, hog_shape shape, size_t patch, app_problem *problem);

/* Where the pixels of the next patch go, which counts once batch->count does; there is room. */
uint8_t *batch_next(const struct batch *batch);

/* Fills the features; the same for any number of threads. */
void batch_describe(struct batch *batch, int threads);

/* A batch of zeros may be ended. */
void batch_end(struct batch *batch);

#endif

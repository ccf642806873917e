/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histograms of oriented gradients (Dalal and Triggs, 2005) of a square grey patch: CELLS x CELLS
 * cells of BINS orientations. The features of the K-means papers are 4 x 4 cells of 32 bins: 512
 * bytes.
 *
 * Byte (row * CELLS + column) * BINS + bin is a bin of a cell's histogram. The bins divide the full
 * circle and are centred on their directions: bin 0 holds gradients to the right (darker left of
 * brighter), bin BINS / 4 holds gradients downward. Each pixel's gradient is the central difference
 * within the patch (edge pixels are repeated outward). Its length is shared linearly between the
 * two nearest orientations and the four nearest cells. The sums are normalised with L2-Hys: to
 * length 1, clipped at 0.2, and to length 1 again. Then they are scaled by L / (L + F), where L is
 * the original length of the sums and F is the length of the sums of a patch whose gradients are
 * all one grey level in one direction, so that noise stays faint and a uniform patch gives zeros.
 * Finally they are multiplied by 512, rounded, and limited to 255.
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
    HOG_PATCH_LEAST = 4, /* pixels along each side; at least one a cell */
    HOG_PATCH_MOST = 1024
};

typedef struct hog_shape {
    uint64_t cells; /* along each side, 1 to HOG_CELLS_MOST */
    uint64_t bins;  /* HOG_BINS_LEAST to HOG_BINS_MOST */
} hog_shape;

/* Returns the size of a description in bytes. */
size_t hog_size(hog_shape shape);

/* Describes PATCH x PATCH pixels, row by row, in hog_size(SHAPE) bytes. Thread-safe. */
void hog_describe(hog_shape shape, const uint8_t *pixels, size_t patch, uint8_t *features);

/* A batch of patches that several threads describe: at most 4096 patches, and 4 MiB of pixels. */
struct batch {
    hog_shape shape;
    size_t patch;       /* pixels along each side */
    size_t room, count; /* capacity, and number of patches */
    uint8_t *pixels;    /* patches one after another */
    uint8_t *features;  /* hog_size(shape) bytes of each */
};

/* Creates an empty batch. Call batch_end also after a failure. */
bool batch_begin(struct batch *batch, hog_shape shape, size_t patch, app_problem *problem);

/*
 * Returns the place for the next patch's pixels; the caller fills it and increments batch->count.
 * There must be room.
 */
uint8_t *batch_next(const struct batch *batch);

/* Computes the features, the same for any number of threads. */
void batch_describe(struct batch *batch, int threads);

/* Frees the batch. A batch whose members are all 0 may be freed. */
void batch_end(struct batch *batch);

#endif

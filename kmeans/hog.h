/*
 * Histograms of oriented gradients (Dalal and Triggs, 2005) of a square grey patch: 4 x 4 cells of
 * 32 orientations, 512 bytes, the features of the K-means papers.
 *
 * Byte (row * 4 + column) * 32 + bin is the histogram of a cell. Bins are 11.25 degrees of the full
 * circle wide and centred, so that bin 0 holds gradients to the right (darker left of brighter), 8
 * those downward, 16 to the left, 24 upward. Each pixel's gradient is the central difference
 * within the patch (its edge pixels repeat outward); its length is shared linearly between the two
 * nearest orientations and the four nearest cells. The 512 sums are normalised by L2-Hys: to length
 * 1, clipped at 0.2, to length 1 again. They are then scaled by L / (L + F), where L is their first
 * length and F that of gradients of one grey level everywhere, so that noise stays faint and an
 * even patch gives zeros; and by 512, rounded, and cut at 255.
 */
#ifndef COLL_KMEANS_HOG_H
#define COLL_KMEANS_HOG_H

#include <stddef.h>
#include <stdint.h>

enum {
    HOG_CELLS = 4, /* along each side */
    HOG_BINS = 32,
    HOG_SIZE = HOG_CELLS * HOG_CELLS * HOG_BINS,
    HOG_PATCH_LEAST = HOG_CELLS, /* pixels along each side: one a cell */
    HOG_PATCH_MOST = 1024
};

/* Describes the PATCH x PATCH pixels, row by row; pure. */
void hog_describe(const uint8_t *pixels, size_t patch, uint8_t features[HOG_SIZE]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bags of visual words: for each image, a histogram of the words to which its patches are nearest,
 * for the whole image and for each cell of a spatial pyramid (Lazebnik, Schmid and Ponce, 2006), as
 * lines of LIBSVM's text.
 *
 * Level l of the pyramid divides the image into 2^l x 2^l cells; a patch belongs to the cell that
 * contains its centre. The bin of a word in a cell is feature number cell * words + word + 1; cells
 * are numbered from 0, level by level, row by row. No MPI and no files.
 */
#ifndef COLL_KMEANS_WORDS_BAGS_H
#define COLL_KMEANS_WORDS_BAGS_H

#include "kmeans/words/patches.h"

enum { BAGS_LEVELS_MOST = 4 };

/* How the counts of an image become values. */
typedef enum bag_norm {
    BAG_COUNTS,   /* unchanged */
    BAG_L1,       /* scaled to sum 1 */
    BAG_L2,       /* scaled to length 1 */
    BAG_HELLINGER /* square roots of L1: scalar products are Bhattacharyya coefficients */
} bag_norm;

/* Returns "counts" and so on; NULL after the last. */
const char *bags_norm_name(int norm);

/* A text that can grow. */
struct text {
    char *bytes;
    size_t size, room;
};

/* Makes room for a total of ROOM bytes. */
bool text_reserve(struct text *text, size_t room, app_problem *problem);

struct bags {
    uint64_t words,
        levels; /* size of the vocabulary; levels of the pyramid, 1 to BAGS_LEVELS_MOST */
    bag_norm norm;
    uint64_t *uses; /* a number for each use of a bin: image * bins + bin */
    size_t count, room;
};

/* Returns the number of bins of a histogram: words times all cells of LEVELS levels. */
uint64_t bags_bins(uint64_t words, uint64_t levels);

/* Counts a patch of PATCH pixels a side, at PLACE in image IMAGE, as WORD. */
bool bags_add(struct bags *bags, size_t image, const patch_place *place, size_t patch,
              uint32_t word, app_problem *problem);

/*
 * Appends a line to TEXT for each of the IMAGES images for which KEPT is true, in order: its label
 * from LABELS and its nonzero bins in ascending order. Then clears the counts.
 */
bool bags_write(struct bags *bags, const int32_t *labels, const bool *kept, size_t images,
                struct text *text, app_problem *problem);

#endif

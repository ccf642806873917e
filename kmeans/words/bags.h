/*
 * Bags of visual words: of each image a histogram of the words that its patches are nearest to,
 * and of the patches of each cell of a spatial pyramid (Lazebnik, Schmid and Ponce, 2006), as lines
 * of LIBSVM's text.
 *
 * Level l of the pyramid divides the image into 2^l x 2^l cells; a patch belongs to the one that
 * holds its centre. Feature cell * words + word, counted from 1, is a bin; cells are numbered level
 * by level, row by row. Pure but for its memory.
 */
#ifndef COLL_KMEANS_WORDS_BAGS_H
#define COLL_KMEANS_WORDS_BAGS_H

#include "kmeans/words/patches.h"

enum { BAGS_LEVELS_MOST = 4 };

/* How the counts of an image become values. */
typedef enum bag_norm {
    BAG_COUNTS,   /* as they are */
    BAG_L1,       /* of sum 1 */
    BAG_L2,       /* of length 1 */
    BAG_HELLINGER /* the roots of those of sum 1: their products compare like Bhattacharyya's */
} bag_norm;

/* "counts" and so on; NULL after the last. */
const char *bags_norm_name(int norm);

/* A growing text. */
struct text {
    char *bytes;
    size_t size, room;
};

/* Makes room for ROOM bytes in all. */
bool text_reserve(struct text *text, size_t room, app_problem *problem);

struct bags {
    uint64_t words, levels; /* of the vocabulary; of the pyramid, 1 to BAGS_LEVELS_MOST */
    bag_norm norm;
    uint64_t *uses; /* a number for each use of a bin: image * bins + bin */
    size_t count, room;
};

/* Bins of a histogram: words times all cells of LEVELS levels. */
uint64_t bags_bins(uint64_t words, uint64_t levels);

/* Counts a patch of PATCH pixels at PLACE in image IMAGE as WORD. */
bool bags_add(struct bags *bags, size_t image, const patch_place *place, size_t patch,
              uint32_t word, app_problem *problem);

/*
 * Appends a line for each of the IMAGES images whose LABELS say which, in order: its label and the
 * values of the bins that are not 0, in ascending order. Images without a patch, by KEPT, have no
 * line. Forgets the uses.
 */
bool bags_write(struct bags *bags, const int32_t *labels, const bool *kept, size_t images,
                struct text *text, app_problem *problem);

#endif

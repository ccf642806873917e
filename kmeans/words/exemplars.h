/*
 * The most used visual words, and as examples of each the patches nearest to its centroid.
 *
 * The files are read in passes, and only the words asked for and their patches are kept: count the
 * uses of every word, find the nearest rows of the most used, cut those rows' patches from the
 * images.
 */
#ifndef COLL_KMEANS_WORDS_EXEMPLARS_H
#define COLL_KMEANS_WORDS_EXEMPLARS_H

#include "kmeans/points/npy.h"
#include "kmeans/words/patches.h"

struct near {
    uint64_t row, distance;
};

struct word {
    uint64_t centroid, uses;
    size_t found;
    struct near *nearest; /* found of them, nearest first; of equals the lowest row first */
    uint8_t *patches;     /* of those rows, one after another */
};

struct exemplars {
    struct table features, centroids, assign;
    uint64_t rows, width; /* of the features */
    struct word *words;   /* most used first; of equals the lowest centroid first */
    size_t count;         /* of the words kept */
    size_t per_word, patch;
    uint8_t *centers; /* of the words, WIDTH bytes each */
};

/* Opens features, centroids and assignments that fit together; exemplars_close after a failure too.
 */
bool exemplars_open(struct exemplars *exemplars, const char *features, const char *centroids,
                    const char *assign, app_problem *problem);

/* Keeps the WORDS most used words; unused ones are left out. */
bool exemplars_rank(struct exemplars *exemplars, uint64_t words, app_problem *problem);

/*
 * Finds the PER_WORD nearest patches of each word kept. Fails when CHOICE does not give as many
 * patches as there are features.
 */
bool exemplars_find(struct exemplars *exemplars, size_t per_word, const patch_choice *choice,
                    app_problem *problem);

void exemplars_close(struct exemplars *exemplars);

#endif

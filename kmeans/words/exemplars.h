/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the most used visual words and, as examples of each, the patches nearest to its centroid.
 *
 * The files are read in passes, and only the requested words and their patches are stored: one pass
 * counts the uses of every word, one finds the nearest rows of the most used words, and one cuts
 * these rows' patches from the images.
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
    struct near *nearest; /* FOUND of them, the nearest first; ties: the lowest row first */
    uint8_t *patches;     /* patches of those rows, one after another */
};

struct exemplars {
    struct table features, centroids, assign;
    uint64_t rows, width; /* size of the features */
    struct word *words;   /* the most used first; ties: the lowest centroid first */
    size_t count;         /* number of words selected */
    size_t per_word, patch;
    uint8_t *centers; /* centroids of the words, WIDTH bytes each */
};

/*
 * Opens features, centroids and assignments and checks that they fit together. Call exemplars_close
 * also after a failure.
 */
bool exemplars_open(struct exemplars *exemplars, const char *features, const char *centroids,
                    const char *assign, app_problem *problem);

/* Selects the WORDS most used words; leaves out unused words. */
bool exemplars_rank(struct exemplars *exemplars, uint64_t words, app_problem *problem);

/*
 * Finds the PER_WORD nearest patches of each selected word. Fails if CHOICE does not give as many
 * patches as there are rows of features.
 */
bool exemplars_find(struct exemplars *exemplars, size_t per_word, const patch_choice *choice,
                    app_problem *problem);

void exemplars_close(struct exemplars *exemplars);

#endif

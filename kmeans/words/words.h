/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs of coll-words. A new verb needs its own file, a line here, and a line of the table in
 * coll-words.c.
 */
#ifndef COLL_KMEANS_WORDS_WORDS_H
#define COLL_KMEANS_WORDS_WORDS_H

#include "kmeans/words/hog.h"
#include "kmeans/words/patches.h"

/* Runs a verb with its own arguments; argv[0] is the verb. On false the caller prints PROBLEM. */
typedef bool verb_run(int argc, char **argv, app_problem *problem);

verb_run verb_curve;
verb_run verb_encode;
verb_run verb_features;
verb_run verb_sheet;
verb_run verb_test;
verb_run verb_train;

/* clang-format off */

/* The options with which several verbs choose patches, and their defaults. */
extern const patch_choice default_patches;
#define PATCH_OPTIONS(choice)                                                                      \
    {"images", "PATH...",                                                                          \
     "IDX files (plain or .gz), PNG and JPEG files, directories of these two; without it the "     \
     "training images of Fashion-MNIST from the Debian package dataset-fashion-mnist",             \
     .words = &(choice)->paths},                                                                   \
    {"limit", "N", "use the first N images (default all)", .size = &(choice)->limit, .least = 1},  \
    {"patch", "P", "pixels along each side of a patch", .size = &(choice)->patch,                  \
     .least = HOG_PATCH_LEAST, .most = HOG_PATCH_MOST},                                            \
    {"stride", "S", "pixels from one patch to the next", .size = &(choice)->stride, .least = 1,    \
     .most = UINT32_MAX},                                                                          \
    {"skip-bad", NULL,                                                                             \
     "leave out PNG and JPEG files that can't be decoded; each is named on stderr, and they are "  \
     "counted", .flag = &(choice)->skip_bad}

/* The options that determine a patch's description, and their defaults. */
extern const hog_shape default_shape;
#define HOG_OPTIONS(shape)                                                                         \
    {"cells", "C", "cells along each side of a patch", .size = &(shape)->cells, .least = 1,        \
     .most = HOG_CELLS_MOST},                                                                      \
    {"bins", "B", "orientations of a cell's histogram", .size = &(shape)->bins,                    \
     .least = HOG_BINS_LEAST, .most = HOG_BINS_MOST}

/* clang-format on */

/* Checks that a side of a patch, which has PATCH pixels, has at least one pixel for each cell. */
bool verb_check_shape(hog_shape shape, uint64_t patch, app_problem *problem);

#endif

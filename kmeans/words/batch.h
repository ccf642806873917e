/* Patches that are described together, by threads: a few MB of them, or one. */
#ifndef COLL_KMEANS_WORDS_BATCH_H
#define COLL_KMEANS_WORDS_BATCH_H

#include "app/problem.h"
#include "kmeans/words/hog.h"

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

#include "kmeans/words/batch.h"

#include <stdlib.h>

enum { PATCHES = 4096, PIXELS = 1 << 22 };

bool batch_begin(struct batch *batch, hog_shape shape, size_t patch, app_problem *problem) {
    *batch = (struct batch){.shape = shape, .patch = patch, .room = PIXELS / (patch * patch)};
    if (batch->room > PATCHES)
        batch->room = PATCHES;
    batch->pixels = malloc(batch->room * patch * patch);
    batch->features = malloc(batch->room * hog_size(shape));
    return (batch->pixels && batch->features) || app_refuse(problem, "out of memory");
}

uint8_t *batch_next(const struct batch *batch) {
    return batch->pixels + batch->count * batch->patch * batch->patch;
}

void batch_describe(struct batch *batch, int threads) {
    size_t pixels = batch->patch * batch->patch, size = hog_size(batch->shape);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < batch->count; i++)
        hog_describe(batch->shape, batch->pixels + i * pixels, batch->patch,
                     batch->features + i * size);
}

void batch_end(struct batch *batch) {
    free(batch->features);
    free(batch->pixels);
}

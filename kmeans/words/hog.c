/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/words/hog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static const float clip = 0.2f;
static const float scale = 512;

size_t hog_size(hog_shape shape) {
    return shape.cells * shape.cells * shape.bins;
}

/* How a contribution is divided between two neighbouring cells or bins: LOWER gets the share 1 -
 * UPPER_SHARE, LOWER + 1 the rest. */
typedef struct split {
    int lower;
    float upper_share;
} split;

static split split_at(float position) {
    float lower = floorf(position);
    return (split){(int)lower, position - lower};
}

/* Returns the cells of pixel INDEX; cells -1 and CELLS are outside the patch. */
static split cells_of(size_t index, size_t patch, int cells) {
    return split_at(((float)index + 0.5f) * (float)cells / (float)patch - 0.5f);
}

/*
 * All possible gradients, by their components. Computing roots and angles for each pixel would take
 * most of the time.
 */
enum { STEEPEST = 255, SLOPES = 2 * STEEPEST + 1 };
static struct gradient { float length, angle; /* in radians */ } gradients[SLOPES][SLOPES];
static once_flag gradients_once = ONCE_FLAG_INIT;

static void compute_gradients(void) {
    for (int dy = -STEEPEST; dy <= STEEPEST; dy++)
        for (int dx = -STEEPEST; dx <= STEEPEST; dx++)
            gradients[dy + STEEPEST][dx + STEEPEST] =
                (struct gradient){sqrtf((float)(dx * dx + dy * dy)), atan2f((float)dy, (float)dx)};
}

static split bins_of(float angle, int count) {
    split bins = split_at(angle * ((float)count / 6.2831853f));
    if (bins.lower < 0)
        bins.lower += count;
    else if (bins.lower >= count)
        bins.lower -= count;
    return bins;
}

/* The histograms of all cells. */
typedef struct histograms {
    int cells, bins;
    float *sums;
} histograms;

static void add_to_cell(const histograms *into, int row, int column, split bins, float weight) {
    if (row < 0 || row >= into->cells || column < 0 || column >= into->cells)
        return;
    float *cell = into->sums + (row * into->cells + column) * into->bins;
    int upper = bins.lower + 1 < into->bins ? bins.lower + 1 : 0;
    cell[bins.lower] += weight * (1 - bins.upper_share);
    cell[upper] += weight * bins.upper_share;
}

static void add_gradients(const histograms *into, const uint8_t *pixels, size_t patch) {
    split cells[HOG_PATCH_MOST];
    for (size_t i = 0; i < patch; i++)
        cells[i] = cells_of(i, patch, into->cells);
    for (size_t y = 0; y < patch; y++) {
        const uint8_t *row = pixels + y * patch;
        const uint8_t *above = y > 0 ? row - patch : row;
        const uint8_t *below = y + 1 < patch ? row + patch : row;
        split rows = cells[y];
        for (size_t x = 0; x < patch; x++) {
            int dx = row[x + 1 < patch ? x + 1 : x] - row[x > 0 ? x - 1 : x];
            int dy = below[x] - above[x];
            if (!dx && !dy)
                continue;
            struct gradient gradient = gradients[dy + STEEPEST][dx + STEEPEST];
            split bins = bins_of(gradient.angle, into->bins);
            split columns = cells[x];
            float top = gradient.length * (1 - rows.upper_share);
            float bottom = gradient.length * rows.upper_share;
            float left = 1 - columns.upper_share;
            float right = columns.upper_share;
            add_to_cell(into, rows.lower, columns.lower, bins, top * left);
            add_to_cell(into, rows.lower, columns.lower + 1, bins, top * right);
            add_to_cell(into, rows.lower + 1, columns.lower, bins, bottom * left);
            add_to_cell(into, rows.lower + 1, columns.lower + 1, bins, bottom * right);
        }
    }
}

static float length_of(const float *sums, size_t size) {
    float squares = 0;
    for (size_t i = 0; i < size; i++)
        squares += sums[i] * sums[i];
    return sqrtf(squares);
}

void hog_describe(hog_shape shape, const uint8_t *pixels, size_t patch, uint8_t *features) {
    float sums[HOG_SIZE_MOST];
    size_t size = hog_size(shape);
    memset(sums, 0, size * sizeof *sums);
    call_once(&gradients_once, compute_gradients);
    add_gradients(&(histograms){(int)shape.cells, (int)shape.bins, sums}, pixels, patch);
    float length = length_of(sums, size);
    /* The length of the sums if every pixel's gradient is one grey level, all in one direction. */
    float faint = (float)(patch * patch) / (float)shape.cells;
    float presence = length / (length + faint);

    for (size_t i = 0; i < size; i++)
        sums[i] = length > 0 ? fminf(sums[i] / length, clip) : 0;

    float clipped = length_of(sums, size);
    float factor = clipped > 0 ? scale * presence / clipped : 0;
    for (size_t i = 0; i < size; i++)
        features[i] = (uint8_t)fminf(sums[i] * factor + 0.5f, 255);
}

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

#include "kmeans/hog.h"

#include <math.h>

static const float clip = 0.2f;
static const float scale = 512;

/* Where a value falls between two neighbours: LOWER gets 1 - UPPER_SHARE, LOWER + 1 the rest. */
typedef struct split {
    int lower;
    float upper_share;
} split;

static split split_at(float position) {
    float lower = floorf(position);
    return (split){(int)lower, position - lower};
}

/* The cells of pixel INDEX; those at -1 and HOG_CELLS lie outside the patch. */
static split cells_of(size_t index, size_t patch) {
    return split_at(((float)index + 0.5f) * HOG_CELLS / (float)patch - 0.5f);
}

static split bins_of(float dx, float dy) {
    static const float bins_per_radian = (float)(HOG_BINS / 6.283185307179586);
    split bins = split_at(atan2f(dy, dx) * bins_per_radian);
    bins.lower = (bins.lower + HOG_BINS) % HOG_BINS;
    return bins;
}

static void add_to_cell(float *sums, int row, int column, split bins, float weight) {
    if (row < 0 || row >= HOG_CELLS || column < 0 || column >= HOG_CELLS)
        return;
    float *cell = sums + (row * HOG_CELLS + column) * HOG_BINS;
    cell[bins.lower] += weight * (1 - bins.upper_share);
    cell[(bins.lower + 1) % HOG_BINS] += weight * bins.upper_share;
}

static void add_gradients(const uint8_t *pixels, size_t patch, float sums[HOG_SIZE]) {
    split cells[HOG_PATCH_MOST];
    for (size_t i = 0; i < patch; i++)
        cells[i] = cells_of(i, patch);
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
            float length = sqrtf((float)(dx * dx + dy * dy));
            split bins = bins_of((float)dx, (float)dy);
            split columns = cells[x];
            float top = length * (1 - rows.upper_share);
            float bottom = length * rows.upper_share;
            float left = 1 - columns.upper_share;
            float right = columns.upper_share;
            add_to_cell(sums, rows.lower, columns.lower, bins, top * left);
            add_to_cell(sums, rows.lower, columns.lower + 1, bins, top * right);
            add_to_cell(sums, rows.lower + 1, columns.lower, bins, bottom * left);
            add_to_cell(sums, rows.lower + 1, columns.lower + 1, bins, bottom * right);
        }
    }
}

static float length_of(const float sums[HOG_SIZE]) {
    float squares = 0;
    for (int i = 0; i < HOG_SIZE; i++)
        squares += sums[i] * sums[i];
    return sqrtf(squares);
}

void hog_describe(const uint8_t *pixels, size_t patch, uint8_t features[HOG_SIZE]) {
    float sums[HOG_SIZE] = {0};
    add_gradients(pixels, patch, sums);
    float length = length_of(sums);
    /* Of gradients of one grey level everywhere, all in one direction. */
    float faint = (float)(patch * patch) / HOG_CELLS;
    float presence = length / (length + faint);

    for (int i = 0; i < HOG_SIZE; i++)
        sums[i] = length > 0 ? fminf(sums[i] / length, clip) : 0;

    float clipped = length_of(sums);
    float factor = clipped > 0 ? scale * presence / clipped : 0;
    for (int i = 0; i < HOG_SIZE; i++)
        features[i] = (uint8_t)fminf(sums[i] * factor + 0.5f, 255);
}

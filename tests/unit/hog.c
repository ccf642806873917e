/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests histograms of oriented gradients: known patches give known bytes. */
#include "kmeans/words/hog.h"

#include "tests/support/harness.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The papers' parameters, which give 512 bytes. */
enum { HOG_CELLS = 4, HOG_BINS = 32, HOG_SIZE = HOG_CELLS * HOG_CELLS * HOG_BINS };
static const hog_shape papers = {HOG_CELLS, HOG_BINS};

static size_t place(int row, int column, int bin) {
    return (size_t)((row * HOG_CELLS + column) * HOG_BINS + bin);
}

/* Returns the next grey of a fixed random sequence. */
static uint8_t noise(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return (uint8_t)(*state >> 24);
}

START_TEST(even_patches_give_zeros) {
    static const uint8_t zeros[HOG_SIZE];
    static const size_t sizes[] = {4, 5, 12, 33};
    uint8_t pixels[33 * 33], features[HOG_SIZE];
    for (int grey = 0; grey <= 255; grey += 51)
        for (size_t i = 0; i < 4; i++) {
            memset(pixels, grey, sizeof pixels);
            memset(features, 99, sizeof features);
            hog_describe(papers, pixels, sizes[i], features);
            ck_assert_mem_eq(features, zeros, HOG_SIZE);
        }
}
END_TEST

/*
 * In a 4 x 4 patch every pixel is the centre of its cell, so no gradient is shared between cells.
 * The step from 0 to HEIGHT between columns 1 and 2 gives 8 cells the sum HEIGHT in bin 0: L =
 * sqrt(8) HEIGHT. All are clipped equally, so each is 512 / sqrt(8) x L / (L + 4) of the scale.
 */
static void expect_step(uint8_t height, uint8_t value) {
    uint8_t pixels[16], features[HOG_SIZE], expected[HOG_SIZE] = {0};
    for (int i = 0; i < 16; i++)
        pixels[i] = i % 4 < 2 ? 0 : height;
    for (int row = 0; row < 4; row++)
        expected[place(row, 1, 0)] = expected[place(row, 2, 0)] = value;
    hog_describe(papers, pixels, 4, features);
    ck_assert_mem_eq(features, expected, HOG_SIZE);
}

START_TEST(a_step_gives_the_stated_vector) {
    expect_step(255, 180); /* 181.02 x 721.25 / 725.25 */
    expect_step(100, 178); /* 181.02 x 282.84 / 286.84 = 178.49 */
    expect_step(1, 75);    /* 181.02 x 2.828 / 6.828 */
}
END_TEST

/* Makes a patch that is dark in the first half and bright in the second, in direction DX, DY. */
static void edge(uint8_t *pixels, int patch, int dx, int dy) {
    for (int y = 0; y < patch; y++)
        for (int x = 0; x < patch; x++) {
            int along = dx * (2 * x + 1 - patch) + dy * (2 * y + 1 - patch);
            pixels[y * patch + x] = along > 0 ? 200 : 20;
        }
}

START_TEST(edges_land_in_their_bins) {
    static const int cases[][3] = {{1, 0, 0}, {0, 1, 8}, {-1, 0, 16}, {0, -1, 24}};
    for (int patch = 4; patch <= 32; patch += 4)
        for (int c = 0; c < 4; c++) {
            uint8_t pixels[32 * 32], features[HOG_SIZE];
            edge(pixels, patch, cases[c][0], cases[c][1]);
            hog_describe(papers, pixels, (size_t)patch, features);
            for (int i = 0; i < HOG_SIZE; i++) {
                int cell = i / HOG_BINS, bin = i % HOG_BINS;
                int along = cases[c][0] ? cell % HOG_CELLS : cell / HOG_CELLS;
                bool lit = bin == cases[c][2] && (along == 1 || along == 2);
                ck_assert_msg(lit == (features[i] > 0), "patch %d case %d cell %d bin %d: %d",
                              patch, c, cell, bin, features[i]);
            }
        }
}
END_TEST

START_TEST(diagonals_land_between) {
    /* A ramp along both axes has a gradient of 45 degrees everywhere inside: bin 4. */
    uint8_t pixels[144], features[HOG_SIZE];
    for (int i = 0; i < 144; i++)
        pixels[i] = (uint8_t)(8 * (i % 12 + i / 12));
    hog_describe(papers, pixels, 12, features);
    for (int row = 1; row <= 2; row++)
        for (int column = 1; column <= 2; column++)
            for (int bin = 0; bin < HOG_BINS; bin++) {
                int value = features[place(row, column, bin)];
                ck_assert_msg((bin == 4) == (value > 8), "bin %d: %d", bin, value);
            }
}
END_TEST

START_TEST(orientations_between_bins_are_shared) {
    /* dx = 100 and dy = 10 everywhere inside: 5.71 degrees, 0.51 of the way from bin 0 to bin 1. */
    uint8_t pixels[16], features[HOG_SIZE];
    for (int i = 0; i < 16; i++)
        pixels[i] = (uint8_t)(50 * (i % 4) + 5 * (i / 4));
    hog_describe(papers, pixels, 4, features);
    for (int row = 1; row <= 2; row++)
        for (int column = 1; column <= 2; column++) {
            int lower = features[place(row, column, 0)], upper = features[place(row, column, 1)];
            ck_assert_int_gt(lower, 0);
            ck_assert_int_ge(upper, lower);
            ck_assert_int_le(upper, lower + 4);
            for (int bin = 2; bin < HOG_BINS; bin++)
                ck_assert_int_eq(features[place(row, column, bin)], 0);
        }
}
END_TEST

START_TEST(a_quarter_turn_permutes) {
    uint32_t state = 7;
    for (int patch = 4; patch <= 20; patch++) {
        uint8_t pixels[400], turned[400], before[HOG_SIZE], after[HOG_SIZE];
        for (int i = 0; i < patch * patch; i++)
            pixels[i] = noise(&state);
        /* After a clockwise rotation right becomes down, so bins move by 8. */
        for (int y = 0; y < patch; y++)
            for (int x = 0; x < patch; x++)
                turned[x * patch + patch - 1 - y] = pixels[y * patch + x];
        hog_describe(papers, pixels, (size_t)patch, before);
        hog_describe(papers, turned, (size_t)patch, after);
        for (int row = 0; row < HOG_CELLS; row++)
            for (int column = 0; column < HOG_CELLS; column++)
                for (int bin = 0; bin < HOG_BINS; bin++) {
                    int one = before[place(row, column, bin)];
                    int other = after[place(column, HOG_CELLS - 1 - row, (bin + 8) % HOG_BINS)];
                    /* Sums in another order may be rounded to the next byte. */
                    ck_assert_msg(abs(one - other) <= 1, "patch %d cell %d %d bin %d: %d, %d",
                                  patch, row, column, bin, one, other);
                }
    }
}
END_TEST

START_TEST(a_negative_turns_half_way) {
    uint32_t state = 9;
    uint8_t pixels[144], negative[144], before[HOG_SIZE], after[HOG_SIZE];
    for (int i = 0; i < 144; i++) {
        pixels[i] = noise(&state);
        negative[i] = (uint8_t)(255 - pixels[i]);
    }
    hog_describe(papers, pixels, 12, before);
    hog_describe(papers, negative, 12, after);
    for (int cell = 0; cell < HOG_CELLS * HOG_CELLS; cell++)
        for (int bin = 0; bin < HOG_BINS; bin++)
            ck_assert_int_le(
                abs(before[place(0, cell, bin)] - after[place(0, cell, (bin + 16) % 32)]), 1);
}
END_TEST

START_TEST(lengths_are_bounded) {
    uint32_t state = 11;
    for (size_t patch = 4; patch <= 64; patch += 5) {
        uint8_t *pixels = malloc(patch * patch); /* of that size, for the sanitizers */
        uint8_t features[HOG_SIZE];
        long squares = 0;
        ck_assert_ptr_nonnull(pixels);
        for (size_t i = 0; i < patch * patch; i++)
            pixels[i] = noise(&state);
        hog_describe(papers, pixels, patch, features);
        for (int i = 0; i < HOG_SIZE; i++)
            squares += features[i] * features[i];
        /*
         * 512 squared is the unit. Noise is neither faint nor clipped much, and rounding adds a
         * little.
         */
        ck_assert_int_gt(squares, 480L * 480);
        ck_assert_int_lt(squares, 520L * 520);
        free(pixels);
    }
}
END_TEST

START_TEST(one_lit_corner_is_cut_at_255) {
    uint8_t pixels[16] = {255}, features[HOG_SIZE];
    int most = 0;
    hog_describe(papers, pixels, 4, features);
    for (int i = 0; i < HOG_SIZE; i++)
        most = features[i] > most ? features[i] : most;
    ck_assert_int_eq(most, 255);
    ck_assert_int_eq(features[place(0, 0, 20)], 255); /* it is brighter up and left */
}
END_TEST

/*
 * With any parameters only the bytes of the features are written. A step gives its left and right
 * neighbours only bin 0.
 */
START_TEST(other_shapes) {
    static const hog_shape shapes[] = {{1, 2}, {2, 8}, {3, 9}, {5, 64}, {16, 4}};
    uint8_t pixels[32 * 32];
    edge(pixels, 32, 1, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t size = hog_size(shapes[i]), lit = 0;
        uint8_t *features = malloc(size); /* of that size, for the sanitizers */
        ck_assert_ptr_nonnull(features);
        hog_describe(shapes[i], pixels, 32, features);
        for (size_t at = 0; at < size; at++) {
            ck_assert_msg(!features[at] || at % shapes[i].bins == 0, "shape %zu, byte %zu", i, at);
            lit += features[at] > 0;
        }
        ck_assert_uint_ge(lit, shapes[i].cells);
        free(features);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hog");
    TCase *tests = tcase_create("hog");
    tcase_add_test(tests, even_patches_give_zeros);
    tcase_add_test(tests, a_step_gives_the_stated_vector);
    tcase_add_test(tests, edges_land_in_their_bins);
    tcase_add_test(tests, diagonals_land_between);
    tcase_add_test(tests, orientations_between_bins_are_shared);
    tcase_add_test(tests, a_quarter_turn_permutes);
    tcase_add_test(tests, a_negative_turns_half_way);
    tcase_add_test(tests, lengths_are_bounded);
    tcase_add_test(tests, one_lit_corner_is_cut_at_255);
    tcase_add_test(tests, other_shapes);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

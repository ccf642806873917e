/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests bags of words: the cells of the pyramid in which a patch is counted, and the lines that are
 * written.
 */
#include "kmeans/words/bags.h"
#include "tests/support/harness.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void expect_line(uint64_t levels, bag_norm norm, const patch_place *places,
                        const uint32_t *words, size_t count, const char *line) {
    struct bags bags = {.words = 10, .levels = levels, .norm = norm};
    struct text text = {0};
    app_problem problem = {""};
    for (size_t i = 0; i < count; i++)
        ck_assert(bags_add(&bags, 0, &places[i], 4, words[i], &problem));
    ck_assert(bags_write(&bags, &(int32_t){-3}, &(bool){true}, 1, &text, &problem));
    ck_assert_uint_eq(text.size, strlen(line));
    ck_assert_mem_eq(text.bytes, line, text.size);
    free(text.bytes);
    free(bags.uses);
}

START_TEST(bins_of_the_pyramid) {
    ck_assert_uint_eq(bags_bins(10, 1), 10);
    ck_assert_uint_eq(bags_bins(10, 2), 50);
    ck_assert_uint_eq(bags_bins(1000000, 4), 85000000);
}
END_TEST

/* An image of 20 x 12 has word 7 in each corner, in patches of 4 pixels. */
START_TEST(cells_of_a_patch) {
    static const uint32_t words[] = {7, 7, 7, 7};
    static const patch_place corners[] = {
        {0, 0, 20, 12}, {16, 0, 20, 12}, {0, 8, 20, 12}, {16, 8, 20, 12}};
    expect_line(1, BAG_COUNTS, corners, words, 4, "-3 8:4\n");
    expect_line(2, BAG_COUNTS, corners, words, 4, "-3 8:4 18:1 28:1 38:1 48:1\n");
    expect_line(3, BAG_COUNTS, &corners[3], words, 1, "-3 8:1 48:1 208:1\n");
    /* A patch exactly in the middle belongs to the cell to the right and below. */
    expect_line(2, BAG_COUNTS, &(patch_place){8, 4, 20, 12}, words, 1, "-3 8:1 48:1\n");
}
END_TEST

START_TEST(norms) {
    static const uint32_t words[] = {2, 0, 2, 2};
    static const patch_place places[4] = {{0, 0, 8, 8}, {0, 0, 8, 8}, {0, 0, 8, 8}, {0, 0, 8, 8}};
    expect_line(1, BAG_COUNTS, places, words, 4, "-3 1:1 3:3\n");
    expect_line(1, BAG_L1, places, words, 4, "-3 1:0.25 3:0.75\n");
    expect_line(1, BAG_L2, places, words, 4, "-3 1:0.316228 3:0.948683\n");
    expect_line(1, BAG_HELLINGER, places, words, 4, "-3 1:0.5 3:0.866025\n");
}
END_TEST

START_TEST(images_in_order) {
    static const int32_t labels[] = {5, 6, 7, 8};
    static const bool kept[] = {true, false, true, true};
    static const patch_place place = {0, 0, 8, 8};
    struct bags bags = {.words = 10, .levels = 1, .norm = BAG_COUNTS};
    struct text text = {0};
    app_problem problem = {""};
    ck_assert(bags_add(&bags, 3, &place, 4, 9, &problem));
    ck_assert(bags_add(&bags, 0, &place, 4, 9, &problem));
    ck_assert(bags_add(&bags, 3, &place, 4, 1, &problem));
    for (int round = 0; round < 2; round++) {
        static const char *const lines[] = {"5 10:1\n7\n8 2:1 10:1\n", "5\n7\n8\n"};
        text.size = 0;
        ck_assert(bags_write(&bags, labels, kept, 4, &text, &problem));
        ck_assert_uint_eq(text.size, strlen(lines[round]));
        ck_assert_mem_eq(text.bytes, lines[round], text.size);
    }
    free(text.bytes);
    free(bags.uses);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("bags");
    TCase *tests = tcase_create("bags");
    tcase_add_test(tests, bins_of_the_pyramid);
    tcase_add_test(tests, cells_of_a_patch);
    tcase_add_test(tests, norms);
    tcase_add_test(tests, images_in_order);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

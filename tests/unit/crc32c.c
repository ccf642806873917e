/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares CRC32C with the vectors of RFC 3720 B.4, and the processor's instruction with the table.
 */
#include "lib/base/crc32c.h"

#include "tests/support/harness.h"

#include <check.h>
#include <string.h>

typedef uint32_t checksum(uint32_t, const void *, size_t);
static checksum *const ways[] = {coll_crc32c, coll_crc32c_by_table};
enum { WAYS = sizeof ways / sizeof *ways };

START_TEST(known_vectors) {
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    memset(ones, 0xff, sizeof ones);
    for (int i = 0; i < 32; i++) {
        up[i] = (unsigned char)i;
        down[i] = (unsigned char)(31 - i);
    }
    for (int w = 0; w < WAYS; w++) {
        ck_assert_uint_eq(ways[w](0, "", 0), 0);
        ck_assert_uint_eq(ways[w](0, "123456789", 9), 0xe3069283);
        ck_assert_uint_eq(ways[w](0, zeros, 32), 0x8a9136aa);
        ck_assert_uint_eq(ways[w](0, ones, 32), 0x62a8ab43);
        ck_assert_uint_eq(ways[w](0, up, 32), 0x46dd794e);
        ck_assert_uint_eq(ways[w](0, down, 32), 0x113fdb5c);
    }
}
END_TEST

/* Tests every alignment and length, in one part and in two. */
START_TEST(both_ways_agree) {
    unsigned char bytes[80];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i * 37 + 11);
    for (size_t from = 0; from < 9; from++)
        for (size_t length = 0; from + length <= sizeof bytes; length++) {
            uint32_t whole = coll_crc32c_by_table(0, bytes + from, length);
            ck_assert_uint_eq(coll_crc32c(0, bytes + from, length), whole);
            size_t cut = length / 3;
            for (int w = 0; w < WAYS; w++) {
                uint32_t head = ways[w](0, bytes + from, cut);
                ck_assert_uint_eq(ways[w](head, bytes + from + cut, length - cut), whole);
            }
        }
}
END_TEST

/* A chunk with any single bit wrong has another checksum. */
START_TEST(every_bit_counts) {
    unsigned char bytes[1000] = {0};
    uint32_t right = coll_crc32c(0, bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert_uint_ne(coll_crc32c(0, bytes, sizeof bytes), right);
        bytes[bit / 8] = 0;
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("crc32c");
    TCase *tests = tcase_create("crc32c");
    tcase_add_test(tests, known_vectors);
    tcase_add_test(tests, both_ways_agree);
    tcase_add_test(tests, every_bit_counts);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

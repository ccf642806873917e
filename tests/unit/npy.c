/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the .npy header: written headers are read back, and malformed ones are named. */
#include "kmeans/points/npy.h"

#include "tests/support/harness.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Builds a version 1 header with DICTIONARY. Returns its size. */
static size_t wrap(const char *dictionary, char *bytes) {
    size_t length = strlen(dictionary);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, dictionary, length);
    return 10 + length;
}

static void expect_refused(const char *dictionary, const char *words) {
    char bytes[1024];
    app_problem problem = {""};
    npy_header header = {.dimensions = 77};
    size_t size = wrap(dictionary, bytes);
    ck_assert_msg(!npy_parse_header("file", bytes, size, &header, &problem), "%s passed",
                  dictionary);
    ck_assert_msg(strstr(problem.text, words) != NULL, "%s: '%s' lacks '%s'", dictionary,
                  problem.text, words);
    ck_assert_int_eq(header.dimensions, 77);
}

START_TEST(written_headers_are_read_back) {
    static const npy_type types[] = {NPY_UINT8,  NPY_INT8,    NPY_INT32,
                                     NPY_UINT32, NPY_FLOAT16, NPY_FLOAT32};
    static const size_t sizes[] = {1, 1, 4, 4, 2, 4};
    /* The last shape has 2^63 - 2048 bytes, which with its header is still a valid file offset. */
    static const uint64_t shapes[][2] = {
        {0, 512}, {1, 1}, {540000, 512}, {7, 0}, {INT64_MAX / 2048, 512}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++)
        for (size_t s = 0; s < 5; s++)
            for (int dimensions = 1; dimensions <= 2; dimensions++) {
                char bytes[NPY_HEADER_SIZE];
                app_problem problem = {""};
                npy_header header;
                npy_format_header(types[t], dimensions, shapes[s][0], shapes[s][1], bytes);
                ck_assert_msg(npy_parse_header("file", bytes, sizeof bytes, &header, &problem),
                              "%s", problem.text);
                ck_assert_int_eq(header.type, types[t]);
                ck_assert_int_eq(header.dimensions, dimensions);
                ck_assert_uint_eq(header.shape[0], shapes[s][0]);
                ck_assert_uint_eq(header.shape[1], dimensions == 2 ? shapes[s][1] : 1);
                ck_assert_uint_eq(header.offset, NPY_HEADER_SIZE);
                ck_assert_uint_eq(npy_data_size(&header),
                                  shapes[s][0] * header.shape[1] * sizes[t]);
            }
}
END_TEST

START_TEST(bytes_are_those_of_numpy) {
    char bytes[NPY_HEADER_SIZE];
    npy_format_header(NPY_INT32, 1, 3, 0, bytes);
    static const char text[] = "\x93NUMPY\x01\x00\x76\x00"
                               "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
    ck_assert_mem_eq(bytes, text, sizeof text - 1);
    for (size_t i = sizeof text - 1; i < NPY_HEADER_SIZE - 1; i++)
        ck_assert_int_eq(bytes[i], ' ');
    ck_assert_int_eq(bytes[NPY_HEADER_SIZE - 1], '\n');
}
END_TEST

START_TEST(other_spellings_are_read) {
    static const char *const dictionaries[] = {
        "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3)}",
        "{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<u4\"}\n",
        "  { 'shape' : ( 2L , 3L ) , 'descr' : '=u4' , 'fortran_order' : False , }  \n",
    };
    for (size_t i = 0; i < 3; i++) {
        char bytes[1024];
        app_problem problem = {""};
        npy_header header;
        size_t size = wrap(dictionaries[i], bytes);
        ck_assert_msg(npy_parse_header("file", bytes, size, &header, &problem), "%s", problem.text);
        ck_assert_int_eq(header.type, NPY_UINT32);
        ck_assert_int_eq(header.dimensions, 2);
        ck_assert_uint_eq(header.shape[0], 2);
        ck_assert_uint_eq(header.shape[1], 3);
        ck_assert_uint_eq(header.offset, size);
    }
}
END_TEST

START_TEST(version_2_has_a_longer_length) {
    static const char text[] = "\x93NUMPY\x02\x00\x38\x00\x00\x00"
                               "{'descr': '|u1', 'fortran_order': False, 'shape': (9,)} \n";
    app_problem problem = {""};
    npy_header header;
    ck_assert_uint_eq(sizeof text - 1, 12 + 0x38 + 1); /* and one element of data */
    ck_assert_msg(npy_parse_header("file", text, sizeof text - 1, &header, &problem), "%s",
                  problem.text);
    ck_assert_uint_eq(header.offset, 12 + 0x38);
    ck_assert_uint_eq(header.shape[0], 9);
}
END_TEST

START_TEST(hostile_headers_are_refused) {
    expect_refused("{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}", "byte order");
    expect_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", "'<u2'");
    expect_refused("{'descr': '', 'fortran_order': False, 'shape': (2,)}", "''");
    expect_refused("{'descr': '?u1', 'fortran_order': False, 'shape': (2,)}", "'?u1'");
    expect_refused("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,)}",
                   "plain numbers");
    expect_refused("{'descr': '<i4', 'fortran_order': True, 'shape': (2,)}", "Fortran order");
    expect_refused("{'descr': '<i4', 'fortran_order': 0, 'shape': (2,)}", "fortran_order");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (-2,)}", "negative");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': ()}", "single number");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (2)}", "tuple");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (,)}", "tuple");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': 2}", "tuple");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2, 3)}",
                   "two dimensions");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
                   "2^63");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
                   "2^63");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (2305843009213693951,)}",
                   "2^63");
    expect_refused("{'descr': '<i4', 'fortran_order': False}", "'shape'");
    expect_refused("{'descr': '<i4', 'shape': (2,)}", "'fortran_order'");
    expect_refused("{'descr': '<i4', 'descr': '<i4'}", "twice");
    expect_refused("{'colour': 'red'}", "'colour'");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (2,)", "no end");
    expect_refused("{'descr': '<i4', 'fortran_order': False, 'shape': (2,)} x", "after");
    expect_refused("{'descr': '<i4", "plain numbers");
    expect_refused("nonsense", "dictionary");
    expect_refused("", "dictionary");
}
END_TEST

START_TEST(every_cut_is_refused) {
    char bytes[NPY_HEADER_SIZE];
    app_problem problem = {""};
    npy_format_header(NPY_UINT8, 2, 5, 512, bytes);
    for (size_t count = 0; count < sizeof bytes; count++) {
        npy_header header;
        problem.text[0] = '\0';
        /* A copy of exactly this size lets the sanitizers detect a read past its end. */
        char *part = malloc(count + !count);
        ck_assert_ptr_nonnull(part);
        memcpy(part, bytes, count);
        ck_assert(!npy_parse_header("file", part, count, &header, &problem));
        ck_assert_msg(strstr(problem.text, count < 6 ? "not a .npy" : "cut off") != NULL, "%zu: %s",
                      count, problem.text);
        free(part);
    }
}
END_TEST

START_TEST(versions_and_lengths_are_bounded) {
    app_problem problem = {""};
    npy_header header;
    ck_assert(
        !npy_parse_header("file", "\x93NUMPY\x04\x00\x01\x00\x00\x00{", 13, &header, &problem));
    ck_assert_ptr_nonnull(strstr(problem.text, "version 4"));
    problem.text[0] = '\0';
    ck_assert(
        !npy_parse_header("file", "\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13, &header, &problem));
    ck_assert_ptr_nonnull(strstr(problem.text, "4294967307 bytes"));
}
END_TEST

START_TEST(files_must_hold_their_data) {
    for (int extra = -1; extra <= 1; extra++) {
        char bytes[NPY_HEADER_SIZE];
        app_problem problem = {""};
        struct table table = {0};
        char path[64];
        FILE *file = tmpfile();
        ck_assert_ptr_nonnull(file);
        npy_format_header(NPY_UINT8, 2, 3, 4, bytes);
        ck_assert_uint_eq(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
        for (int i = 0; i < 12 + extra; i++)
            ck_assert_int_eq(fputc('a' + i, file), 'a' + i);
        ck_assert_int_eq(fflush(file), 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
        ck_assert_msg(table_open(&table, path, 2, NPY_UINT8, NPY_UINT8, &problem) == !extra, "%d",
                      extra);
        if (extra)
            ck_assert_ptr_nonnull(strstr(problem.text, extra < 0 ? "holds 11 bytes" : "holds 13"));
        else
            ck_assert_int_eq(fgetc(table.file), 'a');
        table_close(&table);
        fclose(file);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("npy");
    TCase *tests = tcase_create("npy");
    tcase_add_test(tests, written_headers_are_read_back);
    tcase_add_test(tests, bytes_are_those_of_numpy);
    tcase_add_test(tests, other_spellings_are_read);
    tcase_add_test(tests, version_2_has_a_longer_length);
    tcase_add_test(tests, hostile_headers_are_refused);
    tcase_add_test(tests, every_cut_is_refused);
    tcase_add_test(tests, versions_and_lengths_are_bounded);
    tcase_add_test(tests, files_must_hold_their_data);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

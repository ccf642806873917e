/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests matrix files: what is read, what is refused and with which message, and that written files
 * can be read.
 */
#include "config.h"

#include "hlot/matrix.h"
#include "tests/support/harness.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static hlot_matrix matrix;
static char problem[COLL_TEXTFILE_PROBLEM];

static bool parse_bytes(const char *text, size_t length) {
    char *copy = malloc(length + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    bool good = hlot_matrix_parse("m", copy, length, &matrix, problem);
    free(copy);
    return good;
}

static bool parse(const char *text) {
    return parse_bytes(text, strlen(text));
}

START_TEST(names_units_and_hosts_are_read) {
    ck_assert_msg(parse("# two\nunit 0.1ms\nams nyc # sites\n\n0 400\r\n410.5 0\n"
                        "hosts nyc n[2-3],login\nhosts ams n[0-1]\n"),
                  "%s", problem);
    ck_assert_int_eq(matrix.sites, 2);
    ck_assert_str_eq(matrix.names[1], "nyc");
    ck_assert_double_eq_tol(matrix.latency[0][1], 40e-3, 1e-12);
    ck_assert_double_eq_tol(matrix.latency[1][0], 41.05e-3, 1e-12);
    ck_assert_int_eq(hlot_matrix_find_host(&matrix, "n3"), 1);
    ck_assert_int_eq(hlot_matrix_find_host(&matrix, "n1.cluster.org"), 0);
    ck_assert_int_eq(hlot_matrix_find_host(&matrix, "n4"), -1);
    hlot_matrix_free(&matrix);
}
END_TEST

START_TEST(without_names_and_units_sites_are_numbered_and_times_are_ms) {
    ck_assert_msg(parse("0 1 -\n2 0 3\n- 4 0"), "%s", problem);
    ck_assert_str_eq(matrix.names[2], "site2");
    ck_assert_double_eq(matrix.latency[0][1], 1e-3);
    ck_assert_double_eq(matrix.latency[0][2], INFINITY);
    hlot_matrix_free(&matrix);
}
END_TEST

/* The same matrix of two sites, in the formats of spreadsheets and other programs. */
START_TEST(separators_and_names_of_rows_are_read) {
    static const char *const texts[] = {
        "ams,nyc\n0,40\n41,0\n",
        "ams, nyc\n0, 40\n41, 0\n",
        "ams;nyc\r\n0;40\r\n41;0\r\n",
        "ams\tnyc\n0\t40\n41\t0\n",
        ",ams,nyc\nams,0,40\nnyc,41,0\n",
        "\tams\tnyc\nams\t0\t40\nnyc\t41\t0\n",
        "from/to;ams;nyc\nams;0;40\nnyc;41;0\n",
        "- ams nyc\nams 0 40\nnyc 41 0\n",
        "    ams nyc\nams 0 40\nnyc 41 0\n",
        "ams 0 40\nnyc 41 0\n",
        "ams,-,40\nnyc,41,-\n",
        "\xEF\xBB\xBF\"\",\"ams\",\"nyc\"\r\n\"ams\",0,40\r\n\"nyc\",41,0\r\n",
        "unit,us,\n,,\nms,ams,nyc\nams,0,40000\nnyc,41000,0\n,,\n",
        "ams,nyc\nhosts ams n[0-1,3]\nhosts nyc x\n0,40\n41,0\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_msg(parse(texts[i]), "%s: %s", texts[i], problem);
        ck_assert_int_eq(matrix.sites, 2);
        ck_assert_str_eq(matrix.names[0], "ams");
        ck_assert_str_eq(matrix.names[1], "nyc");
        ck_assert_double_eq_tol(matrix.latency[0][1], 40e-3, 1e-12);
        ck_assert_double_eq_tol(matrix.latency[1][0], 41e-3, 1e-12);
        hlot_matrix_free(&matrix);
    }
    ck_assert_msg(parse("0,40\n-,0\n"), "%s", problem);
    ck_assert_str_eq(matrix.names[1], "site1");
    ck_assert_double_eq(matrix.latency[1][0], INFINITY);
    hlot_matrix_free(&matrix);
}
END_TEST

static void check_what_is_written(void) {
    ck_assert(parse("unit us\na b c\n0 1.5 -\n2 0 123456\n0.25 4 0\n"
                    "hosts a x\nhosts b y[1-2]\nhosts c z\n"));
    hlot_matrix before = matrix;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    hlot_matrix_print(stream, &matrix, "a note");
    fclose(stream);
    ck_assert_msg(parse(text), "%s in %s", problem, text);
    ck_assert_int_eq(matrix.sites, before.sites);
    ck_assert_mem_eq(matrix.names, before.names, sizeof matrix.names);
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++)
            if (before.latency[from][to] < INFINITY)
                ck_assert_double_eq_tol(matrix.latency[from][to], before.latency[from][to], 1e-11);
            else
                ck_assert_double_eq(matrix.latency[from][to], INFINITY);
    ck_assert_str_eq(matrix.hosts[1], "y[1-2]");
    free(text);
    hlot_matrix_free(&matrix);
    hlot_matrix_free(&before);
}

START_TEST(the_way_from_a_site_to_itself_is_ignored) {
    ck_assert_msg(parse("5 1\n1 -\n"), "%s", problem);
    ck_assert(matrix.within);
    ck_assert_double_eq(matrix.latency[0][0], 0);
    ck_assert_double_eq(matrix.latency[1][1], 0);
    hlot_matrix_free(&matrix);
    ck_assert(parse("0 1\n1 0\n"));
    ck_assert(!matrix.within);
    hlot_matrix_free(&matrix);
}
END_TEST

START_TEST(what_is_written_reads_back) {
    check_what_is_written();
    if (!harness_comma())
        return;
    check_what_is_written();
    harness_point();
}
END_TEST

START_TEST(what_is_wrong_is_said_with_its_line) {
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"# nothing\n", "line 1: there is no matrix in this file"},
        {"0 1\n1 0 2\n", "line 2: 3 numbers for 2 sites; the matrix must be square"},
        {"0 1\n", "line 1: 1 rows for 2 sites; the matrix must be square"},
        {"0 1\n1 0\n1 1\n", "line 3: more rows than the 2 sites"},
        {"0 -1\n1 0\n", "line 1: -1 is negative"},
        {"0 nan\n1 0\n", "line 1: 'nan' is not a number"},
        {"0 inf\n1 0\n", "line 1: 'inf' is not a number"},
        {"0 0x1\n1 0\n", "line 1: '0x1' is not a number"},
        {"0 1,5\n1 0\n", "line 1: '0 1' is neither a number nor the name of a site"},
        {"0;1,5\n1;0\n", "line 1: '1,5' is not a number"},
        {"0,,1\n", "line 1: '' is not a number; write a latency, or - if there is no link"},
        {"a,b\n0,1,2\n", "line 2: 3 numbers for 2 sites"},
        {"x,a,b\n0,1\n1,0\n", "line 2: 2 numbers for 3 sites"},
        {"x,a,b\na,0,1\nc,1,0\n", "line 3: this row must begin with its site's name 'b', and "
                                  "begins with 'c'"},
        {"a,b\na,0,1\n1,0\n", "line 3: this row must begin with its site's name 'b', and"},
        {"a 0 1\na 1 0\n", "line 2: two sites are called 'a'; rename one"},
        {"x,a,a\na,0,1\na,1,0\n", "line 1: two sites are called 'a'; rename one"},
        {"x\na\n", "line 2: more rows than the 0 sites"},
        {"\"\"\na,0\n", "line 2: more rows than the 0 sites"},
        {"unit,ms,x\n0,1\n1,0\n", "line 1: 'x' is too much"},
        {"0 1e9\n1 0\n", "line 1: 1e9 is more than 60 s; is the unit right?"},
        {"a b c\n0 1\n1 0\n", "line 2: 2 numbers for 3 sites"},
        {"a a\n0 1\n1 0\n", "line 1: two sites are called 'a'; rename one"},
        {"a b!\n0 1\n1 0\n", "line 1: 'b!' is neither a number nor the name of a site"},
        {"unit h\n0 1\n1 0\n", "line 1: unit 'h' is none of us, ms, s"},
        {"unit\n0 1\n1 0\n", "line 1: unit '' is none of"},
        {"unit 1.2.3ms\n0 1\n1 0\n", "line 1: unit '1.2.3ms' is none of"},
        {"unit 0ms\n0 1\n1 0\n", "line 1: unit '0ms' is none of"},
        {"0 1\nunit ms\n1 0\n", "line 2: the unit must stand once, before the numbers"},
        {"a b\n0 1\n1 0\nhosts c x\n", "line 4: hosts of 'c': no site has this name"},
        {"a b\n0 1\n1 0\nhosts a x\n", "line 4: no hosts for 'b'; give the hosts of all sites"},
        {"a b\n0 1\n1 0\nhosts a x\nhosts a y\n", "line 5: a second list of hosts for 'a'"},
        {"a b\n0 1\n1 0\nhosts a x y\nhosts b y\n", "line 4: 'y' is too much"},
        {"a b\n0 1\n1 0\nhosts a n[1\nhosts b y\n", "in the hosts 'n[1'; write them like"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        *problem = '\0';
        ck_assert_msg(!parse(cases[i].text), "accepted: %s", cases[i].text);
        ck_assert_msg(strstr(problem, cases[i].what) != NULL, "%s: not \"%s\"", problem,
                      cases[i].what);
    }
}
END_TEST

START_TEST(what_is_no_text_is_refused) {
    ck_assert(!parse_bytes("0 1\n1\0 0\n", 9));
    ck_assert_str_eq(problem, "matrix file m, line 2: byte 0x00 is not text; give a text file");
    ck_assert(!parse_bytes("", 0));
    ck_assert_str_eq(problem, "matrix file m, line 1: there is no matrix in this file");
}
END_TEST

/*
 * Parses SITES columns in the first line, followed by ROWS rows of numbers with names before them.
 */
static bool parse_many(int sites, int rows) {
    static char text[(HLOT_SITES + 2) * (HLOT_SITES + 3) * 8];
    char *end = text + sprintf(text, "from");
    for (int site = 0; site < sites; site++)
        end += sprintf(end, ",s%d", site);
    for (int row = 0; row < rows; row++) {
        end += sprintf(end, "\ns%d", row);
        for (int site = 0; site < sites; site++)
            end += sprintf(end, ",%d", site);
    }
    return parse(text);
}

START_TEST(too_many_sites_are_refused) {
    char text[8 * (HLOT_SITES + 2)] = "";
    for (int site = 0; site <= HLOT_SITES; site++)
        strcat(text, "0 ");
    ck_assert(!parse(text));
    ck_assert_ptr_nonnull(strstr(problem, "more than 64 sites; join"));
    strcat(text, "0 ");
    ck_assert(!parse(text));
    ck_assert_ptr_nonnull(strstr(problem, "more than 64 sites; join"));
    ck_assert(!parse_many(HLOT_SITES + 1, HLOT_SITES + 1));
    ck_assert_str_eq(problem, "matrix file m, line 1: more than 64 sites; join those that are near "
                              "each other");
    ck_assert(!parse_many(HLOT_SITES, HLOT_SITES + 1));
    ck_assert_ptr_nonnull(strstr(problem, "line 66: more rows than the 64 sites"));
    ck_assert_msg(parse_many(HLOT_SITES, HLOT_SITES), "%s", problem);
    ck_assert_int_eq(matrix.sites, HLOT_SITES);
    ck_assert_str_eq(matrix.names[HLOT_SITES - 1], "s63");
    hlot_matrix_free(&matrix);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_refused) {
    ck_assert(!hlot_matrix_read("/nonexistent/m", false, &matrix, problem));
    ck_assert_ptr_nonnull(strstr(problem, "cannot read the matrix file /nonexistent/m: No such"));
    ck_assert(!hlot_matrix_read("/", false, &matrix, problem));
    ck_assert_str_eq(problem, "cannot read the matrix file /: Is a directory");
    ck_assert(!hlot_matrix_read("/dev/zero", false, &matrix, problem));
    ck_assert_str_eq(problem, "cannot read the matrix file /dev/zero: not a regular file");
    /* the library does not read standard input */
    ck_assert(!hlot_matrix_read("-", false, &matrix, problem));
    ck_assert_str_eq(problem, "cannot read the matrix file -: No such file or directory");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hlot matrix");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, names_units_and_hosts_are_read);
    tcase_add_test(tests, without_names_and_units_sites_are_numbered_and_times_are_ms);
    tcase_add_test(tests, the_way_from_a_site_to_itself_is_ignored);
    tcase_add_test(tests, separators_and_names_of_rows_are_read);
    tcase_add_test(tests, what_is_written_reads_back);
    tcase_add_test(tests, what_is_wrong_is_said_with_its_line);
    tcase_add_test(tests, what_is_no_text_is_refused);
    tcase_add_test(tests, too_many_sites_are_refused);
    tcase_add_test(tests, a_file_that_is_not_there_is_refused);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that numbers have a decimal point, whatever the locale of the program. */
#include "config.h"

#include "app/json.h"
#include "lib/base/c_locale.h"
#include "tests/support/harness.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static void check_numbers(void) {
    static const char *const bad[] = {"",    " ",   "2,5",   "nan", "inf", "-inf", "0x10",
                                      " 1",  "1 ",  "1e",    "1e+", "e1",  ".",    "-",
                                      "+-1", "1-2", "1.2.3", "1;",  "1\n"};
    double value = 0;
    ck_assert(coll_c_locale_number("2.5", &value) && value == 2.5);
    ck_assert(coll_c_locale_number("-.5", &value) && value == -0.5);
    ck_assert(coll_c_locale_number("4.125e-05", &value) && value == 4.125e-05);
    ck_assert(coll_c_locale_number("1e999", &value) && isinf(value));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!coll_c_locale_number(bad[i], &value), "accepted: '%s'", bad[i]);
}

static void check_text(void) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    coll_c_locale_print(stream, "%.2f ", 0.25);
    app_json(stream, app_json_number("x", 1.5));
    fclose(stream);
    ck_assert_str_eq(text, "0.25 {\"x\": 1.5}\n");
    free(text);
}

START_TEST(numbers_are_read_and_written_with_a_point) {
    check_numbers();
    check_text();
    if (!harness_comma())
        return;
    check_numbers();
    check_text();
    harness_point();
}
END_TEST

START_TEST(the_program_keeps_its_locale) {
    char text[8];
    if (!harness_comma())
        return;
    locale_t outer = coll_c_locale_begin(), inner = coll_c_locale_begin();
    coll_c_locale_end(inner);
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_eq(text, "0.5");
    coll_c_locale_end(outer);
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5");
    harness_point();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("c_locale");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, numbers_are_read_and_written_with_a_point);
    tcase_add_test(tests, the_program_keeps_its_locale);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

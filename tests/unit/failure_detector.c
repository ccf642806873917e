/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the decisions of reliable broadcasts: which messages are intact, and which rank is suspect.
 */
#include "lib/bcast/reliable/failure_detector.h"
#include "lib/bcast/reliable/segment_header.h"
#include "tests/support/harness.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD = 40 };

static coll_segment_header *sealed(void) {
    coll_segment_header *message = calloc(1, sizeof *message + PAYLOAD);
    *message = (coll_segment_header){.sequence = 3, .epoch = 1, .index = 7, .length = PAYLOAD};
    for (int i = 0; i < PAYLOAD; i++)
        coll_segment_header_payload(message)[i] = (char)(5 * i);
    coll_segment_header_seal(message);
    return message;
}

START_TEST(damage_anywhere_shows) {
    coll_segment_header *message = sealed();
    ck_assert_uint_eq(coll_segment_header_bytes(message), sizeof *message + PAYLOAD);
    ck_assert(coll_segment_header_intact(message, PAYLOAD));
    for (size_t i = 0; i < coll_segment_header_bytes(message); i++) {
        ((char *)message)[i] ^= 0x10;
        ck_assert_msg(!coll_segment_header_intact(message, PAYLOAD), "byte %zu", i);
        ((char *)message)[i] ^= 0x10;
    }
    ck_assert(coll_segment_header_intact(message, PAYLOAD));
    free(message);
}
END_TEST

START_TEST(a_length_beyond_the_memory_is_damage) {
    coll_segment_header *message = sealed();
    ck_assert(!coll_segment_header_intact(message, PAYLOAD - 1));
    message->length = UINT32_MAX;
    ck_assert(!coll_segment_header_intact(message, PAYLOAD));
    free(message);
}
END_TEST

START_TEST(a_message_may_be_empty) {
    coll_segment_header message = {.index = COLL_SEGMENT_HEADER_END};
    coll_segment_header_seal(&message);
    ck_assert(coll_segment_header_intact(&message, 0));
    message.epoch++;
    ck_assert(!coll_segment_header_intact(&message, 0));
}
END_TEST

/* Five ranks with root 2, in the order 2 0 4 1 3, at time 0. */
enum { RANKS = 5, ROOT = 2 };
static const int order[RANKS] = {2, 0, 4, 1, 3};

/*
 * Each rank except the root reports at NOW how much of EPOCH it has passed, by its place in the
 * order.
 */
static void all_report(coll_failure_detector *watch, uint64_t epoch, const uint64_t passed[],
                       double now) {
    for (int i = 1; i < RANKS; i++) {
        coll_account account = {.epoch = epoch, .passed = passed[i], .taken = passed[i]};
        coll_failure_detector_report(watch, order[i], &account, now);
    }
}

static void check_blame(coll_diagnosis diagnosis, coll_fault fault, int who, int from, int more,
                        double seconds) {
    ck_assert_uint_eq(diagnosis.fault, fault);
    ck_assert_int_eq(diagnosis.who, who);
    ck_assert_int_eq(diagnosis.from, from);
    ck_assert_int_eq(diagnosis.more, more);
    ck_assert_double_eq(diagnosis.seconds, seconds);
}

/* Opens the only detector of a test, at time 0. */
static void open_detector(coll_failure_detector *watch) {
    static coll_account memory[2 * RANKS];
    ck_assert_uint_ge(sizeof memory, coll_failure_detector_bytes(RANKS));
    coll_failure_detector_open(watch, memory, ROOT, RANKS);
}

START_TEST(the_longest_silent_is_to_blame) {
    static const uint64_t some[RANKS] = {0, 9, 9, 9, 9};
    coll_failure_detector watch;
    open_detector(&watch);
    coll_diagnosis all = coll_failure_detector_diagnose(&watch, order, 0, 8, 1);
    check_blame(all, COLL_FAULT_SILENT, 0, -1, 3, 8);
    ck_assert(all.also[0] == 1 && all.also[1] == 3 && all.also[2] == 4);
    all_report(&watch, 0, some, 4);
    coll_account account = {.passed = 9, .taken = 9};
    coll_failure_detector_report(&watch, 3, &account, 7);
    coll_failure_detector_report(&watch, 4, &account, 5);
    coll_failure_detector_report(&watch, 0, &account, 8);
    check_blame(coll_failure_detector_diagnose(&watch, order, 0, 8, 2.5), COLL_FAULT_SILENT, 1, -1,
                1, 4);
    check_blame(coll_failure_detector_diagnose(&watch, order, 0, 8, 3.5), COLL_FAULT_SILENT, 1, -1,
                0, 4);
}
END_TEST

START_TEST(a_link_is_to_blame_where_the_last_advance_ends) {
    static const struct {
        uint64_t passed[RANKS];
        int from, who;
    } cases[] = {
        {{0, 9, 9, 5, 5}, 4, 1}, {{0, 9, 7, 5, 4}, 1, 3}, {{0, 9, 3, 3, 3}, 0, 4},
        {{0, 9, 9, 9, 9}, 2, 0}, {{0, 0, 0, 0, 0}, 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        coll_failure_detector watch;
        open_detector(&watch);
        all_report(&watch, 1, cases[i].passed, 3);
        watch.progress = 2;
        check_blame(coll_failure_detector_diagnose(&watch, order, 1, 4, 2), COLL_FAULT_STUCK,
                    cases[i].who, cases[i].from, 0, 2);
    }
}
END_TEST

/* A rank that is still in an older epoch has nothing of this one. */
START_TEST(old_accounts_do_not_count) {
    static const uint64_t passed[RANKS] = {0, 5, 5, 5, 5};
    coll_failure_detector watch;
    open_detector(&watch);
    all_report(&watch, 1, passed, 1);
    coll_account old = {.epoch = 0, .passed = 8, .taken = 8};
    coll_failure_detector_report(&watch, 1, &old, 1);
    coll_failure_detector_report(&watch, 3, &old, 1);
    check_blame(coll_failure_detector_diagnose(&watch, order, 1, 2, 2), COLL_FAULT_STUCK, 1, 4, 0,
                1);
}
END_TEST

START_TEST(only_coming_further_is_progress) {
    coll_failure_detector watch;
    open_detector(&watch);
    coll_account account = {.epoch = 0, .passed = 0, .taken = 0};
    coll_failure_detector_report(&watch, 1, &account, 1);
    ck_assert_double_eq(watch.progress, 0);
    account.taken++;
    coll_failure_detector_report(&watch, 1, &account, 2);
    ck_assert_double_eq(watch.progress, 2);
    coll_failure_detector_report(&watch, 1, &account, 3);
    ck_assert_double_eq(watch.progress, 2);
    account.epoch++;
    coll_failure_detector_report(&watch, 1, &account, 4);
    ck_assert_double_eq(watch.progress, 4);
}
END_TEST

START_TEST(a_try_stalls_without_progress_or_with_somebody_silent) {
    static const uint64_t some[RANKS] = {0, 1, 1, 1, 1};
    coll_failure_detector watch;
    open_detector(&watch);
    ck_assert(!coll_failure_detector_stalls(&watch, 2, 2));
    ck_assert(coll_failure_detector_stalls(&watch, 2.5, 2));
    all_report(&watch, 0, some, 2);
    ck_assert(!coll_failure_detector_stalls(&watch, 4, 2));
    coll_account account = {.passed = 2, .taken = 2};
    for (int i = 1; i < RANKS - 1; i++)
        coll_failure_detector_report(&watch, order[i], &account, 4);
    ck_assert(coll_failure_detector_stalls(&watch, 4.5, 2)); /* the last rank is silent */
    coll_failure_detector_begin(&watch, 4.5);
    ck_assert(
        !coll_failure_detector_stalls(&watch, 6.5, 2)); /* it has a full time-out in each attempt */
    ck_assert(coll_failure_detector_stalls(&watch, 7, 2));
}
END_TEST

START_TEST(suspects) {
    coll_diagnosis silent = {.fault = COLL_FAULT_SILENT, .who = 4, .from = -1};
    ck_assert_int_eq(coll_diagnosis_suspect(&silent, 0), 4);
    coll_diagnosis corrupt = {.fault = COLL_FAULT_CORRUPT, .who = 4, .from = 3};
    ck_assert_int_eq(coll_diagnosis_suspect(&corrupt, 0), 3);
    ck_assert_int_eq(coll_diagnosis_suspect(&corrupt, 3), 4);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("failure_detector");
    TCase *tests = tcase_create("failure_detector");
    tcase_add_test(tests, damage_anywhere_shows);
    tcase_add_test(tests, a_length_beyond_the_memory_is_damage);
    tcase_add_test(tests, a_message_may_be_empty);
    tcase_add_test(tests, the_longest_silent_is_to_blame);
    tcase_add_test(tests, a_link_is_to_blame_where_the_last_advance_ends);
    tcase_add_test(tests, old_accounts_do_not_count);
    tcase_add_test(tests, only_coming_further_is_progress);
    tcase_add_test(tests, a_try_stalls_without_progress_or_with_somebody_silent);
    tcase_add_test(tests, suspects);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

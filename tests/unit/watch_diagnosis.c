/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the diagnosis of made-up states of ranks, and the absence of one. */
#include "config.h"

#include "tests/support/harness.h"
#include "watch/calls.h"
#include "watch/diagnosis.h"
#include "watch/report.h"
#include "watch/signature.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, RECORDS = 8, ENTRIES = 8 };
static const uint64_t SECOND = 1000000000, SOLVER = 77;

static watch_state states[RANKS];
static watch_record records[RANKS][RECORDS];
static watch_comm_info comms[RANKS][2];
static watch_message_count counts[RANKS][ENTRIES];
static watch_diagnosis diagnosis;

/* Makes four ranks with two communicators, none of which has been in a call for a minute. */
static void set_up(void) {
    memset(records, 0, sizeof records);
    for (int rank = 0; rank < RANKS; rank++) {
        comms[rank][0] = (watch_comm_info){
            .id = WATCH_WORLD, .rank = rank, .size = RANKS, .certain = 1, .name = "MPI_COMM_WORLD"};
        comms[rank][1] = (watch_comm_info){
            .id = SOLVER, .rank = rank, .size = RANKS, .certain = 1, .name = "solver"};
        states[rank] = (watch_state){.fate = WATCH_ANSWERS,
                                     .host = "n1",
                                     .head = {.rank = rank, .comms = 2, .outside = 60 * SECOND},
                                     .records = records[rank],
                                     .comms = comms[rank],
                                     .message_counts = counts[rank]};
    }
}

static watch_record *add(int rank, const char *call, uint64_t comm) {
    watch_record *record = &records[rank][states[rank].head.records++];
    *record = (watch_record){.serial = states[rank].head.records,
                             .comm = comm,
                             .call = (uint16_t)watch_call_named(call)};
    ck_assert_int_ge(watch_call_named(call), 0);
    return record;
}

/* Puts RANK into collective NUMBER on COMM, for a minute. */
static watch_record *in_collective(int rank, const char *call, uint64_t comm, uint32_t number) {
    watch_record *record = add(rank, call, comm);
    record->number = number;
    record->open = 1;
    record->begun = 60 * SECOND;
    states[rank].head.outside = 0;
    comms[rank][comm == SOLVER].calls = number;
    return record;
}

static watch_record *in_message(int rank, const char *call, uint64_t comm, int peer, int tag) {
    watch_record *record = add(rank, call, comm);
    record->peer = record->from = peer;
    record->tag = tag;
    record->open = 1;
    record->begun = 60 * SECOND;
    states[rank].head.outside = 0;
    return record;
}

static void count(int rank, bool received, uint64_t comm, int peer, int tag, uint64_t number) {
    counts[rank][states[rank].head.message_counts++] = (watch_message_count){
        .comm = comm, .count = number, .peer = peer, .tag = tag, .received = received};
}

static void judge(void) {
    ck_assert(watch_diagnose(states, RANKS, SECOND, &diagnosis));
}

static void expect(int index, watch_finding_kind kind, int rank, const char *text) {
    judge();
    ck_assert_int_gt(diagnosis.count, index);
    ck_assert_str_eq(diagnosis.findings[index].text, text);
    ck_assert_int_eq(diagnosis.findings[index].kind, kind);
    ck_assert_int_eq(diagnosis.findings[index].rank, rank);
}

static void expect_nothing(void) {
    judge();
    for (int i = 0; i < diagnosis.count; i++)
        ck_abort_msg("said: %s", diagnosis.findings[i].text);
}

START_TEST(another_call) {
    for (int rank = 0; rank < RANKS; rank++)
        in_collective(rank, rank == 3 ? "MPI_Barrier" : "MPI_Allreduce", SOLVER, 120)->op =
            (uint8_t)(rank != 3);
    expect(0, WATCH_MISMATCH, 3,
           "rank 3 is in MPI_Barrier, the 120th collective on \"solver\", where ranks 0-2 are in "
           "MPI_Allreduce with MPI_SUM");
    ck_assert_int_eq(diagnosis.count, 1);
}
END_TEST

/* The root has continued, but its earlier call is still recorded. */
START_TEST(another_root_before) {
    for (int rank = 0; rank < RANKS; rank++) {
        watch_record *record = in_collective(rank, "MPI_Bcast", WATCH_WORLD, 7);
        record->peer = rank == 1;
        record->open = rank != 1;
    }
    in_collective(1, "MPI_Barrier", WATCH_WORLD, 8);
    expect(
        0, WATCH_MISMATCH, 1,
        "rank 1 called MPI_Bcast, root 1, the 7th collective on MPI_COMM_WORLD, where ranks 0, 2 "
        "and 3 are in MPI_Bcast, root 0: another root");
}
END_TEST

START_TEST(data_that_may_be_the_same) {
    for (int rank = 0; rank < RANKS; rank++) {
        watch_record *record = in_collective(rank, "MPI_Bcast", WATCH_WORLD, 1);
        record->data = (watch_signature){.bytes = 8, .known = rank != 2, .basic = 0};
    }
    expect_nothing();
    records[3][0].data.bytes = 16;
    judge();
    ck_assert_int_eq(diagnosis.count, 1);
    ck_assert_ptr_nonnull(strstr(diagnosis.findings[0].text, "another amount of data"));
}
END_TEST

/* Ids may denote different communicators on different ranks. */
START_TEST(uncertain_communicators) {
    for (int rank = 0; rank < RANKS; rank++)
        in_collective(rank, rank ? "MPI_Barrier" : "MPI_Allreduce", SOLVER | WATCH_ALONE, 3);
    expect_nothing();
}
END_TEST

START_TEST(one_that_computes) {
    for (int rank = 0; rank < RANKS; rank++)
        if (rank != 2)
            in_collective(rank, "MPI_Barrier", SOLVER, 5);
    expect(0, WATCH_ABSENT, 2,
           "rank 2 is in no MPI call that waits, for 60.0 s, where ranks 0, 1 and 3 wait for it in "
           "MPI_Barrier, the 5th collective on \"solver\"");
    ck_assert(!watch_diagnosis_hangs(&diagnosis));
    states[2].fate = WATCH_STOPPED;
    states[2].head.comms = 0;
    states[2].head.pid = 77;
    expect(0, WATCH_MISSING, 2,
           "rank 2 is stopped, as by SIGSTOP or a debugger (process 77 on n1), where ranks 0, 1 "
           "and 3 wait for it in MPI_Barrier, the 5th collective on \"solver\"");
    ck_assert(watch_diagnosis_hangs(&diagnosis));
    /* All ranks that can't be reached are one finding, with the process of the first. */
    states[2].fate = states[3].fate = WATCH_UNREACHABLE;
    states[3].head.comms = states[3].head.records = 0;
    expect(0, WATCH_MISSING, 2,
           "ranks 2 and 3 can't be reached: nothing has come from there, asked twice (rank 2: "
           "process 77 on n1), where ranks 0 and 1 wait for it in MPI_Barrier, the 5th collective "
           "on \"solver\"");
    states[3].fate = WATCH_ANSWERS;
    states[3].head.comms = 2;
    states[3].head.records = 1;
    /* A silent rank may be busy, so nothing is known. */
    states[2].fate = WATCH_SILENT;
    expect_nothing();
}
END_TEST

/* Rank 2, of which nothing is known, may be the third member of the communicator, or rank 3. */
START_TEST(a_member_that_is_silent) {
    for (int rank = 0; rank < 2; rank++) {
        in_collective(rank, "MPI_Barrier", SOLVER, 5);
        comms[rank][1].size = 3;
    }
    for (int rank = 2; rank < RANKS; rank++)
        states[rank].head.comms = 0;
    states[2].fate = WATCH_SILENT;
    states[3].fate = WATCH_GONE;
    judge();
    ck_assert(!watch_diagnosis_hangs(&diagnosis));
    states[2].fate = WATCH_ANSWERS; /* is no member */
    judge();
    ck_assert(watch_diagnosis_hangs(&diagnosis));
}
END_TEST

START_TEST(all_have_come) {
    for (int rank = 0; rank < RANKS; rank++)
        in_collective(rank, "MPI_Alltoall", SOLVER, 5);
    expect_nothing();
}
END_TEST

START_TEST(calls_that_are_young) {
    in_collective(0, "MPI_Barrier", SOLVER, 5)->begun = SECOND / 2;
    for (int rank = 1; rank < RANKS; rank++)
        states[rank].head.outside = SECOND / 2;
    expect_nothing();
}
END_TEST

/* Two barriers are called in another order. */
START_TEST(cycle_over_communicators) {
    for (int rank = 0; rank < RANKS; rank++)
        in_collective(rank, "MPI_Barrier", rank == 3 ? SOLVER : WATCH_WORLD, 9);
    expect(0, WATCH_CYCLE, 0,
           "2 ranks wait for one another: rank 0 is in MPI_Barrier, the 9th collective on "
           "MPI_COMM_WORLD, and waits for rank 3; rank 3 is in MPI_Barrier, the 9th collective on "
           "\"solver\", and waits for rank 0");
}
END_TEST

START_TEST(sends_before_receives) {
    in_message(0, "MPI_Send", WATCH_WORLD, 1, 4);
    count(0, false, WATCH_WORLD, 1, 4, 3);
    count(0, true, WATCH_WORLD, 1, 4, 2);
    in_message(1, "MPI_Send", WATCH_WORLD, 0, 4);
    count(1, false, WATCH_WORLD, 0, 4, 3);
    count(1, true, WATCH_WORLD, 0, 4, 2);
    expect(
        0, WATCH_CYCLE, 0,
        "2 ranks wait for one another: rank 0 is in MPI_Send to rank 1, tag 4, and waits for rank "
        "1; rank 1 is in MPI_Send to rank 0, tag 4, and waits for rank 0");
    /* A receive is posted, so the message may be in flight. */
    counts[1][1].count = 3;
    expect_nothing();
}
END_TEST

START_TEST(itself) {
    in_message(2, "MPI_Ssend", WATCH_WORLD, 2, 1);
    count(2, false, WATCH_WORLD, 2, 1, 1);
    expect(0, WATCH_CYCLE, 2, "rank 2 waits for itself: rank 2 is in MPI_Ssend to rank 2, tag 1");
}
END_TEST

/* Makes a state in which rank 1 has sent with another tag, and waits elsewhere. */
static void set_up_tags(void) {
    in_message(0, "MPI_Recv", SOLVER, 1, 7);
    count(0, true, SOLVER, 1, 7, 1);
    count(1, false, SOLVER, 0, 8, 1);
    for (int rank = 1; rank < RANKS; rank++)
        in_collective(rank, "MPI_Barrier", SOLVER, 2);
}

START_TEST(another_tag) {
    set_up_tags();
    expect(0, WATCH_UNSENT, 0,
           "rank 0 is in MPI_Recv from rank 1, tag 7 on \"solver\", for which no message was sent; "
           "but "
           "rank 1 has sent one with tag 8 that no receive has taken");
}
END_TEST

/*
 * A receive of any tag may have taken the message, counts may be missing, or rank 1 may still send.
 */
START_TEST(tags_that_prove_nothing) {
    set_up_tags();
    count(0, true, SOLVER, 1, MPI_ANY_TAG, 1);
    judge();
    for (int i = 0; i < diagnosis.count; i++)
        ck_assert_int_ne(diagnosis.findings[i].kind, WATCH_UNSENT);
    states[0].head.message_counts--;
    states[1].head.overflown = 1;
    expect_nothing();
}
END_TEST

START_TEST(one_in_finalize) {
    records[1][0] = (watch_record){0};
    watch_record *end = add(1, "MPI_Finalize", WATCH_WORLD);
    end->open = 1;
    end->begun = 60 * SECOND;
    for (int rank = 0; rank < RANKS; rank++)
        if (rank != 1)
            in_collective(rank, "MPI_Barrier", WATCH_WORLD, 2);
    expect(0, WATCH_ABSENT, 1,
           "rank 1 is in MPI_Finalize, where ranks 0, 2 and 3 wait for it in MPI_Barrier, the 2nd "
           "collective on MPI_COMM_WORLD");
    ck_assert_int_eq(diagnosis.count, 1);
    ck_assert(watch_diagnosis_hangs(&diagnosis));
}
END_TEST

/*
 * A master that waits for any worker hangs once no worker can send, whatever else it has not
 * received; not while one computes.
 */
START_TEST(a_master_that_waits_for_work) {
    in_message(0, "MPI_Recv", WATCH_WORLD, MPI_ANY_SOURCE, 3);
    count(0, true, WATCH_WORLD, MPI_ANY_SOURCE, 3, 1);
    count(1, false, WATCH_WORLD, 0, 9, 1);
    for (int rank = 2; rank < RANKS; rank++) {
        in_message(rank, "MPI_Recv", WATCH_WORLD, 0, 4);
        count(rank, true, WATCH_WORLD, 0, 4, 1);
    }
    judge();
    ck_assert_int_eq(diagnosis.findings[0].kind, WATCH_UNSENT);
    ck_assert(!watch_diagnosis_hangs(&diagnosis));
    in_message(1, "MPI_Recv", WATCH_WORLD, 0, 4);
    count(1, true, WATCH_WORLD, 0, 4, 1);
    judge();
    ck_assert(watch_diagnosis_hangs(&diagnosis));
}
END_TEST

/* A receive from any rank is not part of a cycle with a rank that also waits for a lost rank. */
START_TEST(any_source) {
    in_message(0, "MPI_Recv", WATCH_WORLD, MPI_ANY_SOURCE, 3);
    count(0, true, WATCH_WORLD, MPI_ANY_SOURCE, 3, 1);
    for (int rank = 1; rank < 3; rank++)
        in_collective(rank, "MPI_Barrier", SOLVER, 2);
    states[3].fate = WATCH_GONE;
    states[3].head.comms = 0;
    judge();
    ck_assert_int_eq(diagnosis.count, 1);
    ck_assert_int_eq(diagnosis.findings[0].kind, WATCH_MISSING);
    ck_assert_int_eq(diagnosis.findings[0].rank, 3);
}
END_TEST

/* --- The report of groups --- */

/* Returns the report of the group of rank 0, of COUNT states; the caller frees it. */
static char *report_of(const watch_state all[], int count) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    watch_report report = {.states = all, .ranks = count, .young = SECOND, .failed = -1};
    ck_assert_ptr_nonnull(stream);
    ck_assert(watch_report_make(&report));
    watch_report_print(stream, &report);
    watch_report_free(&report);
    fclose(stream);
    return text;
}

static void expect_line(const char *line) {
    char *text = report_of(states, RANKS);
    ck_assert_msg(strstr(text, line) != NULL, "no \"%s\" in: %s", line, text);
    free(text);
}

START_TEST(partners_at_one_distance) {
    for (int rank = 0; rank < RANKS; rank++)
        in_message(rank, "MPI_Send", SOLVER, (rank + 1) % RANKS, 7);
    expect_line("  ranks 0-3: MPI_Send to the next rank, tag 7 on \"solver\" for 60.0 s\n");
    for (int rank = 0; rank < RANKS; rank++)
        records[rank][0].peer = (rank + 2) % RANKS;
    expect_line("  ranks 0-3: MPI_Send to its own rank + 2 modulo 4, tag 7");
}
END_TEST

START_TEST(one_partner) {
    for (int rank = 0; rank < RANKS; rank++)
        in_message(rank, "MPI_Recv", SOLVER, 3, 7);
    expect_line("  ranks 0-3: MPI_Recv from rank 3, tag 7");
    records[1][0].peer = records[2][0].peer = MPI_ANY_SOURCE;
    expect_line("  ranks 0 and 3: MPI_Recv from rank 3, tag 7");
    expect_line("  ranks 1 and 2: MPI_Recv from any rank, tag 7");
}
END_TEST

/* Rank numbers of another group are not distances from this rank. */
START_TEST(partners_in_another_group) {
    for (int rank = 0; rank < RANKS; rank++) {
        in_message(rank, "MPI_Recv", SOLVER, (rank + 1) % RANKS, 7);
        comms[rank][1].inter = 1;
    }
    expect_line("  rank 1: MPI_Recv from rank 2, tag 7");
}
END_TEST

START_TEST(partners_of_requests) {
    static watch_awaited awaited[RANKS][2];
    for (int rank = 0; rank < RANKS; rank++) {
        watch_record *record = in_message(rank, "MPI_Waitall", 0, 0, 0);
        record->count = 2;
        for (int i = 0; i < 2; i++)
            awaited[rank][i] = (watch_awaited){.waiter = record->serial,
                                               .comm = WATCH_WORLD,
                                               .peer = (rank + (i ? 1 : RANKS - 1)) % RANKS,
                                               .tag = 5,
                                               .call = (uint16_t)watch_call_named("MPI_Irecv"),
                                               .known = 1};
        states[rank].awaited = awaited[rank];
        states[rank].head.awaited = 2;
    }
    expect_line("  ranks 0-3: MPI_Waitall for 2 requests: MPI_Irecv from the previous rank, tag 5; "
                "MPI_Irecv from the next rank, tag 5 for");
    awaited[3][1].peer = 2;
    expect_line("  rank 3: MPI_Waitall for 2 requests: MPI_Irecv from rank 2, tag 5; MPI_Irecv "
                "from rank 2, tag 5 for");
}
END_TEST

/* Where the MPI library has MPI_Isendrecv, its requests have two partners. */
START_TEST(partners_of_an_exchange) {
    static watch_awaited awaited[RANKS];
    const int call = watch_call_named("MPI_Isendrecv");
    for (int rank = 0; call >= 0 && rank < RANKS; rank++) {
        watch_record *record = in_message(rank, "MPI_Wait", 0, 0, 0);
        awaited[rank] = (watch_awaited){.waiter = record->serial,
                                        .comm = WATCH_WORLD,
                                        .peer = (rank + 1) % RANKS,
                                        .tag = 5,
                                        .from = (rank + RANKS - 1) % RANKS,
                                        .from_tag = 6,
                                        .call = (uint16_t)call,
                                        .known = 1};
        states[rank].awaited = &awaited[rank];
        states[rank].head.awaited = 1;
        count(rank, false, WATCH_WORLD, (rank + 1) % RANKS, 5, 1);
        count(rank, true, WATCH_WORLD, (rank + RANKS - 1) % RANKS, 6, 1);
    }
    if (call < 0)
        return;
    expect_line("  ranks 0-3: MPI_Wait: MPI_Isendrecv to the next rank, tag 5, and from the "
                "previous rank, tag 6 for");
    judge();
    expect(
        0, WATCH_UNWANTED, 0,
        "rank 0 is in MPI_Wait, with a send to rank 1, tag 5, which no receive takes; but rank 1 "
        "waits for one with tag 6 from rank 0");
    awaited[3].from = 1;
    expect_line("  rank 3: MPI_Wait: MPI_Isendrecv to rank 0, tag 5, and from rank 1, tag 6 for");
}
END_TEST

/* Partners follow no rule. The one rank in another call must not be lost among them. */
START_TEST(many_partners) {
    enum { MANY = 100 };
    static watch_state many[MANY];
    static watch_record calls[MANY];
    for (int rank = 0; rank < MANY; rank++) {
        bool last = rank == MANY - 1;
        calls[rank] =
            (watch_record){.serial = 1,
                           .begun = 60 * SECOND,
                           .open = 1,
                           .comm = WATCH_WORLD,
                           .number = last,
                           .call = (uint16_t)watch_call_named(last ? "MPI_Barrier" : "MPI_Send"),
                           .peer = rank * rank % MANY,
                           .tag = rank};
        many[rank] = (watch_state){
            .fate = WATCH_ANSWERS, .head = {.rank = rank, .records = 1}, .records = &calls[rank]};
    }
    char *text = report_of(many, MANY);
    ck_assert_ptr_nonnull(
        strstr(text, "  ranks 0-98: MPI_Send with arguments that differ by rank for 60.0 s\n"));
    ck_assert_ptr_nonnull(strstr(text, "  rank 99: MPI_Barrier, the 1st collective"));
    free(text);
}
END_TEST

/* Rank 1 waits for rank 2 with another tag than rank 0. */
START_TEST(other_calls_for_one) {
    for (int rank = 0; rank < 2; rank++) {
        in_message(rank, "MPI_Recv", WATCH_WORLD, 2, 7 + rank);
        count(rank, true, WATCH_WORLD, 2, 7 + rank, 1);
    }
    in_collective(3, "MPI_Barrier", SOLVER, 1);
    judge();
    ck_assert_int_eq(diagnosis.count, 1);
    ck_assert_ptr_nonnull(strstr(diagnosis.findings[0].text, "rank 0 waits for it in MPI_Recv from "
                                                             "rank 2, tag 7, and "));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("watch");
    TCase *cases = tcase_create("diagnosis");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, another_call);
    tcase_add_test(cases, another_root_before);
    tcase_add_test(cases, data_that_may_be_the_same);
    tcase_add_test(cases, uncertain_communicators);
    tcase_add_test(cases, one_that_computes);
    tcase_add_test(cases, a_member_that_is_silent);
    tcase_add_test(cases, all_have_come);
    tcase_add_test(cases, calls_that_are_young);
    tcase_add_test(cases, cycle_over_communicators);
    tcase_add_test(cases, sends_before_receives);
    tcase_add_test(cases, itself);
    tcase_add_test(cases, another_tag);
    tcase_add_test(cases, tags_that_prove_nothing);
    tcase_add_test(cases, one_in_finalize);
    tcase_add_test(cases, a_master_that_waits_for_work);
    tcase_add_test(cases, any_source);
    tcase_add_test(cases, other_calls_for_one);
    tcase_add_test(cases, partners_at_one_distance);
    tcase_add_test(cases, one_partner);
    tcase_add_test(cases, partners_in_another_group);
    tcase_add_test(cases, partners_of_requests);
    tcase_add_test(cases, partners_of_an_exchange);
    tcase_add_test(cases, many_partners);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}

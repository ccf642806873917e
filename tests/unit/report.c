/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who is named as late, from made-up arrivals, how clocks are compared, and which link is
 * named, from made-up flows. */
#include "config.h"

#include "lib/base/cachefile.h"
#include "lib/report/advice.h"
#include "lib/report/arrivals.h"
#include "lib/report/links.h"
#include "lib/report/summary.h"
#include "tests/support/generator.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, EVENTS = 100, MOST = 4 };
static const int64_t MS = 1000000;
static int hosts[RANKS] = {0, 0, 1, 1, 2, 2, 3, 3};

/* Made-up arrivals: all ranks arrive within a millisecond, except that LATE, or one of the ranks of
 * HOST, is later. */
typedef struct made_up {
    int late, host;
    int64_t by;     /* ns */
    int every;      /* LATE is late in one of this many events */
    bool own_fault; /* it arose outside the calls */
    int64_t offset; /* of the clock of the last host, ns */
    int events;
    int turns; /* instead of LATE, ranks 0 to TURNS - 1 are late in turn */
} made_up;

static coll_arrivals *make(const made_up *of) {
    static coll_recorded_call calls[RANKS][EVENTS];
    coll_arrivals *all = coll_arrivals_make(hosts);
    generator random = {.state = 1};
    for (int n = 0; n < of->events; n++) {
        const int64_t start = 100 * MS * n;
        int64_t entered[RANKS], last = 0;
        const int of_host = 2 * of->host + below(&random, 2);
        for (int rank = 0; rank < RANKS; rank++) {
            const int culprit = of->turns ? n % of->turns : of->late;
            const bool late = (rank == culprit || (of->host >= 0 && rank == of_host)) &&
                              n % of->every == of->every - 1;
            entered[rank] = start + below(&random, (int)MS) + (late ? of->by : 0);
            last = entered[rank] > last ? entered[rank] : last;
        }
        for (int rank = 0; rank < RANKS; rank++) {
            const int64_t clock = rank / 2 == 3 ? of->offset : 0;
            calls[rank][n] = (coll_recorded_call){.operation = COLL_OPERATION_ALLREDUCE,
                                                  .entered = entered[rank] + clock,
                                                  .left = last + MS + clock};
            /* Or it has left the event before as much later. */
            if (n > 0 && !of->own_fault)
                calls[rank][n - 1].left += entered[rank] - start;
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        const coll_job_series series = {
            .comm = 5, .group = 6, .count = of->events, .ranks = RANKS, .place = rank};
        ck_assert(coll_arrivals_add(all, rank, &series, calls[rank]));
    }
    return all;
}

static coll_lateness find(const made_up *of, double error) {
    coll_lateness found[MOST];
    coll_arrivals *all = make(of);
    ck_assert_int_eq(coll_arrivals_find(all, error, found, MOST), 1);
    coll_arrivals_free(all);
    ck_assert_int_eq(found[0].events, of->events);
    ck_assert_int_eq(found[0].ranks, RANKS);
    ck_assert_int_eq(found[0].operation, COLL_OPERATION_ALLREDUCE);
    return found[0];
}

START_TEST(late_rank) {
    const coll_lateness found = find(&(made_up){5, -1, 3 * MS, 1, true, 0, EVENTS, 0}, 0);
    ck_assert_int_eq(found.late, COLL_LATE_RANK);
    ck_assert_int_eq(found.who, 5);
    ck_assert(found.share == 1);
    ck_assert(found.seconds > 2e-3 && found.seconds < 4e-3);
    /* The others wait for 2 to 4 ms in each event, and everybody transfers for 1 ms. */
    ck_assert(found.waits);
    ck_assert(found.waiting > EVENTS * (RANKS - 1) * 2e-3);
    ck_assert(found.waiting < EVENTS * (RANKS - 1) * 4e-3);
    ck_assert_double_eq_tol(found.inside - found.waiting, EVENTS * RANKS * 1e-3, 1e-6);
}
END_TEST

START_TEST(nobody) {
    coll_lateness found = find(&(made_up){-1, -1, 0, 1, true, 0, EVENTS, 0}, 0);
    ck_assert_int_eq(found.late, COLL_LATE_NOBODY);
    ck_assert(found.share < 0.5);
    /* Few delays are a coincidence, however long. */
    found = find(&(made_up){5, -1, 80 * MS, 30, true, 0, EVENTS, 0}, 0);
    ck_assert_int_eq(found.late, COLL_LATE_NOBODY);
    /* It is the algorithm that lets it leave, and so enter, last. */
    found = find(&(made_up){5, -1, 3 * MS, 1, false, 0, EVENTS, 0}, 0);
    ck_assert_int_ne(found.late, COLL_LATE_RANK);
}
END_TEST

START_TEST(late_at_times) {
    /* Events are 0.1 s apart. */
    const coll_lateness found = find(&(made_up){5, -1, 20 * MS, 10, true, 0, EVENTS, 0}, 0);
    ck_assert_int_eq(found.late, COLL_LATE_AT_TIMES);
    ck_assert_int_eq(found.who, 5);
    ck_assert_double_eq_tol(found.share, 0.1, 1e-9);
    ck_assert_double_eq_tol(found.seconds, 19.5e-3, 1e-3);
    ck_assert_double_eq_tol(found.lost, 10 * 19.5e-3, 10e-3);
    ck_assert_double_eq_tol(found.period, 1, 0.01);
    /* The algorithm lets it leave last, or the clocks are wrong by as much. */
    ck_assert_int_ne(find(&(made_up){5, -1, 20 * MS, 10, false, 0, EVENTS, 0}, 0).late,
                     COLL_LATE_AT_TIMES);
    ck_assert_int_ne(find(&(made_up){5, -1, 20 * MS, 10, true, 0, EVENTS, 0}, 20e-3).late,
                     COLL_LATE_AT_TIMES);
}
END_TEST

START_TEST(late_host) {
    const coll_lateness found = find(&(made_up){-1, 2, 3 * MS, 1, true, 0, EVENTS, 0}, 0);
    ck_assert_int_eq(found.late, COLL_LATE_HOST);
    ck_assert_int_eq(found.who, 2);
}
END_TEST

START_TEST(work_that_moves) {
    made_up turns = {-1, -1, 20 * MS, 1, true, 0, EVENTS, RANKS};
    coll_lateness found = find(&turns, 0);
    ck_assert_int_eq(found.late, COLL_LATE_MOVES);
    ck_assert_int_eq(found.late_ranks, RANKS);
    ck_assert_double_eq_tol(found.seconds, 19.5e-3, 1e-3);
    ck_assert_double_eq_tol(found.lost, EVENTS * 19.5e-3, EVENTS * 1e-3);
    ck_assert(found.share * EVENTS >
              EVENTS - 1.5); /* of the first one, it isn't known whose fault */
    turns.turns = 3;
    found = find(&turns, 0);
    ck_assert_int_eq(found.late, COLL_LATE_MOVES);
    ck_assert_int_eq(found.late_ranks, 3);
    /* The clocks are wrong by as much, the algorithm is the reason, half of the events are usual.
     */
    ck_assert_int_ne(find(&turns, 20e-3).late, COLL_LATE_MOVES);
    turns.own_fault = false;
    ck_assert_int_ne(find(&turns, 0).late, COLL_LATE_MOVES);
    turns.own_fault = true;
    turns.every = 2;
    ck_assert_int_ne(find(&turns, 0).late, COLL_LATE_MOVES);
    /* It is no more than the ranks are apart anyway. */
    ck_assert_int_eq(find(&(made_up){-1, -1, MS / 2, 1, true, 0, EVENTS, RANKS}, 0).late,
                     COLL_LATE_NOBODY);
}
END_TEST

START_TEST(uncertain) {
    /* The clock of a host is 2 ms fast: it seems to be late, within the clocks' error. */
    coll_lateness found = find(&(made_up){-1, -1, 0, 1, true, 2 * MS, EVENTS, 0}, 2e-3);
    ck_assert_int_ne(found.late, COLL_LATE_RANK);
    ck_assert_int_ne(found.late, COLL_LATE_HOST);
    found = find(&(made_up){5, -1, 3 * MS, 1, true, 0, EVENTS, 0}, 2e-3);
    ck_assert_int_eq(found.late, COLL_LATE_UNKNOWN);
    found = find(&(made_up){5, -1, 3 * MS, 1, true, 0, COLL_ARRIVALS_FEWEST - 1, 0}, 0);
    ck_assert_int_eq(found.late, COLL_LATE_UNKNOWN);
}
END_TEST

START_TEST(incomplete) {
    coll_lateness found[MOST];
    coll_arrivals *all = coll_arrivals_make(hosts);
    const coll_job_series series = {.comm = 1, .first = 1, .count = 1, .ranks = 2};
    coll_recorded_call call = {.operation = COLL_OPERATION_BARRIER};
    ck_assert(coll_arrivals_add(all, 0, &series, &call));
    ck_assert_int_eq(coll_arrivals_find(all, 0, found, MOST), 0);
    coll_arrivals_free(all);
    /* The ranks disagree about the operation of the event. */
    all = coll_arrivals_make(hosts);
    ck_assert(coll_arrivals_add(all, 0, &series, &call));
    call.operation = COLL_OPERATION_BCAST;
    ck_assert(coll_arrivals_add(all, 1, &series, &call));
    ck_assert_int_eq(coll_arrivals_find(all, 0, found, MOST), 0);
    coll_arrivals_free(all);
}
END_TEST

START_TEST(drift) {
    enum { COUNT = 300 };
    int64_t time[COUNT];
    double apart[COUNT];
    generator random = {.state = 2};
    for (int i = 0; i < COUNT; i++) {
        time[i] = 100 * MS * i;
        apart[i] = (double)(time[i] / 50000) + below(&random, 10000); /* 20 ppm */
    }
    apart[7] = 500. * MS;
    ck_assert_double_eq_tol(coll_arrivals_drift(COUNT, time, apart), 20e-6, 1e-6);
    for (int i = 0; i < COUNT; i++)
        apart[i] = below(&random, (int)MS);
    ck_assert(coll_arrivals_drift(COUNT, time, apart) == 0);
    ck_assert(coll_arrivals_drift(10, time, apart) == 0);
    /* Clocks don't differ by so much: a step. */
    for (int i = 0; i < COUNT; i++)
        apart[i] = i < COUNT / 2 ? 0 : 30. * MS;
    ck_assert(coll_arrivals_drift(COUNT, time, apart) == 0);
    /* All events but the first are within a third of a second. */
    for (int i = 0; i < COUNT; i++) {
        time[i] = i == 0 ? 0 : 3000 * MS + i * MS;
        apart[i] = i * 50;
    }
    ck_assert(coll_arrivals_drift(COUNT, time, apart) == 0);
}
END_TEST

/* Returns what PRINT writes, in memory of the caller. */
static char *written(coll_printer *print, const coll_summary *summary) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    ck_assert(print(stream, summary));
    fclose(stream);
    return text;
}

static const coll_report_row some_rows[] = {
    {"allreduce",
     "racks",
     16,
     COLL_REPORT_ESTIMATED,
     800,
     800 * 65536,
     8,
     0,
     0,
     400,
     8,
     800,
     {3, 4, 6}},
    {"bcast", "native", 10, COLL_REPORT_NATIVE, 20, 20 * 1500, 1, 0, 0, 20, 0, 20, {0, 0, 0}},
};

static char names[2][COLL_SUMMARY_HOST] = {"n\"0", "n1"};

/* Returns a summary of two ranks, the first and the second on hosts of their own if HOSTS is 2. */
static coll_summary make_summary(int host_count, coll_report_row rows[2]) {
    static int apart[2] = {0, 1};
    return (coll_summary){.ranks = 2,
                          .hosts = host_count,
                          .seconds = 40,
                          .count = 2,
                          .rows = memcpy(rows, some_rows, sizeof some_rows),
                          .served = true,
                          .host_names = names,
                          .host_of = host_count == 2 ? apart : hosts};
}

/* Adds to OF that WHO, of two ranks, was late for LOST seconds. */
static void add_late(coll_summary *of, coll_operation operation, coll_late late, int who,
                     double lost) {
    of->late[of->late_count++] = (coll_lateness){.operation = operation,
                                                 .ranks = 2,
                                                 .events = 400,
                                                 .late = late,
                                                 .who = who,
                                                 .share = 0.81,
                                                 .seconds = 2.1e-3,
                                                 .lost = lost,
                                                 .inside = 1};
}

START_TEST(text) {
    coll_report_row rows[2];
    coll_summary of = make_summary(1, rows);
    coll_report_finish_saved(&rows[0]); /* from half of the calls, which took half as predicted */
    coll_report_finish_saved(&rows[1]);
    add_late(&of, COLL_OPERATION_ALLREDUCE, COLL_LATE_RANK, 1, 1.5);
    of.late[0].waits = true;
    of.late[0].inside = 8;
    of.late[0].waiting = 4;
    const bool comma = harness_comma();
    char *out = written(coll_summary_print, &of);
    harness_point();
    ck_assert_ptr_nonnull(strstr(out, "estimate: libcoll saved 2.00 s (1.50 to 3.00) of the 42.0 s "
                                      "that the run would take without it\n"));
    ck_assert_ptr_nonnull(strstr(out,
                                 "rank 1 (host n\"0) arrived last in 81 % of 400 calls, 2.10 ms "
                                 "late on median\n"));
    ck_assert_ptr_nonnull(strstr(out, "4.00 s, of which 2.00 s (50 %) waiting"));
    ck_assert_ptr_nonnull(strstr(out, "15.0 ms e")); /* 10 ms, and 5 saved */
    ck_assert_ptr_nonnull(strstr(out, "1. rank 1 (host n\"0) arrives late: the run would take at "
                                      "most 1.50 s less\n   give it less work"));
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 100, "%s", line);
    free(out);
    out = written(coll_summary_print_json, &of);
    ck_assert_ptr_nonnull(strstr(out, "\"host\": \"n\\\"0\""));
    ck_assert_ptr_nonnull(
        strstr(out, "\"saved_seconds\": {\"low\": 1.5, \"middle\": 2, \"high\": 3}"));
    free(out);
    rows[0].saved = (coll_report_range){-3, -2, -1};
    out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(
        strstr(out, "estimate: libcoll made the run slower, by 1.00 s (0.50 to 1.50) of 40.0 s\n"
                    "leave the slower calls to the MPI library by COLL_ALLREDUCE=native\n"));
    ck_assert_str_eq(strrchr(out, ' '), " COLL_ALLREDUCE=native\n"); /* nothing comes after it */
    free(out);
    rows[0].saved.middle = 2; /* the other operation lost */
    snprintf(rows[1].algorithm, sizeof rows[1].algorithm, "chain");
    rows[1].saved.middle = -1;
    out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(strstr(out, "estimate: libcoll saved 0.50 s"));
    ck_assert_str_eq(strrchr(out, ' '), " COLL_BCAST=native\n");
    free(out);
    rows[1].saved.middle = 0;
    rows[0].saved = (coll_report_range){-1e-3, 0, 1e-3};
    out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(
        strstr(out, "estimate: libcoll saved nothing, or less than 0.01 s of 40.0 s\n"));
    free(out);
    rows[1] = some_rows[1]; /* nothing is known but of the MPI library's own calls */
    rows[0].source = COLL_REPORT_UNKNOWN;
    rows[0].estimated = 0;
    rows[0].saved = (coll_report_range){0, 0, 0};
    out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(strstr(out, "what libcoll saved is not known: there is no estimate for "
                                      "these calls\n"));
    free(out);
    out = written(coll_summary_print_json, &of);
    ck_assert_ptr_null(strstr(out, "\"libcoll_ran_calls\": true,\n  \"saved_seconds\""));
    free(out);
    of.served = false;
    of.why = "COLL_DISABLE is set";
    of.would_known = true;
    of.would_save = (coll_report_range){0.1, 0.2, 0.3};
    of.missing = 1;
    of.first_missing = 2;
    out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(strstr(out, "left all calls to the MPI library: COLL_DISABLE is set\n"));
    ck_assert_ptr_nonnull(
        strstr(out, "estimate: it would have saved 0.20 s (0.10 to 0.30) of 40.0 s\n"));
    ck_assert_ptr_nonnull(strstr(out, "rank 2 did not report in time and is left out\n"));
    free(out);
    (void)comma;
}
END_TEST

/* The delays of one rank in two operations add up; a host's are its own; a call that takes most of
 * the run is named, with its time without waiting; small gains are not. */
START_TEST(recommendations) {
    coll_report_row rows[2];
    coll_advice advice[COLL_ADVICE_MOST];
    coll_summary of = make_summary(2, rows);
    rows[0].inside = 48; /* of two ranks, and a quarter of it waiting */
    add_late(&of, COLL_OPERATION_ALLREDUCE, COLL_LATE_RANK, 1, 3);
    of.late[0].waits = true;
    of.late[0].inside = 48;
    of.late[0].waiting = 12;
    add_late(&of, COLL_OPERATION_BCAST, COLL_LATE_AT_TIMES, 1, 4);
    add_late(&of, COLL_OPERATION_GATHER, COLL_LATE_HOST, 1, 2);
    add_late(&of, COLL_OPERATION_REDUCE, COLL_LATE_RANK, 0, 0.1);
    ck_assert_int_eq(coll_advice_make(&of, advice), 3);
    ck_assert_str_eq(advice[0].kind, "call");
    ck_assert_ptr_eq(advice[0].row, &rows[0]);
    ck_assert_double_eq_tol(advice[0].seconds, 18, 1e-9);
    ck_assert_str_eq(advice[1].kind, "late rank");
    ck_assert_double_eq_tol(advice[1].seconds, 7, 1e-9);
    ck_assert_str_eq(advice[2].kind, "late host");
    ck_assert_double_eq_tol(advice[2].seconds, 2, 1e-9);
    of.served = false;
    of.would_known = true;
    of.would_save.middle = 10;
    ck_assert_int_eq(coll_advice_make(&of, advice), 4);
    ck_assert_str_eq(advice[1].kind, "native");
    /* Work that moves adds up over operations, as it is of the same ranks. */
    add_late(&of, COLL_OPERATION_BARRIER, COLL_LATE_MOVES, 0, 5);
    add_late(&of, COLL_OPERATION_SCAN, COLL_LATE_MOVES, 1, 6);
    of.late[4].late_ranks = of.late[5].late_ranks = 2;
    ck_assert_int_eq(coll_advice_make(&of, advice), 5);
    ck_assert_str_eq(advice[1].kind, "moving work");
    ck_assert_double_eq_tol(advice[1].seconds, 11, 1e-9);
    char *out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(strstr(out,
                                 "    the work moves: 2 ranks in turn arrived last in 81 % of 400 "
                                 "calls, each in about 1/2,\n        2.10 ms late on median\n"));
    ck_assert_ptr_nonnull(strstr(
        out, "2. 2 of 2 ranks in turn arrive late: the run would take at most 11.0 s less\n"));
    free(out);
}
END_TEST

START_TEST(sums) {
    coll_report_row sum[2];
    int count = 0;
    ck_assert_int_eq(coll_report_add_row(sum, &count, 2, &some_rows[0]), 0);
    ck_assert_int_eq(coll_report_add_row(sum, &count, 2, &some_rows[0]), 0);
    ck_assert_int_eq(coll_report_add_row(sum, &count, 2, &some_rows[1]), 1);
    ck_assert_int_eq(count, 2);
    ck_assert(sum[0].calls == 1600 && sum[0].saved.high == 12 && sum[1].calls == 20);
    coll_report_row other = some_rows[0];
    other.size_class++;
    ck_assert_int_eq(coll_report_add_row(sum, &count, 2, &other), -1);
    other = some_rows[0];
    other.source = COLL_REPORT_MEASURED;
    coll_report_add_row(sum, &count, 2, &other);
    ck_assert_int_eq(sum[0].source, COLL_REPORT_MIXED);
}
END_TEST

/* --- Links --- */

enum { HOSTS = 8, RACKS = 4 };
static const int racks[HOSTS] = {0, 0, 1, 1, 2, 2, 3, 3};

/* What is wrong in a lab of HOSTS hosts. Rates are in bytes/s. */
typedef struct fault {
    int host, rack;    /* with the fault; negative: none */
    double rate, loss; /* of what passes its link or uplink */
    bool star;         /* hosts exchange messages with HOST alone, else all with one another */
    bool short_messages;
} fault;

static bool crosses(int from, int to, int rack) {
    return racks[from] != racks[to] && (racks[from] == rack || racks[to] == rack);
}

static coll_link find_link(const fault *of, bool know_racks) {
    coll_flow flows[HOSTS * HOSTS];
    generator random = {.state = 3};
    int count = 0;
    for (int from = 0; from < HOSTS; from++)
        for (int to = 0; to < HOSTS; to++) {
            if (from == to || (of->star && from != of->host && to != of->host))
                continue;
            const bool hit = from == of->host || to == of->host ||
                             (of->rack >= 0 && crosses(from, to, of->rack));
            const bool leaves =
                from == of->host || (racks[from] == of->rack && crosses(from, to, of->rack));
            const double bytes = 1e7,
                         rate = (hit && of->rate > 0 ? of->rate : 1e7) *
                                (1 + 0.01 * below(&random, 30)),
                         sent = of->short_messages ? bytes / 100 : bytes / 1448;
            flows[count++] = (coll_flow){.from = from,
                                         .to = to,
                                         .bytes = bytes,
                                         .busy = bytes / rate,
                                         .sent = sent,
                                         .resent = sent * (leaves ? of->loss : 0.001)};
        }
    return coll_links_find(count, flows, HOSTS, know_racks ? racks : NULL);
}

START_TEST(slow_or_lossy_link) {
    coll_link link = find_link(&(fault){.host = 2, .rack = -1, .rate = 4e5}, true);
    ck_assert(link.problem == COLL_LINK_SLOW && !link.uplink && link.host == 2);
    ck_assert(link.value < 6e5 && link.usual > 1e7 && link.seconds > 15);
    link = find_link(&(fault){.host = 2, .rack = -1, .rate = 4e5}, false);
    ck_assert(link.problem == COLL_LINK_SLOW && !link.uplink && link.host == 2);
    link = find_link(&(fault){.host = 5, .rack = -1, .loss = 0.02}, true);
    ck_assert(link.problem == COLL_LINK_LOSES && !link.uplink && link.host == 5);
    ck_assert_double_eq_tol(link.value, 0.0105, 0.01);
    link = find_link(&(fault){.host = -1, .rack = 3, .rate = 4e5}, true);
    ck_assert(link.problem == COLL_LINK_SLOW && link.uplink && racks[link.host] == 3);
    link = find_link(&(fault){.host = -1, .rack = 1, .loss = 0.02}, true);
    ck_assert(link.problem == COLL_LINK_LOSES && link.uplink && racks[link.host] == 1);
}
END_TEST

/* A link is not named if nothing is wrong, if another one explains the same, if all links are like
 * it, or if messages were so short that they tell no rate. */
START_TEST(no_link) {
    ck_assert(find_link(&(fault){.host = -1, .rack = -1}, true).problem == COLL_LINK_GOOD);
    ck_assert(find_link(&(fault){.host = -1, .rack = 3, .rate = 4e5}, false).problem ==
              COLL_LINK_GOOD);
    ck_assert(find_link(&(fault){.host = 2, .rack = -1, .rate = 4e5, .star = true}, true).problem ==
              COLL_LINK_GOOD);
    ck_assert(find_link(&(fault){.host = 2, .rack = -1, .rate = 4e5, .short_messages = true}, true)
                  .problem == COLL_LINK_GOOD);
    /* The messages of two hosts share a link, so each is slow. */
    const coll_flow shared[] = {{0, 1, 1e7, 1, 7000, 7},
                                {1, 2, 1e7, 1, 7000, 7},
                                {2, 0, 1e7, 1, 7000, 7},
                                {0, 3, 1e6, 0.5, 700, 0},
                                {3, 0, 1e6, 0.5, 700, 0}};
    ck_assert(coll_links_find(5, shared, 4, NULL).problem == COLL_LINK_GOOD);
    ck_assert(coll_links_find(0, NULL, 1, NULL).problem == COLL_LINK_GOOD);
}
END_TEST

/* The link is reported with the calls that took much longer than predicted, unless some of these
 * were not on all ranks; and not if it cost hardly any of the run. */
START_TEST(link_and_calls) {
    coll_report_row rows[2];
    coll_summary of = make_summary(2, rows);
    of.link = (coll_link){COLL_LINK_SLOW, false, 1, 1.25e6, 12.5e6, 3};
    rows[0].predicted = 2;
    char *out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(strstr(
        out,
        "the link of host n1 is slow: 10 Mbit/s in the fastest connection, 100 Mbit/s usually\n"
        "    this explains why allreduce of 64K took 4.0 times as long as predicted, 4.00 s\n"));
    ck_assert_ptr_nonnull(
        strstr(out, "1. the link of host n1 is slow: the run would take at most 3.00 s less\n"));
    free(out);
    out = written(coll_summary_print_json, &of);
    ck_assert_ptr_nonnull(
        strstr(out, "\"link\": {\"of\": \"host\", \"host\": \"n1\", \"problem\": \"slow\", "));
    ck_assert_ptr_nonnull(strstr(out, "{\"kind\": \"link\", \"host\": \"n1\", "));
    free(out);
    rows[0].everywhere = 400;
    of.link = (coll_link){COLL_LINK_LOSES, true, 1, 0.02, 0.001, 3};
    out = written(coll_summary_print, &of);
    ck_assert_ptr_nonnull(strstr(out, "the uplink of the rack of host n1 loses packets: TCP sent "
                                      "2.0 % of the segments again, 0.1 % usually\n"));
    ck_assert_ptr_null(strstr(out, "explains"));
    free(out);
    of.link.seconds = 0.5;
    out = written(coll_summary_print, &of);
    ck_assert_ptr_null(strstr(out, "link"));
    free(out);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("report");
    TCase *all = tcase_create("report");
    tcase_add_test(all, late_rank);
    tcase_add_test(all, nobody);
    tcase_add_test(all, late_at_times);
    tcase_add_test(all, late_host);
    tcase_add_test(all, work_that_moves);
    tcase_add_test(all, uncertain);
    tcase_add_test(all, incomplete);
    tcase_add_test(all, drift);
    tcase_add_test(all, text);
    tcase_add_test(all, recommendations);
    tcase_add_test(all, sums);
    tcase_add_test(all, slow_or_lossy_link);
    tcase_add_test(all, no_link);
    tcase_add_test(all, link_and_calls);
    suite_add_tcase(suite, all);
    return harness_unit(suite);
}

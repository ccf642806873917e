/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests what is made of a recorded job: reading its files, the order of its calls, estimates and
 * GOAL of jobs that can be computed by hand, and placements, which are compared with all others.
 */
#include "config.h"

#include "lib/base/error.h"
#include "lib/cost/profile.h"
#include "lib/replay/job_record.h"
#include "tests/support/generator.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 16, LONG = 1 << 13 };

static char directory[] = "/tmp/coll-replay-XXXXXX";
static char problem[256];

static void set_up(void) {
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    setenv("COLL_PROFILE", "built-in", 1);
    coll_error_divert(problem, sizeof problem);
}

static void remove_rank(int rank) {
    char name[32];
    snprintf(name, sizeof name, "rank.%d", rank);
    unlink(name);
}

static void tear_down(void) {
    coll_error_divert(NULL, 0);
    for (int rank = 0; rank <= MOST; rank++)
        remove_rank(rank);
    unlink("topology");
    unlink("profile");
    ck_assert_int_eq(rmdir(directory), 0);
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* --- Records --- */

/* The text of each rank's file. */
typedef struct job {
    int ranks;
    char text[MOST][LONG];
} job;

static void write_job(const job *of) {
    for (int rank = 0; rank < of->ranks; rank++) {
        char name[32];
        snprintf(name, sizeof name, "rank.%d", rank);
        write_file(name, of->text[rank]);
    }
}

/* Appends a line to RANK's file. */
#define add(of, rank, ...)                                                                         \
    snprintf((of)->text[rank] + strlen((of)->text[rank]), LONG - strlen((of)->text[rank]),         \
             __VA_ARGS__)

/* Begins a job of RANKS ranks with one on each host: "h0", "h1", ... */
static job *begin_job(int ranks) {
    static job made;
    made = (job){.ranks = ranks};
    for (int rank = 0; rank < ranks; rank++)
        add(&made, rank, "coll-record 1\nrank %d of %d job 5d host h%d\ncomm 1 0-%d\n", rank, ranks,
            rank, ranks - 1);
    return &made;
}

/* Ends the file of RANK, with CALLS in ticks of 1 ms. */
static void end_rank(job *of, int rank, int calls, int after) {
    add(of, rank, "end %d 1000000000000 %d 0\n", calls, after);
}

static COLL_Record *read_job(const job *of) {
    COLL_Record *record = NULL;
    write_job(of);
    const int code = COLL_Record_read(".", &record);
    ck_assert_msg(code == MPI_SUCCESS, "%s", problem);
    return record;
}

/* Three ranks, of which 0 and 2 have a communicator of their own, in the other order. */
static const job three = {
    3,
    {"coll-record 1\nrank 0 of 3 job 5d host a\ncomm 1 0-2\ncomm f2 2,0\n"
     "call barrier 1 even -1 0 10 5\nstart bcast 1 even 0 64 20 1\ncall bcast f2 even 1 100 30 2\n"
     "call allgather 1 uneven -1 10 1 1\nsent 1 2 300\nplace 0 1\nend 4 1000000000000 7 0\n",
     "coll-record 1\nrank 1 of 3 job 5d host b\ncomm 1 0-2\n"
     "call barrier 1 even -1 0 11 4\nstart bcast 1 even 0 64 0 0\n"
     "call allgather 1 even -1 20 1 1\nend 3 1000000000000 9 0\n",
     "coll-record 1\nrank 2 of 3 job 5d host c\ncomm f2 2,0\ncomm 1 0-2\n"
     "call barrier 1 even -1 0 12 3\nstart bcast 1 even 0 64 0 0\ncall bcast f2 even 1 100 1 31\n"
     "call allgather 1 even -1 31 1 1\nend 4 1000000000000 0 0\n"}};

START_TEST(files_are_read) {
    COLL_Record *record = read_job(&three);
    ck_assert_int_eq(COLL_Record_ranks(record), 3);
    ck_assert_int_eq(record->comm_count, 2);
    const coll_job_rank *first = &record->of[0], *second = &record->of[1], *third = &record->of[2];
    ck_assert_str_eq(first->host, "a");
    ck_assert_int_eq(first->site, 0);
    ck_assert_int_eq(first->rack, 1);
    ck_assert_int_eq(second->rack, -1);
    ck_assert_int_eq((int)first->call_count, 3);
    ck_assert_int_eq((int)second->call_count, 2);
    ck_assert(first->skipped == 1 && second->skipped == 1);
    ck_assert_int_eq((int)first->sent_count, 1);
    ck_assert_int_eq(first->sent[0].to, 1);
    ck_assert(first->sent[0].bytes == 300);
    ck_assert_double_eq_tol(first->after, 0.007, 1e-9);
    /* A nonblocking call is part of what is between calls. */
    const coll_job_call *bcast = &first->calls[1];
    ck_assert_int_eq(bcast->operation, COLL_OPERATION_BCAST);
    ck_assert_int_eq(bcast->root, 1);
    ck_assert_int_eq((int)bcast->bytes, 100);
    ck_assert_double_eq_tol(bcast->before, 0.020 + 0.001 + 0.030, 1e-9);
    ck_assert_double_eq_tol(bcast->inside, 0.002, 1e-9);
    const coll_job_group *pair = coll_job_group_of(record, bcast);
    ck_assert_int_eq(pair->ranks, 2);
    ck_assert(pair->members[0] == 2 && pair->members[1] == 0);
    ck_assert_int_eq(third->calls[1].comm, bcast->comm);
    /* One collective has one number on all ranks, the mean of the bytes, and the same counts. */
    for (int rank = 0; rank < 3; rank++) {
        const coll_job_call *last = &record->of[rank].calls[record->of[rank].call_count - 1];
        ck_assert_int_eq(last->number, 2);
        ck_assert_int_eq((int)last->bytes, 20);
        ck_assert(last->uneven);
    }
    ck_assert_int_eq(second->calls[0].number, 0);
    COLL_Record_free(record);
}
END_TEST

/* Files and groups grow beyond what is allocated at first; groups with the same ranks are one. */
START_TEST(many_calls_and_communicators) {
    job *many = begin_job(2);
    for (int rank = 0; rank < 2; rank++) {
        for (int comm = 2; comm < 22; comm++)
            add(many, rank, "comm %x %s\n", comm, comm % 2 ? "0-1" : "1,0");
        for (int call = 0; call < 100; call++)
            add(many, rank, "call bcast %x even 1 %d 1 1\n", 1 + call % 21, call);
        for (int sent = 0; sent < 9; sent++)
            add(many, rank, "sent 1 1 %d\n", sent);
        end_rank(many, rank, 100, 1);
    }
    COLL_Record *record = read_job(many);
    ck_assert_int_eq(record->comm_count, 21);
    ck_assert_int_eq(record->group_count, 2);
    for (int call = 0; call < 100; call++)
        for (int rank = 0; rank < 2; rank++) {
            const coll_job_call *one = &record->of[rank].calls[call];
            ck_assert_int_eq((int)one->bytes, call);
            ck_assert_int_eq(one->number, call);
            ck_assert_int_eq(coll_job_group_of(record, one)->members[0], call % 21 % 2);
        }
    for (int sent = 0; sent < 9; sent++)
        ck_assert(record->of[1].sent[sent].bytes == sent);
    COLL_Record_free(record);
}
END_TEST

/* Blocks are a mean over ranks and blocks where a call has a count for each block. */
START_TEST(bytes_of_blocks) {
    job *blocks = begin_job(2);
    for (int rank = 0; rank < 2; rank++) {
        add(blocks, rank, "call alltoall 1 uneven -1 %d 1 1\n", rank ? 300 : 100);
        add(blocks, rank, "call alltoall 1 even -1 100 1 1\n");
        end_rank(blocks, rank, 2, 1);
    }
    COLL_Record *record = read_job(blocks);
    ck_assert_int_eq((int)record->of[1].calls[0].bytes, 100); /* 400 bytes in 4 blocks */
    ck_assert_int_eq((int)record->of[1].calls[1].bytes, 100);
    COLL_Record_free(record);
}
END_TEST

/* Damages are one replacement in a file of THREE each; "" is the whole file. */
static const struct damage {
    int rank;
    const char *old, *new, *expected;
} damages[] = {
    {0, "", "", "rank.0: is truncated"},
    {1, "", "coll-record 1\n", "rank.1, line 1: is truncated"},
    {1, "", "hello\n", "is no record"},
    {1, "end 3 1000000000000 9 0\n", "", "truncated"},
    {1, "9 0\n", "9 0", "truncated"},
    {1, "9 0\n", "9\n", "\"\" is not within 0"},
    {2, "coll-record 1", "coll-record 2", "version 2 is not 1"},
    {2, "coll-record 1", "coll-record x", "\"x\" is not within"},
    {1, "rank 1", "rank 2", "\"2\" is not within 1 to 1"},
    {0, "of 3", "of 0", "\"0\" is not within"},
    {0, "of 3", "of 99999999", "\"99999999\" is not within"},
    {2, "of 3", "of 4", "rank.2, line 2: is of another job"},
    {2, "job 5d", "job 5e", "rank.2, line 2: is of another job"},
    {2, "job 5d", "job", "is no id"},
    {1, "host b", "host", "has no host"},
    {1, "0-2", "0-3", "\"0-3\" are no ranks"},
    {1, "0-2", "2-0", "\"2-0\" are no ranks"},
    {1, "0-2", "-1,1", "\"-1,1\" are no ranks"},
    {1, "0-2", "0-2,1", "\"1\" are no ranks"},
    {1, "0-2", "0;1", "\"0;1\" are no ranks"},
    {1, "0-2", "0,2", "a communicator without rank 1"},
    {1, "0-2", "1", "a communicator of 1 ranks"},
    {1, "0-2", "0-1", "line 3: a communicator has other ranks than on rank 0 to 0"},
    {1, "barrier", "barriers", "line 4: an unknown operation"},
    {1, "barrier 1", "barrier zz", "\"zz\" is no id"},
    {1, "barrier 1", "barrier 7", "without its line"},
    {1, "barrier 1", "barrier f2", "without its line"}, /* rank 0 has it */
    {1, "even -1 0", "odd -1 0", "\"odd\" is neither even nor uneven"},
    {2, "even 1 100", "even 2 100", "\"2\" is not within 0 to 1"},
    {2, "even 1 100", "even -1 100", "\"-1\" is not within 0 to 1"},
    {2, "even 1 100", "even 1 -100", "\"-100\" is not within 0"},
    {2, "even 1 100", "even 1 99999999999999999999", "is not within 0"},
    {0, "sent 1", "sent 3", "\"3\" is not within 0 to 2"},
    {0, "sent 1 2 300", "sent 1 2", "\"\" is not within 0"},
    {0, "place 0 1", "place 0 -1", "\"-1\" is not within 0"},
    {0, "place 0 1", "place 0 3", "\"3\" is not within 0 to 2"},
    {0, "place", "places", "an unknown line"},
    {1, "end 3", "end 4", "4 calls were recorded, but 3 are here"},
    {1, "call barrier 1 even -1 0 11 4\n", "", "3 calls were recorded, but 2 are here"},
    {1, "9 0\n", "9 5\n", "5 calls could not be recorded"},
    {1, "1000000000000 9", "0 9", "a run of 0 s"},
    {1, "1000000000000 9", "1000000000000 9000000000000000", "a run of 9e+12 s"},
    {1, "0 11 4", "0 9000000000000000 4", "a run of 9e+12 s"},
    {1, "call barrier", "call allreduce",
     "call 1 of rank 1, allreduce, is not that of the other ranks"},
    {2, "bcast f2 even 1", "bcast f2 even 0", "call 2 of rank 0, bcast, is not that of the other"},
    {2, "call bcast", "start bcast", "call 2 of rank 0, bcast, is not on all ranks"},
};

START_TEST(damage_is_refused) {
    const struct damage *one = &damages[_i];
    job copy = three;
    char *text = copy.text[one->rank], *at = strstr(text, one->old);
    ck_assert_ptr_nonnull(at);
    snprintf(at, (size_t)(text + LONG - at), "%s%s", one->new,
             *one->old ? strstr(three.text[one->rank], one->old) + strlen(one->old) : "");
    COLL_Record *record = NULL;
    write_job(&copy);
    ck_assert_msg(COLL_Record_read(".", &record) != MPI_SUCCESS, "taken: %s", one->expected);
    ck_assert_msg(strstr(problem, one->expected) != NULL, "%s\nis not: %s", problem, one->expected);
    ck_assert_ptr_null(record);
}
END_TEST

START_TEST(ranks_are_missing_or_too_many) {
    COLL_Record *record = NULL;
    write_job(&three);
    remove_rank(1);
    ck_assert_int_ne(COLL_Record_read(".", &record), MPI_SUCCESS);
    ck_assert_ptr_nonnull(strstr(problem, "rank.1: No such file"));
    write_job(&three);
    write_file("rank.3", three.text[2]);
    ck_assert_int_ne(COLL_Record_read(".", &record), MPI_SUCCESS);
    ck_assert_ptr_nonnull(strstr(problem, "mixed: rank 3 is not of this job of 3 ranks"));
    remove_rank(3);
    ck_assert_int_eq(rename("rank.2", "rank.4294967295"), 0); /* -1 as an int */
    write_file("rank.2", three.text[2]);
    ck_assert_int_ne(COLL_Record_read(".", &record), MPI_SUCCESS);
    ck_assert_ptr_nonnull(strstr(problem, "mixed: rank 4294967295 is not of this job"));
    ck_assert_int_eq(remove("rank.4294967295"), 0);
}
END_TEST

/* --- The order of calls --- */

enum { EVENTS = 64 };
typedef struct history {
    int count, fails_at;
    size_t bytes[EVENTS];
} history;

static int note_call(void *context, const coll_job_group *group, coll_job_call *const calls[]) {
    history *so_far = context;
    ck_assert_int_eq(group->ranks, 2);
    so_far->bytes[so_far->count++] = calls[0]->bytes;
    return so_far->count == so_far->fails_at ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Ranks 0 and 1, 1 and 2, 2 and 3 have communicators; each call is recognized by its bytes. */
static job *make_chain(const char *first, const char *second) {
    static const int comms[4][2] = {{2}, {2, 3}, {3, 4}, {4}};
    job *chain = begin_job(4);
    for (int rank = 0; rank < 4; rank++) {
        for (int i = 0; i < 2 && comms[rank][i]; i++)
            add(chain, rank, "comm %d %d-%d\n", comms[rank][i], comms[rank][i] - 2,
                comms[rank][i] - 1);
        const char *order = rank == 1 ? first : rank == 2 ? second : "x";
        int calls = 0;
        for (; order[calls]; calls++) {
            const int comm = order[calls] == 'x' ? rank == 0 ? 2 : 4 : order[calls] - '0';
            add(chain, rank, "call bcast %d even 0 %d 1 1\n", comm, comm);
        }
        end_rank(chain, rank, calls, 1);
    }
    return chain;
}

START_TEST(calls_follow_each_other) {
    history seen = {.fails_at = 0};
    COLL_Record *record = read_job(make_chain("32", "43"));
    ck_assert_int_eq(coll_job_walk(record, note_call, &seen), MPI_SUCCESS);
    /* Rank 2 calls on 4 before 3, and rank 1 on 3 before 2. */
    ck_assert_int_eq(seen.count, 3);
    ck_assert_int_eq((int)seen.bytes[0], 4);
    ck_assert_int_eq((int)seen.bytes[1], 3);
    ck_assert_int_eq((int)seen.bytes[2], 2);
    seen = (history){.fails_at = 2};
    ck_assert_int_eq(coll_job_walk(record, note_call, &seen), MPI_ERR_OTHER);
    ck_assert_int_eq(seen.count, 2);
    COLL_Record_free(record);
}
END_TEST

START_TEST(calls_wait_for_each_other_forever) {
    job *circle = begin_job(3);
    for (int rank = 0; rank < 3; rank++) {
        const int next = 2 + rank, before = 2 + (rank + 2) % 3;
        for (int comm = 2; comm < 5; comm++)
            if (comm == next || comm == before)
                add(circle, rank, "comm %d %d,%d\n", comm, comm - 2, (comm - 1) % 3);
        add(circle, rank, "call barrier %d even -1 0 1 1\ncall barrier %d even -1 0 1 1\n", next,
            before);
        end_rank(circle, rank, 2, 1);
    }
    COLL_Record *record = NULL;
    write_job(circle);
    ck_assert_int_ne(COLL_Record_read(".", &record), MPI_SUCCESS);
    ck_assert_ptr_nonnull(strstr(problem, "call 1 of rank 0, barrier, is not on all ranks"));
}
END_TEST

/* --- Estimates --- */

/* Returns the seconds in which a link of the built-in profile passes BYTES. */
static double pass(double bytes) {
    return bytes * coll_profile_builtin()->level[COLL_LEVEL_RACK].per_byte;
}

typedef struct estimate {
    int rows;
    COLL_Replay_row row[COLL_REPLAY_ROWS];
    COLL_Replay_sum sum;
} estimate;

static const estimate *replay(const job *of, const COLL_Cluster *cluster) {
    static estimate now;
    COLL_Record *record = read_job(of);
    const int code = COLL_Replay(record, cluster, now.row, &now.rows, &now.sum);
    ck_assert_msg(code == MPI_SUCCESS, "%s", problem);
    COLL_Record_free(record);
    return &now;
}

/* Two ranks of which the second, the root, is in the call 1 s later. */
START_TEST(a_late_rank) {
    enum { BYTES = 10000000 };
    const double seconds = pass(BYTES);
    job *pair = begin_job(2);
    add(pair, 0, "call bcast 1 even 1 %d 500 3000\nsent 1 1 7\n", BYTES);
    add(pair, 1, "call bcast 1 even 1 %d 1500 2000\nsent 0 1 8\n", BYTES);
    end_rank(pair, 0, 1, 0);
    end_rank(pair, 1, 1, 250);
    const estimate *now = replay(pair, &(COLL_Cluster){.algorithms = "bcast=linear"});
    ck_assert_int_eq(now->rows, 1);
    const COLL_Replay_row *row = &now->row[0];
    ck_assert_str_eq(row->operation, "bcast");
    ck_assert_str_eq(row->algorithm, "linear");
    ck_assert_int_eq((int)row->bytes, 1 << 23);
    ck_assert(row->calls == 1);
    ck_assert_double_eq_tol(row->recorded, (3 + 2) / 2.0, 1e-9);
    ck_assert_double_eq_tol(now->sum.run[0], 1.5 + 2 + 0.25, 1e-9);
    ck_assert_double_eq_tol(row->libcoll, (1 + 2 * seconds) / 2, 0.005);
    ck_assert_double_eq_tol(now->sum.run[1], 1.5 + seconds + 0.25, 0.005);
    ck_assert_double_eq_tol(now->sum.collectives[1], row->libcoll, 1e-9);
    ck_assert_double_eq_tol(row->native, (1 + 2 * seconds) / 2, 0.05);
    ck_assert(now->sum.sent == 15 && now->sum.skipped == 0);
    ck_assert_int_eq(now->sum.ranks, 2);
    ck_assert_int_eq(now->sum.hosts, 2);
    ck_assert_int_eq(now->sum.racks, 1);
    ck_assert_str_eq(now->sum.profile, "built-in");
}
END_TEST

/* All wait for a late root, wherever it is; nobody waits for another rank that is late. */
START_TEST(who_waits_for_whom) {
    for (int root = 0; root < 3; root++)
        for (int late = 0; late < 3; late++) {
            job *trio = begin_job(3);
            for (int rank = 0; rank < 3; rank++) {
                add(trio, rank, "call bcast 1 even %d 1000 %d 1\n", root, rank == late ? 1001 : 1);
                end_rank(trio, rank, 1, 0);
            }
            const estimate *now = replay(trio, &(COLL_Cluster){.algorithms = "bcast=linear"});
            const double waiting = root == late ? 2 / 3.0 : 0;
            ck_assert_double_eq_tol(now->row[0].libcoll, waiting, 0.01);
            ck_assert_double_eq_tol(now->row[0].native, waiting, 0.01);
        }
}
END_TEST

/* The MPI library's reduce_scatter has no plan: it takes its time from the last arrival on. */
START_TEST(calls_without_a_plan) {
    job *trio = begin_job(3);
    for (int rank = 0; rank < 3; rank++) {
        add(trio, rank, "call reduce_scatter 1 even -1 1000000 %d 1\n", rank == 1 ? 1001 : 1);
        end_rank(trio, rank, 1, 0);
    }
    const estimate *now = replay(trio, &(COLL_Cluster){0});
    const double seconds = now->sum.run[2] - 1.001;
    ck_assert(seconds > pass(2 * 1e6)); /* each rank receives two blocks */
    ck_assert_double_eq_tol(now->row[0].native, seconds + 2 / 3.0, 1e-6);
}
END_TEST

/* Calls of one operation and size class have one row; those with the most time come first. */
START_TEST(rows_of_calls) {
    job *calls = begin_job(2);
    for (int rank = 0; rank < 2; rank++) {
        static const int bytes[] = {0, 1024, 2047, 2048, 4000000};
        for (int i = 0; i < 5; i++)
            add(calls, rank, "call bcast 1 even 0 %d 1 1\n", bytes[i]);
        add(calls, rank, "call allgather 1 even -1 1024 1 1\n");
        add(calls, rank, "start bcast 1 even 0 1024 1 1\n");
        add(calls, rank, "call neighbor_alltoall 1 even -1 1024 1 1\n");
        end_rank(calls, rank, 8, 0);
    }
    const estimate *now = replay(calls, &(COLL_Cluster){0});
    ck_assert_int_eq(now->rows, 5);
    ck_assert_int_eq((int)now->row[0].bytes, 1 << 21);
    double calls_seen = 0;
    for (int i = 0; i < 5; i++) {
        const COLL_Replay_row *row = &now->row[i];
        const bool bcast = strcmp(row->operation, "bcast") == 0;
        calls_seen += row->calls;
        ck_assert_double_eq(row->calls, bcast && row->bytes == 1024 ? 2 : 1);
        ck_assert_double_eq_tol(row->recorded, 0.001 * row->calls, 1e-9);
        if (row->bytes == 0)
            ck_assert(row->libcoll == 0 && row->native == 0);
        if (i > 0)
            ck_assert(fmax(row->libcoll, row->native) <=
                      fmax(now->row[i - 1].libcoll, now->row[i - 1].native));
    }
    ck_assert(calls_seen == 6);
    ck_assert_double_eq_tol(now->sum.collectives[0], 0.006, 1e-9);
    ck_assert(now->sum.skipped == 4);
}
END_TEST

/* Ranks of one host don't need its link. */
START_TEST(places_of_ranks) {
    job *four = begin_job(4);
    for (int rank = 0; rank < 4; rank++) {
        add(four, rank, "comm a%d %s\n", rank % 2, rank % 2 ? "1,3" : "0,2");
        add(four, rank, "call bcast a%d even 0 5000000 1 1\nplace 0 %d\n", rank % 2, rank % 2);
        end_rank(four, rank, 1, 0);
    }
    static const char *const near[] = {"x", "y", "x", "y"}, *const far[] = {"x", "x", "y", "y"};
    COLL_Cluster cluster = {.algorithms = "bcast=linear", .slots = near, .slot_count = 4};
    const estimate *now = replay(four, &cluster);
    ck_assert_int_eq(now->sum.hosts, 2);
    ck_assert(now->row[0].libcoll < 0.5 * pass(5e6));
    cluster.slots = far;
    now = replay(four, &cluster);
    ck_assert(now->row[0].libcoll > 0.95 * pass(5e6));
    /* Racks are as recorded while the hosts are. */
    cluster.slots = NULL;
    now = replay(four, &cluster);
    ck_assert_int_eq(now->sum.hosts, 4);
    ck_assert_int_eq(now->sum.racks, 2);
    cluster.ranks_per_host = 3;
    now = replay(four, &cluster);
    ck_assert_int_eq(now->sum.hosts, 2);
    ck_assert_int_eq(now->sum.racks, 2); /* h0 and h1 */
    /* Only one of the recorded racks. */
    static const char *const odd[] = {"h1", "h1", "h3", "h3"};
    cluster = (COLL_Cluster){.slots = odd, .slot_count = 4};
    now = replay(four, &cluster);
    ck_assert_int_eq(now->sum.hosts, 2);
    ck_assert_int_eq(now->sum.racks, 1);
    write_file("topology", "SwitchName=r0 Nodes=h[0-2]\nSwitchName=r1 Nodes=h3\n"
                           "SwitchName=s Switches=r[0-1]\n");
    cluster = (COLL_Cluster){.topology = "topology"};
    now = replay(four, &cluster);
    ck_assert_int_eq(now->sum.racks, 2);
    ck_assert_int_eq(now->sum.sites, 1);
}
END_TEST

static void refuse_cluster(const COLL_Record *record, const COLL_Cluster *cluster,
                           const char *expected) {
    static estimate now;
    ck_assert_int_ne(COLL_Replay(record, cluster, now.row, &now.rows, &now.sum), MPI_SUCCESS);
    ck_assert_msg(strstr(problem, expected) != NULL, "%s\nis not: %s", problem, expected);
}

START_TEST(wrong_clusters) {
    COLL_Record *record = read_job(&three);
    static const char *const slots[] = {"x", "y"};
    refuse_cluster(record, &(COLL_Cluster){.slots = slots, .slot_count = 2},
                   "there are 2 slots for the 3 ranks");
    refuse_cluster(record, &(COLL_Cluster){.algorithms = "bcast"}, "names no algorithm");
    refuse_cluster(record, &(COLL_Cluster){.algorithms = "cast=chain"}, "cast");
    refuse_cluster(record, &(COLL_Cluster){.algorithms = "bcast=linear;barrier=none"}, "none");
    refuse_cluster(record, &(COLL_Cluster){.topology = "nothing"}, "nothing");
    refuse_cluster(record, &(COLL_Cluster){.profile = "nothing"}, "nothing");
    write_file("topology", "SwitchName=r0 Nodes=a,b\n");
    refuse_cluster(record, &(COLL_Cluster){.topology = "topology"}, "c");
    COLL_Record_free(record);
}
END_TEST

/* --- GOAL --- */

static void check_goal(const job *of, const char *algorithms, const char *expected) {
    char *text = NULL;
    size_t length;
    COLL_Record *record = read_job(of);
    FILE *stream = open_memstream(&text, &length);
    const int code = COLL_Replay_goal(record, &(COLL_Cluster){.algorithms = algorithms}, stream);
    ck_assert_msg(code == MPI_SUCCESS, "%s", problem);
    fclose(stream);
    ck_assert_str_eq(text, expected);
    free(text);
    COLL_Record_free(record);
}

/* Rank 2 sends to the others in turn. The second call has no bytes, and no messages. */
START_TEST(goal_text) {
    job *trio = begin_job(3);
    for (int rank = 0; rank < 3; rank++) {
        add(trio, rank, "call bcast 1 even 2 100 %d 1\ncall bcast 1 even 2 0 1 1\n", 3 + rank);
        end_rank(trio, rank, 2, 9);
    }
    static const char received[] = "l2: recv 100b from 2 tag 0\nl2 requires l1\n"
                                   "l3: calc 0\nl3 requires l1\nl3 requires l2\n"
                                   "l4: calc 0\nl4 requires l1\nl4 requires l3\n"
                                   "l5: calc 1000000\nl5 requires l4\n"
                                   "l6: calc 9000000\nl6 requires l5\n}\n";
    static const char sent[] = "l2: send 100b to 0 tag 0\nl2 requires l1\n"
                               "l3: calc 0\nl3 requires l1\nl3 requires l2\n"
                               "l4: send 100b to 1 tag 0\nl4 requires l3\n"
                               "l5: calc 0\nl5 requires l3\nl5 requires l4\n"
                               "l6: calc 0\nl6 requires l1\nl6 requires l5\n"
                               "l7: calc 1000000\nl7 requires l6\n"
                               "l8: calc 9000000\nl8 requires l7\n}\n";
    char expected[LONG];
    snprintf(expected, sizeof expected,
             "num_ranks 3\n\nrank 0 {\nl1: calc 3000000\n%s\nrank 1 {\nl1: calc 4000000\n%s"
             "\nrank 2 {\nl1: calc 5000000\n%s",
             received, received, sent);
    check_goal(trio, "bcast=linear", expected);
}
END_TEST

/* The plan of the MPI library's own begins with the root, whatever its rank is. */
START_TEST(goal_of_another_root) {
    job *pair = begin_job(2);
    for (int rank = 0; rank < 2; rank++) {
        add(pair, rank, "call bcast 1 even 1 100 1 1\n");
        end_rank(pair, rank, 1, 1);
    }
    static const char moved[] = "l2 requires l1\nl3: calc 0\nl3 requires l1\nl3 requires l2\n"
                                "l4: calc 0\nl4 requires l1\nl4 requires l3\n"
                                "l5: calc 1000000\nl5 requires l4\n}\n";
    char expected[LONG];
    snprintf(expected, sizeof expected,
             "num_ranks 2\n\nrank 0 {\nl1: calc 1000000\nl2: recv 100b from 1 tag 0\n%s"
             "\nrank 1 {\nl1: calc 1000000\nl2: send 100b to 0 tag 0\n%s",
             moved, moved);
    check_goal(pair, "bcast=native", expected);
}
END_TEST

/* Each call has a tag of its own, and messages to one rank start in their order. */
START_TEST(goal_messages) {
    job *pair = begin_job(2);
    for (int rank = 0; rank < 2; rank++) {
        add(pair, rank, "call barrier 1 even -1 0 1 1\ncall bcast 1 even 1 100000 1 1\n");
        end_rank(pair, rank, 2, 1);
    }
    char expected[LONG] = "num_ranks 2\n";
    for (int rank = 0; rank < 2; rank++) {
        const char *moves = rank ? "send" : "recv", *way = rank ? "to" : "from";
        const int other = 1 - rank;
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                 "\nrank %d {\nl1: calc 1000000\n"
                 "l2: send 0b to %d tag 0\nl2 requires l1\n"
                 "l3: recv 0b from %d tag 0\nl3 requires l1\n"
                 "l4: calc 0\nl4 requires l1\nl4 requires l2\nl4 requires l3\n"
                 "l5: calc 0\nl5 requires l1\nl5 requires l4\n"
                 "l6: calc 1000000\nl6 requires l5\n"
                 "l7: %s 40000b %s %d tag 3\nl7 requires l6\n"
                 "l8: calc 0\nl8 requires l6\nl8 requires l7\n"
                 "l9: %s 40000b %s %d tag 3\nl9 irequires l7\nl9 requires l6\n"
                 "l10: calc 0\nl10 requires l6\nl10 requires l9\n"
                 "l11: %s 20000b %s %d tag 3\nl11 irequires l9\nl11 requires l6\n"
                 "l12: calc 0\nl12 requires l6\nl12 requires l11\n"
                 "l13: calc 0\nl13 requires l6\nl13 requires l8\nl13 requires l10\n"
                 "l13 requires l12\nl14: calc 1000000\nl14 requires l13\n}\n",
                 rank, other, other, moves, way, other, moves, way, other, moves, way, other);
    }
    check_goal(pair, "barrier=dissemination;bcast=chain:segment=40000", expected);
}
END_TEST

START_TEST(goal_needs_plans) {
    job *trio = begin_job(3);
    for (int rank = 0; rank < 3; rank++) {
        add(trio, rank, "call gather 1 even 0 100000 1 1\n");
        end_rank(trio, rank, 1, 1);
    }
    COLL_Record *record = read_job(trio);
    FILE *stream = fopen("/dev/null", "w");
    ck_assert_int_ne(
        COLL_Replay_goal(record, &(COLL_Cluster){.algorithms = "gather=credit"}, stream),
        MPI_SUCCESS);
    ck_assert_ptr_nonnull(
        strstr(problem, "gather of 100000 bytes is by credit, which has no plan"));
    fclose(stream);
    COLL_Record_free(record);
}
END_TEST

/* --- Placement --- */

static COLL_Placement place(const job *of, const COLL_Cluster *cluster, unsigned seed,
                            int slots[]) {
    COLL_Placement found;
    COLL_Record *record = read_job(of);
    const int code = COLL_Replay_place(record, cluster, seed, slots, &found);
    ck_assert_msg(code == MPI_SUCCESS, "%s", problem);
    COLL_Record_free(record);
    bool used[2 * MOST] = {false};
    for (int rank = 0; rank < of->ranks; rank++) {
        ck_assert(slots[rank] >= 0 && slots[rank] < cluster->slot_count && !used[slots[rank]]);
        used[slots[rank]] = true;
    }
    return found;
}

static const char *const hosts[] = {"x0", "x0", "x1", "x1", "x2", "x2", "x3", "x3"};

/* Ranks r and r + 4 exchange 1 MB, and ranks of one of two racks 1 KB. */
START_TEST(pairs_and_racks) {
    enum { RANKS = 8 };
    job *pairs = begin_job(RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        for (int peer = 0; peer < RANKS; peer++)
            if (peer % 4 == rank % 4 && peer != rank)
                add(pairs, rank, "sent %d 1 1000000\n", peer);
            else if (peer % 2 == rank % 2)
                add(pairs, rank, "sent %d 1 1000\n", peer);
        end_rank(pairs, rank, 0, 1);
    }
    write_file("topology", "SwitchName=r0 Nodes=x[0-1]\nSwitchName=r1 Nodes=x[2-3]\n"
                           "SwitchName=s Switches=r[0-1]\n");
    const COLL_Cluster cluster = {.slots = hosts, .slot_count = RANKS, .topology = "topology"};
    int slots[RANKS];
    const COLL_Placement found = place(pairs, &cluster, 1, slots);
    for (int rank = 0; rank < RANKS; rank++)
        for (int peer = 0; peer < RANKS; peer++) {
            ck_assert_int_eq(slots[rank] / 2 == slots[peer] / 2, rank % 4 == peer % 4);
            ck_assert_int_eq(slots[rank] / 4 == slots[peer] / 4, rank % 2 == peer % 2);
        }
    /* Before, rank r is in slot r, and both ranks of a host send all they have to other hosts.
     * After that they send 1 KB to each rank of one host. */
    ck_assert_double_eq_tol(found.messages[0], pass(2 * 1002e3), 1e-9);
    ck_assert_double_eq_tol(found.messages[1], pass(4e3), 1e-9);
}
END_TEST

/* A profile without the rate of the uplinks can't tell how good a placement is. */
START_TEST(unknown_uplinks) {
    job *two = begin_job(2);
    for (int rank = 0; rank < 2; rank++)
        end_rank(two, rank, 0, 1);
    write_file("topology", "SwitchName=r0 Nodes=x0\nSwitchName=r1 Nodes=x1\n"
                           "SwitchName=s Switches=r[0-1]\n");
    static const char level[] = "latency_s 1e-4 overhead_s 1e-6 per_byte_s 1e-7";
    const COLL_Cluster cluster = {
        .slots = hosts + 1, .slot_count = 2, .topology = "topology", .profile = "profile"};
    for (int known = 0; known < 2; known++) {
        char text[300];
        int slots[2];
        snprintf(text, sizeof text,
                 "libcoll-profile 3\ndate 2026-01-01T00:00:00Z\nhosts x0,x1\nlevel rack %s\n"
                 "level site %s%s\nend\n",
                 level, level, known ? " together_bytes_per_s 1e6" : "");
        write_file("profile", text);
        ck_assert_int_eq(place(two, &cluster, 1, slots).no_uplinks, !known);
    }
    /* Nor are there any in one rack. */
    int slots[2];
    ck_assert_int_eq(
        place(two, &(COLL_Cluster){.slots = hosts + 1, .slot_count = 2}, 1, slots).no_uplinks, 0);
}
END_TEST

/* Groups that call collectives come together; a free slot may be used. */
START_TEST(groups_and_free_slots) {
    job *four = begin_job(4);
    for (int rank = 0; rank < 4; rank++) {
        add(four, rank, "comm a%d %s\n", rank % 2, rank % 2 ? "1,3" : "0,2");
        add(four, rank, "call bcast a%d even 0 5000000 1 1\n", rank % 2);
        end_rank(four, rank, 1, 1);
    }
    const COLL_Cluster cluster = {.slots = hosts + 1, .slot_count = 7};
    int slots[4];
    const COLL_Placement found = place(four, &cluster, 1, slots);
    for (int rank = 0; rank < 2; rank++)
        ck_assert_str_eq(cluster.slots[slots[rank]], cluster.slots[slots[rank + 2]]);
    ck_assert(found.collectives[1] < 0.5 * found.collectives[0]);
    ck_assert(found.messages[0] == 0 && found.messages[1] == 0);
}
END_TEST

/* The placement that a good one begins with stays: nothing is better. */
START_TEST(the_recorded_placement) {
    job *four = begin_job(4);
    for (int rank = 0; rank < 4; rank++) {
        add(four, rank, "sent %d 1 1000\n", rank ^ 1);
        end_rank(four, rank, 0, 1);
    }
    /* Each rank is on a host of its own; the hostfile has them in another order. */
    static const char *const slots[] = {"h3", "h1", "h0", "h2"};
    const COLL_Cluster cluster = {.slots = slots, .slot_count = 4};
    int found[4];
    place(four, &cluster, 1, found);
    for (int rank = 0; rank < 4; rank++)
        ck_assert_int_eq(slots[found[rank]][1] - '0', rank);
    COLL_Record *record = read_job(four);
    COLL_Placement none;
    ck_assert_int_ne(COLL_Replay_place(record, &(COLL_Cluster){0}, 1, found, &none), MPI_SUCCESS);
    ck_assert_ptr_nonnull(strstr(problem, "a placement needs slots"));
    COLL_Record_free(record);
}
END_TEST

enum { SIX = 6 };

/* Returns the cost that a search minimizes, the sum of the fourth powers of the seconds of all
 * links. There are six slots on three hosts, two of them in one rack, and two uplinks. */
static double cost_of(double bytes[SIX][SIX], const int slots[]) {
    double sum = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int unit = 0; unit < 3; unit++) {
            double out = 0, in = 0;
            for (int from = 0; from < SIX; from++)
                for (int to = 0; to < SIX; to++) {
                    const int own = slots[from] / 2 / (kind + 1),
                              other = slots[to] / 2 / (kind + 1);
                    out += own == unit && other != unit ? bytes[from][to] : 0;
                    in += own != unit && other == unit ? bytes[from][to] : 0;
                }
            sum += pow(pass(fmax(out, in)) * (kind ? 2 / 3.0 : 1), 4);
        }
    return sum;
}

/* Returns the least cost of all placements of the ranks from RANK on. */
static double least_cost(double bytes[SIX][SIX], int slots[], int rank, unsigned used) {
    double least = INFINITY;
    if (rank == SIX)
        return cost_of(bytes, slots);
    for (int slot = 0; slot < SIX; slot++)
        if (!(used & 1u << slot)) {
            slots[rank] = slot;
            least = fmin(least, least_cost(bytes, slots, rank + 1, used | 1u << slot));
        }
    return least;
}

/* Writes the record of six ranks that send each other random BYTES. */
static job *make_messages(generator *random, double bytes[SIX][SIX]) {
    job *six = begin_job(SIX);
    for (int from = 0; from < SIX; from++) {
        for (int to = 0; to < SIX; to++) {
            const bool sends = to != from && below(random, 2) == 0;
            bytes[from][to] = sends ? 1000 * between(random, 1, 1000) : 0;
            if (sends)
                add(six, from, "sent %d 1 %.0f\n", to, bytes[from][to]);
        }
        add(six, from, "sent %d 9 1000000000\n", from); /* to itself: no link */
        end_rank(six, from, 0, 1);
    }
    return six;
}

/* The search finds the best of all 720 placements nearly always, and else one that costs little
 * more. */
START_TEST(random_messages) {
    enum { JOBS = 20 };
    const COLL_Cluster cluster = {.slots = hosts, .slot_count = SIX, .topology = "topology"};
    generator random = {.state = 1};
    int best = 0;
    write_file("topology", "SwitchName=r0 Nodes=x[0-1]\nSwitchName=r1 Nodes=x2\n"
                           "SwitchName=s Switches=r[0-1]\n");
    for (int i = 0; i < JOBS; i++) {
        double bytes[SIX][SIX];
        int slots[SIX], scratch[SIX];
        place(make_messages(&random, bytes), &cluster, 1, slots);
        const double more = cost_of(bytes, slots) / least_cost(bytes, scratch, 0, 0);
        ck_assert(more < 1.2);
        best += more < 1 + 1e-6;
    }
    ck_assert_int_ge(best, JOBS - 2);
}
END_TEST

static Suite *replay_suite(void) {
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, files_are_read);
    tcase_add_test(tests, many_calls_and_communicators);
    tcase_add_test(tests, bytes_of_blocks);
    tcase_add_loop_test(tests, damage_is_refused, 0, (int)(sizeof damages / sizeof *damages));
    tcase_add_test(tests, ranks_are_missing_or_too_many);
    tcase_add_test(tests, calls_follow_each_other);
    tcase_add_test(tests, calls_wait_for_each_other_forever);
    tcase_add_test(tests, a_late_rank);
    tcase_add_test(tests, who_waits_for_whom);
    tcase_add_test(tests, calls_without_a_plan);
    tcase_add_test(tests, rows_of_calls);
    tcase_add_test(tests, places_of_ranks);
    tcase_add_test(tests, wrong_clusters);
    tcase_add_test(tests, goal_text);
    tcase_add_test(tests, goal_of_another_root);
    tcase_add_test(tests, goal_messages);
    tcase_add_test(tests, goal_needs_plans);
    tcase_add_test(tests, pairs_and_racks);
    tcase_add_test(tests, unknown_uplinks);
    tcase_add_test(tests, groups_and_free_slots);
    tcase_add_test(tests, the_recorded_placement);
    tcase_add_test(tests, random_messages);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void) {
    return harness_unit(replay_suite());
}

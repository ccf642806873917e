/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the operations of coll-bench: each moves the data that its check expects, within the memory
 * for which it asks, on any number of ranks including one.
 */
#include "config.h"

#include "tests/support/harness.h"
#include "tools/bench/operation.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Bytes after the memory, to detect writes beyond its end. */
enum { GUARD = 4096, UNTOUCHED = 0xa7 };

static bool is_untouched(const unsigned char *guard) {
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != UNTOUCHED)
            return false;
    return true;
}

static void run_one(const operation *op, contender_run *by, bool nonblocking, size_t bytes,
                    int root) {
    const contender c = {.comm = MPI_COMM_WORLD, .run = by, .nonblocking = nonblocking};
    operation_run run;
    harness_assert(operation_open(&run, op, bytes, rank, ranks, root), "memory");
    size_t offset = (size_t)(run.in.at - run.buffer);
    run.buffer = realloc(run.buffer, run.room + GUARD);
    harness_assert(run.buffer, "memory");
    run.out.at = run.buffer;
    run.in.at = run.buffer + offset;
    run.seed = 7;
    memset(run.buffer + run.room, UNTOUCHED, GUARD);
    op->fill(&run);
    harness_assert(is_untouched(run.buffer + run.room), "%s of %zu bytes is filled beyond its room",
                   op->name, bytes);
    int code = by(&c, &run);
    harness_assert(code == MPI_SUCCESS, "%s: %s", op->name, harness_text(code));
    harness_assert(op->verify(&run), "%s of %zu bytes from root %d", op->name, bytes, root);
    harness_assert(is_untouched(run.buffer + run.room), "%s of %zu bytes writes beyond its room",
                   op->name, bytes);
    operation_close(&run);
}

START_TEST(operations_move_their_data_within_their_room) {
    static const size_t sizes[] = {1, 1000, 65536};
    for (int i = 0; operation_name(i); i++) {
        const operation *op = operation_find(operation_name(i));
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int root = 0; root < ranks; root++) {
                run_one(op, operation_ours, false, sizes[s], root);
                run_one(op, operation_native, false, sizes[s], root);
                run_one(op, operation_native, true, sizes[s], root);
            }
    }
}
END_TEST

/* Data that differs in one bit is detected, wherever the bit is. */
START_TEST(wrong_data_is_seen) {
    for (int i = 0; operation_name(i); i++) {
        const operation *op = operation_find(operation_name(i));
        operation_run run;
        harness_assert(operation_open(&run, op, 8, rank, ranks, 0), "memory");
        op->fill(&run);
        operation_ours(&(contender){.comm = MPI_COMM_WORLD}, &run);
        size_t bytes = (size_t)run.out.count * operation_rounded(op, 1);
        size_t unseen = 0;
        for (size_t at = 0; at < bytes; at++) {
            run.out.at[at] ^= 1;
            unseen += op->verify(&run);
            run.out.at[at] ^= 1;
        }
        bool undefined = rank == 0 && strcmp(op->name, "exscan") == 0;
        harness_assert(!unseen || undefined, "%s: %zu of %zu bytes", op->name, unseen, bytes);
        operation_close(&run);
    }
}
END_TEST

/* The computation of memory does not overflow, so that a size beyond all bounds is refused. */
START_TEST(room_does_not_overflow) {
    for (int i = 0; operation_name(i); i++) {
        const operation *op = operation_find(operation_name(i));
        operation_run run;
        ck_assert(!operation_open(&run, op, PTRDIFF_MAX, rank, ranks, 0));
        operation_close(&run);
    }
}
END_TEST

/*
 * The bytes that bound a call's time were computed by hand. For blocks of different sizes they are
 * all bytes of the busiest of 16 ranks.
 */
START_TEST(the_busiest_rank_is_the_limit) {
    static const struct {
        const char *name;
        size_t moved;
    } known[] = {{"bcast", 1120},     {"gather", 16800},    {"gatherv", 16800},
                 {"allreduce", 2100}, {"allgather", 16800}, {"allgatherv", 17320},
                 {"alltoall", 16800}, {"alltoallv", 17360}, {"reduce_scatter_block", 16800},
                 {"scatter", 16800},  {"scatterv", 16800},  {"reduce_scatter", 17320},
                 {"barrier", 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t moved = operation_moved(operation_find(known[i].name), 1120, 16, 3);
        ck_assert_msg(moved == known[i].moved, "%s: %zu bytes", known[i].name, moved);
    }
}
END_TEST

static Suite *suite(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Suite *made = suite_create("operation");
    TCase *tests = tcase_create("operation");
    tcase_add_test(tests, operations_move_their_data_within_their_room);
    tcase_add_test(tests, wrong_data_is_seen);
    tcase_add_test(tests, the_busiest_rank_is_the_limit);
    tcase_add_test(tests, room_does_not_overflow);
    suite_add_tcase(made, tests);
    return made;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 5", suite);
}

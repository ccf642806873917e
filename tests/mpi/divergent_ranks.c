/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that messages depend only on what all ranks know. Ranks that differ in everything else (a
 * trace, earlier calls, types of equal size, alignment, cached types) make the same calls with
 * every algorithm, at sizes around every threshold. Empty calls leave no message. Also tests that
 * late or missing ranks are an error with COLL_TIMEOUT, even if the MPI library's own collectives
 * run.
 */
#include "config.h"

#include "coll.h"
#include "lib/algorithm/operations.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"
#include "tests/support/ran.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int world_rank, world_ranks;

/*
 * Creates a communicator whose calls run ALGORITHM, or the automatic choice if that is NULL. If
 * TRACED, its rank 0 alone prints a trace, which is discarded.
 */
static MPI_Comm open_comm(const char *operation, const coll_algorithm *algorithm, bool traced) {
    MPI_Comm comm;
    coll_comm *state;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (traced && world_rank == 0)
        setenv("COLL_TRACE", "1", 1);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    unsetenv("COLL_TRACE");
    if (!algorithm)
        return comm;
    if (!can_run(comm, algorithm, 1, 0))
        pretend_sites(comm, 2);
    ck_assert_int_eq(COLL_Set(comm, operation, algorithm->name), MPI_SUCCESS);
    return comm;
}

/* Makes calls that only this rank makes, with a type of its own. */
static void live_ones_own_life(int round) {
    static const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_BYTE, MPI_SHORT};
    double value = 1, copy = 0;
    MPI_Datatype mine = types[(world_rank + round) % 4];
    if ((world_rank + round) % 3 == 0)
        COLL_Bcast(&value, 1, mine, 0, MPI_COMM_SELF);
    if ((world_rank + round) % 3 == 1)
        COLL_Gather(&value, 1, mine, &copy, 1, mine, 0, MPI_COMM_SELF);
}

/* Returns a layout of UNITS x 12 bytes that differs by rank and round. */
static layout own_layout(int units, int round) {
    int kinds[] = {0, 4, 1, 3, 0, 2};
    return describe(kinds[(world_rank + round) % 6], units);
}

static void *misaligned(unsigned char *memory, const layout *shape) {
    return shape->type == MPI_BYTE ? memory + world_rank % 7 : memory;
}

static bool has(const void *buffer, const layout *shape, const unsigned char *expected, int units) {
    int bytes = units * UNIT, position = 0;
    unsigned char *packed = malloc((size_t)bytes + 1);
    MPI_Pack(buffer, shape->count, shape->type, packed, bytes, &position, MPI_COMM_SELF);
    bool good = memcmp(packed, expected, (size_t)bytes) == 0;
    free(packed);
    return good;
}

static bool broadcast(MPI_Comm comm, int units, int round) {
    int root = round % world_ranks, position = 0;
    layout shape = own_layout(units, round);
    unsigned char *expected = malloc((size_t)units * UNIT);
    unsigned char *memory = calloc(1, shape.span + 8), *buffer = misaligned(memory, &shape);
    fill(expected, (size_t)units * UNIT, (unsigned)(units + round));
    if (world_rank == root)
        MPI_Unpack(expected, units * UNIT, &position, buffer, shape.count, shape.type, comm);
    bool good = COLL_Bcast(buffer, shape.count, shape.type, root, comm) == MPI_SUCCESS &&
                has(buffer, &shape, expected, units);
    forget(&shape);
    free(memory);
    free(expected);
    return good;
}

/*
 * Gathers a block of UNITS from every rank, as bytes at the root. The root's block may be in place.
 */
static bool gather(MPI_Comm comm, int units, int round) {
    int root = round % world_ranks, position = 0;
    size_t block = (size_t)units * UNIT;
    layout shape = own_layout(units, round);
    unsigned char *expected = malloc(block * (size_t)world_ranks);
    unsigned char *memory = calloc(1, shape.span + 8), *buffer = misaligned(memory, &shape);
    unsigned char *all = calloc((size_t)world_ranks, block);
    for (int rank = 0; rank < world_ranks; rank++)
        fill(expected + (size_t)rank * block, block, (unsigned)(units + round + rank));
    const unsigned char *own = expected + (size_t)world_rank * block;
    MPI_Unpack(own, (int)block, &position, buffer, shape.count, shape.type, comm);
    bool in_place = world_rank == root && round % 2;
    if (in_place)
        memcpy(all + (size_t)root * block, own, block);
    int code = COLL_Gather(in_place ? MPI_IN_PLACE : buffer, shape.count, shape.type, all,
                           (MPI_Count)block, MPI_BYTE, root, comm);
    bool good = code == MPI_SUCCESS &&
                (world_rank != root || memcmp(all, expected, block * (size_t)world_ranks) == 0);
    forget(&shape);
    free(all);
    free(memory);
    free(expected);
    return good;
}

/*
 * Tests sizes around 4 KB, 64 KB, 1 MB and 4 MB, and around these divided by the number of ranks.
 */
static void check(const char *operation, const coll_algorithm *algorithm, bool large,
                  bool (*call)(MPI_Comm, int, int)) {
    static const int units[] = {1, 341, 342, 1820, 5461, 5462, 5461, 87381, 87382, 349525, 349526};
    const char *name = algorithm ? algorithm->name : "auto";
    int count = large ? 11 : 7;
    for (int traced = 0; traced < 2; traced++) {
        MPI_Comm comm = open_comm(operation, algorithm, traced);
        for (int i = 0; i < count; i++)
            for (int round = 0; round < (i < 7 ? 5 : 2); round++) {
                live_ones_own_life(round);
                harness_assert(call(comm, units[i], round), "%s %s: %d bytes, round %d%s",
                               operation, name, units[i] * UNIT, round,
                               traced ? ", rank 0 traced" : "");
                assert_ran(comm, operation, (size_t)units[i] * UNIT, name);
            }
        MPI_Comm_free(&comm);
    }
}

START_TEST(broadcasts) {
    check("bcast", NULL, true, broadcast);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++)
        check("bcast", *a, a == coll_operations[COLL_OPERATION_BCAST].table, broadcast);
}
END_TEST

START_TEST(gathers) {
    check("gather", NULL, world_ranks < 4, gather);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        check("gather", *a, a == coll_operations[COLL_OPERATION_GATHER].table && world_ranks < 4,
              gather);
}
END_TEST

/* --- Ranks that stay away --- */

typedef int late_call(MPI_Comm comm, int absent);

static int late_bcast(MPI_Comm comm, int absent) {
    int value = 0;
    return COLL_Bcast(&value, 1, MPI_INT, absent, comm);
}

static int root_beside(int absent) {
    return (absent + 1) % world_ranks;
}

static int late_gather(MPI_Comm comm, int absent) {
    int value = 0, *all = malloc((size_t)world_ranks * sizeof *all);
    int code = COLL_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root_beside(absent), comm);
    if (code == MPI_SUCCESS) /* otherwise MPI may still write to it */
        free(all);
    else
        coll_wait_leave(all);
    return code;
}

static int late_gatherv(MPI_Comm comm, int absent) {
    static MPI_Count counts[64];
    static MPI_Aint places[64];
    int value = 0, *all = malloc((size_t)world_ranks * sizeof *all);
    for (int rank = 0; rank < world_ranks; rank++) {
        counts[rank] = 1;
        places[rank] = rank;
    }
    int code =
        COLL_Gatherv(&value, 1, MPI_INT, all, counts, places, MPI_INT, root_beside(absent), comm);
    if (code == MPI_SUCCESS)
        free(all);
    else
        coll_wait_leave(all);
    return code;
}

/*
 * The last rank does not make a call that the root cannot complete without it. FIRST says that it
 * is the first call on its communicator.
 */
static void check_absence(const char *operation, const char *spec, bool first, late_call *call) {
    int absent = world_ranks - 1, value = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (!first) {
        coll_comm *state;
        ck_assert_int_eq(COLL_Set(comm, operation, spec), MPI_SUCCESS);
        harness_assert(COLL_Bcast(&value, 1, MPI_INT, 0, comm) == MPI_SUCCESS, "without absence");
        ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
        state->wait.timeout = 0.3;
    }
    setenv("COLL_TIMEOUT", "0.3", 1);
    int code = world_rank == absent ? MPI_SUCCESS : call(comm, absent);
    unsetenv("COLL_TIMEOUT");
    /* The root waits. On the first use of a communicator all ranks but the absent one wait. */
    bool stuck = world_rank == root_beside(absent) || (first && world_rank != absent);
    harness_assert(!stuck || (harness_class(code) == MPI_ERR_OTHER &&
                              strstr(harness_text(code), "COLL_TIMEOUT")),
                   "%s %s%s: %s", operation, spec ? spec : "", first ? ", first use" : "",
                   harness_text(code));
    /* The communicator is not freed, because the operations on it never complete. */
}

START_TEST(who_stays_away_is_no_endless_wait) {
    if (world_ranks < 2)
        return;
    check_absence("bcast", NULL, true, late_bcast);
    check_absence("gather", NULL, true, late_gather);
    static const char *const specs[] = {"auto", "native", "linear"};
    for (int i = 0; i < 3; i++) {
        check_absence("bcast", specs[i], false, late_bcast);
        check_absence("gather", specs[i], false, late_gather);
        check_absence("gather", specs[i], false, late_gatherv);
    }
}
END_TEST

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((const int *)in)[i];
}

/*
 * The last call of one rank was on another communicator, so only the others take the fast path. If
 * MPI's own call is then made on some ranks only, the reduction finds a message that was left over.
 */
START_TEST(empty_calls_leave_no_message) {
    const int one = 1;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int traced = 0; traced < 2; traced++) {
        MPI_Comm comm = open_comm("allreduce", NULL, traced);
        for (int round = 0; round < 2 * world_ranks; round++) {
            int sum = 0;
            ck_assert_int_eq(COLL_Barrier(comm), MPI_SUCCESS);
            if (world_rank == round % world_ranks)
                ck_assert_int_eq(COLL_Barrier(MPI_COMM_SELF), MPI_SUCCESS);
            ck_assert_int_eq(COLL_Allreduce(&one, &sum, 0, MPI_INT, op, comm), MPI_SUCCESS);
            ck_assert_int_eq(COLL_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm), MPI_SUCCESS);
            ck_assert_int_eq(sum, world_rank == 0 ? world_ranks : 0);
        }
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&op);
}
END_TEST

/* The original stderr, while traces are discarded. */
static int stderr_kept = -1;

static void set_up(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    int nowhere = open("/dev/null", O_WRONLY);
    stderr_kept = dup(STDERR_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

static void tear_down(void) {
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
}

static Suite *alike(void) {
    Suite *suite = suite_create("divergent_ranks");
    TCase *differing = tcase_create("differing ranks"), *absent = tcase_create("absent ranks");
    TCase *empty = tcase_create("empty calls");
    tcase_add_unchecked_fixture(differing, set_up, tear_down);
    tcase_add_test(differing, broadcasts);
    tcase_add_test(differing, gathers);
    tcase_add_unchecked_fixture(empty, set_up, tear_down);
    tcase_add_test(empty, empty_calls_leave_no_message);
    tcase_add_test(absent, who_stays_away_is_no_endless_wait);
    suite_add_tcase(suite, differing);
    suite_add_tcase(suite, empty);
    suite_add_tcase(suite, absent);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "2 3 8", alike);
}

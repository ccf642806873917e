/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests autotuning while a program runs: all ranks run the same algorithm in each call, results are
 * right whatever is tried, new communicators start with the results of others, and nothing is tried
 * if that is forbidden.
 */
#include "config.h"

#include "coll.h"
#include "lib/base/agree.h"
#include "lib/tuning/autotune.h"
#include "lib/tuning/autotune_rounds.h"
#include "lib/tuning/state.h"
#include "lib/tuning/tuning_db.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 3000, SIZE = 48 << 10, OTHER = 33 << 10, SMALL = 100, TOLD = 100 << 10 };

static int world_rank, world_ranks;
static char directory[] = "/tmp/coll-learn-XXXXXX";

/* --- Communicators --- */

/*
 * Pretends that each rank is on a separate host, in two racks, or in one rack if there are two
 * ranks; or, if OF_ITS_OWN, each rank in a separate rack.
 */
static void spread(MPI_Comm comm, bool of_its_own) {
    coll_comm *state;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    pretend_layout(comm, ranks, of_its_own ? ranks : ranks > 2 ? 2 : 1);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        coll_state_of(state)->topo.places[i].node = i;
    for (int i = 0; COLL_Operation_name(i); i++) /* choices for one host are removed */
        if (!coll_state_of(state)->specs[i].algorithm)
            ck_assert_int_eq(COLL_Set(comm, COLL_Operation_name(i), "auto"), MPI_SUCCESS);
}

static MPI_Comm open_comm(const char *setting, const char *value) {
    MPI_Comm comm;
    coll_comm *state;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (setting)
        setenv(setting, value, 1);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    if (setting)
        unsetenv(setting);
    spread(comm, false);
    return comm;
}

/*
 * Returns the algorithm that calls of OPERATION with BYTES on COMM run from now on. Without an
 * algorithm, autotuning has not finished.
 */
static coll_choice settled(MPI_Comm comm, coll_operation operation, size_t bytes) {
    coll_comm *state;
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    coll_shape call = coll_state_shape(coll_state_of(state), operation, bytes,
                                       coll_operations[operation].rootless ? COLL_NO_ROOT : 0);
    bool learns;
    coll_choice choice = coll_state_choose(coll_state_of(state), &call, &learns);
    return learns ? (coll_choice){.algorithm = NULL} : choice;
}

/* --- Calls, whose results are checked --- */

typedef struct memory {
    int *send, *receive;
} memory;

/* Returns the value at PLACE that RANK sends in call TURN. */
static int value(int rank, int turn, int place) {
    return 1000003 * rank + 7919 * turn + place;
}

static bool is_from(const int *data, int count, int rank, int turn) {
    int i = 0;
    while (i < count && data[i] == value(rank, turn, i))
        i++;
    return i == count;
}

static void fill_from(int *data, int count, int rank, int turn) {
    for (int i = 0; i < count; i++)
        data[i] = value(rank, turn, i);
}

static bool call_bcast(memory *m, int count, int turn, MPI_Comm comm, int rank, int ranks) {
    int root = turn % 3 % ranks;
    COLL_Request request;
    fill_from(m->receive, count, rank == root ? root : 99, turn);
    if (turn % 5 == 4) { /* nonblocking calls come in between */
        ck_assert_int_eq(COLL_Ibcast(m->receive, count, MPI_INT, root, comm, &request),
                         MPI_SUCCESS);
        ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    } else {
        ck_assert_int_eq(COLL_Bcast(m->receive, count, MPI_INT, root, comm), MPI_SUCCESS);
    }
    return is_from(m->receive, count, root, turn);
}

static bool call_gather(memory *m, int count, int turn, MPI_Comm comm, int rank, int ranks) {
    int root = turn % 2 % ranks;
    bool good = true;
    fill_from(m->send, count, rank, turn);
    ck_assert_int_eq(COLL_Gather(m->send, count, MPI_INT, m->receive, count, MPI_INT, root, comm),
                     MPI_SUCCESS);
    for (int i = 0; rank == root && i < ranks; i++)
        good = good && is_from(m->receive + i * count, count, i, turn);
    return good;
}

static bool call_allgather(memory *m, int count, int turn, MPI_Comm comm, int rank, int ranks) {
    bool good = true;
    fill_from(m->send, count, rank, turn);
    ck_assert_int_eq(COLL_Allgather(m->send, count, MPI_INT, m->receive, count, MPI_INT, comm),
                     MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        good = good && is_from(m->receive + i * count, count, i, turn);
    return good;
}

static bool call_alltoall(memory *m, int count, int turn, MPI_Comm comm, int rank, int ranks) {
    bool good = true;
    for (int i = 0; i < ranks; i++)
        fill_from(m->send + i * count, count, 100 * rank + i, turn);
    ck_assert_int_eq(COLL_Alltoall(m->send, count, MPI_INT, m->receive, count, MPI_INT, comm),
                     MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        good = good && is_from(m->receive + i * count, count, 100 * i + rank, turn);
    return good;
}

/* Sums of integers are the same with every algorithm. */
static bool call_allreduce(memory *m, int count, int turn, MPI_Comm comm, int rank, int ranks) {
    bool good = true;
    for (int i = 0; i < count; i++)
        m->send[i] = turn + i * rank;
    ck_assert_int_eq(COLL_Allreduce(m->send, m->receive, count, MPI_INT, MPI_SUM, comm),
                     MPI_SUCCESS);
    for (int i = 0; i < count; i++)
        good = good && m->receive[i] == turn * ranks + i * (ranks * (ranks - 1) / 2);
    return good;
}

static const struct {
    coll_operation operation;
    bool (*call)(memory *m, int count, int turn, MPI_Comm comm, int rank, int ranks);
} calls[] = {
    {COLL_OPERATION_BCAST, call_bcast},         {COLL_OPERATION_GATHER, call_gather},
    {COLL_OPERATION_ALLGATHER, call_allgather}, {COLL_OPERATION_ALLTOALL, call_alltoall},
    {COLL_OPERATION_ALLREDUCE, call_allreduce},
};
enum { BCAST, ALLREDUCE = 4, CALLS = sizeof calls / sizeof *calls };

static void make_calls(int which, size_t bytes, int times, MPI_Comm comm) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    memory m = {malloc(bytes * (size_t)ranks), malloc(bytes * (size_t)ranks)};
    bool good = m.send && m.receive;
    for (int turn = 0; turn < times; turn++)
        good = calls[which].call(&m, (int)(bytes / sizeof(int)), turn, comm, rank, ranks) && good;
    harness_assert(good, "%s of %zu bytes on %d ranks",
                   coll_operations[calls[which].operation].name, bytes, ranks);
    free(m.send);
    free(m.receive);
}

/* --- Agreement --- */

/* Returns whether NUMBER is the same on all ranks of COMM. */
static bool is_common(int number, MPI_Comm comm) {
    int mine[2] = {number, -number}, most[2];
    MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, comm);
    return most[0] == -most[1];
}

static int number_of(coll_operation operation, const coll_choice *choice) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    int i = 0;
    while (choice->algorithm && table[i] != choice->algorithm)
        i++;
    return choice->algorithm ? i : -1;
}

/*
 * Returns the algorithm on which autotuning has settled, or -1, after a check that all ranks agree.
 */
static int agreed(MPI_Comm comm, coll_operation operation, size_t bytes) {
    const coll_choice choice = settled(comm, operation, bytes);
    int number = number_of(operation, &choice);
    harness_assert(is_common(number, comm), "rank %d has learnt another one", world_rank);
    return number;
}

/* --- Calls whose times are made up --- */

/*
 * Returns the algorithm of the next call of OPERATION on COMM with BYTES, and sets *TRIAL as
 * coll_autotune_begin does. Returns -1 if there is nothing left to try.
 */
static int begin(coll_comm *comm, coll_operation operation, size_t bytes, coll_autotuning **trial) {
    coll_state *state = coll_state_of(comm);
    coll_shape call = coll_state_shape(state, operation, bytes,
                                       coll_operations[operation].rootless ? COLL_NO_ROOT : 0);
    bool learns;
    coll_choice choice = coll_state_choose(state, &call, &learns);
    if (!learns)
        return -1;
    ck_assert_int_eq(coll_autotune_begin(comm, &call, &choice, trial), MPI_SUCCESS);
    return number_of(operation, &choice);
}

/* Returns the time of calls with algorithm NUMBER of its table. */
static double made_up(int number) {
    return 1e-3 * (1 + number % 3);
}

/*
 * Starts and ends calls, each as if it took SECONDS, until there is nothing left to try, but at
 * most MANY calls. If SECONDS is NULL, calls that try another algorithm than the first are really
 * made. Now and then some rank is late. Returns a bit for each algorithm that was tried.
 */
static unsigned pretend_calls(int which, size_t bytes, MPI_Comm user,
                              double (*seconds)(int number)) {
    coll_comm *comm;
    unsigned tried = 0;
    ck_assert_int_eq(coll_comm_get(user, &comm), MPI_SUCCESS);
    for (int turn = 0, first = -1; turn < MANY && comm->ranks > 1; turn++) {
        coll_autotuning *trial = NULL;
        int number = begin(comm, calls[which].operation, bytes, &trial);
        if (turn < 100 && turn % 10 == world_rank)
            usleep(500);
        if (turn < 100 || number < 0)
            harness_assert(is_common(number, user), "rank %d runs another one", world_rank);
        if (number < 0)
            break;
        first = first < 0 ? number : first;
        tried |= number != first ? 1u << number : 0;
        double took = (seconds ? seconds(number) : 1e-3) * (1 + 0.01 * world_rank);
        if (!seconds && number != first)
            make_calls(which, bytes, 1, user);
        else if (trial)
            ck_assert_int_eq(coll_autotune_end(trial, took), MPI_SUCCESS);
    }
    return tried;
}

/* --- Tests --- */

/*
 * Writes a file for this rank alone: rank 0's is good, others have different times, and the last
 * rank's is damaged.
 */
static void write_own(const char *path, MPI_Comm comm) {
    coll_comm *state;
    bool damaged = world_rank > 0 && world_rank == world_ranks - 1;
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "libcoll-learnt 3\n%016" PRIx64 " %d n0 bcast %d %s %s\n",
            coll_tuning_db_placement(&coll_state_of(state)->topo), world_ranks, 64 << 10,
            world_rank == 0 ? "binomial" : "chain", damaged ? "nonsense" : "0.001");
    ck_assert_int_eq(fclose(file), 0);
}

/* Returns the most calls after which all ranks know what rank 0 has learnt before. Every fifth call
 * of make_calls may be nonblocking, and then does not count. */
static int calls_until_told(void) {
    const int few = 2, rounds = coll_agreement_rounds(world_ranks),
              blocking = 1 + (rounds > few ? rounds : few);
    return blocking + blocking / 5;
}

START_TEST(what_rank_0_knows_holds_where_files_differ) {
    MPI_Comm comm = open_comm(NULL, NULL);
    char own[64], below[80];
    snprintf(own, sizeof own, "%s/%d", directory, world_rank);
    snprintf(below, sizeof below, "%s/libcoll", own);
    ck_assert(mkdir(own, 0777) == 0 && mkdir(below, 0777) == 0);
    setenv("XDG_CACHE_HOME", own, 1);
    char *path = coll_tuning_db_path();
    write_own(path, comm);
    make_calls(BCAST, TOLD, calls_until_told(), comm);
    int learnt = agreed(comm, COLL_OPERATION_BCAST, TOLD);
    if (world_ranks > 1)
        ck_assert_str_eq(coll_operations[COLL_OPERATION_BCAST].table[learnt]->name, "binomial");
    MPI_Comm_free(&comm);
    setenv("XDG_CACHE_HOME", directory, 1);
    ck_assert(unlink(path) == 0 && rmdir(below) == 0 && rmdir(own) == 0);
    free(path);
}
END_TEST

static bool is_in_file(const char *operation, size_t bytes) {
    char *path = coll_tuning_db_path(), line[200] = "", expected[64];
    snprintf(expected, sizeof expected, " %s %zu ", operation, bytes);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && fgets(line, sizeof line, file))
        found = found || strstr(line, expected);
    if (file)
        fclose(file);
    free(path);
    return found;
}

START_TEST(results_are_right_while_ranks_learn) {
    MPI_Comm whole = open_comm("COLL_LEARN", "all"), half;
    coll_comm *state;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    setenv("COLL_LEARN", "all", 1);
    ck_assert_int_eq(coll_comm_get(half, &state), MPI_SUCCESS);
    unsetenv("COLL_LEARN");
    spread(half, false);
    for (int which = 0; which < CALLS; which++) {
        for (int turn = 0; turn < 3; turn++) { /* sizes and communicators take turns */
            make_calls(which, SIZE, turn < 2 ? 6 : 3, whole);
            make_calls(which, SMALL, 1, whole);
            make_calls(which, OTHER, 1, whole);
            make_calls(which, SIZE, 3, half);
        }
        pretend_calls(which, SIZE, whole, NULL);
        agreed(whole, calls[which].operation, SIZE);
        make_calls(which, SIZE, 2, whole);
        make_calls(which, OTHER, 2, whole);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&whole);
}
END_TEST

/* Rank 0 announces the result with the first call, and later calls use it. The file keeps it for
 * later runs. */
START_TEST(what_is_learnt_holds_for_other_communicators) {
    MPI_Comm first = open_comm("COLL_LEARN", "all"), second = open_comm("COLL_LEARN", "all");
    int learnt = 0;
    for (int i = 0; i < 2 * CALLS; i++) {
        const int which = i / 2;
        const size_t bytes = i % 2 ? 8 << 10 : 16 << 10;
        const coll_operation operation = calls[which].operation;
        if (!pretend_calls(which, bytes, first, made_up))
            continue;
        learnt++;
        make_calls(which, bytes, calls_until_told(), second);
        ck_assert_int_ge(agreed(first, operation, bytes), 0);
        ck_assert_int_eq(agreed(second, operation, bytes), agreed(first, operation, bytes));
        harness_assert(world_rank > 0 || is_in_file(coll_operations[operation].name, bytes),
                       "%s is not kept", coll_operations[operation].name);
    }
    ck_assert(world_ranks <= 2 ||
              learnt > 0); /* with two ranks no other algorithm is likely to be faster */
    MPI_Comm_free(&second);
    MPI_Comm_free(&first);
}
END_TEST

/* Returns times with which the native algorithm is the slowest. */
static double native_loses(int number) {
    return number == 0 ? 2e-3 : 1e-3;
}

START_TEST(native_is_not_tried_where_it_lost_at_a_smaller_size) {
    MPI_Comm comm = open_comm("COLL_LEARN", "all");
    spread(comm, true); /* nothing is known of these placements */
    for (int which = 0; which < CALLS; which++) {
        int times = 0;
        for (size_t bytes = 16 << 10; bytes <= 64 << 10; bytes *= 2)
            times += pretend_calls(which, bytes + 4, comm, native_loses) & 1;
        ck_assert_int_le(times, 1);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * A communicator may be freed in the middle of its first calls, and ends the agreements that are
 * active.
 */
START_TEST(it_may_end_at_any_time) {
    for (int times = 1; times < 20; times += 3) {
        MPI_Comm comm = open_comm("COLL_LEARN", "all");
        make_calls(ALLREDUCE, (size_t)SIZE << times % 2, times, comm);
        MPI_Comm_free(&comm);
    }
}
END_TEST

static const struct {
    const char *setting, *value;
    coll_operation operation;
} left[] = {
    {"COLL_LEARN", "0", COLL_OPERATION_BCAST},
    {"COLL_DISABLE", "1", COLL_OPERATION_BCAST},
    {"COLL_BCAST", "chain", COLL_OPERATION_BCAST},
    {"COLL_LEARN", "1", COLL_OPERATION_ALLREDUCE},
    {"COLL_REPRODUCIBLE", "1", COLL_OPERATION_ALLREDUCE},
};

START_TEST(what_must_stay_is_not_learnt) {
    MPI_Comm comm = open_comm(left[_i].setting, left[_i].value);
    coll_comm *state;
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    coll_shape call =
        coll_state_shape(coll_state_of(state), left[_i].operation, SIZE,
                         coll_operations[left[_i].operation].rootless ? COLL_NO_ROOT : 0);
    for (int times = 0; times < 3; times++) {
        bool learns;
        coll_state_choose(coll_state_of(state), &call, &learns);
        ck_assert(!learns);
        make_calls(left[_i].operation == COLL_OPERATION_BCAST ? BCAST : ALLREDUCE, SIZE, 1, comm);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/* Calls that are known to be native would be chosen natively, whichever calls came before. */
START_TEST(known_native_calls_are_native) {
    enum { CLASSES = 20 };
    MPI_Comm comm = open_comm("COLL_LEARN", "0");
    coll_comm *own;
    int known = 0;
    ck_assert_int_eq(coll_comm_get(comm, &own), MPI_SUCCESS);
    for (int i = 0; i < CALLS * CLASSES; i++) {
        const coll_operation operation = calls[i / CLASSES].operation;
        (void)settled(comm, operation, (size_t)1 << i * 7 % CLASSES);
        for (size_t bytes = 1; bytes < (size_t)1 << CLASSES; bytes += 1 + bytes / 3) {
            if (!coll_state_is_native(coll_state_of(own), operation, bytes))
                continue;
            ck_assert(settled(comm, operation, bytes).algorithm->native);
            known++;
        }
    }
    ck_assert_int_gt(known, 0);
    MPI_Comm_free(&comm);
}
END_TEST

static void open_directory(void) {
    if (world_rank == 0)
        ck_assert_ptr_nonnull(mkdtemp(directory));
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("XDG_CACHE_HOME", directory, 1);
}

static void remove_directory(void) {
    char *path = coll_tuning_db_path(), below[64];
    snprintf(below, sizeof below, "%s/libcoll", directory);
    if (world_rank == 0) {
        unlink(path);
        rmdir(below);
        ck_assert_int_eq(rmdir(directory), 0);
    }
    free(path);
}

static Suite *suite(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *made = suite_create("autotune");
    TCase *tests = tcase_create("autotune");
    tcase_add_unchecked_fixture(tests, open_directory, remove_directory);
    tcase_add_test(tests, what_rank_0_knows_holds_where_files_differ);
    tcase_add_test(tests, results_are_right_while_ranks_learn);
    tcase_add_test(tests, what_is_learnt_holds_for_other_communicators);
    tcase_add_test(tests, native_is_not_tried_where_it_lost_at_a_smaller_size);
    tcase_add_test(tests, it_may_end_at_any_time);
    tcase_add_test(tests, known_native_calls_are_native);
    tcase_add_loop_test(tests, what_must_stay_is_not_learnt, 0, sizeof left / sizeof *left);
    suite_add_tcase(made, tests);
    return made;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8", suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests arguments that MPI allows and few programs use: MPI_IN_PLACE on some ranks only, no buffer
 * where none is needed, counts of intercommunicators, blocks that are far apart, and elements whose
 * type map is not in memory order.
 */
#include "config.h"

#include "coll.h"
#include "tests/support/harness.h"

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

static int rank, ranks;

/* Returns a communicator of all ranks on which OPERATION runs by SPEC. */
static MPI_Comm comm_with(const char *operation, const char *spec) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    harness_assert(COLL_Set(comm, operation, spec) == MPI_SUCCESS, "%s", spec);
    return comm;
}

/* Completes REQUEST if NONBLOCKING. */
static int finish(bool nonblocking, COLL_Request *request) {
    return nonblocking ? COLL_Wait(request) : MPI_SUCCESS;
}

/* MPICH's own exscan wants a receive buffer on rank 0, too. */
#ifdef MPICH_NUMVERSION
static const bool native_wants_buffer = true;
#else
static const bool native_wants_buffer = false;
#endif

/* Every second rank is in place; rank 0 has no receive buffer if it is not. */
START_TEST(some_ranks_scan_in_place) {
    static const char *const specs[] = {"native", "linear", "recursive_doubling"};
    enum { COUNT = 5 };
    for (int turn = 0; turn < 12; turn++) {
        const bool nonblocking = turn % 2, in_place = (rank + turn / 2) % 2;
        MPI_Comm comm = comm_with("exscan", specs[turn / 4]);
        int mine[COUNT], sums[COUNT];
        for (int i = 0; i < COUNT; i++) {
            mine[i] = rank + i;
            sums[i] = in_place ? mine[i] : -1;
        }
        COLL_Request request = COLL_REQUEST_NULL;
        const void *from = in_place ? MPI_IN_PLACE : mine;
        const bool wants_buffer = turn / 4 == 0 && native_wants_buffer;
        void *into = rank > 0 || in_place || wants_buffer ? sums : NULL;
        int code = nonblocking ? COLL_Iexscan(from, into, COUNT, MPI_INT, MPI_SUM, comm, &request)
                               : COLL_Exscan(from, into, COUNT, MPI_INT, MPI_SUM, comm);
        if (code == MPI_SUCCESS)
            code = finish(nonblocking, &request);
        bool good = code == MPI_SUCCESS;
        for (int i = 0; i < COUNT && rank > 0; i++)
            good = good && sums[i] == rank * (rank - 1) / 2 + rank * i;
        harness_assert(good, "turn %d: %s", turn, harness_text(code));
        MPI_Comm_free(&comm);
    }
}
END_TEST

START_TEST(some_ranks_reduce_scatter_in_place) {
    static const char *const specs[] = {"native", "ring", "pairwise", "circulant"};
    int counts[64], all = 0;
    MPI_Count wide[64];
    harness_assert(ranks <= 64, "too many ranks");
    for (int i = 0; i < ranks; i++)
        all += (int)(wide[i] = counts[i] = i % 3);
    int *input = malloc(((size_t)all + 1) * sizeof *input),
        *output = malloc(((size_t)all + 1) * sizeof *output);
    harness_assert(input && output, "memory");
    for (int turn = 0; turn < 16; turn++) {
        const bool nonblocking = turn % 2, in_place = (rank + turn / 2) % 2;
        MPI_Comm comm = comm_with("reduce_scatter", specs[turn / 4]);
        for (int i = 0; i < all; i++) {
            input[i] = rank + i;
            output[i] = in_place ? input[i] : -1;
        }
        COLL_Request request = COLL_REQUEST_NULL;
        const void *from = in_place ? MPI_IN_PLACE : input;
        int code = nonblocking
                       ? COLL_Ireduce_scatter(from, output, wide, MPI_INT, MPI_SUM, comm, &request)
                       : COLL_Reduce_scatter(from, output, wide, MPI_INT, MPI_SUM, comm);
        if (code == MPI_SUCCESS)
            code = finish(nonblocking, &request);
        int first = 0;
        for (int i = 0; i < rank; i++)
            first += counts[i];
        bool good = code == MPI_SUCCESS;
        for (int i = 0; i < counts[rank]; i++)
            good = good && output[i] == ranks * (ranks - 1) / 2 + ranks * (first + i);
        harness_assert(good, "turn %d: %s", turn, harness_text(code));
        MPI_Comm_free(&comm);
    }
    free(input);
    free(output);
}
END_TEST

/* A reduce_scatter between groups has a count for each rank of its own group. */
START_TEST(groups_of_different_size_reduce_scatter) {
    if (ranks < 3)
        return;
    MPI_Comm half, inter;
    const bool left = rank == 0;
    MPI_Comm_split(MPI_COMM_WORLD, left, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? 1 : 0, 3, &inter);
    const int own = left ? 1 : ranks - 1, other = ranks - own, all = ranks - 1;
    int *input = malloc((size_t)all * sizeof *input), *output = malloc((size_t)all * sizeof *input);
    MPI_Count *counts = malloc((size_t)own * sizeof *counts); /* valgrind sees reads beyond it */
    harness_assert(input && output && counts, "memory");
    for (int i = 0; i < all; i++)
        input[i] = 10 * i + 1;
    for (int i = 0; i < own; i++)
        counts[i] = all / own;
    int code = COLL_Reduce_scatter(input, output, counts, MPI_INT, MPI_SUM, inter);
    bool good = code == MPI_SUCCESS;
    for (int i = 0; i < all / own; i++)
        good = good && output[i] == other * (10 * (left ? i : rank - 1) + 1);
    harness_assert(good, "%s", harness_text(code));
    free(counts);
    free(input);
    free(output);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}
END_TEST

/* Returns a datatype of COUNT ints at an absolute address. */
static MPI_Datatype type_at(const int *memory, int count) {
    MPI_Datatype type;
    MPI_Aint address;
    MPI_Get_address(memory, &address);
    MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Blocks that are exchanged in place are in the program's data and on the stack, terabytes apart.
 */
START_TEST(blocks_in_place_are_far_apart) {
    static const char *const specs[] = {"pairwise", "linear", "tuna"};
    enum { MOST = 64, LONG = 5000 };
    static int data[MOST][LONG];
    int stack[MOST][3];
    MPI_Count counts[MOST];
    MPI_Aint places[MOST] = {0};
    MPI_Datatype types[MOST];
    harness_assert(ranks <= MOST, "too many ranks");
    for (int i = 0; i < ranks; i++) {
        /* both ranks of a pair have an equal block */
        const int count = (i + rank) % 3 == 0 ? LONG : (i + rank) % 3;
        counts[i] = 1;
        types[i] = type_at(count == LONG ? data[i] : stack[i], count);
    }
    for (int turn = 0; turn < 6; turn++) {
        const bool nonblocking = turn % 2;
        MPI_Comm comm = comm_with("alltoall", specs[turn / 2]);
        for (int i = 0; i < ranks; i++) {
            data[i][0] = data[i][LONG - 1] = stack[i][0] = stack[i][1] = 100 * rank + i;
            stack[i][2] = -1;
        }
        COLL_Request request = COLL_REQUEST_NULL;
        int code = nonblocking ? COLL_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, MPI_BOTTOM, counts,
                                                 places, types, comm, &request)
                               : COLL_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, MPI_BOTTOM, counts,
                                                places, types, comm);
        if (code == MPI_SUCCESS)
            code = finish(nonblocking, &request);
        bool good = code == MPI_SUCCESS;
        for (int i = 0; i < ranks; i++) {
            const int kept = 100 * rank + i, got = 100 * i + rank, count = (i + rank) % 3;
            good = good && data[i][0] == (count == 0 ? got : kept) &&
                   data[i][LONG - 1] == data[i][0] && stack[i][0] == (count ? got : kept) &&
                   stack[i][1] == (count == 2 ? got : kept) && stack[i][2] == -1;
        }
        harness_assert(good, "turn %d: %s", turn, harness_text(code));
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < ranks; i++)
        MPI_Type_free(&types[i]);
}
END_TEST

/* One rank sends a byte to one rank. There is nothing else to send. */
START_TEST(one_rank_sends_a_byte_to_one) {
    static const char *const specs[] = {"pairwise", "linear", "tuna"};
    MPI_Count *counts = calloc(2 * (size_t)ranks, sizeof *counts);
    MPI_Aint *places = calloc((size_t)ranks, sizeof *places);
    harness_assert(counts && places, "memory");
    MPI_Comm comm = comm_with("alltoall", specs[_i]);
    for (int pair = 0; pair < ranks * ranks; pair++) {
        const int from = pair / ranks, to = pair % ranks;
        char own = (char)(pair % 100 + 1), got = 0;
        counts[to] = rank == from;
        counts[ranks + from] = rank == to;
        int code = COLL_Alltoallv(&own, counts, places, MPI_BYTE, &got, counts + ranks, places,
                                  MPI_BYTE, comm);
        harness_assert(code == MPI_SUCCESS && got == (rank == to ? own : 0),
                       "%s, from %d to %d: %s", specs[_i], from, to, harness_text(code));
        counts[to] = counts[ranks + from] = 0;
    }
    MPI_Comm_free(&comm);
    free(counts);
    free(places);
}
END_TEST

/* The operand with the larger key wins. In memory the value comes first, in the type map the key.
 */
typedef struct entry {
    double value, key;
} entry;

static void keep_larger(void *from, void *into, int *count, MPI_Datatype *type) {
    entry *others = from, *own = into;
    (void)type;
    for (int i = 0; i < *count; i++)
        if (others[i].key > own[i].key)
            own[i] = others[i];
}

START_TEST(type_maps_may_have_another_order) {
    enum { COUNT = 40 };
    static const struct {
        const char *operation, *spec;
    } calls[] = {{"reduce", "binomial"},        {"reduce", "chain"},     {"reduce", "two_tree"},
                 {"allreduce", "binomial"},     {"allreduce", "ring"},   {"allreduce", "two_level"},
                 {"allreduce", "multi_leader"}, {"allreduce", "halving"}};
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {offsetof(entry, key), offsetof(entry, value)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(keep_larger, 1, &op);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        MPI_Comm comm = comm_with(calls[c].operation, calls[c].spec);
        entry mine[COUNT], best[COUNT] = {{0, 0}};
        for (int i = 0; i < COUNT; i++)
            mine[i] = (entry){.key = (rank * 7 + i) % ranks, .value = -rank};
        int code = calls[c].operation[0] == 'r' ? COLL_Reduce(mine, best, COUNT, type, op, 0, comm)
                                                : COLL_Allreduce(mine, best, COUNT, type, op, comm);
        bool good = code == MPI_SUCCESS;
        entry *expected = malloc(COUNT * sizeof *expected);
        harness_assert(expected, "memory");
        MPI_Allreduce(mine, expected, COUNT, type, op, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT && (calls[c].operation[0] != 'r' || rank == 0); i++)
            good = good && best[i].key == expected[i].key;
        free(expected);
        harness_assert(good, "%s %s: %s", calls[c].operation, calls[c].spec, harness_text(code));
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}
END_TEST

/* Rank 0 has used another communicator last, so it alone doesn't take the fast path. */
START_TEST(neighbours_take_different_paths) {
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, weight = 1;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight,
                                   MPI_INFO_NULL, 0, &graph);
    COLL_Barrier(graph);
    if (rank == 0)
        COLL_Barrier(MPI_COMM_SELF);
    int received = -1,
        code = COLL_Neighbor_alltoall(&rank, 1, MPI_INT, &received, 1, MPI_INT, graph);
    harness_assert(code == MPI_SUCCESS && received == before, "%s", harness_text(code));
    MPI_Comm_free(&graph);
}
END_TEST

static Suite *suite(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Suite *made = suite_create("rare_arguments");
    TCase *tests = tcase_create("rare_arguments");
    tcase_add_test(tests, some_ranks_scan_in_place);
    tcase_add_test(tests, some_ranks_reduce_scatter_in_place);
    tcase_add_test(tests, groups_of_different_size_reduce_scatter);
    tcase_add_test(tests, blocks_in_place_are_far_apart);
    tcase_add_loop_test(tests, one_rank_sends_a_byte_to_one, 0, 3);
    tcase_add_test(tests, type_maps_may_have_another_order);
    tcase_add_test(tests, neighbours_take_different_paths);
    suite_add_tcase(made, tests);
    return made;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8 13", suite);
}

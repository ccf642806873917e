/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests more than 2 GB with every algorithm and 2 ranks: in one message, and as the sum of smaller
 * blocks. Takes about 5 GB of memory. Skipped if COLL_TEST_LARGE=0 is set or less than 8 GB are
 * free.
 */
#include "coll.h"
#include "lib/algorithm/operations.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "tests/support/harness.h"
#include "tests/support/ran.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, ROOT = 1 };

static const size_t words = ((size_t)2 << 30) / 8 + 12345;
static uint64_t factor = 0x9e3779b97f4a7c15u;

static int world_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Fills words FROM to UNTIL of the data. */
static void fill(uint64_t *data, size_t from, size_t until) {
    for (size_t i = from; i < until; i++)
        data[i - from] = i * factor;
}

static bool is_whole(const uint64_t *data) {
    for (size_t i = 0; i < words; i++)
        if (data[i] != i * factor)
            return false;
    return true;
}

static bool broadcast(uint64_t *data, MPI_Comm comm) {
    if (world_rank() == ROOT)
        fill(data, 0, words);
    return COLL_Bcast(data, (MPI_Count)(words * 8), MPI_BYTE, ROOT, comm) == MPI_SUCCESS &&
           is_whole(data);
}

/* Gathers half of the data from each rank; the root's half is in place. */
static bool gather_halves(uint64_t *data, MPI_Comm comm) {
    bool is_root = world_rank() == ROOT;
    size_t half = words / 2, begin = is_root ? half : 0;
    fill(is_root ? data + begin : data, begin, begin + half);
    if (is_root)
        data[words - 1] = (words - 1) * factor; /* this word is in no block */
    return COLL_Gather(is_root ? MPI_IN_PLACE : data, (MPI_Count)half, MPI_UINT64_T, data,
                       (MPI_Count)half, MPI_UINT64_T, ROOT, comm) == MPI_SUCCESS &&
           (!is_root || is_whole(data));
}

/* Gathers all data from the other rank. */
static bool gather_from_one(uint64_t *data, MPI_Comm comm) {
    bool is_root = world_rank() == ROOT;
    const MPI_Count counts[] = {(MPI_Count)words, 0};
    const MPI_Aint displacements[] = {0, 0};
    if (!is_root)
        fill(data, 0, words);
    return COLL_Gatherv(data, is_root ? 0 : (MPI_Count)words, MPI_UINT64_T, is_root ? data : NULL,
                        counts, displacements, MPI_UINT64_T, ROOT, comm) == MPI_SUCCESS &&
           (!is_root || is_whole(data));
}

/*
 * Sends all words with ALGORITHM by TRANSFER, a call of BYTES. Each time the words differ, but the
 * memory is the same, because allocating memory takes longer than filling it.
 */
static void check(const char *operation, const coll_algorithm *algorithm, size_t bytes,
                  bool (*transfer)(uint64_t *data, MPI_Comm comm)) {
    static uint64_t *data;
    MPI_Comm comm = dup_for(MPI_COMM_WORLD, algorithm);
    if (!data)
        data = calloc(words, sizeof *data);
    factor += 2;
    bool good = data && COLL_Set(comm, operation, algorithm->name) == MPI_SUCCESS;
    good = harness_agree(good) && transfer(data, comm);
    harness_assert(good, "%s", algorithm->name);
    assert_ran(comm, operation, bytes, algorithm->name);
    MPI_Comm_free(&comm);
}

START_TEST(broadcasts) {
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++)
        check("bcast", *a, words * 8, broadcast);
}
END_TEST

START_TEST(gathers) {
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        check("gather", *a, words / 2 * 8, gather_halves);
}
END_TEST

START_TEST(gathers_from_one) {
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        if (can_run(MPI_COMM_WORLD, *a, COLL_BYTES_UNKNOWN, ROOT))
            check("gather", *a, COLL_BYTES_UNKNOWN, gather_from_one);
}
END_TEST

/*
 * Broadcasts more with MPI's own function than one of its calls can send, between ranks that know
 * different things: in an earlier gather the root's data was in place, so only the others have used
 * the type.
 */
START_TEST(ranks_that_know_different_things) {
    size_t bytes = (size_t)320 << 20, count = bytes / sizeof(uint64_t);
    uint64_t mine = 1, both[2] = {0};
    uint64_t *data = calloc(count, sizeof *data);
    bool is_root = world_rank() == ROOT;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    COLL_Gather(is_root ? MPI_IN_PLACE : &mine, 1, MPI_UINT64_T, both, 1, MPI_UINT64_T, ROOT, comm);
    for (int call = 0; call < 3; call++) {
        memset(data, 0, bytes);
        if (is_root)
            fill(data, 0, count);
        int code = call == 1 && is_root
                       ? COLL_Bcast(data, (MPI_Count)bytes, MPI_BYTE, ROOT, comm)
                       : COLL_Bcast(data, (MPI_Count)count, MPI_UINT64_T, ROOT, comm);
        bool good = code == MPI_SUCCESS;
        for (size_t i = 0; i < count && good; i++)
            good = data[i] == i * factor;
        harness_assert(good, "call %d", call);
    }
    MPI_Comm_free(&comm);
    free(data);
}
END_TEST

static Suite *large(void) {
    Suite *suite = suite_create("large");
    TCase *tests = tcase_create("2 GB");
    tcase_add_test(tests, ranks_that_know_different_things);
    tcase_add_test(tests, broadcasts);
    tcase_add_test(tests, gathers);
    tcase_add_test(tests, gathers_from_one);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    const char *wanted = getenv("COLL_TEST_LARGE");
    long free_pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    bool room = free_pages > 0 && (double)free_pages * (double)page > 8e9;
    if (argc > 1 && (!room || (wanted && strcmp(wanted, "0") == 0))) {
        fprintf(stderr, "skipped: %s\n", room ? "COLL_TEST_LARGE=0" : "less than 8 GB free");
        return SKIPPED;
    }
    return harness_main(argc, argv, "2", large);
}

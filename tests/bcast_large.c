/*
 * More than 2 GB in one call, by every algorithm, with 2 ranks. Takes some 5 GB of memory: skipped
 * when COLL_TEST_LARGE=0 is set or less than 8 GB are free.
 */
#include "coll.h"
#include "lib/bcast/bcast.h"
#include "tests/harness.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static const size_t words = ((size_t)2 << 30) / 8 + 12345;
static const uint64_t factor = 0x9e3779b97f4a7c15u;

static bool all_arrives(const char *spec) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t *data = calloc(words, sizeof *data);
    bool good = data && COLL_Set(MPI_COMM_WORLD, "bcast", spec) == MPI_SUCCESS;
    if (!harness_agree(good)) {
        free(data);
        return false;
    }
    for (size_t i = 0; i < words && rank == 1; i++)
        data[i] = i * factor;
    good = COLL_Bcast(data, (MPI_Count)(words * 8), MPI_BYTE, 1, MPI_COMM_WORLD) == MPI_SUCCESS;
    for (size_t i = 0; i < words && good; i++)
        good = data[i] == i * factor;
    free(data);
    return good;
}

START_TEST(more_than_2_gb) {
    for (const coll_algorithm *const *a = coll_bcast_table; *a; a++)
        harness_assert(all_arrives((*a)->name), "%s", (*a)->name);
}
END_TEST

static Suite *bcast_large(void) {
    Suite *suite = suite_create("bcast_large");
    TCase *tests = tcase_create("2 GB");
    tcase_add_test(tests, more_than_2_gb);
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
    return harness_main(argc, argv, "2", bcast_large);
}

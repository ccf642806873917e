/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests every broadcast algorithm of the table at every root, with contiguous, vector, struct and
 * resized data, the same on all ranks or different at the root, on real and on imagined placements
 * of the ranks on nodes and racks. Compares received data, and memory that must not change, with
 * MPI_Bcast.
 */
#include "config.h"

#include "coll.h"
#include "coll_component.h"
#include "lib/bcast/bcast.h"
#include "lib/comm/setup.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"
#include "tests/support/ran.h"

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int world_rank, world_ranks;

/*
 * Makes one broadcast. MINE describes this rank's buffer; the payload at ROOT is that of SEED.
 * Returns whether it arrived.
 */
static bool arrives(MPI_Comm comm, int root, const layout *mine, int units, unsigned seed) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    size_t payload_bytes = (size_t)units * UNIT;
    unsigned char *buffer = malloc(mine->span + 1), *expected = malloc(mine->span + 1);
    unsigned char *payload = malloc(payload_bytes + 1);
    fill(buffer, mine->span, seed + 1 + (unsigned)rank);
    fill(payload, payload_bytes, seed);
    int position = 0;
    if (rank == root)
        MPI_Unpack(payload, (int)payload_bytes, &position, buffer, mine->count, mine->type, comm);
    memcpy(expected, buffer, mine->span);

    /* MPI's own broadcast sends the payload as bytes, because it is wrong for mixed signatures. */
    memset(payload, 0, payload_bytes);
    if (rank == root)
        fill(payload, payload_bytes, seed);
    MPI_Bcast(payload, (int)payload_bytes, MPI_BYTE, root, comm);
    position = 0;
    MPI_Unpack(payload, (int)payload_bytes, &position, expected, mine->count, mine->type, comm);

    int code = COLL_Bcast(buffer, mine->count, mine->type, root, comm);
    bool good = code == MPI_SUCCESS && memcmp(buffer, expected, mine->span) == 0;
    free(buffer);
    free(expected);
    free(payload);
    return good;
}

/*
 * Tests all roots and combinations of layouts for one size, with SPEC. The root has layout KIND,
 * the others KIND + shift.
 */
static void check_all(MPI_Comm comm, const char *spec, int units) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    ck_assert_int_eq(COLL_Set(comm, "bcast", spec), MPI_SUCCESS);
    bool many = ranks > 5; /* then one mixture is enough, and half of the layouts of each root */
    for (int root = 0; root < ranks; root++)
        for (int kind = many ? (root + units) % 2 : 0; kind < LAYOUTS; kind += many ? 2 : 1)
            for (int mixture = many ? 2 : 0; mixture < 3; mixture++) {
                int other = (kind + mixture + (mixture == 2 ? rank : 0)) % LAYOUTS;
                layout mine = describe(rank == root ? kind : other, units);
                bool good = arrives(comm, root, &mine, units, (unsigned)(units * 31 + root));
                harness_assert(good, "%s: root %d of %d, %d bytes, %s here, mixture %d", spec, root,
                               ranks, units * UNIT, mine.name, mixture);
                assert_ran(comm, "bcast", (size_t)(units * UNIT), spec);
                forget(&mine);
            }
}

/* Small chunks, so that few bytes test every edge of the pipeline. */
static const char *small_spec(const coll_algorithm *algorithm) {
    if (strcmp(algorithm->name, "chain") == 0)
        return "chain:chunk=48,window=3";
    if (strcmp(algorithm->name, "circulant") == 0)
        return "circulant:block=48,window=3";
    if (strcmp(algorithm->name, "two_tree") == 0)
        return "two_tree:chunk=48,window=3";
    if (strcmp(algorithm->name, "hlot") == 0)
        return "hlot:segment=48,window=3";
    if (strcmp(algorithm->name, "flat") == 0)
        return "flat:segment=48,window=2";
    return algorithm->name;
}

START_TEST(all_roots_layouts_and_sizes) {
    static const int units[] = {0, 1, 3, 4, 5, 57};
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++) {
        MPI_Comm comm = dup_for(MPI_COMM_WORLD, *a);
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            check_all(comm, small_spec(*a), units[i]);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Algorithms for sites are tested below. */
START_TEST(scattered_over_nodes_and_racks) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pretend_layout(comm, 5, 2);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++)
        if (can_run(comm, *a, 1, 0))
            check_all(comm, small_spec(*a), 21);
    check_all(comm, "auto", 21);
    MPI_Comm_free(&comm);
}
END_TEST

/* Each rank count tries other algorithms on a number of sites. */
START_TEST(scattered_over_sites) {
    static const char *const specs[] = {"hlot:segment=48,window=3", "flat:segment=36,window=1",
                                        "hlot:plus=0,segment=1M", "auto"};
    for (int sites = 2; sites <= 6 && sites <= world_ranks; sites++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        pretend_sites(comm, sites);
        for (int i = 0; i < 2; i++)
            check_all(comm, specs[(sites + world_ranks + i) % 4], 21);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Tests byte counts around the chunk, which need not be a multiple of an element. */
/* All ranks get the error of rank 0's file, and can go on. */
START_TEST(a_bad_file_of_latencies) {
    MPI_Comm comm;
    int number = world_rank ? 0 : 42;
    if (world_ranks < 2)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    setenv("COLL_LATENCIES", "/dev/null/missing", 1);
    pretend_sites(comm, world_ranks);
    unsetenv("COLL_LATENCIES");
    ck_assert_int_eq(COLL_Set(comm, "bcast", "hlot"), MPI_SUCCESS);
    for (int time = 0; time < 2; time++) {
        const int code = COLL_Bcast(&number, 1, MPI_INT, 0, comm);
        harness_assert(harness_class(code) == MPI_ERR_FILE, "%s", harness_text(code));
    }
    ck_assert_int_eq(COLL_Set(comm, "bcast", "binomial"), MPI_SUCCESS);
    const int code = COLL_Bcast(&number, 1, MPI_INT, 0, comm);
    harness_assert(code == MPI_SUCCESS && number == 42, "%s", harness_text(code));
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(bytes_around_the_chunk) {
    static const char *const specs[] = {"chain:chunk=64,window=1",     "chain:chunk=64,window=2",
                                        "chain:chunk=1,window=5",      "chain:chunk=1M,window=1024",
                                        "circulant:block=64,window=1", "circulant:block=1",
                                        "circulant:block=63,window=2", "circulant",
                                        "two_tree:chunk=64,window=1",  "two_tree:chunk=1",
                                        "two_tree:chunk=63,window=2",  "two_tree"};
    static const int sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 1000};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "bcast", specs[s]), MPI_SUCCESS);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int root = 0; root < world_ranks; root++) {
                unsigned char bytes[1000], expected[1000];
                fill(expected, sizeof expected, (unsigned)root);
                fill(bytes, sizeof bytes, world_rank == root ? (unsigned)root : 99);
                fill(expected + sizes[i], sizeof expected - (size_t)sizes[i], 7);
                fill(bytes + sizes[i], sizeof bytes - (size_t)sizes[i], 7);
                int code = COLL_Bcast(bytes, sizes[i], MPI_CHAR, root, MPI_COMM_WORLD);
                harness_assert(code == MPI_SUCCESS && memcmp(bytes, expected, sizeof bytes) == 0,
                               "%s, %d bytes from %d", specs[s], sizes[i], root);
                assert_ran(MPI_COMM_WORLD, "bcast", (size_t)sizes[i], specs[s]);
            }
    }
}
END_TEST

/* Tests default parameters with data of several chunks that is not contiguous. */
START_TEST(megabytes) {
    int units = (3 << 20) / UNIT + 5;
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++) {
        MPI_Comm comm = dup_for(MPI_COMM_WORLD, *a);
        ck_assert_int_eq(COLL_Set(comm, "bcast", (*a)->name), MPI_SUCCESS);
        for (int kind = 0; kind < 2; kind++) {
            int root = world_ranks / 2;
            layout mine = describe(world_rank == root ? 0 : kind, units);
            harness_assert(arrives(comm, root, &mine, units, 5), "%s: %s", (*a)->name, mine.name);
            assert_ran(comm, "bcast", (size_t)units * UNIT, (*a)->name);
            forget(&mine);
        }
        MPI_Comm_free(&comm);
    }
}
END_TEST

/*
 * Broadcasts in two halves at the same time, with ranks in reverse order. The states of
 * communicators do not mix.
 */
START_TEST(sub_communicators) {
    MPI_Comm even_or_odd;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &even_or_odd);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++) {
        int rank, ranks;
        MPI_Comm half = dup_for(even_or_odd, *a);
        MPI_Comm_rank(half, &rank);
        MPI_Comm_size(half, &ranks);
        ck_assert_int_eq(COLL_Set(half, "bcast", (*a)->name), MPI_SUCCESS);
        bool good = true;
        for (int root = 0; root < ranks; root++) {
            int value = rank == root ? 1000 * (world_rank % 2) + root : -1;
            good = COLL_Bcast(&value, 1, MPI_INT, root, half) == MPI_SUCCESS && good;
            good = value == 1000 * (world_rank % 2) + root && good;
        }
        harness_assert(good, "%s over halves", (*a)->name);
        assert_ran(half, "bcast", sizeof(int), (*a)->name);
        MPI_Comm_free(&half);
    }
    MPI_Comm_free(&even_or_odd);
}
END_TEST

START_TEST(bad_arguments_are_errors_of_the_communicator) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int value = 0;
    harness_assert(harness_class(COLL_Bcast(&value, 1, MPI_INT, world_ranks, comm)) == MPI_ERR_ROOT,
                   "root beyond the end");
    harness_assert(harness_class(COLL_Bcast(&value, 1, MPI_INT, -1, comm)) == MPI_ERR_ROOT,
                   "root -1");
    harness_assert(harness_class(COLL_Bcast(&value, -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT,
                   "count -1");
    harness_assert(harness_class(COLL_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm)) == MPI_ERR_TYPE,
                   "null type");
    harness_assert(harness_class(COLL_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm)) == MPI_ERR_BUFFER,
                   "in place");
    harness_assert(harness_class(COLL_Bcast(NULL, 1, MPI_INT, 0, comm)) == MPI_ERR_BUFFER,
                   "null buffer");
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    harness_assert(harness_class(COLL_Bcast(&value, 1, uncommitted, 0, comm)) == MPI_ERR_TYPE,
                   "uncommitted type");
    MPI_Type_free(&uncommitted);
    harness_assert(harness_class(COLL_Set(comm, "bcast", "nonsense")) == MPI_ERR_ARG,
                   "unknown name");
    harness_assert(harness_class(COLL_Set(comm, "scater", "auto")) == MPI_ERR_ARG,
                   "unknown operation");
    harness_assert(COLL_Bcast(&value, 1, MPI_INT, 0, comm) == MPI_SUCCESS, "usable afterwards");
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(bad_settings_are_the_same_error_everywhere) {
    static const struct {
        const char *name, *value, *part;
    } cases[] = {
        {"COLL_BCAST", "nonsense", "COLL_BCAST=nonsense: unknown algorithm; allowed: auto, native"},
        {"COLL_TIMEOUT", "-1", "COLL_TIMEOUT=-1: must be seconds"},
        {"COLL_TOPOLOGY", "/nonexistent/topology.conf", "/nonexistent/topology.conf"},
        {"COLL_BCSAT", "chain", "unknown setting COLL_BCSAT; known: COLL_BCAST"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (world_rank == 0)
            setenv(cases[i].name, cases[i].value, 1);
        int value = 0, code = COLL_Bcast(&value, 1, MPI_INT, 0, comm);
        unsetenv(cases[i].name);
        const char *text = harness_text(code);
        harness_assert(strstr(text, cases[i].part), "%s: \"%s\"", cases[i].name, text);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Rank 0's environment holds for all: mpirun need not export it to other hosts. */
START_TEST(rank_0_decides_the_settings) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    setenv("COLL_BCAST", world_rank ? "linear" : "chain:chunk=2K", 1);
    coll_comm *state;
    int code = coll_comm_get(comm, &state);
    unsetenv("COLL_BCAST");
    harness_assert(code == MPI_SUCCESS, "state");
    harness_assert(coll_state_of(state)->specs[COLL_OPERATION_BCAST].algorithm ==
                           &coll_bcast_chain &&
                       coll_state_of(state)->specs[COLL_OPERATION_BCAST].values.at[0] == 2048,
                   "rank 0's word on every rank");
    MPI_Comm_free(&comm);
}
END_TEST

/* Open MPI 5 drops keys that it doesn't know itself. */
static bool has_info_key(MPI_Comm comm, const char *key) {
    MPI_Info info;
    int length, found;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_valuelen(info, key, &length, &found);
    MPI_Info_free(&info);
    return found;
}

/* The info with which a communicator is made has precedence over the environment. */
START_TEST(the_info_key_is_obeyed) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_bcast", "two_tree:chunk=3K");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    setenv("COLL_BCAST", "linear", 1);
    coll_comm *state;
    int code = coll_comm_get(comm, &state);
    unsetenv("COLL_BCAST");
    harness_assert(code == MPI_SUCCESS, "state");
    const coll_spec *spec = &coll_state_of(state)->specs[COLL_OPERATION_BCAST];
    if (has_info_key(comm, "coll_bcast"))
        harness_assert(spec->algorithm == &coll_bcast_two_tree && spec->values.at[0] == 3072,
                       "the communicator's word on every rank");
    else
        harness_skip("the info key, which this MPI library drops");
    MPI_Comm_free(&comm);
}
END_TEST

/* For communicators of all ranks. */
static int find_world_ranks(MPI_Comm comm, int found[]) {
    (void)comm;
    for (int rank = 0; rank < world_ranks; rank++)
        found[rank] = rank;
    return 1;
}

/* COLL_DISABLE has precedence over the info key, also in a job that is set up as a whole. */
START_TEST(an_info_key_does_not_enable) {
    static const COLL_Transport transport = {MPI_Isend, MPI_Irecv, find_world_ranks};
    for (int whole = 0; whole < 2; whole++) {
        MPI_Comm comm;
        MPI_Info info;
        coll_comm *state;
        setenv("COLL_DISABLE", "1", 1);
        if (whole) {
            coll_comm_forget(MPI_COMM_WORLD);
            ck_assert_int_eq(COLL_Setup_job(&transport), MPI_SUCCESS);
        }
        MPI_Info_create(&info);
        MPI_Info_set(info, "coll_bcast", "two_tree");
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
        MPI_Info_free(&info);
        ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
        unsetenv("COLL_DISABLE");
        harness_assert(coll_state_always_native(coll_state_of(state), COLL_OPERATION_BCAST),
                       "%s runs",
                       coll_state_of(state)->specs[COLL_OPERATION_BCAST].algorithm->name);
        MPI_Comm_free(&comm);
    }
    coll_setup_begin_job(NULL); /* other communicators are set up as usual */
}
END_TEST

START_TEST(intercommunicators_stand_back_to_mpi) {
    if (world_ranks < 2)
        return;
    MPI_Comm half, inter;
    bool left = world_rank < world_ranks / 2;
    MPI_Comm_split(MPI_COMM_WORLD, left, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? world_ranks / 2 : 0, 3, &inter);
    int value = world_rank == 0 ? 42 : 0;
    int root = !left ? 0 : world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    int code = COLL_Bcast(&value, 1, MPI_INT, root, inter);
    bool expected = left && world_rank ? value == 0 : value == 42;
    harness_assert(code == MPI_SUCCESS && expected, "value %d", value);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}
END_TEST

/* A communicator is made and freed many times, and nothing of it may be left. */
START_TEST(states_come_and_go) {
    for (int i = 0; i < 200; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        int value = world_rank == 0 ? i : -1;
        int code = COLL_Bcast(&value, 1, MPI_INT, 0, comm);
        MPI_Comm_free(&comm);
        harness_assert(code == MPI_SUCCESS && value == i, "round %d", i);
    }
}
END_TEST

/* Returns the bytes of COMM's scratch memory that are resident. */
static size_t resident(const coll_comm *comm) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), scratch = (uintptr_t)comm->scratch,
                    from = scratch / page * page,
                    pages = (scratch + comm->scratch_bytes - from) / page;
    unsigned char *there = malloc(pages);
    size_t count = 0;
    if (!comm->scratch)
        return 0;
    ck_assert_int_eq(mincore((void *)from, pages * page, there), 0);
    for (size_t i = 0; i < pages; i++)
        count += there[i] & 1;
    free(there);
    return count * page;
}

/* A communicator keeps the addresses of its scratch memory for later calls, but not the memory. */
START_TEST(packed_copies_leave_memory) {
    enum { COUNT = 4 << 20, KEPT = 5 << 20 };
    MPI_Comm comm;
    MPI_Datatype gaps;
    coll_comm *state;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(COUNT, 1, 2, MPI_SHORT, &gaps);
    MPI_Type_commit(&gaps);
    short *data = calloc(2 * COUNT, sizeof *data), *last = data + 2 * COUNT - 2;
    *last = world_rank == 0 ? 7 : 0;
    int code = COLL_Bcast(data, 1, gaps, 0, comm);
    harness_assert(code == MPI_SUCCESS && *last == 7, "%s", harness_text(code));
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    harness_assert(world_ranks == 1 || state->scratch_bytes >= COUNT * sizeof *data, "%zu bytes",
                   state->scratch_bytes);
    harness_assert(resident(state) <= KEPT, "%zu bytes", resident(state));
    free(data);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
}
END_TEST

static Suite *bcast(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("bcast");
    TCase *tests = tcase_create("all algorithms");
    tcase_add_test(tests, all_roots_layouts_and_sizes);
    tcase_add_test(tests, scattered_over_nodes_and_racks);
    tcase_add_test(tests, scattered_over_sites);
    tcase_add_test(tests, a_bad_file_of_latencies);
    tcase_add_test(tests, bytes_around_the_chunk);
    tcase_add_test(tests, megabytes);
    tcase_add_test(tests, sub_communicators);
    tcase_add_test(tests, bad_arguments_are_errors_of_the_communicator);
    tcase_add_test(tests, bad_settings_are_the_same_error_everywhere);
    tcase_add_test(tests, rank_0_decides_the_settings);
    tcase_add_test(tests, the_info_key_is_obeyed);
    tcase_add_test(tests, an_info_key_does_not_enable);
    tcase_add_test(tests, intercommunicators_stand_back_to_mpi);
    tcase_add_test(tests, states_come_and_go);
    tcase_add_test(tests, packed_copies_leave_memory);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8 13 free:2", bcast);
}

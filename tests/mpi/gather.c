/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests every gather algorithm of the table at every root, even and uneven, with contiguous,
 * vector, struct and resized data, the same on all ranks or different at the root, on real and on
 * imagined placements of the ranks on nodes and racks. Compares received data, and memory that must
 * not change, with MPI_Gatherv.
 */
#include "config.h"

#include "coll.h"
#include "lib/algorithm/operations.h"
#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"
#include "tests/support/ran.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank, world_ranks;

/*
 * Replaces libcoll's test of some requests. If several are about to complete, MPI libraries differ
 * in how many of them one test finds. Here it can be made to find all.
 */
static bool found_together;

int PMPI_Testsome(int count, MPI_Request requests[], int *completed, int indices[],
                  MPI_Status statuses[]) {
    for (int i = 0; i < count && found_together; i++)
        for (int done = 0; !done;)
            MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    return MPI_Testsome(count, requests, completed, indices, statuses);
}

/* A gather: how much each rank sends, and where the root receives it. */
typedef struct plan {
    MPI_Comm comm;
    int rank, ranks, root;
    bool even; /* by COLL_Gather, otherwise by COLL_Gatherv */
    bool in_place;
    int units[64];       /* of each rank */
    layout mine, theirs; /* this rank's data, and the root's description of the longest block */
    MPI_Count
        counts[64]; /* counts of the root's datatype, and the places of blocks in its extents */
    MPI_Aint places[64];
    size_t span; /* bytes of the root's buffer */
} plan;

static int longest_units(const plan *p) {
    int longest = 0;
    for (int i = 0; i < p->ranks; i++)
        longest = p->units[i] > longest ? p->units[i] : longest;
    return longest;
}

/*
 * Places even blocks one after the other, and uneven ones in the opposite order with gaps between
 * them.
 */
static void place_blocks(plan *p) {
    MPI_Aint lower, extent, next = 0;
    MPI_Type_get_extent(p->theirs.type, &lower, &extent);
    int longest = longest_units(p), per_unit = longest ? p->theirs.count / longest : 0;
    for (int i = 0; i < p->ranks; i++) {
        int rank = p->even ? i : p->ranks - 1 - i;
        p->counts[rank] = p->even ? p->theirs.count : p->units[rank] * per_unit;
        p->places[rank] = next;
        next += (MPI_Aint)p->counts[rank] + (p->even ? 0 : 1);
    }
    p->span = (size_t)next * (size_t)extent + p->theirs.span;
}

/* Returns the payload of RANK, of exactly its size. */
static unsigned char *payload_of(const plan *p, int rank) {
    size_t bytes = (size_t)p->units[rank] * UNIT;
    unsigned char *payload = malloc(bytes + 1);
    fill(payload, bytes, (unsigned)(1000 * p->root + rank + 7 * p->units[rank]));
    return payload;
}

static void unpack(const plan *p, const unsigned char *payload, int rank, unsigned char *buffer,
                   MPI_Count count, MPI_Datatype type) {
    int position = 0;
    MPI_Unpack(payload, p->units[rank] * UNIT, &position, buffer, (int)count, type, p->comm);
}

/* Gathers the payloads as bytes with MPI_Gatherv, and lays them out as the root describes them. */
static void expect(const plan *p, unsigned char *expected) {
    int counts[64], places[64], total = 0;
    for (int i = 0; i < p->ranks; i++) {
        counts[i] = p->units[i] * UNIT;
        places[i] = total;
        total += counts[i];
    }
    unsigned char *mine = payload_of(p, p->rank), *all = malloc((size_t)total + 1);
    MPI_Gatherv(mine, counts[p->rank], MPI_BYTE, all, counts, places, MPI_BYTE, p->root, p->comm);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(p->theirs.type, &lower, &extent);
    for (int i = 0; i < p->ranks && p->rank == p->root; i++)
        unpack(p, all + places[i], i, expected + p->places[i] * extent, p->counts[i],
               p->theirs.type);
    free(all);
    free(mine);
}

static int gather(const plan *p, const void *mine, void *all) {
    bool is_root = p->rank == p->root;
    const void *send = is_root && p->in_place ? MPI_IN_PLACE : mine;
    MPI_Datatype type = is_root ? p->theirs.type : MPI_DATATYPE_NULL;
    if (p->even)
        return COLL_Gather(send, p->mine.count, p->mine.type, is_root ? all : NULL,
                           is_root ? p->counts[0] : -1, type, p->root, p->comm);
    return COLL_Gatherv(send, p->mine.count, p->mine.type, is_root ? all : NULL,
                        is_root ? p->counts : NULL, is_root ? p->places : NULL, type, p->root,
                        p->comm);
}

/*
 * Runs P once. Returns whether the root's buffer is as expected, and this rank's has not changed.
 */
static bool arrives(plan *p) {
    place_blocks(p);
    bool is_root = p->rank == p->root;
    unsigned char *payload = payload_of(p, p->rank);
    unsigned char *mine = malloc(p->mine.span + 1), *kept = malloc(p->mine.span + 1);
    unsigned char *all = malloc(p->span + 1), *expected = malloc(p->span + 1);
    fill(mine, p->mine.span, 99);
    unpack(p, payload, p->rank, mine, p->mine.count, p->mine.type);
    memcpy(kept, mine, p->mine.span);
    fill(all, p->span, 3);
    if (is_root && p->in_place) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(p->theirs.type, &lower, &extent);
        unpack(p, payload, p->rank, all + p->places[p->rank] * extent, p->counts[p->rank],
               p->theirs.type);
    }
    fill(expected, p->span, 3);
    expect(p, expected);

    bool good = gather(p, mine, all) == MPI_SUCCESS;
    good = good && memcmp(mine, kept, p->mine.span) == 0;
    good = good && (!is_root || memcmp(all, expected, p->span) == 0);
    free(expected);
    free(all);
    free(kept);
    free(mine);
    free(payload);
    return good;
}

/* Makes one gather to ROOT. The root describes blocks with layout KIND, the others with OTHER. */
static bool check_one(MPI_Comm comm, int root, bool even, bool in_place, int kind, int other,
                      int units) {
    plan p = {.comm = comm, .root = root, .even = even, .in_place = in_place};
    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.ranks);
    for (int i = 0; i < p.ranks;
         i++) /* if uneven, some ranks send nothing, and one far more than the others */
        p.units[i] = even ? units : i == p.ranks / 2 ? 4 * units : (i * 5 + units) % 7 * units / 4;
    p.theirs = describe(kind, longest_units(&p));
    p.mine = describe(p.rank == root ? kind : other, p.units[p.rank]);
    bool good = arrives(&p);
    forget(&p.mine);
    forget(&p.theirs);
    return good;
}

/* Returns the bytes of a gather's shape: UNITS units of each rank, or unknown unless EVEN. */
static size_t call_bytes(bool even, int units) {
    return even ? (size_t)units * UNIT : COLL_BYTES_UNKNOWN;
}

/* Tests all roots and combinations of layouts for one size, with SPEC. */
static void check_all(MPI_Comm comm, const char *spec, bool even, int units) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    ck_assert_int_eq(COLL_Set(comm, "gather", spec), MPI_SUCCESS);
    bool many = ranks > 5; /* then one mixture is enough, and half of the layouts of each root */
    for (int root = 0; root < ranks; root++)
        for (int kind = many ? (root / 2 + units) % 2 : 0; kind < LAYOUTS; kind += many ? 2 : 1) {
            if (!even &&
                kind == 1) /* one element for the whole block cannot describe several lengths */
                continue;
            for (int mixture = many ? 2 : 0; mixture < 3; mixture++) {
                int other = (kind + mixture + (mixture == 2 ? rank : 0)) % LAYOUTS;
                bool good =
                    check_one(comm, root, even, (root + kind + mixture) % 2, kind, other, units);
                harness_assert(good, "%s: root %d of %d, %s, %d bytes, layout %d, mixture %d", spec,
                               root, ranks, even ? "even" : "uneven", units * UNIT, kind, mixture);
                assert_ran(comm, "gather", call_bytes(even, units), spec);
            }
        }
}

/* Returns whether ALGORITHM also gathers uneven amounts. */
static bool takes_uneven(const coll_algorithm *algorithm) {
    return can_run(MPI_COMM_WORLD, algorithm, COLL_BYTES_UNKNOWN, 0);
}

/* Returns a spec with small segments, so that few bytes test every edge of the windows. */
static const char *small_spec(const coll_algorithm *algorithm) {
    if (strcmp(algorithm->name, "binomial") == 0)
        return "binomial:segment=50,window=3";
    if (strcmp(algorithm->name, "window") == 0)
        return "window:senders=2";
    if (strcmp(algorithm->name, "credit") == 0)
        return "credit:segment=50,window=150,run=200";
    return algorithm->name;
}

START_TEST(all_roots_layouts_and_sizes) {
    static const int units[] = {0, 1, 5, 57};
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            check_all(MPI_COMM_WORLD, small_spec(*a), true, units[i]);
}
END_TEST

START_TEST(uneven_amounts) {
    static const int units[] = {0, 1, 9};
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        for (size_t i = 0; i < sizeof units / sizeof *units && takes_uneven(*a); i++)
            check_all(MPI_COMM_WORLD, small_spec(*a), false, units[i]);
}
END_TEST

START_TEST(uneven_amounts_go_to_mpi_where_an_algorithm_takes_none) {
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++) {
        if (takes_uneven(*a) || world_ranks == 1)
            continue;
        ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "gather", (*a)->name), MPI_SUCCESS);
        for (int root = 0; root < world_ranks; root++)
            harness_assert(check_one(MPI_COMM_WORLD, root, false, root % 2, 0, 2, 9), "%s to %d",
                           (*a)->name, root);
        assert_ran(MPI_COMM_WORLD, "gather", COLL_BYTES_UNKNOWN, "native");
    }
}
END_TEST

START_TEST(scattered_over_nodes_and_racks) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pretend_layout(comm, 5, 2);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        for (int even = !takes_uneven(*a); even < 2; even++)
            check_all(comm, small_spec(*a), even, 8);
    check_all(comm, "auto", true, 21);
    check_all(comm, "auto", false, 21);
    /*
     * Racks served at the same time: fewer and more than there are, with and without the last one
     * alone.
     */
    static const char *const lanes[] = {"credit:lanes=2,segment=10,window=60,run=1",
                                        "credit:lanes=9,segment=13,window=40,run=200",
                                        "credit:lanes=2,segment=7,window=14,run=1G"};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        for (int even = 0; even < 2; even++)
            check_all(comm, lanes[i], even, 21);
    MPI_Comm_free(&comm);
}
END_TEST

/* Tests windows and segments around the size of a block, and around each other. */
START_TEST(every_window) {
    static const char *const specs[] = {"credit:segment=1,window=1,run=1",
                                        "credit:segment=12,window=1,run=1",
                                        "credit:segment=13,window=40,run=1",
                                        "credit:segment=1M,window=12,run=1",
                                        "credit:segment=24,window=1G,run=1G",
                                        "credit:segment=7,window=14,run=1G",
                                        "credit:segment=1G,window=1T,run=1T",
                                        "binomial:segment=1,window=1",
                                        "binomial:segment=12,window=2",
                                        "binomial:segment=13,window=1024",
                                        "binomial:segment=1G",
                                        "binomial:segment=1G,window=1024",
                                        "window:senders=1",
                                        "window:senders=100"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "gather", specs[s]), MPI_SUCCESS);
        bool uneven = strncmp(specs[s], "credit", 6) == 0; /* the others gather only even amounts */
        for (int units = 1; units < 6; units += 2)
            for (int even = !uneven; even < 2; even++)
                for (int root = 0; root<world_ranks; root += world_ranks> 5 ? 5 : 1) {
                    harness_assert(check_one(MPI_COMM_WORLD, root, even, root % 2, 0, 2, units),
                                   "%s, %d bytes to %d", specs[s], units * UNIT, root);
                    assert_ran(MPI_COMM_WORLD, "gather", call_bytes(even, units), specs[s]);
                }
    }
}
END_TEST

/* With large parameters, blocks of unknown sizes do not need as much memory. */
START_TEST(large_windows_need_little_memory) {
    enum { MOST = 64 << 20 };
    MPI_Comm comm;
    coll_comm *state;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ck_assert_int_eq(COLL_Set(comm, "gather", "credit:segment=1G,window=1T,run=1T"), MPI_SUCCESS);
    harness_assert(check_one(comm, 0, false, false, 0, 2, 3), "a gather");
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    harness_assert(state->scratch_bytes <= MOST, "%zu bytes", state->scratch_bytes);
    MPI_Comm_free(&comm);
}
END_TEST

/* The root's grants complete together with the segments that answer them. */
START_TEST(requests_complete_together) {
    static const char *const specs[] = {"credit:segment=12,window=40,run=1",
                                        "credit:segment=50,window=150,run=1G"};
    found_together = true;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "gather", specs[s]), MPI_SUCCESS);
        for (int even = 0; even < 2; even++)
            harness_assert(check_one(MPI_COMM_WORLD, 0, even, false, 0, 0, 57), "%s", specs[s]);
        assert_ran(MPI_COMM_WORLD, "gather", call_bytes(true, 57), specs[s]);
        assert_ran(MPI_COMM_WORLD, "gather", call_bytes(false, 57), specs[s]);
    }
    found_together = false;
}
END_TEST

/* Runs the same gather twice, and advances it only now and then. */
static bool go_step_by_step(coll_task *task) {
    bool good = true, moved = world_ranks == 1;
    for (int i = 0; i < 2; i++) {
        good = task->start(task) == MPI_SUCCESS && good;
        for (; good && task->active > 0; sched_yield())
            good = coll_task_advance(task, NULL, &moved) == MPI_SUCCESS;
    }
    return good && moved;
}

START_TEST(credit_goes_on_when_it_is_looked_at) {
    enum { INTS = 300, ROOT = 0 };
    static const coll_credit credits[] = {
        {48, 96, 96, 144, 0, 1}, {100, 400, 400, 400, 1500, 2}, {48, 96, 1000, 144, 0, 1}};
    for (size_t c = 0; c < sizeof credits / sizeof *credits; c++) {
        coll_comm *own;
        coll_data mine;
        coll_blocks blocks;
        int given[INTS], *all = calloc((size_t)world_ranks * INTS, sizeof *all);
        for (int i = 0; i < INTS; i++)
            given[i] = all[world_rank * INTS + i] = world_rank * INTS + i;
        const coll_blocks_layout into = {.buffer = all, .count = INTS, .type = MPI_INT};
        ck_assert_int_eq(coll_comm_get(MPI_COMM_WORLD, &own), MPI_SUCCESS);
        ck_assert_int_eq(coll_data_open(&mine, given, INTS, MPI_INT), MPI_SUCCESS);
        ck_assert_int_eq(coll_blocks_open(&blocks, &into, world_ranks), MPI_SUCCESS);
        coll_shape shape =
            coll_state_shape(coll_state_of(own), COLL_OPERATION_GATHER, mine.bytes, ROOT);
        coll_exec_args call = {.comm = own,
                               .args = {.shape = &shape, .line = coll_rank_order_of(own, &shape)},
                               .tag = COLL_TAG_COLLECTIVE};
        if (world_rank == ROOT)
            call.args.blocks = &blocks;
        else
            call.data = &mine;
        void *memory = malloc(coll_intake_bytes(&call, &credits[c]));
        bool good =
            go_step_by_step(call.args.blocks ? coll_intake_open(&call, &credits[c], memory)
                                             : coll_supply_open(&call, &credits[c], memory));
        for (int i = 0; i < world_ranks * INTS && world_rank == ROOT; i++)
            good = good && all[i] == i;
        harness_assert(good, "credit %zu", c);
        free(memory);
        coll_blocks_close(&blocks);
        coll_data_close(&mine);
        free(all);
    }
}
END_TEST

/* Tests default parameters, with many segments of data that is not contiguous. */
START_TEST(megabytes) {
    int units = (1 << 20) / UNIT + 5;
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++)
        for (int kind = 0; kind < 4; kind += 3)
            for (int even = !takes_uneven(*a); even < 2; even++) {
                int some = even ? units : units / 4;
                ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "gather", (*a)->name), MPI_SUCCESS);
                bool good = check_one(MPI_COMM_WORLD, world_ranks / 2, even, even, kind, 0, some);
                harness_assert(good, "%s: layout %d", (*a)->name, kind);
                assert_ran(MPI_COMM_WORLD, "gather", call_bytes(even, some), (*a)->name);
            }
}
END_TEST

/* There is nothing between the calls that would synchronise the ranks. */
START_TEST(gathers_follow_each_other_closely) {
    enum { TIMES = 100, INTS = 30 };
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++) {
        ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "gather", small_spec(*a)), MPI_SUCCESS);
        int bad = 0, *all = malloc((size_t)world_ranks * INTS * sizeof *all);
        for (int i = 0; i < TIMES; i++) {
            int mine[INTS], root = i / 10 % world_ranks;
            for (int k = 0; k < INTS; k++)
                mine[k] = i * 1000 + world_rank;
            bad += COLL_Gather(mine, INTS, MPI_INT, all, INTS, MPI_INT, root, MPI_COMM_WORLD) !=
                   MPI_SUCCESS;
            for (int k = 0; k < world_ranks * INTS && world_rank == root; k++)
                bad += all[k] != i * 1000 + k / INTS;
        }
        free(all);
        harness_assert(bad == 0, "%s: %d wrong", (*a)->name, bad);
        assert_ran(MPI_COMM_WORLD, "gather", INTS * sizeof(int), small_spec(*a));
    }
}
END_TEST

/* Gathers in two halves at the same time, with ranks in reverse order. */
START_TEST(sub_communicators) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++) {
        int ranks, all[64];
        MPI_Comm_size(half, &ranks);
        ck_assert_int_eq(COLL_Set(half, "gather", (*a)->name), MPI_SUCCESS);
        bool good = true;
        for (int root = 0; root < ranks; root++) {
            int rank;
            MPI_Comm_rank(half, &rank);
            good =
                COLL_Gather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, root, half) == MPI_SUCCESS &&
                good;
            for (int i = 0; i < ranks && rank == root; i++)
                good = good && all[i] == world_rank + 2 * (rank - i);
        }
        harness_assert(good, "%s over halves", (*a)->name);
        assert_ran(half, "gather", sizeof(int), (*a)->name);
    }
    MPI_Comm_free(&half);
}
END_TEST

/* On one node, gathers use a fast path if they can. Some ranks may use it and others not. */
static void mix_ways(int count) {
    enum { CALLS = 8 };
    MPI_Comm comm;
    MPI_Datatype gaps;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(count, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    size_t block = (size_t)count * sizeof(int);
    int *mine = malloc(2 * block), *all = calloc((size_t)world_ranks, block);
    for (int call = 0; call < CALLS; call++) {
        int root = call % world_ranks, code;
        bool in_place = call % 3 == 2 && world_rank == root;
        bool with_gaps = !in_place && call % 2 == 1 && (world_rank + call / 2) % 2 == 0;
        for (int i = 0; i < 2 * count; i++)
            mine[i] = with_gaps && i % 2 ? -1 : 100 * world_rank + (with_gaps ? i / 2 : i) + call;
        if (in_place)
            memcpy(all + count * world_rank, mine, block);
        if (in_place)
            code = COLL_Gather(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, root, comm);
        else if (with_gaps)
            code = COLL_Gather(mine, 1, gaps, all, count, MPI_INT, root, comm);
        else
            code = COLL_Gather(mine, count, MPI_INT, all, count, MPI_INT, root, comm);
        bool good = code == MPI_SUCCESS;
        for (int i = 0; i < count * world_ranks && world_rank == root; i++)
            good = good && all[i] == 100 * (i / count) + i % count + call;
        harness_assert(good, "call %d of %d", call, count);
    }
    free(all);
    free(mine);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
}

/*
 * Tests sizes around the scratch memory that a communicator has at first, and around the size that
 * it keeps later.
 */
START_TEST(the_short_way_and_the_usual_one_meet) {
    static const int counts[] = {5, 30000, 140000, 600000};
    for (int i = 0; i < 4; i++)
        mix_ways(counts[i]);
}
END_TEST

START_TEST(bad_arguments_are_errors_of_the_communicator) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int one = 0, all[64];
    MPI_Datatype none = MPI_DATATYPE_NULL;
    int code = COLL_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, world_ranks, comm);
    harness_assert(harness_class(code) == MPI_ERR_ROOT, "root beyond the end");
    code = COLL_Gather(&one, -1, MPI_INT, all, 1, MPI_INT, 0, comm);
    harness_assert(harness_class(code) == MPI_ERR_COUNT, "count -1");
    code = COLL_Gather(&one, 1, none, all, 1, MPI_INT, 0, comm);
    harness_assert(harness_class(code) == MPI_ERR_TYPE, "null type");
    code = world_rank ? MPI_SUCCESS : COLL_Gather(&one, 1, MPI_INT, all, -1, MPI_INT, 0, comm);
    harness_assert(world_rank || harness_class(code) == MPI_ERR_COUNT, "the root's count -1");
    code = world_rank ? MPI_SUCCESS : COLL_Gather(&one, 1, MPI_INT, all, 1, none, 0, comm);
    harness_assert(world_rank || harness_class(code) == MPI_ERR_TYPE, "the root's null type");
    code = world_rank ? COLL_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 1, MPI_INT, 0, comm) : 0;
    harness_assert(!world_rank || harness_class(code) == MPI_ERR_BUFFER,
                   "in place, but not at the root");
    code = world_rank ? 0 : COLL_Gather(&one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm);
    harness_assert(world_rank || harness_class(code) == MPI_ERR_BUFFER, "into in place");
    code = COLL_Gather(NULL, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    harness_assert(harness_class(code) == MPI_ERR_BUFFER, "null buffer");
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    code = COLL_Gather(&one, 1, uncommitted, all, 1, MPI_INT, 0, comm);
    MPI_Type_free(&uncommitted);
    harness_assert(harness_class(code) == MPI_ERR_TYPE, "uncommitted type");
    code = COLL_Set(comm, "gather", "credit:run=0");
    harness_assert(harness_class(code) == MPI_ERR_ARG, "run of 0");
    code = COLL_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    harness_assert(code == MPI_SUCCESS, "usable afterwards");
    MPI_Comm_free(&comm);
}
END_TEST

/* Returns whether the root's error names the last rank, which never calls. */
static bool is_named(const char *spec, double timeout) {
    MPI_Comm comm;
    coll_comm *state;
    int code = MPI_SUCCESS, *all = calloc((size_t)world_ranks, sizeof *all);
    char expected[64] = "silent for ";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    ck_assert_int_eq(COLL_Set(comm, "gather", spec), MPI_SUCCESS);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    state->wait.timeout = timeout;
    if (world_rank < world_ranks - 1)
        code = COLL_Gather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    const char *text = harness_text(code);
    if (strcmp(spec, "binomial") != 0) /* with binomial the root may wait for a rank in between */
        snprintf(expected, sizeof expected, "rank %d silent for ", world_ranks - 1);
    harness_assert(world_rank > 0 || strstr(text, "silent for "), "%s: \"%s\"", spec, text);
    bool named = harness_agree(world_rank > 0 || strstr(text, expected));
    MPI_Comm_free(&comm);
    free(all);
    return named;
}

/*
 * On a busy machine other ranks may be silent for as long. The test repeats with longer time-outs,
 * but not forever.
 */
START_TEST(a_silent_rank_is_named) {
    static const char *const specs[] = {"linear", "credit", "binomial"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs && world_ranks > 1; i++)
        for (double timeout = 0.3; !is_named(specs[i], timeout); timeout *= 3)
            harness_assert(timeout < 30, "%s: the silent rank isn't named", specs[i]);
}
END_TEST

START_TEST(intercommunicators_stand_back_to_mpi) {
    if (world_ranks < 2)
        return;
    MPI_Comm half, inter;
    bool left = world_rank < world_ranks / 2;
    MPI_Comm_split(MPI_COMM_WORLD, left, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? world_ranks / 2 : 0, 3, &inter);
    int root = !left ? 0 : world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, others, all[64];
    MPI_Count counts[64];
    MPI_Aint places[64];
    MPI_Comm_remote_size(inter, &others);
    for (int uneven = 0; uneven < 2; uneven++) {
        for (int i = 0; i < others; i++) {
            counts[i] = 1;
            places[i] = others - 1 - i;
            all[i] = -1;
        }
        int code = uneven ? COLL_Gatherv(&world_rank, 1, MPI_INT, all, counts, places, MPI_INT,
                                         root, inter)
                          : COLL_Gather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, root, inter);
        bool good = code == MPI_SUCCESS;
        for (int i = 0; i < others && world_rank == 0; i++)
            good = good && all[uneven ? others - 1 - i : i] == world_ranks / 2 + i;
        harness_assert(good, "%s", uneven ? "uneven" : "even");
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}
END_TEST

static Suite *gathers(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("gather");
    TCase *tests = tcase_create("all algorithms");
    tcase_add_test(tests, all_roots_layouts_and_sizes);
    tcase_add_test(tests, uneven_amounts);
    tcase_add_test(tests, uneven_amounts_go_to_mpi_where_an_algorithm_takes_none);
    tcase_add_test(tests, scattered_over_nodes_and_racks);
    tcase_add_test(tests, every_window);
    tcase_add_test(tests, large_windows_need_little_memory);
    tcase_add_test(tests, requests_complete_together);
    tcase_add_test(tests, credit_goes_on_when_it_is_looked_at);
    tcase_add_test(tests, megabytes);
    tcase_add_test(tests, gathers_follow_each_other_closely);
    tcase_add_test(tests, sub_communicators);
    tcase_add_test(tests, the_short_way_and_the_usual_one_meet);
    tcase_add_test(tests, bad_arguments_are_errors_of_the_communicator);
    tcase_add_test(tests, a_silent_rank_is_named);
    tcase_add_test(tests, intercommunicators_stand_back_to_mpi);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8 free:2", gathers);
}

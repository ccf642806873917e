/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares every aggregation algorithm with a reference computed from all ranks' inputs, on several
 * placements of ranks on nodes. Also tests the order of combination, the memory, and errors that
 * all ranks must return.
 */
#include "config.h"

#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/partition.h"
#include "lib/aggregate/pool.h"
#include "lib/algorithm/operations.h"
#include "tests/support/allocations.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char rank_counts[] = "1 2 3 4 5 7 8 13 free:2";

/* How ranks are placed on nodes. */
enum placement { ONE_NODE, ALL_APART, THREE_ONE_FOUR, SCATTERED, PLACEMENTS };

static int node_of(enum placement placement, int rank) {
    static const int three_one_four[] = {0, 0, 0, 1, 2, 2, 2, 2};
    switch (placement) {
    case ALL_APART:
        return rank;
    case THREE_ONE_FOUR:
        return rank / 8 * 3 + three_one_four[rank % 8];
    case SCATTERED:
        return rank % 3;
    default:
        return 0;
    }
}

static coll_topo placed; /* the placement of the next communicator */

/* Returns the state of MPI_COMM_WORLD with its ranks in PLACEMENT; free with comm_free. */
static coll_comm comm_create(enum placement placement) {
    coll_comm comm = {0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm.private);
    MPI_Comm_set_errhandler(comm.private, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm.private, &comm.rank);
    MPI_Comm_size(comm.private, &comm.ranks);
    coll_topo *topo = &placed;
    *topo = (coll_topo){.ranks = comm.ranks, .sites = 1, .racks = 1, .cores_per_node = 1};
    topo->places = calloc((size_t)comm.ranks, sizeof *topo->places);
    int *on_node = calloc((size_t)comm.ranks, sizeof *on_node);
    ck_assert(topo->places && on_node);
    for (int rank = 0; rank < comm.ranks; rank++) {
        int node = topo->places[rank].node = node_of(placement, rank);
        if (node >= topo->nodes)
            topo->nodes = node + 1;
        if (++on_node[node] > topo->most_ranks_per_node)
            topo->most_ranks_per_node = on_node[node];
    }
    free(on_node);
    /* the wait mode of the test machines, whatever the placement */
    coll_wait_init(&comm.wait, true, COLL_WAIT_AUTO, 0);
    return comm;
}

static int aggregate(COLL_Pool *pool, int root, coll_comm *comm,
                     const coll_aggregate_algorithm *algorithm, const coll_values *values,
                     COLL_Aggregate_stats *stats) {
    coll_shape shape = {.operation = COLL_OPERATION_AGGREGATE, .root = root, .topo = &placed};
    coll_aggregate_call call = {.pool = pool, .comm = comm, .shape = &shape, .stats = stats};
    return coll_aggregate_run(&call, algorithm, values);
}

static void comm_free(coll_comm *comm) {
    free(placed.places);
    MPI_Comm_free(&comm->private);
    free(comm->scratch);
}

/* Which ranks hold which keys. */
enum scenario {
    DISJOINT,
    SAME,
    OVERLAPPING,
    EVEN_RANKS_EMPTY,
    ALL_EMPTY,
    EXTREMES,
    ONE_KEY,
    SCENARIOS
};

enum { UNIVERSE = 130 };

static uint64_t key_at(enum scenario scenario, int index) {
    static const uint64_t extremes[] = {0, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX >> 1, 1};
    if (scenario == EXTREMES)
        return extremes[index % 5] + (uint64_t)(index / 5) * 2 * (index % 5 == 1 ? -1 : 1);
    return (uint64_t)index * 1000003;
}

static bool holds(enum scenario scenario, int rank, int ranks, int index) {
    switch (scenario) {
    case DISJOINT:
        return index % ranks == rank;
    case SAME:
        return true;
    case OVERLAPPING:
        return coll_partition_hash((uint64_t)(index * 64 + rank)) % 3 == 0;
    case EVEN_RANKS_EMPTY:
        return rank % 2 == 1 && index % 3 != rank % 3;
    case EXTREMES:
        return index < 5 || index % ranks == rank;
    case ONE_KEY:
        return rank == ranks - 1 && index == 77;
    default:
        return false;
    }
}

static uint32_t word_of(int rank, uint64_t key, size_t word) {
    return (uint32_t)coll_partition_hash(key * 31 + (uint64_t)rank * 7 + word);
}

static void add_words(void *into, const void *from, size_t bytes, void *context) {
    (void)context;
    for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
        ((uint32_t *)into)[i] += ((const uint32_t *)from)[i];
}

static COLL_Pool *pool_create(size_t value_bytes, COLL_Combine *combine) {
    COLL_Pool *pool = NULL;
    ck_assert_int_eq(COLL_Pool_create(value_bytes, combine, NULL, &pool), MPI_SUCCESS);
    return pool;
}

/* Adds RANK's pairs of SCENARIO to POOL. */
static void fill(COLL_Pool *pool, enum scenario scenario, int rank, int ranks) {
    size_t bytes = coll_pool_value_bytes(pool);
    uint32_t *value = malloc(bytes);
    ck_assert_ptr_nonnull(value);
    for (int i = 0; i < UNIVERSE; i++) {
        if (!holds(scenario, rank, ranks, i))
            continue;
        for (size_t w = 0; w < bytes / sizeof *value; w++)
            value[w] = word_of(rank, key_at(scenario, i), w);
        ck_assert_int_eq(COLL_Pool_add(pool, key_at(scenario, i), value), MPI_SUCCESS);
    }
    free(value);
}

/* Returns whether POOL has the sums over all ranks' pairs, and no other keys. */
static bool is_sum(const COLL_Pool *pool, enum scenario scenario, int ranks) {
    size_t keys = 0, words = coll_pool_value_bytes(pool) / sizeof(uint32_t);
    for (int i = 0; i < UNIVERSE; i++) {
        bool held = false;
        for (int rank = 0; rank < ranks && !held; rank++)
            held = holds(scenario, rank, ranks, i);
        if (!held)
            continue;
        keys++;
        uint64_t key = key_at(scenario, i);
        const uint32_t *value = COLL_Pool_find(pool, key);
        if (!value)
            return false;
        for (size_t w = 0; w < words; w++) {
            uint32_t sum = 0;
            for (int rank = 0; rank < ranks; rank++)
                if (holds(scenario, rank, ranks, i))
                    sum += word_of(rank, key, w);
            if (value[w] != sum)
                return false;
        }
    }
    return COLL_Pool_size(pool) == keys;
}

static const size_t value_sizes[] = {8, 12, 520, 4100};
enum { SIZES = sizeof value_sizes / sizeof *value_sizes };

/* The first entry, NULL, means the defaults. */
static const coll_values small_segments = {{64, 1}}, odd_segments = {{1000, 3}};
static const coll_values largest_segments = {
    {1 << 30, 64}}; /* more memory than any machine has, although pairs are few */
static const coll_values *const settings[] = {NULL, &small_segments, &odd_segments,
                                              &largest_segments};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void try(const coll_aggregate_algorithm *algorithm, coll_comm *comm, enum scenario scenario,
                int root, size_t value_bytes, const coll_values *values) {
    COLL_Pool *pool = pool_create(value_bytes, add_words);
    size_t empty_bytes = coll_pool_bytes(pool);
    fill(pool, scenario, comm->rank, comm->ranks);
    COLL_Aggregate_stats stats;
    int code = aggregate(pool, root, comm, algorithm, values, &stats);
    bool good = code == MPI_SUCCESS;
    if (comm->rank == root)
        good = good && is_sum(pool, scenario, comm->ranks);
    else
        good = good && COLL_Pool_size(pool) == 0 && coll_pool_bytes(pool) == empty_bytes;
    good = good && stats.peak_bytes >= coll_pool_bytes(pool) && stats.local_seconds >= 0 &&
           stats.group_by_seconds >= 0 && stats.gather_seconds > 0 &&
           stats.bytes_sent % coll_pool_pair_bytes(pool) == 0;
    COLL_Pool_free(&pool);
    harness_assert(good, "%s: scenario %d, root %d, values of %zu bytes, %d nodes",
                   algorithm->base.name, scenario, root, value_bytes, placed.nodes);
}

/* Tests all scenarios at root 0. If there are many ranks, each other root tests one of them. */
START_TEST(every_root_and_scenario) {
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a;
         a++) {
        coll_comm comm = comm_create((enum placement)_i);
        for (int root = 0; root < comm.ranks; root++)
            for (int scenario = 0; scenario < SCENARIOS; scenario++)
                if (root == 0 || comm.ranks <= 4 || scenario == (root + _i) % SCENARIOS)
                    try(coll_aggregate_of(*a), &comm, scenario, root,
                        value_sizes[(root + scenario) % SIZES], settings[(root + _i) % SETTINGS]);
        comm_free(&comm);
    }
}
END_TEST

START_TEST(every_size_and_setting) {
    coll_comm comm = comm_create(THREE_ONE_FOUR);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a; a++)
        for (int s = 0; s < SETTINGS; s++)
            try(coll_aggregate_of(*a), &comm, OVERLAPPING, comm.ranks - 1, value_sizes[_i],
                settings[s]);
    comm_free(&comm);
}
END_TEST

/* Pools that were aggregated once take further keys and can be aggregated again. */
START_TEST(again) {
    coll_comm comm = comm_create(SCATTERED);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a;
         a++) {
        COLL_Pool *pool = pool_create(8, add_words);
        bool good = true;
        for (int root = 0; root < comm.ranks; root++) {
            if (comm.rank == 0)
                fill(pool, DISJOINT, root, comm.ranks);
            good = good &&
                   aggregate(pool, root, &comm, coll_aggregate_of(*a), NULL, NULL) == MPI_SUCCESS;
        }
        if (comm.rank == comm.ranks - 1)
            good = good && is_sum(pool, DISJOINT, comm.ranks);
        else
            good = good && COLL_Pool_size(pool) == 0;
        COLL_Pool_free(&pool);
        harness_assert(good, "%s", (*a)->name);
    }
    comm_free(&comm);
}
END_TEST

/* The reported bytes are those of the pairs that leave each rank. */
START_TEST(bytes_are_counted) {
    coll_comm comm = comm_create(ALL_APART);
    COLL_Pool *pool = pool_create(12, add_words);
    fill(pool, SAME, comm.rank, comm.ranks);
    COLL_Aggregate_stats stats;
    int code = aggregate(pool, 0, &comm, &coll_aggregate_direct, NULL, &stats);
    COLL_Pool_free(&pool);
    uint64_t expected = comm.rank == 0 ? 0 : UNIVERSE * UINT64_C(24);
    harness_assert(code == MPI_SUCCESS && stats.bytes_sent == expected, "bytes sent");
    comm_free(&comm);
}
END_TEST

/* Combines two values so that every order and grouping gives another result. */
static uint64_t fold(uint64_t into, uint64_t from) {
    return coll_partition_hash(coll_partition_hash(into) + from);
}

static void fold_values(void *into, const void *from, size_t bytes, void *context) {
    (void)bytes;
    const int *slow = context;
    if (slow && rand() % 50 == 0)
        usleep((useconds_t)(rand() % 300));
    *(uint64_t *)into = fold(*(uint64_t *)into, *(const uint64_t *)from);
}

static uint64_t start_of(int rank, uint64_t key) {
    return coll_partition_hash(key + 1000 * (uint64_t)rank);
}

static uint64_t fold_cyclic(const uint64_t values[], int count, int first, int step) {
    uint64_t folded = values[first];
    for (int i = 1; i < count; i++)
        folded = fold(folded, values[((first + i * step) % count + count) % count]);
    return folded;
}

/* Returns the result of the documented order of ALGORITHM, for a key that all ranks have. */
static uint64_t folded_as_documented(const coll_aggregate_algorithm *algorithm,
                                     const coll_layout *layout, int root, uint64_t key) {
    int ranks = layout->ranks;
    uint64_t starts[16], nodes[16], members[16];
    for (int rank = 0; rank < ranks; rank++)
        starts[rank] = start_of(rank, key);
    int owner = coll_partition_owner(coll_partition_hash(key), ranks);
    if (algorithm == &coll_aggregate_direct)
        return fold_cyclic(starts, ranks, root, 1);
    if (algorithm == &coll_aggregate_group_by)
        return fold_cyclic(starts, ranks, owner, -1);
    for (int node = 0; node < layout->nodes; node++) {
        int processes = layout->first[node + 1] - layout->first[node];
        for (int i = 0; i < processes; i++)
            members[i] = starts[layout->members[layout->first[node] + i]];
        int collector = coll_layout_collector(layout, node, owner);
        nodes[node] = fold_cyclic(members, processes, layout->index[collector], -1);
    }
    return fold_cyclic(nodes, layout->nodes, layout->node[owner], -1);
}

/* Delays of every kind must not change the order in which values are combined. */
START_TEST(order_is_fixed) {
    enum { KEYS = 400 };
    static int slow = 1;
    coll_comm comm = comm_create((enum placement)_i);
    coll_layout layout;
    ck_assert(coll_layout_create(&placed, &layout));
    srand((unsigned)comm.rank * 77 + 5);

    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a;
         a++) {
        for (int run = 0; run < 2; run++) {
            int root = run * (comm.ranks - 1);
            COLL_Pool *pool = NULL;
            ck_assert_int_eq(COLL_Pool_create(8, fold_values, &slow, &pool), MPI_SUCCESS);
            for (uint64_t key = 0; key < KEYS; key++) {
                uint64_t value = start_of(comm.rank, key);
                ck_assert_int_eq(COLL_Pool_add(pool, key, &value), MPI_SUCCESS);
            }
            usleep((useconds_t)(rand() % 3000));
            bool good = aggregate(pool, root, &comm, coll_aggregate_of(*a), settings[1 + run],
                                  NULL) == MPI_SUCCESS;
            for (uint64_t key = 0; good && comm.rank == root && key < KEYS; key++) {
                const uint64_t *value = COLL_Pool_find(pool, key);
                good = value &&
                       *value == folded_as_documented(coll_aggregate_of(*a), &layout, root, key);
            }
            COLL_Pool_free(&pool);
            harness_assert(good, "%s on %d nodes, root %d", (*a)->name, placed.nodes, root);
        }
    }
    coll_layout_free(&layout);
    comm_free(&comm);
}
END_TEST

static void add_doubles(void *into, const void *from, size_t bytes, void *context) {
    (void)context;
    if (rand() % 50 == 0)
        usleep((useconds_t)(rand() % 300));
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        ((double *)into)[i] += ((const double *)from)[i];
}

typedef struct bit_digest {
    uint64_t bits;
} bit_digest;

static int digest_pair(uint64_t key, const void *value, void *context) {
    bit_digest *digest = context;
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    digest->bits = fold(fold(digest->bits, key), bits);
    return 0;
}

static double uneven_double(int rank, uint64_t key) {
    uint64_t hash = start_of(rank, key);
    return (double)(hash >> 12) * (hash % 3 == 0 ? 1e10 : hash % 3 == 1 ? -1.0 : 1e-8);
}

START_TEST(floating_sums_repeat) {
    enum { KEYS = 500 };
    coll_comm comm = comm_create(THREE_ONE_FOUR);
    srand((unsigned)comm.rank + 1);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a;
         a++) {
        bit_digest runs[2] = {{0}};
        bool good = true;
        for (int run = 0; run < 2; run++) {
            COLL_Pool *pool = pool_create(sizeof(double), add_doubles);
            for (uint64_t key = 0; key < KEYS; key++) {
                double value = uneven_double(comm.rank, key);
                ck_assert_int_eq(COLL_Pool_add(pool, key, &value), MPI_SUCCESS);
            }
            usleep((useconds_t)(rand() % 3000));
            good =
                good && aggregate(pool, 0, &comm, coll_aggregate_of(*a), &odd_segments, NULL) == 0;
            COLL_Pool_visit(pool, digest_pair, &runs[run]);
            COLL_Pool_free(&pool);
        }
        harness_assert(good && runs[0].bits == runs[1].bits, "%s", (*a)->name);
    }
    comm_free(&comm);
}
END_TEST

/*
 * Every rank has 100,000 keys of a million, or fewer if many ranks share this machine's memory. At
 * worst a rank needs memory for its pairs at the start and at the end at the same time. 1.25 times
 * the size of the pairs covers the index, the slabs and the list of leaving keys.
 */
START_TEST(memory_is_bounded) {
    enum { VALUE = 520, PAIR = VALUE + 8, POSSIBLE = 1000000 };
    coll_comm comm = comm_create(SCATTERED);
    size_t touched = comm.ranks <= 4 ? 100000 : 400000 / (size_t)comm.ranks;
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a;
         a++) {
        COLL_Pool *pool = pool_create(VALUE, add_words);
        uint32_t *value = calloc(1, VALUE);
        ck_assert_ptr_nonnull(value);
        for (uint64_t i = 0; i < touched; i++) {
            uint64_t key = (i + 7919 * (uint64_t)comm.rank) * 389 % POSSIBLE;
            value[0] = (uint32_t)key;
            ck_assert_int_eq(COLL_Pool_add(pool, key, value), MPI_SUCCESS);
        }
        free(value);
        size_t before = coll_pool_bytes(pool);
        COLL_Aggregate_stats stats = {0};
        int code = aggregate(pool, 0, &comm, coll_aggregate_of(*a), NULL, &stats);

        size_t keys = COLL_Pool_size(pool), all_keys = keys;
        MPI_Bcast(&all_keys, sizeof all_keys, MPI_BYTE, 0, comm.private);
        size_t share = comm.rank == 0 ? all_keys : all_keys / (size_t)comm.ranks;
        if (*a == &coll_aggregate_direct.base && comm.rank != 0)
            share = 0;
        /* Two windows of four segments, the pool itself, and the first block of each shard. */
        size_t fixed = 2 * 4 * (256 << 10) + (256 << 10);
        size_t bound = fixed + (touched + (comm.ranks > 1 ? share : 0)) * PAIR * 5 / 4;
        harness_assert(code == MPI_SUCCESS, "%s failed", (*a)->name);
        harness_assert(all_keys >= touched && all_keys <= touched * (size_t)comm.ranks,
                       "%s: %zu keys", (*a)->name, all_keys);
        harness_assert(before <= (256 << 10) + touched * PAIR * 5 / 4, "%s: %zu bytes at first",
                       (*a)->name, before);
        harness_assert(stats.peak_bytes >= before && stats.peak_bytes <= bound,
                       "%s: peak of %zu bytes, bound %zu", (*a)->name, (size_t)stats.peak_bytes,
                       bound);
        harness_assert(coll_pool_bytes(pool) <= (256 << 10) + keys * PAIR * 5 / 4,
                       "%s: %zu bytes at last", (*a)->name, coll_pool_bytes(pool));
        COLL_Pool_free(&pool);
    }
    comm_free(&comm);
}
END_TEST

/*
 * If one rank runs out of memory, at any point, all ranks return an error and the pools stay
 * usable.
 */
START_TEST(out_of_memory_is_shared) {
    coll_comm comm = comm_create(THREE_ONE_FOUR);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_AGGREGATE].table; *a;
         a++) {
        int failures = 0;
        for (int poor = 0; poor < comm.ranks; poor += comm.ranks / 3 + 1) {
            for (int nth = 1; nth < 40; nth += 9) {
                COLL_Pool *pool = pool_create(520, add_words);
                fill(pool, DISJOINT, comm.rank, comm.ranks);
                if (comm.rank == poor)
                    allocation_countdown = nth;
                int code = aggregate(pool, 0, &comm, coll_aggregate_of(*a), &odd_segments, NULL);
                int class = harness_class(code), highest, lowest;
                MPI_Allreduce(&class, &highest, 1, MPI_INT, MPI_MAX, comm.private);
                MPI_Allreduce(&class, &lowest, 1, MPI_INT, MPI_MIN, comm.private);
                allocation_countdown = 0;
                fill(pool, DISJOINT, comm.rank, comm.ranks);
                int second = aggregate(pool, 0, &comm, coll_aggregate_of(*a), NULL, NULL);
                bool whole = comm.rank != 0 || COLL_Pool_size(pool) == UNIVERSE;
                COLL_Pool_free(&pool);
                harness_assert(highest == lowest &&
                                   (class == MPI_SUCCESS || class == MPI_ERR_NO_MEM),
                               "%s: classes from %d to %d", (*a)->name, lowest, highest);
                harness_assert(second == MPI_SUCCESS && whole, "%s: not usable after an error",
                               (*a)->name);
                failures += class == MPI_ERR_NO_MEM;
            }
        }
        harness_assert(failures > 0, "%s: nothing failed", (*a)->name);
    }
    comm_free(&comm);
}
END_TEST

static int class_of(COLL_Pool *pool, int root, coll_comm *comm) {
    return harness_class(aggregate(pool, root, comm, &coll_aggregate_three_stage, NULL, NULL));
}

/* A bad argument on one rank is an error on all ranks. */
START_TEST(bad_arguments_are_shared) {
    coll_comm comm = comm_create(ONE_NODE);
    bool last = comm.rank == comm.ranks - 1, alone = comm.ranks == 1;
    COLL_Pool *pool = pool_create(8, add_words), *other = pool_create(16, add_words);

    harness_assert(class_of(last ? NULL : pool, 0, &comm) == MPI_ERR_ARG, "NULL pool");
    harness_assert(class_of(pool, comm.ranks, &comm) == MPI_ERR_ROOT, "root beyond the ranks");
    harness_assert(class_of(pool, last ? -1 : 0, &comm) == MPI_ERR_ROOT, "negative root");
    harness_assert(class_of(pool, last ? comm.ranks - 1 : 0, &comm) ==
                       (alone ? MPI_SUCCESS : MPI_ERR_ROOT),
                   "different roots");
    harness_assert(class_of(last ? other : pool, 0, &comm) == (alone ? MPI_SUCCESS : MPI_ERR_ARG),
                   "different values");
    harness_assert(class_of(pool, 0, &comm) == MPI_SUCCESS, "good arguments");
    COLL_Pool_free(&pool);
    COLL_Pool_free(&other);
    comm_free(&comm);
}
END_TEST

/* Predicted times grow with the data, and local aggregation pays if ranks share a node's link. */
START_TEST(predictions) {
    static const coll_profile profile = {.level = {[COLL_LEVEL_NODE] = {1e-6, 1e-6, 1e-10},
                                                   [COLL_LEVEL_RACK] = {5e-5, 5e-6, 8e-9},
                                                   [COLL_LEVEL_SITE] = {5e-5, 5e-6, 8e-9}}};
    const coll_topo topo = {
        .ranks = 1000, .sites = 1, .racks = 1, .nodes = 125, .most_ranks_per_node = 8};
    double big[3], small[3];
    for (int i = 0; coll_operations[COLL_OPERATION_AGGREGATE].table[i]; i++) {
        const coll_algorithm *base = coll_operations[COLL_OPERATION_AGGREGATE].table[i];
        coll_values values = {{0}};
        coll_shape call = {
            .operation = COLL_OPERATION_AGGREGATE, .bytes = 0, .topo = &topo, .profile = &profile};
        small[i] = base->predict(&call, &values);
        call.bytes = 64 << 20;
        big[i] = base->predict(&call, &values);
        harness_assert(small[i] > 0 && big[i] > small[i], "%s", base->name);
    }
    harness_assert(big[0] < big[1] && big[1] < big[2], "order for much data");
    harness_assert(small[2] < small[0] && small[2] < small[1], "direct is best for no data");
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("aggregate");
    TCase *cases = tcase_create("aggregate");
    tcase_add_loop_test(cases, every_root_and_scenario, 0, PLACEMENTS);
    tcase_add_loop_test(cases, every_size_and_setting, 0, SIZES);
    tcase_add_test(cases, again);
    tcase_add_test(cases, bytes_are_counted);
    tcase_add_loop_test(cases, order_is_fixed, 0, PLACEMENTS);
    tcase_add_test(cases, floating_sums_repeat);
    tcase_add_test(cases, memory_is_bounded);
    tcase_add_test(cases, out_of_memory_is_shared);
    tcase_add_test(cases, bad_arguments_are_shared);
    tcase_add_test(cases, predictions);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, rank_counts, suite);
}

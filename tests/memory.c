/*
 * Every allocation of every operation fails on each rank in turn: all ranks come back, with the
 * data or with one error.
 */
#include "config.h"

#include "coll.h"
#include "lib/aggregate/aggregate.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "lib/operation/operations.h"
#include "tests/allocations.h"
#include "tests/harness.h"
#include "tests/layouts.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int world_rank, world_ranks;

/* --- One call of each operation, with data that isn't contiguous --- */

enum { UNITS = 500, VECTOR = 1 };

static unsigned char payload[UNITS * UNIT];

static layout strided_layout;

/* Memory for the layout, with the payload in it where GIVEN. */
static unsigned char *make_buffer(const layout *shape, bool given) {
    unsigned char *buffer = __real_calloc(1, shape->span + 1);
    int position = 0;
    if (given)
        MPI_Unpack(payload, sizeof payload, &position, buffer, shape->count, shape->type,
                   MPI_COMM_SELF);
    return buffer;
}

static bool has_payload(const layout *shape, const unsigned char *buffer) {
    unsigned char packed[sizeof payload];
    int position = 0;
    MPI_Pack(buffer, shape->count, shape->type, packed, sizeof packed, &position, MPI_COMM_SELF);
    return memcmp(packed, payload, sizeof payload) == 0;
}

static int broadcast(MPI_Comm comm, bool *right) {
    unsigned char *buffer = make_buffer(&strided_layout, world_rank == world_ranks - 1);
    int code = COLL_Bcast(buffer, strided_layout.count, strided_layout.type, world_ranks - 1, comm);
    *right = has_payload(&strided_layout, buffer);
    free(buffer);
    return code;
}

/* Where the root wants the blocks: every other one of the strided layout's extent. */
static bool blocks_are_right(const unsigned char *all, MPI_Aint extent) {
    for (int rank = 0; world_rank == 0 && rank < world_ranks; rank++)
        if (!has_payload(&strided_layout, all + rank * extent * strided_layout.count))
            return false;
    return true;
}

static int gather_by(MPI_Comm comm, bool uneven, bool *right) {
    MPI_Aint lower, extent;
    MPI_Count counts[64];
    MPI_Aint places[64];
    MPI_Type_get_extent(strided_layout.type, &lower, &extent);
    for (int rank = 0; rank < world_ranks; rank++) {
        counts[rank] = strided_layout.count;
        places[rank] = (MPI_Aint)strided_layout.count * rank;
    }
    unsigned char *mine = make_buffer(&strided_layout, true);
    unsigned char *all = __real_calloc((size_t)world_ranks, strided_layout.span);
    int code = uneven ? COLL_Gatherv(mine, strided_layout.count, strided_layout.type, all, counts,
                                     places, strided_layout.type, 0, comm)
                      : COLL_Gather(mine, strided_layout.count, strided_layout.type, all,
                                    strided_layout.count, strided_layout.type, 0, comm);
    *right = blocks_are_right(all, extent);
    free(all);
    free(mine);
    return code;
}

static int gather(MPI_Comm comm, bool *right) {
    return gather_by(comm, false, right);
}

static int gatherv(MPI_Comm comm, bool *right) {
    return gather_by(comm, true, right);
}

static void add(void *into, const void *from, size_t bytes, void *context) {
    (void)bytes, (void)context;
    *(int64_t *)into += *(const int64_t *)from;
}

static int aggregate(MPI_Comm comm, bool *right) {
    enum { KEYS = 200 };
    COLL_Pool *pool = NULL;
    int armed = allocation_countdown; /* how pools fail is tests/pool's affair */
    allocation_countdown = 0;
    COLL_Pool_create(sizeof(int64_t), add, NULL, &pool);
    for (uint64_t key = 0; key < KEYS; key++)
        COLL_Pool_add(pool, key * 7919, &(int64_t){1});
    allocation_countdown = armed;
    int code = COLL_Aggregate(pool, 0, comm, NULL);
    const int64_t *sum = code == MPI_SUCCESS ? COLL_Pool_find(pool, 7919) : NULL;
    *right = world_rank == 0 ? sum && *sum == world_ranks : !sum;
    COLL_Pool_free(&pool);
    return code;
}

/* --- All of them --- */

typedef int operation(MPI_Comm comm, bool *right);

/* A communicator that has been used before, by SPEC on pretended racks; or a new one. */
static MPI_Comm open_comm(const char *name, const char *spec) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (spec) {
        pretend_layout(comm, world_ranks < 3 ? world_ranks : 3, 2);
        int code = COLL_Set(comm, name, spec);
        harness_assert(code == MPI_SUCCESS, "%s", spec);
    }
    return comm;
}

/* Lets allocation NTH fail on VICTIM; false where it hasn't as many. */
static bool check_one(const char *name, const char *spec, operation *run, int victim, int nth) {
    MPI_Comm comm = open_comm(name, spec);
    bool right = false;
    allocation_countdown = world_rank == victim ? nth : 0;
    int code = run(comm, &right);
    int reached = world_rank == victim && allocation_countdown == 0, reached_it;
    allocation_countdown = 0;
    int mine[2] = {harness_class(code), -harness_class(code)}, highest[2];
    PMPI_Allreduce(mine, highest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&reached, &reached_it, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    harness_assert(highest[0] == -highest[1], "%s %s: errors %d and %d (allocation %d of rank %d)",
                   name, spec ? spec : "", highest[0], -highest[1], nth, victim);
    harness_assert(code == MPI_SUCCESS ? right : harness_class(code) == MPI_ERR_NO_MEM,
                   "%s %s: %s (allocation %d of rank %d)", name, spec ? spec : "",
                   code == MPI_SUCCESS ? "wrong data" : harness_text(code), nth, victim);
    MPI_Comm_free(&comm);
    return reached_it;
}

static void check(const char *name, const char *spec, operation *run) {
    for (int victim = 0; victim < world_ranks; victim++) {
        int nth = 1;
        while (check_one(name, spec, run, victim, nth))
            nth++;
        harness_assert(nth > 1, "%s %s: no allocation was counted", name, spec ? spec : "");
    }
}

static void check_table(const char *name, const coll_algorithm *const table[], operation *run) {
    for (const coll_algorithm *const *a = table; *a; a++)
        check(name, (*a)->name, run);
}

START_TEST(broadcasts) {
    check_table("bcast", coll_bcast_table, broadcast);
    check("bcast", "chain:confirm=1", broadcast);
}
END_TEST

START_TEST(gathers) {
    check_table("gather", coll_gather_table, gather);
    check_table("gather", coll_gather_table, gatherv);
}
END_TEST

START_TEST(aggregations) {
    check_table("aggregate", coll_aggregate_table, aggregate);
}
END_TEST

/* A communicator's first use, and what it does on one node. */
START_TEST(first_uses) {
    check("bcast", NULL, broadcast);
    check("gather", NULL, gather);
    check("gatherv", NULL, gatherv);
    check("aggregate", NULL, aggregate);
}
END_TEST

static void set_up(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    strided_layout = describe(VECTOR, UNITS);
    fill(payload, sizeof payload, 1);
}

static void tear_down(void) {
    forget(&strided_layout);
}

static Suite *memory(void) {
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("failing allocations");
    tcase_add_unchecked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, broadcasts);
    tcase_add_test(tests, gathers);
    tcase_add_test(tests, aggregations);
    tcase_add_test(tests, first_uses);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "2 3", memory);
}

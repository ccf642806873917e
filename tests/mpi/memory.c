/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes every allocation of every operation fail on each rank in turn: all ranks return, with the
 * data or with one error, and the same call then succeeds.
 */
#include "config.h"

#include "coll.h"
#include "coll_component.h"
#include "lib/aggregate/aggregate.h"
#include "lib/algorithm/operations.h"
#include "lib/base/reserve_alloc.h"
#include "lib/bcast/bcast.h"
#include "lib/bcast/reliable/chain_confirmed.h"
#include "lib/comm/setup.h"
#include "lib/gather/gather.h"
#include "lib/tuning/state.h"
#include "tests/support/allocations.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"
#include "tests/support/ran.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int world_rank, world_ranks;

/* --- One call of each operation, with data that isn't contiguous --- */

enum { UNITS = 500, VECTOR = 1 };

static unsigned char payload[UNITS * UNIT];

static layout strided_layout;

/* Allocates memory for the layout, with the payload in it if GIVEN. */
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

/* Starts two broadcasts at the same time, of which one may have to wait for memory. */
static int start_broadcasts(MPI_Comm comm, bool *right) {
    COLL_Request requests[2] = {COLL_REQUEST_NULL, COLL_REQUEST_NULL};
    unsigned char *buffers[2];
    int code = MPI_SUCCESS;
    for (int i = 0; i < 2; i++) {
        buffers[i] = make_buffer(&strided_layout, world_rank == world_ranks - 1);
        int next = COLL_Ibcast(buffers[i], strided_layout.count, strided_layout.type,
                               world_ranks - 1, comm, &requests[i]);
        code = code == MPI_SUCCESS ? next : code;
    }
    int last = COLL_Waitall(2, requests);
    *right = has_payload(&strided_layout, buffers[0]) && has_payload(&strided_layout, buffers[1]);
    free(buffers[0]);
    free(buffers[1]);
    return code == MPI_SUCCESS ? last : code;
}

static int keep_broadcast(MPI_Comm comm, bool *right) {
    COLL_Request request;
    unsigned char *buffer = make_buffer(&strided_layout, world_rank == world_ranks - 1);
    int code = COLL_Bcast_init(buffer, strided_layout.count, strided_layout.type, world_ranks - 1,
                               comm, MPI_INFO_NULL, &request);
    bool made = code == MPI_SUCCESS;
    if (made)
        code = COLL_Start(&request);
    if (code == MPI_SUCCESS)
        code = COLL_Wait(&request);
    if (made)
        COLL_Request_free(&request);
    *right = has_payload(&strided_layout, buffer);
    free(buffer);
    return code;
}

/* Checks the blocks at the root, which are at every other extent of the strided layout. */
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

static int start_gather(MPI_Comm comm, bool *right) {
    COLL_Request request;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(strided_layout.type, &lower, &extent);
    unsigned char *mine = make_buffer(&strided_layout, true);
    unsigned char *all = __real_calloc((size_t)world_ranks, strided_layout.span);
    int code = COLL_Igather(mine, strided_layout.count, strided_layout.type, all,
                            strided_layout.count, strided_layout.type, 0, comm, &request);
    if (code == MPI_SUCCESS)
        code = COLL_Wait(&request);
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
    int armed = allocation_countdown; /* tests/unit/pool tests failures in pools */
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

enum { SUMMED = 1000 };

static int start_sum(MPI_Comm comm, bool *right) {
    COLL_Request request;
    int own[SUMMED], sums[SUMMED];
    for (int i = 0; i < SUMMED; i++)
        own[i] = world_rank + i;
    int code = COLL_Iallreduce(own, sums, SUMMED, MPI_INT, MPI_SUM, comm, &request);
    if (code == MPI_SUCCESS)
        code = COLL_Wait(&request);
    *right = true;
    for (int i = 0; i < SUMMED && code == MPI_SUCCESS; i++)
        *right = *right && sums[i] == world_ranks * (world_ranks - 1) / 2 + i * world_ranks;
    return code;
}

enum { LONG = 500000 };

/* Starts an exscan that is in place on every other rank, with a copy that exceeds what a
 * communicator has in reserve. */
static int start_exscan(MPI_Comm comm, bool *right) {
    COLL_Request request;
    int *own = __real_calloc(LONG, sizeof *own), *sums = __real_calloc(LONG, sizeof *sums);
    const bool in_place = world_rank % 2;
    for (int i = 0; i < LONG; i++)
        own[i] = sums[i] = world_rank + i;
    int code =
        COLL_Iexscan(in_place ? MPI_IN_PLACE : own, sums, LONG, MPI_INT, MPI_SUM, comm, &request);
    if (code == MPI_SUCCESS)
        code = COLL_Wait(&request);
    *right = true;
    for (int i = 0; i < LONG && code == MPI_SUCCESS && world_rank > 0; i++)
        *right = *right && sums[i] == world_rank * (world_rank - 1) / 2 + i * world_rank;
    free(own);
    free(sums);
    return code;
}

/* Every rank sends every rank the payload, with counts. */
static int exchange(MPI_Comm comm, bool *right) {
    MPI_Aint lower, extent;
    MPI_Count counts[64];
    MPI_Aint places[64];
    MPI_Datatype type = strided_layout.type;
    MPI_Type_get_extent(type, &lower, &extent);
    size_t block = (size_t)extent * (size_t)strided_layout.count;
    unsigned char *given = __real_calloc((size_t)world_ranks, block + strided_layout.span);
    unsigned char *all = __real_calloc((size_t)world_ranks, block + strided_layout.span);
    *right = true;
    for (int rank = 0; rank < world_ranks; rank++) {
        unsigned char *one = make_buffer(&strided_layout, true);
        memcpy(given + (size_t)rank * block, one, strided_layout.span);
        free(one);
        counts[rank] = strided_layout.count;
        places[rank] = (MPI_Aint)strided_layout.count * rank;
    }
    int code = COLL_Alltoallv(given, counts, places, type, all, counts, places, type, comm);
    for (int rank = 0; rank < world_ranks; rank++)
        *right = *right && has_payload(&strided_layout, all + (size_t)rank * block);
    free(given);
    free(all);
    return code;
}

/* --- All of them --- */

static int exchange_with_neighbors(MPI_Comm comm, bool *right) {
    MPI_Comm ring;
    int in[2] = {-1, -1};
    const int out[2] = {2 * world_rank, 2 * world_rank + 1};
    const int below = (world_rank + world_ranks - 1) % world_ranks,
              above = (world_rank + 1) % world_ranks;
    MPI_Cart_create(comm, 1, &world_ranks, &(int){true}, false, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    int code = COLL_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    *right = in[0] == 2 * below + 1 && in[1] == 2 * above;
    MPI_Comm_free(&ring);
    return code;
}

typedef struct operation {
    const char *name;
    size_t bytes; /* that all ranks know; 0 for an aggregation */
    int (*run)(MPI_Comm comm, bool *right);
    bool started; /* not a blocking call, which assert_ran needs */
} operation;

static const operation bcasts = {"bcast", sizeof payload, broadcast, false};
static const operation even_gathers = {"gather", sizeof payload, gather, false};
static const operation uneven_gathers = {"gather", COLL_BYTES_UNKNOWN, gatherv, false};
static const operation started_bcasts = {"bcast", sizeof payload, start_broadcasts, true};
static const operation started_gathers = {"gather", sizeof payload, start_gather, true};
static const operation kept_bcasts = {"bcast", sizeof payload, keep_broadcast, true};
static const operation started_sums = {"allreduce", SUMMED * sizeof(int), start_sum, true};
static const operation started_exscans = {"exscan", LONG * sizeof(int), start_exscan, true};
static const operation exchanges = {"alltoall", COLL_BYTES_UNKNOWN, exchange, false};
static const operation neighborhoods = {"neighbor_alltoall", COLL_BYTES_UNKNOWN,
                                        exchange_with_neighbors, false};
static const operation aggregates = {"aggregate", 0, aggregate, false};

/* Whether new communicators share the job's placement. */
static bool in_common = true;

/*
 * Returns a communicator: one that has been used before, on imagined racks or, if ALGORITHM needs
 * them, sites; or a new one.
 */
static MPI_Comm open_comm(const char *name, const coll_algorithm *algorithm, const char *spec) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (!in_common)
        harness_another_job();
    if (!spec)
        return comm;
    pretend_layout(comm, world_ranks < 3 ? world_ranks : 3, 2);
    if (!can_run(comm, algorithm, 1, 0))
        pretend_sites(comm, world_ranks);
    int code = COLL_Set(comm, name, spec);
    harness_assert(code == MPI_SUCCESS, "%s", spec);
    return comm;
}

/* Makes allocation NTH fail on VICTIM. Returns false if there are fewer allocations. */
static bool check_one(const operation *o, const coll_algorithm *algorithm, const char *spec,
                      int victim, int nth) {
    MPI_Comm comm = open_comm(o->name, algorithm, spec);
    const char *by = spec ? spec : "";
    bool right = false;
    allocation_countdown = world_rank == victim ? nth : 0;
    int code = o->run(comm, &right);
    int reached = world_rank == victim && allocation_countdown == 0, reached_it;
    allocation_countdown = 0;
    int mine[2] = {harness_class(code), -harness_class(code)}, highest[2];
    PMPI_Allreduce(mine, highest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&reached, &reached_it, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    harness_assert(highest[0] == -highest[1], "%s %s: errors %d and %d (allocation %d of rank %d)",
                   o->name, by, highest[0], -highest[1], nth, victim);
    harness_assert(code == MPI_SUCCESS ? right : harness_class(code) == MPI_ERR_NO_MEM,
                   "%s %s: %s (allocation %d of rank %d)", o->name, by,
                   code == MPI_SUCCESS ? "wrong data" : harness_text(code), nth, victim);
    if (spec && code == MPI_SUCCESS && !o->started)
        assert_ran(comm, o->name, o->bytes, spec);
    if (code != MPI_SUCCESS) {
        code = o->run(comm, &right);
        harness_assert(code == MPI_SUCCESS && right,
                       "%s %s, again: %s (after allocation %d of rank %d)", o->name, by,
                       code == MPI_SUCCESS ? "wrong data" : harness_text(code), nth, victim);
    }
    MPI_Comm_free(&comm);
    return reached_it;
}

static void check(const operation *o, const coll_algorithm *algorithm, const char *spec) {
    for (int victim = 0; victim < world_ranks; victim++) {
        int nth = 1;
        while (check_one(o, algorithm, spec, victim, nth))
            nth++;
        harness_assert(nth > 1, "%s %s: no allocation was counted", o->name, spec ? spec : "");
    }
}

/* Tests every algorithm that supports the amounts of this operation. */
static void check_table(const operation *o, const coll_algorithm *const table[]) {
    for (const coll_algorithm *const *a = table; *a; a++)
        if (o->bytes != COLL_BYTES_UNKNOWN || can_run(MPI_COMM_WORLD, *a, o->bytes, 0))
            check(o, *a, (*a)->name);
}

START_TEST(broadcasts) {
    check_table(&bcasts, coll_operations[COLL_OPERATION_BCAST].table);
    check(&bcasts, &coll_bcast_chain, "chain:confirm=1");
}
END_TEST

static void damage_first_attempt(int rank, uint32_t epoch, uint64_t index, char *bytes,
                                 size_t length) {
    (void)length;
    if (rank == world_ranks - 1 && epoch == 0 && index == 0)
        bytes[0] ^= 1;
}

/* A rank without memory for the second attempt fails the broadcast on all ranks, which leaves the
 * communicator broken. */
START_TEST(restarted_broadcasts) {
    coll_chain_confirmed_tamper = damage_first_attempt;
    for (int victim = 0; victim < world_ranks; victim++) {
        int reached = 1;
        for (int nth = 1; reached; nth++) {
            bool right = false;
            MPI_Comm comm = open_comm("bcast", &coll_bcast_chain, "chain:confirm=1");
            allocation_countdown = world_rank == victim ? nth : 0;
            int code = broadcast(comm, &right);
            reached = world_rank == victim && allocation_countdown == 0;
            allocation_countdown = 0;
            PMPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            harness_assert(code == MPI_SUCCESS ? right : harness_class(code) == MPI_ERR_NO_MEM,
                           "%s (allocation %d of rank %d)",
                           code == MPI_SUCCESS ? "wrong data" : harness_text(code), nth, victim);
            MPI_Comm_free(&comm);
        }
    }
    coll_chain_confirmed_tamper = NULL;
}
END_TEST

/* The second operation needs more memory than a communicator has in reserve. */
START_TEST(what_is_started) {
    static const char *const specs[] = {"two_tree", "chain:segment=1K,window=1024", "native"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        check(&started_bcasts, &coll_bcast_chain, specs[i]);
        check(&kept_bcasts, &coll_bcast_chain, specs[i]);
    }
    check(&started_gathers, &coll_gather_binomial, "binomial");
    check(&started_gathers, &coll_gather_credit, "credit:segment=100,window=200");
}
END_TEST

START_TEST(sums_and_exchanges) {
    check_table(&started_sums, coll_operations[COLL_OPERATION_ALLREDUCE].table);
    check_table(&started_exscans, coll_operations[COLL_OPERATION_EXSCAN].table);
    check_table(&exchanges, coll_operations[COLL_OPERATION_ALLTOALL].table);
}
END_TEST

START_TEST(gathers) {
    check_table(&even_gathers, coll_operations[COLL_OPERATION_GATHER].table);
    check_table(&uneven_gathers, coll_operations[COLL_OPERATION_GATHER].table);
}
END_TEST

START_TEST(aggregations) {
    check_table(&aggregates, coll_operations[COLL_OPERATION_AGGREGATE].table);
}
END_TEST

/* Tests a communicator's first use, and its use on one node. */
START_TEST(first_uses) {
    check(&bcasts, NULL, NULL);
    check(&started_bcasts, NULL, NULL);
    check(&kept_bcasts, NULL, NULL);
    check(&even_gathers, NULL, NULL);
    check(&uneven_gathers, NULL, NULL);
    check(&aggregates, NULL, NULL);
    check(&neighborhoods, NULL, NULL);
}
END_TEST

/* The first communicator of a job has more to set up. */
START_TEST(first_communicators) {
    in_common = false;
    check(&bcasts, NULL, NULL);
    check(&kept_bcasts, NULL, NULL);
    in_common = true;
}
END_TEST

/*
 * Allocates all of libcoll's reserve except less than 2 LEFT bytes. Returns the number of pieces.
 */
static int use_up_reserve(size_t left, void *pieces[], int most) {
    int count = 0;
    allocation_countdown = 1;
    pieces[count++] = coll_reserve_alloc(left);
    for (size_t size = 32 << 10; size >= 2 * left; size /= 2)
        do {
            harness_assert(count < most, "more than %d pieces", most);
            allocation_countdown = 1;
            pieces[count] = coll_reserve_alloc(size);
        } while (pieces[count] && ++count);
    return count;
}

/* Rank 0 has no memory for the reports of all others. */
START_TEST(first_words) {
    enum { WORD = 256, PIECES = 100 };
    void *pieces[PIECES];
    bool right;
    int count = use_up_reserve(WORD, pieces, PIECES);
    for (int i = 0; i < 2; i++) {
        in_common = i;
        MPI_Comm comm = open_comm("bcast", NULL, NULL);
        failing_bytes = world_rank == 0 ? (size_t)world_ranks * WORD : 0;
        int code = broadcast(comm, &right);
        harness_assert(failing_bytes == 0, "no such allocation");
        harness_assert(harness_class(code) == MPI_ERR_NO_MEM, "%s",
                       code == MPI_SUCCESS ? "no error" : harness_text(code));
        code = broadcast(comm, &right);
        harness_assert(code == MPI_SUCCESS && right, "not with memory either");
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < count; i++)
        coll_reserve_free(pieces[i]);
}
END_TEST

/* For communicators of all ranks. */
static int find_world_ranks(MPI_Comm comm, int found[]) {
    (void)comm;
    for (int rank = 0; rank < world_ranks; rank++)
        found[rank] = rank;
    return 1;
}

/* In a job that is set up as a whole, a communicator's own settings need memory, but no message in
 * which ranks could agree on having it. */
START_TEST(own_settings) {
    static const COLL_Transport transport = {MPI_Isend, MPI_Irecv, find_world_ranks};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_bcast", "chain");
    coll_comm_forget(MPI_COMM_WORLD);
    ck_assert_int_eq(COLL_Setup_job(&transport), MPI_SUCCESS);
    for (int by_key = 0; by_key < 2; by_key++) {
        coll_comm *own;
        MPI_Comm comm;
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, by_key ? info : MPI_INFO_NULL, &comm);
        if (by_key && !coll_settings_has_info(comm)) {
            harness_skip("the info key, which this MPI library drops");
        } else {
            if (!by_key)
                ck_assert_int_eq(coll_comm_get(comm, &own), MPI_SUCCESS);
            failing_bytes = world_rank == 0 ? sizeof(coll_agreed_settings) : 0;
            int code = by_key ? coll_comm_get(comm, &own) : COLL_Set(comm, "bcast", "chain");
            harness_assert(failing_bytes == 0, "no such allocation");
            harness_assert(code == MPI_SUCCESS, "%s", harness_text(code));
            ck_assert_ptr_eq(coll_state_of(own)->specs[COLL_OPERATION_BCAST].algorithm,
                             &coll_bcast_chain);
        }
        MPI_Comm_free(&comm);
    }
    coll_setup_begin_job(NULL); /* other communicators are set up as usual */
    MPI_Info_free(&info);
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
    tcase_add_test(tests, restarted_broadcasts);
    tcase_add_test(tests, gathers);
    tcase_add_test(tests, sums_and_exchanges);
    tcase_add_test(tests, what_is_started);
    tcase_add_test(tests, aggregations);
    tcase_add_test(tests, first_uses);
    tcase_add_test(tests, first_communicators);
    tcase_add_test(tests, first_words);
    tcase_add_test(tests, own_settings);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "2 3", memory);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests nonblocking operations: many at the same time on one communicator, together with blocking
 * ones, completed in any order; and persistent ones, with every plan of the tables. Data must
 * arrive as with MPI's own operations. (tests/mpi/bcast.c and tests/mpi/gather.c compare the same
 * plans with MPI for each root and type.)
 */
#include "config.h"

#include "coll.h"
#include "lib/call/request.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"
#include "tests/support/ran.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int world_rank, world_ranks;

/* --- Broadcasts --- */

typedef struct flight {
    COLL_Request request;
    layout mine;
    int root;
    size_t bytes; /* bytes of the payload */
    unsigned seed;
    unsigned char *buffer, *expected, *payload;
} flight;

/* Fills the buffer of RANK, and computes the content that it must have after the call. */
static void load(flight *f, int rank) {
    int position = 0, again = 0;
    fill(f->buffer, f->mine.span, f->seed + 1 + (unsigned)rank);
    fill(f->payload, f->bytes, f->seed);
    if (rank == f->root)
        MPI_Unpack(f->payload, (int)f->bytes, &position, f->buffer, f->mine.count, f->mine.type,
                   MPI_COMM_SELF);
    memcpy(f->expected, f->buffer, f->mine.span);
    MPI_Unpack(f->payload, (int)f->bytes, &again, f->expected, f->mine.count, f->mine.type,
               MPI_COMM_SELF);
}

static void prepare(flight *f, int rank, int root, int kind, int units, unsigned seed) {
    *f = (flight){
        .mine = describe(kind, units), .root = root, .bytes = (size_t)units * UNIT, .seed = seed};
    f->buffer = malloc(f->mine.span + 1);
    f->expected = malloc(f->mine.span + 1);
    f->payload = malloc(f->bytes + 1);
    load(f, rank);
}

static bool arrived(const flight *f) {
    return memcmp(f->buffer, f->expected, f->mine.span) == 0;
}

static void land(flight *f) {
    forget(&f->mine);
    free(f->buffer);
    free(f->expected);
    free(f->payload);
}

static void take(COLL_Request *request, bool poll) {
    int done = 0;
    while (poll && !done)
        ck_assert_int_eq(COLL_Test(request, &done), MPI_SUCCESS);
    if (!poll)
        ck_assert_int_eq(COLL_Wait(request), MPI_SUCCESS);
}

enum { FLIGHTS = 7 };

/*
 * Starts many operations at the same time, with a blocking one in between. Ranks complete them in
 * different orders.
 */
static void fly(MPI_Comm comm, const char *spec, int root) {
    static const int units[FLIGHTS] = {21, 1, 0, 57, 4, 33, 3};
    flight f[FLIGHTS], blocking;
    for (int i = 0; i < FLIGHTS; i++) {
        prepare(&f[i], world_rank, (root + i) % world_ranks, (i + world_rank) % LAYOUTS, units[i],
                (unsigned)(100 * root + i));
        ck_assert_int_eq(COLL_Ibcast(f[i].buffer, f[i].mine.count, f[i].mine.type, f[i].root, comm,
                                     &f[i].request),
                         MPI_SUCCESS);
        if (i != FLIGHTS / 2)
            continue;
        prepare(&blocking, world_rank, root, 1, 9, 77);
        ck_assert_int_eq(
            COLL_Bcast(blocking.buffer, blocking.mine.count, blocking.mine.type, root, comm),
            MPI_SUCCESS);
        harness_assert(arrived(&blocking), "%s: a blocking one meanwhile", spec);
        land(&blocking);
    }
    for (int i = 0; i < FLIGHTS; i++) {
        flight *next = &f[world_rank % 2 ? i : FLIGHTS - 1 - i];
        take(&next->request, (i + world_rank) % 3 == 0);
        ck_assert_ptr_null(next->request);
    }
    for (int i = 0; i < FLIGHTS; i++) {
        harness_assert(arrived(&f[i]), "%s: number %d, root %d, %zu bytes, %s here", spec, i,
                       f[i].root, f[i].bytes, f[i].mine.name);
        land(&f[i]);
    }
}

/* Returns the algorithm whose plan runs on COMM for BYTES, or NULL. */
static const coll_algorithm *planned(MPI_Comm comm, coll_operation operation, size_t bytes) {
    coll_state *state = coll_state_of(coll_comm_find(comm));
    coll_shape call = coll_state_shape(state, operation, bytes, 0);
    return coll_state_choose_started(state, &call).algorithm;
}

/* Writes a spec with small segments and windows, if ALGORITHM has such parameters. */
static void small_spec(const coll_algorithm *algorithm, char *spec, size_t size) {
    size_t used = (size_t)snprintf(spec, size, "%s", algorithm->name);
    for (const coll_param *p = algorithm->params; p->name; p++) {
        bool segment = strcmp(p->name, "segment") == 0, window = strcmp(p->name, "window") == 0;
        if (segment || window)
            used +=
                (size_t)snprintf(spec + used, size - used, "%s%s", strchr(spec, ':') ? "," : ":",
                                 segment ? "segment=48" : "window=3");
    }
}

START_TEST(broadcasts_at_once_by_every_plan) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pretend_layout(comm, 3, 2);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_BCAST].table; *a; a++) {
        char spec[COLL_SPEC_MAX];
        if (!(*a)->planner && !(*a)->open)
            continue;
        small_spec(*a, spec, sizeof spec);
        ck_assert_int_eq(COLL_Set(comm, "bcast", spec), MPI_SUCCESS);
        for (int root = 0; root < world_ranks; root++)
            fly(comm, spec, root);
        if (world_ranks > 1 && can_run(comm, *a, (size_t)21 * UNIT, 0))
            ck_assert_ptr_eq(planned(comm, COLL_OPERATION_BCAST, (size_t)21 * UNIT), *a);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * MPI's own operation runs on a communicator that libcoll has not set up, and if the user asks for
 * it.
 */
START_TEST(the_mpi_library_where_asked_or_unknown) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fly(comm, "unknown", 0);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int number = world_rank ? 0 : 42;
    COLL_Request request;
    ck_assert_int_eq(COLL_Ibcast(&number, 1, MPI_INT, 0, comm, &request), MPI_SUCCESS);
    ck_assert_ptr_null(request->comm);
    ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Set(comm, "bcast", "native"), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Ibcast(&number, 1, MPI_INT, 0, comm, &request), MPI_SUCCESS);
    ck_assert_ptr_null(request->comm);
    ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Set(comm, "bcast", "auto"), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Ibcast(&number, 1, MPI_INT, 0, comm, &request), MPI_SUCCESS);
    ck_assert_ptr_nonnull(request->comm);
    ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    harness_assert(number == 42, "%d", number);
    MPI_Comm_free(&comm);
}
END_TEST

/* Other ranks may pass any counts, also if MPI's own operation runs. */
START_TEST(counts_of_the_root_alone) {
    enum { ROOT = 0 };
    const MPI_Count *counts = (const MPI_Count *)8; /* an invalid address */
    const MPI_Aint *places = (const MPI_Aint *)8;
    size_t ranks = (size_t)world_ranks;
    MPI_Count *ones = malloc(ranks * sizeof *ones);
    MPI_Aint *numbers = malloc(ranks * sizeof *numbers);
    int *all = malloc(ranks * sizeof *all), mine = -1, good = 0;
    COLL_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < world_ranks; i++) {
        ones[i] = 1;
        numbers[i] = all[i] = i;
    }
    if (world_rank == ROOT) {
        counts = ones;
        places = numbers;
    }
    ck_assert_int_eq(
        COLL_Iscatterv(all, counts, places, MPI_INT, &mine, 1, MPI_INT, ROOT, comm, &request),
        MPI_SUCCESS);
    ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    memset(all, 0xff, ranks * sizeof *all);
    ck_assert_int_eq(
        COLL_Igatherv(&mine, 1, MPI_INT, all, counts, places, MPI_INT, ROOT, comm, &request),
        MPI_SUCCESS);
    ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    for (int i = 0; i < world_ranks; i++)
        good += all[i] == (world_rank == ROOT ? i : -1);
    harness_assert(mine == world_rank && good == world_ranks, "%d, %d of them", mine, good);
    MPI_Comm_free(&comm);
    free(ones);
    free(numbers);
    free(all);
}
END_TEST

/* --- Many, and much --- */

START_TEST(more_than_have_tags_of_their_own) {
    enum { MANY = 2500 };
    static int numbers[MANY];
    static COLL_Request requests[MANY];
    COLL_Set(MPI_COMM_WORLD, "bcast", "auto");
    for (int i = 0; i < MANY; i++) {
        numbers[i] = world_rank == i % world_ranks ? 3 * i : -1;
        ck_assert_int_eq(
            COLL_Ibcast(&numbers[i], 1, MPI_INT, i % world_ranks, MPI_COMM_WORLD, &requests[i]),
            MPI_SUCCESS);
    }
    ck_assert_int_eq(COLL_Waitall(MANY, requests), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(numbers[i], 3 * i);
}
END_TEST

/*
 * An agreement on memory waits until an older request with the same tags is complete. Operations in
 * place have such agreements. A rank that is late between the two requests lets the others complete
 * the rounds of the agreements in different orders.
 */
START_TEST(agreements_with_tags_in_use) {
    enum { LATE = 1, MANY = COLL_TAGS_STARTED / COLL_LANES / 2 + 1, COUNT = 5 };
    COLL_Request requests[MANY];
    static int numbers[MANY];
    const size_t all = (size_t)world_ranks * COUNT;
    int *first = malloc(all * sizeof *first), *last = malloc(all * sizeof *last);
    for (size_t i = 0; i < all; i++) {
        first[i] = world_rank;
        last[i] = ~world_rank;
    }
    COLL_Set(MPI_COMM_WORLD, "bcast", "auto");
    COLL_Set(MPI_COMM_WORLD, "alltoall", "linear");
    for (int i = 0; i < MANY; i++) {
        int *blocks = i == 0 ? first : last;
        int code = i == 0 || i == MANY - 1
                       ? COLL_Ialltoall(MPI_IN_PLACE, COUNT, MPI_INT, blocks, COUNT, MPI_INT,
                                        MPI_COMM_WORLD, &requests[i])
                       : COLL_Ibcast(&numbers[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]);
        ck_assert_int_eq(code, MPI_SUCCESS);
        if (i == 0 && world_rank == LATE)
            nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
    }
    ck_assert_int_eq(COLL_Waitall(MANY, requests), MPI_SUCCESS);
    for (int i = 0; i < (int)all; i++)
        ck_assert(first[i] == i / COUNT && last[i] == ~(i / COUNT));
    COLL_Set(MPI_COMM_WORLD, "alltoall", "auto");
    free(first);
    free(last);
}
END_TEST

/*
 * Tests windows that need more memory than a communicator has in reserve: the ranks agree whether
 * all have it.
 */
START_TEST(windows_that_need_much_memory) {
    enum { COUNT = 5 << 20, AT_ONCE = 3 };
    COLL_Request requests[AT_ONCE];
    unsigned char *bytes[AT_ONCE], *expected = malloc(COUNT);
    COLL_Set(MPI_COMM_WORLD, "bcast", "chain:segment=1M,window=2");
    for (int i = 0; i < AT_ONCE; i++) {
        bytes[i] = malloc(COUNT);
        fill(bytes[i], COUNT, world_rank ? 5 : 9 + (unsigned)i);
        ck_assert_int_eq(COLL_Ibcast(bytes[i], COUNT, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[i]),
                         MPI_SUCCESS);
    }
    ck_assert_int_eq(COLL_Waitall(AT_ONCE, requests), MPI_SUCCESS);
    for (int i = 0; i < AT_ONCE; i++) {
        fill(expected, COUNT, 9 + (unsigned)i);
        harness_assert(memcmp(bytes[i], expected, COUNT) == 0, "number %d", i);
        free(bytes[i]);
    }
    free(expected);
    COLL_Set(MPI_COMM_WORLD, "bcast", "auto");
}
END_TEST

/* --- Gathers --- */

/* Returns how many numbers a rank sends: r % 3 + 1 on rank r, or 2 if all send the same. */
static int given(bool even, int rank) {
    return even ? 2 : rank % 3 + 1;
}

typedef struct collection {
    COLL_Request request;
    bool even, in_place;
    int root, mine[3];
    int all[64 * 4];
    MPI_Count counts[64];
    MPI_Aint places[64];
} collection;

static int value_of(const collection *c, int rank, int i) {
    return 10000 * c->root + 100 * rank + i + c->even;
}

/* Uneven blocks have gaps of one number between them. */
static void lay_out(collection *c, bool even, bool in_place, int root) {
    *c = (collection){.even = even, .in_place = in_place, .root = root};
    MPI_Aint next = 0;
    for (int rank = 0; rank < world_ranks; rank++) {
        c->counts[rank] = given(even, rank);
        c->places[rank] = next;
        next += (MPI_Aint)c->counts[rank] + !even;
    }
}

/* Fills this rank's input, and clears its result. */
static void supply(collection *c) {
    memset(c->all, 0, sizeof c->all);
    for (int i = 0; i < given(c->even, world_rank); i++) {
        c->mine[i] = value_of(c, world_rank, i);
        if (c->in_place)
            c->all[c->places[world_rank] + i] = c->mine[i];
    }
}

static bool is_complete(const collection *c) {
    for (int rank = 0; rank < world_ranks && world_rank == c->root; rank++)
        for (int i = 0; i < given(c->even, rank); i++)
            if (c->all[c->places[rank] + i] != value_of(c, rank, i))
                return false;
    return true;
}

static int collect(collection *c, bool persistent, MPI_Comm comm) {
    const void *mine = c->in_place && world_rank == c->root ? MPI_IN_PLACE : c->mine;
    int count = given(c->even, world_rank);
    if (persistent)
        return c->even ? COLL_Gather_init(mine, count, MPI_INT, c->all, 2, MPI_INT, c->root, comm,
                                          MPI_INFO_NULL, &c->request)
                       : COLL_Gatherv_init(mine, count, MPI_INT, c->all, c->counts, c->places,
                                           MPI_INT, c->root, comm, MPI_INFO_NULL, &c->request);
    return c->even
               ? COLL_Igather(mine, count, MPI_INT, c->all, 2, MPI_INT, c->root, comm, &c->request)
               : COLL_Igatherv(mine, count, MPI_INT, c->all, c->counts, c->places, MPI_INT, c->root,
                               comm, &c->request);
}

static void collect_at_once(MPI_Comm comm, const char *spec) {
    enum { AT_ONCE = 6 };
    collection c[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        lay_out(&c[i], i % 2, i % 3 == 0, i % world_ranks);
        supply(&c[i]);
        ck_assert_int_eq(collect(&c[i], false, comm), MPI_SUCCESS);
    }
    for (int i = 0; i < AT_ONCE; i++)
        take(&c[world_rank % 2 ? i : AT_ONCE - 1 - i].request, i % 2);
    for (int i = 0; i < AT_ONCE; i++)
        harness_assert(is_complete(&c[i]), "%s: number %d", spec, i);
}

START_TEST(gathers_at_once_by_every_plan) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    collect_at_once(comm, "unknown");
    pretend_layout(comm, 3, 2);
    for (const coll_algorithm *const *a = coll_operations[COLL_OPERATION_GATHER].table; *a; a++) {
        char spec[COLL_SPEC_MAX];
        if (!(*a)->planner && !(*a)->open)
            continue;
        small_spec(*a, spec, sizeof spec);
        ck_assert_int_eq(COLL_Set(comm, "gather", spec), MPI_SUCCESS);
        collect_at_once(comm, spec);
        if (world_ranks > 1)
            ck_assert_ptr_eq(planned(comm, COLL_OPERATION_GATHER, 2 * sizeof(int)), *a);
    }
    ck_assert_int_eq(COLL_Set(comm, "gather", "auto"), MPI_SUCCESS);
    collect_at_once(comm, "auto");
    MPI_Comm_free(&comm);
}
END_TEST

/* --- Persistent ones --- */

/* Each rank starts the requests repeatedly in its own order, with new data each time. */
START_TEST(persistent_ones) {
    enum { BROADCASTS = 3, TIMES = 4 };
    flight f[BROADCASTS];
    collection c[2];
    for (int i = 0; i < BROADCASTS; i++) {
        prepare(&f[i], world_rank, i % world_ranks, (i + world_rank) % LAYOUTS, 30 * i, 1);
        ck_assert_int_eq(COLL_Bcast_init(f[i].buffer, f[i].mine.count, f[i].mine.type, f[i].root,
                                         MPI_COMM_WORLD, MPI_INFO_NULL, &f[i].request),
                         MPI_SUCCESS);
    }
    for (int i = 0; i < 2; i++) {
        lay_out(&c[i], i, i, world_ranks - 1);
        supply(&c[i]);
        ck_assert_int_eq(collect(&c[i], true, MPI_COMM_WORLD), MPI_SUCCESS);
        ck_assert_int_eq(COLL_Wait(&c[i].request), MPI_SUCCESS); /* an inactive request */
    }
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < BROADCASTS; i++) {
            flight *next = &f[(i + world_rank) % BROADCASTS];
            next->seed = (unsigned)(time * 10 + (i + world_rank) % BROADCASTS);
            load(next, world_rank);
            ck_assert_int_eq(COLL_Start(&next->request), MPI_SUCCESS);
        }
        for (int i = 0; i < 2; i++) {
            supply(&c[i]);
            ck_assert_int_eq(COLL_Start(&c[i].request), MPI_SUCCESS);
        }
        for (int i = 0; i < BROADCASTS; i++)
            take(&f[i].request, time % 2);
        for (int i = 0; i < 2; i++)
            take(&c[i].request, time % 2 == 0);
        for (int i = 0; i < BROADCASTS; i++)
            harness_assert(arrived(&f[i]), "broadcast %d, time %d", i, time);
        harness_assert(is_complete(&c[0]) && is_complete(&c[1]), "gathers, time %d", time);
    }
    for (int i = 0; i < BROADCASTS; i++) {
        ck_assert_int_eq(COLL_Request_free(&f[i].request), MPI_SUCCESS);
        ck_assert_ptr_null(f[i].request);
        land(&f[i]);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(COLL_Request_free(&c[i].request), MPI_SUCCESS);
}
END_TEST

/* --- Mistakes --- */

START_TEST(mistakes_are_errors) {
    COLL_Request request, once, none = COLL_REQUEST_NULL;
    int number = 0, flag;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ck_assert_int_eq(COLL_Wait(&none), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Test(&none, &flag), MPI_SUCCESS);
    ck_assert_int_eq(flag, 1);
    ck_assert_int_eq(harness_class(COLL_Start(&none)), MPI_ERR_REQUEST);
    ck_assert_int_eq(harness_class(COLL_Request_free(&none)), MPI_ERR_REQUEST);

    COLL_Ibcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, &once);
    COLL_Request copy = once;
    ck_assert_int_eq(harness_class(COLL_Request_free(&once)), MPI_ERR_REQUEST);
    ck_assert_int_eq(harness_class(COLL_Start(&once)), MPI_ERR_REQUEST);
    ck_assert_int_eq(COLL_Wait(&once), MPI_SUCCESS);
    ck_assert_int_eq(harness_class(COLL_Wait(&copy)), MPI_ERR_REQUEST);
    ck_assert_int_eq(harness_class(COLL_Test(&copy, &flag)), MPI_ERR_REQUEST);

    COLL_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    ck_assert_int_eq(COLL_Start(&request), MPI_SUCCESS);
    ck_assert_int_eq(harness_class(COLL_Start(&request)), MPI_ERR_REQUEST);
    ck_assert_int_eq(harness_class(COLL_Request_free(&request)), MPI_ERR_REQUEST);
    ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    copy = request;
    ck_assert_int_eq(COLL_Request_free(&request), MPI_SUCCESS);
    ck_assert_int_eq(harness_class(COLL_Request_free(&copy)), MPI_ERR_REQUEST);

    ck_assert_int_eq(harness_class(COLL_Ibcast(&number, -1, MPI_INT, 0, MPI_COMM_WORLD, &once)),
                     MPI_ERR_COUNT);
    ck_assert_int_eq(harness_class(COLL_Bcast_init(&number, 1, MPI_INT, 99, MPI_COMM_WORLD,
                                                   MPI_INFO_NULL, &request)),
                     MPI_ERR_ROOT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
END_TEST

/* A persistent request that the MPI library refuses to start does not become active. */
START_TEST(a_start_that_fails) {
    const int number = world_rank;
    int numbers[1];
    MPI_Comm without_topology;
    COLL_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &without_topology);
    MPI_Comm_set_errhandler(without_topology, MPI_ERRORS_RETURN);
    ck_assert_int_eq(COLL_Neighbor_allgather_init(&number, 1, MPI_INT, numbers, 1, MPI_INT,
                                                  without_topology, MPI_INFO_NULL, &request),
                     MPI_SUCCESS);
    for (int time = 0; time < 2; time++)
        ck_assert_int_eq(harness_class(COLL_Start(&request)), MPI_ERR_TOPOLOGY);
    ck_assert_int_eq(COLL_Request_free(&request), MPI_SUCCESS);
    MPI_Comm_free(&without_topology);
}
END_TEST

/* A request that stays does not use up the tags of those that come and go. */
START_TEST(many_requests_beside_one_that_stays) {
    enum { MANY = 1100 }; /* more than there are tags */
    int number = world_rank, other = world_rank;
    COLL_Request stays, goes;
    if (world_ranks > 3) /* saves time */
        return;
    ck_assert_int_eq(COLL_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &stays),
                     MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(
            COLL_Bcast_init(&other, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &goes),
            MPI_SUCCESS);
        ck_assert_int_eq(COLL_Request_free(&goes), MPI_SUCCESS);
    }
    ck_assert_int_eq(COLL_Start(&stays), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Wait(&stays), MPI_SUCCESS);
    ck_assert_int_eq(number, 0);
    ck_assert_int_eq(COLL_Request_free(&stays), MPI_SUCCESS);
}
END_TEST

/* The communicator and the type may be freed while the operation is active. */
START_TEST(what_it_uses_may_be_freed) {
    MPI_Comm comm;
    flight f;
    COLL_Request idle;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    COLL_Set(comm, "bcast", "chain:segment=12,window=1");
    prepare(&f, world_rank, world_ranks - 1, 2, 50, 6);
    MPI_Datatype type;
    MPI_Type_dup(f.mine.type, &type);
    ck_assert_int_eq(COLL_Bcast_init(f.buffer, f.mine.count, type, 0, comm, MPI_INFO_NULL, &idle),
                     MPI_SUCCESS);
    ck_assert_int_eq(COLL_Ibcast(f.buffer, f.mine.count, type, f.root, comm, &f.request),
                     MPI_SUCCESS);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    ck_assert_int_eq(COLL_Wait(&f.request), MPI_SUCCESS);
    harness_assert(arrived(&f), "after MPI_Comm_free");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ck_assert_int_eq(harness_class(COLL_Start(&idle)), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    ck_assert_int_eq(COLL_Request_free(&idle), MPI_SUCCESS);
    land(&f);
}
END_TEST

/* --- The thread --- */

/* No rank calls the library; the thread alone completes all operations. */
START_TEST(a_thread_moves_them_on) {
    enum { AT_ONCE = 4 };
    MPI_Comm comm;
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        harness_skip("the progress thread: no MPI_THREAD_MULTIPLE");
        return;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    setenv("COLL_PROGRESS", "thread", 1);
    ck_assert_int_eq(COLL_Set(comm, "bcast", "chain:segment=1K,window=4"), MPI_SUCCESS);
    unsetenv("COLL_PROGRESS");
    flight f[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        prepare(&f[i], world_rank, i % world_ranks, i % LAYOUTS, 2000, (unsigned)i);
        ck_assert_int_eq(COLL_Ibcast(f[i].buffer, f[i].mine.count, f[i].mine.type, f[i].root, comm,
                                     &f[i].request),
                         MPI_SUCCESS);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        const _Atomic coll_request_stage *stage = &f[i].request->stage;
        for (int wait = 0; wait < 60000 && *stage != COLL_REQUEST_COMPLETE; wait++)
            nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
        harness_assert(*stage == COLL_REQUEST_COMPLETE, "number %d", i);
        ck_assert_int_eq(COLL_Wait(&f[i].request), MPI_SUCCESS);
        harness_assert(arrived(&f[i]), "number %d", i);
        land(&f[i]);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * The thread goes on while calls poll, although the oldest request is idle and its communicator has
 * been freed.
 */
START_TEST(a_thread_passes_over_idle_requests) {
    enum { LATE = 50 * 1000 * 1000 }; /* ns: the thread looks several times */
    MPI_Comm freed, comm;
    COLL_Request idle, request;
    int level, number = 0, done = 0;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        harness_skip("the progress thread: no MPI_THREAD_MULTIPLE");
        return;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    setenv("COLL_PROGRESS", "thread", 1);
    ck_assert_int_eq(COLL_Set(comm, "bcast", "binomial"), MPI_SUCCESS);
    unsetenv("COLL_PROGRESS");
    ck_assert_int_eq(COLL_Bcast_init(&number, 1, MPI_INT, 0, freed, MPI_INFO_NULL, &idle),
                     MPI_SUCCESS);
    MPI_Comm_free(&freed);
    if (world_rank == 0) {
        nanosleep(&(struct timespec){.tv_nsec = LATE}, NULL);
        number = 42;
    }
    ck_assert_int_eq(COLL_Ibcast(&number, 1, MPI_INT, 0, comm, &request), MPI_SUCCESS);
    while (!done)
        ck_assert_int_eq(COLL_Test(&request, &done), MPI_SUCCESS);
    harness_assert(number == 42, "%d", number);
    ck_assert_int_eq(COLL_Request_free(&idle), MPI_SUCCESS);
    MPI_Comm_free(&comm);
}
END_TEST

static Suite *make_suite(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("nonblocking");
    TCase *all = tcase_create("nonblocking");
    tcase_set_timeout(all, 600);
    tcase_add_test(all, the_mpi_library_where_asked_or_unknown);
    tcase_add_test(all, counts_of_the_root_alone);
    tcase_add_test(all, broadcasts_at_once_by_every_plan);
    tcase_add_test(all, more_than_have_tags_of_their_own);
    tcase_add_test(all, agreements_with_tags_in_use);
    tcase_add_test(all, windows_that_need_much_memory);
    tcase_add_test(all, gathers_at_once_by_every_plan);
    tcase_add_test(all, persistent_ones);
    tcase_add_test(all, mistakes_are_errors);
    tcase_add_test(all, a_start_that_fails);
    tcase_add_test(all, many_requests_beside_one_that_stays);
    tcase_add_test(all, what_it_uses_may_be_freed);
    tcase_add_test(all, a_thread_moves_them_on);
    tcase_add_test(all, a_thread_passes_over_idle_requests);
    suite_add_tcase(suite, all);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main_threads(argc, argv, "1 2 3 4 5 7 8 free:2", make_suite);
}

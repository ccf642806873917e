/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests allreduce, alltoall and the other operations with every algorithm of their tables, at every
 * root: blocking, nonblocking and persistent, in place or not, with types with and without gaps,
 * with operations that commute or not, with no data and with different sizes. Compares the received
 * data, and the memory around it, with MPI's own collectives.
 */
#include "config.h"

#include "coll.h"
#include "hlot/sites.h"
#include "lib/allgather/allgather.h"
#include "lib/allreduce/allreduce.h"
#include "lib/alltoall/alltoall.h"
#include "lib/barrier/barrier.h"
#include "lib/call/args.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce_scatter/reduce_scatter.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank, world_ranks;

/* --- Types and operations --- */

/*
 * A map x -> a x + b modulo a prime. Composition of maps does not commute. The gap between a and b
 * must not change.
 */
typedef struct affine {
    int a, gap, b;
} affine;
enum { PRIME = 10007 };

static void compose(void *first, void *into, int *count, MPI_Datatype *type) {
    const affine *f = first;
    affine *g = into;
    (void)type;
    for (int i = 0; i < *count; i++) {
        g[i].b = (g[i].a * f[i].b + g[i].b) % PRIME;
        g[i].a = g[i].a * f[i].a % PRIME;
    }
}

static void add(void *first, void *into, int *count, MPI_Datatype *type) {
    const affine *f = first;
    affine *g = into;
    (void)type;
    for (int i = 0; i < *count; i++) {
        g[i].a = (g[i].a + f[i].a) % PRIME;
        g[i].b = (g[i].b + f[i].b) % PRIME;
    }
}

typedef struct kind {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;
} kind;
enum { KINDS = 5 };
static kind kinds[KINDS];

static void make_kinds(void) {
    MPI_Datatype pair, gapped;
    MPI_Op composition, sum;
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, offsetof(affine, b)};
    const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, ints, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(affine), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Type_free(&pair);
    MPI_Op_create(compose, 0, &composition);
    MPI_Op_create(add, 1, &sum);
    const kind made[KINDS] = {{"ints", MPI_INT, MPI_SUM, sizeof(int)},
                              {"maps", gapped, composition, sizeof(affine)},
                              {"pairs", gapped, sum, sizeof(affine)},
                              {"minima", MPI_2INT, MPI_MINLOC, 2 * sizeof(int)},
                              {"places", MPI_DOUBLE_INT, MPI_MAXLOC, 16}};
    memcpy(kinds, made, sizeof kinds);
}

static void free_kinds(void) {
    MPI_Type_free(&kinds[1].type);
    MPI_Op_free(&kinds[1].op);
    MPI_Op_free(&kinds[2].op);
}

/* --- Calls --- */

/* The calls to test. Calls with counts have libcoll's names. */
typedef enum entry {
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    SCATTER,
    SCATTERV,
    BARRIER,
    SCAN,
    EXSCAN,
    ENTRIES
} entry;
static const struct {
    const char *name;
    coll_operation operation;
} entries[ENTRIES] = {
    [ALLREDUCE] = {"allreduce", COLL_OPERATION_ALLREDUCE},
    [REDUCE] = {"reduce", COLL_OPERATION_REDUCE},
    [REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", COLL_OPERATION_REDUCE_SCATTER},
    [REDUCE_SCATTER] = {"reduce_scatter", COLL_OPERATION_REDUCE_SCATTER},
    [ALLGATHER] = {"allgather", COLL_OPERATION_ALLGATHER},
    [ALLGATHERV] = {"allgatherv", COLL_OPERATION_ALLGATHER},
    [ALLTOALL] = {"alltoall", COLL_OPERATION_ALLTOALL},
    [ALLTOALLV] = {"alltoallv", COLL_OPERATION_ALLTOALL},
    [ALLTOALLW] = {"alltoallw", COLL_OPERATION_ALLTOALL},
    [SCATTER] = {"scatter", COLL_OPERATION_SCATTER},
    [SCATTERV] = {"scatterv", COLL_OPERATION_SCATTER},
    [BARRIER] = {"barrier", COLL_OPERATION_BARRIER},
    [SCAN] = {"scan", COLL_OPERATION_SCAN},
    [EXSCAN] = {"exscan", COLL_OPERATION_EXSCAN},
};

typedef enum manner { BLOCKING, NONBLOCKING, PERSISTENT, MANNERS } manner;

/*
 * Starts U with the blocking, nonblocking or persistent function. The request stays null if the
 * call has completed.
 */
#define BY(how, request, blocking, nonblocking, persistent, ...)                                   \
    ((how) == BLOCKING      ? blocking(__VA_ARGS__ comm)                                           \
     : (how) == NONBLOCKING ? nonblocking(__VA_ARGS__ comm, request)                               \
                            : persistent(__VA_ARGS__ comm, MPI_INFO_NULL, request))

static int begin(entry which, manner how, const coll_user *u, MPI_Comm comm, COLL_Request *r) {
    switch (which) {
    case ALLREDUCE:
        return BY(how, r, COLL_Allreduce, COLL_Iallreduce, COLL_Allreduce_init, u->send, u->receive,
                  u->receive_count, u->receive_type, u->op, );
    case REDUCE:
        return BY(how, r, COLL_Reduce, COLL_Ireduce, COLL_Reduce_init, u->send, u->receive,
                  u->receive_count, u->receive_type, u->op, u->root, );
    case REDUCE_SCATTER_BLOCK:
        return BY(how, r, COLL_Reduce_scatter_block, COLL_Ireduce_scatter_block,
                  COLL_Reduce_scatter_block_init, u->send, u->receive, u->receive_count,
                  u->receive_type, u->op, );
    case REDUCE_SCATTER:
        return BY(how, r, COLL_Reduce_scatter, COLL_Ireduce_scatter, COLL_Reduce_scatter_init,
                  u->send, u->receive, u->uneven->receive_counts, u->receive_type, u->op, );
    case ALLGATHER:
        return BY(how, r, COLL_Allgather, COLL_Iallgather, COLL_Allgather_init, u->send,
                  u->send_count, u->send_type, u->receive, u->receive_count, u->receive_type, );
    case ALLGATHERV:
        return BY(how, r, COLL_Allgatherv, COLL_Iallgatherv, COLL_Allgatherv_init, u->send,
                  u->send_count, u->send_type, u->receive, u->uneven->receive_counts,
                  u->uneven->receive_places, u->receive_type, );
    case ALLTOALL:
        return BY(how, r, COLL_Alltoall, COLL_Ialltoall, COLL_Alltoall_init, u->send, u->send_count,
                  u->send_type, u->receive, u->receive_count, u->receive_type, );
    case ALLTOALLV:
        return BY(how, r, COLL_Alltoallv, COLL_Ialltoallv, COLL_Alltoallv_init, u->send,
                  u->uneven->send_counts, u->uneven->send_places, u->send_type, u->receive,
                  u->uneven->receive_counts, u->uneven->receive_places, u->receive_type, );
    case ALLTOALLW:
        return BY(how, r, COLL_Alltoallw, COLL_Ialltoallw, COLL_Alltoallw_init, u->send,
                  u->uneven->send_counts, u->uneven->send_places, u->uneven->send_types, u->receive,
                  u->uneven->receive_counts, u->uneven->receive_places, u->uneven->receive_types, );
    case SCATTER:
        return BY(how, r, COLL_Scatter, COLL_Iscatter, COLL_Scatter_init, u->send, u->send_count,
                  u->send_type, u->receive, u->receive_count, u->receive_type, u->root, );
    case SCATTERV:
        return BY(how, r, COLL_Scatterv, COLL_Iscatterv, COLL_Scatterv_init, u->send,
                  u->uneven->send_counts, u->uneven->send_places, u->send_type, u->receive,
                  u->receive_count, u->receive_type, u->root, );
    case SCAN:
        return BY(how, r, COLL_Scan, COLL_Iscan, COLL_Scan_init, u->send, u->receive,
                  u->receive_count, u->receive_type, u->op, );
    case EXSCAN:
        return BY(how, r, COLL_Exscan, COLL_Iexscan, COLL_Exscan_init, u->send, u->receive,
                  u->receive_count, u->receive_type, u->op, );
    default:
        return BY(how, r, COLL_Barrier, COLL_Ibarrier, COLL_Barrier_init, );
    }
}

/*
 * Runs a call to its end. A persistent one runs twice, and the second time on the data that RESTORE
 * puts back.
 */
static int go(entry which, manner how, const coll_user *u, MPI_Comm comm, const void *before,
              size_t bytes) {
    COLL_Request request = COLL_REQUEST_NULL;
    int code = begin(which, how, u, comm, &request);
    if (how == PERSISTENT && code == MPI_SUCCESS) {
        code = COLL_Start(&request);
        if (code == MPI_SUCCESS)
            code = COLL_Wait(&request);
        memcpy(u->receive, before, bytes);
        if (code == MPI_SUCCESS)
            code = COLL_Start(&request);
    }
    if (how != BLOCKING && code == MPI_SUCCESS)
        code = COLL_Wait(&request);
    if (how == PERSISTENT && code == MPI_SUCCESS)
        code = COLL_Request_free(&request);
    return code;
}

/* --- Cases --- */

typedef struct sample {
    entry which;
    const kind *of;
    int count, root;
    bool in_place;
} sample;

/* The memory and arguments of one call. The two receive buffers have the same content at first. */
typedef struct arena {
    coll_user user;
    coll_uneven uneven;
    size_t send_bytes, receive_bytes;
    size_t result_bytes; /* the part of the receive buffer that is compared with MPI's */
    unsigned char *send, *before, *ours, *theirs;
    MPI_Count *counts[2];
    MPI_Aint *places[2];
    MPI_Datatype *types[2];
} arena;

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static bool is_uneven_alltoall(entry which) {
    return which == ALLTOALLV || which == ALLTOALLW;
}

/*
 * Returns the number of elements from rank I to rank J, or in rank J's block. In place every rank
 * has some elements: otherwise Open MPI 4.1's nonblocking alltoallv takes no tag on a rank without
 * data, and later calls wait forever.
 */
static int share(const sample *s, int i, int j) {
    bool pairs = is_uneven_alltoall(s->which);
    if (pairs && s->in_place)
        return (i + j) % 3 * s->count / 2 + (s->count > 0);
    return pairs ? (i * 3 + j * 5 + 1) % 4 * s->count / 2 : (j * 5 + 2) % 4 * s->count / 2;
}

/* Fills BYTES with small numbers, so that results are the same in any order of operations. */
static void fill_ints(unsigned char *bytes, size_t size, unsigned seed) {
    int *numbers = (int *)bytes;
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        numbers[i] = (int)((i * 2654435761u + seed * 40503u) >> 7 & 1023);
}

static void fill_as(const sample *s, unsigned char *bytes, size_t size, unsigned seed) {
    fill_ints(bytes, size, seed);
    for (size_t i = 0; s->of->type == MPI_DOUBLE_INT && i < size / 16; i++) {
        double number = (double)((i * 7 + seed * 5) % 11);
        memcpy(bytes + i * 16, &number, sizeof number);
    }
}

/* Places blocks with counts: the last rank's first, with a gap of one element between blocks. */
static size_t place_blocks(arena *a, const sample *s, int side, bool sends) {
    int next = 0;
    a->counts[side] = allocate((size_t)world_ranks * sizeof *a->counts[side]);
    a->places[side] = allocate((size_t)world_ranks * sizeof *a->places[side]);
    for (int rank = world_ranks - 1; rank >= 0; rank--) {
        int count = sends ? share(s, world_rank, rank) : share(s, rank, world_rank);
        if (!is_uneven_alltoall(s->which))
            count = share(s, 0, rank);
        a->counts[side][rank] = count;
        a->places[side][rank] = next;
        next += count + (s->which != REDUCE_SCATTER);
    }
    return (size_t)next;
}

/* Sets the number of elements that this rank sends and receives. */
static void measure(arena *a, const sample *s, size_t *sent, size_t *received) {
    size_t count = (size_t)s->count, all = count * (size_t)world_ranks;
    bool is_root = world_rank == s->root;
    *sent = *received = count;
    switch (s->which) {
    case REDUCE_SCATTER_BLOCK:
        *sent = all;
        break;
    case REDUCE_SCATTER:
        *sent = place_blocks(a, s, 1, false);
        *received = (size_t)a->counts[1][world_rank];
        break;
    case ALLGATHER:
        *received = all;
        break;
    case ALLGATHERV:
        *received = place_blocks(a, s, 1, false);
        *sent = (size_t)a->counts[1][world_rank];
        break;
    case ALLTOALL:
        *sent = *received = all;
        break;
    case ALLTOALLV:
    case ALLTOALLW:
        *sent = place_blocks(a, s, 0, true);
        *received = place_blocks(a, s, 1, false);
        break;
    case SCATTER:
        *sent = is_root ? all : 0;
        break;
    case SCATTERV:
        *sent = place_blocks(a, s, 0, true);
        *received = (size_t)a->counts[0][world_rank];
        break;
    case BARRIER:
        *sent = *received = 0;
        break;
    default:
        break;
    }
}

static void describe_call(arena *a, const sample *s, size_t sent, size_t received) {
    bool vectors = s->which == ALLGATHERV || is_uneven_alltoall(s->which) || s->which == SCATTERV ||
                   s->which == REDUCE_SCATTER;
    bool blocks = s->which == ALLGATHER || s->which == ALLTOALL;
    a->uneven = (coll_uneven){.send_counts = a->counts[0],
                              .send_places = a->places[0],
                              .receive_counts = a->counts[1],
                              .receive_places = a->places[1],
                              .send_types = a->types[0],
                              .receive_types = a->types[1]};
    a->user = (coll_user){.send = a->send,
                          .send_count = s->which == ALLGATHERV ? (MPI_Count)sent : s->count,
                          .send_type = s->of->type,
                          .receive_count = blocks ? s->count : (MPI_Count)received,
                          .receive_type = s->of->type,
                          .op = s->of->op,
                          .root = s->root,
                          .uneven = vectors ? &a->uneven : NULL};
}

/* In place: copies the input to the place of the results, if it fits there. */
static bool put_in_place(arena *a, const sample *s, size_t sent) {
    size_t extent = s->of->extent, own = 0;
    if (s->which == SCATTER || s->which == SCATTERV || s->which == BARRIER)
        return false;
    if (s->which == REDUCE && world_rank != s->root)
        return true;
    if (s->which == ALLGATHER)
        own = (size_t)(world_rank * s->count) * extent;
    if (s->which == ALLGATHERV)
        own = (size_t)a->places[1][world_rank] * extent;
    if (is_uneven_alltoall(s->which))
        fill_as(s, a->before, a->receive_bytes, (unsigned)world_rank + 3);
    else
        memcpy(a->before + own, a->send, sent * extent);
    a->user.send = MPI_IN_PLACE;
    return true;
}

/* Describes an alltoallw's blocks by bytes and types: some as elements, others as one item. */
static void give_types(arena *a, const sample *s, int side) {
    a->types[side] = allocate((size_t)world_ranks * sizeof *a->types[side]);
    for (int rank = 0; rank < world_ranks; rank++) {
        MPI_Datatype *type = &a->types[side][rank];
        const bool whole = (world_rank + rank + side) % 3 == 0;
        a->places[side][rank] *= (MPI_Aint)s->of->extent;
        MPI_Type_contiguous(whole ? (int)a->counts[side][rank] : 1, s->of->type, type);
        MPI_Type_commit(type);
        if (whole)
            a->counts[side][rank] = 1;
    }
}

static void free_types(arena *a) {
    for (int side = 0; side < 2; side++)
        for (int rank = 0; a->types[side] && rank < world_ranks; rank++)
            MPI_Type_free(&a->types[side][rank]);
}

static bool prepare(arena *a, const sample *s) {
    size_t sent, received, extent = s->of->extent, guard = extent;
    *a = (arena){.send = NULL};
    measure(a, s, &sent, &received);
    for (int side = 0; s->which == ALLTOALLW && side < 2; side++)
        give_types(a, s, side);
    bool grows = s->in_place && s->which != SCATTER && s->which != SCATTERV;
    a->send_bytes = sent * extent;
    a->receive_bytes = (grows && sent > received ? sent : received) * extent + guard;
    a->send = allocate(a->send_bytes);
    a->before = allocate(a->receive_bytes);
    a->ours = allocate(a->receive_bytes);
    a->theirs = allocate(a->receive_bytes);
    bool scatters = s->which == REDUCE_SCATTER || s->which == REDUCE_SCATTER_BLOCK;
    a->result_bytes = grows && scatters ? received * extent : a->receive_bytes;
    fill_as(s, a->send, a->send_bytes, (unsigned)world_rank);
    fill_as(s, a->before, a->receive_bytes, 1000);
    describe_call(a, s, sent, received);
    return !s->in_place || put_in_place(a, s, sent);
}

static void release(arena *a) {
    free(a->send);
    free(a->before);
    free(a->ours);
    free(a->theirs);
    free_types(a);
    for (int side = 0; side < 2; side++) {
        free(a->counts[side]);
        free(a->places[side]);
        free(a->types[side]);
    }
}

static void compare(const sample *s, manner how, MPI_Comm comm, const char *spec) {
    arena a;
    if (prepare(&a, s)) {
        memcpy(a.theirs, a.before, a.receive_bytes);
        memcpy(a.ours, a.before, a.receive_bytes);
        a.user.receive = a.theirs;
        int native = coll_native_run(entries[s->which].operation, &a.user, comm, NULL, NULL);
        a.user.receive = a.ours;
        int code = go(s->which, how, &a.user, comm, a.before, a.receive_bytes);
        bool good = native == MPI_SUCCESS && code == MPI_SUCCESS &&
                    memcmp(a.ours, a.theirs, a.result_bytes) == 0;
        harness_assert(good, "%s by %s at rank %d of %d, root %d, %d %s, manner %d%s: code %d",
                       entries[s->which].name, spec, world_rank, world_ranks, s->root, s->count,
                       s->of->name, (int)how, s->in_place ? ", in place" : "", code);
    }
    release(&a);
}

/*
 * Writes a spec of ALGORITHM to SPEC. In half of the turns segment and window have their minimum,
 * there is a radix, and only some blocks are packed.
 */
static void small_spec(const coll_algorithm *algorithm, int turn, char *spec, size_t size) {
    static const int radices[] = {2, 3, 4, 8};
    int used = snprintf(spec, size, "%s", algorithm->name);
    for (int i = 0; turn % 4 < 2 && algorithm->params[i].name; i++) {
        const char *name = algorithm->params[i].name;
        int value = strcmp(name, "segment") == 0  ? 8
                    : strcmp(name, "packed") == 0 ? 40
                    : strcmp(name, "window") == 0 ? 2
                    : strcmp(name, "radix") == 0  ? radices[turn / 4 % 4]
                                                  : 0;
        if (value)
            used += snprintf(spec + used, size - (size_t)used, "%c%s=%d",
                             strchr(spec, ':') ? ',' : ':', name, value);
    }
}

static bool is_rooted(entry which) {
    return which == REDUCE || which == SCATTER || which == SCATTERV;
}

static void run_cases(entry which, const coll_algorithm *algorithm, MPI_Comm comm) {
    static const int counts[] = {0, 1, 7, 50, 400};
    char spec[100];
    int turn = 0;
    for (int root = 0; root < (is_rooted(which) ? world_ranks : 1); root++)
        for (int count = 0; count < 5; count++)
            for (int k = 0; k < KINDS; k++, turn++) {
                const sample s = {which, &kinds[k], counts[count], root, turn % 3 == 1};
                small_spec(algorithm, turn, spec, sizeof spec);
                ck_assert_int_eq(
                    COLL_Set(comm, coll_operations[entries[which].operation].name, spec),
                    MPI_SUCCESS);
                compare(&s, (manner)((turn + count) % MANNERS), comm, spec);
            }
}

START_TEST(every_algorithm_does_as_mpi_does) {
    MPI_Comm comm;
    entry which = (entry)_i;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    ck_assert_int_eq(
        COLL_Barrier(comm),
        MPI_SUCCESS); /* a nonblocking call needs a communicator that libcoll has set up */
    const coll_algorithm *const *table = coll_operations[entries[which].operation].table;
    for (const coll_algorithm *const *a = table; *a; a++)
        run_cases(which, *a, comm);
    ck_assert_int_eq(COLL_Set(comm, coll_operations[entries[which].operation].name, "auto"),
                     MPI_SUCCESS);
    run_cases(which, table[0], comm);
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * Writes a spec of ALGORITHM with each parameter at its lower bound, or at its upper bound if HIGH.
 */
static void extreme_spec(const coll_algorithm *algorithm, bool high, char *spec, size_t size) {
    int used = snprintf(spec, size, "%s", algorithm->name);
    for (int i = 0; algorithm->params[i].name; i++) {
        const coll_param *param = &algorithm->params[i];
        uint64_t least = param->lowest ? param->lowest : 1;
        used += snprintf(spec + used, size - (size_t)used, "%c%s=%" PRIu64, i ? ',' : ':',
                         param->name, high ? param->highest : least);
    }
}

/*
 * Large parameters do not need more memory for small blocks, even if ranks do not know the sizes of
 * other ranks' blocks.
 */
START_TEST(parameters_may_be_extreme) {
    enum { MOST = 64 << 20 };
    MPI_Comm comm;
    coll_comm *state;
    entry which = (entry)_i;
    const coll_algorithm *const *table = coll_operations[entries[which].operation].table;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    pretend_layout(comm, (world_ranks + 1) / 2, 2);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    for (int turn = 0; table[turn / 4]; turn++) {
        const coll_algorithm *algorithm = table[turn / 4];
        const sample s = {which, &kinds[turn % 2], turn % 4 < 2 ? 7 : 50, 0, false};
        char spec[200];
        if (strcmp(algorithm->name, "dcp") == 0)
            continue;
        extreme_spec(algorithm, turn % 2, spec, sizeof spec);
        ck_assert_int_eq(COLL_Set(comm, coll_operations[entries[which].operation].name, spec),
                         MPI_SUCCESS);
        compare(&s, turn % 4 < 2 ? BLOCKING : NONBLOCKING, comm, spec);
        harness_assert(state->scratch_bytes <= MOST, "%s takes %zu bytes", spec,
                       state->scratch_bytes);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/* Tests algorithms for sites, with measured latencies and with different ones. */
START_TEST(over_sites) {
    static const struct {
        entry which;
        const coll_algorithm *algorithm;
    } made[] = {{ALLREDUCE, &hlot_allreduce_all_sites},
                {ALLREDUCE, &hlot_allreduce_all_sites},
                {ALLREDUCE, &hlot_allreduce_sites},
                {REDUCE, &hlot_reduce_sites},
                {BARRIER, &hlot_barrier_all_sites}};
    int sites = world_ranks < 4 ? world_ranks : world_ranks - 2;
    MPI_Comm comm;
    coll_comm *state;
    if (world_ranks == 1)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    pretend_sites(comm, sites);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    coll_topo *topo = &coll_state_of(state)->topo;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        ck_assert(coll_select_applicable(made[i].algorithm, &(coll_shape){.topo = topo}));
        run_cases(made[i].which, made[i].algorithm, comm);
        ck_assert_ptr_nonnull(topo->latencies);
        for (int pair = 0; i == 0 && pair < sites * sites; pair++)
            topo->latencies[pair] = 1e-3 * (1 + (pair * 37 + sites) % 29);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/* Tests algorithms for many ranks per node: one to three ranks on a node, or half of all. */
START_TEST(over_nodes) {
    static const struct {
        entry which;
        const coll_algorithm *algorithm;
    } made[] = {{ALLREDUCE, &coll_allreduce_multi_leader},
                {ALLREDUCE, &coll_allreduce_node_shares},
                {BARRIER, &coll_barrier_multi_leader},
                {ALLGATHER, &coll_allgather_multi_leader},
                {ALLGATHERV, &coll_allgather_multi_leader},
                {ALLTOALL, &coll_alltoall_multi_leader},
                {REDUCE_SCATTER_BLOCK, &coll_reduce_scatter_multi_leader},
                {REDUCE_SCATTER, &coll_reduce_scatter_multi_leader},
                {REDUCE, &coll_reduce_multi_leader}};
    for (int shared = 1; shared <= 4 && world_ranks > 1; shared++) {
        MPI_Comm comm;
        int nodes = shared < 4 ? (world_ranks - 1) / shared + 1 : 2;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        pretend_layout(comm, nodes > 2 ? nodes : 2, 1 + shared % 2);
        for (size_t i = 0; i < sizeof made / sizeof *made; i++)
            run_cases(made[i].which, made[i].algorithm, comm);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Many operations of several kinds are active at the same time, and complete in another order. */
START_TEST(many_at_once) {
    enum { MANY = 12 };
    MPI_Comm comm;
    COLL_Request requests[MANY];
    int own[MANY], sums[MANY];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ck_assert_int_eq(COLL_Barrier(comm), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        own[i] = world_rank * 10 + i;
        sums[i] = own[i];
        int code = i % 3 == 2 ? COLL_Ibarrier(comm, &requests[i])
                              : COLL_Iallreduce(i % 2 ? MPI_IN_PLACE : &own[i], &sums[i], 1,
                                                MPI_INT, MPI_SUM, comm, &requests[i]);
        ck_assert_int_eq(code, MPI_SUCCESS);
    }
    for (int i = MANY - 1; i >= 0; i--)
        ck_assert_int_eq(COLL_Wait(&requests[i]), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        int wanted = world_ranks * (world_ranks - 1) / 2 * 10 + i * world_ranks;
        ck_assert_int_eq(sums[i], i % 3 == 2 ? own[i] : wanted);
    }
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * Sums all ranks' VALUE, in COUNT elements. Returns the first element, after a check that all
 * others have the same bits.
 */
static float sum_up(float value, int count, manner how, MPI_Comm comm) {
    float *own = allocate((size_t)count * sizeof *own),
          *sums = allocate((size_t)count * sizeof *own);
    for (int i = 0; i < count; i++)
        own[i] = value;
    const coll_user user = {.send = own,
                            .receive = sums,
                            .receive_count = count,
                            .receive_type = MPI_FLOAT,
                            .op = MPI_SUM};
    COLL_Request request = COLL_REQUEST_NULL;
    ck_assert_int_eq(begin(ALLREDUCE, how, &user, comm, &request), MPI_SUCCESS);
    if (how == PERSISTENT)
        ck_assert_int_eq(COLL_Start(&request), MPI_SUCCESS);
    if (how != BLOCKING)
        ck_assert_int_eq(COLL_Wait(&request), MPI_SUCCESS);
    if (how == PERSISTENT)
        ck_assert_int_eq(COLL_Request_free(&request), MPI_SUCCESS);
    for (int i = 1; i < count; i++)
        ck_assert_mem_eq(&sums[i], &sums[0], sizeof *sums);
    float first = sums[0];
    free(sums);
    free(own);
    return first;
}

/* The bits of a sum depend only on the number of ranks, not on the size and the placement. */
START_TEST(reductions_can_be_reproducible) {
    static const int counts[] = {1, 3, 700, 50000};
    float value = 1.0F / (float)(3 * world_rank + 1), first = 0;
    setenv("COLL_REPRODUCIBLE", "1", 1);
    for (int placement = 0; placement < 3; placement++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (placement > 0)
            pretend_layout(comm, placement == 1 ? world_ranks : (world_ranks + 1) / 2, placement);
        ck_assert_int_eq(COLL_Barrier(comm), MPI_SUCCESS);
        ck_assert_int_eq(harness_class(COLL_Set(comm, "allreduce", "ring")), MPI_ERR_ARG);
        for (int i = 0; i < 3 * 4 * MANNERS; i++) {
            static const char *const specs[] = {"auto", "halving", "recursive_doubling"};
            ck_assert_int_eq(COLL_Set(comm, "allreduce", specs[i % 3]), MPI_SUCCESS);
            float sum = sum_up(value, counts[i / 3 % 4], (manner)(i / 12), comm);
            first = placement + i == 0 ? sum : first;
            ck_assert_mem_eq(&sum, &first, sizeof sum);
        }
        MPI_Comm_free(&comm);
    }
    unsetenv("COLL_REPRODUCIBLE");
}
END_TEST

/*
 * On some ranks a new operation has the handle of an old one, which was freed; on others it has a
 * new handle.
 */
START_TEST(operations_come_and_go) {
    ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "allreduce", "ring"), MPI_SUCCESS);
    for (int turn = 0; turn < 4; turn++) {
        const affine given = {.a = world_rank, .b = turn};
        affine all = {.a = -1, .b = -1};
        MPI_Op own, other = MPI_OP_NULL;
        if (world_rank % 2 && turn % 2)
            MPI_Op_create(add, 1, &other);
        MPI_Op_create(add, 1, &own);
        int code = COLL_Allreduce(&given, &all, 1, kinds[1].type, own, MPI_COMM_WORLD);
        harness_assert(code == MPI_SUCCESS && all.a == world_ranks * (world_ranks - 1) / 2 &&
                           all.b == world_ranks * turn,
                       "turn %d", turn);
        MPI_Op_free(&own);
        if (other != MPI_OP_NULL)
            MPI_Op_free(&other);
    }
    ck_assert_int_eq(COLL_Set(MPI_COMM_WORLD, "allreduce", "auto"), MPI_SUCCESS);
}
END_TEST

/* Wrong arguments are errors of the right class on this rank, and no message is sent. */
START_TEST(mistakes_are_errors) {
    MPI_Comm comm;
    int one = 1, all[64] = {0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    COLL_Set(comm, "allreduce", "ring"); /* so that the MPI library does not check the arguments */
    COLL_Set(comm, "reduce", "auto");
    COLL_Set(comm, "barrier", "auto");
    COLL_Request request;
    ck_assert_int_eq(harness_class(COLL_Allreduce(&one, all, -1, MPI_INT, MPI_SUM, comm)),
                     MPI_ERR_COUNT);
    ck_assert_int_eq(harness_class(COLL_Allreduce(&one, all, 1, MPI_DATATYPE_NULL, MPI_SUM, comm)),
                     MPI_ERR_TYPE);
    ck_assert_int_eq(harness_class(COLL_Allreduce(&one, all, 1, MPI_INT, MPI_OP_NULL, comm)),
                     MPI_ERR_OP);
    ck_assert_int_eq(harness_class(COLL_Allreduce(&one, all, 1, MPI_DOUBLE, MPI_BAND, comm)),
                     MPI_ERR_OP);
    ck_assert_int_eq(harness_class(COLL_Allreduce(&one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm)),
                     MPI_ERR_BUFFER);
    ck_assert_int_eq(
        harness_class(COLL_Ireduce(&one, all, 1, MPI_INT, MPI_SUM, world_ranks, comm, &request)),
        MPI_ERR_ROOT);
    ck_assert_int_eq(
        harness_class(COLL_Iscatter(&one, 1, MPI_INT, all, 1, MPI_INT, -1, comm, &request)),
        MPI_ERR_ROOT);
    ck_assert_int_eq(
        harness_class(COLL_Iallreduce(&one, all, 1, MPI_DOUBLE, MPI_BAND, comm, &request)),
        MPI_ERR_OP);
    ck_assert_int_eq(COLL_Allreduce(&one, all, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    ck_assert_int_eq(all[0], world_ranks);
    MPI_Comm_free(&comm);
}
END_TEST

static int raised;

static void count_raised(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    raised++;
}

/* An error reaches the communicator's handler once, whichever part of libcoll finds it. */
START_TEST(errors_are_raised_once) {
    MPI_Comm comm, between, half;
    MPI_Errhandler handler;
    COLL_Request request;
    int one = 1, all;
    if (world_ranks < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 1, &between);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count_raised, &handler);
    MPI_Comm_set_errhandler(between, handler);
    MPI_Comm_set_errhandler(comm, handler);
    raised = 0;
    ck_assert_int_ne(COLL_Allreduce(&one, &all, -1, MPI_INT, MPI_SUM, between), MPI_SUCCESS);
    ck_assert_int_eq(raised, 1);
    ck_assert_int_ne(COLL_Allreduce(&one, &all, 1LL << 40, MPI_INT, MPI_SUM, between), MPI_SUCCESS);
    ck_assert_int_eq(raised, 2);
    ck_assert_int_ne(COLL_Iallreduce(&one, &all, -1, MPI_INT, MPI_SUM, comm, &request),
                     MPI_SUCCESS); /* libcoll has not set the communicator up yet */
    ck_assert_int_eq(raised, 3);
    ck_assert_int_ne(COLL_Allreduce(&one, &all, -1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    ck_assert_int_eq(raised, 4);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}
END_TEST

static Suite *make_suite(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("collectives");
    TCase *tests = tcase_create("collectives");
    tcase_set_timeout(tests, 300);
    tcase_add_unchecked_fixture(tests, make_kinds, free_kinds);
    tcase_add_loop_test(tests, every_algorithm_does_as_mpi_does, 0, ENTRIES);
    tcase_add_loop_test(tests, parameters_may_be_extreme, 0, ENTRIES);
    tcase_add_test(tests, over_sites);
    tcase_add_test(tests, over_nodes);
    tcase_add_test(tests, many_at_once);
    tcase_add_test(tests, reductions_can_be_reproducible);
    tcase_add_test(tests, operations_come_and_go);
    tcase_add_test(tests, mistakes_are_errors);
    tcase_add_test(tests, errors_are_raised_once);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8 free:2", make_suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests neighbourhood collectives with every algorithm, blocking, nonblocking and persistent, on
 * Cartesian topologies with and without ends, on graphs, and on distributed graphs with several
 * edges between two ranks, loops and ranks without edges; with ranks on one node and on several.
 * Compares the received data, and the memory around it, with MPI's own collectives.
 */
#include "config.h"

#include "coll.h"
#include "lib/algorithm/operations.h"
#include "lib/neighbor/neighbor.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank, world_ranks;

/* --- Topologies --- */

enum { MOST = 64 }; /* edges of a rank, in each direction */

/* The ranks that this rank receives from and sends to, or MPI_PROC_NULL. */
typedef struct edges {
    int in, out;
    int source[MOST], destination[MOST];
} edges;

typedef enum shape { RING, LINE, BOX, LOOPS, PAIRS, WEB, SPARSE, OLD_GRAPH, SHAPES } shape;
static const char *const shape_names[SHAPES] = {"ring",  "line", "box",    "loops",
                                                "pairs", "web",  "sparse", "graph"};

static MPI_Comm make_cart(int dimensions, int first, const int periodic[]) {
    int size[3] = {first, 0, 0};
    MPI_Comm made;
    MPI_Dims_create(world_ranks, dimensions, size);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, size, periodic, 0, &made);
    return made;
}

/* Returns how many edges go from rank A to rank B in a distributed graph. */
static int edges_between(shape which, int a, int b) {
    if (which == WEB) /* two to the next rank, one to the previous one and to itself */
        return 2 * (b == (a + 1) % world_ranks) + ((b + 1) % world_ranks == a) + (a == b);
    if (a % 5 == 3 || b % 5 == 3) /* ranks without edges */
        return 0;
    return (a * 7 + b * 13) % 11 < 4;
}

static MPI_Comm make_dist_graph(shape which) {
    int sources[MOST], destinations[MOST], weights[MOST], in = 0, out = 0;
    MPI_Comm made;
    for (int other = 0; other < world_ranks; other++) {
        const int last = world_ranks - 1 - other; /* not in the same order on both ends */
        for (int i = 0; i < edges_between(which, other, world_rank); i++)
            sources[in++] = other;
        for (int i = 0; i < edges_between(which, world_rank, last); i++)
            destinations[out++] = last;
    }
    for (int i = 0; i < MOST; i++)
        weights[i] = 1 + i % 3;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out, destinations, weights,
                                   MPI_INFO_NULL, 0, &made);
    return made;
}

/* A star around rank 0. */
static MPI_Comm make_graph(void) {
    int *ends = calloc((size_t)world_ranks, sizeof *ends),
        *edge = calloc(2 * (size_t)world_ranks, sizeof *edge);
    MPI_Comm made;
    ck_assert(ends && edge);
    for (int rank = 0; rank < world_ranks; rank++)
        ends[rank] = world_ranks - 1 + rank;
    for (int other = 1; other < world_ranks; other++)
        edge[other - 1] = other;
    MPI_Graph_create(MPI_COMM_WORLD, world_ranks, ends, edge, 0, &made);
    free(ends);
    free(edge);
    return made;
}

static MPI_Comm make_topology(shape which) {
    static const int all[] = {1, 1, 1}, none[] = {0, 0, 0}, some[] = {1, 0, 1};
    MPI_Comm made = which == RING        ? make_cart(1, 0, all)
                    : which == LINE      ? make_cart(1, 0, none)
                    : which == BOX       ? make_cart(3, 0, some)
                    : which == LOOPS     ? make_cart(2, 1, all)
                    : which == PAIRS     ? make_cart(2, world_ranks % 2 ? 1 : 2, all)
                    : which == OLD_GRAPH ? make_graph()
                                         : make_dist_graph(which);
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

static edges edges_of(MPI_Comm comm) {
    edges of = {.in = 0};
    int kind, weighted, dimensions, weights[2 * MOST];
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_DIST_GRAPH) {
        MPI_Dist_graph_neighbors_count(comm, &of.in, &of.out, &weighted);
        MPI_Dist_graph_neighbors(comm, of.in, of.source, weights, of.out, of.destination,
                                 weights + MOST);
        return of;
    }
    if (kind == MPI_CART) {
        MPI_Cartdim_get(comm, &dimensions);
        for (int d = 0; d < dimensions; d++)
            MPI_Cart_shift(comm, d, 1, &of.source[2 * d], &of.source[2 * d + 1]);
        of.in = 2 * dimensions;
    } else {
        MPI_Graph_neighbors_count(comm, world_rank, &of.in);
        MPI_Graph_neighbors(comm, world_rank, of.in, of.source);
    }
    of.out = of.in;
    memcpy(of.destination, of.source, sizeof of.source);
    return of;
}

/* --- Calls --- */

typedef enum entry { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, ENTRIES } entry;
static const char *const entry_names[ENTRIES] = {"allgather", "allgatherv", "alltoall", "alltoallv",
                                                 "alltoallw"};

typedef enum manner { BLOCKING, NONBLOCKING, PERSISTENT, MANNERS } manner;

/* The arguments of a call. Displacements leave gaps between blocks, and reverse their order. */
typedef struct call {
    entry which;
    const edges *of;
    MPI_Datatype type;
    int count; /* of a block; with counts, its unit */
    void *send;
    int send_counts[MOST], send_places[MOST], receive_counts[MOST], receive_places[MOST];
    MPI_Count wide_send_counts[MOST], wide_receive_counts[MOST];
    MPI_Aint wide_send_places[MOST], wide_receive_places[MOST];
    MPI_Datatype send_types[MOST], receive_types[MOST]; /* set by give_types */
    int sent, received; /* elements that the buffers have room for */
} call;

/* Returns the elements from rank A to rank B. */
static int share(const call *c, int a, int b) {
    return a == MPI_PROC_NULL || b == MPI_PROC_NULL ? 1
           : c->which == ALLGATHERV                 ? c->count * (a % 3)
                                                    : c->count * ((a + 2 * b) % 3);
}

static call make_call(entry which, const edges *of, MPI_Datatype type, int count) {
    call c = {.which = which, .of = of, .type = type, .count = count};
    const bool shares = which == ALLGATHER || which == ALLGATHERV;
    for (int i = of->out - 1; i >= 0; i--) {
        c.wide_send_counts[i] = c.send_counts[i] = share(&c, world_rank, of->destination[i]);
        c.wide_send_places[i] = c.send_places[i] = c.sent;
        c.sent += c.send_counts[i] + 1;
    }
    for (int i = of->in - 1; i >= 0; i--) {
        c.wide_receive_counts[i] = c.receive_counts[i] = share(&c, of->source[i], world_rank);
        c.wide_receive_places[i] = c.receive_places[i] = c.received;
        c.received += c.receive_counts[i] + 1;
    }
    if (shares)
        c.sent = 3 * count;
    if (which == ALLTOALL)
        c.sent = of->out * count;
    if (which == ALLGATHER || which == ALLTOALL)
        c.received = of->in * count;
    return c;
}

/* Describes MANY blocks of an alltoallw by bytes and types: some as elements, others as one item.
 */
static void give_types(int many, MPI_Datatype type, int counts[], MPI_Count wide_counts[],
                       MPI_Aint places[], MPI_Datatype types[]) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < many; i++) {
        const bool whole = (i + world_rank) % 2;
        MPI_Type_contiguous(whole ? counts[i] : 1, type, &types[i]);
        MPI_Type_commit(&types[i]);
        places[i] *= extent;
        if (whole)
            wide_counts[i] = counts[i] = 1;
    }
}

static void free_types(int many, MPI_Datatype types[]) {
    for (int i = 0; i < many; i++)
        MPI_Type_free(&types[i]);
}

/* Returns the elements that this rank sends in an allgather. */
static int own_count(const call *c) {
    return c->which == ALLGATHERV ? c->count * (world_rank % 3) : c->count;
}

static int run_natively(const call *c, void *receive, MPI_Comm comm) {
    switch (c->which) {
    case ALLGATHER:
        return MPI_Neighbor_allgather(c->send, c->count, c->type, receive, c->count, c->type, comm);
    case ALLGATHERV:
        return MPI_Neighbor_allgatherv(c->send, own_count(c), c->type, receive, c->receive_counts,
                                       c->receive_places, c->type, comm);
    case ALLTOALL:
        return MPI_Neighbor_alltoall(c->send, c->count, c->type, receive, c->count, c->type, comm);
    case ALLTOALLV:
        return MPI_Neighbor_alltoallv(c->send, c->send_counts, c->send_places, c->type, receive,
                                      c->receive_counts, c->receive_places, c->type, comm);
    default:
#if MPI_VERSION >= 4 /* the other one mixes up the degrees in MPICH 4.0.2 */
        return MPI_Neighbor_alltoallw_c(c->send, c->wide_send_counts, c->wide_send_places,
                                        c->send_types, receive, c->wide_receive_counts,
                                        c->wide_receive_places, c->receive_types, comm);
#else
        return MPI_Neighbor_alltoallw(c->send, c->send_counts, c->wide_send_places, c->send_types,
                                      receive, c->receive_counts, c->wide_receive_places,
                                      c->receive_types, comm);
#endif
    }
}

#define BY(blocking, nonblocking, persistent, ...)                                                 \
    (how == BLOCKING      ? blocking(__VA_ARGS__, comm)                                            \
     : how == NONBLOCKING ? nonblocking(__VA_ARGS__, comm, request)                                \
                          : persistent(__VA_ARGS__, comm, MPI_INFO_NULL, request))

static int begin(const call *c, manner how, void *receive, MPI_Comm comm, COLL_Request *request) {
    switch (c->which) {
    case ALLGATHER:
        return BY(COLL_Neighbor_allgather, COLL_Ineighbor_allgather, COLL_Neighbor_allgather_init,
                  c->send, c->count, c->type, receive, c->count, c->type);
    case ALLGATHERV:
        return BY(COLL_Neighbor_allgatherv, COLL_Ineighbor_allgatherv,
                  COLL_Neighbor_allgatherv_init, c->send, own_count(c), c->type, receive,
                  c->wide_receive_counts, c->wide_receive_places, c->type);
    case ALLTOALL:
        return BY(COLL_Neighbor_alltoall, COLL_Ineighbor_alltoall, COLL_Neighbor_alltoall_init,
                  c->send, c->count, c->type, receive, c->count, c->type);
    case ALLTOALLV:
        return BY(COLL_Neighbor_alltoallv, COLL_Ineighbor_alltoallv, COLL_Neighbor_alltoallv_init,
                  c->send, c->wide_send_counts, c->wide_send_places, c->type, receive,
                  c->wide_receive_counts, c->wide_receive_places, c->type);
    default:
        return BY(COLL_Neighbor_alltoallw, COLL_Ineighbor_alltoallw, COLL_Neighbor_alltoallw_init,
                  c->send, c->wide_send_counts, c->wide_send_places, c->send_types, receive,
                  c->wide_receive_counts, c->wide_receive_places, c->receive_types);
    }
}

/* Runs a call to its end; a persistent one twice, and the second time on new memory. */
static int run(const call *c, manner how, void *receive, const void *before, size_t bytes,
               MPI_Comm comm) {
    COLL_Request request = COLL_REQUEST_NULL;
    int code = begin(c, how, receive, comm, &request);
    for (int turn = 0; how == PERSISTENT && turn < 2 && code == MPI_SUCCESS; turn++) {
        memcpy(receive, before, bytes);
        code = COLL_Start(&request);
        if (code == MPI_SUCCESS && turn == 0)
            code = COLL_Wait(&request);
    }
    if (how != BLOCKING && code == MPI_SUCCESS)
        code = COLL_Wait(&request);
    if (how == PERSISTENT && code == MPI_SUCCESS)
        code = COLL_Request_free(&request);
    return code;
}

/* --- Comparison --- */

static void *allocate(size_t bytes, unsigned seed) {
    unsigned char *memory = malloc(bytes + 1);
    ck_assert_ptr_nonnull(memory);
    fill(memory, bytes + 1, seed);
    return memory;
}

/* Returns whether two edges come from the same rank. */
static bool edges_meet(const edges *of) {
    for (int i = 0; i < of->in; i++)
        for (int j = 0; j < i; j++)
            if (of->source[i] == of->source[j] && of->source[i] != MPI_PROC_NULL)
                return true;
    return false;
}

/* MPICH's alltoalls may exchange the blocks of such edges, so there is nothing to compare with. */
#ifdef MPICH_NUMVERSION
static const bool mixes_edges = true;
#else
static const bool mixes_edges = false;
#endif

static void compare(const call *given, manner how, MPI_Comm comm, const char *what) {
    call c = *given;
    const bool incomparable = mixes_edges && c.which >= ALLTOALL && edges_meet(c.of);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(c.type, &lower, &extent);
    const size_t bytes = (size_t)c.received * (size_t)extent;
    c.send = allocate((size_t)c.sent * (size_t)extent, (unsigned)world_rank);
    if (c.which == ALLTOALLW) {
        give_types(c.of->out, c.type, c.send_counts, c.wide_send_counts, c.wide_send_places,
                   c.send_types);
        give_types(c.of->in, c.type, c.receive_counts, c.wide_receive_counts, c.wide_receive_places,
                   c.receive_types);
    }
    char *before = allocate(bytes, 77), *ours = allocate(bytes, 77), *theirs = allocate(bytes, 77);
    const int native = run_natively(&c, theirs, comm),
              code = run(&c, how, ours, before, bytes, comm);
    harness_assert(native == MPI_SUCCESS && code == MPI_SUCCESS &&
                       (incomparable || memcmp(ours, theirs, bytes + 1) == 0),
                   "%s of %d at rank %d of %d, %s, manner %d: code %d", entry_names[c.which],
                   c.count, world_rank, world_ranks, what, (int)how, code);
    if (c.which == ALLTOALLW) {
        free_types(c.of->out, c.send_types);
        free_types(c.of->in, c.receive_types);
    }
    free(c.send);
    free(before);
    free(ours);
    free(theirs);
}

/* Two ints with a gap between them. */
static MPI_Datatype gapped_type(void) {
    MPI_Datatype pair, gapped;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 5 * (MPI_Aint)sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Type_free(&pair);
    return gapped;
}

static const char *operation_of(entry which) {
    return which < ALLTOALL ? "neighbor_allgather" : "neighbor_alltoall";
}

static void set(MPI_Comm comm, entry which, const char *spec) {
    ck_assert_int_eq(COLL_Set(comm, operation_of(which), spec), MPI_SUCCESS);
}

/*
 * Returns whether the MPI library runs the call, and errs. Open MPI 4.1's nonblocking alltoalls
 * exchange the two directions of a dimension if both lead to the same rank.
 */
static bool is_mistaken(MPI_Comm comm, const char *spec, entry which, manner how) {
    int kind;
    MPI_Topo_test(comm, &kind);
    return kind == MPI_CART && strcmp(spec, "native") == 0 && which >= ALLTOALL &&
           how == NONBLOCKING;
}

/* Tests all entries on COMM. */
static void run_entries(MPI_Comm comm, const char *name) {
    static const char *const specs[] = {"native", "linear", "linear:segment=12", "combined",
                                        "auto"};
    static const int counts[] = {0, 1, 7, 500};
    const edges of = edges_of(comm);
    MPI_Datatype gapped = gapped_type();
    unsigned turn = 0;
    for (entry which = 0; which < ENTRIES; which++)
        for (unsigned spec = 0; spec < sizeof specs / sizeof *specs; spec++)
            for (int count = 0; count < 4; count++, turn++) {
                const manner how = (manner)((turn + spec) % MANNERS);
                const call c = make_call(which, &of, turn % 2 ? gapped : MPI_INT, counts[count]);
                char what[100];
                if (is_mistaken(comm, specs[spec], which, how))
                    continue;
                snprintf(what, sizeof what, "%s on %s", specs[spec], name);
                set(comm, which, specs[spec]);
                compare(&c, how, comm, what);
            }
    MPI_Type_free(&gapped);
}

START_TEST(every_algorithm_does_as_mpi_does) {
    const int nodes[] = {2, (world_ranks + 1) / 2, 1, world_ranks};
    const bool all = _i == BOX || _i == WEB;
    for (int i = 0; i < (all ? 4 : 2); i++) {
        if (nodes[i] > world_ranks || (i == 1 && nodes[i] <= 2))
            continue;
        MPI_Comm comm = make_topology((shape)_i);
        pretend_layout(comm, nodes[i], 1);
        run_entries(comm, shape_names[_i]);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Blocks are longer than a segment, and too long to be combined. */
START_TEST(blocks_may_be_long) {
    MPI_Comm comm = make_topology(BOX);
    const edges of = edges_of(comm);
    pretend_layout(comm, world_ranks > 1 ? (world_ranks + 1) / 2 : 1, 1);
    for (entry which = 0; which < ENTRIES; which++)
        for (int turn = 0; turn < 4; turn++) {
            const call c = make_call(which, &of, MPI_INT, turn % 2 ? 300000 : 40000);
            set(comm, which, turn < 2 ? "linear" : "combined");
            compare(&c, (manner)(turn % 2 + (which > 1)), comm, "long");
        }
    MPI_Comm_free(&comm);
}
END_TEST

/* Until all ranks know the edges of a graph, what can't wait for them goes to the MPI library. */
START_TEST(nonblocking_calls_come_first) {
    MPI_Comm comm = make_topology(WEB), cart = make_topology(RING);
    const edges of = edges_of(comm), of_cart = edges_of(cart);
    coll_comm *own;
    const coll_graph *graph;
    COLL_Barrier(comm);
    COLL_Barrier(cart);
    ck_assert_int_eq(coll_comm_get(comm, &own), MPI_SUCCESS);
    set(comm, ALLTOALL, "linear");
    for (manner how = NONBLOCKING; how < MANNERS; how++) {
        const call c = make_call(ALLTOALL, &of, MPI_INT, 3);
        compare(&c, how, comm, "at first");
        ck_assert_int_eq(coll_graph_of(own, &coll_state_of(own)->topo, &graph), MPI_SUCCESS);
        ck_assert((how == PERSISTENT) == (graph != NULL));
    }
    const call c = make_call(ALLTOALL, &of_cart, MPI_INT, 3);
    ck_assert_int_eq(coll_comm_get(cart, &own), MPI_SUCCESS);
    compare(&c, NONBLOCKING, cart, "at first");
    ck_assert_int_eq(coll_graph_of(own, &coll_state_of(own)->topo, &graph), MPI_SUCCESS);
    ck_assert_ptr_nonnull(graph);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&cart);
}
END_TEST

/* A rank without edges calls the MPI library as the others do: MPICH and Open MPI count the calls
 * on a communicator, and match the messages of its nonblocking collectives by this number. */
START_TEST(ranks_without_edges_call_mpi) {
    MPI_Comm comm = make_topology(SPARSE);
    const edges of = edges_of(comm);
    pretend_layout(comm, world_ranks > 1 ? (world_ranks + 1) / 2 : 1, 1);
    for (entry which = 0; which < ENTRIES; which++)
        for (manner how = BLOCKING; how < MANNERS; how++)
            for (int turn = 0; turn < 2; turn++) {
                const call c = make_call(which, &of, MPI_INT, 3);
                int sum = 1;
                MPI_Request request;
                set(comm, which, turn ? "native" : "linear");
                compare(&c, how, comm, "some without edges");
                MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                ck_assert_int_eq(sum, world_ranks);
            }
    MPI_Comm_free(&comm);
}
END_TEST

/* A message to the lower neighbour in a dimension arrives there as from the upper one, even if both
 * are the same rank. */
START_TEST(directions_are_kept) {
    if (mixes_edges && world_ranks == 1)
        return; /* one rank runs MPI's own */
    for (shape which = RING; which <= PAIRS; which++) {
        MPI_Comm comm = make_topology(which);
        const edges of = edges_of(comm);
        pretend_layout(comm, world_ranks > 1 ? (world_ranks + 1) / 2 : 1, 1);
        for (int turn = 0; turn < 2; turn++) {
            int sent[MOST], received[MOST];
            for (int i = 0; i < of.in; i++) {
                sent[i] = world_rank * MOST + i;
                received[i] = -1;
            }
            set(comm, ALLTOALL, turn ? "combined" : "linear");
            ck_assert_int_eq(COLL_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm),
                             MPI_SUCCESS);
            for (int i = 0; i < of.in; i++)
                ck_assert_int_eq(received[i], of.source[i] == MPI_PROC_NULL
                                                  ? -1
                                                  : of.source[i] * MOST + (i ^ 1));
        }
        MPI_Comm_free(&comm);
    }
}
END_TEST

static int handled; /* errors */

static void count_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

/* Checks that a call has returned an error and has raised it once. */
static void check_error(int code) {
    ck_assert_int_ne(code, MPI_SUCCESS);
    ck_assert_int_eq(handled, 1);
    handled = 0;
}

/* The first calls on a communicator may be checked by libcoll, later ones by the MPI library. */
START_TEST(errors_are_returned_and_raised_once) {
    int block[MOST] = {0}, other[MOST];
    MPI_Comm plain, comm = make_topology(RING);
    MPI_Errhandler counting;
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_set_errhandler(plain, counting);
    MPI_Comm_set_errhandler(comm, counting);
    for (int i = 0; i < 2; i++) {
        check_error(COLL_Neighbor_alltoall(block, 1, MPI_INT, other, 1, MPI_INT, plain));
        check_error(COLL_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, other, 1, MPI_INT, comm));
        check_error(COLL_Neighbor_allgather(block, -1, MPI_INT, other, 1, MPI_INT, comm));
        check_error(COLL_Neighbor_allgather(block, 1, MPI_DATATYPE_NULL, other, 1, MPI_INT, comm));
    }
    MPI_Errhandler_free(&counting);
    MPI_Comm_free(&plain);
    MPI_Comm_free(&comm);
}
END_TEST

static Suite *suite(void) {
    Suite *all = suite_create("neighbors");
    TCase *tests = tcase_create("neighbors");
    tcase_set_timeout(tests, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    tcase_add_loop_test(tests, every_algorithm_does_as_mpi_does, 0, SHAPES);
    tcase_add_test(tests, blocks_may_be_long);
    tcase_add_test(tests, nonblocking_calls_come_first);
    tcase_add_test(tests, ranks_without_edges_call_mpi);
    tcase_add_test(tests, directions_are_kept);
    tcase_add_test(tests, errors_are_returned_and_raised_once);
    suite_add_tcase(all, tests);
    return all;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8 12", suite);
}

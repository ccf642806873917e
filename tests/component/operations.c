/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests every collective as a blocking, nonblocking and persistent one: in place or not, with no,
 * few and many elements, with and without gaps, with every root, on all ranks and on a part of them
 * in another order. Every rank computes its expected results. Prints the number of wrong results,
 * and fails if there was any.
 */
#include "tests/component/persistent.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

enum { RANKS = 8, MANY = 600, WORDS = 2 * 3 * RANKS * MANY, GAP = -7 };

typedef enum manner { BLOCKING, NONBLOCKING, PERSISTENT, MANNERS } manner;
static const char *const manners[MANNERS] = {"blocking", "nonblocking", "persistent"};

/*
 * The communicator, the kind of call and the data of a collective. Its elements are integers with a
 * distance of STRIDE.
 */
static MPI_Comm comm;
static int rank, ranks, count, stride, root;
static MPI_Datatype type;
static MPI_Op sum;
static manner how;
static bool in_place;

static int from[WORDS], to[WORDS], wrong;
static int counts[RANKS], places[RANKS];

/* Returns the value of element I that SENDER has for RECEIVER. */
static int value(int sender, int receiver, int i) {
    return sender * 1000 + receiver * 100 + i % 97;
}

static void clear(void) {
    for (int i = 0; i < WORDS; i++)
        from[i] = to[i] = GAP;
}

/* Writes LENGTH elements of SENDER for RECEIVER, from element PLACE on. */
static void put(int *into, int place, int length, int sender, int receiver) {
    for (int i = 0; i < length; i++)
        into[(place + i) * stride] = value(sender, receiver, i);
}

static void complain(const char *name, int place, int expected, int got) {
    if (wrong++ == 0)
        printf("rank %d of %d: %s %s%s of %d, stride %d, root %d: at %d %d instead of %d\n", rank,
               ranks, manners[how], name, in_place ? " in place" : "", count, stride, root, place,
               got, expected);
}

/* Checks that these elements have arrived, and that the gaps have not changed. */
static void expect(const char *name, int place, int length, int sender, int receiver) {
    for (int i = 0; i < length; i++) {
        int at = (place + i) * stride;
        if (to[at] != value(sender, receiver, i))
            complain(name, at, value(sender, receiver, i), to[at]);
        if (stride == 2 && to[at + 1] != GAP)
            complain(name, at + 1, GAP, to[at + 1]);
    }
}

/* Checks the sum of the elements that the first SENDERS ranks have for RECEIVER. */
static void expect_sum(const char *name, int place, int length, int senders, int receiver) {
    for (int i = 0; i < length; i++) {
        int expected = 0, at = (place + i) * stride;
        for (int sender = 0; sender < senders; sender++)
            expected += value(sender, receiver, i);
        if (to[at] != expected)
            complain(name, at, expected, to[at]);
    }
}

static void expect_none(const char *name, int place, int length) {
    for (int i = 0; i < length * stride; i++)
        if (to[place * stride + i] != GAP)
            complain(name, place * stride + i, GAP, to[place * stride + i]);
}

/* Runs a call, a persistent one twice, with FILL before and CHECK after each. */
#define RUN(name, nonblocking, fill, check, ...)                                                   \
    do {                                                                                           \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        if (how == PERSISTENT)                                                                     \
            INIT(name)(__VA_ARGS__, MPI_INFO_NULL, &request);                                      \
        for (int round = 0; round < (how == PERSISTENT ? 2 : 1); round++) {                        \
            clear();                                                                               \
            fill;                                                                                  \
            if (how == BLOCKING)                                                                   \
                MPI_##name(__VA_ARGS__);                                                           \
            else if (how == NONBLOCKING)                                                           \
                MPI_I##nonblocking(__VA_ARGS__, &request);                                         \
            else                                                                                   \
                MPI_Start(&request);                                                               \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                 \
            check;                                                                                 \
        }                                                                                          \
        if (how == PERSISTENT)                                                                     \
            MPI_Request_free(&request);                                                            \
    } while (0)

/* --- With a root --- */

static void bcast(void) {
    RUN(Bcast, bcast, if (rank == root) put(to, 0, count, root, 0),
        expect("bcast", 0, count, root, 0), to, count, type, root, comm);
}

static void expect_gathered(const char *name, bool vector) {
    for (int i = 0; i < ranks; i++)
        expect(name, vector ? places[i] : i * count, vector ? counts[i] : count, i, 0);
}

static void gather(void) {
    bool here = in_place && rank == root;
    RUN(Gather, gather, put(here ? to : from, here ? rank * count : 0, count, rank, 0),
        if (rank == root) expect_gathered("gather", false), here ? MPI_IN_PLACE : from, count, type,
        to, count, type, root, comm);
    RUN(Gatherv, gatherv, put(here ? to : from, here ? places[rank] : 0, counts[rank], rank, 0),
        if (rank == root) expect_gathered("gatherv", true), here ? MPI_IN_PLACE : from,
        counts[rank], type, to, counts, places, type, root, comm);
}

static void put_all(int *into, bool vector) {
    for (int i = 0; i < ranks; i++)
        put(into, vector ? places[i] : i * count, vector ? counts[i] : count, rank, i);
}

static void scatter(void) {
    bool here = in_place && rank == root;
    RUN(Scatter, scatter, put_all(from, false), if (!here) expect("scatter", 0, count, root, rank),
        from, count, type, here ? MPI_IN_PLACE : to, count, type, root, comm);
    RUN(Scatterv, scatterv, put_all(from, true),
        if (!here) expect("scatterv", 0, counts[rank], root, rank), from, counts, places, type,
        here ? MPI_IN_PLACE : to, counts[rank], type, root, comm);
}

static void reduce(void) {
    bool here = in_place && rank == root;
    RUN(Reduce, reduce, put(here ? to : from, 0, count, rank, 0),
        if (rank == root) expect_sum("reduce", 0, count, ranks, 0), here ? MPI_IN_PLACE : from, to,
        count, type, sum, root, comm);
}

/* --- Among all --- */

static void allgather(void) {
    RUN(Allgather, allgather,
        put(in_place ? to : from, in_place ? rank * count : 0, count, rank, 0),
        expect_gathered("allgather", false), in_place ? MPI_IN_PLACE : from, count, type, to, count,
        type, comm);
    RUN(Allgatherv, allgatherv,
        put(in_place ? to : from, in_place ? places[rank] : 0, counts[rank], rank, 0),
        expect_gathered("allgatherv", true), in_place ? MPI_IN_PLACE : from, counts[rank], type, to,
        counts, places, type, comm);
}

static void expect_exchanged(const char *name, int each) {
    for (int i = 0; i < ranks; i++)
        expect(name, each < 0 ? places[i] : i * each, each < 0 ? (i + rank) % 4 : each, i, rank);
}

/* Writes blocks of different lengths, with which rank I and this rank exchange data. */
static void put_exchanged(int *into) {
    for (int i = 0; i < ranks; i++)
        put(into, places[i], counts[i], rank, i);
}

/* Makes the type of LENGTH elements. */
static void make_block(int length, MPI_Datatype *made) {
    MPI_Type_contiguous(length, type, made);
    MPI_Type_commit(made);
}

static void alltoall(void) {
    RUN(Alltoall, alltoall, put_all(in_place ? to : from, false),
        expect_exchanged("alltoall", count), in_place ? MPI_IN_PLACE : from, count, type, to, count,
        type, comm);
    int kept[RANKS];
    for (int i = 0; i < ranks; i++) {
        kept[i] = counts[i];
        counts[i] = (i + rank) % 4;
    }
    RUN(Alltoallv, alltoallv, put_exchanged(in_place ? to : from),
        expect_exchanged("alltoallv", -1), in_place ? MPI_IN_PLACE : from, counts, places, type, to,
        counts, places, type, comm);
    MPI_Datatype types[RANKS];
    int bytes[RANKS], items[RANKS];
    for (int i = 0; i < ranks; i++) {
        bytes[i] = places[i] * stride * (int)sizeof(int);
        items[i] = i % 2 ? counts[i] : 1;
        make_block(i % 2 ? 1 : counts[i], &types[i]);
    }
    RUN(Alltoallw, alltoallw, put_exchanged(in_place ? to : from),
        expect_exchanged("alltoallw", -1), in_place ? MPI_IN_PLACE : from, items, bytes, types, to,
        items, bytes, types, comm);
    for (int i = 0; i < ranks; i++) {
        counts[i] = kept[i];
        MPI_Type_free(&types[i]);
    }
}

static void allreduce(void) {
    RUN(Allreduce, allreduce, put(in_place ? to : from, 0, count, rank, 0),
        expect_sum("allreduce", 0, count, ranks, 0), in_place ? MPI_IN_PLACE : from, to, count,
        type, sum, comm);
}

/* Writes blocks one after the other. */
static void put_blocks(int *into, bool vector) {
    int place = 0;
    for (int i = 0; i < ranks; i++) {
        put(into, place, vector ? counts[i] : count, rank, i);
        place += vector ? counts[i] : count;
    }
}

static void reduce_scatter(void) {
    RUN(Reduce_scatter_block, reduce_scatter_block, put_blocks(in_place ? to : from, false),
        expect_sum("reduce_scatter_block", 0, count, ranks, rank), in_place ? MPI_IN_PLACE : from,
        to, count, type, sum, comm);
    RUN(Reduce_scatter, reduce_scatter, put_blocks(in_place ? to : from, true),
        expect_sum("reduce_scatter", 0, counts[rank], ranks, rank), in_place ? MPI_IN_PLACE : from,
        to, counts, type, sum, comm);
}

static void scan(void) {
    RUN(Scan, scan, put(in_place ? to : from, 0, count, rank, 0),
        expect_sum("scan", 0, count, rank + 1, 0), in_place ? MPI_IN_PLACE : from, to, count, type,
        sum, comm);
    RUN(Exscan, exscan, put(in_place ? to : from, 0, count, rank, 0),
        if (rank > 0) expect_sum("exscan", 0, count, rank, 0);
        else if (!in_place) expect_none("exscan", 0, count), in_place ? MPI_IN_PLACE : from, to,
        count, type, sum, comm);
}

static void barrier(void) {
    RUN(Barrier, barrier, (void)0, (void)0, comm);
}

/* --- Among neighbours --- */

/* The ranks of a ring that are before and behind this one, and the places of their blocks. */
static MPI_Comm ring = MPI_COMM_NULL;
static int beside[2], beside_counts[2], beside_places[2];

static void make_ring(void) {
    const int periodic = 1;
    MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &beside[0], &beside[1]);
}

/* With three ranks or more: with fewer both neighbours are the same, and Open MPI's own nonblocking
 * calls exchange their blocks. */
static void neighbors(void) {
    for (int i = 0; i < 2; i++) {
        beside_counts[i] = (rank + beside[i]) % 4;
        beside_places[i] = (1 - i) * (count + 3);
    }
    RUN(Neighbor_allgather, neighbor_allgather, put(from, 0, count, rank, 0),
        for (int i = 0; i < 2; i++) expect("neighbor_allgather", i * count, count, beside[i], 0),
        from, count, type, to, count, type, ring);
    RUN(Neighbor_alltoall, neighbor_alltoall,
        for (int i = 0; i < 2; i++) put(from, i * count, count, rank, beside[i]),
        for (int i = 0; i < 2; i++) expect("neighbor_alltoall", i * count, count, beside[i], rank),
        from, count, type, to, count, type, ring);
    RUN(Neighbor_alltoallv, neighbor_alltoallv,
        for (int i = 0; i < 2; i++) put(from, beside_places[i], beside_counts[i], rank, beside[i]),
        for (int i = 0; i < 2; i++)
            expect("neighbor_alltoallv", beside_places[i], beside_counts[i], beside[i], rank),
        from, beside_counts, beside_places, type, to, beside_counts, beside_places, type, ring);
    MPI_Datatype types[2];
    const int ones[] = {1, 1};
    MPI_Aint bytes[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = (MPI_Aint)beside_places[i] * stride * (MPI_Aint)sizeof(int);
        make_block(beside_counts[i], &types[i]);
    }
    RUN(Neighbor_alltoallw, neighbor_alltoallw,
        for (int i = 0; i < 2; i++) put(from, beside_places[i], beside_counts[i], rank, beside[i]),
        for (int i = 0; i < 2; i++)
            expect("neighbor_alltoallw", beside_places[i], beside_counts[i], beside[i], rank),
        from, ones, bytes, types, to, ones, bytes, types, ring);
    for (int i = 0; i < 2; i++) {
        MPI_Type_free(&types[i]);
        beside_counts[i] = beside[i] % 4;
    }
    RUN(Neighbor_allgatherv, neighbor_allgatherv, put(from, 0, rank % 4, rank, 0),
        for (int i = 0; i < 2; i++)
            expect("neighbor_allgatherv", beside_places[i], beside_counts[i], beside[i], 0),
        from, rank % 4, type, to, beside_counts, beside_places, type, ring);
}

/* --- All of them --- */

static void rootless(void) {
    barrier();
    allgather();
    alltoall();
    allreduce();
    reduce_scatter();
    scan();
}

static void rooted(void) {
    for (root = 0; root<ranks; root += ranks> 2 ? ranks - 1 : 1) {
        bcast();
        gather();
        scatter();
        reduce();
    }
    root = 0;
}

static void add_apart(void *with, void *into, int *length, MPI_Datatype *given) {
    (void)given;
    for (int i = 0; i < 2 * *length; i += 2)
        ((int *)into)[i] += ((const int *)with)[i];
}

static void in_all_manners(void) {
    for (int i = 0; i < ranks; i++) {
        counts[i] = (i + 2) % 3 * count / 2;
        places[i] = i * (count + 3);
    }
    for (how = 0; how < MANNERS; how++) {
        for (int i = 0; i < 2; i++) {
            in_place = i;
            rootless();
            rooted();
        }
        if (ranks > 2)
            neighbors();
    }
}

static void on(MPI_Comm where, MPI_Datatype apart, MPI_Op sum_apart) {
    static const int sizes[] = {0, 1, 5, MANY};
    comm = where;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Barrier(
        comm); /* the first blocking call: from now on libcoll has set the communicator up */
    make_ring();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        count = sizes[i];
        stride = 1, type = MPI_INT, sum = MPI_SUM;
        in_all_manners();
        stride = 2, type = apart, sum = sum_apart;
        in_all_manners();
    }
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv) {
    MPI_Datatype apart;
    MPI_Op sum_apart;
    MPI_Comm part;
    int all, total, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (all > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
    MPI_Type_commit(&apart);
    MPI_Op_create(add_apart, 1, &sum_apart);
    on(MPI_COMM_WORLD, apart, sum_apart);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &part);
    on(part, apart, sum_apart);
    MPI_Comm_free(&part);
    MPI_Op_free(&sum_apart);
    MPI_Type_free(&apart);
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d wrong\n", total);
    MPI_Finalize();
    return total > 0;
}

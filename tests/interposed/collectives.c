/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes all of MPI's blocking collectives: in place or not, with types that have gaps, with an
 * operation that does not commute, with counts that differ by rank, and without data; on all ranks,
 * on a part of them in another order, and between two groups. Every rank prints its results.
 */
#include "tests/interposed/compose.h"
#include "tests/interposed/counts.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, COUNT = 5 };

static int rank, ranks;
static int from[MOST], to[MOST];
static const char *where;

static void fill(void) {
    for (int i = 0; i < MOST; i++) {
        from[i] = (rank * 7919 + i * 31) % 101;
        to[i] = -1 - (rank + i) % 3;
    }
}

/* Prints all results of this rank in one line. */
static void say(const char *what) {
    unsigned sum = 0;
    for (int i = 0; i < MOST; i++)
        sum = sum * 31 + (unsigned)to[i];
    printf("%d: %s: %s %08x\n", rank, where, what, sum);
    fill();
}

static void reduces(MPI_Comm comm) {
    MPI_Op op;
    MPI_Datatype pair;
    count_of_elements counts[64];
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < ranks; i++)
        counts[i] = (i * 3 + 1) % 4;
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type = i ? pair : MPI_INT;
        MPI_Op sum = i ? op : MPI_SUM;
        MPI_Allreduce(from, to, COUNT, type, sum, comm);
        say("allreduce");
        MPI_Allreduce(MPI_IN_PLACE, to, COUNT, type, sum, comm);
        say("allreduce in place");
        MPI_Reduce(from, to, COUNT, type, sum, ranks - 1, comm);
        say("reduce");
        MPI_Reduce(rank ? from : MPI_IN_PLACE, to, COUNT, type, sum, 0, comm);
        say("reduce in place");
        MPI_Reduce_scatter_block(from, to, COUNT, type, sum, comm);
        say("reduce_scatter_block");
        MPI_Reduce_scatter(from, to, counts, type, sum, comm);
        say("reduce_scatter");
        MPI_Scan(from, to, COUNT, type, sum, comm);
        say("scan");
        MPI_Exscan(from, to, COUNT, type, sum, comm);
        if (rank == 0)
            memset(to, 0, sizeof to);
        say("exscan");
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* Makes the types of COUNT blocks: that of all elements of a block, or, of every third, of one. */
static void make_types(int count, MPI_Datatype type, const count_of_elements counts[],
                       count_of_elements items[], MPI_Datatype types[]) {
    for (int i = 0; i < count; i++) {
        items[i] = i % 3 ? 1 : counts[i];
        MPI_Type_contiguous(i % 3 ? (int)counts[i] : 1, type, &types[i]);
        MPI_Type_commit(&types[i]);
    }
}

static void free_types(int count, MPI_Datatype types[]) {
    for (int i = 0; i < count; i++)
        MPI_Type_free(&types[i]);
}

static void exchange_typed(MPI_Comm comm, MPI_Datatype type, const count_of_elements sent[],
                           const count_of_elements received[], const displacement places[]) {
    MPI_Datatype sends[64], receives[64];
    count_of_elements items_sent[64], items_received[64];
    displacement bytes[64];
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < ranks; i++)
        bytes[i] = places[i] * (displacement)extent;
    make_types(ranks, type, sent, items_sent, sends);
    make_types(ranks, type, received, items_received, receives);
    MPI_Alltoallw(from, items_sent, bytes, sends, to, items_received, bytes, receives, comm);
    say("alltoallw");
    free_types(ranks, sends);
    free_types(ranks, receives);
}

static void moves(MPI_Comm comm, MPI_Datatype type) {
    count_of_elements counts[64];
    displacement places[64];
    int root = ranks / 2;
    for (int i = 0; i < ranks; i++) {
        counts[i] = (i * 3 + 1) % 4;
        places[i] = (ranks - 1 - i) * 4;
    }
    MPI_Bcast(rank == root ? from : to, COUNT, type, root, comm);
    say("bcast");
    MPI_Gather(from, COUNT, type, to, COUNT, type, root, comm);
    say("gather");
    MPI_Scatter(from, COUNT, type, to, COUNT, type, root, comm);
    say("scatter");
    MPI_Allgather(from, COUNT, type, to, COUNT, type, comm);
    say("allgather");
    MPI_Alltoall(from, COUNT, type, to, COUNT, type, comm);
    say("alltoall");
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, COUNT, type, comm);
    say("alltoall in place");
    /* Only the root's counts are used. */
    MPI_Gatherv(from, counts[rank], type, to, rank == root ? counts : NULL,
                rank == root ? places : NULL, type, root, comm);
    say("gatherv");
    MPI_Scatterv(from, rank == root ? counts : NULL, rank == root ? places : NULL, type, to,
                 counts[rank], type, root, comm);
    say("scatterv");
    MPI_Allgatherv(from, counts[rank], type, to, counts, places, type, comm);
    say("allgatherv");
    count_of_elements sent[64], received[64];
    for (int i = 0; i < ranks; i++) {
        sent[i] = (rank + 2 * i) % 4;
        received[i] = (i + 2 * rank) % 4;
    }
    MPI_Alltoallv(from, sent, places, type, to, received, places, type, comm);
    say("alltoallv");
    exchange_typed(comm, type, sent, received, places);
    MPI_Barrier(comm);
    MPI_Bcast(to, 0, type, 0, comm);
    MPI_Alltoall(from, 0, type, to, 0, type, comm);
    say("nothing");
}

/* Among the neighbours on a ring. */
static void neighbors(MPI_Comm comm, MPI_Datatype type) {
    const int periodic = 1;
    int before, behind;
    MPI_Comm ring;
    MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &before, &behind);
    const count_of_elements sent[] = {(rank + before) % 4, (rank + behind) % 4},
                            gathered[] = {before % 4, behind % 4};
    const displacement places[] = {8, 3};
    MPI_Neighbor_allgather(from, COUNT, type, to, COUNT, type, ring);
    say("neighbor_allgather");
    MPI_Neighbor_alltoall(from, COUNT, type, to, COUNT, type, ring);
    say("neighbor_alltoall");
    MPI_Neighbor_allgatherv(from, rank % 4, type, to, gathered, places, type, ring);
    say("neighbor_allgatherv");
    MPI_Neighbor_alltoallv(from, sent, places, type, to, sent, places, type, ring);
    say("neighbor_alltoallv");
    MPI_Datatype types[2];
    count_of_elements items[2];
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    const MPI_Aint bytes[] = {8 * extent, 3 * extent};
    make_types(2, type, sent, items, types);
    MPI_Neighbor_alltoallw(from, items, bytes, types, to, items, bytes, types, ring);
    say("neighbor_alltoallw");
    free_types(2, types);
    MPI_Comm_free(&ring);
}

static void all(const char *name, MPI_Comm comm) {
    MPI_Datatype gapped;
    where = name;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    fill();
    reduces(comm);
    moves(comm, MPI_INT);
    MPI_Type_vector(2, 1, 3, MPI_INT, &gapped);
    MPI_Type_commit(&gapped);
    moves(comm, gapped);
    neighbors(comm, MPI_INT);
    neighbors(comm, gapped);
    MPI_Type_free(&gapped);
}

/* Between two groups, counts are those of the other group. */
static void between(void) {
    MPI_Comm half, inter;
    count_of_elements counts[64];
    displacement places[64];
    int others;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2)
        return;
    where = "between";
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &inter);
    MPI_Comm_remote_size(inter, &others);
    fill();
    for (int i = 0; i < others; i++) {
        counts[i] = 3;
        places[i] = 3 * i;
    }
    MPI_Allgatherv(from, 3, MPI_INT, to, counts, places, MPI_INT, inter);
    say("allgatherv");
    MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, inter);
    say("alltoallv");
    MPI_Allreduce(from, to, 3, MPI_INT, MPI_SUM, inter);
    say("allreduce");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Comm backwards;
    MPI_Init(&argc, &argv);
    all("world", MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    all("backwards", backwards);
    MPI_Comm_free(&backwards);
    between();
    MPI_Finalize();
    return 0;
}

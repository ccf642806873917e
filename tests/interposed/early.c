/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that nonblocking allreduces start locally, on every kind of communicator from the first one
 * on: the last rank starts while the others wait for its message, and two communicators are used in
 * different orders. Then makes blocking ones. Prints sums, which are the same whatever serves them.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks;

static MPI_Comm dup(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm);
    return comm;
}

static MPI_Comm dup_with_info(MPI_Comm comm) {
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &comm);
    return comm;
}

static MPI_Comm idup(MPI_Comm comm) {
    MPI_Request request;
    MPI_Comm_idup(comm, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return comm;
}

static MPI_Comm create(MPI_Comm comm) {
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    MPI_Comm_create(comm, group, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* Makes a communicator, collectively over the upper ranks only. */
static MPI_Comm create_group(MPI_Comm comm) {
    MPI_Group all, upper;
    int lowest = 0;
    MPI_Comm_group(comm, &all);
    MPI_Group_excl(all, ranks > 2, &lowest, &upper);
    if (rank >= (ranks > 2))
        MPI_Comm_create_group(comm, upper, 0, &comm);
    else
        comm = MPI_COMM_NULL;
    MPI_Group_free(&upper);
    MPI_Group_free(&all);
    return comm;
}

/* Splits COMM into halves with ranks in reverse order. */
static MPI_Comm split(MPI_Comm comm) {
    MPI_Comm_split(comm, rank % 2, -rank, &comm);
    return comm;
}

static MPI_Comm split_type(MPI_Comm comm) {
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    return comm;
}

static MPI_Comm cart(MPI_Comm comm) {
    int periods = 0;
    MPI_Cart_create(comm, 1, &ranks, &periods, 0, &comm);
    return comm;
}

static MPI_Comm graph(MPI_Comm comm) {
    MPI_Dist_graph_create_adjacent(comm, 0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0, &comm);
    return comm;
}

/* Merges both halves. */
static MPI_Comm merge(MPI_Comm comm) {
    MPI_Comm half, other, merged;
    if (ranks == 1)
        return dup(comm);
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 0, &other);
    MPI_Intercomm_merge(other, rank % 2, &merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&other);
    return merged;
}

static const struct {
    const char *name;
    MPI_Comm (*make)(MPI_Comm comm);
} kinds[] = {{"dup", dup},
             {"dup_with_info", dup_with_info},
             {"idup", idup},
             {"create", create},
             {"create_group", create_group},
             {"split", split},
             {"split_type", split_type},
             {"cart", cart},
             {"graph", graph},
             {"merge", merge}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Computes a sum over COMM that the last rank starts first. */
static int early_sum(MPI_Comm comm) {
    int own, size, sum, last;
    MPI_Request request;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    last = size - 1;
    if (own != last)
        MPI_Recv(NULL, 0, MPI_INT, last, 0, comm, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    for (int other = 0; own == last && other < last; other++)
        MPI_Send(NULL, 0, MPI_INT, other, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return sum;
}

static void use(const char *name, MPI_Comm comm) {
    int sums[3];
    sums[0] = early_sum(comm);
    MPI_Allreduce(&rank, &sums[1], 1, MPI_INT, MPI_SUM, comm);
    sums[2] = early_sum(comm);
    printf("%s: rank %d: %d %d %d\n", name, rank, sums[0], sums[1], sums[2]);
}

/*
 * On the first rank of each half, two communicators are used in another order than on the others.
 */
static void cross(void) {
    MPI_Comm comms[2];
    MPI_Request requests[2];
    int sums[2];
    comms[0] = split(MPI_COMM_WORLD);
    comms[1] = dup(comms[0]);
    for (int i = 0; i < 2; i++) {
        int which = rank < 2 ? 1 - i : i;
        MPI_Iallreduce(&rank, &sums[which], 1, MPI_INT, MPI_SUM, comms[which], &requests[which]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    printf("cross: rank %d: %d %d\n", rank, sums[0], sums[1]);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < KINDS; i++) {
        MPI_Comm comm = kinds[i].make(MPI_COMM_WORLD);
        if (comm == MPI_COMM_NULL)
            continue;
        use(kinds[i].name, comm);
        MPI_Comm_free(&comm);
    }
    cross();
    MPI_Finalize();
    return 0;
}

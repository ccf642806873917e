/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes all of MPI's nonblocking collectives: with types that have gaps, an operation that does not
 * commute, in place, with counts that differ by rank, and without data; on all ranks and on a part
 * of them in another order. Completes them in each of MPI's ways. Also waits for messages that
 * other ranks send only after a collective. Every rank prints its results, which are the same
 * whatever runs the collectives, and with these words, too:
 *
 *   persistent   makes the persistent calls instead
 *   freed        frees types and operations as soon as the calls are made
 *   refused      cancels and frees requests under way, which must be refused
 *
 * The words are for libcoll: Open MPI 4.1 and MPICH 4.0 crash or fail in some of these.
 */
#include "config.h"

#include "tests/interposed/compose.h"
#include "tests/interposed/counts.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The names of persistent collectives: MPI 4's, or Open MPI's earlier ones. */
#ifdef HAVE_MPI_ALLREDUCE_INIT
#define INIT(name) MPI_##name##_init
#else
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#endif

enum { MOST = 4096, COUNT = 5, LONG = 40000, CALLS = 20 };

static bool persistent, freed, refused;
static int rank, ranks;
static int from[CALLS][MOST], to[CALLS][MOST];
static MPI_Request requests[CALLS];
static int begun; /* number of requests */
static const char *where;

/* Writes the input of the calls, which depends on the TURN. */
static void fill(int turn) {
    for (int call = 0; call < CALLS; call++)
        for (int i = 0; i < MOST; i++) {
            from[call][i] = (rank * 7919 + i * 31 + call + turn) % 101;
            to[call][i] = (rank + i) % 3;
        }
}

/* Prints all results of this rank in one line. */
static void say(const char *what) {
    unsigned sum = 0;
    int left = 0;
    for (int call = 0; call < CALLS; call++)
        for (int i = 0; i < MOST; i++)
            sum = sum * 31 + (unsigned)to[call][i];
    for (int i = 0; i < begun; i++)
        left += requests[i] != MPI_REQUEST_NULL;
    printf("%d: %s: %s %08x\n", rank, where, what, sum);
    if (left != (persistent ? begun : 0))
        printf("%d: %s: %s leaves %d of %d requests\n", rank, where, what, left, begun);
}

static MPI_Datatype operand; /* the type of the calls that reduce, also after it is freed */

/* An MPI_User_function that expects the type with which the call was made. */
static void compose_operands(void *first, void *into, int *count, MPI_Datatype *type) {
    if (*type != operand)
        printf("%d: %s: an operation gets another type\n", rank, where);
    compose(first, into, count, type);
}

/* The counts and displacements of calls with one for each rank. */
static count_of_elements counts[64], sent[64], received[64];
static displacement places[64];
/* of blocks with types */
static displacement bytes[64];
static MPI_Datatype types[64];

static void make_counts(void) {
    for (int i = 0; i < ranks; i++) {
        counts[i] = (i * 3 + 1) % 4;
        places[i] = (ranks - 1 - i) * 4;
        sent[i] = (rank + 2 * i) % 4;
        received[i] = (i + 2 * rank) % 4;
    }
}

/* Makes the next call, nonblocking or persistent; its arguments come before the communicator. */
#define CALL(name, iname, ...)                                                                     \
    do {                                                                                           \
        MPI_Request *request = &requests[begun];                                                   \
        if (persistent)                                                                            \
            INIT(name)(__VA_ARGS__, comm, MPI_INFO_NULL, request);                                 \
        else                                                                                       \
            iname(__VA_ARGS__, comm, request);                                                     \
        begun++;                                                                                   \
    } while (0)
#define IN from[begun]
#define OUT to[begun]

static void make_reductions(MPI_Comm comm, count_of_elements count, MPI_Datatype type, MPI_Op op) {
    CALL(Allreduce, MPI_Iallreduce, IN, OUT, count, type, op);
    CALL(Allreduce, MPI_Iallreduce, MPI_IN_PLACE, OUT, count, type, op);
    CALL(Reduce, MPI_Ireduce, IN, OUT, count, type, op, ranks - 1);
    CALL(Reduce, MPI_Ireduce, rank ? IN : MPI_IN_PLACE, OUT, count, type, op, 0);
    CALL(Reduce_scatter_block, MPI_Ireduce_scatter_block, IN, OUT, count, type, op);
    CALL(Reduce_scatter, MPI_Ireduce_scatter, IN, OUT, counts, type, op);
    CALL(Scan, MPI_Iscan, IN, OUT, count, type, op);
    /* the result of rank 0 is undefined */
    CALL(Exscan, MPI_Iexscan, IN, rank ? OUT : IN + MOST / 2, count, type, op);
}

static void make_moves(MPI_Comm comm, count_of_elements count, MPI_Datatype type) {
    const int root = ranks / 2;
    const bool is_root = rank == root;
    const MPI_Datatype at_root = is_root ? type : MPI_DATATYPE_NULL;
    const count_of_elements *root_counts = is_root ? counts : NULL;
    const displacement *root_places = is_root ? places : NULL;
    CALL(Bcast, MPI_Ibcast, OUT, count, type, root);
    CALL(Gather, MPI_Igather, IN, count, type, OUT, count, at_root, root);
    CALL(Scatter, MPI_Iscatter, IN, count, at_root, OUT, count, type, root);
    CALL(Allgather, MPI_Iallgather, IN, count, type, OUT, count, type);
    CALL(Alltoall, MPI_Ialltoall, IN, count, type, OUT, count, type);
    CALL(Alltoall, MPI_Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, OUT, count, type);
    CALL(Gatherv, MPI_Igatherv, IN, counts[rank], type, OUT, root_counts, root_places, at_root,
         root);
    CALL(Scatterv, MPI_Iscatterv, IN, root_counts, root_places, at_root, OUT, counts[rank], type,
         root);
    CALL(Allgatherv, MPI_Iallgatherv, IN, counts[rank], type, OUT, counts, places, type);
    CALL(Alltoallv, MPI_Ialltoallv, IN, sent, places, type, OUT, received, places, type);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < ranks; i++) {
        bytes[i] = places[i] * (displacement)extent;
        types[i] = type;
    }
    CALL(Alltoallw, MPI_Ialltoallw, IN, sent, bytes, types, OUT, received, bytes, types);
    if (persistent)
        INIT(Barrier)(comm, MPI_INFO_NULL, &requests[begun]);
    else
        MPI_Ibarrier(comm, &requests[begun]);
    begun++;
}

/* Completes all requests in one of MPI's ways. */
enum { WAYS = 8 };
static void complete(int way) {
    static const char *const names[WAYS] = {"wait",    "test",     "waitall", "testall",
                                            "waitany", "waitsome", "testany", "testsome"};
    int flag, index, indices[CALLS], count = 0;
    MPI_Status statuses[CALLS];
    for (int i = begun - 1; i >= 0 && way == 0; i--)
        MPI_Wait(&requests[i], &statuses[i]);
    for (int i = 0; i < begun && way == 1; i++) {
        do
            MPI_Request_get_status(requests[i], &flag, &statuses[i]);
        while (!flag);
        MPI_Test(&requests[i], &flag, &statuses[i]);
    }
    if (way == 2)
        MPI_Waitall(begun, requests, statuses);
    for (flag = way != 3; !flag;)
        MPI_Testall(begun, requests, &flag, MPI_STATUSES_IGNORE);
    for (index = 0; way == 4 && index != MPI_UNDEFINED;)
        MPI_Waitany(begun, requests, &index, statuses);
    for (; way == 5 && count != MPI_UNDEFINED;)
        MPI_Waitsome(begun, requests, &count, indices, statuses);
    for (index = 0; way == 6 && index != MPI_UNDEFINED;)
        do
            MPI_Testany(begun, requests, &index, &flag, statuses);
        while (!flag);
    for (; way == 7 && count != MPI_UNDEFINED;)
        MPI_Testsome(begun, requests, &count, indices, MPI_STATUSES_IGNORE);
    say(names[way]);
}

/* Starts persistent calls anew until they have been completed in each of MPI's ways. */
static void start_again(void) {
    for (int way = 1; way < WAYS; way++) {
        fill(way);
        if (way % 2)
            MPI_Startall(begun, requests);
        for (int i = 0; i < begun && way % 2 == 0; i++)
            MPI_Start(&requests[i]);
        complete(way);
    }
    for (int i = 0; i < begun; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < begun; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            printf("%d: %s: request %d is not freed\n", rank, where, i);
}

static void free_operands(MPI_Op *op, MPI_Datatype *pair, MPI_Datatype *gapped) {
    MPI_Op_free(op);
    MPI_Type_free(pair);
    MPI_Type_free(gapped);
}

/* Makes the calls with COUNT elements, and completes them in a WAY, persistent ones in all ways. */
static void make_calls(MPI_Comm comm, int way, count_of_elements count) {
    MPI_Op op;
    MPI_Datatype pair, gapped;
    MPI_Op_create(compose_operands, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    operand = pair;
    MPI_Type_vector(2, 1, 3, MPI_INT, &gapped);
    MPI_Type_commit(&gapped);
    fill(way);
    begun = 0;
    make_reductions(comm, count, pair, op);
    make_moves(comm, count, gapped);
    if (freed)
        free_operands(&op, &pair, &gapped);
    if (persistent)
        MPI_Startall(begun, requests);
    complete(way);
    if (persistent)
        start_again();
    if (!freed)
        free_operands(&op, &pair, &gapped);
}

/*
 * Rank 0 waits for a message that the others send only after a collective, which needs rank 0.
 * Messages are long, so that sends wait, too.
 */
static void wait_for_messages(MPI_Comm comm) {
    static int data[LONG], sum[LONG], message[LONG];
    MPI_Status status;
    MPI_Message matched;
    for (int way = 0; way < 7; way++) {
        MPI_Request request;
        for (int i = 0; i < LONG; i++)
            data[i] = message[i] = i % 7 + rank + way;
        MPI_Iallreduce(data, sum, LONG, MPI_INT, MPI_SUM, comm, &request);
        if (rank > 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        const int next = ranks > 1 ? 1 : MPI_PROC_NULL;
        if (rank == 1 && way < 3)
            MPI_Send(message, LONG, MPI_INT, 0, way, comm);
        else if (rank == 1 && way < 5)
            MPI_Recv(message, LONG, MPI_INT, 0, way, comm, &status);
        else if (rank == 1)
            MPI_Sendrecv_replace(message, LONG, MPI_INT, 0, way, 0, way, comm, &status);
        else if (rank == 0 && way == 0)
            MPI_Recv(message, LONG, MPI_INT, next, way, comm, &status);
        else if (rank == 0 && way == 1 && ranks > 1) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
            MPI_Recv(message, LONG, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
        } else if (rank == 0 && way == 2) {
            MPI_Mprobe(next, way, comm, &matched, &status);
            MPI_Mrecv(message, LONG, MPI_INT, &matched, &status);
        } else if (rank == 0 && way == 3)
            MPI_Send(message, LONG, MPI_INT, next, way, comm);
        else if (rank == 0 && way == 4)
            MPI_Ssend(message, LONG, MPI_INT, next, way, comm);
        else if (rank == 0 && way == 5)
            MPI_Sendrecv(data, LONG, MPI_INT, next, way, message, LONG, MPI_INT, next, way, comm,
                         &status);
        else if (rank == 0 && way == 6)
            MPI_Sendrecv_replace(message, LONG, MPI_INT, next, way, next, way, comm, &status);
        if (rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("%d: %s: way %d, sum %d, message %d\n", rank, where, way, sum[LONG - 1],
               message[LONG - 1]);
    }
}

/* Requests of collectives can't be cancelled, nor freed while they are under way. */
static void try_to_cancel(MPI_Comm comm) {
    int in = 1, out = 0, flag = 0, class = MPI_SUCCESS;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Error_class(MPI_Request_free(&request), &class);
    if (class != MPI_ERR_REQUEST)
        printf("%d: %s: it is freed while it is under way\n", rank, where);
    MPI_Error_class(MPI_Cancel(&request), &class);
    if (class != MPI_ERR_REQUEST)
        printf("%d: %s: it is cancelled\n", rank, where);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    if (out != ranks || flag)
        printf("%d: %s: sum %d, cancelled %d\n", rank, where, out, flag);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

static void all(const char *name, MPI_Comm comm) {
    where = name;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    make_counts();
    for (int way = 0; way < (persistent ? 1 : WAYS); way++) {
        make_calls(comm, way, COUNT);
        make_calls(comm, way, 0);
    }
}

int main(int argc, char **argv) {
    MPI_Comm backwards, copy;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        persistent = persistent || strcmp(argv[i], "persistent") == 0;
        freed = freed || strcmp(argv[i], "freed") == 0;
        refused = refused || strcmp(argv[i], "refused") == 0;
    }
    all("world", MPI_COMM_WORLD);
    wait_for_messages(MPI_COMM_WORLD);
    if (refused)
        try_to_cancel(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 1, -rank, &backwards);
    all("backwards", backwards);
    MPI_Comm_idup(backwards, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    all("copy", copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&backwards);
    MPI_Finalize();
    return 0;
}

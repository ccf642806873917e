/*
 * The collectives that coll-bench can measure: what a rank brings and gets, how it is checked, and
 * the calls, libcoll's and MPI's.
 */
#ifndef COLL_TOOLS_BENCH_OPERATION_H
#define COLL_TOOLS_BENCH_OPERATION_H

#include "tools/bench/contender.h"

#include <coll.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* One of Open MPI's algorithms that can be forced. */
typedef struct operation_forced {
    const char *name;
    bool segmented; /* takes a segment size */
    bool for_two;   /* runs on two ranks alone */
} operation_forced;

/* What ranks bring, or get. */
typedef enum operation_shape { OPERATION_NOTHING, OPERATION_ONE, OPERATION_BLOCKS } operation_shape;

/* How a call is made. */
typedef enum operation_manner {
    OPERATION_OURS,       /* COLL_Bcast */
    OPERATION_STARTED,    /* COLL_Ibcast */
    OPERATION_PERSISTENT, /* COLL_Bcast_init */
    OPERATION_MPI,        /* MPI_Bcast */
    OPERATION_MPI_STARTED /* MPI_Ibcast */
} operation_manner;

/* What is under way by a call that doesn't end by itself. */
typedef struct operation_request {
    COLL_Request ours;
    MPI_Request mpi;
} operation_request;

typedef int operation_call(operation_manner how, const operation_run *run, MPI_Comm comm,
                           operation_request *request);

typedef struct operation {
    const char *name;               /* "gatherv" */
    const char *library;            /* what libcoll calls it: "gather" */
    const operation_forced *forced; /* by number from 1 on, ended by a NULL name */
    const char *nonblocking;        /* MPI's name of the nonblocking one */
    operation_call *call;
    size_t (*moved)(const operation_run *run); /* see operation_moved */
    void (*fill)(const operation_run *run);
    bool (*verify)(const operation_run *run);
    operation_shape in, out;
    bool root_in, root_out; /* only the root brings, or gets, something */
    bool reduces;           /* its elements are floats, which are added */
    bool uneven;            /* ranks bring different amounts */
    bool unknown;           /* and not all ranks know them */
    bool wire_to_root;      /* the wire's bytes go to the root, else from it */
    bool han, adapt;        /* Open MPI's components of these names have it */
} operation;

/* What a rank brings, or gets: so many elements, and where they are blocks, each rank's. */
typedef struct operation_part {
    unsigned char *at;
    MPI_Count count;  /* of all blocks, or of the one */
    MPI_Count *sizes; /* of blocks, in elements, by rank */
    MPI_Aint *places;
    int *ints; /* sizes, then places, as MPI takes them */
} operation_part;

/* A call at one rank. BYTES are those of the table's column. */
struct operation_run {
    const operation *operation;
    int rank, ranks, root;
    size_t bytes;
    unsigned seed; /* what the data is made from */
    size_t moved;  /* see operation_moved */
    unsigned char *buffer;
    size_t room;            /* bytes there: those of both parts, and what is moved, at least */
    operation_part in, out; /* in the buffer */
    MPI_Count most;         /* no count or place is higher */
};

/* The operation called NAME, or NULL; the names counted from 0, NULL beyond the last. */
const operation *operation_find(const char *name);
const char *operation_name(int index);

/* BYTES, rounded up to what OP's data is made of; 0 where it has none. */
size_t operation_rounded(const operation *op, size_t bytes);

/* Bytes that the busiest host sends or gets at least in a call of OP. */
size_t operation_moved(const operation *op, size_t bytes, int ranks, int root);

/*
 * Makes RUN a call of OP with BYTES at RANK, and its memory, all zero; close it even where that
 * fails, which is false: there is not so much memory.
 */
bool operation_open(operation_run *run, const operation *op, size_t bytes, int rank, int ranks,
                    int root);
void operation_close(operation_run *run);

/* Contenders' runs: by libcoll, and by MPI, which may be nonblocking. */
contender_run operation_ours, operation_native;

#endif

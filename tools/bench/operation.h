/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that coll-bench can measure: each rank's input and output, their verification,
 * and libcoll's and MPI's calls.
 */
#ifndef COLL_TOOLS_BENCH_OPERATION_H
#define COLL_TOOLS_BENCH_OPERATION_H

#include "tools/bench/contender.h"

#include <coll.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* An algorithm of Open MPI that can be forced. */
typedef struct operation_forced {
    const char *name;
    bool segmented; /* takes a segment size */
    bool for_two;   /* runs on exactly two ranks */
} operation_forced;

/* The shape of a rank's input or output. */
typedef enum operation_shape { OPERATION_NOTHING, OPERATION_ONE, OPERATION_BLOCKS } operation_shape;

/* The kinds of calls. */
typedef enum operation_manner {
    OPERATION_OURS,       /* COLL_Bcast */
    OPERATION_STARTED,    /* COLL_Ibcast */
    OPERATION_PERSISTENT, /* COLL_Bcast_init */
    OPERATION_MPI,        /* MPI_Bcast */
    OPERATION_MPI_STARTED /* MPI_Ibcast */
} operation_manner;

/* The request of a nonblocking call. */
typedef struct operation_request {
    COLL_Request ours;
    MPI_Request mpi;
} operation_request;

typedef int operation_call(operation_manner how, const operation_run *run, MPI_Comm comm,
                           operation_request *request);

typedef struct operation {
    const char *name;               /* "gatherv" */
    const char *library;            /* libcoll's name for it: "gather" */
    const operation_forced *forced; /* ordered by number, from 1; a NULL name ends them */
    const char *nonblocking;        /* MPI's name of the nonblocking call */
    operation_call *call;
    size_t (*moved)(const operation_run *run); /* see operation_moved */
    void (*fill)(const operation_run *run);
    bool (*verify)(const operation_run *run);
    operation_shape in, out;
    bool root_in, root_out; /* only the root has an input, or an output */
    bool reduces;           /* its elements are floats, which are added */
    bool uneven;            /* ranks have different amounts of data */
    bool unknown;           /* ranks have different amounts of data, and not all ranks know them */
    bool wire_to_root;      /* the wire's bytes are sent to the root, else from it */
    bool han, adapt;        /* Open MPI's components of these names implement it */
} operation;

/* A rank's input or output: the number of its elements and, for blocks, also the number of each
 * rank's elements. */
typedef struct operation_part {
    unsigned char *at;
    MPI_Count count;  /* elements of all blocks together, or of the one piece */
    MPI_Count *sizes; /* elements of each rank's block */
    MPI_Aint *places;
    int *ints; /* sizes, then places, as MPI's int arrays */
} operation_part;

/*
 * A call at one rank. BYTES is the size of each rank's data or, in operations with blocks, of one
 * block; in uneven operations, of an average block.
 */
struct operation_run {
    const operation *operation;
    int rank, ranks, root;
    size_t bytes;
    unsigned seed; /* seed of the data */
    size_t moved;  /* result of operation_moved */
    unsigned char *buffer;
    size_t room;            /* bytes of the buffer: at least the bytes of both parts, and MOVED */
    operation_part in, out; /* in the buffer */
    MPI_Count most;         /* the largest count or place */
};

/*
 * Returns the operation called NAME, or NULL. operation_name returns the name of operation INDEX,
 * counted from 0, or NULL after the last one.
 */
const operation *operation_find(const char *name);
const char *operation_name(int index);

/* Returns BYTES rounded up to whole elements of OP; 0 if OP has no data. */
size_t operation_rounded(const operation *op, size_t bytes);

/*
 * Returns the bytes that the busiest host must send or receive in a call of OP, if each host has
 * one rank. BYTES is as in operation_run.
 */
size_t operation_moved(const operation *op, size_t bytes, int ranks, int root);

/*
 * Makes RUN a call of OP with BYTES at RANK and allocates its zeroed memory. Returns false if
 * memory is short. Call operation_close also in this case.
 */
bool operation_open(operation_run *run, const operation *op, size_t bytes, int rank, int ranks,
                    int root);
void operation_close(operation_run *run);

/* operation_ours runs an operation with libcoll; operation_native runs it with MPI's own call,
 * which is nonblocking if the contender says so. */
contender_run operation_ours, operation_native;

#endif

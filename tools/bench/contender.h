/* SPDX-License-Identifier: BSD-3-Clause */
/* The contenders of a benchmark: libcoll's algorithms, MPI's own, and the bare network. */
#ifndef COLL_TOOLS_BENCH_CONTENDER_H
#define COLL_TOOLS_BENCH_CONTENDER_H

#include <coll_tools.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { CONTENDER_NAME = 32, CONTENDER_PARAMS = 128 };

typedef enum contender_kind {
    CONTENDER_OURS,   /* an algorithm of libcoll, or auto */
    CONTENDER_NATIVE, /* MPI's own choice, the reference of vs_native */
    CONTENDER_RIVAL,  /* an algorithm of MPI, forced by a setting */
    CONTENDER_WIRE    /* one point-to-point message between the root and another node: the limit */
} contender_kind;

typedef struct contender contender;

typedef struct operation_run operation_run; /* tools/bench/operation.h */

/* Runs the operation once on this rank. */
typedef int contender_run(const contender *c, const operation_run *run);

struct contender {
    char algorithm[CONTENDER_NAME];
    char params[CONTENDER_PARAMS];
    contender_kind kind;
    MPI_Comm comm; /* a communicator of its own, because settings apply to a communicator */
    contender_run *run;
    bool nonblocking; /* for CONTENDER_RIVAL: a nonblocking call and a wait */
    double behind;    /* time at the previous size as a multiple of the best time of comparable
                         contenders (bench.c: give_up_hopeless); 0: unknown */
    bool left_out;    /* it is no longer run */
};

typedef struct contender_list {
    contender *at;
    int count;
} contender_list;

/*
 * Adds libcoll's algorithms of OPERATION that SPECS names. The last element of SPECS is NULL.
 * Returns the first error; if an algorithm is unknown, the text of the error names it.
 */
int contender_add_ours(contender_list *list, const char *operation, const char *const specs[],
                       contender_run *run, MPI_Comm comm);

/*
 * Adds auto and all algorithms of OPERATION that can run on COMM, except native, which is measured
 * without libcoll in between. If UNEVEN, adds only the algorithms that can run if sizes differ by
 * rank and some ranks know only their own size.
 */
int contender_add_table(contender_list *list, const char *operation, bool uneven,
                        contender_run *run, MPI_Comm comm);

/*
 * Gets libcoll's description of its algorithm NAME or, if NAME is NULL, of the algorithm that would
 * run, for OPERATION on COMM with BYTES and ROOT. FOUND->name is NULL if there is no such
 * algorithm. Local if COMM has been used before.
 */
int contender_explain(MPI_Comm comm, const char *operation, size_t bytes, int root,
                      const char *name, COLL_Candidate *found);

/* Adds a contender with a communicator of its own. */
int contender_add(contender_list *list, contender_kind kind, const char *algorithm,
                  const char *params, contender_run *run, MPI_Comm comm);

void contender_free(contender_list *list);

#endif

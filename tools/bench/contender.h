/* What a benchmark measures side by side: libcoll's algorithms, MPI's own, and the bare wire. */
#ifndef COLL_TOOLS_BENCH_CONTENDER_H
#define COLL_TOOLS_BENCH_CONTENDER_H

#include <coll_tools.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { CONTENDER_NAME = 32, CONTENDER_PARAMS = 128 };

typedef enum contender_kind {
    CONTENDER_OURS,   /* an algorithm of libcoll, or auto */
    CONTENDER_NATIVE, /* MPI's own choice: what vs_native compares with */
    CONTENDER_RIVAL,  /* MPI's own by a forced setting */
    CONTENDER_WIRE    /* one point-to-point message to one other node: the limit */
} contender_kind;

typedef struct contender contender;

typedef struct operation_run operation_run; /* tools/bench/operation.h */

/* Runs the operation once on this rank. */
typedef int contender_run(const contender *c, const operation_run *run);

struct contender {
    char algorithm[CONTENDER_NAME];
    char params[CONTENDER_PARAMS];
    contender_kind kind;
    MPI_Comm comm; /* its own, so that settings hold for it alone */
    contender_run *run;
    bool nonblocking; /* of CONTENDER_RIVAL: started, then waited for */
    double behind; /* so many times as slow as the fastest it was at the size before; 0: unknown */
    bool left_out; /* it runs no more */
};

typedef struct contender_list {
    contender *at;
    int count;
} contender_list;

/*
 * Adds libcoll's algorithms of OPERATION: those of SPECS, ended by NULL. The first error of an
 * unknown name comes back; its text says which.
 */
int contender_add_ours(contender_list *list, const char *operation, const char *const specs[],
                       contender_run *run, MPI_Comm comm);

/*
 * Adds auto and all of OPERATION's table that can run on COMM, but not native, which is measured
 * without libcoll in between; with UNEVEN only those that run where sizes differ and some ranks
 * know only their own.
 */
int contender_add_table(contender_list *list, const char *operation, bool uneven,
                        contender_run *run, MPI_Comm comm);

/*
 * What libcoll says of its algorithm NAME, or where that is NULL of the one that would run, for
 * OPERATION on COMM with BYTES and ROOT; FOUND->name is NULL where there is none. Local where COMM
 * was used before.
 */
int contender_explain(MPI_Comm comm, const char *operation, size_t bytes, int root,
                      const char *name, COLL_Candidate *found);

/* Adds one with a communicator of its own. */
int contender_add(contender_list *list, contender_kind kind, const char *algorithm,
                  const char *params, contender_run *run, MPI_Comm comm);

void contender_free(contender_list *list);

#endif

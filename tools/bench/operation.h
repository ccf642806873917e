/*
 * The collectives that coll-bench can measure: how the data lies in a rank's buffer, how it is
 * checked, who runs it, and its rivals, Open MPI's own algorithms by forced settings.
 */
#ifndef COLL_TOOLS_BENCH_OPERATION_H
#define COLL_TOOLS_BENCH_OPERATION_H

#include "tools/bench/contender.h"

#include <stdbool.h>
#include <stddef.h>

/* One of Open MPI's algorithms that can be forced. */
typedef struct operation_forced {
    const char *name;
    bool segmented; /* takes a segment size */
} operation_forced;

typedef struct operation {
    const char *name;               /* "gatherv" */
    const char *library;            /* what libcoll calls it: "gather" */
    const char *const *specs;       /* what to measure of libcoll; NULL: auto and the table */
    const operation_forced *forced; /* by number from 1 on, ended by a NULL name */
    /* Bytes of a rank's buffer; PTRDIFF_MAX, which no memory holds, for more than that. */
    size_t (*room)(size_t bytes, int ranks);
    size_t (*moved)(size_t bytes, int ranks); /* bytes that one host sends or gets at least */
    void (*fill)(const operation_run *run);
    bool (*verify)(const operation_run *run);
    contender_run *ours, *native; /* libcoll's, and MPI's, which may be nonblocking */
    const char *nonblocking;      /* what it is called then */
    bool uneven;                  /* ranks bring different amounts */
    bool wire_to_root;            /* the wire's bytes go to the root, else from it */
} operation;

/* The operation called NAME, or NULL; the names counted from 0, NULL beyond the last. */
const operation *operation_find(const char *name);
const char *operation_name(int index);

/* Prepares the environment of this process for rivals_add; call it before MPI_Init. */
void rivals_prepare(void);

/*
 * Adds a contender for each forced algorithm of Open MPI, and segment size, and the nonblocking
 * operation; under another MPI library only the latter. All are for the same run: Open MPI's tuned
 * component reads the forced settings when a communicator is made, and MPI_T can change them
 * between two.
 */
int rivals_add(contender_list *list, const operation *op, MPI_Comm comm);

#endif

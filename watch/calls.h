/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the MPI calls that are recorded, generated from mpi.h (calls.c.in). */
#ifndef COLL_WATCH_CALLS_H
#define COLL_WATCH_CALLS_H

#include <stdbool.h>

/* What a call waits for. */
typedef enum watch_waits {
    WATCH_PLAIN,      /* something else, as the name of the call says */
    WATCH_COLLECTIVE, /* the other ranks of its communicator, which must make the same call */
    WATCH_SEND,
    WATCH_RECEIVE,
    WATCH_EXCHANGE, /* a send and a receive */
    WATCH_PROBE,
    WATCH_REQUESTS, /* completion of its requests */
    WATCH_START,    /* nothing: it starts persistent requests */
    WATCH_NOTE      /* nothing: the recorder only notes its effects */
} watch_waits;

typedef enum watch_manner { WATCH_BLOCKING, WATCH_STARTED, WATCH_PERSISTENT } watch_manner;

/* Which arguments of a collective describe data of the same size and type on all ranks. */
typedef enum watch_agreed {
    WATCH_NONE,
    WATCH_OWN,       /* the count and type of the call */
    WATCH_TO_ROOT,   /* what the root receives from each rank, and each rank sends */
    WATCH_FROM_ROOT, /* what the root sends to each rank, and each rank receives */
    WATCH_RECEIVED,  /* what is received from each rank */
    WATCH_COUNTS     /* the sum of the counts of all ranks */
} watch_agreed;

typedef struct watch_call_kind {
    const char *name; /* MPI_Bcast */
    watch_waits waits;
    watch_manner manner;
    watch_agreed agreed;
    bool rooted, reduces; /* it has a root; it has a reduction operation */
} watch_call_kind;

extern const watch_call_kind watch_calls[];
extern const int watch_call_count;

/* Returns the index of NAME in the table, or -1. */
int watch_call_named(const char *name);

#endif

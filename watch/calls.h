/* The calls of MPI that can wait for other ranks: one table, made from mpi.h (calls.c.in). */
#ifndef COLL_WATCH_CALLS_H
#define COLL_WATCH_CALLS_H

#include <stdbool.h>

/* What a call waits for. */
typedef enum watch_waits {
    WATCH_PLAIN,      /* something that its name says */
    WATCH_COLLECTIVE, /* the other ranks of its communicator, which must make the same call */
    WATCH_SEND,
    WATCH_RECEIVE,
    WATCH_EXCHANGE, /* a send and a receive */
    WATCH_PROBE,
    WATCH_REQUESTS, /* what its requests wait for */
    WATCH_START,    /* nothing: it begins what persistent requests stand for */
    WATCH_NOTE      /* nothing: the recorder must know of it */
} watch_waits;

typedef enum watch_manner { WATCH_BLOCKING, WATCH_STARTED, WATCH_PERSISTENT } watch_manner;

/* The data of a collective whose size and type must be the same on all ranks. */
typedef enum watch_agreed {
    WATCH_NONE,
    WATCH_OWN,       /* its count and type */
    WATCH_TO_ROOT,   /* what the root receives from each, and each sends */
    WATCH_FROM_ROOT, /* what the root sends to each, and each receives */
    WATCH_RECEIVED,  /* what is received from each */
    WATCH_COUNTS     /* the sum of the counts of all */
} watch_agreed;

typedef struct watch_call_kind {
    const char *name; /* MPI_Bcast */
    watch_waits waits;
    watch_manner manner;
    watch_agreed agreed;
    bool rooted, reduces; /* it has a root, an operation */
} watch_call_kind;

extern const watch_call_kind watch_calls[];
extern const int watch_call_count;

/* The place of NAME in the table, or -1. */
int watch_call_named(const char *name);

#endif

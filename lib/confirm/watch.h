/*
 * What the root of a confirmed broadcast knows of the others: when it last heard of each, and how
 * far each has come. Pure: dates are the caller's.
 */
#ifndef COLL_LIB_CONFIRM_WATCH_H
#define COLL_LIB_CONFIRM_WATCH_H

#include "lib/confirm/blame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a rank has come. */
typedef struct coll_account {
    uint64_t epoch;  /* the try that it takes part in */
    uint64_t passed; /* segments of it that it has */
    uint64_t taken;  /* messages of all tries */
} coll_account;

typedef struct coll_watch {
    int root, ranks;
    double begun;    /* when the try began */
    double progress; /* when anybody last came further */
    double *heard;
    coll_account *accounts;
} coll_watch;

/* All are heard of at NOW, when the first try begins. False where memory runs out. */
bool coll_watch_create(coll_watch *watch, int root, int ranks, double now);
void coll_watch_free(coll_watch *watch);

/* RANK's account arrives. */
void coll_watch_report(coll_watch *watch, int rank, const coll_account *account, double now);

/* A new try begins. */
void coll_watch_begin(coll_watch *watch, double now);

/* Whether nobody has come further in this try for LIMIT, or somebody has been silent in it as long.
 */
bool coll_watch_stalls(const coll_watch *watch, double now, double limit);

/*
 * Why EPOCH, in ORDER, doesn't get on: the rank longest silent, if for more than LIMIT; else the
 * link behind which all ranks have come equally far, and less far than the rank before it.
 */
coll_blame coll_watch_blame(const coll_watch *watch, const int order[], uint32_t epoch, double now,
                            double limit);

#endif

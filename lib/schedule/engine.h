/*
 * The engine: runs plans over MPI, by start, advance and finish; a blocking call is the three in a
 * row. One plan under way is in one piece of memory, which its user provides.
 */
#ifndef COLL_LIB_SCHEDULE_ENGINE_H
#define COLL_LIB_SCHEDULE_ENGINE_H

#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/schedule/cursor.h"
#include "lib/schedule/plan.h"

/* This rank's part of a call that goes by a plan; what it refers to outlives the engine. */
typedef struct coll_planned {
    coll_comm *comm;
    const coll_planner *planner;
    coll_part part;
    const coll_data *data; /* NULL at a gather's root */
    int tag;               /* its messages have this tag and the next COLL_LANES - 1 */
} coll_planned;

/* What a segment of memory holds: bytes of the data that were packed or received. */
typedef struct coll_held {
    uint64_t round; /* plus 1; 0: nothing */
    size_t from;
} coll_held;

/* A plan under way. The first ACTIVE of the arrays are messages that are not complete. */
typedef struct coll_engine {
    const coll_planned *call;
    const coll_plan *plan;
    coll_cursor cursor;
    int active;
    MPI_Request *requests;
    int *peers, *nodes, *indices;
    MPI_Status *statuses;
    char *segments;
    coll_held *held; /* by each segment */
} coll_engine;

/* The memory that CALL's engine needs; the same on all ranks. */
size_t coll_engine_bytes(const coll_planned *call);

/* Sets ENGINE up in so much MEMORY, aligned for any type; local. It can be begun many times. */
void coll_engine_open(coll_engine *engine, const coll_planned *call, void *memory);

/* Begins anew, and starts what may start; never waits. */
int coll_engine_start(coll_engine *engine);

/* Sees to what is complete, and starts what may start then; never waits. *MOVED if anything was. */
int coll_engine_advance(coll_engine *engine, bool *moved);

/* Whether it is done. */
static inline bool coll_engine_ended(const coll_engine *engine) {
    return engine->active == 0;
}

/* Waits politely until it is done. */
int coll_engine_finish(coll_engine *engine);

/* Gives up after an error: messages may stay under way. */
void coll_engine_abandon(coll_engine *engine);

/* The whole of it in the communicator's room. Errors: those of memory, agreed, and of messages. */
int coll_engine_run(const coll_planned *call);

#endif

/*
 * The engine: runs plans over MPI, as a course. All that one needs is in one piece of memory, which
 * its user provides.
 */
#ifndef COLL_LIB_SCHEDULE_ENGINE_H
#define COLL_LIB_SCHEDULE_ENGINE_H

#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/base/reduction.h"
#include "lib/schedule/course.h"
#include "lib/schedule/cursor.h"
#include "lib/schedule/plan.h"

/* This rank's part of a call that goes by a plan, or by the algorithm's own way where it has none;
 * what it refers to outlives the engine. */
typedef struct coll_planned {
    coll_comm *comm;
    const coll_algorithm *algorithm;
    coll_part part;
    const coll_data *data;           /* where it is one: else its blocks are in the part */
    const coll_data *input;          /* likewise */
    const coll_reduction *reduction; /* of combinations; else NULL */
    int tag;                         /* its messages have this tag and the next COLL_LANES - 1 */
} coll_planned;

/* What a segment of memory holds: bytes of the data that were packed or received. */
typedef struct coll_held {
    uint64_t round; /* plus 1; 0: nothing */
    size_t from, at;
    int block;
    coll_buffer buffer;
} coll_held;

/* A plan under way. All its requests are active. */
typedef struct coll_engine {
    coll_course course;
    coll_planned call;
    const coll_plan *plan;
    coll_cursor cursor;
    int *nodes; /* of the requests */
    char *segments, *spare;
    coll_held *held; /* by each segment */
} coll_engine;

/* The memory, aligned for any type, that CALL needs if it can be started; the same on all ranks. */
size_t coll_planned_bytes(const coll_planned *call);

/* CALL, which is copied, in so much MEMORY. Local. */
coll_course *coll_planned_open(const coll_planned *call, void *memory);

/* Runs CALL to its end. */
int coll_planned_run(const coll_planned *call);

#endif

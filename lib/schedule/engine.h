/*
 * The engine: runs plans over MPI, as courses. All memory that an engine needs is one piece, which
 * the caller provides.
 */
#ifndef COLL_LIB_SCHEDULE_ENGINE_H
#define COLL_LIB_SCHEDULE_ENGINE_H

#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/base/reduction.h"
#include "lib/schedule/course.h"
#include "lib/schedule/cursor.h"
#include "lib/schedule/plan.h"

/* The arguments for running this rank's part of a call: by its plan, or by the algorithm's own
 * course if it has no plan. All that they refer to must outlive the engine. */
typedef struct coll_planned {
    coll_comm *comm;
    const coll_algorithm *algorithm;
    coll_part part;
    const coll_data *data;           /* if it is one piece; blocks are in PART */
    const coll_data *input;          /* the same */
    const coll_reduction *reduction; /* for combinations; NULL if there are none */
    int tag;                         /* messages use the COLL_LANES tags from this one on */
} coll_planned;

/* The bytes of the data that a segment holds, packed or received. */
typedef struct coll_held {
    uint64_t round; /* plus 1; 0: the segment holds none */
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
    coll_held *held; /* contents of each segment */
} coll_engine;

/* Returns the bytes of memory that coll_planned_open needs for CALL; the same on all ranks. */
size_t coll_planned_bytes(const coll_planned *call);

/* Opens a course for CALL, which is copied, in that MEMORY, aligned for any type. Local. */
coll_course *coll_planned_open(const coll_planned *call, void *memory);

/* Runs CALL to its end. */
int coll_planned_run(const coll_planned *call);

#endif

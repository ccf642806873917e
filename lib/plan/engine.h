/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: runs plans over MPI, as tasks. All memory that an engine needs is one piece, which
 * the caller provides.
 */
#ifndef COLL_LIB_PLAN_ENGINE_H
#define COLL_LIB_PLAN_ENGINE_H

#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/base/reduction.h"
#include "lib/plan/cursor.h"
#include "lib/plan/plan.h"
#include "lib/plan/task.h"

/* The arguments for running this rank's part of a call: by its plan, or by the algorithm's own task
 * if it has no plan. Everything that the arguments point to must outlive the task. */
typedef struct coll_exec_args {
    coll_comm *comm;
    const coll_algorithm *algorithm;
    coll_plan_args args;
    const coll_data *data;           /* the data, if it is one piece; blocks are in ARGS */
    const coll_data *input;          /* the input, if it is one piece */
    const coll_reduction *reduction; /* for combinations; NULL if there are none */
    int tag;                         /* the first of the COLL_LANES tags that messages use */
} coll_exec_args;

/* The bytes of the data that a segment holds, packed or received. */
typedef struct coll_held {
    uint64_t round; /* number of the round, plus 1; 0: the segment holds no data */
    size_t from, at;
    int block;
    coll_buffer buffer;
} coll_held;

/* A plan under way. The task's arrays have entries only for active requests. */
typedef struct coll_engine {
    coll_task task;
    coll_exec_args call;
    const coll_plan *plan;
    coll_cursor cursor;
    int *nodes; /* the node of each request */
    char *segments, *spare;
    coll_held *held; /* contents of each segment */
} coll_engine;

/* Returns the bytes of memory that coll_exec_args_open needs for CALL; the same on all ranks. */
size_t coll_exec_args_bytes(const coll_exec_args *call);

/* Opens a task for CALL, which is copied, in MEMORY of coll_exec_args_bytes, aligned for any type.
 * Local. */
coll_task *coll_exec_args_open(const coll_exec_args *call, void *memory);

/* Runs CALL to its end. */
int coll_exec_args_run(const coll_exec_args *call);

#endif

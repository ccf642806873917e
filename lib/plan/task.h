/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task: a running collective that starts messages, and continues when some of them are complete.
 * A task is a plan in the engine or, if a rank's messages depend on what arrives, an algorithm's
 * own state machine. Blocking, nonblocking and persistent calls all run tasks.
 */
#ifndef COLL_LIB_PLAN_TASK_H
#define COLL_LIB_PLAN_TASK_H

#include "lib/base/comm.h"

#include <stdbool.h>

/* The first member of each task's state. */
typedef struct coll_task coll_task;
struct coll_task {
    /* Begins the task, which may have run before, and starts all messages that may start. Never
     * waits. */
    int (*start)(coll_task *task);
    /* Handles the completion of COUNT requests, whose positions are in INDICES, and starts all
     * messages that may start then. Never waits. */
    int (*handle_completed)(coll_task *task, int count);
    /* Called after a test that found no request complete, and after each wait; or NULL. */
    void (*after_test)(coll_task *task);
    coll_comm *comm;
    int active; /* requests that aren't null; 0 when the task has ended */
    int count;  /* used length of the arrays */
    MPI_Request *requests;
    int *peers; /* the other rank of each request's message */
    int *indices;
    MPI_Status *statuses;
};

/* Returns whether an active REQUEST of the MPI library is complete. Makes no progress, unlike
 * MPI_Test. */
typedef int coll_is_complete(MPI_Request request);

/* Handles the requests that are complete, without waiting. Sets *MOVED if there are any. Tests the
 * requests by MPI only if IS_COMPLETE is NULL or returns true for one of them. */
int coll_task_advance(coll_task *task, coll_is_complete *is_complete, bool *moved);

/* Runs TASK to its end; abandons it after an error. */
int coll_task_run(coll_task *task);

/* Abandons TASK after an error; messages may stay under way. */
void coll_task_abandon(coll_task *task);

#endif

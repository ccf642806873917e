/*
 * What goes by start, advance and finish: a plan in its engine, or a state machine of its own where
 * what a rank does depends on what arrives. Blocking, nonblocking and persistent calls are made of
 * these three.
 */
#ifndef COLL_LIB_SCHEDULE_COURSE_H
#define COLL_LIB_SCHEDULE_COURSE_H

#include "lib/base/comm.h"

#include <stdbool.h>

typedef struct coll_course {
    const struct coll_course_kind *kind;
    void *state;
} coll_course;

typedef struct coll_course_kind {
    /* Begins, also anew, and starts what may start; never waits. */
    int (*start)(void *state);
    /* Sees to what is complete, and starts what may start then; never waits. *MOVED if anything is.
     */
    int (*advance)(void *state, bool *moved);
    /* Waits politely until all is done. */
    int (*finish)(void *state);
    /* Gives up after an error: messages may stay under way. */
    void (*abandon)(void *state);
    /* How many requests, of which some may be null, it waits for, and the ranks at their other
     * ends; 0 where all is done. */
    int (*requests)(void *state, MPI_Request **requests, int **peers);
} coll_course_kind;

static inline bool coll_course_ended(coll_course course) {
    MPI_Request *requests;
    int *peers;
    return course.kind->requests(course.state, &requests, &peers) == 0;
}

/* From start to finish; gives up after an error. */
static inline int coll_course_run(coll_course course) {
    int code = course.kind->start(course.state);
    if (code == MPI_SUCCESS)
        code = course.kind->finish(course.state);
    if (code != MPI_SUCCESS)
        course.kind->abandon(course.state);
    return code;
}

#endif

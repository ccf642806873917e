/*
 * What goes by start, advance and finish: a plan in its engine, or a state machine of its own where
 * what a rank does depends on what arrives. Blocking, nonblocking and persistent calls are made of
 * these three. Each starts messages, and goes on when some of them are complete.
 */
#ifndef COLL_LIB_SCHEDULE_COURSE_H
#define COLL_LIB_SCHEDULE_COURSE_H

#include "lib/base/comm.h"

#include <stdbool.h>

/* What the state of each begins with. */
typedef struct coll_course coll_course;
struct coll_course {
    /* Begins, also anew, and starts what may start; never waits. */
    int (*start)(coll_course *course);
    /* The requests whose places are the first COUNT indices are complete: sees to these, and starts
     * what may start then; never waits. */
    int (*take)(coll_course *course, int count);
    /* None was complete, or one was waited for; NULL: it doesn't matter. */
    void (*looked)(coll_course *course);
    coll_comm *comm;
    int active; /* requests that aren't null; 0 where all is done */
    int count;  /* of the arrays that may hold them */
    MPI_Request *requests;
    int *peers; /* the ranks at their other ends */
    int *indices;
    MPI_Status *statuses;
};

/* Sees to what is complete, without waiting. *MOVED if anything is. */
int coll_course_advance(coll_course *course, bool *moved);

/* From start to finish, waiting politely; gives up after an error. */
int coll_course_run(coll_course *course);

/* Gives up after an error: messages may stay under way. */
void coll_course_abandon(coll_course *course);

#endif

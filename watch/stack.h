/* Where a thread of this process is. */
#ifndef COLL_WATCH_STACK_H
#define COLL_WATCH_STACK_H

#include "watch/record.h"

/* Loads what a look needs, which must not happen in a signal handler. */
void watch_stack_begin(void);

/*
 * Writes the stack of THREAD, innermost first and without MPI's own functions, at most ROOM places;
 * returns how many. The thread is interrupted by a signal. Where it sleeps in a system call that a
 * signal would end early, it is left alone: ASLEEP becomes the name of that call.
 */
int watch_stack_take(int thread, watch_place places[], int room, char asleep[WATCH_NAME]);

/* Names the place at ADDRESS. */
void watch_stack_name(uint64_t address, watch_place *place);

/* Whether PLACE is in the MPI library or in what stands before it. */
bool watch_stack_is_mpi(const watch_place *place);

/* Writes "function at file.c:12", with the LINE if that is not "". */
void watch_stack_print(const watch_place *place, const char *line, char *text, int size);

#endif

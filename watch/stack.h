/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of this process's threads. */
#ifndef COLL_WATCH_STACK_H
#define COLL_WATCH_STACK_H

#include "watch/record.h"

/*
 * Prepares watch_stack_take: installs a signal handler and loads libraries that can't be loaded
 * within it.
 */
void watch_stack_begin(void);

/*
 * Writes the stack of THREAD, innermost frame first and without MPI's own functions, to at most
 * ROOM places. Returns how many. Interrupts the thread by a signal; but if the thread sleeps in a
 * system call that a signal would end early, only sets ASLEEP to the name of that call.
 */
int watch_stack_take(int thread, watch_place places[], int room, char asleep[WATCH_NAME]);

/* Fills in PLACE for the code at ADDRESS. */
void watch_stack_name(uint64_t address, watch_place *place);

/* Returns whether PLACE is in the MPI library, in a library that it uses, or in libcoll. */
bool watch_stack_is_mpi(const watch_place *place);

/*
 * Writes "function at file.c:12" to TEXT, of SIZE bytes, where LINE is "file.c:12". If LINE is "",
 * writes the function and the file, or an offset.
 */
void watch_stack_print(const watch_place *place, const char *line, char *text, int size);

#endif

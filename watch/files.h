/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication through files, for watchers that can't reach one another by TCP. Questions and
 * answers are files in a directory that all ranks share. They exist only during the second or so
 * that a report takes; if a job is killed meanwhile, a later job removes them. Except for the
 * functions that start-up calls (begin, shared, unmark, use), all run on the watcher's thread.
 */
#ifndef COLL_WATCH_FILES_H
#define COLL_WATCH_FILES_H

#include "watch/auth.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Sets DIRECTORY for the job's files and derives their names from the job's SECRET. If MARKS, also
 * creates a marker file, by which the other ranks recognise that they share the directory. Returns
 * false if the marker file can't be written.
 */
bool watch_files_begin(const char *directory, const watch_secret *secret, int rank, bool marks);

/* Returns whether this rank sees the marker file and may write it. */
bool watch_files_shared(void);

void watch_files_unmark(void);

/* Switches the watchers to communication through files. */
void watch_files_use(void);
bool watch_files_used(void);

/*
 * Asks all ranks for their states, without stacks if SAMPLE. Returns false if another rank is
 * asking already or the question can't be written.
 */
bool watch_files_ask(bool sample);

/* Returns RANK's answer, which the caller frees, or NULL if there is none yet. */
char *watch_files_take(int rank, size_t *length);

/* Ends the question: removes its file and the remaining answers of all RANKS ranks. */
void watch_files_over(int ranks);

/*
 * Returns whether another rank asks a new question, and sets *SAMPLE to the SAMPLE that the asking
 * rank passed to watch_files_ask.
 */
bool watch_files_asked(bool *sample);

void watch_files_answer(const void *bytes, size_t length);

/* Returns after how many milliseconds, at most PAUSE, to look for files again. */
int watch_files_pause(int pause);

#endif

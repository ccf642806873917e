/*
 * Where watchers can't reach one another by TCP: questions and answers as files in a directory that
 * all ranks share. They are there for the second that a report takes; what is left by a job that is
 * killed in it, a later one removes. All is done by the watchers' threads, but for the beginning.
 */
#ifndef COLL_WATCH_FILES_H
#define COLL_WATCH_FILES_H

#include "watch/secret.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Names the job's files in DIRECTORY by its SECRET. A rank that MARKS leaves a mark there, by which
 * others see that they share the directory. False: nothing can be written there.
 */
bool watch_files_begin(const char *directory, const watch_secret *secret, int rank, bool marks);

/* Whether the mark is there. */
bool watch_files_shared(void);

void watch_files_unmark(void);

/* From now on files are used. */
void watch_files_use(void);
bool watch_files_used(void);

/* Asks all ranks for their states. False: somebody does already, or the directory is gone. */
bool watch_files_ask(bool sample);

/* What RANK has answered, which the caller frees, or NULL: nothing yet. */
char *watch_files_take(int rank, size_t *length);

/* The question is over: removes it and what is left of its answers by RANKS ranks. */
void watch_files_over(int ranks);

/* Whether another rank asks something new. */
bool watch_files_asked(bool *sample);

void watch_files_answer(const void *bytes, size_t length);

/* After how many milliseconds, at most PAUSE, to look for files again. */
int watch_files_pause(int pause);

#endif

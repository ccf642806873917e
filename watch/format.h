/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes calls, communicators and ranks in English. */
#ifndef COLL_WATCH_FORMAT_H
#define COLL_WATCH_FORMAT_H

#include "watch/record.h"

#include <stddef.h>

/* A text in a buffer of ROOM bytes; what doesn't fit is cut off. */
typedef struct watch_text {
    char *at;
    size_t room, length;
} watch_text;

watch_text watch_text_in(char *at, size_t room);
void watch_append(watch_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes "rank 3" or "ranks 0-4 and 7". */
void watch_append_ranks(watch_text *text, const int ranks[], int count);

/* Writes "MPI_Bcast of 4 MPI_DOUBLE, root 2" or "MPI_Recv from rank 1, tag 7". */
void watch_append_call(watch_text *text, const watch_record *call);

/*
 * Describes a call of several ranks whose partners are at the same distance: "MPI_Recv from the
 * next rank, tag 7". CALL and INFO are the call and its communicator as one of these ranks
 * describes them. If INFO is NULL, does the same as watch_append_call.
 */
void watch_append_shifted_call(watch_text *text, const watch_record *call,
                               const watch_comm_info *info);

/*
 * Returns the distance from INFO's rank to PEER, modulo the communicator's size, or -1 if INFO is
 * NULL or an intercommunicator, or if PEER isn't a rank of that communicator.
 */
int watch_shift_of(const watch_comm_info *info, int peer);

/* Writes the name of communicator ID, or how it was created, as far as any of STATES knows it. */
void watch_append_comm(watch_text *text, uint64_t id, const watch_state states[], int ranks);

/*
 * Writes which call on its communicator CALL is: ", the 120th collective on solver" or, if CALL is
 * no collective, " on solver". Writes nothing about MPI_COMM_WORLD if CALL is no collective.
 */
void watch_append_call_comm(watch_text *text, const watch_record *call, const watch_state states[],
                            int ranks);

/* Writes "3.2 s" or "5 min". */
void watch_append_time(watch_text *text, uint64_t nanoseconds);

/* Returns the description of communicator ID in the first of STATES that has one, or NULL. */
const watch_comm_info *watch_comm_known(uint64_t id, const watch_state states[], int ranks);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the messages that this rank has sent and the receives that it has posted, by communicator,
 * rank and tag. The counts of two ranks together show whether a receive has a matching message.
 */
#ifndef COLL_WATCH_MESSAGE_COUNTS_H
#define COLL_WATCH_MESSAGE_COUNTS_H

#include "watch/record.h"

void watch_message_counts_sent(uint64_t comm, int peer, int tag);
void watch_message_counts_received(uint64_t comm, int peer, int tag);

/* Marks the counts as unreliable from now on, because the program has called MPI_Cancel or
 * MPI_Improbe. */
void watch_message_counts_invalidate(void);

/*
 * Copies at most ROOM counts to LIST and returns how many. Sets *OVERFLOWN to whether counts are
 * missing, because the table was full, or are unreliable.
 */
int watch_message_counts_list(watch_message_count list[], int room, bool *overflown);

#endif

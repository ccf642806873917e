/*
 * How many messages this rank has sent and how many receives it has posted, by communicator, rank
 * and tag: from the counts of two ranks follows whether a receive has a message.
 */
#ifndef COLL_WATCH_TRAFFIC_H
#define COLL_WATCH_TRAFFIC_H

#include "watch/record.h"

void watch_traffic_sent(uint64_t comm, int peer, int tag);
void watch_traffic_received(uint64_t comm, int peer, int tag);

/* From now on the counts prove nothing: a receive was cancelled. */
void watch_traffic_spoil(void);

/* Copies at most ROOM counts. *OVERFLOWN: some are missing. */
int watch_traffic_list(watch_traffic_entry list[], int room, bool *overflown);

#endif

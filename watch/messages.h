/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether messages have matching receives, from how many messages of each kind the ranks
 * have sent, and how many receives they have posted. Pure.
 */
#ifndef COLL_WATCH_MESSAGES_H
#define COLL_WATCH_MESSAGES_H

#include "watch/record.h"

/* What a rank waits for: an incoming message, or the receive of a message that it sends. */
typedef struct watch_message {
    uint64_t comm;
    int peer, tag; /* PEER: a rank of COMM */
    bool sends;
    bool probes; /* it is a probe, so no receive is posted */
} watch_message;

/* Lists the messages, at most two, that WHAT waits for. Returns how many. */
int watch_message_list(const watch_awaited *what, watch_message list[2]);

/* Returns the rank in MPI_COMM_WORLD of MESSAGE's peer, or -1 if that is any rank or unknown. */
int watch_message_peer(const watch_message *message, const watch_state states[], int ranks);

/*
 * Returns whether the send or receive that matches MESSAGE of RANK certainly has not been called.
 * False if counts are missing, or if wildcard receives could have taken the message.
 */
bool watch_message_unmatched(const watch_message *message, int rank, const watch_state states[],
                             int ranks);

/*
 * A near miss: sends or receives that would match a message if the tag, the rank or the
 * communicator did not differ.
 */
typedef struct watch_miss {
    int rank;               /* the sending or receiving rank, in MPI_COMM_WORLD */
    int peer, tag;          /* destination or source in COMM, and tag */
    uint64_t comm, surplus; /* SURPLUS: how many of these sends or receives are unmatched */
} watch_miss;

/* Finds at most ROOM near misses of MESSAGE that are certainly unmatched. Returns how many. */
int watch_message_misses(const watch_message *message, int rank, const watch_state states[],
                         int ranks, watch_miss misses[], int room);

#endif

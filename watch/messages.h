/* Whether a message has its receive, by how many of its kind two ranks have sent and received.
 * Pure. */
#ifndef COLL_WATCH_MESSAGES_H
#define COLL_WATCH_MESSAGES_H

#include "watch/record.h"

/* What a rank waits for: a message to come, or one of its own to be received. */
typedef struct watch_message {
    uint64_t comm;
    int peer, tag; /* PEER: a rank of COMM */
    bool sends;
    bool probes; /* it has not posted a receive */
} watch_message;

typedef enum watch_matched {
    WATCH_UNKNOWN,   /* counts are missing, or wildcards could have taken it */
    WATCH_UNMATCHED, /* the partner has surely not come */
    WATCH_MATCHED
} watch_matched;

/* The rank in MPI_COMM_WORLD of MESSAGE's peer; -1: any, or not known. */
int watch_message_peer(const watch_message *message, const watch_state states[], int ranks);

watch_matched watch_message_matched(const watch_message *message, int rank,
                                    const watch_state states[], int ranks);

/* Something that would have been MESSAGE's partner with another tag, rank or communicator. */
typedef struct watch_miss {
    int rank;               /* who has sent it or waits for it, in MPI_COMM_WORLD */
    int peer, tag;          /* whom it waits for, in the communicator */
    uint64_t comm, surplus; /* how many of them have no partner */
} watch_miss;

/* At most ROOM that surely have no partner; returns how many. */
int watch_message_misses(const watch_message *message, int rank, const watch_state states[],
                         int ranks, watch_miss misses[], int room);

#endif

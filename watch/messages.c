/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/messages.h"

#include "watch/calls.h"
#include "watch/format.h"

#include <mpi.h>
#include <stddef.h>

static int rank_on(uint64_t comm, const watch_state *state) {
    const watch_comm_info *info = watch_comm_known(comm, state, 1);
    return info ? info->rank : -1;
}

static int world_rank(uint64_t comm, int rank, const watch_state states[], int ranks) {
    if (comm == WATCH_WORLD)
        return rank >= 0 && rank < ranks ? rank : -1;
    for (int i = 0; i < ranks; i++) {
        const watch_comm_info *info = watch_comm_known(comm, &states[i], 1);
        if (info && (!info->certain || info->inter))
            return -1;
        if (info && info->rank == rank)
            return i;
    }
    return -1;
}

int watch_message_list(const watch_awaited *what, watch_message list[2]) {
    const watch_waits waits = watch_calls[what->call].waits;
    const bool sends = waits == WATCH_SEND || waits == WATCH_EXCHANGE,
               receives = waits == WATCH_RECEIVE || waits == WATCH_PROBE || waits == WATCH_EXCHANGE;
    int count = 0;
    if (sends && what->peer != MPI_PROC_NULL)
        list[count++] = (watch_message){
            .comm = what->comm, .peer = what->peer, .tag = what->tag, .sends = true};
    const int source = sends ? what->from : what->peer;
    if (receives && source != MPI_PROC_NULL)
        list[count++] = (watch_message){.comm = what->comm,
                                        .peer = source,
                                        .tag = sends ? what->from_tag : what->tag,
                                        .probes = waits == WATCH_PROBE};
    return count;
}

int watch_message_peer(const watch_message *message, const watch_state states[], int ranks) {
    return world_rank(message->comm, message->peer, states, ranks);
}

static bool counts_hold(const watch_state *state) {
    return state->fate == WATCH_ANSWERS && !state->head.overflown;
}

/* Returns how many messages with TAG, or with any tag if TAG is MPI_ANY_TAG, the rank of STATE has
 * sent to PEER of COMM. */
static uint64_t count_sent(const watch_state *state, uint64_t comm, int peer, int tag) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < state->head.message_counts; i++) {
        const watch_message_count *entry = &state->message_counts[i];
        if (!entry->received && entry->comm == comm && entry->peer == peer &&
            (tag == MPI_ANY_TAG || entry->tag == tag))
            sum += entry->count;
    }
    return sum;
}

typedef struct posted {
    uint64_t exact; /* receives without wildcards */
    uint64_t all;   /* these, and receives with wildcards */
} posted;

/*
 * Counts the receives that the rank of STATE has posted and that could take messages with TAG from
 * PEER of COMM.
 */
static posted count_posted(const watch_state *state, uint64_t comm, int peer, int tag) {
    posted sum = {0, 0};
    for (uint32_t i = 0; i < state->head.message_counts; i++) {
        const watch_message_count *entry = &state->message_counts[i];
        if (!entry->received || entry->comm != comm)
            continue;
        bool fits = (entry->peer == peer || entry->peer == MPI_ANY_SOURCE) &&
                    (entry->tag == tag || entry->tag == MPI_ANY_TAG);
        sum.all += fits ? entry->count : 0;
        sum.exact += entry->peer == peer && entry->tag == tag ? entry->count : 0;
    }
    return sum;
}

/*
 * Returns whether a receive by RANK from MPI_ANY_SOURCE is certainly unmatched: all ranks together
 * have sent RANK fewer messages with the receive's tag than RANK has posted receives that name this
 * tag. With MPI_ANY_TAG, all messages and receives count.
 */
static bool any_source_unmatched(const watch_message *message, int rank, const watch_state states[],
                                 int ranks) {
    int own = rank_on(message->comm, &states[rank]), seen = 0, size = 0;
    uint64_t all_sent = 0, all_posted = message->probes;
    if (own < 0)
        return false;
    for (int i = 0; i < ranks; i++) {
        const watch_comm_info *info = watch_comm_known(message->comm, &states[i], 1);
        if (!info)
            continue;
        if (!counts_hold(&states[i]) || info->inter || !info->certain)
            return false;
        seen++;
        size = info->size;
        all_sent += count_sent(&states[i], message->comm, own, message->tag);
    }
    if (seen < size)
        return false;
    /* Count the receives that take only messages that this receive could take as well. */
    for (uint32_t i = 0; i < states[rank].head.message_counts; i++) {
        const watch_message_count *entry = &states[rank].message_counts[i];
        if (entry->received && entry->comm == message->comm &&
            (message->tag == MPI_ANY_TAG || entry->tag == message->tag))
            all_posted += entry->count;
    }
    return all_sent < all_posted;
}

bool watch_message_unmatched(const watch_message *message, int rank, const watch_state states[],
                             int ranks) {
    if (message->peer == MPI_ANY_SOURCE)
        return counts_hold(&states[rank]) && any_source_unmatched(message, rank, states, ranks);
    int peer = watch_message_peer(message, states, ranks);
    int own = rank_on(message->comm, &states[rank]);
    if (peer < 0 || own < 0 || !counts_hold(&states[rank]) || !counts_hold(&states[peer]))
        return false;
    const watch_state *from = message->sends ? &states[rank] : &states[peer];
    const watch_state *to = message->sends ? &states[peer] : &states[rank];
    int from_rank = message->sends ? own : message->peer;
    int to_rank = message->sends ? message->peer : own;
    uint64_t messages = count_sent(from, message->comm, to_rank, message->tag);
    if (message->tag == MPI_ANY_TAG) {
        /* Count all receives from this peer, whatever their tag. */
        uint64_t receives = message->probes;
        for (uint32_t i = 0; i < to->head.message_counts; i++) {
            const watch_message_count *entry = &to->message_counts[i];
            if (entry->received && entry->comm == message->comm && entry->peer == from_rank)
                receives += entry->count;
        }
        return messages < receives;
    }
    posted receives = count_posted(to, message->comm, from_rank, message->tag);
    return message->sends ? receives.all < messages : messages < receives.exact + message->probes;
}

/*
 * Finds messages sent to RANK that none of its receives takes and that differ from MESSAGE in one
 * respect.
 */
static int find_unreceived(const watch_message *message, int rank, const watch_state states[],
                           int ranks, watch_miss misses[], int room) {
    int count = 0;
    for (int other = 0; other < ranks; other++) {
        if (!counts_hold(&states[other]))
            continue;
        for (uint32_t i = 0; i < states[other].head.message_counts && count < room; i++) {
            const watch_message_count *entry = &states[other].message_counts[i];
            if (entry->received || world_rank(entry->comm, entry->peer, states, ranks) != rank)
                continue;
            bool same_rank = message->peer == MPI_ANY_SOURCE ||
                             watch_message_peer(message, states, ranks) == other;
            bool same_tag = message->tag == MPI_ANY_TAG || entry->tag == message->tag;
            bool same_comm = entry->comm == message->comm;
            /* A near miss differs in exactly one respect. */
            if (!same_rank + !same_tag + !same_comm != 1)
                continue;
            uint64_t taken = count_posted(&states[rank], entry->comm,
                                          rank_on(entry->comm, &states[other]), entry->tag)
                                 .all;
            if (entry->count > taken)
                misses[count++] = (watch_miss){.rank = other,
                                               .peer = entry->peer,
                                               .tag = entry->tag,
                                               .comm = entry->comm,
                                               .surplus = entry->count - taken};
        }
    }
    return count;
}

/*
 * Finds receives that no message fits, on the rank to which MESSAGE goes. They differ from MESSAGE
 * either in the tag or in the source.
 */
static int find_unsent(const watch_message *message, int rank, const watch_state states[],
                       int ranks, watch_miss misses[], int room) {
    int peer = watch_message_peer(message, states, ranks), count = 0;
    if (peer < 0 || !counts_hold(&states[peer]))
        return 0;
    for (uint32_t i = 0; i < states[peer].head.message_counts && count < room; i++) {
        const watch_message_count *entry = &states[peer].message_counts[i];
        if (!entry->received || entry->comm != message->comm || entry->peer == MPI_ANY_SOURCE ||
            entry->tag == MPI_ANY_TAG)
            continue;
        int source = world_rank(entry->comm, entry->peer, states, ranks);
        if (source < 0 || !counts_hold(&states[source]))
            continue;
        bool same_rank = source == rank, same_tag = entry->tag == message->tag;
        if (same_rank == same_tag)
            continue;
        uint64_t came = count_sent(&states[source], entry->comm,
                                   rank_on(entry->comm, &states[peer]), entry->tag);
        if (entry->count > came)
            misses[count++] = (watch_miss){.rank = peer,
                                           .peer = entry->peer,
                                           .tag = entry->tag,
                                           .comm = entry->comm,
                                           .surplus = entry->count - came};
    }
    return count;
}

int watch_message_misses(const watch_message *message, int rank, const watch_state states[],
                         int ranks, watch_miss misses[], int room) {
    if (!counts_hold(&states[rank]))
        return 0;
    return message->sends ? find_unsent(message, rank, states, ranks, misses, room)
                          : find_unreceived(message, rank, states, ranks, misses, room);
}

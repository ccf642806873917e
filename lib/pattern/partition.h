/*
 * Who gets which keys in an aggregation, and in what order ranks talk: pure arithmetic on the
 * layout of ranks over nodes, so that every rank knows all partners without asking.
 *
 * A key's owner is the rank whose partition it falls into. A route is one rank's view of one stage.
 */
#ifndef COLL_LIB_PATTERN_PARTITION_H
#define COLL_LIB_PATTERN_PARTITION_H

#include "lib/place/topo.h"

#include <stdbool.h>
#include <stdint.h>

/* A well-mixed hash of KEY; a bijection. Its upper 32 bits choose the owner, pools use the rest. */
uint64_t coll_partition_hash(uint64_t key);

/* The rank in [0, RANKS) that owns the keys with HASH. */
int coll_partition_owner(uint64_t hash, int ranks);

/* Which ranks are on which node. */
typedef struct coll_layout {
    int ranks, nodes;
    int *node;    /* of each rank */
    int *index;   /* of each rank, among those of its node */
    int *first;   /* members[first[n]] to members[first[n + 1] - 1] are the ranks of node n, */
    int *members; /* in ascending order */
} coll_layout;

/* That of TOPO; false when memory runs out. Free with coll_layout_free. */
bool coll_layout_create(const coll_topo *topo, coll_layout *layout);
void coll_layout_free(coll_layout *layout);

/*
 * The rank of NODE that collects the keys of OWNER in stage 1: OWNER itself on its own node,
 * elsewhere the process with the owner's local index modulo the processes there. Nodes of equal
 * size thus pair up their processes one to one in each round of stage 2.
 */
int coll_layout_collector(const coll_layout *layout, int node, int owner);

/*
 * What one rank does in one stage. Sends and receives are in the order of rounds: in round i a
 * participant sends to the one i places further on and receives from the one i places back. A rank
 * has one source a round at most, so working through both lists in order, each at its own pace,
 * cannot deadlock: the sender of the earliest unfinished round always finds its receiver waiting.
 */
typedef struct coll_route {
    int *group_of; /* of each owner: the place in sends of where its keys go, or -1: they stay */
    int *sends;
    int *receives;
    int send_count, receive_count;
} coll_route;

/* A maker of routes for RANK; false when memory runs out. ROOT matters to coll_route_root only. */
typedef bool coll_route_maker(const coll_layout *layout, int rank, int root, coll_route *route);

coll_route_maker coll_route_to_collectors; /* stage 1: within each node */
coll_route_maker coll_route_to_owners;     /* stage 2: from each node's collectors */
coll_route_maker coll_route_all_to_owners; /* stage 2 without a stage 1: from every rank */
coll_route_maker coll_route_to_root;       /* stage 3, or all at once: everything to the root */

void coll_route_free(coll_route *route);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distribution of keys in an aggregation, and the order of messages: pure arithmetic on the
 * layout of ranks over nodes, so that every rank knows all its partners without communication.
 *
 * A key's owner is the rank into whose partition it falls. A route is one rank's view of one stage.
 */
#ifndef COLL_LIB_AGGREGATE_PARTITION_H
#define COLL_LIB_AGGREGATE_PARTITION_H

#include "lib/topology/topo.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns a well-mixed hash of KEY; a bijection. Its upper 32 bits determine the owner, pools use
 * the rest.
 */
uint64_t coll_partition_hash(uint64_t key);

/* Returns the rank in [0, RANKS) that owns the keys with HASH. */
int coll_partition_owner(uint64_t hash, int ranks);

/* The ranks of each node. */
typedef struct coll_layout {
    int ranks, nodes;
    int *node;    /* node of each rank */
    int *index;   /* index of each rank among those of its node */
    int *first;   /* index in MEMBERS of each node's first rank; last entry: the number of ranks */
    int *members; /* the ranks node by node, in ascending order within a node */
} coll_layout;

/* Creates the layout of TOPO; returns false if out of memory. Free it with coll_layout_free. */
bool coll_layout_create(const coll_topo *topo, coll_layout *layout);
void coll_layout_free(coll_layout *layout);

/*
 * Returns the rank of NODE that collects the keys of OWNER in stage 1: OWNER itself on its own
 * node, elsewhere the process whose index is the owner's local index modulo the number of processes
 * there. Nodes of equal size thus pair up their processes one to one in each round of stage 2.
 */
int coll_layout_collector(const coll_layout *layout, int node, int owner);

/*
 * The messages of one rank in one stage. Sends and receives are in the order of rounds: in round i
 * a participant (in coll_route_to_owners a node, else a rank) sends to the participant i places
 * further on and receives from the participant i places back; if everything goes to the root, the
 * root receives from the rank i places further on. A rank has at most one source per round, so
 * working through both lists in order, each at its own pace, cannot deadlock: the receiver of the
 * earliest unfinished round is always waiting for its sender.
 */
typedef struct coll_route {
    /* for each owner: the index in SENDS of the destination of its keys, or -1 if they stay */
    int *group_of;
    int *sends;
    int *receives;
    int send_count, receive_count;
} coll_route;

/* Adds the messages of RANK to ROUTE, which has none before, so that all keys stay. Only
 * coll_route_to_root uses ROOT. */
typedef void coll_route_maker(const coll_layout *layout, int rank, int root, coll_route *route);

coll_route_maker coll_route_to_collectors; /* stage 1: within each node */
coll_route_maker coll_route_to_owners;     /* stage 2: from each node's collectors */
coll_route_maker coll_route_all_to_owners; /* stage 2 without a stage 1: from every rank */
coll_route_maker coll_route_to_root;       /* stage 3, or all at once: everything to the root */

/* Creates the route of RANK by MAKE; returns false if out of memory. */
bool coll_route_create(const coll_layout *layout, coll_route_maker *make, int rank, int root,
                       coll_route *route);
void coll_route_free(coll_route *route);

#endif

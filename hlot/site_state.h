/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of collectives over sites, stored with a communicator: the leader of each site, a
 * communicator of the ranks of this site, the latencies, and the tree that this rank used last as
 * root.
 */
#ifndef COLL_HLOT_SITE_STATE_H
#define COLL_HLOT_SITE_STATE_H

#include "hlot/latency.h"
#include "hlot/tree.h"
#include "lib/tuning/state.h"

typedef struct hlot_site_state {
    const coll_state *state;
    int site;              /* site of this rank */
    int leads[HLOT_SITES]; /* leaders: the lowest rank of each site */
    coll_comm *local;      /* the ranks of this site */
    hlot_latency *latency; /* NULL until a tree needs it */
    uint32_t broadcasts;   /* number of broadcasts over sites so far; the same on all ranks */
    hlot_kind kind;        /* kind of TREE */
    long changes;          /* number of changes of the latencies when TREE was last checked */
    /* the network for which TREE was made; without sites if there is no tree */
    hlot_network network;
    hlot_tree tree;
} hlot_site_state;

/*
 * The slot in which a communicator stores a pointer to its hlot_site_state; NULL before the first
 * collective over sites.
 */
extern coll_comm_key hlot_site_state_key;

/* Returns whether collectives can go over sites: there are 2 to HLOT_SITES sites. */
bool hlot_site_state_possible(const coll_topo *topo);

/*
 * Sets *SITE_STATE to COMM's state. The first call makes it and is collective. With LATENCIES, also
 * loads or measures the latencies (hlot/latency.h); the first call with LATENCIES is collective,
 * too. Returns an MPI error code.
 */
int hlot_site_state_get(coll_comm *comm, bool latencies, hlot_site_state **site_state);

/* Sets the sites of NETWORK, and the latencies between them. If the latencies are unknown, uses the
 * profile's latency between sites. */
void hlot_site_state_network(const coll_shape *call, hlot_network *network);

/*
 * Predicts CALL, a broadcast; the result is the same on all ranks. Returns the size of a segment in
 * bytes: SEGMENT, but at most the size of the message, or the size with the least predicted time if
 * SEGMENT is 0. If the latencies are still unknown, the profile's latency between sites is used.
 * Unless SECONDS is NULL, *SECONDS becomes the predicted time with the tree of KIND from the root's
 * site, including the broadcasts within the sites:
 *
 *     T(tree of n segments) + n T(segment, within a site)
 */
size_t hlot_site_state_predict(const coll_shape *call, hlot_kind kind, uint64_t segment,
                               double *seconds);

/*
 * On the root: returns the tree of KIND for a message of BYTES in segments of SEGMENT bytes, made
 * from the latest latencies. For calls of the same kind, root's site and sizes, the tree stays the
 * same unless another tree is clearly faster.
 */
const hlot_tree *hlot_site_state_tree(hlot_site_state *site_state, hlot_kind kind, size_t segment,
                                      size_t bytes);

#endif

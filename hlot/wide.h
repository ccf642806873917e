/*
 * What broadcasts over sites keep for a communicator: who leads each site, the ranks of this site
 * as a communicator of their own, the latencies, and the tree that was used last.
 */
#ifndef COLL_HLOT_WIDE_H
#define COLL_HLOT_WIDE_H

#include "hlot/latency.h"
#include "hlot/tree.h"
#include "lib/operation/state.h"

typedef struct hlot_wide {
    const coll_state *state;
    int site;              /* this rank's */
    int leads[HLOT_SITES]; /* the lowest rank of each site */
    coll_comm *local;      /* the ranks of this site */
    hlot_latency *latency; /* NULL until a tree is asked for that needs it */
    uint32_t broadcasts;   /* over sites so far, on all ranks alike */
    hlot_kind kind;        /* of the next one */
    long changes;          /* of the latencies, when it was made */
    hlot_network network;  /* that it was made for; without sites: there is none */
    hlot_tree tree;
} hlot_wide;

/* Where a communicator keeps a pointer to it, NULL before its first broadcast over sites. */
extern coll_comm_key hlot_wide_key;

/* True where broadcasts can go over sites: there are several, and not too many. */
bool hlot_wide_possible(const coll_topo *topo);

/*
 * COMM's state; collective on first use, when it is made. With LATENCIES they are known too
 * (hlot/latency.h), which is as collective.
 */
int hlot_wide_get(coll_comm *comm, bool latencies, hlot_wide **wide);

/* Sets the sites of NETWORK, and their latencies: the profile's where they are not known. */
void hlot_wide_network(const coll_shape *call, hlot_network *network);

/*
 * The network that a broadcast of CALL is predicted on, alike on all ranks, and the bytes of a
 * segment: SEGMENT, or for 0 the one with the least predicted time. Latencies that are not known
 * yet are the profile's. *SECONDS, unless NULL, is that time, with the tree of KIND from the root's
 * site, and within the sites:
 *
 *     T(tree of n segments) + n T(segment, within a site)
 */
size_t hlot_wide_predict(const coll_shape *call, hlot_kind kind, uint64_t segment, double *seconds);

/*
 * The root's part: the tree of KIND for segments of SEGMENT bytes, BYTES in all, by the latest
 * latencies. While those change little it stays the same: another one must be clearly faster.
 */
const hlot_tree *hlot_wide_tree(hlot_wide *wide, hlot_kind kind, size_t segment, size_t bytes);

#endif

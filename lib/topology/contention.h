/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds racks whose uplinks are slower than all of their hosts together, where round trips do not
 * tell racks apart (lib/topology/findracks.h). No MPI and no clock: the caller measures.
 *
 * In each round every host sends as many bytes to another host, all at the same time. A transfer
 * inside a rack has the whole rate of a link; a transfer to another rack shares the uplinks with
 * others and takes longer. The hosts are then divided into groups with which most of all these
 * times agree. The next round is made of pairs that are still unknown, and of pairs in different
 * groups, which keep the uplinks busy.
 *
 * The groups are racks if most times agree with them. If this leads nowhere, because uplinks are so
 * fast that many transfers between racks are fast, too, racks are fitted to all times
 * (lib/topology/rack_fit.h).
 */
#ifndef COLL_LIB_TOPOLOGY_CONTENTION_H
#define COLL_LIB_TOPOLOGY_CONTENTION_H

/* Most hosts among which racks are found. */
enum { COLL_CONTENTION_HOSTS = 512 };

typedef enum coll_contention_result {
    COLL_CONTENTION_UNKNOWN, /* another round is needed */
    COLL_CONTENTION_NONE,    /* no uplink is slow, or the times contradict each other */
    COLL_CONTENTION_FOUND
} coll_contention_result;

typedef struct coll_contention coll_contention;

/* Returns a search among HOSTS hosts, from 3 to COLL_CONTENTION_HOSTS, or NULL if out of memory.
 * The caller frees it with free. */
coll_contention *coll_contention_new(int hosts);

/* Returns to which host each host sends in the next round: a permutation without fixed points. */
const int *coll_contention_next(coll_contention *search);

/*
 * Adds the result of that round: SECONDS[host] is the time in which HOST received its bytes;
 * negative if it may have taken longer. Unless the result is COLL_CONTENTION_UNKNOWN, the search is
 * over.
 */
coll_contention_result coll_contention_add(coll_contention *search, const double seconds[]);

/* Sets the RACKS of all hosts, numbered in order of first appearance. The result must be
 * COLL_CONTENTION_FOUND. */
void coll_contention_racks(const coll_contention *search, int racks[]);

#endif

/*
 * The chain with an end-to-end acknowledgement; chain.c hands over to it when confirm=1.
 *
 * 1. Segments pass down the line as in the plain chain, each with a checksum that the root made and
 *    that every rank checks before it passes the segment on.
 * 2. When the last rank has all, it tells the root, and the root tells everybody: nobody leaves
 *    before. An outcome of the root is thus everybody's.
 * 3. When a segment comes damaged, or for COLL_TIMEOUT seconds no rank makes progress or some rank
 *    is silent, the root starts a new epoch: from the first segment, with the suspect moved to the
 *    end of the line. A rank that slept meanwhile follows from epoch to epoch when it wakes. Each
 *    rank closes an epoch by a message to its successor there, which discards what comes before
 *    that. After a restart every rank acknowledges for itself, once all that it was sent has
 *    arrived, so that nothing stale is left in the network.
 * 4. After so many restarts as are allowed the root tells all ranks why it failed. A rank that
 *    hears nothing of the root for as long as all tries take gives up by itself.
 *
 * Ranks tell the root, and the root tells the others, that they are alive four times a
 * COLL_TIMEOUT. Without COLL_TIMEOUT only damaged segments lead to restarts.
 *
 * No protocol can make an outcome common when the very last message is lost: a rank cut off between
 * its acknowledgement and the root's word ends in an error although the others are done.
 *
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, section 4.5.
 */
#ifndef COLL_LIB_BCAST_CHAIN_CONFIRMED_H
#define COLL_LIB_BCAST_CHAIN_CONFIRMED_H

#include "lib/bcast/bcast.h"

#include <stddef.h>
#include <stdint.h>

extern coll_comm_key coll_chain_confirmed_key;

/* Broadcasts in segments of SEGMENT bytes, WINDOW messages under way to the next rank. */
int coll_chain_confirmed_run(const coll_planned *call, size_t segment, int window, unsigned retry);

/*
 * For tests, else NULL: may damage the LENGTH bytes of segment INDEX after they got their checksum,
 * before RANK sends them.
 */
extern void (*coll_chain_confirmed_tamper)(int rank, uint32_t epoch, uint64_t index, char *bytes,
                                           size_t length);

#endif

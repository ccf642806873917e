/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chain with an end-to-end acknowledgement; chain.c calls it when confirm=1.
 *
 * 1. Segments pass down the line as in the plain chain. Each segment has a checksum that the root
 *    computed and that every rank verifies before it forwards the segment.
 * 2. When the last rank has all segments, it acknowledges this to the root, and the root informs
 *    all ranks. No rank leaves before it is informed, so all ranks have the root's outcome.
 * 3. When a segment arrives damaged, or if for COLL_TIMEOUT seconds no rank makes progress or some
 *    rank is silent, the root starts a new epoch: it sends all segments again, and the suspect
 *    moves to the end of the line. A rank that was stopped meanwhile enters one epoch after the
 *    other when it resumes. Each rank ends an epoch with a message to its successor in that epoch;
 *    ranks discard segments of older epochs. After a restart every rank sends its own
 *    acknowledgement, once all messages of older epochs to it and from it have arrived, so that no
 *    old message is left in the network.
 * 4. After the allowed number of restarts the root sends all ranks the diagnosis, and the broadcast
 *    fails. A rank that receives nothing from the root for the duration of all attempts gives up by
 *    itself.
 *
 * The root and the other ranks send each other heartbeats four times per COLL_TIMEOUT. Without
 * COLL_TIMEOUT only damaged segments cause restarts.
 *
 * No protocol can guarantee a common outcome if the very last message is lost: a rank that is cut
 * off between its acknowledgement and the root's final message returns an error although the others
 * have finished.
 *
 * Source: Zhang and Qiu, section 4.5.
 */
#ifndef COLL_LIB_BCAST_RELIABLE_CHAIN_CONFIRMED_H
#define COLL_LIB_BCAST_RELIABLE_CHAIN_CONFIRMED_H

#include "lib/bcast/bcast.h"

#include <stddef.h>
#include <stdint.h>

extern coll_comm_key coll_chain_confirmed_key;

/*
 * Broadcasts in segments of SEGMENT bytes, with up to WINDOW messages in flight to the next rank
 * and up to RETRY restarts.
 */
int coll_chain_confirmed_run(const coll_exec_args *call, size_t segment, int window,
                             unsigned retry);

/*
 * NULL except in tests: may damage the LENGTH bytes of segment INDEX after the checksum was
 * computed, before RANK sends them.
 */
extern void (*coll_chain_confirmed_tamper)(int rank, uint32_t epoch, uint64_t index, char *bytes,
                                           size_t length);

#endif

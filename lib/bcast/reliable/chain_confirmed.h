/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chain with an end-to-end acknowledgement; chain.c calls it when confirm=1.
 *
 * 1. Segments pass down the line as in the plain chain. Each has a checksum that the root computed
 *    and that every rank verifies before it forwards the segment.
 * 2. When the last rank has all segments, it tells the root, and the root tells all ranks. No rank
 *    leaves before that, so all ranks have the root's outcome.
 * 3. When a segment arrives damaged, or for COLL_TIMEOUT seconds no rank makes progress or some
 *    rank is silent, the root starts a new epoch: all segments again, with the suspect moved to the
 *    end of the line. A rank that was stopped meanwhile follows from epoch to epoch when it
 *    resumes. Each rank ends an epoch with a message to its successor in that epoch; the successor
 *    discards everything older. After a restart every rank sends its own acknowledgement, once
 *    everything that was sent to it has arrived, so that nothing stale is left in the network.
 * 4. After the allowed number of restarts the root tells all ranks why it failed. A rank that
 *    receives nothing from the root for the duration of all attempts gives up by itself.
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

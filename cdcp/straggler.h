/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the ranks for which a collective call is waiting. All ranks report the same late ranks:
 *
 * 1. A DCP whose ranks have waited for longer than COLL_TIMEOUT asks the other DCPs of the
 *    communicator which of their ranks are missing.
 * 2. A DCP with missing ranks names them in its answer, and holds the call: even if these ranks
 *    arrive now, it sends no values, so that no DCP can complete a call that another DCP reports
 *    as failed. It gives the same answer to every DCP that asks.
 * 3. If ranks are missing, the DCP that asked names them to the other DCPs. Each DCP reports them
 *    to its ranks: at once to the ranks that wait, to the others when they arrive.
 *
 * A call that isn't late needs no messages for this. Mismatched calls fail on all ranks, too: the
 * failure is sent instead of values (cdcp/dcp_call.h).
 */
#ifndef COLL_CDCP_STRAGGLER_H
#define COLL_CDCP_STRAGGLER_H

#include "cdcp/dcp_call.h"

/* Begins the search for late ranks if CALL has waited too long at the time NOW. */
int coll_straggler_check(coll_dcp_context *context, coll_dcp_call *call, double now);

/* Holds call SEQUENCE of COMM, whose members are known, if ranks of this DCP are missing. */
int coll_straggler_hold(coll_dcp_context *context, coll_server_comm *comm, uint32_t sequence);

/*
 * Answers a question of DCP SOURCE. If the members of COMM are not known here yet, all ranks that
 * this DCP serves count as missing, and the caller must hold the call when the members are known.
 */
int coll_straggler_answer(coll_dcp_context *context, coll_server_comm *comm,
                          const coll_wire_header *header, int source);

/* Processes the answer of DCP SOURCE, with the ranks that it names. */
int coll_straggler_process_answer(coll_dcp_context *context, coll_server_comm *comm,
                                  const coll_wire_header *header, const int32_t named[],
                                  int source);

/* Processes the verdict of another DCP on late ranks. TEXT is the error message. */
int coll_straggler_process_verdict(coll_dcp_context *context, coll_server_comm *comm,
                                   const coll_wire_header *header, const char *text);

#endif

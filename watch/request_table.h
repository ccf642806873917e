/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operation behind each of the program's requests. If the MPI library has reused a handle, the
 * latest request counts.
 */
#ifndef COLL_WATCH_REQUEST_TABLE_H
#define COLL_WATCH_REQUEST_TABLE_H

#include "watch/record.h"

#include <mpi.h>

void watch_request_table_note(MPI_Request request, const watch_awaited *what);

/*
 * Copies the operation behind REQUEST to WHAT. Returns false if there is no entry, for example
 * because a newer request has replaced it.
 */
bool watch_request_table_find(MPI_Request request, watch_awaited *what);

/*
 * Lists the operations behind the COUNT requests at ADDRESS of this process, at most ROOM. Looks at
 * the first 256 requests only. If requests are left over, the last entry is made unknown, so that a
 * call that waits for any of them does not seem to hang. Null requests, and requests that MPICH
 * makes for operations that are complete at once, are left out. The program may change or free the
 * requests meanwhile. Returns how many.
 */
int watch_request_table_list(uint64_t address, uint32_t count, watch_awaited list[], int room);

#endif

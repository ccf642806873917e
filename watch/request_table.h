/*
 * What the program's requests stand for. If the MPI library has reused a handle, the latest request
 * counts.
 */
#ifndef COLL_WATCH_REQUEST_TABLE_H
#define COLL_WATCH_REQUEST_TABLE_H

#include "watch/record.h"

#include <mpi.h>

void watch_request_table_note(MPI_Request request, const watch_awaited *what);

/*
 * Copies what REQUEST stands for to WHAT. Returns false if newer requests have replaced its entry.
 */
bool watch_request_table_find(MPI_Request request, watch_awaited *what);

/*
 * Lists what the COUNT requests at ADDRESS of this process stand for, at most ROOM; null requests
 * are left out. The program may change or free them meanwhile. Returns how many.
 */
int watch_request_table_list(uint64_t address, uint32_t count, watch_awaited list[], int room);

#endif

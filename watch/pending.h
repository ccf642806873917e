/* What the program's requests stand for. A handle means what it was last given out for. */
#ifndef COLL_WATCH_PENDING_H
#define COLL_WATCH_PENDING_H

#include "watch/record.h"

#include <mpi.h>

void watch_pending_note(MPI_Request request, const watch_awaited *what);

/* False where it was given out too long ago. */
bool watch_pending_find(MPI_Request request, watch_awaited *what);

/*
 * What the COUNT requests at ADDRESS of this process stand for, at most ROOM; those that are null
 * are left out. May be called while the program changes or frees them. Returns how many.
 */
int watch_pending_list(uint64_t address, uint32_t count, watch_awaited list[], int room);

#endif

/*
 * Streams of bytes between this rank and a peer, in segments of bounded size with a bounded number
 * in flight. What most algorithms are made of.
 */
#ifndef COLL_LIB_BASE_FLOW_H
#define COLL_LIB_BASE_FLOW_H

#include "lib/base/comm.h"
#include "lib/base/data.h"

#include <stdbool.h>

typedef struct coll_flow {
    bool sending; /* else receiving */
    int peer;
    size_t from, length; /* the bytes of the data that move */
} coll_flow;

/* So many segments of so many bytes are in flight at a time. */
enum { COLL_FLOW_WINDOW = 4, COLL_FLOW_SEGMENT = 1 << 20 };

/* The room (coll_comm_room) for FLOWS flows side by side of at most LONGEST bytes each. */
size_t coll_flow_room_bytes(size_t longest, int flows);

/*
 * One flow of DATA. Both ends must name the same length, and room must have been seen to. Returns
 * when all bytes have left or arrived.
 */
int coll_flow_send(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                   int peer);
int coll_flow_receive(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                      int peer);
/* One message of BYTES bytes at MEMORY; returns when it has left or arrived. */
int coll_flow_send_one(coll_comm *comm, int tag, const void *memory, size_t bytes, int peer);
int coll_flow_receive_one(coll_comm *comm, int tag, void *memory, size_t bytes, int peer);

#endif

/*
 * Streams of bytes between this rank and a peer, in pieces of bounded size with a bounded number in
 * flight. What most algorithms are made of.
 */
#ifndef COLL_LIB_FLOW_H
#define COLL_LIB_FLOW_H

#include "lib/comm.h"
#include "lib/data.h"

#include <stdbool.h>

typedef struct coll_flow {
    bool sending; /* else receiving */
    int peer;
    size_t from, length; /* the bytes of the data that move */
} coll_flow;

/*
 * Moves COUNT flows of DATA side by side (at most COLL_FLOWS_MAX), each in pieces of at most PIECE
 * bytes with WINDOW of them in flight. Both ends must name the same length and PIECE. Returns when
 * all bytes have left or arrived.
 */
enum { COLL_FLOWS_MAX = 2, COLL_FLOW_WINDOW_MAX = 64, COLL_FLOW_PIECE = 1 << 20 };
int coll_flow_run(coll_comm *comm, int tag, const coll_data *data, const coll_flow flows[],
                  int count, size_t piece, int window);

/* One flow by itself, COLL_FLOW_PIECE, 4 in flight: for algorithms that store and forward. */
int coll_flow_send(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                   int peer);
int coll_flow_receive(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                      int peer);
/* Sends one range and receives another at the same time. */
int coll_flow_exchange(coll_comm *comm, int tag, const coll_data *data, const coll_flow *outgoing,
                       const coll_flow *incoming);

#endif

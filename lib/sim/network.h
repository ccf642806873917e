/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network of the simulation: the cost of messages at each level, in whole nanoseconds, and how
 * long each link is busy. Every rank computes the same numbers from the same profile.
 *
 * - A message passes several links, one after the other: the link of the sender's host (within a
 *   host, the sending rank's own link); the links that the ranks of a level share, if the profile
 *   has their rate: the host's memory, the rack's switch, or the uplinks of both racks or sites;
 *   and at last, between hosts, the port of the receiver's host.
 * - Links are cut-through: a message may enter the next link before it has left the previous one,
 *   so a link delays it only while the link is busy with earlier messages.
 * - Between hosts a message's headers pass the links, too.
 * - The buffers of ports and of uplinks can overflow.
 * - Long messages of a host's ranks share its link (lib/sim/fair_link.h).
 * - A message of one packet interleaves with longer messages of other connections: it takes its
 *   time on a link, but waits only for other such messages.
 * - If ranks share processors, messages between hosts also occupy these, one after the other.
 * - If several hosts stream to a host that is itself sending, they use its port less efficiently
 *   than one stream would: at a busy port, a message from a different host than the last one takes
 *   10 % longer.
 */
#ifndef COLL_LIB_SIM_NETWORK_H
#define COLL_LIB_SIM_NETWORK_H

#include "lib/algorithm/algorithm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cost of a message, in nanoseconds. */
typedef struct coll_message_cost {
    size_t bytes;
    int level;           /* -1: this entry is unused */
    int64_t send;        /* work of the sender's processor: Os */
    int64_t receive;     /* work of the receiver's processor: Or + Ur */
    int64_t wake;        /* additional work if the receiver was idle */
    int64_t shared_work; /* of each end: work of the processors that all ranks share */
    int64_t send_gap;    /* time on the sender's link: gs */
    int64_t receive_gap; /* time on the receiver's link: gr */
    int64_t shared_gap;  /* time on each shared link; 0: unlimited */
    int crossings;   /* how often it crosses the network: 3 if it asks the receiver before its data
                        leaves */
    int64_t latency; /* L between any two ranks at this level, all crossings included */
} coll_message_cost;

/* The times until which a link is busy. */
typedef struct coll_clock {
    int64_t busy;
    int64_t packets; /* the same, counting only messages that interleave */
} coll_clock;

/* The buffer of a switch in front of a link that several hosts send to. */
typedef struct coll_queue {
    size_t waiting; /* bytes that may be in the buffer: at most the first TCP window of each
                       connection */
    int sender;     /* the host whose messages wait; -1: none; -2: several */
} coll_queue;

/* The switch's port to a host. */
typedef struct coll_port {
    coll_clock clock;
    coll_queue queue;
    int latest; /* the host that sent the last message that doesn't interleave */
} coll_port;

enum { COLL_MESSAGE_COSTS = 64, COLL_WAYS = 3, COLL_PACKET = 1400 };

/* A connection: what is under way from one rank to another on one lane. */
typedef struct coll_connection {
    int from, to; /* ranks */
    coll_level level;
    int in_order;             /* number of messages under way that don't interleave */
    bool lost;                /* a full buffer has dropped one of its messages */
    size_t waiting;           /* bytes that wait for the receiver's port */
    size_t queued[COLL_WAYS]; /* bytes that wait for each uplink */
} coll_connection;

typedef struct coll_network {
    const coll_topo *topo;
    const double *latencies; /* between sites; NULL: the profile's */
    const coll_profile *profile;
    coll_message_cost costs[COLL_MESSAGE_COSTS]; /* cache, hashed by size and level */
    double rate[COLL_LEVELS];                    /* bytes/s of a shared link; 0: unlimited */
    double shared_work;                          /* s: of each end of a message; see coll_profile */
    coll_clock *links;
    coll_queue *queues; /* before each uplink */
    coll_port *ports;   /* of each host */
    double fill; /* the largest share of a buffer that messages filled without a loss; with buffers
                    of at least this share of their size, the same messages would be lost */
} coll_network;

/* Opens the network of CALL, with costs but without links. If CALL's topology is a subset of the
 * ranks of WHOLE, the shared links get the rates of WHOLE; else WHOLE may be NULL. */
void coll_network_open(coll_network *network, const coll_shape *call, const coll_topo *whole);

/* Makes NETWORK's links, all idle, in the *LEFT bytes of memory at *SCRATCH, and updates both to
 * what is left. Returns false if the memory is too small. */
bool coll_network_make_links(coll_network *network, char **scratch, size_t *left);

/* Returns a message's costs; valid until the next call. */
const coll_message_cost *coll_network_message_cost(coll_network *network, coll_level level,
                                                   size_t bytes);

/* Returns L of a MESSAGE, using the latency between the ranks' sites if known. */
int64_t coll_network_way(const coll_network *network, const coll_connection *via,
                         const coll_message_cost *message);

/* Returns the cost of copying BYTES in memory, ns. */
int64_t coll_network_copy(const coll_network *network, size_t bytes);

/* Returns whether a message shares the link of its sender's host with messages of the host's other
 * ranks, instead of leaving after the messages that were sent earlier. */
bool coll_network_shares_link(const coll_network *network, const coll_message_cost *message);

/* Returns when the link of NODE is free. */
int64_t coll_network_link_free(const coll_network *network, int node);

/*
 * Puts a message that is at link NTH (from 0 to COLL_WAYS - 1) at time NOW onto that link, and
 * returns when its first byte gets to the next link. If INTERLEAVES, the message waits only for
 * other messages that interleave. If the message must wait for an uplink, it is in the buffer of
 * that uplink until coll_network_dequeue is called.
 */
int64_t coll_network_pass(coll_network *network, coll_connection *via,
                          const coll_message_cost *message, int nth, bool interleaves, int64_t now);
void coll_network_dequeue(coll_network *network, coll_connection *via,
                          const coll_message_cost *message, int nth);

/*
 * Puts a message between hosts onto the receiver's port at time NOW, and sets *BEGIN to when the
 * port begins with it. Returns whether the message stays in the port's buffer until
 * coll_network_leave is called. The buffer may have to hold a first TCP window of each connection.
 */
bool coll_network_enter(coll_network *network, coll_connection *via,
                        const coll_message_cost *message, bool interleaves, int64_t now,
                        int64_t *begin);
void coll_network_leave(coll_network *network, coll_connection *via, size_t bytes);

#endif

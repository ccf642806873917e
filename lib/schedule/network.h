/*
 * The network that messages are priced on: what they cost at each level, in whole nanoseconds, and
 * which links are busy until when. Every rank gets the same numbers from the same profile.
 *
 * A message passes so many links, one after the other: its sender's (of one host: the sender's
 * part of the memory), then those that a level's ranks share, where the profile knows their rate:
 * the host's memory, the rack's switch, or the uplinks of both racks or sites. It leaves a link
 * before it has passed as a whole: a busy link delays it by as long as the link is busy. The last
 * one is its receiver's. Its port's buffer can be overrun, and so can those of uplinks. A message
 * of a packet slips between longer ones of other connections: it needs its time on a link, but
 * waits for its like alone. Streams of several hosts that meet at the port of one which sends at
 * the same time fill it less evenly than one. Links that get ahead of their rate by resting have
 * all rested at the start.
 */
#ifndef COLL_LIB_SCHEDULE_NETWORK_H
#define COLL_LIB_SCHEDULE_NETWORK_H

#include "lib/algorithm/algorithm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a message costs, in nanoseconds. */
typedef struct coll_toll {
    size_t bytes;
    int level;     /* -1: none is here */
    int64_t send;  /* Os */
    int64_t take;  /* Or + Ur */
    int64_t wake;  /* on top, where the receiver was idle */
    int64_t out;   /* the sender's link is busy: gs */
    int64_t in;    /* the receiver's: gr */
    int64_t share; /* each shared link; 0: there is no limit */
    int64_t way;   /* L, of any two that are so far apart */
} coll_toll;

/* A link: until when it is busy, */
typedef struct coll_clock {
    int64_t busy;
    int64_t slipping; /* with messages of a packet alone, */
    int64_t peak;     /* and at the rate of which it is capable when it has rested */
} coll_clock;

/* How far ahead of its rate a link gets by resting, ns (coll_cost_burst). */
typedef struct coll_lead {
    int64_t most, at_once;
    int64_t peak; /* in COLL_PEAK_PARTS */
} coll_lead;

enum { COLL_PEAK_PARTS = 1 << 10 };

/* What waits in a switch for a link that several send to. */
typedef struct coll_queue {
    size_t waiting; /* bytes that may come at once */
    int sender;     /* the host whose messages wait; -1: nobody's; -2: those of several */
    bool overrun;   /* it has lost something */
} coll_queue;

/* The port to a host. */
typedef struct coll_port {
    coll_clock clock;
    coll_queue queue;
    int latest; /* the host whose message came last */
} coll_port;

enum { COLL_TOLLS = 64, COLL_WAYS = 3, COLL_PACKET = 1400 };

typedef struct coll_network {
    const coll_topo *topo;
    const double *latencies; /* between sites, or NULL: those of the profile */
    const coll_profile *profile;
    coll_toll tolls[COLL_TOLLS];   /* by size and level */
    size_t copied;                 /* the latest copy, */
    int64_t copy;                  /* and what it costs */
    double rate[COLL_LEVELS];      /* bytes/s of a shared link; 0: no limit */
    coll_lead lead[COLL_LEVELS];   /* of hosts' links, */
    coll_lead shared[COLL_LEVELS]; /* and of shared ones */
    bool lossy;                    /* one has been */
    coll_clock *links;
    coll_queue *queues; /* before each uplink */
    coll_port *ports;   /* of each host */
} coll_network;

/* The memory for a network of TOPO; aligned for any type. */
size_t coll_network_bytes(const coll_topo *topo);
/* For CALL. If its topology is a part of a WHOLE, else NULL, its links are those of the whole.
 * Without MEMORY there are levels and tolls, but no links. */
void coll_network_open(coll_network *network, const coll_shape *call, const coll_topo *whole,
                       void *memory);

/* Valid until the next one. */
const coll_toll *coll_network_toll(coll_network *network, coll_level level, size_t bytes);

/* L of a message between two ranks, whose TOLL is that: two sites have a latency of their own. */
int64_t coll_network_way(const coll_network *network, int from, int to, const coll_toll *toll);

/* How far ahead of its rate any link gets by resting, at most, ns. */
int64_t coll_network_burst(const coll_network *network);

/* Of bytes in memory. */
int64_t coll_network_copy(coll_network *network, size_t bytes);

/*
 * When a message that is before link NTH (from 0 to COLL_WAYS - 1) of its way at time NOW goes on
 * from there: at once where it SLIPS through.
 */
int64_t coll_network_pass(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                          bool slips, int64_t now);

/*
 * A message waits for link NTH until ON, and *WAITING bytes of its connection with it. Returns when
 * it goes on: later where it is ALONE and the link, an uplink, has lost it. It leaves the queue
 * then.
 */
int64_t coll_network_queue(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                           bool alone, size_t *waiting, int64_t on);
void coll_network_dequeue(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                          size_t *waiting);

/*
 * A message is sent off; *WAITING bytes of its connection wait for their receiver's port. Returns
 * whether the message is one of these from now on: a long one is, since it shares its sender's link
 * with others, and so meets those of other senders however they follow each other.
 */
bool coll_network_post(coll_network *network, int to, const coll_toll *toll, size_t *waiting);

/*
 * When its receiver's port begins with a message that comes to it; if that is later than NOW, it
 * waits, until it leaves. The port's buffer gets a first window of each connection's at once. What
 * it can't hold is lost; that costs a time-out where the message is ALONE, since what comes behind
 * it tells its sender otherwise.
 */
int64_t coll_network_enter(coll_network *network, int from, int to, const coll_toll *toll,
                           bool slips, bool alone, size_t *waiting, int64_t now);
void coll_network_leave(coll_network *network, int to, size_t bytes, size_t *waiting);

#endif

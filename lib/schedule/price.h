/*
 * The pricer: plays the plans of all ranks of a call in one process, each by a cursor, against the
 * profile's costs, and says when the last rank ends. It needs no MPI, and finds the same number on
 * every rank. The model is Tam and Wang's (section 3.2), with ranks that wait for each other:
 *
 * - A rank's processor is busy for Os with a send, for Or + Ur with a receive and to wake up if it
 *   was idle. It takes up its work in the order in which that comes.
 * - The message then needs the links of network.h, one behind the other, and L.
 * - A message of less than the eager limit is sent when its processor is done with it, a longer one
 *   when it is received.
 */
#ifndef COLL_LIB_SCHEDULE_PRICE_H
#define COLL_LIB_SCHEDULE_PRICE_H

#include "lib/schedule/plan.h"

/* Times in nanoseconds from the common start. */
typedef struct coll_price_message {
    int from, to, lane;
    uint64_t nth; /* of those from one to the other on this lane, from 0 */
    size_t bytes;
    coll_level level;
    int64_t start;   /* it begins to leave its sender's host */
    int64_t arrival; /* it is at its receiver's host as a whole */
    int64_t end;     /* it is received */
} coll_price_message;

enum { COLL_PRICE_EAGER = 64 << 10 }; /* of most transports, the header included */

typedef struct coll_price_call {
    const coll_algorithm *algorithm;
    const coll_planner *planner; /* the algorithm's, with these values */
    const coll_shape *shape;     /* of a gather: all blocks have its bytes */
    const coll_values *values;
    const coll_topo
        *whole;      /* its ranks share the links, if the shape has a part of them; or NULL */
    int budget;      /* events */
    int64_t enough;  /* it is played so long at most; 0: to its end */
    uint64_t rounds; /* plays so many, the first ones of each plan; 0: all */
    int letters;     /* messages under way, and pairs of ranks, at most; 0: many */
    void *memory;    /* so many bytes to play in, aligned for any type; */
    size_t bytes;    /* NULL: it is allocated */
    /* Is told of every message that a rank receives, as that happens; or NULL. */
    void (*watch)(const coll_price_message *message, void *context);
    void *context;
    int64_t *ends; /* out, for each rank; or NULL */
} coll_price_call;

enum { COLL_PRICE_UNKNOWN = -1 };
typedef struct coll_price {
    int64_t time;    /* until the last rank ends, or enough; COLL_PRICE_UNKNOWN: it takes more
                        events or memory than it may, or what is left out is waited for */
    int64_t halfway; /* until the last rank has ended half of its rounds */
    int events;
    bool lossy; /* a buffer of a port was overrun */
} coll_price;

/* A rank's part in a call whose data, or each of whose blocks, has the shape's bytes: those blocks
 * are EVEN. Whose part it is, is in LINE. */
coll_part coll_price_part(const coll_shape *shape, const coll_values *values, const coll_line *line,
                          bool is_root, coll_blocks *even);

/* MPI_ERR_NO_MEM, MPI_ERR_INTERN where the plans wait for ever. */
int coll_price_play(const coll_price_call *call, coll_price *price);

#endif

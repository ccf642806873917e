/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gather in which every rank sends directly to the root, and no more of its block than the root
 * has granted. The blocks arrive in segments, sender by sender in chain order; if it takes several
 * racks' uplinks to fill the root's link, sender by sender within each rack. The root posts
 * receives a window of bytes ahead and grants as it posts, so the window also limits the bytes in
 * flight. If all ranks know the size, the first blocks in chain order are sent without a grant.
 * Otherwise, the bytes that may be sent without a grant are shared equally among the senders, and a
 * block that is not longer than its share is sent without a grant.
 *
 * The root runs an intake, the other ranks a supply; both are tasks (lib/plan/task.h).
 */
#ifndef COLL_LIB_GATHER_INTAKE_H
#define COLL_LIB_GATHER_INTAKE_H

#include "lib/gather/gather.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_credit {
    size_t segment; /* bytes of a message; the last one of a block may be shorter */
    size_t window;  /* upper limit of the bytes asked for that have not arrived, at first */
    size_t wide;    /* what the window grows to, at least WINDOW */
    size_t run;     /* the same limit while all these bytes come from one sender */
    size_t unasked; /* bytes, of all ranks together, that are sent without a grant */
    int lanes;      /* racks' uplinks that it takes to fill the root's link */
} coll_credit;

/* The window grows by this share of the bytes that arrive. */
static const double COLL_CREDIT_GROWTH = 0.5;

/*
 * Slot of a communicator: the share of the window that the next gather uses at this root; 0 before
 * the first gather.
 */
extern coll_comm_key coll_intake_share_key;

/*
 * Returns the bytes of memory, aligned for any type, that an intake or a supply needs; the same on
 * all ranks.
 */
size_t coll_intake_bytes(const coll_exec_args *call, const coll_credit *credit);

/*
 * Returns how many bytes of a block of BYTES are sent without a grant. The sender and the root
 * compute the same number. PLACE is the sender's position in chain order, from 0.
 */
size_t coll_intake_unasked(const coll_exec_args *call, const coll_credit *credit, int place,
                           size_t bytes);

typedef struct coll_intake {
    coll_task task; /* its requests: slot_count receives, then slot_count grants */
    coll_exec_args call;
    coll_credit credit;
    struct coll_source *senders; /* in the order in which the root asks them */
    int sender_count;

    double share;  /* share of CREDIT's window and run that this gather uses */
    size_t window; /* bytes; grows from SHARE of CREDIT's window to SHARE of its WIDE */
    size_t run;    /* bytes; SHARE of CREDIT's run */
    bool stalled;  /* a stream stalled: a packet was lost */

    struct coll_lane *lanes;
    int lane_count;
    size_t on_the_way; /* bytes asked for that have not arrived */
    int slot_count, unused_count;
    struct coll_slot *slots;
    int *unused;          /* slots without a pending request */
    double since, tested; /* times: of the last arrival, and of the last test after it */
} coll_intake;

/* Creates CALL's intake in MEMORY. */
coll_task *coll_intake_open(const coll_exec_args *call, const coll_credit *credit, void *memory);

/*
 * A supply's requests: the receive of the next grant, then up to COLL_SUPPLY_SENDS segments being
 * sent.
 */
enum { COLL_SUPPLY_SENDS = 8, COLL_SUPPLY_REQUESTS = 1 + COLL_SUPPLY_SENDS };

typedef struct coll_supply {
    coll_task task;
    coll_exec_args call;
    size_t segment, unasked; /* bytes of a message, and bytes to send without a grant */
    size_t sent, allowed;    /* bytes sent and bytes granted so far */
    uint64_t *grant;         /* receive buffer: how many bytes the rank may send in all */
    char *memory;            /* scratch memory of the segments; NULL if the data is contiguous */
    MPI_Request requests[COLL_SUPPLY_REQUESTS];
    MPI_Status statuses[COLL_SUPPLY_REQUESTS];
    int peers[COLL_SUPPLY_REQUESTS], completed[COLL_SUPPLY_REQUESTS];
} coll_supply;

/* Creates CALL's supply in MEMORY. */
coll_task *coll_supply_open(const coll_exec_args *call, const coll_credit *credit, void *memory);

#endif

/*
 * Mailboxes in the shared memory of a node: each application rank has a ring of slots through which
 * it talks to the DCP of its node, one slot, and for small values one cache line, per call in
 * flight.
 *
 * The rank numbers its posts, puts post number t into slot t modulo the ring's length and sets the
 * slot's state to "t posted" when everything else is written. The DCP awaits the posts in order; it
 * writes the result over the values and sets the state to "t done" or "t failed". When the rank has
 * fetched the result it sets the state to "free". Cost: two transfers of the line. Each of the two
 * has a doorbell, in a line of its own, and is rung where it sleeps.
 *
 * What doesn't fit into a slot, the blocks of an alltoall, lies in one of a few parcels beside
 * them.
 */
#ifndef COLL_CDCP_MAILBOX_H
#define COLL_CDCP_MAILBOX_H

#include "cdcp/mapping.h"
#include "lib/base/doorbell.h"

#include <mpi.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { COLL_MAILBOX_SLOTS = 32, COLL_MAILBOX_PARCELS = 8, COLL_MAILBOX_LINE = 64 };

typedef enum coll_mailbox_event {
    COLL_MAILBOX_FREE,
    COLL_MAILBOX_POSTED,
    COLL_MAILBOX_DONE,
    COLL_MAILBOX_FAILED
} coll_mailbox_event;

typedef struct coll_mailbox_slot {
    alignas(COLL_MAILBOX_LINE) _Atomic uint32_t state;
    int32_t code; /* what is called (cdcp/dcp_operation.h); of a failure, the error class */
    uint64_t team;
    uint32_t sequence;
    int32_t count;
    int32_t rank;   /* in the communicator */
    int32_t parcel; /* with the data, or COLL_MAILBOX_NO_PARCEL: they are here */
    unsigned char data[COLL_MAILBOX_LINE / 2]; /* and on, as far as the stride allows */
} coll_mailbox_slot;

enum { COLL_MAILBOX_NO_PARCEL = -1 };

static inline uint32_t coll_mailbox_state(uint32_t ticket, coll_mailbox_event event) {
    return ticket << 2 | (uint32_t)event;
}

/* The last event in SLOT, and what ORDER says of what was written before it. */
static inline coll_mailbox_event coll_mailbox_event_in(const coll_mailbox_slot *slot,
                                                       memory_order order) {
    return (coll_mailbox_event)(atomic_load_explicit(&slot->state, order) & 3);
}

/* One rank's slots as this process sees them; none where it has no mailbox. */
typedef struct coll_mailbox {
    coll_doorbell *bell; /* the rank's; NULL where it and this rank share no memory */
    char *slots, *parcels;
    size_t stride, parcel_bytes;
    uint32_t ticket; /* the next post's: counted by the rank and by its DCP */
} coll_mailbox;

static inline coll_mailbox_slot *coll_mailbox_slot_at(const coll_mailbox *box, uint32_t ticket) {
    return (void *)(box->slots + ticket % COLL_MAILBOX_SLOTS * box->stride);
}

/* The bytes that fit into a slot. */
static inline size_t coll_mailbox_room(const coll_mailbox *box) {
    return box->stride - offsetof(coll_mailbox_slot, data);
}

/* Where the data of SLOT lie. */
static inline void *coll_mailbox_data(const coll_mailbox *box, coll_mailbox_slot *slot) {
    if (slot->parcel == COLL_MAILBOX_NO_PARCEL)
        return slot->data;
    return box->parcels + (size_t)slot->parcel * box->parcel_bytes;
}

/* The shared memory of a node, and this process's view of it. */
typedef struct coll_mailboxes {
    MPI_Comm node;  /* the job's ranks of this node */
    MPI_Win window; /* MPI_WIN_NULL where it could not be had */
    size_t stride, parcel_bytes;
} coll_mailboxes;

/*
 * Makes mailboxes for values of at most LIMIT bytes, and for blocks of at most BLOCKS, between the
 * ranks of JOB that are on one node; collective over JOB, and all of a node succeed or none. Ends
 * with coll_mailboxes_free, collective over the node.
 */
int coll_mailboxes_make(coll_mailboxes *boxes, MPI_Comm job, const coll_mapping *mapping,
                        const int node_of[], size_t limit, size_t blocks);
int coll_mailboxes_free(coll_mailboxes *boxes);

/* Opens the mailbox of RANK (of the job); without slots where it and this rank share no memory. */
int coll_mailbox_open(const coll_mailboxes *boxes, MPI_Comm job, int rank, coll_mailbox *box);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mailboxes in the shared memory of a node. Each application rank whose DCP is on the same node has
 * a ring of slots for communication with this DCP: one slot for each call under way. A value of at
 * most 32 bytes is in the same cache line as the state of its slot.
 *
 * The rank numbers its posts and writes post number t to slot t modulo the ring's length. It sets
 * the slot's state to "t posted" after everything else is written. The DCP processes the posts in
 * order; it writes the result over the values and sets the state to "t done" or "t failed". When
 * the rank has fetched the result, it sets the state to "free". Cost of a small value: two
 * transfers of its cache line. The rank and the DCP each have a wake-up (coll_wakeup), in a
 * separate cache line, with which the other one can end its sleep.
 *
 * Data that doesn't fit into a slot, such as the blocks of an alltoall, goes to one of a few large
 * slots behind the slots.
 */
#ifndef COLL_CDCP_MAILBOX_H
#define COLL_CDCP_MAILBOX_H

#include "cdcp/mapping.h"
#include "lib/base/socket_wakeup.h"

#include <mpi.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { COLL_MAILBOX_SLOTS = 32, COLL_MAILBOX_LARGE_SLOTS = 8, COLL_MAILBOX_LINE = 64 };

typedef enum coll_mailbox_event {
    COLL_MAILBOX_FREE,
    COLL_MAILBOX_POSTED,
    COLL_MAILBOX_DONE,
    COLL_MAILBOX_FAILED
} coll_mailbox_event;

typedef struct coll_mailbox_slot {
    alignas(COLL_MAILBOX_LINE) _Atomic uint32_t state;
    int32_t code; /* the call (cdcp/dcp_operation.h); error class of a failure */
    uint64_t comm;
    uint32_t sequence;
    int32_t count;
    int32_t rank;       /* in the communicator */
    int32_t large_slot; /* large slot with the data, or COLL_MAILBOX_NO_LARGE_SLOT */
    unsigned char data[COLL_MAILBOX_LINE / 2]; /* and more, up to the stride */
} coll_mailbox_slot;

enum { COLL_MAILBOX_NO_LARGE_SLOT = -1 };

static inline uint32_t coll_mailbox_state(uint32_t ticket, coll_mailbox_event event) {
    return ticket << 2 | (uint32_t)event;
}

/* Returns the last event in SLOT, read with memory order ORDER. */
static inline coll_mailbox_event coll_mailbox_event_in(const coll_mailbox_slot *slot,
                                                       memory_order order) {
    return (coll_mailbox_event)(atomic_load_explicit(&slot->state, order) & 3);
}

/* A rank's mailbox as mapped into this process. SLOTS is NULL if there is no mailbox. */
typedef struct coll_mailbox {
    coll_wakeup *wakeup; /* wake-up of the rank; NULL if it shares no memory with this rank */
    char *slots, *large_slots;
    size_t stride, large_slot_bytes;
    uint32_t ticket; /* number of the next post, counted by the rank and by its DCP */
} coll_mailbox;

static inline coll_mailbox_slot *coll_mailbox_slot_at(const coll_mailbox *box, uint32_t ticket) {
    return (void *)(box->slots + ticket % COLL_MAILBOX_SLOTS * box->stride);
}

/* Returns the number of data bytes that fit into a slot. */
static inline size_t coll_mailbox_room(const coll_mailbox *box) {
    return box->stride - offsetof(coll_mailbox_slot, data);
}

/* Returns the address of SLOT's data. */
static inline void *coll_mailbox_data(const coll_mailbox *box, coll_mailbox_slot *slot) {
    if (slot->large_slot == COLL_MAILBOX_NO_LARGE_SLOT)
        return slot->data;
    return box->large_slots + (size_t)slot->large_slot * box->large_slot_bytes;
}

/* The shared memory of a node, and this process's view of it. */
typedef struct coll_mailboxes {
    MPI_Comm node;  /* the job's ranks on this node */
    MPI_Win window; /* MPI_WIN_NULL if there is no shared memory */
    size_t stride, large_slot_bytes;
} coll_mailboxes;

/*
 * Makes a mailbox for each rank of JOB whose DCP is on the same node, for values of at most LIMIT
 * bytes and for blocks of at most BLOCKS bytes in all. Collective over JOB. If a rank of a node has
 * no shared memory, none of the node's ranks has mailboxes; this is no error. Free them with
 * coll_mailboxes_free, collective over the node.
 */
int coll_mailboxes_make(coll_mailboxes *boxes, MPI_Comm job, const coll_mapping *mapping,
                        const int node_of[], size_t limit, size_t blocks);
int coll_mailboxes_free(coll_mailboxes *boxes);

/*
 * Opens the mailbox of RANK (in JOB). BOX has no slots if RANK has no mailbox, and no wake-up
 * either if RANK shares no memory with this rank.
 */
int coll_mailbox_open(const coll_mailboxes *boxes, MPI_Comm job, int rank, coll_mailbox *box);

#endif

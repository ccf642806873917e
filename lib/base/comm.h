/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libcoll's state of a user's communicator: where its messages go, how it waits, its scratch
 * memory, and the data that other modules attach to it (slots). Created on first use, cached as an
 * attribute, freed with the communicator or in MPI_Finalize.
 */
#ifndef COLL_LIB_BASE_COMM_H
#define COLL_LIB_BASE_COMM_H

#include "coll_component.h"
#include "lib/base/attribute.h"
#include "lib/base/wait.h"

#include <mpi.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tags of the messages on the private communicator. */
enum {
    COLL_TAG_COLLECTIVE = 1, /* and the next two tags: one for each lane of a plan */
    COLL_TAG_COUNTS = COLL_TAG_COLLECTIVE + 3,
    COLL_TAG_PAIRS,
    COLL_TAG_AGREE,
    COLL_TAG_ROLL_CALL,
    COLL_TAG_CONFIRMED, /* and the next tag: reliable broadcasts alternate between the two */
    COLL_TAG_NOTE = COLL_TAG_CONFIRMED + 2, /* likewise */
    COLL_TAG_ROUND = COLL_TAG_NOTE + 2,
    COLL_TAG_REPORT,
    COLL_TAG_LEARN, /* and the next COLL_TAGS_LEARN - 1 tags: one for each agreement on times */
    COLL_TAGS_LEARN = 16,
    COLL_TAG_WIDE =
        1 << 14, /* and the next COLL_TAGS_WIDE - 1 tags, used in turn (hlot/bcast_runtime.c) */
    COLL_TAGS_WIDE = 1 << 13,
    COLL_TAG_STARTED = COLL_TAG_WIDE + COLL_TAGS_WIDE, /* and the next COLL_TAGS_STARTED - 1 tags,
                                                          used in turn (lib/call/request.c) */
    COLL_TAGS_STARTED = 1 << 12 /* all tags are below 32767, the smallest MPI_TAG_UB allowed */
};

/* The most numbers of an agreement among the ranks (lib/base/agree.h). */
enum { COLL_AGREE_MOST = 8 };

/* State of an agreement on the maxima of all ranks' numbers. */
typedef struct coll_agreement {
    struct coll_comm *comm;
    int tag, count, round;
    MPI_Request requests[2];
    int64_t highest[COLL_AGREE_MOST], sent[COLL_AGREE_MOST], received[COLL_AGREE_MOST];
} coll_agreement;

/* The result of a roll call. */
typedef struct coll_roll {
    int first, silent; /* the lowest silent rank, and the number of silent ranks */
} coll_roll;

/*
 * Message buffers of blocking agreements; messages in flight may write to them even after an error.
 */
typedef struct coll_agree_memory {
    coll_agreement numbers;
    struct {
        int class;
        char text[MPI_MAX_ERROR_STRING];
    } error;
    coll_roll heard, named; /* the roll call after a timeout */
} coll_agree_memory;

typedef struct coll_comm {
    coll_attribute attribute;
    MPI_Comm user; /* the user's communicator; MPI_COMM_NULL for a part */
    /*
     * Carries libcoll's messages and the MPI library's own collectives. It is the user's
     * communicator if TRANSPORT keeps libcoll's messages apart from the user's, else a duplicate
     * whose error handler is MPI_ERRORS_RETURN.
     */
    MPI_Comm private;
    const COLL_Transport *transport; /* NULL: use MPI's point-to-point calls */
    int rank, ranks;
    int *members; /* for a part, its members' ranks in PRIVATE; else NULL */
    coll_wait wait;
    int broken;    /* the error after which messages may still be in flight, or MPI_SUCCESS */
    bool agreed;   /* coll_agree has returned the current call's error on all ranks */
    void *scratch; /* scratch memory that coll_comm_scratch returns; between operations NULL if it
                      has the usual size */
    /* bytes of SCRATCH that an operation may use without an agreement; the same on all ranks */
    size_t scratch_bytes;
    /*
     * most bytes of SCRATCH used since coll_comm_release_scratch last returned memory to the system
     */
    size_t scratch_used;
    coll_agree_memory agreeing;
    /* data of other modules, in the order of coll_comm_keys */
    void **slots;
    struct coll_comm *next_live, **link_live; /* the list of all states */
} coll_comm;

/*
 * Data that another module attaches to every coll_comm: a slot of the given size, zeroed at first.
 * Either all ranks have the slot or none.
 */
typedef struct coll_comm_key {
    size_t bytes, bytes_per_rank;
    /*
     * Called on first use of a communicator (not of a part). READY: this rank has memory for the
     * state; if not, COMM may have no slots. One of the keys sets COMM->private and, if that is not
     * to be a duplicate, COMM->transport. Local if the ranks know all facts of the job already.
     * Else it is collective and returns the same error on all ranks: MPI_ERR_NO_MEM if READY is
     * false on any rank.
     */
    int (*set_up)(coll_comm *comm, bool ready);
    /* Called after set_up, or on a part, for which set_up is not called; collective. COMM is a part
     * of WHOLE, or WHOLE is NULL. */
    int (*open)(coll_comm *comm, const coll_comm *whole);
    void (*close)(void *slot); /* called while COMM still works, also after an error */
    int number;                /* index of the slot; set by coll_comm_get */
} coll_comm_key;

/*
 * All keys, in the order in which they are opened, terminated by NULL; defined in
 * lib/api/registry.c.
 */
extern coll_comm_key *const coll_comm_keys[];

static inline void *coll_comm_slot(const coll_comm *comm, const coll_comm_key *key) {
    return comm->slots[key->number];
}

/*
 * Sets *STATE to the state of the intracommunicator COMM; COMM owns the state. The first use
 * creates the state, and is collective unless the keys' set_up is local. Errors: MPI_ERR_NO_MEM,
 * MPI's, and those of set_up and open. If an earlier error may have left messages in flight,
 * returns that error again.
 */
int coll_comm_get(MPI_Comm comm, coll_comm **state);

/*
 * Does the same for COMM, an argument of a public entry, but raises errors. Sets *OWN to NULL if
 * COMM is an intercommunicator, which has no state.
 */
int coll_comm_open(MPI_Comm comm, coll_comm **own);

/* Does the same for the entry NAME, which does not accept intercommunicators. */
int coll_comm_open_intra(MPI_Comm comm, const char *name, coll_comm **own);

/* Returns the state of COMM, or NULL if it has none yet or MPI returns an error. Local. */
coll_comm *coll_comm_find(MPI_Comm comm);

/*
 * Sets STATE->private to a duplicate of the user's communicator. Collective; waits for other ranks
 * without a timeout.
 */
int coll_comm_duplicate(coll_comm *state);

/* Frees the state of COMM, if there is one. Collective if creating the state was collective. */
int coll_comm_forget(MPI_Comm comm);

/*
 * Returns the attribute with the state of COMM, for coll_attribute_free_comm. Returns NULL if there
 * is no state, or if the state has a transport and so must end while COMM still works. Transports
 * are for Open MPI, which deletes attributes at once when a communicator is freed.
 */
coll_attribute *coll_comm_attribute(MPI_Comm comm);

/* Returns whether MPI_Finalize is freeing the states. */
bool coll_comm_finalizing(void);

/*
 * Returns a communicator of this process alone, on which errors are returned, for local questions
 * to MPI. It exists as soon as any coll_comm does. Local.
 */
MPI_Comm coll_comm_alone(void);

/*
 * Returns the state of COMM if this thread's last coll_comm_get was for COMM, no state has been
 * freed since, and the state is not broken; else NULL. Local.
 */
coll_comm *coll_comm_recent(MPI_Comm comm);

/*
 * Creates the state of a part: COUNT ranks of WHOLE, listed in ascending order by MEMBERS, which
 * include the calling rank. For algorithms that run other algorithms on parts. Collective over
 * WHOLE; its ranks may be in different parts. A part sends its messages on WHOLE's communicator, so
 * WHOLE must not run another operation at the same time. A part has no native algorithms. The
 * caller frees *PART with coll_comm_free_part.
 */
int coll_comm_part(coll_comm *whole, int count, const int members[], coll_comm **part);
void coll_comm_free_part(coll_comm *part);

/*
 * Sets *MEMORY to BYTES of scratch memory for one operation, aligned for any type and valid until
 * the next such call on COMM. All ranks must ask for the same size, also those that need less.
 * Collective if BYTES exceeds the scratch memory that COMM has had so far: if any rank is then out
 * of memory, all ranks get MPI_ERR_NO_MEM, so that no rank waits for a rank that cannot take part.
 * Otherwise only a rank that is out of memory gets this error. After an error that left messages in
 * flight, the memory is not used again.
 */
int coll_comm_scratch(coll_comm *comm, size_t bytes, void **memory);

/*
 * Broadcasts BYTES at DATA, which all ranks have, from rank 0 over COMM's private communicator. For
 * results of a measurement in which some ranks take no part: they sleep here, and wait ten times as
 * long as COMM's timeout. After an error COMM is broken, and MPI may still write to DATA.
 */
int coll_comm_publish(coll_comm *comm, void *data, size_t bytes);

/*
 * Dividing scratch memory: coll_scratch_bytes returns BYTES rounded up to the alignment;
 * coll_scratch_alloc returns the memory at *NEXT and advances *NEXT by the rounded BYTES.
 */
static inline size_t coll_scratch_bytes(size_t bytes) {
    return (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}
static inline void *coll_scratch_alloc(char **next, size_t bytes) {
    void *taken = *next;
    *next += coll_scratch_bytes(bytes);
    return taken;
}

/* Does the same if *LEFT bytes are enough, and reduces *LEFT; returns NULL if they are not. */
static inline void *coll_scratch_alloc_within(char **next, size_t *left, size_t bytes) {
    if (coll_scratch_bytes(bytes) > *left)
        return NULL;
    *left -= coll_scratch_bytes(bytes);
    return coll_scratch_alloc(next, bytes);
}

/*
 * Ends an operation: makes scratch memory of the usual size available to other communicators; of
 * larger scratch memory, returns the pages beyond the size worth keeping to the system. Does
 * nothing after an error that left messages in flight.
 */
void coll_comm_release_scratch(coll_comm *comm);

static inline int coll_comm_peer(const coll_comm *comm, int rank) {
    return comm->members && rank >= 0 ? comm->members[rank] : rank;
}

/* Starts a send to PEER, a rank of COMM, as MPI_Isend does. Returns MPI's errors. */
static inline int coll_isend(const coll_comm *comm, const void *buffer, int count,
                             MPI_Datatype type, int peer, int tag, MPI_Request *request) {
    peer = coll_comm_peer(comm, peer);
    return comm->transport
               ? comm->transport->isend(buffer, count, type, peer, tag, comm->private, request)
               : PMPI_Isend(buffer, count, type, peer, tag, comm->private, request);
}

/*
 * Starts a receive from PEER, a rank of COMM or MPI_ANY_SOURCE, as MPI_Irecv does. Returns MPI's
 * errors.
 */
static inline int coll_irecv(const coll_comm *comm, void *buffer, int count, MPI_Datatype type,
                             int peer, int tag, MPI_Request *request) {
    peer = coll_comm_peer(comm, peer);
    return comm->transport
               ? comm->transport->irecv(buffer, count, type, peer, tag, comm->private, request)
               : PMPI_Irecv(buffer, count, type, peer, tag, comm->private, request);
}

#endif

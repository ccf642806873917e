/*
 * What libcoll keeps for a user's communicator: how its messages go, how it waits, memory, and what
 * other rooms hang on it. Made on first use, cached as an attribute, freed with the communicator or
 * at MPI_Finalize.
 */
#ifndef COLL_LIB_BASE_COMM_H
#define COLL_LIB_BASE_COMM_H

#include "coll_tools.h"
#include "lib/base/wait.h"

#include <mpi.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tags of messages on the private communicator. */
enum {
    COLL_TAG_COLLECTIVE = 1, /* and the next: one for each lane of a plan */
    COLL_TAG_COUNTS = COLL_TAG_COLLECTIVE + 2,
    COLL_TAG_PAIRS,
    COLL_TAG_AGREE,
    COLL_TAG_ROLL_CALL,
    COLL_TAG_CONFIRMED, /* and the next, as with notes: those of confirmed broadcasts take turns */
    COLL_TAG_NOTE = COLL_TAG_CONFIRMED + 2,
    COLL_TAG_ROUND = COLL_TAG_NOTE + 2,
    COLL_TAG_REPORT,
    COLL_TAG_LEARN, /* and the next COLL_TAGS_LEARN - 1: one for each agreement on times */
    COLL_TAGS_LEARN = 16,
    COLL_TAG_WIDE = 1 << 14, /* and the next COLL_TAGS_WIDE - 1, by turns (hlot/relay.c) */
    COLL_TAGS_WIDE = 1 << 13,
    COLL_TAG_STARTED = COLL_TAG_WIDE + COLL_TAGS_WIDE, /* by turns (lib/operation/pending.c) */
    COLL_TAGS_STARTED = 1 << 12 /* below 32767, the least that MPI promises for tags */
};

/* What goes to and fro when ranks agree (lib/base/agree.h). */
enum { COLL_AGREE_MOST = 8 };

/* An agreement on the largest numbers of all ranks, under way. */
typedef struct coll_agreement {
    struct coll_comm *comm;
    int tag, count, distance;
    MPI_Request requests[2];
    int64_t highest[COLL_AGREE_MOST], sent[COLL_AGREE_MOST], received[COLL_AGREE_MOST];
} coll_agreement;

/* What else blocking agreements write to, for as long as messages may be under way. */
typedef struct coll_roll {
    int first, silent; /* the lowest silent rank, and how many there are */
} coll_roll;
typedef struct coll_agree_memory {
    coll_agreement numbers;
    struct {
        int class;
        char text[MPI_MAX_ERROR_STRING];
    } error;
    coll_roll heard, named; /* when it didn't end in time */
} coll_agree_memory;

typedef struct coll_comm {
    MPI_Comm user; /* the communicator that this belongs to; MPI_COMM_NULL for a part */
    /*
     * Where libcoll's messages go, and the MPI library's own collectives: the user's communicator
     * where TRANSPORT keeps libcoll's messages apart, else a duplicate of it, whose errors return.
     */
    MPI_Comm private;
    const COLL_Transport *transport; /* NULL: MPI's point-to-point calls */
    int rank, ranks;
    const int *members; /* of a part: its ranks in PRIVATE; NULL: it has the same ranks */
    coll_wait wait;
    int broken;        /* the error after which messages may be astray, or MPI_SUCCESS */
    bool agreed;       /* all ranks have agreed on the error of the call that runs (coll_agree) */
    void *room;        /* what coll_comm_room gives; NULL between operations */
    size_t room_bytes; /* that COMM may have without asking its ranks; the same on all of them */
    size_t room_used;  /* so many of them at most have been written since the room was left */
    coll_agree_memory agreeing;
    void **slots;                             /* what hangs on it, in the order of coll_comm_keys */
    struct coll_comm *next_live, **link_live; /* the list of all states */
} coll_comm;

/*
 * What another room keeps with every communicator: so much memory, all zeros at first, which is
 * there on all ranks or on none.
 */
typedef struct coll_comm_key {
    size_t bytes, bytes_per_rank;
    /*
     * On first use, when COMM isn't a part. It sets PRIVATE and TRANSPORT if COMM needs no
     * duplicate, and is local then; else it is collective, and all ranks get the same error, one of
     * memory where any of them is not READY, and has no slots.
     */
    int (*meet)(coll_comm *comm, bool ready);
    /* After that, collective. COMM is a part of WHOLE, unless that is NULL. */
    int (*open)(coll_comm *comm, const coll_comm *whole);
    void (*close)(void *slot); /* COMM still works; also after an error of open */
    int number;                /* which slot: set by coll_comm_get */
} coll_comm_key;

/* All of them, in the order in which they are opened, ended by NULL; in lib/registry.c. */
extern coll_comm_key *const coll_comm_keys[];

static inline void *coll_comm_slot(const coll_comm *comm, const coll_comm_key *key) {
    return comm->slots[key->number];
}

/*
 * The state of COMM, an intracommunicator. Collective on first use, when it is made. The state
 * belongs to COMM. Errors: those of memory and of what opens slots, the same on every rank; and
 * after an error that left messages astray, that error again.
 */
int coll_comm_get(MPI_Comm comm, coll_comm **state);

/* The state of COMM, or NULL where it has none yet or MPI won't tell. Local. */
coll_comm *coll_comm_find(MPI_Comm comm);

/* Frees the state of COMM, if it has one; collective if it was made so. */
int coll_comm_forget(MPI_Comm comm);

/* Whether states are being freed by MPI_Finalize. */
bool coll_comm_finalizing(void);

/*
 * A communicator of this process alone, on which errors are returned: to ask MPI something. It is
 * there as soon as any other is set up. Local.
 */
MPI_Comm coll_comm_alone(void);

/* The state of COMM if this thread has asked for it last and it is not broken, else NULL. Local. */
coll_comm *coll_comm_recent(MPI_Comm comm);

/*
 * Makes the state of COUNT ranks of WHOLE, which MEMBERS lists in ascending order and which this
 * rank is one of, for algorithms that are made of others. Collective over WHOLE, whose ranks may be
 * in different parts. A part uses WHOLE's messages, so that WHOLE has no other operation under way
 * while it runs one; it has no native algorithms. *PART is the caller's, for coll_comm_free_part.
 */
int coll_comm_part(coll_comm *whole, int count, const int members[], coll_comm **part);
void coll_comm_free_part(coll_comm *part);

/*
 * Memory for one operation: BYTES of it, aligned for any type, until the next such call on COMM.
 * All ranks ask for as much, whether or not they need it. Where a rank hasn't got it, all get
 * MPI_ERR_NO_MEM, so that none waits for one that can't take part. Collective where COMM has had
 * less so far. After an error that left messages under way the memory stays theirs.
 */
int coll_comm_room(coll_comm *comm, size_t bytes, void **memory);

/* What BYTES take of a room that is divided by coll_comm_room_take, which cuts them off at *NEXT.
 */
static inline size_t coll_comm_room_of(size_t bytes) {
    return (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}
static inline void *coll_comm_room_take(char **next, size_t bytes) {
    void *taken = *next;
    *next += coll_comm_room_of(bytes);
    return taken;
}

/* The same where *LEFT bytes are left of the room; NULL: those are too few. */
static inline void *coll_comm_room_cut(char **next, size_t *left, size_t bytes) {
    if (coll_comm_room_of(bytes) > *left)
        return NULL;
    *left -= coll_comm_room_of(bytes);
    return coll_comm_room_take(next, bytes);
}

/* An operation is over: gives its room back for others to use, or the memory that is too much to
 * keep. */
void coll_comm_leave_room(coll_comm *comm);

static inline int coll_comm_peer(const coll_comm *comm, int rank) {
    return comm->members && rank >= 0 ? comm->members[rank] : rank;
}

/* Starts to send to PEER, a rank of COMM. As MPI_Isend; MPI's errors. */
static inline int coll_isend(const coll_comm *comm, const void *buffer, int count,
                             MPI_Datatype type, int peer, int tag, MPI_Request *request) {
    peer = coll_comm_peer(comm, peer);
    return comm->transport
               ? comm->transport->isend(buffer, count, type, peer, tag, comm->private, request)
               : PMPI_Isend(buffer, count, type, peer, tag, comm->private, request);
}

/* Starts to receive from PEER, a rank of COMM or MPI_ANY_SOURCE. As MPI_Irecv; MPI's errors. */
static inline int coll_irecv(const coll_comm *comm, void *buffer, int count, MPI_Datatype type,
                             int peer, int tag, MPI_Request *request) {
    peer = coll_comm_peer(comm, peer);
    return comm->transport
               ? comm->transport->irecv(buffer, count, type, peer, tag, comm->private, request)
               : PMPI_Irecv(buffer, count, type, peer, tag, comm->private, request);
}

#endif

/*
 * A gather in which every rank sends straight to the root, no more of its block than the root has
 * told it to. The blocks arrive in segments, sender by sender in chain order. The root posts the
 * receives a window of bytes ahead, and tells the senders when it does: the window bounds the bytes
 * on the way, too. What comes unasked are the first blocks of that order, as far as all ranks know
 * the size; else blocks that are no longer than an equal share.
 */
#ifndef COLL_LIB_GATHER_INTAKE_H
#define COLL_LIB_GATHER_INTAKE_H

#include "lib/gather/gather.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_intake {
    size_t segment; /* bytes a message; the last one of a block may be shorter */
    size_t window;  /* bytes asked for that have not arrived */
    size_t run;     /* the same while all of them are one sender's */
    size_t unasked; /* so many bytes in all come without being asked for */
} coll_intake;

/* Segments that a sender hands to MPI ahead of those that have left. */
enum { COLL_INTAKE_SENDS = 8 };

/* What the root keeps for a communicator: the share of the window that has lately lost nothing. */
extern coll_comm_key coll_intake_share_key;

/* Sees to the room (coll_comm_room) of an intake and of its senders; all ranks before anything
 * else.
 */
int coll_intake_room(const coll_gather_call *call, const coll_intake *intake);

/* Receives all blocks but the root's own. */
int coll_intake_run(const coll_gather_call *call, const coll_intake *intake);

/*
 * The other side: sends this rank's block as the root asks for it. A grant is a uint64_t, how many
 * bytes the rank may send in all.
 */
int coll_intake_supply(const coll_gather_call *call, const coll_intake *intake);

/*
 * How much of a block of BYTES comes unasked, as both sides know. PLACE, the sender's in chain
 * order, counts from 0.
 */
size_t coll_intake_unasked(const coll_gather_call *call, const coll_intake *intake, int place,
                           size_t bytes);

#endif

/*
 * A gather in which every rank sends straight to the root, no more of its block than the root has
 * told it to. The blocks arrive in segments, sender by sender in chain order, or so in each rack
 * where it takes several racks' uplinks to fill the root's link. The root posts the receives a
 * window of bytes ahead, and tells the senders when it does: the window bounds the bytes on the
 * way, too. What comes unasked are the first blocks of that order, as far as all ranks know the
 * size; else blocks that are no longer than an equal share.
 *
 * The root's side is an intake, another rank's a supply, each a course.
 */
#ifndef COLL_LIB_GATHER_INTAKE_H
#define COLL_LIB_GATHER_INTAKE_H

#include "lib/gather/gather.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_credit {
    size_t segment; /* bytes a message; the last one of a block may be shorter */
    size_t window;  /* bytes asked for that have not arrived */
    size_t run;     /* the same while all of them are one sender's */
    size_t unasked; /* so many bytes in all come without being asked for */
    int lanes;      /* so many uplinks of racks fill the root's link; 1: one does */
} coll_credit;

/* What the root keeps for a communicator: the share of the window that has lately lost nothing. */
extern coll_comm_key coll_intake_share_key;

/* The memory, aligned for any type, that an intake and a supply need; the same on all ranks. */
size_t coll_intake_bytes(const coll_planned *call, const coll_credit *credit);

/*
 * How much of a block of BYTES comes unasked, as both sides know. PLACE, the sender's in chain
 * order, counts from 0.
 */
size_t coll_intake_unasked(const coll_planned *call, const coll_credit *credit, int place,
                           size_t bytes);

typedef struct coll_intake {
    coll_course course; /* its requests are slot_count receives, then as many grants */
    coll_planned call;
    coll_credit credit;
    struct coll_source *senders; /* in the order in which they are asked */
    int sender_count;

    double share;       /* of the intake's window and run, as large as they have lately been safe */
    size_t window, run; /* that much of them */
    bool stalled;       /* some stream did: something was lost */

    struct coll_lane *lanes;
    int lane_count;
    size_t on_the_way; /* bytes asked for that have not arrived */
    int slot_count, unused_count;
    struct coll_slot *slots;
    int *unused;          /* slots without a request */
    double since, looked; /* dates: when something came last, and of the last look after it */
} coll_intake;

/* CALL's intake, in MEMORY. */
coll_course *coll_intake_open(const coll_planned *call, const coll_credit *credit, void *memory);

/* A supply's requests: the next grant, then segments that it hands to MPI ahead of those that have
 * left. */
enum { COLL_SUPPLY_SENDS = 8, COLL_SUPPLY_REQUESTS = 1 + COLL_SUPPLY_SENDS };

typedef struct coll_supply {
    coll_course course;
    coll_planned call;
    size_t segment, unasked;
    size_t sent, allowed;
    uint64_t *grant; /* how many bytes the rank may send in all */
    char *memory;    /* of the segments, NULL where the data moves in place */
    MPI_Request requests[COLL_SUPPLY_REQUESTS];
    MPI_Status statuses[COLL_SUPPLY_REQUESTS];
    int peers[COLL_SUPPLY_REQUESTS], completed[COLL_SUPPLY_REQUESTS];
} coll_supply;

/* CALL's supply, in MEMORY. */
coll_course *coll_supply_open(const coll_planned *call, const coll_credit *credit, void *memory);

#endif

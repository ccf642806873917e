/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host's link that several ranks share fairly: messages of different ranks leave at the same
 * time, each at an equal part of the rate, as TCP connections do. Messages of one rank leave one
 * after the other. Pure.
 *
 * SERVED is the same for all ranks whose messages wait: the time for which the whole link would
 * have been busy with the messages of one of these ranks. So a message is complete when SERVED
 * reaches a value that later messages don't change (generalized processor sharing, by Parekh and
 * Gallager).
 */
#ifndef COLL_LIB_SIM_FAIR_LINK_H
#define COLL_LIB_SIM_FAIR_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* A message that waits for the link. */
typedef struct coll_fair_message {
    int64_t complete; /* value of SERVED at which the message has left */
    int next;         /* the message that leaves next; -1: none */
} coll_fair_message;

/* The messages of one rank. */
typedef struct coll_fair_rank {
    int waiting;
    int64_t complete; /* COMPLETE of its last message */
    int64_t left;     /* ns: when its latest message left */
} coll_fair_rank;

/* A shared link. All members are 0 at first, except FIRST, which is -1. */
typedef struct coll_fair_link {
    int64_t served; /* ns */
    int64_t since;  /* ns: the time to which SERVED refers */
    int ranks;      /* number of ranks whose messages wait */
    int first;      /* the message that leaves next; -1: none */
} coll_fair_link;

/* Adds message NUMBER of ALL, which RANK sends at time NOW and which takes DURATION. If the link is
 * idle, the message begins at NOW or FREE, whichever is later. */
void coll_fair_link_add(coll_fair_link *link, coll_fair_message all[], int number,
                        coll_fair_rank *rank, int64_t duration, int64_t now, int64_t free);

/* Delays all messages by DURATION: the link passes something else. */
void coll_fair_link_delay(coll_fair_link *link, int64_t duration);

/* Returns when the first message will have left if no other is added. There must be a first
 * message. */
int64_t coll_fair_link_end(const coll_fair_link *link, const coll_fair_message all[]);

/* Removes the first message, which RANK sent and which has left at time NOW. */
void coll_fair_link_remove(coll_fair_link *link, const coll_fair_message all[],
                           coll_fair_rank *rank, int64_t now);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sleep that ends as soon as something happens on a TCP connection of this process. The MPI
 * library hides its connections, but the process can watch its own descriptors without reading from
 * them. A rank that waits for a message can thus sleep until the network delivers something,
 * without polling and without oversleeping.
 */
#ifndef COLL_LIB_BASE_SOCKET_WAKEUP_H
#define COLL_LIB_BASE_SOCKET_WAKEUP_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * A bell that other processes of this host ring after writing to memory shared with the bell's
 * owner. It is itself in shared memory, zeroed at first.
 */
typedef struct coll_wakeup {
    atomic_bool asleep; /* the owner sleeps or is about to, so ringing is needed */
    char name[15];      /* abstract socket name without its leading NUL; "" if there is none */
} coll_wakeup;

/*
 * From now on ringing BELL also ends this process's sleeps; NULL removes the bell. A process has
 * one bell at a time. If the system does not support it, ringing has no effect.
 */
void coll_wakeup_hang(coll_wakeup *bell);

/*
 * Announces whether this process will sleep unless its next look finds what it waits for. Call this
 * before the last test that precedes the sleep; then no wake-up is lost.
 */
void coll_wakeup_doze(bool asleep);

/* Sends a ring from this process's own bell. Call coll_wakeup_ring instead. */
void coll_wakeup_wake(const coll_wakeup *bell);

/* Ends the current or next sleep of BELL's owner. BELL may be NULL. */
static inline void coll_wakeup_ring(const coll_wakeup *bell) {
    if (bell && atomic_load_explicit(&bell->asleep, memory_order_relaxed))
        coll_wakeup_wake(bell);
}

/*
 * Sleeps SECONDS (less than 1). Returns true, possibly earlier, if data arrives on a TCP
 * connection, a connection becomes writable, or this process's bell is rung. If the system cannot
 * report such events, or there are no connections, it sleeps for the whole time. Thread-safe; each
 * event wakes one of the sleeping threads.
 */
bool coll_wakeup_sleep(double seconds);

#endif

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
 * The wake-up of a process, its owner. Other processes of the host notify it after writing to
 * memory that they share with the owner. The wake-up is itself in shared memory, zeroed at first.
 */
typedef struct coll_wakeup {
    atomic_bool asleep; /* the owner sleeps or is about to, so notifications are needed */
    char name[15];      /* abstract socket name without its leading NUL; "" if there is none */
} coll_wakeup;

/*
 * Makes WAKEUP this process's wake-up, in place of any other: notifications of WAKEUP then end the
 * process's sleeps. NULL removes the wake-up. If the system does not support wake-ups,
 * notifications have no effect.
 */
void coll_wakeup_install(coll_wakeup *wakeup);

/*
 * Announces whether this process will sleep unless its next test finds what it waits for. Call this
 * before the last test that precedes the sleep; then no notification is lost.
 */
void coll_wakeup_announce(bool asleep);

/* Sends a notification even if the owner doesn't sleep. Call coll_wakeup_notify instead. */
void coll_wakeup_send(const coll_wakeup *wakeup);

/*
 * Ends the current or next sleep of WAKEUP's owner, if the owner has announced a sleep. WAKEUP may
 * be NULL.
 */
static inline void coll_wakeup_notify(const coll_wakeup *wakeup) {
    if (wakeup && atomic_load_explicit(&wakeup->asleep, memory_order_relaxed))
        coll_wakeup_send(wakeup);
}

/*
 * Sleeps SECONDS (less than 1). Ends earlier and returns true if data arrives on a TCP connection,
 * a connection becomes writable, or this process's wake-up is notified. Sleeps for the whole time
 * if the system cannot report such events, or if the process has neither connections nor a wake-up.
 * Thread-safe; each event wakes one of the sleeping threads.
 */
bool coll_wakeup_sleep(double seconds);

#endif

/*
 * A sleep that ends as soon as something happens on a TCP connection of this process. The MPI
 * library hides its connections, but the process can watch its own descriptors without reading from
 * them: a rank that waits for a message then sleeps until the network brings something, and neither
 * polls nor oversleeps.
 */
#ifndef COLL_LIB_BASE_DOORBELL_H
#define COLL_LIB_BASE_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * A bell that others on this host ring where they have written to memory that they share with its
 * owner. It lies in such memory itself, all zero at first.
 */
typedef struct coll_doorbell {
    atomic_bool asleep; /* it is worth ringing */
    char name[15];      /* of a socket, from its second byte on; "" where there is none */
} coll_doorbell;

/*
 * BELL ends this process's sleeps, too, from now on; NULL: no longer. A process has one at a time.
 * Where the system can't do it nobody rings.
 */
void coll_doorbell_hang(coll_doorbell *bell);

/*
 * Whether this process, which hasn't found what it waits for, will sleep unless it finds it at the
 * next look. Told before that look, no ring is missed.
 */
void coll_doorbell_doze(bool asleep);

/* Through this process's own bell. Go through coll_doorbell_ring. */
void coll_doorbell_wake(const coll_doorbell *bell);

/* Ends its owner's sleep, this one or the next. BELL may be NULL. */
static inline void coll_doorbell_ring(const coll_doorbell *bell) {
    if (bell && atomic_load_explicit(&bell->asleep, memory_order_relaxed))
        coll_doorbell_wake(bell);
}

/*
 * Sleeps SECONDS (under a second), less where data arrives on a TCP connection, room to send
 * appears or this process's bell is rung: then it is true. Where the system can't tell, or there
 * are no connections, it is a plain sleep. Safe from several threads; each event then wakes one of
 * them.
 */
bool coll_doorbell_sleep(double seconds);

#endif

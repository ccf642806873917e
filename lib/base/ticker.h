/*
 * A thread of the process that looks after something now and then: often while its looks find that
 * something moves, ever less often while nothing does, not at all while there is nothing to look
 * after. MPI has no wait that sleeps, so it looks at intervals.
 */
#ifndef COLL_LIB_BASE_TICKER_H
#define COLL_LIB_BASE_TICKER_H

#include <stdbool.h>

/* What a look finds. */
typedef enum coll_tick {
    COLL_TICK_IDLE, /* nothing to look after: sleep until coll_ticker_wake */
    COLL_TICK_STILL,
    COLL_TICK_MOVED
} coll_tick;

/*
 * Has a thread call LOOK, one at a time; there is one thread, and the first LOOK stays. False where
 * the system gives no thread.
 */
bool coll_ticker_begin(coll_tick (*look)(void));

/* There is something to look after. */
void coll_ticker_wake(void);

/* Ends the thread, once it has looked; nothing where there is none. */
void coll_ticker_end(void);

#endif

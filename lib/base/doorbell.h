/*
 * A sleep that ends as soon as something happens on a TCP connection of this process. The MPI
 * library hides its connections, but the process can watch its own descriptors without reading from
 * them: a rank that waits for a message then sleeps until the network brings something, and neither
 * polls nor oversleeps.
 */
#ifndef COLL_LIB_BASE_DOORBELL_H
#define COLL_LIB_BASE_DOORBELL_H

#include <stdbool.h>

/*
 * Sleeps SECONDS (under a second), less where data arrives on a TCP connection or room to send
 * appears: then it is true. Where the system can't tell, or there are no connections, it is a plain
 * sleep. Safe from several threads; each event then wakes one of them.
 */
bool coll_doorbell_sleep(double seconds);

#endif

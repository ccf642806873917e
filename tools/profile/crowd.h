/*
 * Measures what changes when many ranks communicate at once: L's dependence on p, by concurrent
 * pairs, and gr, by streams that converge on one receiver (Tam and Wang, section 3.2).
 */
#ifndef COLL_TOOLS_PROFILE_CROWD_H
#define COLL_TOOLS_PROFILE_CROWD_H

#include <mpi.h>
#include <stdbool.h>

typedef struct crowd_result {
    double message; /* s: half a round trip of a byte; the median */
    double rate;    /* bytes/s of a stream */
} crowd_result;

/*
 * One pair of several that do this at the same time, for about twice SECONDS: messages to and fro,
 * then a stream from the one who LEADS to PEER. *RESULT is set on the leader.
 */
int crowd_pair(int peer, bool leads, MPI_Comm comm, double seconds, crowd_result *result);

/*
 * What a rank of libcoll that waits adds to a message: the ranks of MEMBERS, COUNT (at least 3) of
 * them, call this together. On the first one *SECONDS is the difference that each further rank
 * makes to a chain broadcast of a byte, for about twice LIMIT seconds; the median.
 */
int crowd_relay(const int members[], int count, MPI_Comm comm, double limit, double *seconds);

enum { CROWD_SIZES = 4, CROWD_SENDERS = 4 };

/* The sizes in bytes at which the gap of a receiver is measured, ascending. */
extern const int crowd_size[CROWD_SIZES];

/*
 * The receiver of up to CROWD_SENDERS converging streams: the gap from one arrival to the next, in
 * seconds, at each size; the least of some rounds. At most 32 KB are under way in all, so that no
 * switch need drop any; a sender sends on when the receiver has got its last message. The senders
 * call crowd_send at the same time.
 */
int crowd_receive(const int senders[], int count, MPI_Comm comm, double seconds,
                  double gap[CROWD_SIZES]);
int crowd_send(int receiver, MPI_Comm comm);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what changes when many ranks communicate at the same time (Tam and Wang, section 3.2):
 * with concurrent pairs, how L depends on the number of ranks; with streams that converge on one
 * receiver, gr. Also measures relays, which forward a message from rank to rank.
 */
#ifndef COLL_TOOLS_PROFILE_CROWD_H
#define COLL_TOOLS_PROFILE_CROWD_H

#include <mpi.h>
#include <stdbool.h>

typedef struct crowd_result {
    double message; /* s: the median half round trip of a byte */
    double rate;    /* bytes/s of the stream */
} crowd_result;

/*
 * Exchanges single bytes with PEER, then streams from the leader to the other rank; each takes at
 * most about SECONDS. Several pairs do this at the same time. Exactly one rank of a pair LEADS;
 * *RESULT is set on that rank only. Returns an MPI error code.
 */
int crowd_pair(int peer, bool leads, MPI_Comm comm, double seconds, crowd_result *result);

/*
 * Measures what a rank that waits in libcoll adds to the time of a message that the rank forwards.
 * The COUNT (at least 3) MEMBERS call this together. Times chain broadcasts of a byte among the
 * first two members, then among all, each for at most about LIMIT seconds. On the first member,
 * *SECONDS is the difference of the two medians per further member. Returns an MPI error code.
 */
int crowd_relay(const int members[], int count, MPI_Comm comm, double limit, double *seconds);

enum { CROWD_SIZES = 4, CROWD_SENDERS = 4 };

/* The sizes in bytes at which the gap of a receiver is measured, ascending. */
extern const int crowd_size[CROWD_SIZES];

/*
 * Receives the streams of COUNT (at most CROWD_SENDERS) SENDERS, which call crowd_send at the same
 * time. Sets GAP to the seconds between two arrivals at each size, the minimum of several rounds;
 * starts no further round after SECONDS. At most 32 KB are under way in all, so that no switch has
 * to drop messages: a sender waits until the receiver confirms earlier messages. Returns an MPI
 * error code.
 */
int crowd_receive(const int senders[], int count, MPI_Comm comm, double seconds,
                  double gap[CROWD_SIZES]);

/* Sends to RECEIVER until its crowd_receive ends. Returns an MPI error code. */
int crowd_send(int receiver, MPI_Comm comm);

#endif

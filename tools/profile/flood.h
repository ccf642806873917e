/*
 * Estimates BL, the bytes that a switch keeps before the port of one host: several hosts flood one
 * with datagrams (UDP) for longer and longer, and the share that arrives is D / A + B / k (Tam and
 * Wang, eq. 4), for arrival and departure rates A and D and k bytes in all.
 */
#ifndef COLL_TOOLS_PROFILE_FLOOD_H
#define COLL_TOOLS_PROFILE_FLOOD_H

#include <mpi.h>

enum { FLOOD_STEPS = 10 };

/* The steps that were taken, gentlest first. */
typedef struct flood_result {
    int steps;
    double bytes[FLOOD_STEPS];   /* k */
    double arrived[FLOOD_STEPS]; /* the share of them */
} flood_result;

/*
 * The receiver: has COUNT senders, which call flood_send at the same time, send 16 KB in all, then
 * twice as much and so on, until a tenth is lost in two steps, or MOST bytes. Nothing arriving at
 * all ends it, too: datagrams are not let through. Returns an MPI error code; MPI_ERR_OTHER where
 * there can be no socket.
 */
int flood_receive(const int senders[], int count, const char *host, double most, MPI_Comm comm,
                  flood_result *result);
int flood_send(int receiver, MPI_Comm comm);

/* B of eq. 4 by least squares over the steps with loss; 0 where fewer than two had any. */
double flood_buffer(const flood_result *result);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures round trips to other hosts. Only the kernels take part: a probe is the handshake of a
 * TCP connection to a port that the other kernel answers by itself. Neither process need be awake.
 * The result is the round-trip time that this host's kernel has measured for the connection
 * (TCP_INFO), so it may be read at any later time. Some 300 bytes a probe, IPv4. No MPI.
 */
#ifndef COLL_HLOT_PROBE_H
#define COLL_HLOT_PROBE_H

#include <netinet/in.h>

/*
 * Listens on a TCP port of this host and stores its number in *PORT. Returns a file descriptor,
 * which the caller closes, or -1 with errno set.
 */
int hlot_probe_listen(int *port);

/*
 * Closes the connections that probes of other hosts have left at LISTENER. Call it from time to
 * time.
 */
void hlot_probe_drain(int listener);

typedef struct hlot_probe {
    int connection; /* -1 if no probe is under way */
    double sent;    /* when it was sent; s, by coll_monotonic */
} hlot_probe;

typedef enum hlot_answer { HLOT_NO_PROBE, HLOT_WAITING, HLOT_ANSWERED, HLOT_SILENT } hlot_answer;

/* Sends a probe unless one is under way. */
void hlot_probe_start(hlot_probe *probe, const struct sockaddr_in *address);

/*
 * Returns the state of the probe, and in *SECONDS the round trip if it is answered. The probe is
 * silent if the connection failed, a packet was repeated, or there was no answer for TIMEOUT
 * seconds. A probe that is answered or silent has ended.
 */
hlot_answer hlot_probe_look(hlot_probe *probe, double timeout, double *seconds);

/* Ends a probe, if one is under way. */
void hlot_probe_end(hlot_probe *probe);

#endif

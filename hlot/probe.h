/*
 * Round trips to other hosts that their kernels alone take part in: the handshake of a TCP
 * connection to a port on which nobody but the kernel listens. Neither side need be awake: the
 * answer's time is the one that this kernel took with the connection (TCP_INFO), however late it is
 * asked for. Some 300 bytes a probe, IPv4. No MPI.
 */
#ifndef COLL_HLOT_PROBE_H
#define COLL_HLOT_PROBE_H

#include <netinet/in.h>

/*
 * Listens on a TCP port of this host. Returns a file descriptor, which the caller closes, or -1
 * with errno set.
 */
int hlot_probe_listen(int *port);

/* Drops the connections that others' probes have left at LISTENER. Call it now and then. */
void hlot_probe_drain(int listener);

typedef struct hlot_probe {
    int connection; /* -1: no probe is under way */
    double sent;    /* date */
} hlot_probe;

typedef enum hlot_answer { HLOT_NO_PROBE, HLOT_WAITING, HLOT_ANSWERED, HLOT_SILENT } hlot_answer;

/* Sends a probe unless one is under way. */
void hlot_probe_start(hlot_probe *probe, const struct sockaddr_in *address);

/*
 * How the probe stands; *SECONDS is the round trip when it is answered. It is silent where the
 * connection is impossible, or without an answer for PATIENCE seconds. Answered or silent ends it.
 */
hlot_answer hlot_probe_look(hlot_probe *probe, double patience, double *seconds);

/* Ends a probe that may be under way. */
void hlot_probe_end(hlot_probe *probe);

#endif

/*
 * Round trips between hosts that only their kernels take part in: a connection that is asked for
 * and refused. Nobody on the other host need be awake for that, so it tells the network's share to
 * a fraction of a microsecond even where processors are busy; a ping-pong of MPI messages doesn't.
 * No MPI; IPv4.
 */
#ifndef COLL_LIB_PLACE_ROUNDTRIP_H
#define COLL_LIB_PLACE_ROUNDTRIP_H

#include <stdbool.h>

struct sockaddr_in;

/*
 * Reserves a TCP port of this host on which connections are refused, until the returned file
 * descriptor is closed or listened on. -1, with errno set, where that cannot be.
 */
int coll_roundtrip_reserve(int *port);

/* Finds the address of PORT on HOST; may take as long as the name service. False for none. */
bool coll_roundtrip_find(const char *host, int port, struct sockaddr_in *address);

/*
 * The least of several round trips to a reserved PORT of HOST, in seconds; negative where no answer
 * comes, or the name is unknown or stands for this host's loopback device.
 */
double coll_roundtrip(const char *host, int port);

#endif

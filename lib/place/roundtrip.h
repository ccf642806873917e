/*
 * Measures round trips between hosts in which only their kernels take part: a connection is asked
 * for and refused. Nobody on the other host need be awake for that, so it tells the network's share
 * to a fraction of a microsecond even where processors are busy; a ping-pong of MPI messages
 * doesn't. No MPI; IPv4.
 */
#ifndef COLL_LIB_PLACE_ROUNDTRIP_H
#define COLL_LIB_PLACE_ROUNDTRIP_H

#include <netinet/in.h>
#include <stdbool.h>

/*
 * Reserves a TCP port of this host on which connections are refused, until the returned file
 * descriptor is closed or listened on. -1, with errno set, where that cannot be.
 */
int coll_roundtrip_reserve(int *port);

/* Finds the address of PORT on HOST; may take as long as the name service. False for none. */
bool coll_roundtrip_find(const char *host, int port, struct sockaddr_in *address);

/* So many addresses can be measured in one call. */
enum { COLL_ROUNDTRIPS = 64 };

/*
 * Measures round trips to reserved ports at COUNT addresses: SECONDS[i] is the least of several to
 * TO[i], negative where no answer comes within PATIENCE seconds. All are asked at once first. Those
 * that answer within a millisecond are then asked one after the other, some times over; of the
 * others nobody looks for microseconds.
 */
void coll_roundtrips(int count, const struct sockaddr_in to[], double patience, double seconds[]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/tcp_info.h"

#include "lib/base/descriptors.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Most connections that are read: a few are enough. */
enum { MOST = 256 };

/* Returns whether SOCKET is an Internet socket that is connected to another host. */
static bool leaves_host(int socket) {
    struct sockaddr_storage own, peer;
    const struct sockaddr_in *own4 = (const void *)&own, *peer4 = (const void *)&peer;
    const struct sockaddr_in6 *own6 = (const void *)&own, *peer6 = (const void *)&peer;
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (getpeername(socket, (void *)&peer, &peer_size) != 0 ||
        getsockname(socket, (void *)&own, &own_size) != 0)
        return false;
    if (peer.ss_family == AF_INET)
        return own4->sin_addr.s_addr != peer4->sin_addr.s_addr;
    return peer.ss_family == AF_INET6 &&
           memcmp(&own6->sin6_addr, &peer6->sin6_addr, sizeof own6->sin6_addr) != 0;
}

/* Returns the shortest round trip of SOCKET in seconds; 0 if SOCKET is no TCP socket or no round
 * trip is known. */
static double round_trip_of(int socket) {
    const double microsecond = 1e-6;
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt ||
        info.tcpi_min_rtt == UINT32_MAX)
        return 0;
    return info.tcpi_min_rtt * microsecond;
}

typedef struct search {
    int left; /* most connections still to be read */
    double shortest;
} search;

static bool find_shorter(void *context, int socket) {
    search *of = context;
    if (!leaves_host(socket))
        return true;
    const double seconds = round_trip_of(socket);
    if (seconds > 0 && (of->shortest == 0 || seconds < of->shortest))
        of->shortest = seconds;
    return --of->left > 0;
}

double coll_tcp_info_round_trip(void) {
    search of = {.left = MOST};
    coll_descriptors_visit(find_shorter, &of);
    return of.shortest;
}

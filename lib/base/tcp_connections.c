/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/tcp_connections.h"

#include "lib/base/descriptors.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

/* The kernel's TCP_SYN_SENT, which linux/tcp.h lacks. */
enum { SYN_SENT = 2 };

/* Returns the peer of the socket at OWN, which is still connecting, so that getpeername does not
 * know its peer; 0 if unknown. */
static uint32_t find_peer(const struct sockaddr_in *own) {
    char line[256];
    unsigned address, port, peer, state;
    FILE *file = fopen("/proc/self/net/tcp", "r");
    if (!file)
        return 0;
    bool found = false;
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, " %*d: %x:%x %x:%*x %x", &address, &port, &peer, &state) == 4 &&
                state == SYN_SENT && address == own->sin_addr.s_addr &&
                port == ntohs(own->sin_port);
    fclose(file);
    return found ? peer : 0;
}

static bool read_connection(int socket, coll_tcp_connection *c) {
    const double microsecond = 1e-6;
    struct sockaddr_in own, peer = {.sin_family = AF_INET};
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t own_size = sizeof own, peer_size = sizeof peer, size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        getsockname(socket, (void *)&own, &own_size) != 0 || own.sin_family != AF_INET)
        return false;
    const bool connecting = info.tcpi_state == SYN_SENT;
    if (connecting)
        peer.sin_addr.s_addr = find_peer(&own);
    else if (getpeername(socket, (void *)&peer, &peer_size) != 0)
        return false;
    if (peer.sin_addr.s_addr == own.sin_addr.s_addr)
        return false;
    const uint64_t limited = info.tcpi_rwnd_limited, busy = info.tcpi_busy_time;
    *c = (coll_tcp_connection){.own = own.sin_addr.s_addr,
                               .peer = peer.sin_addr.s_addr,
                               .connecting = connecting,
                               .unanswered = info.tcpi_retransmits,
                               .segment = (int)info.tcpi_snd_mss,
                               .bytes = (double)info.tcpi_bytes_acked,
                               .busy = microsecond * (double)(busy > limited ? busy - limited : 0),
                               .sent = info.tcpi_data_segs_out,
                               .resent = info.tcpi_total_retrans};
    return true;
}

typedef struct connections {
    int count;
    coll_tcp_connection *list;
} connections;

static bool add_connection(void *context, int socket) {
    connections *of = context;
    if (read_connection(socket, &of->list[of->count]))
        of->count++;
    return of->count < COLL_TCP_CONNECTIONS;
}

int coll_tcp_connections_read(coll_tcp_connection list[]) {
    connections of = {.list = list};
    coll_descriptors_visit(add_connection, &of);
    return of.count;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/probe.h"

#include "lib/base/ticks.h"
#include "lib/topology/tcp_rtt.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* The number of connections that the kernel queues: two from every other site. */
enum { BACKLOG = 128 };

int hlot_probe_listen(int *port) {
    int listener = coll_tcp_rtt_reserve(port);
    if (listener < 0)
        return -1;
    if (fcntl(listener, F_SETFL, O_NONBLOCK) != 0 || listen(listener, BACKLOG) != 0) {
        int error = errno;
        close(listener);
        errno = error;
        return -1;
    }
    return listener;
}

void hlot_probe_drain(int listener) {
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection >= 0)
            close(connection);
        else if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

void hlot_probe_end(hlot_probe *probe) {
    if (probe->connection >= 0)
        close(probe->connection);
    probe->connection = -1;
}

void hlot_probe_start(hlot_probe *probe, const struct sockaddr_in *address) {
    /* close without TIME_WAIT, since there is no data */
    static const struct linger at_once = {.l_onoff = 1};
    if (probe->connection >= 0)
        return;
    probe->connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    probe->sent = coll_monotonic();
    if (probe->connection < 0)
        return;
    setsockopt(probe->connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    /* If this fails at once, hlot_probe_look finds the socket unconnected: HLOT_SILENT. */
    (void)!connect(probe->connection, (const struct sockaddr *)address, sizeof *address);
}

hlot_answer hlot_probe_look(hlot_probe *probe, double timeout, double *seconds) {
    struct pollfd event = {.fd = probe->connection, .events = POLLOUT};
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (probe->connection < 0)
        return HLOT_NO_PROBE;
    int ready = poll(&event, 1, 0);
    if (ready == 0 && coll_monotonic() - probe->sent < timeout)
        return HLOT_WAITING;
    bool answered = ready == 1 && !(event.revents & (POLLERR | POLLHUP)) &&
                    getsockopt(probe->connection, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
                    info.tcpi_rtt > 0 && info.tcpi_total_retrans == 0;
    if (answered)
        *seconds = 1e-6 * info.tcpi_rtt;
    hlot_probe_end(probe);
    return answered ? HLOT_ANSWERED : HLOT_SILENT;
}

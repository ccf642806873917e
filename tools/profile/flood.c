/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/flood.h"

#include "tools/profile/fit.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TAG_ORDER = 51,
    TAG_SENT,
    DATAGRAM = 1400,         /* bytes, below every MTU */
    FIRST_STEP = 16 << 10,   /* bytes that all senders send in the first step */
    SOCKET_BUFFER = 4 << 20, /* bytes for the receiving socket; the system may grant fewer */
    LOSSY_STEPS = 2          /* lossy steps after which a flood ends */
};

/* A step is lossy if a smaller share of it arrives than this. */
static const double LOSSY_BELOW = 0.9;

/*
 * Seconds without an arrival, after all senders are done, after which the datagrams that have not
 * arrived count as lost.
 */
static const double SILENCE = 20e-3;

/* The receiver's order to a sender: to send DATAGRAMS datagrams to PORT of HOST; or, if DATAGRAMS
 * is 0, to stop. */
typedef struct order {
    char host[256];
    int port, datagrams;
} order;

/* Opens a UDP socket and sets *PORT to its port. Returns the descriptor, or -1. */
static int open_receiver(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof address;
    int size = SOCKET_BUFFER,
        descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) {
        close(descriptor);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return descriptor;
}

/*
 * Adds the datagrams that arrive to *ARRIVED, and those that the senders report as sent to *SENT.
 * Returns when all senders are done and no datagram has arrived for SILENCE.
 */
static int count_arrivals(int descriptor, const int senders[], int count, MPI_Comm comm, long *sent,
                          long *arrived) {
    char datagram[DATAGRAM];
    double last = MPI_Wtime();
    int done = 0, code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && (done < count || MPI_Wtime() - last < SILENCE)) {
        while (recv(descriptor, datagram, sizeof datagram, 0) > 0) {
            ++*arrived;
            last = MPI_Wtime();
        }
        int ready = 0, datagrams;
        if (done < count)
            code = MPI_Iprobe(senders[done], TAG_SENT, comm, &ready, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || !ready)
            continue;
        code = MPI_Recv(&datagrams, 1, MPI_INT, senders[done++], TAG_SENT, comm, MPI_STATUS_IGNORE);
        *sent += datagrams;
        last = MPI_Wtime();
    }
    return code;
}

static int send_orders(const int senders[], int count, const order *o, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = MPI_Send(o, (int)sizeof *o, MPI_BYTE, senders[i], TAG_ORDER, comm);
    return code;
}

int flood_receive(const int senders[], int count, const char *host, double most, MPI_Comm comm,
                  flood_result *result) {
    order o = {.datagrams = 0};
    int descriptor = open_receiver(&o.port), lossy = 0, code = MPI_SUCCESS;
    *result = (flood_result){.steps = 0};
    snprintf(o.host, sizeof o.host, "%s", host);
    for (double bytes = FIRST_STEP; descriptor >= 0 && code == MPI_SUCCESS; bytes *= 2) {
        if (bytes > most || result->steps == FLOOD_STEPS || lossy == LOSSY_STEPS)
            break;
        long sent = 0, arrived = 0;
        o.datagrams = (int)(bytes / count / DATAGRAM) + 1;
        code = send_orders(senders, count, &o, comm);
        if (code == MPI_SUCCESS)
            code = count_arrivals(descriptor, senders, count, comm, &sent, &arrived);
        if (!arrived)
            break;
        double share = (double)arrived / (double)sent;
        result->bytes[result->steps] = (double)sent * DATAGRAM;
        result->arrived[result->steps++] = share;
        lossy += share < LOSSY_BELOW;
    }
    o.datagrams = 0;
    if (code == MPI_SUCCESS)
        code = send_orders(senders, count, &o, comm);
    if (descriptor < 0)
        return MPI_ERR_OTHER;
    close(descriptor);
    return code;
}

/*
 * Sends O's datagrams without pauses. Returns how many were sent: those that this host itself could
 * not queue do not count.
 */
static int send_datagrams(const order *o) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *found;
    static const char datagram[DATAGRAM];
    if (getaddrinfo(o->host, NULL, &hints, &found) != 0)
        return 0;
    struct sockaddr_in address;
    memcpy(&address, found->ai_addr, sizeof address);
    freeaddrinfo(found);
    address.sin_port = htons((uint16_t)o->port);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), sent = 0;
    for (int i = 0; descriptor >= 0 && i < o->datagrams; i++)
        sent += sendto(descriptor, datagram, sizeof datagram, MSG_DONTWAIT,
                       (struct sockaddr *)&address, sizeof address) == DATAGRAM;
    if (descriptor >= 0)
        close(descriptor);
    return sent;
}

int flood_send(int receiver, MPI_Comm comm) {
    for (;;) {
        order o;
        int code =
            MPI_Recv(&o, (int)sizeof o, MPI_BYTE, receiver, TAG_ORDER, comm, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || !o.datagrams)
            return code;
        int sent = send_datagrams(&o);
        code = MPI_Send(&sent, 1, MPI_INT, receiver, TAG_SENT, comm);
        if (code != MPI_SUCCESS)
            return code;
    }
}

double flood_buffer(const flood_result *result) {
    double inverse[FLOOD_STEPS], share[FLOOD_STEPS], buffer, ratio;
    int lossy = 0;
    for (int i = 0; i < result->steps; i++)
        if (result->arrived[i] < LOSSY_BELOW) {
            inverse[lossy] = 1 / result->bytes[i];
            share[lossy++] = result->arrived[i];
        }
    if (lossy < 2)
        return 0;
    fit_line(lossy, inverse, share, &buffer, &ratio);
    return ratio > 0 && ratio < 1 && buffer > 0 ? buffer : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/tcp_rtt.h"

#include "lib/base/ticks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How many times the addresses that are not known to be near are tried, each time all at once. */
enum { BATCHES = 2 };

/*
 * Most tries of a near address, and the seconds that they may take together if each takes as long
 * as the fastest. The tries end when ALIKE of them have taken at most ABOUT times the least time,
 * which is then not due to chance.
 */
enum { TRIES = 40, ALIKE = 6 };
static const double LONGEST = 3e-3, ABOUT = 1.05;

/* In seconds; addresses with longer round trips are not near. */
static const double NEAR = 1e-3;

/* Seconds of polling without sleep before sleeping, since waking up takes time. */
static const double SPIN = 500e-6;

int coll_tcp_rtt_reserve(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof address;
    int reserved = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (reserved < 0)
        return -1;
    if (bind(reserved, (struct sockaddr *)&address, length) != 0 ||
        getsockname(reserved, (struct sockaddr *)&address, &length) != 0) {
        int error = errno;
        close(reserved);
        errno = error;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return reserved;
}

bool coll_tcp_rtt_find(const char *host, int port, struct sockaddr_in *address) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    memcpy(address, found->ai_addr, sizeof *address);
    freeaddrinfo(found);
    address->sin_port = htons((uint16_t)port);
    return true;
}

/* A requested connection. */
typedef struct attempt {
    int connection; /* socket; -1: none */
    double asked;   /* time of coll_monotonic */
} attempt;

static attempt request_connection(const struct sockaddr_in *address) {
    attempt q = {socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), coll_monotonic()};
    if (q.connection >= 0 &&
        connect(q.connection, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno != EINPROGRESS && errno != ECONNREFUSED) { /* unreachable */
        close(q.connection);
        q.connection = -1;
    }
    return q;
}

/*
 * Closes an attempt. Returns its seconds if READY says that an answer has arrived, and the answer
 * comes from the host itself, which refused or accepted; else a negative number.
 */
static double finish_attempt(attempt *q, bool ready) {
    double seconds = coll_monotonic() - q->asked;
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    bool answered = ready &&
                    getsockopt(q->connection, SOL_SOCKET, SO_ERROR, &error, &length) == 0 &&
                    (error == ECONNREFUSED || error == 0);
    if (q->connection >= 0)
        close(q->connection);
    q->connection = -1;
    return answered ? seconds : -1;
}

/* Sets *LEAST to SECONDS if they are fewer, or if *LEAST is negative. Ignores negative SECONDS. */
static void keep_least(double seconds, double *least) {
    if (seconds >= 0 && (*least < 0 || seconds < *least))
        *least = seconds;
}

static double measure_one(const struct sockaddr_in *address) {
    attempt q = request_connection(address);
    struct pollfd event = {.fd = q.connection, .events = POLLOUT};
    int ready = 0;
    while (q.connection >= 0 && ready == 0 && coll_monotonic() - q.asked < SPIN)
        ready = poll(&event, 1, 0);
    if (q.connection >= 0 && ready == 0)
        ready = poll(&event, 1, 1 + (int)(1e3 * NEAR));
    return finish_attempt(&q, ready == 1);
}

/* Returns whether address I is not known to be near. */
static bool is_not_near(const double seconds[], int i) {
    return seconds[i] < 0 || seconds[i] > NEAR;
}

/*
 * Measures the near addresses until their shortest times are certain: in turn, so that a temporary
 * disturbance of this host affects all of them equally.
 */
static void measure_near(int count, const struct sockaddr_in to[], double seconds[]) {
    int alike[COLL_TCP_RTTS] = {0};
    for (int i = 0; i < TRIES * count; i++) {
        double *least = &seconds[i % count];
        const int tries = i / count;
        if (is_not_near(seconds, i % count) || alike[i % count] == ALIKE ||
            tries * *least > LONGEST)
            continue;
        double now = measure_one(&to[i % count]);
        if (now < 0 || now > ABOUT * *least)
            continue;
        alike[i % count] = ABOUT * now < *least ? 1 : alike[i % count] + 1;
        keep_least(now, least);
    }
}

/* Waits up to TIMEOUT seconds for the next answer, and records all answers that are there. Returns
 * how many are still missing; 0 if waiting is impossible. */
static int collect_answers(int count, attempt asked[], double timeout, double seconds[]) {
    struct pollfd events[COLL_TCP_RTTS];
    int missing = 0;
    for (int i = 0; i < count; i++) {
        events[i] = (struct pollfd){.fd = asked[i].connection, .events = POLLOUT};
        missing += asked[i].connection >= 0;
    }
    if (missing == 0 || (poll(events, (nfds_t)count, (int)(1e3 * timeout)) < 0 && errno != EINTR))
        return 0;
    for (int i = 0; i < count; i++) {
        if (events[i].fd < 0 || !events[i].revents)
            continue;
        keep_least(finish_attempt(&asked[i], true), &seconds[i]);
        missing--;
    }
    return missing;
}

/*
 * Tries all addresses that are not known to be near. Records answers that are there at once before
 * it tries the next address.
 */
static void measure_all(int count, const struct sockaddr_in to[], double timeout,
                        double seconds[]) {
    attempt asked[COLL_TCP_RTTS];
    for (int i = 0; i < count; i++) {
        asked[i].connection = -1;
        if (!is_not_near(seconds, i))
            continue;
        asked[i] = request_connection(&to[i]);
        (void)collect_answers(1, &asked[i], 0, &seconds[i]);
    }
    double until = coll_monotonic() + timeout, left;
    while ((left = until - coll_monotonic()) > 0 &&
           collect_answers(count, asked, left + 1e-3, seconds) > 0)
        ;
    for (int i = 0; i < count; i++)
        if (asked[i].connection >= 0)
            (void)finish_attempt(&asked[i], false);
}

void coll_tcp_rtts(int count, const struct sockaddr_in to[], double timeout, double seconds[]) {
    for (int i = 0; i < count; i++)
        seconds[i] = -1;
    for (int batch = 0; batch < BATCHES; batch++)
        measure_all(count, to, timeout, seconds);
    measure_near(count, to, seconds);
}

#include "config.h"

#include "lib/place/roundtrip.h"

#include "lib/base/monotonic.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* So often all that aren't known to be near are asked at once. */
enum { BATCHES = 2 };

/* What is near is tried so often at most, but no more once so many tries have taken about as long
 * as the fastest one: it isn't chance then. */
enum { TRIES = 40, ALIKE = 6 };
static const double ABOUT = 1.05;

/* What takes longer is not near; seconds. */
static const double NEAR = 1e-3;

/* An answer is looked for without sleep for so long, as waking up takes time; seconds. */
static const double SPIN = 500e-6;

int coll_roundtrip_reserve(int *port) {
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

bool coll_roundtrip_find(const char *host, int port, struct sockaddr_in *address) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    memcpy(address, found->ai_addr, sizeof *address);
    freeaddrinfo(found);
    address->sin_port = htons((uint16_t)port);
    return true;
}

/* A connection that was asked for. */
typedef struct question {
    int connection; /* -1: there is none */
    double asked;   /* date */
} question;

static question ask(const struct sockaddr_in *address) {
    question q = {socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), coll_monotonic()};
    if (q.connection >= 0 &&
        connect(q.connection, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno != EINPROGRESS && errno != ECONNREFUSED) { /* no way leads there */
        close(q.connection);
        q.connection = -1;
    }
    return q;
}

/* Ends a question. Returns the seconds that the answer took if READY says that it is there;
 * negative for none. */
static double end(question *q, bool ready) {
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

/* Takes SECONDS for the time in *LEAST if that is more, or none. */
static void take(double seconds, double *least) {
    if (seconds >= 0 && (*least < 0 || seconds < *least))
        *least = seconds;
}

static double ask_one(const struct sockaddr_in *address) {
    question q = ask(address);
    struct pollfd event = {.fd = q.connection, .events = POLLOUT};
    int ready = 0;
    while (q.connection >= 0 && ready == 0 && coll_monotonic() - q.asked < SPIN)
        ready = poll(&event, 1, 0);
    if (q.connection >= 0 && ready == 0)
        ready = poll(&event, 1, 1 + (int)(1e3 * NEAR));
    return end(&q, ready == 1);
}

/* Whether address I isn't known to be near. */
static bool is_open(const double seconds[], int i) {
    return seconds[i] < 0 || seconds[i] > NEAR;
}

/*
 * Tries those that are near in turns until their least times are sure: what disturbs this host for
 * a while disturbs all of them alike.
 */
static void ask_in_turns(int count, const struct sockaddr_in to[], double seconds[]) {
    int alike[COLL_ROUNDTRIPS] = {0};
    for (int i = 0; i < TRIES * count; i++) {
        double *least = &seconds[i % count];
        if (is_open(seconds, i % count) || alike[i % count] == ALIKE)
            continue;
        double now = ask_one(&to[i % count]);
        if (now < 0 || now > ABOUT * *least)
            continue;
        alike[i % count] = ABOUT * now < *least ? 1 : alike[i % count] + 1;
        take(now, least);
    }
}

/* Notes the answers that are there within PATIENCE seconds; how many are still missing. */
static int listen_for(int count, question asked[], double patience, double seconds[]) {
    struct pollfd events[COLL_ROUNDTRIPS];
    int missing = 0;
    for (int i = 0; i < count; i++) {
        events[i] = (struct pollfd){.fd = asked[i].connection, .events = POLLOUT};
        missing += asked[i].connection >= 0;
    }
    if (missing == 0 || (poll(events, (nfds_t)count, (int)(1e3 * patience)) < 0 && errno != EINTR))
        return 0;
    for (int i = 0; i < count; i++) {
        if (events[i].fd < 0 || !events[i].revents)
            continue;
        take(end(&asked[i], true), &seconds[i]);
        missing--;
    }
    return missing;
}

/* Asks all that aren't known to be near. Answers that are there at once are noted before others are
 * asked. */
static void ask_all(int count, const struct sockaddr_in to[], double patience, double seconds[]) {
    question asked[COLL_ROUNDTRIPS];
    for (int i = 0; i < count; i++) {
        asked[i].connection = -1;
        if (!is_open(seconds, i))
            continue;
        asked[i] = ask(&to[i]);
        (void)listen_for(1, &asked[i], 0, &seconds[i]);
    }
    double until = coll_monotonic() + patience, left;
    while ((left = until - coll_monotonic()) > 0 &&
           listen_for(count, asked, left + 1e-3, seconds) > 0)
        ;
    for (int i = 0; i < count; i++)
        if (asked[i].connection >= 0)
            (void)end(&asked[i], false);
}

void coll_roundtrips(int count, const struct sockaddr_in to[], double patience, double seconds[]) {
    for (int i = 0; i < count; i++)
        seconds[i] = -1;
    for (int batch = 0; batch < BATCHES; batch++)
        ask_all(count, to, patience, seconds);
    ask_in_turns(count, to, seconds);
}

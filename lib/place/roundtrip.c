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

/* So many tries; of slow ones (another site's) as many as fit into a time, but at least a few. */
enum { TRIES = 30, FEWEST = 3 };
static const double LONGEST = 50e-3; /* s */

/* An answer is looked for without sleep for so long, as waking up takes time; seconds. */
static const double SPIN = 500e-6;

/* Without an answer for so long there is none; packets that were lost are sent again after 1 s. */
enum { PATIENCE = 3500 }; /* ms */

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

/* Whether ADDRESS leads to another host. */
static bool leads_out(const struct sockaddr_in *address) {
    return ntohl(address->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
}

/* Waits for the end of a connection's beginning. */
static bool is_answered(int connection, double sent) {
    struct pollfd event = {.fd = connection, .events = POLLOUT};
    int ready = 0;
    while (ready == 0 && coll_monotonic() - sent < SPIN)
        ready = poll(&event, 1, 0);
    if (ready == 0)
        ready = poll(&event, 1, PATIENCE);
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    return ready == 1 && getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length) == 0 &&
           (error == ECONNREFUSED || error == 0);
}

/* One round trip, or a negative number. */
static double try_once(const struct sockaddr_in *address) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return -1;
    double sent = coll_monotonic();
    int refused = connect(connection, (const struct sockaddr *)address, sizeof *address);
    bool answered = refused == 0 || errno == ECONNREFUSED ||
                    (errno == EINPROGRESS && is_answered(connection, sent));
    double seconds = coll_monotonic() - sent;
    close(connection);
    return answered ? seconds : -1;
}

double coll_roundtrip(const char *host, int port) {
    struct sockaddr_in address;
    if (!coll_roundtrip_find(host, port, &address) || !leads_out(&address))
        return -1;
    double start = coll_monotonic(), least = -1;
    for (int i = 0; i < TRIES && (i < FEWEST || coll_monotonic() - start < LONGEST); i++) {
        double seconds = try_once(&address);
        if (seconds < 0)
            return -1;
        least = least < 0 || seconds < least ? seconds : least;
    }
    return least;
}

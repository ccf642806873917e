/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/socket_wakeup.h"

#include "lib/base/descriptors.h"
#include "lib/base/ticks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two searches for new connections. */
#define FIRST_PAUSE 5e-3
static const double LONGEST_PAUSE = 1;

/*
 * State of the process. The lock guards the two times and changes of HAS_CONNECTIONS. The epoll
 * descriptor never changes after it has been opened.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int epoll = -1;
static _Atomic bool has_connections;
static double next_search,
    pause_between = FIRST_PAUSE; /* a time of the monotonic clock, and a duration in seconds */

/* This process's wake-up, and the socket that receives its notifications and notifies others. */
static coll_wakeup *_Atomic own;
static _Atomic int notifications = -1;

static void open_epoll(void) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
}

static bool is_tcp_connection(int descriptor) {
    int type = 0;
    struct sockaddr_storage peer;
    socklen_t size = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
        return false;
    size = sizeof peer;
    return getpeername(descriptor, (struct sockaddr *)&peer, &size) == 0 &&
           (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

/*
 * If DESCRIPTOR is a TCP connection that is not in the epoll set, adds it and sets the bool FOUND.
 * Edge-triggered, because data that the MPI library leaves unread must not end every sleep.
 */
static bool add_new_connection(void *found, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    if (is_tcp_connection(descriptor) && epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0)
        *(bool *)found = true;
    return true;
}

/*
 * Searches for new connections if it is time to. MPI libraries connect on first use, so the
 * searches go on, less often while nothing is new.
 */
static void search_if_due(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (coll_monotonic() >= next_search) {
        bool found = false;
        coll_descriptors_visit(add_new_connection, &found); /* the kernel removes closed ones */
        has_connections = has_connections || found;
        pause_between = found ? FIRST_PAUSE : fmin(2 * pause_between, LONGEST_PAUSE);
        next_search = coll_monotonic() + pause_between;
    }
    pthread_mutex_unlock(&lock);
}

/*
 * Opens a datagram socket with an abstract name that the kernel chooses, and writes the name to
 * NAME, which has ROOM bytes. Returns the descriptor, or -1.
 */
static int open_socket(char *name, size_t room) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = sizeof address;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0)
        return -1;
    if (bind(made, (struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
        getsockname(made, (struct sockaddr *)&address, &size) != 0 ||
        size - offsetof(struct sockaddr_un, sun_path) - 1 >= room ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, made, &event) != 0) {
        close(made);
        return -1;
    }
    size_t length = size - offsetof(struct sockaddr_un, sun_path) - 1;
    memcpy(name, address.sun_path + 1, length);
    name[length] = '\0';
    return made;
}

void coll_wakeup_install(coll_wakeup *wakeup) {
    pthread_once(&once, open_epoll);
    own = NULL;
    if (notifications >= 0)
        close(notifications);
    notifications = wakeup && epoll >= 0 ? open_socket(wakeup->name, sizeof wakeup->name) : -1;
    own = notifications >= 0 ? wakeup : NULL;
}

void coll_wakeup_announce(bool asleep) {
    coll_wakeup *wakeup = own;
    if (wakeup)
        wakeup->asleep = asleep;
}

/*
 * A notification that cannot be sent is harmless: either the socket's queue holds other
 * notifications, or the owner's sleep times out.
 */
void coll_wakeup_send(const coll_wakeup *other) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strnlen(other->name, sizeof other->name);
    memcpy(address.sun_path + 1, other->name, length);
    if (notifications >= 0 && length)
        (void)sendto(notifications, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
}

static bool sleep_blindly(double seconds) {
    coll_sleep(seconds);
    return false;
}

/* Waits for up to MOST events, at most SECONDS, and returns their number; -1 if the C library or
 * the kernel (before 5.11) lacks epoll_pwait2, or after a signal. */
static int wait_for_events(struct epoll_event events[], int most, double seconds) {
#ifdef HAVE_EPOLL_PWAIT2
    const struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    return epoll_pwait2(epoll, events, most, &time, NULL);
#else
    (void)events, (void)most, (void)seconds;
    errno = ENOSYS;
    return -1;
#endif
}

bool coll_wakeup_sleep(double seconds) {
    pthread_once(&once, open_epoll);
    coll_wakeup *wakeup = own;
    if (!has_connections)
        search_if_due();
    if (epoll < 0 || (!has_connections && !wakeup))
        return sleep_blindly(seconds);

    struct epoll_event events[16];
    int count = wait_for_events(events, sizeof events / sizeof *events, seconds);
    const bool failed = count < 0 && errno != EINTR;
    char received;
    while (wakeup && recv(notifications, &received, sizeof received, MSG_DONTWAIT) >= 0)
        ; /* discards all notifications: the socket's queue is short */
    if (failed)
        return sleep_blindly(seconds);
    if (count == 0)
        search_if_due();
    return count > 0;
}

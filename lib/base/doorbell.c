#include "config.h"

#include "lib/base/doorbell.h"

#include "lib/base/monotonic.h"

#include <time.h>

static bool sleep_blindly(double seconds) {
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL); /* a signal may cut it short: the next test comes earlier */
    return false;
}

#ifdef HAVE_EPOLL_PWAIT2

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Seconds between two searches for new connections. */
#define FIRST_PAUSE 5e-3
static const double LONGEST_PAUSE = 1;

/* One for the process. The lock guards all but the epoll descriptor, which never changes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int watch = -1;
static _Atomic bool has_connections;
static double next_search,
    pause_between = FIRST_PAUSE; /* date, and seconds, of the monotonic clock */

static void open_watch(void) {
    watch = epoll_create1(EPOLL_CLOEXEC);
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
 * Watches the connections that are new; says whether there were any. Those that are closed leave by
 * themselves. Edges, not levels: data that the MPI library leaves unread must not ring for ever.
 */
static bool search(void) {
    DIR *descriptors = opendir("/proc/self/fd");
    bool found = false;
    if (!descriptors)
        return false;
    for (const struct dirent *entry; (entry = readdir(descriptors));) {
        int descriptor = atoi(entry->d_name);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
        if (entry->d_name[0] != '.' && is_tcp_connection(descriptor) &&
            epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) == 0)
            found = true;
    }
    closedir(descriptors);
    return found;
}

/* MPI libraries connect on first use: searches again, less and less often while nothing is new. */
static void search_in_time(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (coll_monotonic() >= next_search) {
        bool found = search();
        has_connections = has_connections || found;
        pause_between = found ? FIRST_PAUSE : fmin(2 * pause_between, LONGEST_PAUSE);
        next_search = coll_monotonic() + pause_between;
    }
    pthread_mutex_unlock(&lock);
}

bool coll_doorbell_sleep(double seconds) {
    pthread_once(&once, open_watch);
    if (!has_connections)
        search_in_time();
    if (watch < 0 || !has_connections)
        return sleep_blindly(seconds);

    struct epoll_event events[16];
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    int count = epoll_pwait2(watch, events, sizeof events / sizeof *events, &time, NULL);
    if (count < 0 && errno != EINTR)
        return sleep_blindly(seconds); /* a kernel before 5.11 */
    if (count == 0)
        search_in_time();
    return count > 0;
}

#else

bool coll_doorbell_sleep(double seconds) {
    return sleep_blindly(seconds);
}

#endif

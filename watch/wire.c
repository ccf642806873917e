/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/wire.h"

#include "watch/local_name.h"
#include "watch/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Precedes each question and each answer. */
typedef struct header {
    uint32_t magic;
    uint16_t kind, answer; /* ANSWER is 1 in answers, so that no answer can be replayed as a
                              question */
    uint64_t length;
    uint64_t code; /* authentication code */
} header;
enum { MAGIC = 0x77434f4c, SERVED = 128, SHORT = 4096, PATIENCE = 3000 /* ms */ };
/* If more connections than this are waiting, the host seems to be unreachable. */
enum { BACKLOG = 1024 };

struct watch_link {
    enum { FREE, ASKING, SERVING, LOCAL } role;
    bool connected, handed; /* HANDED: the question is sent (ASKING) or passed to the user (SERVING,
                               LOCAL) */
    bool refused;           /* nobody listens at the other end */
    bool gone;              /* the other end has closed and doesn't wait for the answer */
    int fd, kind;
    watch_timeouts timeouts; /* with ASKING */
    watch_answered *answered;
    void *context;
    uint64_t nonce, deadline, began;
    char *in, *out;
    size_t got, room, sent, left;
};

static watch_link links[WATCH_LINKS];
static int listener = -1, local = -1, wakeup = -1;
static watch_wire_user user;
static watch_secret secret;
static bool trusted;
static int questions;

static uint64_t milliseconds_now(void) {
    return coll_nanoseconds() / 1000000;
}

static void release_link(watch_link *link) {
    if (link->role == ASKING)
        questions--;
    close(link->fd);
    free(link->in);
    free(link->out);
    *link = (watch_link){.role = FREE, .fd = -1};
}

/* Releases LINK. If a question was asked on it, calls its callback without an answer. */
static void fail_link(watch_link *link) {
    watch_answered *answered = link->role == ASKING ? link->answered : NULL;
    void *context = link->context;
    watch_silence silence = link->refused     ? WATCH_NO_LISTENER
                            : link->connected ? WATCH_NO_ANSWER
                                              : WATCH_NO_HOST;
    release_link(link);
    if (answered)
        answered(context, NULL, silence);
}

static uint64_t authentication_code(const header *head, uint64_t nonce, const void *data) {
    header bare = *head;
    bare.code = 0;
    uint64_t seed = watch_auth_code(&secret, nonce, &bare, sizeof bare);
    return watch_auth_code(&secret, seed, data, head->length);
}

static watch_link *find_free_link(void) {
    for (int i = 0; i < WATCH_LINKS; i++)
        if (links[i].role == FREE)
            return &links[i];
    return NULL;
}

static bool queue_bytes(watch_link *link, const void *data, size_t length) {
    char *grown = realloc(link->out, link->left + length);
    if (!grown)
        return false;
    memcpy(grown + link->left, data, length);
    link->out = grown;
    link->left += length;
    return true;
}

static bool queue_message(watch_link *link, bool answer, const void *data, size_t length) {
    header head = {
        .magic = MAGIC, .kind = (uint16_t)link->kind, .answer = answer, .length = length};
    head.code = authentication_code(&head, link->nonce, data);
    return queue_bytes(link, &head, sizeof head) && queue_bytes(link, data, length);
}

static int listen_on(int family, const void *name, socklen_t length) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, name, length) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool watch_wire_open(const struct in_addr *address, uint16_t *port, const watch_wire_user *served) {
    struct sockaddr_in name = {.sin_family = AF_INET};
    struct sockaddr_un local_name;
    socklen_t length = sizeof name;
    for (int i = 0; i < WATCH_LINKS; i++)
        links[i] = (watch_link){.role = FREE, .fd = -1};
    user = *served;
    wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (address) {
        name.sin_addr = *address;
        listener = listen_on(AF_INET, &name, sizeof name);
    }
    size_t local_length = watch_local_name(getpid(), &local_name);
    local =
        /* if this fails, only coll-watch gets no reports */
        listen_on(AF_UNIX, &local_name, (socklen_t)local_length);
    bool listens = listener >= 0 && getsockname(listener, (struct sockaddr *)&name, &length) == 0;
    *port = listens ? ntohs(name.sin_port) : 0;
    if (wakeup < 0)
        watch_wire_close();
    return wakeup >= 0;
}

void watch_wire_trust(const watch_secret *job) {
    secret = *job;
    trusted = true;
}

void watch_wire_drop(void) {
    int *const all[] = {&listener, &local, &wakeup};
    for (int i = 0; i < 3; i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
    for (int i = 0; i < WATCH_LINKS; i++)
        if (links[i].role != FREE)
            close(links[i].fd);
}

void watch_wire_close(void) {
    for (int i = 0; i < WATCH_LINKS; i++)
        if (links[i].role != FREE)
            fail_link(&links[i]);
    watch_wire_drop();
}

/*
 * Returns a link for one more accepted connection, or NULL. If there are too many connections,
 * closes the oldest one that has not sent its question, so that a flood of foreign connections
 * displaces no question that has arrived.
 */
static watch_link *link_to_serve(void) {
    watch_link *oldest = NULL;
    int served = 0;
    for (int i = 0; i < WATCH_LINKS; i++) {
        if (links[i].role != SERVING && links[i].role != LOCAL)
            continue;
        served++;
        if (!links[i].handed && (!oldest || links[i].began < oldest->began))
            oldest = &links[i];
    }
    if (served >= SERVED) {
        if (!oldest)
            return NULL;
        release_link(oldest);
    }
    return find_free_link();
}

static void accept_connections(int from, bool is_local) {
    for (int i = 0; i < SERVED; i++) {
        int fd = accept4(from, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        struct ucred peer = {.uid = (uid_t)-1};
        socklen_t length = sizeof peer;
        bool welcome = !is_local || (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
                                     (peer.uid == geteuid() || peer.uid == 0));
        watch_link *link = welcome ? link_to_serve() : NULL;
        if (!link) {
            close(fd);
            continue;
        }
        uint64_t now = milliseconds_now();
        *link = (watch_link){.role = is_local ? LOCAL : SERVING,
                             .fd = fd,
                             .connected = true,
                             .nonce = watch_auth_nonce(),
                             .began = now,
                             .deadline = now + PATIENCE};
        if (!is_local && !queue_bytes(link, &link->nonce, sizeof link->nonce))
            release_link(link);
    }
}

void watch_wire_ask(const struct sockaddr_in *there, const watch_question *question,
                    watch_answered *answered, void *context) {
    watch_link *link = find_free_link();
    int fd = link ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd < 0) {
        answered(context, NULL, WATCH_NO_ANSWER); /* the reason is on this side */
        return;
    }
    size_t length = question->length;
    uint64_t now = milliseconds_now();
    *link = (watch_link){.role = ASKING,
                         .fd = fd,
                         .kind = question->kind,
                         .timeouts = question->timeouts,
                         .answered = answered,
                         .context = context,
                         .began = now,
                         .deadline = now + (uint64_t)question->timeouts.connect};
    questions++;
    /* Keep the question until the nonce arrives. */
    link->in = malloc(sizeof(uint64_t) + length);
    link->room = length;
    if (link->in)
        memcpy(link->in, question->data, length);
    int code = connect(fd, (const struct sockaddr *)there, sizeof *there);
    link->refused = code != 0 && errno == ECONNREFUSED;
    if (!link->in || (code != 0 && errno != EINPROGRESS))
        fail_link(link);
}

int watch_wire_open_questions(void) {
    return questions;
}

void watch_wire_answer(watch_link *link, const void *data, size_t length) {
    if (link->gone) {
        release_link(link);
        return;
    }
    bool queued = link->role == LOCAL ? queue_bytes(link, data, length)
                                      : queue_message(link, true, data, length);
    link->deadline = milliseconds_now() + 5 * PATIENCE;
    link->connected = true;
    if (!queued)
        fail_link(link);
}

/* --- Incoming data --- */

/* Returns how many bytes to read next: 0 if the message is complete, -1 if it is invalid. */
static int64_t missing_bytes(const watch_link *link, size_t longest) {
    header head;
    if (link->got < sizeof head)
        return (int64_t)(sizeof head - link->got);
    memcpy(&head, link->in, sizeof head);
    if (head.magic != MAGIC || head.length > longest || head.answer != (link->role == ASKING) ||
        link->got > sizeof head + head.length)
        return -1;
    return (int64_t)(sizeof head + head.length - link->got);
}

/* Copies the header of a complete message. Returns whether its authentication code is correct. */
static bool is_signed(const watch_link *link, header *head) {
    memcpy(head, link->in, sizeof *head);
    return trusted && authentication_code(head, link->nonce, link->in + sizeof *head) == head->code;
}

static void handle_question(watch_link *link) {
    header head;
    if (!is_signed(link, &head)) {
        release_link(link);
        return;
    }
    link->kind = head.kind;
    link->handed = true;
    link->deadline = UINT64_MAX;
    user.asked(link, head.kind, link->in + sizeof head, head.length);
}

static void handle_answer(watch_link *link) {
    header head;
    if (!is_signed(link, &head)) {
        fail_link(link);
        return;
    }
    char *in = link->in;
    watch_answered *answered = link->answered;
    void *context = link->context;
    link->in = NULL;
    release_link(link);
    answered(context, in + sizeof head, head.length);
    free(in);
}

static void handle_line(watch_link *link) {
    char *end = memchr(link->in, '\n', link->got);
    if (!end)
        return;
    *end = '\0';
    link->handed = true;
    link->deadline = UINT64_MAX;
    user.told(link, link->in);
}

/* Sends the question after the whole nonce has arrived. */
static void send_question(watch_link *link) {
    char *question = link->in;
    size_t length = link->room;
    link->in = NULL;
    link->got = link->room = 0;
    bool queued = queue_message(link, false, question, length);
    free(question);
    link->handed = true;
    link->deadline = milliseconds_now() + (uint64_t)link->timeouts.answer;
    if (!queued)
        fail_link(link);
}

static bool read_nonce(watch_link *link) {
    ssize_t got =
        recv(link->fd, (char *)&link->nonce + link->got, sizeof link->nonce - link->got, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        fail_link(link);
        return false;
    }
    link->got += (size_t)got;
    return link->got == sizeof link->nonce;
}

static void read_from_link(watch_link *link) {
    if (link->role == ASKING && !link->handed) {
        if (read_nonce(link))
            send_question(link);
        return;
    }
    size_t longest = link->role == ASKING ? WATCH_LONGEST : SHORT;
    for (;;) {
        int64_t more =
            link->role == LOCAL ? (int64_t)(SHORT - link->got) : missing_bytes(link, longest);
        if (more < 0 || (link->role == LOCAL && more == 0)) {
            fail_link(link);
            return;
        }
        if (more == 0)
            break;
        if (link->got + (size_t)more > link->room) {
            char *grown = realloc(link->in, link->got + (size_t)more);
            if (!grown) {
                fail_link(link);
                return;
            }
            link->in = grown;
            link->room = link->got + (size_t)more;
        }
        ssize_t got = recv(link->fd, link->in + link->got, (size_t)more, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0) {
            fail_link(link);
            return;
        }
        link->got += (size_t)got;
        if (link->role == LOCAL) {
            handle_line(link);
            return;
        }
    }
    if (link->role == ASKING)
        handle_answer(link);
    else
        handle_question(link);
}

static void write_to_link(watch_link *link) {
    link->connected = true;
    while (link->sent < link->left) {
        ssize_t sent =
            send(link->fd, link->out + link->sent, link->left - link->sent, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (sent <= 0) {
            fail_link(link);
            return;
        }
        link->sent += (size_t)sent;
    }
    free(link->out);
    link->out = NULL;
    link->sent = link->left = 0;
    /* After the answer, the connection is over. */
    if (link->role != ASKING && link->handed)
        release_link(link);
}

static short events_of(const watch_link *link) {
    bool writes = link->left > 0 || !link->connected;
    bool reads = link->role == ASKING ? link->connected : !link->handed;
    return (short)((writes ? POLLOUT : 0) | (reads ? POLLIN : 0));
}

static void handle_events(watch_link *link, short events) {
    if (link->role == ASKING && !link->connected) {
        int problem = 0;
        socklen_t length = sizeof problem;
        if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &problem, &length) != 0 || problem) {
            link->refused = problem == ECONNREFUSED;
            fail_link(link);
            return;
        }
        link->connected = true;
        link->deadline = milliseconds_now() + (uint64_t)link->timeouts.hello;
    } else if (events & (POLLIN | POLLERR | POLLHUP) && (events_of(link) & POLLIN)) {
        read_from_link(link);
        return;
    } else if (events & (POLLERR | POLLHUP)) {
        /* The other end no longer waits for the answer. But the user may still hold the link. */
        link->gone = link->role != ASKING && link->handed && !link->left;
        if (!link->gone)
            fail_link(link);
        return;
    }
    if (events & POLLOUT)
        write_to_link(link);
}

static void fail_expired_links(uint64_t now) {
    for (int i = 0; i < WATCH_LINKS; i++)
        if (links[i].role != FREE && links[i].deadline <= now)
            fail_link(&links[i]);
}

void watch_wire_turn(int milliseconds) {
    enum { FIXED = 3 };
    struct pollfd polled[FIXED + WATCH_LINKS] = {{.fd = wakeup, .events = POLLIN},
                                                 {.fd = listener, .events = POLLIN},
                                                 {.fd = local, .events = POLLIN}};
    watch_link *link_at[FIXED + WATCH_LINKS];
    nfds_t count = FIXED;
    uint64_t now = milliseconds_now(), next = UINT64_MAX;
    for (int i = 0; i < WATCH_LINKS; i++) {
        if (links[i].role == FREE)
            continue;
        link_at[count] = &links[i];
        polled[count++] =
            (struct pollfd){.fd = links[i].gone ? -1 : links[i].fd, .events = events_of(&links[i])};
        next = links[i].deadline < next ? links[i].deadline : next;
    }
    if (next != UINT64_MAX) {
        uint64_t left = next > now ? next - now : 0;
        milliseconds = milliseconds < 0 || left < (uint64_t)milliseconds ? (int)left : milliseconds;
    }
    int ready = poll(polled, count, milliseconds);
    if (ready > 0) {
        uint64_t wakeups;
        if (polled[0].revents && read(wakeup, &wakeups, sizeof wakeups) < 0)
            wakeups = 0; /* the event was already consumed */
        if (polled[1].revents)
            accept_connections(listener, false);
        if (polled[2].revents)
            accept_connections(local, true);
        /* An earlier iteration may have given the link to another connection. */
        for (nfds_t i = FIXED; i < count; i++)
            if (polled[i].revents && link_at[i]->role != FREE && link_at[i]->fd == polled[i].fd)
                handle_events(link_at[i], polled[i].revents);
    }
    fail_expired_links(milliseconds_now());
}

void watch_wire_wake(void) {
    uint64_t one = 1;
    if (wakeup >= 0 && write(wakeup, &one, sizeof one) < 0)
        return; /* a wake-up is already pending */
}

/* --- Called by the program's threads --- */

bool watch_wire_reaches(const struct sockaddr_in *there, int milliseconds) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd connects = {.fd = fd, .events = POLLOUT};
    int problem = 0;
    socklen_t length = sizeof problem;
    if (fd < 0)
        return false;
    bool reached = (connect(fd, (const struct sockaddr *)there, sizeof *there) == 0 ||
                    (errno == EINPROGRESS && poll(&connects, 1, milliseconds) == 1)) &&
                   getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 && problem == 0;
    close(fd);
    return reached;
}

void watch_wire_tell(const struct sockaddr_in *there, int kind, const void *data, size_t length,
                     int milliseconds) {
    struct timeval limit = {.tv_usec = milliseconds * 1000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint64_t nonce;
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)there, sizeof *there) == 0 &&
        recv(fd, &nonce, sizeof nonce, MSG_WAITALL) == sizeof nonce) {
        header head = {.magic = MAGIC, .kind = (uint16_t)kind, .length = length};
        head.code = authentication_code(&head, nonce, data);
        if (send(fd, &head, sizeof head, MSG_NOSIGNAL | MSG_MORE) == sizeof head &&
            send(fd, data, length, MSG_NOSIGNAL) == (ssize_t)length)
            recv(fd, &head, sizeof head, MSG_WAITALL); /* confirms the receipt */
    }
    close(fd);
}

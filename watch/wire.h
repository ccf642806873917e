/*
 * Messages between watchers, and from coll-watch: connections of which each carries one question
 * and its answer, all served by one thread that never waits for one of them.
 *
 * Who accepts a connection sends a nonce; a question and its answer carry their sum with it by the
 * job's secret (secret.h). On the local socket of each process coll-watch of the same user, which
 * the kernel vouches for, asks by a line of text.
 */
#ifndef COLL_WATCH_WIRE_H
#define COLL_WATCH_WIRE_H

#include "watch/secret.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WATCH_LINKS = 256, WATCH_LONGEST = 1 << 20 };

typedef struct watch_link watch_link;

/* What is known where no answer comes. */
typedef enum watch_silence {
    WATCH_NO_HOST,     /* nothing has come from there */
    WATCH_NO_ANSWER,   /* the host has taken the connection */
    WATCH_NO_LISTENER, /* the host says that nobody listens there */
} watch_silence;

/* What the one that serves does. All may be called from within watch_wire_turn alone. */
typedef struct watch_wire_user {
    /* A question of KIND from another watcher; the answer, of KIND, is sent by watch_wire_answer.
     */
    void (*asked)(watch_link *link, int kind, const void *data, size_t length);
    /* A line from coll-watch; ended by watch_wire_answer too, with plain text. */
    void (*told)(watch_link *link, const char *line);
    /*
     * The answer to a question that watch_wire_ask sent. With DATA of NULL there is none, and
     * LENGTH is a watch_silence.
     */
    void (*answered)(int kind, int rank, const void *data, size_t length);
} watch_wire_user;

/*
 * Listens on ADDRESS, at a port that *PORT becomes, and on the local socket of this process. False:
 * the system doesn't let it.
 */
bool watch_wire_open(struct in_addr address, uint16_t *port, const watch_wire_user *user);

/* What questions are signed with; before it is set, all are refused. */
void watch_wire_trust(const watch_secret *secret);

void watch_wire_close(void);

/* Closes what a forked process has inherited. */
void watch_wire_drop(void);

/* Asks the watcher at THERE; `answered` is called with KIND and RANK, within MILLISECONDS. */
void watch_wire_ask(const struct sockaddr_in *there, int kind, int rank, const void *data,
                    size_t length, int milliseconds);

/* How many questions wait for their answers. */
int watch_wire_open_questions(void);

void watch_wire_answer(watch_link *link, const void *data, size_t length);

/* Waits at most MILLISECONDS (-1: any time) for something to happen, or for watch_wire_wake. */
void watch_wire_turn(int milliseconds);

/* From any thread. */
void watch_wire_wake(void);

/* Sends a question and waits for no answer, on the calling thread, at most MILLISECONDS. */
void watch_wire_tell(const struct sockaddr_in *there, int kind, const void *data, size_t length,
                     int milliseconds);

#endif

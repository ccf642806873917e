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

enum { WATCH_LINKS = 256, WATCH_QUESTIONS = 96, WATCH_LONGEST = 1 << 26 };

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
} watch_wire_user;

/* How long to wait for each step of an answer, in milliseconds. */
typedef struct watch_patience {
    int connect; /* the other host's kernel takes the connection */
    int hello;   /* the watcher there says its nonce: it is alive */
    int answer;
} watch_patience;

typedef struct watch_question {
    int kind;
    const void *data;
    size_t length;
    watch_patience patience;
} watch_question;

/*
 * What takes the answer to a question about OF. With DATA of NULL there is none, and LENGTH is a
 * watch_silence.
 */
typedef void watch_answered(void *of, const void *data, size_t length);

/*
 * Listens on ADDRESS, at a port that *PORT becomes, and on the local socket of this process. PORT
 * is 0 where ADDRESS is NULL or nobody may listen there. False: the system lets it do nothing.
 */
bool watch_wire_open(const struct in_addr *address, uint16_t *port, const watch_wire_user *user);

/* Whether somebody listens at THERE; takes at most MILLISECONDS. From any thread. */
bool watch_wire_reaches(const struct sockaddr_in *there, int milliseconds);

/* What questions are signed with; before it is set, all are refused. */
void watch_wire_trust(const watch_secret *secret);

void watch_wire_close(void);

/* Closes what a forked process has inherited. */
void watch_wire_drop(void);

/*
 * Asks the watcher at THERE; ANSWERED is called once, perhaps at once. At most WATCH_QUESTIONS
 * should be open at a time.
 */
void watch_wire_ask(const struct sockaddr_in *there, const watch_question *question,
                    watch_answered *answered, void *of);

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

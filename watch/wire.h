/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections between watchers, and from coll-watch. Each connection is used for one question and
 * its answer. One thread serves all connections and never blocks on one of them.
 *
 * The accepting side sends a nonce. Questions and answers carry an authentication code that covers
 * this nonce and is computed with the job's secret (auth.h). On the local socket of each process,
 * coll-watch sends a line of text as its question; the kernel confirms that the same user (or root)
 * runs coll-watch.
 */
#ifndef COLL_WATCH_WIRE_H
#define COLL_WATCH_WIRE_H

#include "watch/auth.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WATCH_LINKS = 256, WATCH_QUESTIONS = 96, WATCH_LONGEST = 1 << 26 };

typedef struct watch_link watch_link;

/* Why there is no answer. */
typedef enum watch_silence {
    WATCH_NO_HOST,     /* nothing has come from the host */
    WATCH_NO_ANSWER,   /* the host has accepted the connection, but no answer has come */
    WATCH_NO_LISTENER, /* the host says that nobody listens there */
} watch_silence;

/* Functions that handle questions. They are only called from within watch_wire_turn. */
typedef struct watch_wire_user {
    /*
     * Handles a question of KIND from another watcher; watch_wire_answer sends the answer, also of
     * KIND.
     */
    void (*asked)(watch_link *link, int kind, const void *data, size_t length);
    /* Handles a line from coll-watch; watch_wire_answer sends the answer, as plain text. */
    void (*told)(watch_link *link, const char *line);
} watch_wire_user;

/* Timeouts for each step of a question, in milliseconds. */
typedef struct watch_timeouts {
    int connect; /* until the other host's kernel accepts the connection */
    int hello;   /* until the watcher there sends its nonce, and so is alive */
    int answer;
} watch_timeouts;

typedef struct watch_question {
    int kind;
    const void *data;
    size_t length;
    watch_timeouts timeouts;
} watch_question;

/*
 * Receives the answer to a question, and the CONTEXT of watch_wire_ask. If there is no answer, DATA
 * is NULL and LENGTH is a watch_silence.
 */
typedef void watch_answered(void *context, const void *data, size_t length);

/*
 * Listens on ADDRESS, at a free port, which is stored in *PORT, and on the local socket of this
 * process. *PORT is 0 if ADDRESS is NULL or listening there fails. Returns false if there is no
 * event descriptor to wake the watcher's thread.
 */
bool watch_wire_open(const struct in_addr *address, uint16_t *port, const watch_wire_user *user);

/*
 * Returns whether THERE accepts connections. Takes at most MILLISECONDS. May be called from any
 * thread.
 */
bool watch_wire_reaches(const struct sockaddr_in *there, int milliseconds);

/* Sets the secret that authenticates messages. Until it is set, all questions are refused. */
void watch_wire_trust(const watch_secret *secret);

void watch_wire_close(void);

/* Closes all sockets in a forked process, which has inherited them. */
void watch_wire_drop(void);

/*
 * Asks the watcher at THERE. ANSWERED is called exactly once, perhaps before this function returns.
 * At most WATCH_QUESTIONS questions should be open at a time.
 */
void watch_wire_ask(const struct sockaddr_in *there, const watch_question *question,
                    watch_answered *answered, void *context);

/* Returns how many questions wait for their answers. */
int watch_wire_open_questions(void);

void watch_wire_answer(watch_link *link, const void *data, size_t length);

/*
 * Waits at most MILLISECONDS (-1: without limit) for network events or watch_wire_wake, and handles
 * them.
 */
void watch_wire_turn(int milliseconds);

/* Ends the current or next wait of watch_wire_turn. May be called from any thread. */
void watch_wire_wake(void);

/*
 * Sends a question from the calling thread and waits until the other side confirms it, at most
 * MILLISECONDS for each step.
 */
void watch_wire_tell(const struct sockaddr_in *there, int kind, const void *data, size_t length,
                     int milliseconds);

#endif

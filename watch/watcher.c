/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/watcher.h"

#include "watch/files.h"
#include "watch/gather_states.h"
#include "watch/job.h"
#include "watch/reporter.h"
#include "watch/stack.h"
#include "watch/timeout.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t thread;
static bool runs;
static volatile bool ends;

typedef struct leave_message {
    int32_t rank, status;
} leave_message;

static void handle_question(watch_link *link, int kind, const void *data, size_t length) {
    watch_process process;
    watch_alarm alarm;
    leave_message leave;
    if (kind == WATCH_ASK_STATES || kind == WATCH_ASK_SAMPLES) {
        if (kind == WATCH_ASK_STATES)
            watch_reporter_seen();
        watch_gather_states_answer(link, kind == WATCH_ASK_SAMPLES, data, length);
    } else if (kind == WATCH_ASK_LOOK && length == sizeof process) {
        memcpy(&process, data, length);
        int32_t fate = (int32_t)watch_host_look(process);
        watch_wire_answer(link, &fate, sizeof fate);
    } else if (kind == WATCH_ALARM && length == sizeof alarm) {
        memcpy(&alarm, data, length);
        alarm.text[sizeof alarm.text - 1] = '\0';
        watch_wire_answer(link, "", 1);
        watch_reporter_heed(&alarm);
    } else if (kind == WATCH_LEFT_JOB && length == sizeof leave) {
        memcpy(&leave, data, length);
        watch_reporter_left(leave.rank, leave.status);
        watch_wire_answer(link, "", 1);
    } else {
        watch_wire_answer(link, "", 0);
    }
}

/* Answers a question in a file, which is equivalent to WATCH_ASK_STATES or WATCH_ASK_SAMPLES. */
static void answer_question_in_file(void) {
    bool sample;
    if (!watch_files_asked(&sample))
        return;
    if (!sample)
        watch_reporter_seen();
    size_t length = 0;
    char *bytes = watch_gather_states_own(sample, &length);
    if (bytes)
        watch_files_answer(bytes, length);
    free(bytes);
}

static void *run_watcher(void *unused) {
    while (!ends) {
        answer_question_in_file();
        int pause = watch_timeout_check();
        bool gathering_goes_on = watch_gather_states_go_on();
        bool report_goes_on = watch_reporter_go_on();
        watch_wire_turn(gathering_goes_on || report_goes_on ? 0 : watch_files_pause(pause));
    }
    return unused;
}

/* --- Called by the program's threads --- */

bool watch_watcher_open(const struct in_addr *address, watch_peer *self) {
    static const watch_wire_user user = {.asked = handle_question, .told = watch_reporter_told};
    *self = (watch_peer){.process = watch_host_self()};
    if (address)
        self->address = *address;
    if (gethostname(self->host_name, sizeof self->host_name - 1) != 0)
        snprintf(self->host_name, sizeof self->host_name, "?");
    self->host = watch_host_id(self->host_name);
    return watch_wire_open(address, &self->port, &user);
}

bool watch_watcher_reaches(const watch_peer *peer) {
    enum { TRIES = 3, PATIENCE = 700 /* ms */ };
    struct sockaddr_in there = watch_job_address(peer);
    for (int i = 0; peer->port && i < TRIES; i++) /* a packet may be lost */
        if (watch_wire_reaches(&there, PATIENCE))
            return true;
    return false;
}

bool watch_watcher_start(const watch_settings *settings, int rank, int ranks,
                         const watch_peer *peers, const watch_secret *secret) {
    watch_own = (watch_job){.settings = settings,
                            .peers = peers,
                            .rank = rank,
                            .ranks = ranks,
                            .thread = (int)gettid()};
    if (!watch_reporter_begin())
        return false;
    watch_wire_trust(secret);
    watch_stack_begin();
    sigset_t every, before;
    sigfillset(&every);
    /* the watcher's thread must not handle the program's signals */
    pthread_sigmask(SIG_SETMASK, &every, &before);
    runs = pthread_create(&thread, NULL, run_watcher, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

void watch_watcher_end(void) {
    if (runs) {
        ends = true;
        watch_wire_wake();
        pthread_join(thread, NULL);
        runs = false;
    }
    watch_wire_close();
    watch_reporter_end();
}

void watch_watcher_leave(int status) {
    leave_message leave = {.rank = watch_own.rank, .status = status};
    int to = watch_own.rank == 0 ? 1 : 0;
    if (runs && to < watch_own.ranks)
        watch_job_tell(to, WATCH_LEFT_JOB, &leave, sizeof leave);
}

void watch_watcher_failed(const char *text) {
    if (!runs)
        return;
    watch_timeout_call_failed(text);
    sleep(1);
}

void watch_watcher_forked(void) {
    runs = false;
    watch_wire_drop();
}

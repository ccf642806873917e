#include "config.h"

#include "watch/watcher.h"

#include "watch/report.h"
#include "watch/stack.h"
#include "watch/state.h"
#include "watch/ticks.h"
#include "watch/wire.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Questions between watchers. */
enum { ASK_STATE = 1, ASK_SAMPLE, ASK_LOOK, ALARM, LEFT };

/* A rank's call lasts too long, or has failed. */
typedef struct alarm_message {
    int32_t rank, failed;
    uint64_t age; /* ns */
    char text[160];
} alarm_message;

typedef struct leave_message {
    int32_t rank, status;
} leave_message;

/*
 * Timing, in milliseconds. An answer takes longer where many ranks share a processor. A rank that
 * has not answered is asked a second time: one packet may be lost. Ranks with higher numbers wait a
 * little before they raise an alarm: most of them are asked by then, and needn't.
 */
enum { ANSWER = 400, ANSWER_PER_RANK = 8, LONGEST_ANSWER = 1500, LOOK = 250, WINDOW = 96 };
enum { ROUNDS = 2, STAGGER = 5, LONGEST_STAGGER = 500 };
static const uint64_t SECOND = 1000000000;

static const watch_settings *settings;
static const watch_peer *peers;
static int rank, ranks, thread_of_program;
static pthread_t thread;
static bool runs;
static volatile bool ends;

/* What others have told. */
static int *left_status; /* of exit, by rank; -1: it hasn't said that it leaves */

/* A failure on the program's thread, for the watcher's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static alarm_message failure;
static bool failed;

/* The one gathering of states at a time, and whom it is for. */
enum { CLIENTS = 8 };
typedef enum watch_form { TEXT, JSON, SAMPLE } watch_form;
static struct {
    enum { IDLE, ASKING, LOOKING } phase;
    watch_state *states;
    unsigned char *silence; /* watch_silence of each rank */
    int next, open, round;
    bool for_job; /* its report goes to stderr */
    bool sample;  /* without stacks */
    uint64_t begun;
    alarm_message cause;
    struct {
        watch_link *link;
        watch_form form;
    } clients[CLIENTS];
    int client_count;
} gather;
/* When another watcher has asked for this rank's state, and when the states of the latest report
 * for the job were asked for; 0: never. */
static uint64_t last_asked, last_report;

static struct sockaddr_in address_of(int of) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = peers[of].address, .sin_port = htons(peers[of].port)};
}

/* --- Answering --- */

static void answer_state(watch_link *link, bool stacks) {
    watch_state state;
    size_t length = 0;
    void *bytes = NULL;
    if (watch_state_take(&state, rank, thread_of_program, stacks)) {
        bytes = watch_state_pack(&state, &length);
        watch_state_free(&state);
    }
    watch_wire_answer(link, bytes, length);
    free(bytes);
}

static void begin_gathering(bool sample);

static void heed(const alarm_message *alarm) {
    uint64_t now = watch_nanoseconds(), since = now - last_report;
    /* What began before the latest report is in it; later on it is worth another one. */
    if (last_report &&
        (alarm->failed ? since < 2 * SECOND : alarm->age > since && since < alarm->age / 2))
        return;
    if (gather.phase != IDLE && gather.for_job)
        return;
    if (gather.phase == IDLE)
        begin_gathering(false);
    gather.for_job = true;
    gather.cause = *alarm;
    last_report = now;
}

static void asked(watch_link *link, int kind, const void *data, size_t length) {
    watch_process process;
    alarm_message alarm;
    leave_message leave;
    if (kind == ASK_STATE || kind == ASK_SAMPLE) {
        last_asked = kind == ASK_STATE ? watch_nanoseconds() : last_asked;
        answer_state(link, kind == ASK_STATE);
    } else if (kind == ASK_LOOK && length == sizeof process) {
        memcpy(&process, data, length);
        int32_t fate = (int32_t)watch_host_look(process);
        watch_wire_answer(link, &fate, sizeof fate);
    } else if (kind == ALARM && length == sizeof alarm) {
        memcpy(&alarm, data, length);
        alarm.text[sizeof alarm.text - 1] = '\0';
        watch_wire_answer(link, "", 1);
        heed(&alarm);
    } else if (kind == LEFT && length == sizeof leave) {
        memcpy(&leave, data, length);
        if (leave.rank >= 0 && leave.rank < ranks)
            left_status[leave.rank] = leave.status & 0xff;
        watch_wire_answer(link, "", 1);
    } else {
        watch_wire_answer(link, "", 0);
    }
}

static void told(watch_link *link, const char *line) {
    watch_form form = strcmp(line, "json") == 0     ? JSON
                      : strcmp(line, "sample") == 0 ? SAMPLE
                                                    : TEXT;
    if (gather.client_count == CLIENTS) {
        static const char busy[] = "coll-watch: too many ask at a time; try again\n";
        watch_wire_answer(link, busy, sizeof busy - 1);
        return;
    }
    if (gather.phase == IDLE)
        begin_gathering(form == SAMPLE);
    gather.clients[gather.client_count].link = link;
    gather.clients[gather.client_count++].form = form;
}

/* --- Gathering --- */

static void begin_gathering(bool sample) {
    gather.states = calloc((size_t)ranks, sizeof *gather.states);
    gather.silence = calloc((size_t)ranks, sizeof *gather.silence);
    if (!gather.states || !gather.silence) {
        free(gather.states);
        free(gather.silence);
        return;
    }
    gather.phase = ASKING;
    gather.next = 0;
    gather.sample = sample;
    gather.begun = watch_nanoseconds();
    for (int i = 0; i < ranks; i++) {
        gather.states[i].fate = WATCH_SILENT;
        gather.states[i].head.rank = i;
        snprintf(gather.states[i].host, sizeof gather.states[i].host, "%s", peers[i].host_name);
    }
}

static void keep(int of, watch_state *state) {
    watch_state *place = &gather.states[of];
    memcpy(state->host, place->host, sizeof state->host);
    watch_state_free(place);
    *place = *state;
    place->head.rank = of;
}

static int patience(void) {
    int milliseconds = ANSWER + ANSWER_PER_RANK * ranks;
    return milliseconds < LONGEST_ANSWER ? milliseconds : LONGEST_ANSWER;
}

/* Asks those that have not answered yet, and of which it isn't known why. */
static void ask_more(void) {
    while (gather.next < ranks && gather.open < WINDOW) {
        int of = gather.next++;
        watch_fate fate = gather.states[of].fate;
        if (fate != WATCH_SILENT && fate != WATCH_UNREACHABLE)
            continue;
        if (of == rank) {
            watch_state state;
            if (watch_state_take(&state, rank, thread_of_program, !gather.sample))
                keep(of, &state);
        } else if (peers[of].port) {
            struct sockaddr_in there = address_of(of);
            gather.open++;
            watch_wire_ask(&there, gather.sample ? ASK_SAMPLE : ASK_STATE, of, "", 0, patience());
        }
    }
}

/* A rank on the host of OF that has answered, or -1. */
static int neighbour(int of) {
    if (peers[of].host == peers[rank].host)
        return rank;
    for (int i = 0; i < ranks; i++)
        if (peers[i].host == peers[of].host && gather.states[i].fate == WATCH_ANSWERS)
            return i;
    return -1;
}

/* What became of those that have not answered. */
static void look_for_silent(void) {
    for (int i = 0; i < ranks && gather.open < WINDOW; i++) {
        watch_state *state = &gather.states[i];
        if (state->fate != WATCH_SILENT && state->fate != WATCH_UNREACHABLE)
            continue;
        int by = neighbour(i);
        if (left_status[i] >= 0) {
            state->fate = WATCH_LEFT;
            state->status = left_status[i];
        } else if (by == rank) {
            state->fate = watch_host_look(peers[i].process);
        } else if (by < 0) {
            static const watch_fate fates[] = {[WATCH_NO_HOST] = WATCH_UNREACHABLE,
                                               [WATCH_NO_ANSWER] = WATCH_SILENT,
                                               [WATCH_NO_LISTENER] = WATCH_GONE};
            state->fate = fates[gather.silence[i]];
        } else {
            struct sockaddr_in there = address_of(by);
            gather.open++;
            watch_wire_ask(&there, ASK_LOOK, i, &peers[i].process, sizeof peers[i].process, LOOK);
        }
    }
}

static void answer_client(watch_link *link, watch_form form, const watch_report *report) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream) {
        if (form == JSON)
            watch_report_json(stream, report);
        else if (form == SAMPLE)
            watch_report_sample(stream, report);
        else
            watch_report_print(stream, report);
        fclose(stream);
    }
    watch_wire_answer(link, text ? text : "", length);
    free(text);
}

static void write_for_job(const watch_report *report) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream) {
        watch_report_print(stream, report);
        fclose(stream);
        fwrite(text, 1, length, stderr); /* in one piece among the lines of others */
        fflush(stderr);
        free(text);
    }
    FILE *file = settings->json[0] ? fopen(settings->json, "ae") : NULL;
    if (file) {
        watch_report_json(file, report);
        fclose(file);
    } else if (settings->json[0]) {
        fprintf(stderr, "coll: COLL_WATCH_JSON=%s: can't be written\n", settings->json);
    }
    if (settings->abort) {
        fprintf(stderr, "coll: watch: the job ends here, as COLL_WATCH_ABORT=1 asks\n");
        _exit(1);
    }
}

static void finish(void) {
    uint64_t limit = (uint64_t)(settings->seconds * (double)SECOND);
    watch_report report = {.states = gather.states,
                           .ranks = ranks,
                           .young = gather.client_count ? SECOND / 2 : limit / 2,
                           .reporter = rank,
                           .failed = gather.cause.failed ? gather.cause.rank : -1,
                           .failure = gather.cause.text};
    if (!watch_report_make(&report)) {
        fprintf(stderr, "coll: watch: no memory for a report\n");
    } else {
        for (int i = 0; i < gather.client_count; i++)
            answer_client(gather.clients[i].link, gather.clients[i].form, &report);
        if (gather.for_job)
            write_for_job(&report);
        watch_report_free(&report);
    }
    for (int i = 0; i < ranks; i++)
        watch_state_free(&gather.states[i]);
    free(gather.states);
    free(gather.silence);
    memset(&gather, 0, sizeof gather);
}

static bool some_are_silent(void) {
    for (int i = 0; i < ranks; i++)
        if (gather.states[i].fate == WATCH_SILENT || gather.states[i].fate == WATCH_UNREACHABLE)
            return true;
    return false;
}

static void go_on_gathering(void) {
    if (gather.phase == ASKING) {
        ask_more();
        if (gather.open == 0 && gather.next == ranks) {
            gather.phase = LOOKING;
            look_for_silent();
        }
    }
    if (gather.phase != LOOKING || gather.open > 0)
        return;
    if (++gather.round < ROUNDS && some_are_silent()) {
        gather.phase = ASKING;
        gather.next = 0;
        ask_more();
        return;
    }
    finish();
}

/* --- Alarms --- */

static int alarm_target = -1; /* whom the alarm that is on its way went to */
static alarm_message sent_alarm;

/* Whether somebody makes a report, or has made one lately, that has a call of this AGE in it. */
static bool is_in_report(uint64_t age) {
    uint64_t since = watch_nanoseconds() - last_asked;
    return last_asked && since < age / 2;
}

/* To the lowest rank that lives, which may be this one. */
static void raise_alarm(int from) {
    for (alarm_target = from; alarm_target < rank; alarm_target++) {
        const watch_peer *peer = &peers[alarm_target];
        bool lives = peer->port && (peer->host != peers[rank].host ||
                                    watch_host_look(peer->process) == WATCH_SILENT);
        if (!lives)
            continue;
        struct sockaddr_in there = address_of(alarm_target);
        watch_wire_ask(&there, ALARM, alarm_target, &sent_alarm, sizeof sent_alarm, patience());
        return;
    }
    alarm_target = -1;
    heed(&sent_alarm);
}

static void answered(int kind, int of, const void *data, size_t length) {
    watch_state state;
    int32_t fate;
    if (kind == ALARM) {
        alarm_target = -1;
        if (!data && (sent_alarm.failed || !is_in_report(sent_alarm.age)))
            raise_alarm(of + 1);
        return;
    }
    gather.open--;
    if (!data && kind != ASK_LOOK)
        gather.silence[of] = (unsigned char)length;
    if ((kind == ASK_STATE || kind == ASK_SAMPLE) && data &&
        watch_state_unpack(&state, data, length))
        keep(of, &state);
    if (kind == ASK_LOOK && data && length == sizeof fate) {
        memcpy(&fate, data, length);
        if (fate == WATCH_STOPPED || fate == WATCH_GONE)
            gather.states[of].fate = (watch_fate)fate;
    }
}

/* The oldest call that lasts, and at which age it is worth an alarm. */
static uint64_t watched_call, worth;

/* Raises an alarm where it is due; returns after how many milliseconds to look again. */
static int look_after_calls(void) {
    uint64_t limit = (uint64_t)(settings->seconds * (double)SECOND), call;
    uint64_t stagger = (uint64_t)rank * STAGGER;
    stagger = (stagger < LONGEST_STAGGER ? stagger : LONGEST_STAGGER) * 1000000;
    uint64_t age = watch_state_oldest(&call);
    if (call != watched_call) {
        watched_call = call;
        worth = limit + stagger;
    }
    if (call && age >= worth) {
        worth = 4 * age + stagger;
        if (alarm_target < 0 && !is_in_report(age)) {
            sent_alarm = (alarm_message){.rank = rank, .age = age};
            raise_alarm(0);
        }
    }
    uint64_t left = (call ? worth - age : limit) / 1000000 + 1;
    return left < 3600000 ? (int)left : 3600000;
}

static void take_failure(void) {
    pthread_mutex_lock(&lock);
    bool new_one = failed;
    failed = false;
    if (new_one)
        sent_alarm = failure;
    pthread_mutex_unlock(&lock);
    if (new_one)
        raise_alarm(0);
}

static void *watch(void *unused) {
    while (!ends) {
        take_failure();
        int pause = look_after_calls();
        go_on_gathering();
        /* What was asked of nobody that could answer goes on at once. */
        watch_wire_turn(gather.phase != IDLE && watch_wire_open_questions() == 0 ? 0 : pause);
    }
    return unused;
}

/* --- The program's side --- */

bool watch_watcher_open(struct in_addr address, watch_peer *self) {
    static const watch_wire_user user = {.asked = asked, .told = told, .answered = answered};
    *self = (watch_peer){.address = address, .process = watch_host_self()};
    if (gethostname(self->host_name, sizeof self->host_name - 1) != 0)
        snprintf(self->host_name, sizeof self->host_name, "?");
    self->host = watch_host_id(self->host_name);
    return watch_wire_open(address, &self->port, &user);
}

bool watch_watcher_start(const watch_settings *asked_for, int own_rank, int all_ranks,
                         const watch_peer *all, const watch_secret *secret) {
    settings = asked_for;
    rank = own_rank;
    ranks = all_ranks;
    peers = all;
    thread_of_program = (int)gettid();
    left_status = malloc((size_t)ranks * sizeof *left_status);
    if (!left_status)
        return false;
    for (int i = 0; i < ranks; i++)
        left_status[i] = -1;
    watch_wire_trust(secret);
    watch_stack_begin();
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before); /* the program's signals are the program's */
    runs = pthread_create(&thread, NULL, watch, NULL) == 0;
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
}

void watch_watcher_leave(int status) {
    leave_message leave = {.rank = rank, .status = status};
    int to = rank == 0 ? 1 : 0;
    if (!runs || to >= ranks || !peers[to].port)
        return;
    struct sockaddr_in there = address_of(to);
    watch_wire_tell(&there, LEFT, &leave, sizeof leave, ANSWER);
}

void watch_watcher_failed(const char *text) {
    if (!runs)
        return;
    pthread_mutex_lock(&lock);
    failure = (alarm_message){.rank = rank, .failed = 1};
    snprintf(failure.text, sizeof failure.text, "%s", text);
    failed = true;
    pthread_mutex_unlock(&lock);
    watch_wire_wake();
    sleep(1);
}

void watch_watcher_forked(void) {
    runs = false;
    watch_wire_drop();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/reporter.h"

#include "watch/command.h"
#include "watch/files.h"
#include "watch/gather_states.h"
#include "watch/job.h"
#include "watch/report.h"
#include "watch/state.h"
#include "watch/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A rank that has not answered is asked a second time, directly, because a packet may have been
 * lost. Before that, a watcher on its host checks its process; each step of this question may take
 * LOOK milliseconds.
 */
enum { ROUNDS = 2, LOOK = 250, CLIENTS = 8 };
static const uint64_t SECOND = 1000000000;

typedef enum watch_form { TEXT, JSON, SAMPLE } watch_form;

/* The report that is being made, and for whom. There is one at a time. */
static struct {
    enum { IDLE, ASKING, LOOKING } phase;
    watch_state *states;
    unsigned char *silence; /* watch_silence, by rank */
    int round;
    int next, open; /* next rank to check; number of checks under way */
    bool for_job;   /* it goes to stderr */
    bool sample;    /* without stacks; it is begun again if somebody who needs them joins */
    watch_alarm cause;
    struct {
        watch_link *link;
        watch_form form;
    } clients[CLIENTS];
    int client_count;
} report;

static int *left_status; /* exit status by rank; -1 if the rank has not announced its exit */
/*
 * When another watcher last asked for this rank's state, and when this watcher last began a report
 * for the job; 0 if never.
 */
static uint64_t last_seen, last_report;

bool watch_reporter_begin(void) {
    left_status = malloc((size_t)watch_own.ranks * sizeof *left_status);
    for (int i = 0; left_status && i < watch_own.ranks; i++)
        left_status[i] = -1;
    return left_status != NULL;
}

void watch_reporter_left(int rank, int status) {
    if (rank >= 0 && rank < watch_own.ranks)
        left_status[rank] = status & 0xff;
}

void watch_reporter_seen(void) {
    last_seen = coll_nanoseconds();
}

bool watch_reporter_has(uint64_t age) {
    return last_seen && coll_nanoseconds() - last_seen < age / 2;
}

static bool is_unknown(int rank) {
    return report.states[rank].fate == WATCH_SILENT ||
           report.states[rank].fate == WATCH_UNREACHABLE;
}

/* --- Gathering --- */

static void free_report(void) {
    for (int i = 0; report.states && i < watch_own.ranks; i++)
        watch_state_free(&report.states[i]);
    free(report.states);
    free(report.silence);
    memset(&report, 0, sizeof report);
}

static void store_state(int rank, watch_state *state) {
    watch_state *place = &report.states[rank];
    memcpy(state->host, place->host, sizeof state->host);
    watch_state_free(place);
    *place = *state;
    place->head.rank = rank;
}

static void store_states(void *unused, const watch_reply replies[]) {
    (void)unused;
    for (int rank = 0; rank < watch_own.ranks; rank++) {
        watch_state state;
        if (!replies[rank].asked)
            continue;
        report.silence[rank] = (unsigned char)replies[rank].silence;
        if (replies[rank].bytes &&
            watch_state_unpack(&state, replies[rank].bytes, replies[rank].length))
            store_state(rank, &state);
    }
    report.phase = LOOKING;
    report.next = 0;
}

/* Begins to gather the states of all ranks, without stacks if SAMPLE. */
static bool ask_all(bool sample) {
    watch_range all = {.first = watch_own.rank, .count = watch_own.ranks};
    if (!watch_gather_states_begin(&all, 1, sample, 0, store_states, NULL))
        return false;
    report.phase = ASKING;
    report.round = 0;
    report.sample = sample;
    for (int i = 0; i < watch_own.ranks; i++) {
        watch_state *state = &report.states[i];
        watch_state_free(state);
        state->head.rank = i;
        state->head.pid = watch_own.peers[i].process.pid;
        snprintf(state->host, sizeof state->host, "%s", watch_own.peers[i].host_name);
    }
    return true;
}

static bool begin_report(bool sample) {
    size_t ranks = (size_t)watch_own.ranks;
    report.states = calloc(ranks, sizeof *report.states);
    report.silence = calloc(ranks, sizeof *report.silence);
    if (report.states && report.silence && ask_all(sample))
        return true;
    free_report();
    return false;
}

/* Returns whether the report is a sample, but somebody who needs stacks has joined. */
static bool lacks_stacks(void) {
    bool needed = report.for_job;
    for (int i = 0; i < report.client_count; i++)
        needed = needed || report.clients[i].form != SAMPLE;
    return report.sample && needed;
}

/*
 * Asks the ranks again whose silence is not explained. Returns false if there are none or they
 * can't be asked.
 */
static bool ask_again(void) {
    watch_range *ranges = malloc((size_t)watch_own.ranks * sizeof *ranges);
    int count = 0;
    for (int rank = 0; ranges && rank < watch_own.ranks; rank++)
        if (is_unknown(rank))
            ranges[count++] = (watch_range){.first = rank, .count = 1};
    bool asks = count && watch_gather_states_begin(ranges, count, report.sample, report.round,
                                                   store_states, NULL);
    free(ranges);
    if (asks)
        report.phase = ASKING;
    return asks;
}

/*
 * Returns a rank on the host of RANK that has answered, or -1. If this rank is on that host,
 * returns this rank.
 */
static int answering_rank_on_host_of(int rank) {
    const watch_peer *peers = watch_own.peers;
    if (peers[rank].host == peers[watch_own.rank].host)
        return watch_own.rank;
    for (int i = 0; i < watch_own.ranks; i++)
        if (peers[i].host == peers[rank].host && report.states[i].fate == WATCH_ANSWERS)
            return i;
    return -1;
}

static void note_fate(void *context, const void *data, size_t length) {
    watch_state *state = context;
    int32_t fate;
    report.open--;
    if (!data || length != sizeof fate)
        return;
    memcpy(&fate, data, length);
    if (fate == WATCH_STOPPED || fate == WATCH_GONE)
        state->fate = (watch_fate)fate;
}

/* Finds out what became of RANK, which has not answered, or begins to ask another watcher. */
static void check_silent_rank(int rank) {
    watch_state *state = &report.states[rank];
    const watch_process *process = &watch_own.peers[rank].process;
    int by = answering_rank_on_host_of(rank);
    if (watch_files_used() && by != watch_own.rank)
        by = rank;
    if (left_status[rank] >= 0) {
        state->fate = WATCH_LEFT;
        state->status = left_status[rank];
    } else if (by == watch_own.rank) {
        state->fate = watch_host_look(*process);
    } else if (by == rank) {
        state->fate = WATCH_NO_FILE; /* through files, no other watcher can be asked to check */
    } else if (by < 0) {
        static const watch_fate fates[] = {[WATCH_NO_HOST] = WATCH_UNREACHABLE,
                                           [WATCH_NO_ANSWER] = WATCH_SILENT,
                                           [WATCH_NO_LISTENER] = WATCH_GONE};
        state->fate = fates[report.silence[rank]];
    } else {
        watch_question question = {.kind = WATCH_ASK_LOOK,
                                   .data = process,
                                   .length = sizeof *process,
                                   .timeouts = {.connect = LOOK, .hello = LOOK, .answer = LOOK}};
        report.open++;
        watch_job_ask(by, &question, note_fate, state);
    }
}

/* --- Writing --- */

/* Returns MADE in FORM, as a text of *LENGTH bytes, which the caller frees; NULL on an error. */
static char *text_of(const watch_report *made, watch_form form, size_t *length) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    if (!stream)
        return NULL;
    if (form == JSON)
        watch_report_json(stream, made);
    else if (form == SAMPLE)
        watch_report_sample(stream, made);
    else
        watch_report_print(stream, made);
    bool whole = !ferror(stream);
    if (fclose(stream) == 0 && whole && *length > 0)
        return text;
    free(text);
    return NULL;
}

static void answer_client(watch_link *link, watch_form form, const watch_report *made) {
    size_t length = 0;
    char *text = text_of(made, form, &length);
    watch_wire_answer(link, text ? text : "", text ? length : 0);
    free(text);
}

/* Appends TEXT to the file PATH. On an error, removes what was written if this is still the end of
 * the file. Returns 0 or an error number. */
static int append_to_file(const char *path, const char *text, size_t length) {
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    ssize_t written = write(fd, text, length);
    int error = written < 0 ? errno : written < (ssize_t)length ? ENOSPC : 0;
    off_t end = lseek(fd, 0, SEEK_CUR);
    struct stat about;
    /* Remove an incomplete text, unless another process has already appended something after it. */
    if (error && written > 0 && fstat(fd, &about) == 0 && about.st_size == end)
        (void)!ftruncate(fd, end - written);
    if (close(fd) != 0 && !error)
        error = errno;
    return error;
}

static void append_json(const watch_report *made) {
    const char *path = watch_own.settings->json;
    size_t length = 0;
    char *text = text_of(made, JSON, &length);
    int error = text ? append_to_file(path, text, length) : ENOMEM;
    if (error)
        fprintf(stderr,
                "coll: COLL_WATCH_JSON=%s: the report can't be written there: %s; make room, or "
                "name another file\n",
                path, strerror(error));
    free(text);
}

/* Aborts the job or runs a command, as COLL_WATCH_ON_HANG says, if the report proves that the job
 * hangs. */
static void act_on_hang(const watch_report *made) {
    const char *action = watch_own.settings->on_hang;
    if (!action[0])
        return;
    if (!watch_diagnosis_hangs(&made->diagnosis)) {
        fprintf(stderr, "coll: watch: this proves no hang, so COLL_WATCH_ON_HANG does nothing\n");
        return;
    }
    if (strcmp(action, "abort") == 0) {
        fprintf(stderr, "coll: watch: the job ends here, as COLL_WATCH_ON_HANG=abort asks\n");
        _exit(1);
    }
    size_t length = 0;
    char *text = text_of(made, JSON, &length);
    int error = text ? watch_command_run(action, text, length) : ENOMEM;
    if (error)
        fprintf(stderr, "coll: COLL_WATCH_ON_HANG=%s: can't be run: %s\n", action, strerror(error));
    free(text);
}

static void write_for_job(const watch_report *made) {
    const watch_settings *settings = watch_own.settings;
    size_t length = 0;
    char *text = text_of(made, TEXT, &length);
    if (text) {
        /* in one piece, so that output of other ranks does not split it */
        fwrite(text, 1, length, stderr);
        fflush(stderr);
        free(text);
    } else {
        fprintf(stderr, "coll: watch: no memory for a report\n");
    }
    if (settings->json[0])
        append_json(made);
    act_on_hang(made);
    if (settings->abort) {
        fprintf(stderr, "coll: watch: the job ends here, as COLL_WATCH_ABORT=1 asks\n");
        _exit(1);
    }
}

static void finish_report(void) {
    watch_report made = {.states = report.states,
                         .ranks = watch_own.ranks,
                         .young = report.client_count ? SECOND / 2 : watch_job_limit() / 2,
                         .reporter = watch_own.rank,
                         .failed = report.cause.failed ? report.cause.rank : -1,
                         .failure = report.cause.text};
    if (!watch_report_make(&made)) {
        fprintf(stderr, "coll: watch: no memory for a report\n");
        for (int i = 0; i < report.client_count; i++)
            watch_wire_answer(report.clients[i].link, "", 0);
    } else {
        for (int i = 0; i < report.client_count; i++)
            answer_client(report.clients[i].link, report.clients[i].form, &made);
        if (report.for_job)
            write_for_job(&made);
        watch_report_free(&made);
    }
    free_report();
}

bool watch_reporter_go_on(void) {
    if (report.phase != LOOKING)
        return false;
    if (report.open == 0 && lacks_stacks() && ask_all(false))
        return true;
    for (; report.next < watch_own.ranks && watch_wire_open_questions() < WATCH_QUESTIONS;
         report.next++)
        if (is_unknown(report.next))
            check_silent_rank(report.next);
    if (report.next < watch_own.ranks || report.open > 0)
        return false;
    if (++report.round < ROUNDS && ask_again())
        return true;
    finish_report();
    return true;
}

/* --- Requests for a report --- */

void watch_reporter_heed(const watch_alarm *alarm) {
    uint64_t now = coll_nanoseconds(), since = now - last_report;
    /*
     * The latest report includes a call that began before it. Such a call is worth another report
     * only when half the call's age has passed since that report.
     */
    if (last_report &&
        (alarm->failed ? since < 2 * SECOND : alarm->age > since && since < alarm->age / 2))
        return;
    if (!alarm->failed && watch_reporter_has(alarm->age))
        return;
    if (report.phase != IDLE ? report.for_job : !begin_report(false))
        return;
    report.for_job = true;
    report.cause = *alarm;
    last_report = now;
}

void watch_reporter_told(watch_link *link, const char *line) {
    watch_form form = strcmp(line, "json") == 0     ? JSON
                      : strcmp(line, "sample") == 0 ? SAMPLE
                                                    : TEXT;
    if (report.client_count == CLIENTS || (report.phase == IDLE && !begin_report(form == SAMPLE))) {
        static const char busy[] = "coll-watch: too many requests at a time; try again\n";
        watch_wire_answer(link, busy, sizeof busy - 1);
        return;
    }
    report.clients[report.client_count].link = link;
    report.clients[report.client_count++].form = form;
}

void watch_reporter_end(void) {
    free_report();
    free(left_status);
    left_status = NULL;
}

#include "config.h"

#include "watch/reporter.h"

#include "watch/files.h"
#include "watch/job.h"
#include "watch/report.h"
#include "watch/state.h"
#include "watch/survey.h"
#include "watch/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A rank that has not answered is asked a second time, directly: one packet may be lost. Before
 * that, a watcher of its host looks at its process, within LOOK milliseconds.
 */
enum { ROUNDS = 2, LOOK = 250, CLIENTS = 8 };
static const uint64_t SECOND = 1000000000;

typedef enum watch_form { TEXT, JSON, SAMPLE } watch_form;

/* The one report at a time, and whom it is for. */
static struct {
    enum { IDLE, ASKING, LOOKING } phase;
    watch_state *states;
    unsigned char *silence; /* watch_silence of each rank */
    int round;
    int next, open; /* to look at; of those that are looked at */
    bool for_job;   /* it goes to stderr */
    bool sample;    /* without stacks */
    watch_alarm cause;
    struct {
        watch_link *link;
        watch_form form;
    } clients[CLIENTS];
    int client_count;
} report;

static int *left_status; /* of exit, by rank; -1: it hasn't said that it leaves */
/* When another watcher has asked for this rank's state, and when the latest report for the job was
 * begun here; 0: never. */
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
    last_seen = watch_nanoseconds();
}

bool watch_reporter_has(uint64_t age) {
    return last_seen && watch_nanoseconds() - last_seen < age / 2;
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

static void keep(int rank, watch_state *state) {
    watch_state *place = &report.states[rank];
    memcpy(state->host, place->host, sizeof state->host);
    watch_state_free(place);
    *place = *state;
    place->head.rank = rank;
}

static void take_states(void *unused, const watch_part parts[]) {
    (void)unused;
    for (int rank = 0; rank < watch_own.ranks; rank++) {
        watch_state state;
        if (!parts[rank].asked)
            continue;
        report.silence[rank] = (unsigned char)parts[rank].silence;
        if (parts[rank].bytes && watch_state_unpack(&state, parts[rank].bytes, parts[rank].length))
            keep(rank, &state);
    }
    report.phase = LOOKING;
    report.next = 0;
}

static bool begin(bool sample) {
    size_t ranks = (size_t)watch_own.ranks;
    watch_range all = {.first = watch_own.rank, .count = watch_own.ranks};
    report.states = calloc(ranks, sizeof *report.states);
    report.silence = calloc(ranks, sizeof *report.silence);
    if (!report.states || !report.silence ||
        !watch_survey_begin(&all, 1, sample, 0, take_states, NULL)) {
        free_report();
        return false;
    }
    report.phase = ASKING;
    report.sample = sample;
    for (int i = 0; i < watch_own.ranks; i++) {
        watch_state *state = &report.states[i];
        state->fate = WATCH_SILENT;
        state->head.rank = i;
        snprintf(state->host, sizeof state->host, "%s", watch_own.peers[i].host_name);
    }
    return true;
}

/* Those of which it isn't known why they don't answer. False: there are none, or no memory. */
static bool ask_again(void) {
    watch_range *ranges = malloc((size_t)watch_own.ranks * sizeof *ranges);
    int count = 0;
    for (int rank = 0; ranges && rank < watch_own.ranks; rank++)
        if (is_unknown(rank))
            ranges[count++] = (watch_range){.first = rank, .count = 1};
    bool asks =
        count && watch_survey_begin(ranges, count, report.sample, report.round, take_states, NULL);
    free(ranges);
    if (asks)
        report.phase = ASKING;
    return asks;
}

/* A rank on the host of RANK that has answered, or -1. */
static int neighbour(int rank) {
    const watch_peer *peers = watch_own.peers;
    if (peers[rank].host == peers[watch_own.rank].host)
        return watch_own.rank;
    for (int i = 0; i < watch_own.ranks; i++)
        if (peers[i].host == peers[rank].host && report.states[i].fate == WATCH_ANSWERS)
            return i;
    return -1;
}

static void looked(void *of, const void *data, size_t length) {
    watch_state *state = of;
    int32_t fate;
    report.open--;
    if (!data || length != sizeof fate)
        return;
    memcpy(&fate, data, length);
    if (fate == WATCH_STOPPED || fate == WATCH_GONE)
        state->fate = (watch_fate)fate;
}

/* What became of RANK, which has not answered. */
static void look_for(int rank) {
    watch_state *state = &report.states[rank];
    const watch_process *process = &watch_own.peers[rank].process;
    int by = neighbour(rank);
    if (watch_files_used() && by != watch_own.rank)
        by = rank;
    if (left_status[rank] >= 0) {
        state->fate = WATCH_LEFT;
        state->status = left_status[rank];
    } else if (by == watch_own.rank) {
        state->fate = watch_host_look(*process);
    } else if (by == rank) {
        state->fate = WATCH_NO_FILE; /* there is nobody who could look */
    } else if (by < 0) {
        static const watch_fate fates[] = {[WATCH_NO_HOST] = WATCH_UNREACHABLE,
                                           [WATCH_NO_ANSWER] = WATCH_SILENT,
                                           [WATCH_NO_LISTENER] = WATCH_GONE};
        state->fate = fates[report.silence[rank]];
    } else {
        watch_question question = {.kind = WATCH_ASK_LOOK,
                                   .data = process,
                                   .length = sizeof *process,
                                   .patience = {.connect = LOOK, .hello = LOOK, .answer = LOOK}};
        report.open++;
        watch_job_ask(by, &question, looked, state);
    }
}

/* --- Writing --- */

/* Returns MADE as a text of *LENGTH bytes, which the caller frees; or NULL without memory. */
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

/* Appends TEXT to the file PATH as a whole or not at all. Returns 0 or an error's number. */
static int append(const char *path, const char *text, size_t length) {
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    ssize_t written = write(fd, text, length);
    int error = written < 0 ? errno : written < (ssize_t)length ? ENOSPC : 0;
    off_t end = lseek(fd, 0, SEEK_CUR);
    struct stat about;
    /* Unless another process has already appended something behind the part. */
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
    int error = text ? append(path, text, length) : ENOMEM;
    if (error)
        fprintf(stderr,
                "coll: COLL_WATCH_JSON=%s: the report can't be written there: %s; make room, or "
                "name another file\n",
                path, strerror(error));
    free(text);
}

static void write_for_job(const watch_report *made) {
    const watch_settings *settings = watch_own.settings;
    size_t length = 0;
    char *text = text_of(made, TEXT, &length);
    if (text) {
        fwrite(text, 1, length, stderr); /* in one piece among the lines of others */
        fflush(stderr);
        free(text);
    } else {
        fprintf(stderr, "coll: watch: no memory for a report\n");
    }
    if (settings->json[0])
        append_json(made);
    if (settings->abort) {
        fprintf(stderr, "coll: watch: the job ends here, as COLL_WATCH_ABORT=1 asks\n");
        _exit(1);
    }
}

static void finish(void) {
    watch_report made = {.states = report.states,
                         .ranks = watch_own.ranks,
                         .young = report.client_count ? SECOND / 2 : watch_job_limit() / 2,
                         .reporter = watch_own.rank,
                         .failed = report.cause.failed ? report.cause.rank : -1,
                         .failure = report.cause.text};
    if (!watch_report_make(&made)) {
        fprintf(stderr, "coll: watch: no memory for a report\n");
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
    for (; report.next < watch_own.ranks && watch_wire_open_questions() < WATCH_QUESTIONS;
         report.next++)
        if (is_unknown(report.next))
            look_for(report.next);
    if (report.next < watch_own.ranks || report.open > 0)
        return false;
    if (++report.round < ROUNDS && ask_again())
        return true;
    finish();
    return true;
}

/* --- Whom it is for --- */

void watch_reporter_heed(const watch_alarm *alarm) {
    uint64_t now = watch_nanoseconds(), since = now - last_report;
    /* What began before the latest report is in it; later on it is worth another one. */
    if (last_report &&
        (alarm->failed ? since < 2 * SECOND : alarm->age > since && since < alarm->age / 2))
        return;
    if (!alarm->failed && watch_reporter_has(alarm->age))
        return;
    if (report.phase != IDLE ? report.for_job : !begin(false))
        return;
    report.for_job = true;
    report.cause = *alarm;
    last_report = now;
}

void watch_reporter_told(watch_link *link, const char *line) {
    watch_form form = strcmp(line, "json") == 0     ? JSON
                      : strcmp(line, "sample") == 0 ? SAMPLE
                                                    : TEXT;
    if (report.client_count == CLIENTS || (report.phase == IDLE && !begin(form == SAMPLE))) {
        static const char busy[] = "coll-watch: too many ask at a time; try again\n";
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

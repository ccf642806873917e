#include "config.h"

#include "watch/survey.h"

#include "watch/files.h"
#include "watch/job.h"
#include "watch/state.h"
#include "watch/ticks.h"

#include <stdlib.h>
#include <string.h>

enum { SURVEYS = 8 };
static const uint64_t FILES_PATIENCE = 700000000; /* ns */

typedef struct survey {
    bool runs, sample;
    int round;
    uint64_t until;      /* when to stop waiting for files, in the time of watch_nanoseconds */
    watch_part *parts;   /* by rank */
    watch_range *to_ask; /* ranges not asked yet */
    int waiting, open;   /* number of ranges in TO_ASK; number of questions under way */
    bool own;            /* this rank's state is still to be taken */
    watch_surveyed *done;
    void *of;
} survey;

static survey surveys[SURVEYS];

/* A question under way. */
typedef struct asked_range {
    survey *of;
    watch_range range;
} asked_range;

/* Precedes each state in an answer. LENGTH is 0 if there is no state. */
typedef struct part_head {
    int32_t rank, silence;
    uint64_t length;
} part_head;

/*
 * Returns through how many levels of watchers a question for COUNT ranks passes after the first
 * watcher.
 */
static int levels_of(int count) {
    int levels = 0;
    for (; count > 1; levels++)
        count = (count - 1 + WATCH_FAN - 1) / WATCH_FAN;
    return levels;
}

static int rank_after(int rank, int distance) {
    return (rank + distance) % watch_own.ranks;
}

static bool is_in(const watch_range *range, int rank) {
    return rank >= 0 && rank < watch_own.ranks &&
           (rank - range->first + watch_own.ranks) % watch_own.ranks < range->count;
}

/* Divides the ranks of RANGE after the first into at most WATCH_FAN parts that are to be asked. */
static void add_parts_of_range(survey *s, watch_range range) {
    int left = range.count - 1, from = rank_after(range.first, 1);
    for (int parts = WATCH_FAN; left > 0; parts--) {
        int count = (left + parts - 1) / parts;
        s->to_ask[s->waiting++] = (watch_range){.first = from, .count = count};
        from = rank_after(from, count);
        left -= count;
    }
}

/* --- Answers --- */

static void store_part(survey *s, int rank, const char *bytes, size_t length,
                       watch_silence silence) {
    watch_part *part = &s->parts[rank];
    char *copy = length && !part->bytes ? malloc(length) : NULL;
    if (!part->bytes)
        part->silence = silence;
    if (!copy)
        return;
    memcpy(copy, bytes, length);
    part->bytes = copy;
    part->length = length;
}

/*
 * Stores the states that a watcher has gathered of RANGE. Returns false if the answer is malformed.
 */
static bool store_parts(survey *s, const watch_range *range, const char *bytes, size_t length) {
    part_head head;
    for (; length >= sizeof head; bytes += head.length, length -= head.length) {
        memcpy(&head, bytes, sizeof head);
        bytes += sizeof head;
        length -= sizeof head;
        if (head.length > length || !is_in(range, head.rank))
            return false;
        bool known = head.silence >= WATCH_NO_HOST && head.silence <= WATCH_NO_LISTENER;
        store_part(s, head.rank, bytes, head.length,
                   known ? (watch_silence)head.silence : WATCH_NO_ANSWER);
    }
    return length == 0;
}

static void handle_answer(void *of, const void *data, size_t length) {
    asked_range *asked = of;
    survey *s = asked->of;
    watch_range range = asked->range;
    free(asked);
    s->open--;
    if (data && length && store_parts(s, &range, data, length))
        return;
    store_part(s, range.first, NULL, 0, data ? WATCH_NO_ANSWER : (watch_silence)length);
    add_parts_of_range(s, range);
}

static void *pack_parts(const watch_part parts[], size_t *length) {
    *length = 0;
    for (int rank = 0; rank < watch_own.ranks; rank++)
        *length += parts[rank].asked ? sizeof(part_head) + parts[rank].length : 0;
    char *bytes = malloc(*length), *next = bytes;
    for (int rank = 0; bytes && rank < watch_own.ranks; rank++) {
        const watch_part *part = &parts[rank];
        if (!part->asked)
            continue;
        part_head head = {.rank = rank, .silence = (int32_t)part->silence, .length = part->length};
        memcpy(next, &head, sizeof head);
        next += sizeof head;
        if (part->length)
            memcpy(next, part->bytes, part->length);
        next += part->length;
    }
    return bytes;
}

static void answer_link(void *of, const watch_part parts[]) {
    size_t length;
    void *bytes = pack_parts(parts, &length);
    watch_wire_answer(of, bytes, bytes ? length : 0);
    free(bytes);
}

void watch_survey_answer(watch_link *link, bool sample, const void *data, size_t length) {
    watch_range range;
    bool good = length == sizeof range;
    if (good)
        memcpy(&range, data, sizeof range);
    good =
        good && range.first == watch_own.rank && range.count >= 1 && range.count <= watch_own.ranks;
    if (!good || !watch_survey_begin(&range, 1, sample, 0, answer_link, link))
        watch_wire_answer(link, "", 0);
}

/* --- Questions --- */

static void free_parts(survey *s) {
    for (int rank = 0; s->parts && rank < watch_own.ranks; rank++)
        free(s->parts[rank].bytes);
    free(s->parts);
    free(s->to_ask);
    s->runs = false;
}

bool watch_survey_begin(const watch_range ranges[], int count, bool sample, int round,
                        watch_surveyed *done, void *of) {
    survey *s = surveys;
    while (s < surveys + SURVEYS && s->runs)
        s++;
    if (s == surveys + SURVEYS)
        return false;
    size_t ranks = (size_t)watch_own.ranks;
    *s = (survey){.runs = true,
                  .sample = sample,
                  .round = round,
                  .parts = calloc(ranks, sizeof *s->parts),
                  .to_ask = malloc(ranks * sizeof *s->to_ask),
                  .done = done,
                  .of = of};
    if (!s->parts || !s->to_ask) {
        free_parts(s);
        return false;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < ranges[i].count; k++)
            s->parts[rank_after(ranges[i].first, k)] =
                (watch_part){.asked = true, .silence = WATCH_NO_ANSWER};
        s->own = s->own || ranges[i].first == watch_own.rank;
        if (ranges[i].first == watch_own.rank)
            add_parts_of_range(s, ranges[i]);
        else
            s->to_ask[s->waiting++] = ranges[i];
    }
    if (!watch_files_used())
        return true;
    s->waiting = 0;
    s->until = watch_nanoseconds() + FILES_PATIENCE;
    s->runs = watch_files_ask(sample);
    if (!s->runs)
        free_parts(s);
    return s->runs;
}

static void ask_more(survey *s) {
    while (s->waiting > 0 && watch_wire_open_questions() < WATCH_QUESTIONS) {
        watch_range range = s->to_ask[--s->waiting];
        asked_range *asked = watch_own.peers[range.first].port ? malloc(sizeof *asked) : NULL;
        if (!asked) {
            store_part(s, range.first, NULL, 0, WATCH_NO_ANSWER);
            add_parts_of_range(s, range);
            continue;
        }
        *asked = (asked_range){.of = s, .range = range};
        watch_question question = {.kind = s->sample ? WATCH_ASK_SAMPLES : WATCH_ASK_STATES,
                                   .data = &range,
                                   .length = sizeof range,
                                   .patience =
                                       watch_job_patience(levels_of(range.count), s->round)};
        s->open++;
        watch_job_ask(range.first, &question, handle_answer, asked);
    }
}

char *watch_survey_own(bool sample, size_t *length) {
    watch_state state;
    if (!watch_state_take(&state, watch_own.rank, watch_own.thread, !sample))
        return NULL;
    char *bytes = watch_state_pack(&state, length);
    watch_state_free(&state);
    return bytes;
}

static void take_own(survey *s) {
    size_t length = 0;
    char *bytes = watch_survey_own(s->sample, &length);
    s->own = false;
    if (bytes)
        store_part(s, watch_own.rank, bytes, length, WATCH_NO_ANSWER);
    free(bytes);
}

/* Takes the answers that have come as files. Returns true if there will be no more. */
static bool take_files(survey *s) {
    bool all = true;
    for (int rank = 0; rank < watch_own.ranks; rank++) {
        watch_part *part = &s->parts[rank];
        if (part->asked && !part->bytes)
            part->bytes = watch_files_take(rank, &part->length);
        all = all && (part->bytes || !part->asked);
    }
    bool over = all || watch_nanoseconds() > s->until;
    if (over)
        watch_files_over(watch_own.ranks);
    return over;
}

static void finish_survey(survey *s) {
    s->done(s->of, s->parts);
    free_parts(s);
}

bool watch_survey_go_on(void) {
    bool again = false;
    for (survey *s = surveys; s < surveys + SURVEYS; s++) {
        if (!s->runs)
            continue;
        ask_more(s);
        if (s->own)
            take_own(s); /* meanwhile the others take theirs */
        bool over = s->waiting == 0 && s->open == 0 && (!watch_files_used() || take_files(s));
        if (over)
            finish_survey(s);
        again = again || over;
    }
    return again;
}

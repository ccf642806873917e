/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/gather_states.h"

#include "watch/files.h"
#include "watch/job.h"
#include "watch/state.h"
#include "watch/ticks.h"

#include <stdlib.h>
#include <string.h>

enum { GATHERINGS = 8 };
static const uint64_t FILES_PATIENCE = 700000000; /* ns */

typedef struct gathering {
    bool runs, sample;
    int round;
    uint64_t until;       /* when to stop waiting for files, in the time of coll_nanoseconds */
    watch_reply *replies; /* by rank */
    watch_range *to_ask;  /* ranges not asked yet */
    int waiting, open;    /* number of ranges in TO_ASK; number of questions under way */
    bool own;             /* this rank's state is still to be taken */
    watch_gathered *done;
    void *context;
} gathering;

static gathering gatherings[GATHERINGS];

/* A question under way. */
typedef struct asked_range {
    gathering *owner;
    watch_range range;
} asked_range;

/* Precedes each state in an answer. LENGTH is 0 if there is no state. */
typedef struct reply_head {
    int32_t rank, silence;
    uint64_t length;
} reply_head;

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
static void add_subranges(gathering *s, watch_range range) {
    int left = range.count - 1, from = rank_after(range.first, 1);
    for (int parts = WATCH_FAN; left > 0; parts--) {
        int count = (left + parts - 1) / parts;
        s->to_ask[s->waiting++] = (watch_range){.first = from, .count = count};
        from = rank_after(from, count);
        left -= count;
    }
}

/* --- Answers --- */

static void store_reply(gathering *s, int rank, const char *bytes, size_t length,
                        watch_silence silence) {
    watch_reply *reply = &s->replies[rank];
    char *copy = length && !reply->bytes ? malloc(length) : NULL;
    if (!reply->bytes)
        reply->silence = silence;
    if (!copy)
        return;
    memcpy(copy, bytes, length);
    reply->bytes = copy;
    reply->length = length;
}

/*
 * Stores the states that a watcher has gathered from the ranks of RANGE. Returns false if the
 * answer is malformed.
 */
static bool store_replies(gathering *s, const watch_range *range, const char *bytes,
                          size_t length) {
    reply_head head;
    for (; length >= sizeof head; bytes += head.length, length -= head.length) {
        memcpy(&head, bytes, sizeof head);
        bytes += sizeof head;
        length -= sizeof head;
        if (head.length > length || !is_in(range, head.rank))
            return false;
        bool known = head.silence >= WATCH_NO_HOST && head.silence <= WATCH_NO_LISTENER;
        store_reply(s, head.rank, bytes, head.length,
                    known ? (watch_silence)head.silence : WATCH_NO_ANSWER);
    }
    return length == 0;
}

static void handle_answer(void *context, const void *data, size_t length) {
    asked_range *asked = context;
    gathering *s = asked->owner;
    watch_range range = asked->range;
    free(asked);
    s->open--;
    if (data && length && store_replies(s, &range, data, length))
        return;
    store_reply(s, range.first, NULL, 0, data ? WATCH_NO_ANSWER : (watch_silence)length);
    add_subranges(s, range);
}

static void *pack_replies(const watch_reply replies[], size_t *length) {
    *length = 0;
    for (int rank = 0; rank < watch_own.ranks; rank++)
        *length += replies[rank].asked ? sizeof(reply_head) + replies[rank].length : 0;
    char *bytes = malloc(*length), *next = bytes;
    for (int rank = 0; bytes && rank < watch_own.ranks; rank++) {
        const watch_reply *reply = &replies[rank];
        if (!reply->asked)
            continue;
        reply_head head = {
            .rank = rank, .silence = (int32_t)reply->silence, .length = reply->length};
        memcpy(next, &head, sizeof head);
        next += sizeof head;
        if (reply->length)
            memcpy(next, reply->bytes, reply->length);
        next += reply->length;
    }
    return bytes;
}

static void answer_link(void *context, const watch_reply replies[]) {
    size_t length;
    void *bytes = pack_replies(replies, &length);
    watch_wire_answer(context, bytes, bytes ? length : 0);
    free(bytes);
}

void watch_gather_states_answer(watch_link *link, bool sample, const void *data, size_t length) {
    watch_range range;
    bool good = length == sizeof range;
    if (good)
        memcpy(&range, data, sizeof range);
    good =
        good && range.first == watch_own.rank && range.count >= 1 && range.count <= watch_own.ranks;
    if (!good || !watch_gather_states_begin(&range, 1, sample, 0, answer_link, link))
        watch_wire_answer(link, "", 0);
}

/* --- Questions --- */

static void free_replies(gathering *s) {
    for (int rank = 0; s->replies && rank < watch_own.ranks; rank++)
        free(s->replies[rank].bytes);
    free(s->replies);
    free(s->to_ask);
    s->runs = false;
}

bool watch_gather_states_begin(const watch_range ranges[], int count, bool sample, int round,
                               watch_gathered *done, void *context) {
    gathering *s = gatherings;
    while (s < gatherings + GATHERINGS && s->runs)
        s++;
    if (s == gatherings + GATHERINGS)
        return false;
    size_t ranks = (size_t)watch_own.ranks;
    *s = (gathering){.runs = true,
                     .sample = sample,
                     .round = round,
                     .replies = calloc(ranks, sizeof *s->replies),
                     .to_ask = malloc(ranks * sizeof *s->to_ask),
                     .done = done,
                     .context = context};
    if (!s->replies || !s->to_ask) {
        free_replies(s);
        return false;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < ranges[i].count; k++)
            s->replies[rank_after(ranges[i].first, k)] =
                (watch_reply){.asked = true, .silence = WATCH_NO_ANSWER};
        s->own = s->own || ranges[i].first == watch_own.rank;
        if (ranges[i].first == watch_own.rank)
            add_subranges(s, ranges[i]);
        else
            s->to_ask[s->waiting++] = ranges[i];
    }
    if (!watch_files_used())
        return true;
    s->waiting = 0;
    s->until = coll_nanoseconds() + FILES_PATIENCE;
    s->runs = watch_files_ask(sample);
    if (!s->runs)
        free_replies(s);
    return s->runs;
}

static void ask_more(gathering *s) {
    while (s->waiting > 0 && watch_wire_open_questions() < WATCH_QUESTIONS) {
        watch_range range = s->to_ask[--s->waiting];
        asked_range *asked = watch_own.peers[range.first].port ? malloc(sizeof *asked) : NULL;
        if (!asked) {
            store_reply(s, range.first, NULL, 0, WATCH_NO_ANSWER);
            add_subranges(s, range);
            continue;
        }
        *asked = (asked_range){.owner = s, .range = range};
        watch_question question = {.kind = s->sample ? WATCH_ASK_SAMPLES : WATCH_ASK_STATES,
                                   .data = &range,
                                   .length = sizeof range,
                                   .timeouts =
                                       watch_job_timeouts(levels_of(range.count), s->round)};
        s->open++;
        watch_job_ask(range.first, &question, handle_answer, asked);
    }
}

char *watch_gather_states_own(bool sample, size_t *length) {
    watch_state state;
    if (!watch_state_take(&state, watch_own.rank, watch_own.thread, !sample))
        return NULL;
    char *bytes = watch_state_pack(&state, length);
    watch_state_free(&state);
    return bytes;
}

static void take_own(gathering *s) {
    size_t length = 0;
    char *bytes = watch_gather_states_own(s->sample, &length);
    s->own = false;
    if (bytes)
        store_reply(s, watch_own.rank, bytes, length, WATCH_NO_ANSWER);
    free(bytes);
}

/* Stores the answers that have arrived as files. Returns true if all have, or the time is up. */
static bool take_files(gathering *s) {
    bool all = true;
    for (int rank = 0; rank < watch_own.ranks; rank++) {
        watch_reply *reply = &s->replies[rank];
        if (reply->asked && !reply->bytes)
            reply->bytes = watch_files_take(rank, &reply->length);
        all = all && (reply->bytes || !reply->asked);
    }
    bool over = all || coll_nanoseconds() > s->until;
    if (over)
        watch_files_over(watch_own.ranks);
    return over;
}

bool watch_gather_states_go_on(void) {
    bool again = false;
    for (gathering *s = gatherings; s < gatherings + GATHERINGS; s++) {
        if (!s->runs)
            continue;
        ask_more(s);
        if (s->own)
            take_own(s); /* meanwhile the other watchers take their states */
        bool over = s->waiting == 0 && s->open == 0 && (!watch_files_used() || take_files(s));
        if (over) {
            s->done(s->context, s->replies);
            free_replies(s);
        }
        again = again || over;
    }
    return again;
}

#include "config.h"

#include "lib/operation/learn.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/spare.h"
#include "lib/operation/learnt.h"
#include "lib/operation/lesson.h"
#include "lib/operation/state.h"
#include "lib/operation/trace.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* So many things can be learnt on one communicator. */
enum { MOST = 16 };

/* Calls that take less by prediction are left alone: there is little to win. */
static const double SHORT = 250e-6;

/* What rank 0 knows is there after so many calls. */
enum { ASKED = 2 };

/* What it tells: the fastest algorithm, counted from 1 in its table, and its time, and those of all
 * candidates. */
enum { BEST, BEST_TIME, TIMES, TOLD = TIMES + COLL_LIKELY };

struct coll_learning {
    coll_learning *next;
    coll_comm *comm;
    int tag;
    coll_operation operation;
    size_t bytes; /* of the calls that are timed: those of other sizes tell nothing beside them */
    bool heard;   /* what rank 0 knows */
    coll_lesson lesson;
    coll_agreement agreement; /* on times, or on what rank 0 says */
};

/* What is learnt on a communicator. */
typedef struct lessons {
    coll_comm *comm; /* NULL: it was never opened */
    bool off;
    int count;
    coll_learning *first;
} lessons;

static lessons *lessons_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_learn_key);
}

/* --- Of which calls --- */

/* Whether all algorithms give the same bits, or the user said that they need not. */
static bool may_differ(const coll_state *state, coll_operation operation, const coll_shape *call) {
    const size_t number = 16;
    if (!coll_operations[operation].reduces)
        return true;
    return state->settings->learn == COLL_LEARN_ALL && !call->reproducible && !call->ordered &&
           call->element <= number;
}

/* Whether calls like CALL are learnt, if it pays. */
static bool concerns(const lessons *all, coll_operation operation, const coll_shape *call) {
    const coll_state *state = coll_state_of(all->comm);
    return !all->off && state->settings->learn != COLL_LEARN_NOTHING &&
           !state->specs[operation].algorithm && call->bytes != COLL_BYTES_UNKNOWN &&
           call->topo->sites == 1 && call->topo->nodes > 1 && may_differ(state, operation, call);
}

/* Where nothing was predicted nothing else was likely. */
static bool pays(const lessons *all, const coll_choice *priced) {
    return all->count < MOST && priced->predicted >= SHORT;
}

static coll_learning *find(const lessons *all, coll_operation operation, const coll_shape *call) {
    coll_learning *one = all->first;
    while (one && (one->operation != operation ||
                   coll_size_class(one->bytes) != coll_size_class(call->bytes)))
        one = one->next;
    return one;
}

static const coll_choice *best_of(const coll_learning *one) {
    return &one->lesson.candidates.of[one->lesson.best];
}

/* --- What is known from before --- */

/* As it is kept; without what was learnt. */
static coll_learnt note_of(coll_operation operation, const coll_shape *call) {
    const coll_topo *topo = call->topo;
    coll_learnt note = {.placement = coll_learnt_placement(topo),
                        .ranks = topo->ranks,
                        .bytes = coll_class_bytes(coll_size_class(call->bytes))};
    snprintf(note.host, sizeof note.host, "%s", topo->hosts[topo->places[0].node]);
    snprintf(note.operation, sizeof note.operation, "%s", coll_operations[operation].name);
    return note;
}

static int64_t nanoseconds(double seconds) {
    return (int64_t)(1e9 * seconds);
}

/* Returns what calls like NOTE took by ALGORITHM, ns; 0: not known. */
static int64_t recall(coll_learnt *note, const coll_algorithm *algorithm) {
    snprintf(note->algorithm, sizeof note->algorithm, "%s", algorithm->name);
    return nanoseconds(coll_learnt_find(note));
}

/* Returns which of its operation's table is the fastest that is known to have run such calls as
 * CALL, and the TIME, ns; -1: none. */
static int recall_best(coll_operation operation, const coll_shape *call, coll_learnt *note,
                       int64_t *time) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    int best = -1;
    *time = 0;
    for (int i = 0; table[i]; i++) {
        int64_t next =
            table[i]->rival || !coll_select_applicable(table[i], call) ? 0 : recall(note, table[i]);
        if (next == 0 || (best >= 0 && next >= *time))
            continue;
        best = i;
        *time = next;
    }
    return best;
}

static coll_choice recalled(coll_operation operation, int which, int64_t time) {
    const coll_algorithm *algorithm = coll_operations[operation].table[which];
    return (coll_choice){.algorithm = algorithm,
                         .values = coll_values_default(algorithm),
                         .predicted = 1e-9 * (double)time,
                         .why = "learnt before: the fastest of those tried"};
}

static int agree(coll_learning *one, int count, const int64_t numbers[]) {
    static_assert((int)COLL_LESSON_TIMES <= (int)COLL_AGREE_MOST, "all at once");
    static_assert((int)TOLD <= (int)COLL_AGREE_MOST, "all at once");
    return coll_agreement_start(&one->agreement, one->comm, one->tag, count, numbers);
}

/* Rank 0 tells all what it knows. No other rank's numbers are larger. */
static int ask(coll_learning *one, const coll_shape *call) {
    int64_t told[TOLD] = {0};
    if (one->comm->rank == 0) {
        coll_learnt note = note_of(one->operation, call);
        told[BEST] = 1 + recall_best(one->operation, call, &note, &told[BEST_TIME]);
        for (int i = 0; i < one->lesson.candidates.count; i++)
            told[TIMES + i] = recall(&note, one->lesson.candidates.of[i].algorithm);
    }
    return agree(one, TOLD, told);
}

/* Keeps what was learnt of candidates OLD and NEW, for other communicators and runs. */
static void keep(const coll_learning *one, const coll_shape *call, int old, int new) {
    const bool first = one->comm->rank == 0;
    coll_learnt notes[] = {note_of(one->operation, call), note_of(one->operation, call)};
    for (int i = 0; i < 2; i++) {
        const coll_choice *choice = &one->lesson.candidates.of[i ? new : old];
        notes[i].seconds = choice->predicted;
        snprintf(notes[i].algorithm, sizeof notes[i].algorithm, "%s", choice->algorithm->name);
    }
    int error = coll_learnt_keep(notes, 2, first);
    if (first && coll_state_of(one->comm)->trace)
        coll_trace_learnt(&notes[one->lesson.best == new], error);
}

/* --- The lesson --- */

static int begin(lessons *all, coll_operation operation, const coll_shape *call,
                 coll_learning **begun) {
    const coll_choices likely = coll_state_likely(coll_state_of(all->comm), operation, call);
    static_assert((int)MOST <= (int)COLL_TAGS_LEARN, "a tag for each");
    coll_learning *one = coll_spare_calloc(1, sizeof *one);
    if (!one)
        return all->comm->broken = coll_error(MPI_ERR_NO_MEM, "no memory to learn from calls");
    *one = (coll_learning){.next = all->first,
                           .comm = all->comm,
                           .tag = COLL_TAG_LEARN + all->count++,
                           .operation = operation,
                           .bytes = call->bytes};
    all->first = one;
    coll_lesson_begin(&one->lesson, &likely);
    for (int i = 1; i < likely.count; i++)
        one->lesson.candidates.of[i].why = "tried, to learn whether it is faster";
    *begun = one;
    return all->comm->broken = ask(one, call);
}

/* Goes by what rank 0 knows. If the fastest is no candidate, it runs from now on. */
static void hear(coll_learning *one) {
    const int64_t *told = one->agreement.highest, *times = told + TIMES;
    const int best = (int)told[BEST] - 1;
    const coll_choices *candidates = &one->lesson.candidates;
    int i = 0;
    one->heard = true;
    if (best >= 0) {
        const coll_choice choice = recalled(one->operation, best, told[BEST_TIME]);
        while (i < candidates->count && candidates->of[i].algorithm != choice.algorithm)
            i++;
        if (i < candidates->count) {
            one->lesson.candidates.of[i].why = choice.why;
            one->lesson.candidates.of[i].predicted = choice.predicted;
        } else {
            coll_lesson_begin(&one->lesson, &(coll_choices){1, {choice}});
            times = told + BEST_TIME;
        }
    }
    coll_lesson_know(&one->lesson, times);
}

/* Whether nobody ends a call before all have begun it. */
static bool meets_all(coll_operation operation) {
    return coll_operations[operation].rootless && operation != COLL_OPERATION_SCAN &&
           operation != COLL_OPERATION_EXSCAN;
}

/* The least of all times is what the largest of the negative ones stands for. */
static int agree_on_times(coll_learning *one) {
    int64_t sign = meets_all(one->operation) ? -1 : 1, times[COLL_LESSON_TIMES];
    for (int i = 0; i < COLL_LESSON_TIMES; i++)
        times[i] = sign * one->lesson.own[i];
    return agree(one, COLL_LESSON_TIMES, times);
}

static void heed_times(coll_learning *one, const coll_shape *call) {
    coll_lesson *lesson = &one->lesson;
    coll_choice *of = lesson->candidates.of;
    int64_t sign = meets_all(one->operation) ? -1 : 1, *times = one->agreement.highest;
    const int tried = lesson->tried, best = lesson->best;
    for (int i = 0; i < COLL_LESSON_TIMES; i++)
        times[i] *= sign;
    coll_lesson_heed(lesson, times);
    of[tried].predicted = 1e-9 * (double)lesson->time[tried];
    of[best].predicted = 1e-9 * (double)lesson->time[best];
    if (tried == best)
        return;
    of[lesson->best].why = "learnt: the fastest of those tried";
    keep(one, call, best, tried);
}

/* Takes what has arrived before the next call. */
static int listen(coll_learning *one, const coll_shape *call) {
    bool asked = !one->heard && one->lesson.calls == ASKED, done;
    if (!asked && !coll_lesson_due(&one->lesson))
        return coll_agreement_advance(&one->agreement, &done);
    int code = coll_agreement_finish(&one->agreement);
    if (code == MPI_SUCCESS && asked)
        hear(one);
    else if (code == MPI_SUCCESS)
        heed_times(one, call);
    return code;
}

/* Whether the MPI library's own is to be tried next and was slower than another algorithm in
 * smaller calls. */
static bool has_lost(const lessons *all, const coll_learning *large) {
    const coll_lesson *lesson = &large->lesson;
    const coll_algorithm *next = lesson->candidates.of[coll_lesson_turn(lesson)].algorithm;
    if (next == best_of(large)->algorithm || !coll_algorithm_is_native(next))
        return false;
    for (const coll_learning *one = all->first; one; one = one->next)
        for (int i = 0; i < one->lesson.candidates.count; i++)
            if (one->operation == large->operation && one->bytes < large->bytes &&
                i != one->lesson.best && one->lesson.time[i] > 0 &&
                one->lesson.candidates.of[i].algorithm == next)
                return true;
    return false;
}

int coll_learn_begin(coll_comm *comm, coll_operation operation, const coll_shape *call,
                     coll_choice *choice, coll_learning **trial) {
    lessons *all = lessons_of(comm);
    coll_learning *one = find(all, operation, call);
    int code = one ? MPI_SUCCESS : begin(all, operation, call, &one);
    if (code != MPI_SUCCESS)
        return code;
    bool timed = call->bytes == one->bytes;
    if (timed)
        code = listen(one, call);
    if (timed && has_lost(all, one))
        coll_lesson_leave_out(&one->lesson);
    const coll_choice *next =
        timed ? &one->lesson.candidates.of[coll_lesson_turn(&one->lesson)] : best_of(one);
    *trial = NULL;
    if (!coll_select_applicable(next->algorithm, call))
        return code;
    *choice = *next;
    *trial = timed && !one->lesson.settled ? one : NULL;
    return code;
}

int coll_learn_end(coll_learning *trial, double seconds) {
    int64_t time = nanoseconds(seconds);
    return coll_lesson_take(&trial->lesson, time > 0 ? time : 1) ? agree_on_times(trial)
                                                                 : MPI_SUCCESS;
}

/* --- What is settled --- */

bool coll_learn_settled(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                        coll_choice *choice) {
    lessons *all = lessons_of(comm);
    if (!concerns(all, operation, call))
        return true;
    const coll_learning *one = find(all, operation, call);
    if (!one)
        return !pays(all, choice);
    if (one->lesson.settled && coll_select_applicable(best_of(one)->algorithm, call))
        *choice = *best_of(one);
    return one->lesson.settled;
}

void coll_learn_started(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                        coll_choice *choice) {
    lessons *all = lessons_of(comm);
    const coll_learning *one = concerns(all, operation, call) ? find(all, operation, call) : NULL;
    if (!one || one->lesson.time[one->lesson.best] == 0)
        return;
    const coll_choice *best = best_of(one);
    if (coll_select_can_start(best->algorithm, &best->values) &&
        coll_select_applicable(best->algorithm, call))
        *choice = *best;
}

void coll_learn_tell(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                     coll_choice *choice) {
    lessons *all = lessons_of(comm);
    if (call->topo != &coll_state_of(comm)->topo || !concerns(all, operation, call))
        return;
    const coll_learning *one = find(all, operation, call);
    if (one && one->heard && coll_select_applicable(best_of(one)->algorithm, call))
        *choice = *best_of(one);
    if (one || !pays(all, choice) || comm->rank > 0)
        return;
    int64_t time;
    coll_learnt note = note_of(operation, call);
    int best = recall_best(operation, call, &note, &time);
    if (best >= 0)
        *choice = recalled(operation, best, time);
}

/* --- What a communicator keeps --- */

static int open_lessons(coll_comm *comm, const coll_comm *whole) {
    lessons *all = lessons_of(comm);
    all->comm = comm;
    all->off = whole;
    return MPI_SUCCESS;
}

/* All ranks come here or none does, unless COMM is broken. */
static void close_lessons(void *slot) {
    for (coll_learning *next, *one = ((lessons *)slot)->first; one; one = next) {
        next = one->next;
        if (!one->comm->broken)
            (void)coll_agreement_finish(&one->agreement);
        if (one->comm->broken)
            return; /* messages may come into it yet */
        coll_spare_free(one);
    }
}

coll_comm_key coll_learn_key = {
    .bytes = sizeof(lessons), .open = open_lessons, .close = close_lessons};

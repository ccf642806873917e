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

/* So many things can be learnt on one communicator, of the operations and classes of sizes. */
enum { MOST = 16, CLASSES = 65 };

/* Calls that take less by prediction are left alone: there is little to win. */
static const double SHORT = 250e-6;

struct coll_learning {
    coll_comm *comm;
    coll_operation operation;
    size_t bytes; /* of the calls that are timed: those of other sizes tell nothing beside them */
    coll_lesson lesson;
    coll_choice candidates[COLL_LESSON_MOST];
    coll_agreement agreement; /* on times, or on what rank 0 says */
};

/* What is learnt on a communicator. */
typedef struct memory {
    uint64_t placement; /* 0: not found out yet */
    int count;
    unsigned char number[COLL_OPERATIONS][CLASSES]; /* from 1; 0: nothing is learnt */
    coll_learning at[MOST];
} memory;

typedef struct lessons {
    coll_comm *comm; /* NULL: it was never opened */
    bool off;
    memory *learnt; /* NULL: nothing is learnt yet */
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
    return (!all->learnt || all->learnt->count < MOST) && priced->predicted >= SHORT;
}

static coll_learning *find(lessons *all, coll_operation operation, const coll_shape *call) {
    memory *learnt = all->learnt;
    int number = learnt ? learnt->number[operation][coll_size_class(call->bytes)] : 0;
    return number ? &learnt->at[number - 1] : NULL;
}

static const coll_choice *best_of(const coll_learning *one) {
    return &one->candidates[one->lesson.best];
}

/* --- What is known from before --- */

/* As it is kept; without what was learnt. */
static coll_learnt note_of(lessons *all, coll_operation operation, const coll_shape *call) {
    const coll_topo *topo = call->topo;
    uint64_t placement = all->learnt ? all->learnt->placement : 0;
    if (!placement)
        placement = coll_learnt_placement(topo);
    if (all->learnt)
        all->learnt->placement = placement;
    coll_learnt note = {.placement = placement,
                        .ranks = topo->ranks,
                        .bytes = coll_class_bytes(coll_size_class(call->bytes))};
    snprintf(note.host, sizeof note.host, "%s", topo->hosts[topo->places[0].node]);
    snprintf(note.operation, sizeof note.operation, "%s", coll_operations[operation].name);
    return note;
}

/* Which of its operation's table CALL was learnt to go by, and the SECONDS; -1: it was not. */
static int recall(lessons *all, coll_operation operation, const coll_shape *call, double *seconds) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    coll_learnt note = note_of(all, operation, call);
    if (!coll_learnt_find(&note))
        return -1;
    *seconds = note.seconds;
    for (int i = 0; table[i]; i++)
        if (strcmp(table[i]->name, note.algorithm) == 0)
            return !table[i]->rival && coll_select_applicable(table[i], call) ? i : -1;
    return -1;
}

static coll_choice recalled(coll_operation operation, int which, double seconds) {
    const coll_algorithm *algorithm = coll_operations[operation].table[which];
    return (coll_choice){.algorithm = algorithm,
                         .values = coll_values_default(algorithm),
                         .predicted = seconds,
                         .why = "learnt before: the fastest of those tried"};
}

static int agree(coll_learning *one, int count, const int64_t numbers[]) {
    static_assert((int)MOST <= (int)COLL_TAGS_LEARN, "a tag for each");
    static_assert((int)COLL_LESSON_TIMES <= (int)COLL_AGREE_MOST, "all at once");
    const int number = (int)(one - lessons_of(one->comm)->learnt->at);
    return coll_agreement_start(&one->agreement, one->comm, COLL_TAG_LEARN + number, count,
                                numbers);
}

/*
 * Rank 0 tells all: an algorithm, counted from 1, and its nanoseconds. No other rank's numbers are
 * larger.
 */
static int ask(coll_learning *one, const coll_shape *call) {
    coll_comm *comm = one->comm;
    double seconds = 0;
    int64_t told[2] = {0, 0};
    if (comm->rank == 0) {
        told[0] = recall(lessons_of(comm), one->operation, call, &seconds) + 1;
        told[1] = told[0] > 0 ? (int64_t)(1e9 * seconds) : 0;
    }
    return agree(one, 2, told);
}

/* Keeps what was learnt, for other communicators and runs. */
static void keep(const coll_learning *one, const coll_shape *call) {
    const coll_choice *best = best_of(one);
    bool first = one->comm->rank == 0;
    coll_learnt note = note_of(lessons_of(one->comm), one->operation, call);
    note.seconds = best->predicted;
    snprintf(note.algorithm, sizeof note.algorithm, "%s", best->algorithm->name);
    int error = coll_learnt_keep(&note, first);
    if (first && coll_state_of(one->comm)->trace)
        coll_trace_learnt(&note, error);
}

/* --- The lesson --- */

static int begin(lessons *all, coll_operation operation, const coll_shape *call,
                 const coll_choice *priced, coll_learning **begun) {
    memory *learnt = all->learnt;
    if (!learnt)
        learnt = all->learnt = coll_spare_calloc(1, sizeof *learnt);
    if (!learnt)
        return all->comm->broken = coll_error(MPI_ERR_NO_MEM, "no memory to learn from calls");
    coll_learning *one = &learnt->at[learnt->count++];
    learnt->number[operation][coll_size_class(call->bytes)] = (unsigned char)learnt->count;
    *one = (coll_learning){.comm = all->comm, .operation = operation, .bytes = call->bytes};
    one->candidates[0] = *priced;
    coll_lesson_begin(&one->lesson);
    *begun = one;
    return all->comm->broken = ask(one, call);
}

/* What was priced when the communicator decided about such calls; says how many those are. */
static int take_likely(coll_learning *one, const coll_shape *call) {
    static_assert((int)COLL_LIKELY <= (int)COLL_LESSON_MOST, "a lesson for all");
    const coll_decisions *decisions = &coll_state_of(one->comm)->decisions[one->operation];
    const coll_choices *likely = &coll_decisions_at(decisions, call->bytes)->choices;
    if (likely->count == 0) /* no memory: the one that was priced stays */
        return 1;
    memcpy(one->candidates, likely->of, (size_t)likely->count * sizeof *likely->of);
    return likely->count;
}

/* Rank 0's word has come: it settles all, or others are there to try. */
static void meet_others(coll_learning *one, const coll_shape *call) {
    int count = 1;
    const int64_t *told = one->agreement.highest;
    if (told[0] > 0)
        one->candidates[0] = recalled(one->operation, (int)told[0] - 1, 1e-9 * (double)told[1]);
    else
        count = take_likely(one, call);
    for (int i = 0; i < count && count > 1; i++)
        one->candidates[i].why = "tried, to learn which is the fastest";
    coll_lesson_meet(&one->lesson, count);
}

/* Whether nobody ends a call before all have begun it. */
static bool meets_all(coll_operation operation) {
    return coll_operations[operation].rootless && operation != COLL_OPERATION_SCAN &&
           operation != COLL_OPERATION_EXSCAN;
}

/* The least of all times is what the largest of the negative ones stands for. */
static int agree_on_times(coll_learning *one) {
    int64_t sign = meets_all(one->operation) ? -1 : 1, times[COLL_LESSON_TIMES];
    int count = coll_lesson_times(&one->lesson);
    for (int i = 0; i < count; i++)
        times[i] = sign * one->lesson.time[i];
    return agree(one, count, times);
}

static void heed_times(coll_learning *one, const coll_shape *call) {
    int64_t sign = meets_all(one->operation) ? -1 : 1, *times = one->agreement.highest;
    for (int i = 0; i < coll_lesson_times(&one->lesson); i++)
        times[i] *= sign;
    int64_t time = coll_lesson_heed(&one->lesson, times);
    if (!one->lesson.settled)
        return;
    coll_choice *best = &one->candidates[one->lesson.best];
    best->predicted = 1e-9 * (double)time;
    best->why = "learnt: the fastest of those tried";
    keep(one, call);
}

/* Takes what has arrived before the next call. */
static int listen(coll_learning *one, const coll_shape *call) {
    bool lonely = coll_lesson_lonely(&one->lesson), done;
    if (!lonely && !coll_lesson_due(&one->lesson))
        return one->lesson.settled ? MPI_SUCCESS : coll_agreement_advance(&one->agreement, &done);
    int code = coll_agreement_finish(&one->agreement);
    if (code == MPI_SUCCESS && lonely)
        meet_others(one, call);
    else if (code == MPI_SUCCESS)
        heed_times(one, call);
    return code;
}

int coll_learn_begin(coll_comm *comm, coll_operation operation, const coll_shape *call,
                     const coll_choice **choice, coll_learning **trial) {
    lessons *all = lessons_of(comm);
    coll_learning *one = find(all, operation, call);
    int code = one ? MPI_SUCCESS : begin(all, operation, call, *choice, &one);
    bool timed = call->bytes == one->bytes;
    if (code == MPI_SUCCESS && timed)
        code = listen(one, call);
    const coll_choice *next =
        timed ? &one->candidates[coll_lesson_turn(&one->lesson)] : best_of(one);
    *trial = NULL;
    if (!coll_select_applicable(next->algorithm, call))
        return code;
    *choice = next;
    *trial = timed && !one->lesson.settled ? one : NULL;
    return code;
}

int coll_learn_end(coll_learning *trial, double seconds) {
    int64_t time = (int64_t)(1e9 * seconds);
    return coll_lesson_take(&trial->lesson, time > 0 ? time : 1) ? agree_on_times(trial)
                                                                 : MPI_SUCCESS;
}

/* --- What is settled --- */

const coll_choice *coll_learn_settled(const coll_comm *comm, coll_operation operation,
                                      const coll_shape *call, const coll_choice *priced) {
    lessons *all = lessons_of(comm);
    if (!concerns(all, operation, call))
        return priced;
    const coll_learning *one = find(all, operation, call);
    if (!one)
        return pays(all, priced) ? NULL : priced;
    if (!one->lesson.settled)
        return NULL;
    return coll_select_applicable(best_of(one)->algorithm, call) ? best_of(one) : priced;
}

const coll_choice *coll_learn_started(const coll_comm *comm, coll_operation operation,
                                      const coll_shape *call, const coll_choice *priced) {
    lessons *all = lessons_of(comm);
    const coll_learning *one = concerns(all, operation, call) ? find(all, operation, call) : NULL;
    if (!one || !one->lesson.settled)
        return priced;
    const coll_choice *best = best_of(one);
    bool can_run = coll_select_can_start(best->algorithm, &best->values) &&
                   coll_select_applicable(best->algorithm, call);
    return can_run ? best : priced;
}

void coll_learn_tell(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                     coll_choice *choice) {
    lessons *all = lessons_of(comm);
    double seconds;
    if (call->topo != &coll_state_of(comm)->topo || !concerns(all, operation, call))
        return;
    const coll_choice *settled = coll_learn_settled(comm, operation, call, choice);
    if (settled) {
        *choice = *settled;
        return;
    }
    int which = comm->rank == 0 ? recall(all, operation, call, &seconds) : -1;
    if (which >= 0)
        *choice = recalled(operation, which, seconds);
}

/* --- What a communicator keeps --- */

/* Whether trials were measured of its network. */
static bool has_trials(const coll_state *state) {
    const coll_profile *profile = state->profile;
    int i = 0;
    while (i < profile->trials && profile->trial[i].level != coll_profile_farthest(&state->topo))
        i++;
    return i < profile->trials;
}

static int open_lessons(coll_comm *comm, const coll_comm *whole) {
    lessons *all = lessons_of(comm);
    all->comm = comm;
    all->off = whole || has_trials(coll_state_of(comm));
    return MPI_SUCCESS;
}

/* All ranks come here or none does, unless COMM is broken. */
static void close_lessons(void *slot) {
    memory *learnt = ((lessons *)slot)->learnt;
    if (!learnt)
        return;
    for (int i = 0; i < learnt->count; i++) {
        coll_agreement *agreement = &learnt->at[i].agreement;
        if (!agreement->comm->broken)
            (void)coll_agreement_finish(agreement);
        if (agreement->comm->broken)
            return; /* messages may come into it yet */
    }
    coll_spare_free(learnt);
}

coll_comm_key coll_learn_key = {
    .bytes = sizeof(lessons), .open = open_lessons, .close = close_lessons};

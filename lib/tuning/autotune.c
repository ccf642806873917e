/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/autotune.h"

#include "lib/base/agree.h"
#include "lib/base/c_locale.h"
#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"
#include "lib/tuning/autotune_rounds.h"
#include "lib/tuning/state.h"
#include "lib/tuning/tuning_db.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Most pairs of operation and size class that are tuned on one communicator. */
enum { MOST = 16 };

/* Calls predicted to take less (seconds) are not tuned: there is little to gain. */
static const double SHORT = 250e-6;

/* The message in which rank 0 sends its earlier results: the fastest algorithm (its index in the
 * table, plus 1; 0: none), its time, and the times of all candidates. */
enum { BEST, BEST_TIME, TIMES, RESULTS = TIMES + COLL_LIKELY };

struct coll_autotuning {
    coll_autotuning *next;
    coll_comm *comm;
    int tag;
    coll_operation operation;
    size_t bytes;     /* only calls of this size are timed: other sizes are not comparable */
    bool has_earlier; /* rank 0's earlier results have arrived */
    coll_autotune_rounds rounds;
    coll_agreement agreement; /* on times, or with rank 0's earlier results */
};

/* All tuning on a communicator. */
typedef struct comm_tunings {
    coll_comm *comm; /* NULL: never opened */
    bool off;
    int count;
    coll_autotuning *first;
} comm_tunings;

static comm_tunings *tunings_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_autotune_key);
}

/* --- Which calls are tuned --- */

/* Returns whether the algorithm may change from call to call. A reduction's may change only if any
 * order of operands will do, and elements are numbers. */
static bool may_differ(const coll_state *state, const coll_shape *call) {
    return coll_state_may_try(state, call->operation) &&
           (!coll_operations[call->operation].reduces ||
            (!call->reproducible && !call->ordered && call->element <= COLL_NUMBER_BYTES));
}

/* Returns whether calls like CALL are tuned, provided that it pays. */
static bool is_tuned(const comm_tunings *all, const coll_shape *call) {
    const coll_state *state = coll_state_of(all->comm);
    return !all->off && state->settings->learn != COLL_AUTOTUNE_NOTHING &&
           !coll_operations[call->operation].neighbors &&
           !state->specs[call->operation].algorithm && call->bytes != COLL_BYTES_UNKNOWN &&
           coll_long_class(call) < 0 && call->topo->sites == 1 && call->topo->nodes > 1 &&
           may_differ(state, call);
}

/* Returns whether tuning may pay. Without a prediction there are no other candidates. */
static bool may_pay(const comm_tunings *all, const coll_choice *choice) {
    return all->count < MOST && choice->predicted >= SHORT;
}

static coll_autotuning *find_tuning(const comm_tunings *all, const coll_shape *call) {
    coll_autotuning *one = all->first;
    while (one && (one->operation != call->operation ||
                   coll_size_class(one->bytes) != coll_size_class(call->bytes)))
        one = one->next;
    return one;
}

static const coll_choice *best_choice(const coll_autotuning *one) {
    return &one->rounds.candidates.of[one->rounds.best];
}

/* --- Results of earlier tuning --- */

/* Returns an entry of the tuning file for CALL, without algorithm and time. */
static coll_tuning_entry entry_for(const coll_shape *call) {
    const coll_topo *topo = call->topo;
    coll_tuning_entry note = {.placement = coll_tuning_db_placement(topo),
                              .ranks = topo->ranks,
                              .bytes = coll_class_bytes(coll_size_class(call->bytes))};
    snprintf(note.host, sizeof note.host, "%s", topo->hosts[topo->places[0].node]);
    snprintf(note.operation, sizeof note.operation, "%s", coll_operations[call->operation].name);
    return note;
}

static int64_t nanoseconds(double seconds) {
    return (int64_t)(1e9 * seconds);
}

/* Returns the time in ns that calls like NOTE took with ALGORITHM; 0 if not known. */
static int64_t recall_time(coll_tuning_entry *note, const coll_algorithm *algorithm) {
    snprintf(note->algorithm, sizeof note->algorithm, "%s", algorithm->name);
    return nanoseconds(coll_tuning_db_find(note));
}

/* Returns the index in the operation's table of the algorithm known to be fastest for calls like
 * CALL, and sets *TIME to its ns; -1 if none is known. */
static int recall_best(const coll_shape *call, coll_tuning_entry *note, int64_t *time) {
    const coll_algorithm *const *table = coll_operations[call->operation].table;
    int best = -1;
    *time = 0;
    for (int i = 0; table[i]; i++) {
        int64_t next = table[i]->rival || !coll_select_applicable(table[i], call)
                           ? 0
                           : recall_time(note, table[i]);
        if (next == 0 || (best >= 0 && next >= *time))
            continue;
        best = i;
        *time = next;
    }
    return best;
}

static coll_choice recalled_choice(coll_operation operation, int which, int64_t time) {
    const coll_algorithm *algorithm = coll_operations[operation].table[which];
    return (coll_choice){.algorithm = algorithm,
                         .values = coll_values_default(algorithm),
                         .predicted = 1e-9 * (double)time,
                         .why = "learnt before: the fastest of those tried"};
}

static int start_agreement(coll_autotuning *one, int count, const int64_t numbers[]) {
    static_assert((int)COLL_AUTOTUNE_TIMES <= (int)COLL_AGREE_MOST, "all at once");
    static_assert((int)RESULTS <= (int)COLL_AGREE_MOST, "all at once");
    return coll_agreement_start(&one->agreement, one->comm, one->tag, count, numbers);
}

/* Starts to send rank 0's earlier results to all ranks: the agreement takes the maximum, and the
 * other ranks contribute 0. */
static int share_earlier_results(coll_autotuning *one, const coll_shape *call) {
    int64_t results[RESULTS] = {0};
    if (one->comm->rank == 0) {
        coll_tuning_entry note = entry_for(call);
        results[BEST] = 1 + recall_best(call, &note, &results[BEST_TIME]);
        for (int i = 0; i < one->rounds.candidates.count; i++)
            results[TIMES + i] = recall_time(&note, one->rounds.candidates.of[i].algorithm);
    }
    return start_agreement(one, RESULTS, results);
}

/* Saves the times of candidates OLD and NEW for other communicators and runs. */
static void save_results(const coll_autotuning *one, const coll_shape *call, int old, int new) {
    const bool first = one->comm->rank == 0;
    coll_tuning_entry notes[] = {entry_for(call), entry_for(call)};
    for (int i = 0; i < 2; i++) {
        const coll_choice *choice = &one->rounds.candidates.of[i ? new : old];
        notes[i].seconds = choice->predicted;
        snprintf(notes[i].algorithm, sizeof notes[i].algorithm, "%s", choice->algorithm->name);
    }
    int error = coll_tuning_db_keep(notes, 2, first);
    const coll_tuning_entry *best = &notes[one->rounds.best == new];
    if (first && coll_state_of(one->comm)->trace)
        coll_c_locale_print(
            stderr, "coll: learnt %s bytes>=%zu ranks=%d choice=%s seconds=%.6f%s%s\n",
            best->operation, best->bytes, best->ranks, best->algorithm, best->seconds,
            error ? "; not kept for later runs: " : "", error ? strerror(error) : "");
}

/* --- Tuning --- */

/*
 * Returns how many calls like CALL, which are predicted to take SECONDS, an agreement has to
 * complete. A call that takes longer than a message advances it by a round of messages at least. If
 * all rounds take little time, a few calls are enough, since the rest can be waited for. Otherwise
 * there is a call for each round.
 */
static int calls_of_agreement(const coll_shape *call, double seconds) {
    enum { FEW = 2 };
    const double little = 0.1; /* of a call's time */
    const int rounds = coll_agreement_rounds(call->topo->ranks);
    const double latency = coll_profile_outermost(call->profile, call->topo)->latency;
    return rounds <= FEW || rounds * latency <= little * seconds ? FEW : rounds;
}

static int begin_tuning(comm_tunings *all, const coll_shape *call, coll_autotuning **begun) {
    const coll_choices likely = coll_state_likely(coll_state_of(all->comm), false, call);
    static_assert((int)MOST <= (int)COLL_TAGS_LEARN, "a tag for each");
    coll_autotuning *one = coll_reserve_calloc(1, sizeof *one);
    if (!one)
        return all->comm->broken = coll_error(MPI_ERR_NO_MEM, "no memory to learn from calls");
    *one = (coll_autotuning){.next = all->first,
                             .comm = all->comm,
                             .tag = COLL_TAG_LEARN + all->count++,
                             .operation = call->operation,
                             .bytes = call->bytes};
    all->first = one;
    coll_autotune_rounds_begin(&one->rounds, &likely,
                               calls_of_agreement(call, likely.of[0].predicted));
    for (int i = 1; i < likely.count; i++)
        one->rounds.candidates.of[i].why = "tried, to learn whether it is faster";
    *begun = one;
    return share_earlier_results(one, call);
}

/* Takes rank 0's earlier results into account. If the fastest algorithm is not a candidate, it runs
 * from now on without tuning. */
static void use_earlier_results(coll_autotuning *one) {
    const int64_t *results = one->agreement.highest, *times = results + TIMES;
    const int best = (int)results[BEST] - 1;
    const coll_choices *candidates = &one->rounds.candidates;
    int i = 0;
    one->has_earlier = true;
    if (best >= 0) {
        const coll_choice choice = recalled_choice(one->operation, best, results[BEST_TIME]);
        while (i < candidates->count && candidates->of[i].algorithm != choice.algorithm)
            i++;
        if (i < candidates->count) {
            one->rounds.candidates.of[i].why = choice.why;
            one->rounds.candidates.of[i].predicted = choice.predicted;
        } else {
            coll_autotune_rounds_begin(&one->rounds, &(coll_choices){1, {choice}},
                                       one->rounds.pause);
            times = results + BEST_TIME;
        }
    }
    coll_autotune_rounds_set_known(&one->rounds, times);
}

static void use_agreed_times(coll_autotuning *one, const coll_shape *call) {
    coll_autotune_rounds *rounds = &one->rounds;
    coll_choice *of = rounds->candidates.of;
    const int tried = rounds->tried, best = rounds->best;
    coll_autotune_rounds_use_agreed(rounds, one->agreement.highest);
    of[tried].predicted = 1e-9 * (double)rounds->time[tried];
    of[best].predicted = 1e-9 * (double)rounds->time[best];
    if (tried == best)
        return;
    of[rounds->best].why = "learnt: the fastest of those tried";
    save_results(one, call, best, tried);
}

/* Advances the agreement before the next call, and uses its result if that is due. */
static int advance_agreement(coll_autotuning *one, const coll_shape *call) {
    bool earlier_due = !one->has_earlier && one->rounds.calls == one->rounds.pause, done;
    if (!earlier_due && !coll_autotune_rounds_due(&one->rounds))
        return coll_agreement_advance(&one->agreement, &done);
    int code = coll_agreement_finish(&one->agreement);
    if (code == MPI_SUCCESS && earlier_due)
        use_earlier_results(one);
    else if (code == MPI_SUCCESS)
        use_agreed_times(one, call);
    return code;
}

/* Returns whether the next try is the MPI library's own algorithm, and that algorithm was slower
 * than another one in calls of smaller sizes. */
static bool native_has_lost(const comm_tunings *all, const coll_autotuning *large) {
    const coll_autotune_rounds *rounds = &large->rounds;
    const coll_algorithm *next = rounds->candidates.of[coll_autotune_rounds_next(rounds)].algorithm;
    if (next == best_choice(large)->algorithm || !next->native)
        return false;
    for (const coll_autotuning *one = all->first; one; one = one->next)
        for (int i = 0; i < one->rounds.candidates.count; i++)
            if (one->operation == large->operation && one->bytes < large->bytes &&
                i != one->rounds.best && one->rounds.time[i] > 0 &&
                one->rounds.candidates.of[i].algorithm == next)
                return true;
    return false;
}

int coll_autotune_begin(coll_comm *comm, const coll_shape *call, coll_choice *choice,
                        coll_autotuning **trial) {
    comm_tunings *all = tunings_of(comm);
    coll_autotuning *one = find_tuning(all, call);
    int code = one ? MPI_SUCCESS : begin_tuning(all, call, &one);
    if (code != MPI_SUCCESS)
        return code;
    bool timed = call->bytes == one->bytes;
    if (timed)
        code = advance_agreement(one, call);
    if (timed && native_has_lost(all, one))
        coll_autotune_rounds_skip_try(&one->rounds);
    const coll_choice *next =
        timed ? &one->rounds.candidates.of[coll_autotune_rounds_next(&one->rounds)]
              : best_choice(one);
    *trial = NULL;
    if (!coll_select_applicable(next->algorithm, call))
        return code;
    *choice = *next;
    *trial = timed && !one->rounds.settled ? one : NULL;
    return code;
}

int coll_autotune_end(coll_autotuning *trial, double seconds) {
    const int64_t time = nanoseconds(seconds);
    if (!coll_autotune_rounds_record(&trial->rounds, time > 0 ? time : 1))
        return MPI_SUCCESS;
    return start_agreement(trial, COLL_AUTOTUNE_TIMES, trial->rounds.own);
}

/* --- Results --- */

bool coll_autotune_settled(const coll_comm *comm, const coll_shape *call, coll_choice *choice) {
    comm_tunings *all = tunings_of(comm);
    if (!is_tuned(all, call))
        return true;
    const coll_autotuning *one = find_tuning(all, call);
    if (!one)
        return !may_pay(all, choice);
    if (one->rounds.settled && coll_select_applicable(best_choice(one)->algorithm, call))
        *choice = *best_choice(one);
    return one->rounds.settled;
}

void coll_autotune_started(const coll_comm *comm, const coll_shape *call, coll_choice *choice) {
    comm_tunings *all = tunings_of(comm);
    const coll_autotuning *one = is_tuned(all, call) ? find_tuning(all, call) : NULL;
    if (!one || one->rounds.time[one->rounds.best] == 0)
        return;
    const coll_choice *best = best_choice(one);
    if (coll_select_can_start(best->algorithm, &best->values) &&
        coll_select_applicable(best->algorithm, call))
        *choice = *best;
}

void coll_autotune_tell(const coll_comm *comm, const coll_shape *call, coll_choice *choice) {
    comm_tunings *all = tunings_of(comm);
    if (call->topo != &coll_state_of(comm)->topo || !is_tuned(all, call))
        return;
    const coll_autotuning *one = find_tuning(all, call);
    if (one && one->has_earlier && coll_select_applicable(best_choice(one)->algorithm, call))
        *choice = *best_choice(one);
    if (one || !may_pay(all, choice) || comm->rank > 0)
        return;
    int64_t time;
    coll_tuning_entry note = entry_for(call);
    int best = recall_best(call, &note, &time);
    if (best >= 0)
        *choice = recalled_choice(call->operation, best, time);
}

/* --- The communicator's slot --- */

static int open_tunings(coll_comm *comm, const coll_comm *whole) {
    comm_tunings *all = tunings_of(comm);
    all->comm = comm;
    all->off = whole;
    return MPI_SUCCESS;
}

/* Unless a communicator is broken, either all its ranks close it or none does. */
static void close_tunings(void *slot) {
    for (coll_autotuning *next, *one = ((comm_tunings *)slot)->first; one; one = next) {
        next = one->next;
        if (!one->comm->broken)
            (void)coll_agreement_finish(&one->agreement);
        if (one->comm->broken)
            return; /* messages may still arrive in the memory of ONE */
        coll_reserve_free(one);
    }
}

coll_comm_key coll_autotune_key = {
    .bytes = sizeof(comm_tunings), .open = open_tunings, .close = close_tunings};

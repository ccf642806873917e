/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/analysis.h"

#include <stdlib.h>
#include <string.h>

/* Writes what RANK, which waits for nobody, does instead. */
static void append_condition(watch_analysis *v, watch_text *text, int rank) {
    const watch_state *state = &v->states[rank];
    static const char *const fates[] = {
        [WATCH_STOPPED] = "is stopped, as by SIGSTOP or a debugger",
        [WATCH_GONE] = "has no process any more: it has ended or was killed",
        [WATCH_UNREACHABLE] = "can't be reached: nothing has come from there, asked twice"};
    if (v->conditions[rank] == WATCH_FINISHED) {
        watch_append(text, "is in MPI_Finalize");
    } else if (state->fate == WATCH_LEFT) {
        watch_append(text, "has ended without MPI_Finalize, with status %d", state->status);
    } else if (state->fate != WATCH_ANSWERS) {
        watch_append(text, "%s", fates[state->fate]);
    } else {
        watch_append(text, "is in no MPI call that waits, for ");
        watch_append_time(text, state->head.outside);
        if (state->head.asleep[0])
            watch_append(text, ", and sleeps in %s", state->head.asleep);
    }
}

/* Writes the process and host of a rank that is the first of COUNT ranks with the same finding. */
static void append_process(const watch_state *state, watch_text *text, int count) {
    if (count > 1)
        watch_append(text, " (rank %d: process %d on %s)", state->head.rank, state->head.pid,
                     state->host);
    else
        watch_append(text, " (process %d on %s)", state->head.pid, state->host);
}

/*
 * Lists the ranks that certainly wait for RANK or, if there are none, the ranks that perhaps wait
 * for it. Leaves out ranks that wait for any one of several ranks. Returns how many.
 */
static int find_waiters(const watch_analysis *v, int rank, int waiters[]) {
    for (unsigned char how = WATCH_SURELY; how >= WATCH_PERHAPS; how--) {
        int count = 0;
        for (int other = 0; other < v->ranks; other++)
            if (other != rank && v->conditions[other] == WATCH_WAITING && !v->any[other] &&
                v->waits[other * v->ranks + rank] == how)
                waiters[count++] = other;
        if (count)
            return count;
    }
    return 0;
}

static bool is_unreachable(const watch_analysis *v, int rank) {
    return v->states[rank].fate == WATCH_UNREACHABLE;
}

/* Writes RANK and, if RANK can't be reached, all other unreachable ranks. Returns how many ranks it
 * has written. */
static int append_lost_ranks(watch_analysis *v, watch_text *text, int rank) {
    int *ranks = malloc((size_t)v->ranks * sizeof *ranks), count = 0;
    for (int other = 0; ranks && other < v->ranks; other++)
        if (other == rank || (is_unreachable(v, rank) && is_unreachable(v, other)))
            ranks[count++] = other;
    if (ranks)
        watch_append_ranks(text, ranks, count);
    watch_append(text, " ");
    free(ranks);
    return count;
}

/*
 * Returns whether RANK is covered by an earlier finding. All unreachable ranks share the finding of
 * the first of them.
 */
static bool was_reported(const watch_analysis *v, int rank) {
    for (int other = 0; is_unreachable(v, rank) && other < rank; other++)
        if (is_unreachable(v, other))
            return true;
    return false;
}

/* Returns whether the text about the call of rank ONE is also true of the call of rank OTHER. */
static bool is_same_call(const watch_analysis *v, int one, int other) {
    const watch_record *x = watch_analysis_call(v, one), *y = watch_analysis_call(v, other);
    char of_one[512], of_other[512];
    if (x->call != y->call || x->comm != y->comm || x->number != y->number)
        return false;
    if (x->number)
        return true;
    watch_text first = watch_text_in(of_one, sizeof of_one);
    watch_text second = watch_text_in(of_other, sizeof of_other);
    watch_analysis_append_call(v, &first, one);
    watch_analysis_append_call(v, &second, other);
    return strcmp(of_one, of_other) == 0;
}

static void report_absent_rank(watch_analysis *v, int rank, int waiters[]) {
    if (v->conditions[rank] == WATCH_WAITING || v->conditions[rank] == WATCH_MOVING ||
        was_reported(v, rank))
        return;
    int count = find_waiters(v, rank, waiters);
    bool lost = v->conditions[rank] == WATCH_LOST;
    bool hangs = false;
    for (int i = 0; i < count; i++)
        hangs = hangs || v->stuck[waiters[i]];
    watch_text text;
    if ((!count && !lost) ||
        !watch_analysis_add(v, lost ? WATCH_MISSING : WATCH_ABSENT, rank, hangs, &text))
        return;
    int lost_ranks = append_lost_ranks(v, &text, rank);
    append_condition(v, &text, rank);
    if (v->states[rank].fate != WATCH_ANSWERS)
        append_process(&v->states[rank], &text, lost_ranks);
    if (!count)
        return;
    int first_waiter = waiters[0], same = 0;
    for (int i = 0; i < count; i++)
        if (is_same_call(v, first_waiter, waiters[i]))
            waiters[same++] = waiters[i];
    watch_append(&text, ", where ");
    watch_append_ranks(&text, waiters, same);
    watch_append(&text, same > 1 ? " wait for it in " : " waits for it in ");
    watch_analysis_append_call(v, &text, first_waiter);
    if (same < count)
        watch_append(&text, ", and %d more in other calls", count - same);
}

bool watch_analysis_find_absent(watch_analysis *v) {
    int *waiters = malloc((size_t)v->ranks * sizeof *waiters);
    for (int rank = 0; waiters && rank < v->ranks; rank++)
        report_absent_rank(v, rank, waiters);
    free(waiters);
    return waiters != NULL;
}

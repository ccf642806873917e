/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/analysis.h"
#include "watch/calls.h"
#include "watch/signature.h"

#include <stdlib.h>

typedef struct ranked_record {
    const watch_record *record;
    int rank;
} ranked_record;

static int compare_place(const void *a, const void *b) {
    const ranked_record *one = a, *other = b;
    const watch_record *x = one->record, *y = other->record;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return one->rank - other->rank;
}

static bool calls_differ(const watch_record *a, const watch_record *b) {
    const watch_call_kind *kind = &watch_calls[a->call];
    return a->call != b->call || (kind->rooted && a->peer != b->peer) ||
           (kind->reduces && a->op != b->op) || watch_signature_differs(&a->data, &b->data);
}

/*
 * Lists all collectives on intracommunicators with certain ids, sorted by communicator, number and
 * rank.
 */
static ranked_record *list_collectives(const watch_analysis *v, int *count) {
    size_t most = 0;
    for (int rank = 0; rank < v->ranks; rank++)
        most += v->states[rank].head.records;
    ranked_record *list = malloc((most + 1) * sizeof *list);
    *count = 0;
    for (int rank = 0; list && rank < v->ranks; rank++) {
        const watch_state *state = &v->states[rank];
        for (uint32_t i = 0; i < state->head.records; i++) {
            const watch_record *record = &state->records[i];
            if (record->number && !(record->comm & WATCH_ALONE))
                list[(*count)++] = (ranked_record){record, rank};
        }
    }
    if (list)
        qsort(list, (size_t)*count, sizeof *list, compare_place);
    return list;
}

/* Lists the ranks in LIST whose call is the same as that of entry FIRST. Returns how many. */
static int list_ranks_with_same_call(const ranked_record list[], int count, int first,
                                     int ranks[]) {
    int found = 0;
    for (int i = 0; i < count; i++)
        if (!calls_differ(list[i].record, list[first].record))
            ranks[found++] = list[i].rank;
    return found;
}

/* Writes in which respect OTHER differs from MOST if both call the same function. */
static void append_difference(watch_text *text, const watch_record *other,
                              const watch_record *most) {
    const watch_call_kind *kind = &watch_calls[other->call];
    if (other->call != most->call)
        return;
    if (kind->rooted && other->peer != most->peer)
        watch_append(text, ": another root");
    else if (kind->reduces && other->op != most->op)
        watch_append(text, ": another operation");
    else if (other->data.bytes != most->data.bytes)
        watch_append(text, ": another amount of data");
    else
        watch_append(text, ": another type");
}

static void report_mismatch(watch_analysis *v, const ranked_record list[], int count) {
    int *ranks = malloc(2 * (size_t)count * sizeof *ranks);
    if (!ranks)
        return;
    int best = 0, best_count = 0, odd = 0;
    for (int i = 0; i < count; i++) {
        int found = list_ranks_with_same_call(list, count, i, ranks);
        /*
         * A call whose data is unknown equals all others, so it can't show which call is the usual
         * one.
         */
        if (found > best_count && found < count) {
            best = i;
            best_count = found;
        }
    }
    while (!calls_differ(list[odd].record, list[best].record))
        odd++;
    const watch_record *one = list[odd].record, *most = list[best].record;
    int odd_count = list_ranks_with_same_call(list, count, odd, ranks);
    best_count = list_ranks_with_same_call(list, count, best, ranks + count);
    watch_text text;
    if (watch_analysis_add(v, WATCH_MISMATCH, list[odd].rank, true, &text)) {
        watch_append_ranks(&text, ranks, odd_count);
        watch_append(&text, one->open ? (odd_count > 1 ? " are in " : " is in ") : " called ");
        watch_append_call(&text, one);
        watch_append_call_comm(&text, one, v->states, v->ranks);
        watch_append(&text, ", where ");
        watch_append_ranks(&text, ranks + count, best_count);
        watch_append(&text, most->open ? (best_count > 1 ? " are in " : " is in ") : " called ");
        watch_append_call(&text, most);
        append_difference(&text, one, most);
    }
    free(ranks);
}

bool watch_analysis_find_mismatches(watch_analysis *v) {
    int count;
    ranked_record *list = list_collectives(v, &count);
    if (!list)
        return false;
    uint64_t done = 0;
    for (int first = 0, next; first < count; first = next) {
        const watch_record *record = list[first].record;
        bool different = false;
        for (next = first; next < count && list[next].record->comm == record->comm &&
                           list[next].record->number == record->number;
             next++)
            different = different || calls_differ(list[next].record, record);
        if (different && record->comm != done) {
            report_mismatch(v, list + first, next - first);
            done = record->comm;
        }
    }
    free(list);
    return true;
}

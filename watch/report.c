/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/report.h"

#include "lib/base/c_locale.h"
#include "lib/base/json.h"
#include "watch/addr2line.h"
#include "watch/calls.h"
#include "watch/format.h"
#include "watch/signature.h"
#include "watch/stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns a rank's oldest open call, or NULL. */
static const watch_record *oldest_open_call(const watch_state *state) {
    const watch_record *found = NULL;
    for (uint32_t i = 0; i < state->head.records; i++)
        if (state->records[i].open && (!found || state->records[i].begun > found->begun))
            found = &state->records[i];
    return found;
}

static uint64_t duration_of(const watch_state *state) {
    const watch_record *call = oldest_open_call(state);
    return state->fate != WATCH_ANSWERS ? 0 : call ? call->begun : state->head.outside;
}

/* How many requests of a call are written, and how many groups. */
enum { SAID = 3, SHOWN = 40 };

/* Returns whether ranks may pass different arguments to CALL without an error. */
static bool may_differ(const watch_record *call) {
    watch_waits waits = watch_calls[call->call].waits;
    return waits == WATCH_SEND || waits == WATCH_RECEIVE || waits == WATCH_EXCHANGE ||
           waits == WATCH_PROBE || waits == WATCH_REQUESTS;
}

static bool same_data(const watch_record *x, const watch_record *y) {
    return x->data.bytes == y->data.bytes && x->data.basic == y->data.basic;
}

/* Returns whether A and B do the same, apart from arguments that may differ. */
static bool do_the_same(const watch_state *a, const watch_state *b) {
    const watch_record *x = oldest_open_call(a), *y = oldest_open_call(b);
    if (a->fate != b->fate || !x != !y)
        return false;
    if (a->fate == WATCH_STOPPED)
        return strcmp(a->host, b->host) == 0;
    if (a->fate != WATCH_ANSWERS)
        return a->status == b->status;
    if (!x)
        return strcmp(a->head.asleep, b->head.asleep) == 0 &&
               strcmp(a->head.stack[0].function, b->head.stack[0].function) == 0;
    if (x->call != y->call || x->comm != y->comm || x->number != y->number)
        return false;
    return may_differ(x) || (x->tag == y->tag && x->op == y->op && same_data(x, y) &&
                             (!watch_calls[x->call].rooted || x->peer == y->peer));
}

/* Lists the messages and collectives that CALL waits for, at most one more than are written. */
static int list_awaited(const watch_state *state, const watch_record *call,
                        watch_awaited list[SAID + 1]) {
    int count = 0;
    if (watch_calls[call->call].waits != WATCH_REQUESTS) {
        list[count++] = watch_awaited_of(call);
        return count;
    }
    for (uint32_t i = 0; i < state->head.awaited && count <= SAID; i++)
        if (state->awaited[i].waiter == call->serial && state->awaited[i].known)
            list[count++] = state->awaited[i];
    return count;
}

static bool same_but_partner(const watch_awaited *x, const watch_awaited *y) {
    return x->call == y->call && x->comm == y->comm && x->number == y->number && x->tag == y->tag &&
           x->from_tag == y->from_tag && x->op == y->op &&
           (!watch_calls[x->call].rooted || x->peer == y->peer);
}

static int source_of(const watch_awaited *what) {
    return watch_calls[what->call].waits == WATCH_EXCHANGE ? what->from : what->peer;
}

static int shift_of(const watch_state *state, uint64_t comm, int peer) {
    return watch_shift_of(watch_comm_known(comm, state, 1), peer);
}

/*
 * Returns whether, on COMM, the distance from the rank of state A to P equals the distance from the
 * rank of state B to Q. If P has no distance, as MPI_PROC_NULL or MPI_ANY_SOURCE, Q must equal P.
 */
static bool at_one_shift(const watch_state *a, int p, const watch_state *b, int q, uint64_t comm) {
    const int shift = shift_of(a, comm, p);
    return shift < 0 ? p == q : shift == shift_of(b, comm, q);
}

/* Updates the flags of GROUP for a rank with state B. A is the state of the group's first rank. */
static void update_group(watch_group *group, const watch_state *a, const watch_state *b) {
    const watch_record *x = oldest_open_call(a), *y = oldest_open_call(b);
    watch_awaited of_a[SAID + 1], of_b[SAID + 1];
    if (!x || !may_differ(x))
        return;
    int count = list_awaited(a, x, of_a);
    group->differ = group->differ || x->count != y->count || !same_data(x, y) ||
                    count != list_awaited(b, y, of_b);
    for (int i = 0; i < count && !group->differ; i++) {
        const watch_awaited *p = &of_a[i], *q = &of_b[i];
        bool same = p->peer == q->peer && source_of(p) == source_of(q);
        group->differ = !same_but_partner(p, q);
        group->one_partner = group->one_partner && same;
        group->one_shift =
            group->one_shift && (watch_calls[p->call].rooted
                                     ? same
                                     : at_one_shift(a, p->peer, b, q->peer, p->comm) &&
                                           at_one_shift(a, source_of(p), b, source_of(q), p->comm));
    }
    group->differ = group->differ || (!group->one_partner && !group->one_shift);
}

/*
 * Adds RANK to a group, if necessary to a new one. Ranks whose arguments differ share a group only
 * if MIXED.
 */
static void put_in_group(watch_report *report, int rank, bool mixed) {
    const watch_state *state = &report->states[rank];
    uint64_t time = duration_of(state);
    for (int i = 0; i < report->group_count; i++) {
        watch_group group = report->groups[i];
        const watch_state *first = &report->states[group.first];
        if (!do_the_same(first, state))
            continue;
        update_group(&group, first, state);
        if (group.differ && !mixed)
            continue;
        group.shortest = time < group.shortest ? time : group.shortest;
        group.longest = time > group.longest ? time : group.longest;
        report->groups[i] = group;
        report->group_of[rank] = i;
        return;
    }
    report->group_of[rank] = report->group_count;
    report->groups[report->group_count++] = (watch_group){
        .first = rank, .one_partner = true, .one_shift = true, .shortest = time, .longest = time};
}

/*
 * Divides the ranks into groups. Returns false if there are more groups than are shown, unless
 * MIXED.
 */
static bool make_groups(watch_report *report, bool mixed) {
    report->group_count = 0;
    for (int rank = 0; rank < report->ranks; rank++) {
        put_in_group(report, rank, mixed);
        if (!mixed && report->group_count > SHOWN)
            return false;
    }
    return true;
}

bool watch_report_make(watch_report *report) {
    size_t ranks = (size_t)report->ranks;
    report->groups = malloc(ranks * sizeof *report->groups);
    report->group_of = malloc(ranks * sizeof *report->group_of);
    report->group_count = 0;
    if (!report->groups || !report->group_of ||
        !watch_diagnose(report->states, report->ranks, report->young, &report->diagnosis)) {
        watch_report_free(report);
        return false;
    }
    if (!make_groups(report, false))
        make_groups(report, true);
    return true;
}

void watch_report_free(watch_report *report) {
    free(report->groups);
    free(report->group_of);
    report->groups = NULL;
    report->group_of = NULL;
}

/* --- As text --- */

/* Writes CALL and the first few of its requests. If SHIFTED, writes the distances of partners. */
static void append_call(watch_text *text, const watch_state *state, const watch_record *call,
                        bool shifted) {
    watch_awaited list[SAID + 1];
    watch_append_shifted_call(text, call, shifted ? watch_comm_known(call->comm, state, 1) : NULL);
    if (watch_calls[call->call].waits != WATCH_REQUESTS)
        return;
    int count = list_awaited(state, call, list);
    for (int i = 0; i < count; i++) {
        const watch_awaited *what = &list[i];
        if (i == SAID) {
            watch_append(text, ", ...");
            return;
        }
        watch_record as_call = {.call = what->call,
                                .op = what->op,
                                .comm = what->comm,
                                .peer = what->peer,
                                .tag = what->tag,
                                .from = what->from,
                                .from_tag = what->from_tag};
        watch_append(text, i == 0 ? ": " : "; ");
        watch_append_shifted_call(text, &as_call,
                                  shifted ? watch_comm_known(what->comm, state, 1) : NULL);
    }
}

/*
 * Writes what RANK does. If GROUP is not NULL, RANK is its first rank, and the text is true of all
 * its ranks.
 */
static void append_what_rank_does(watch_text *text, const watch_report *report, int rank,
                                  const watch_group *group) {
    const watch_state *state = &report->states[rank];
    const watch_record *call = oldest_open_call(state);
    static const char *const fates[] = {
        [WATCH_SILENT] = "no answer, though the host is there",
        [WATCH_STOPPED] = "stopped",
        [WATCH_GONE] = "ended or killed: there is no process any more",
        [WATCH_UNREACHABLE] = "no answer, nor anything else from the host, asked twice",
        [WATCH_NO_FILE] = "no answer"};
    if (state->fate == WATCH_LEFT) {
        watch_append(text, "ended without MPI_Finalize, with status %d", state->status);
    } else if (state->fate != WATCH_ANSWERS) {
        watch_append(text, "%s", fates[state->fate]);
        if (state->fate == WATCH_STOPPED)
            watch_append(text, " (%s)", state->host);
    } else if (!call) {
        watch_append(text, "in no MPI call that waits");
        if (state->head.asleep[0])
            watch_append(text, ", sleeps in %s", state->head.asleep);
    } else {
        if (group && group->differ)
            watch_append(text, "%s with arguments that differ by rank",
                         watch_calls[call->call].name);
        else
            append_call(text, state, call, group && !group->one_partner);
        watch_append_call_comm(text, call, report->states, report->ranks);
    }
}

static int ranks_of(const watch_report *report, int group, int ranks[]) {
    int count = 0;
    for (int rank = 0; rank < report->ranks; rank++)
        if (report->group_of[rank] == group)
            ranks[count++] = rank;
    return count;
}

static void append_times(watch_text *text, const watch_group *group) {
    if (!group->longest)
        return;
    watch_append(text, " for ");
    if (group->longest - group->shortest > 200000000) {
        watch_append_time(text, group->shortest);
        watch_append(text, " to ");
    }
    watch_append_time(text, group->longest);
}

/* How many groups are shown with places, and with how many stack frames. */
enum { PLACED = 6, DEEPEST = 6, PLACES = PLACED * DEEPEST };
_Static_assert((int)PLACES <= (int)WATCH_LINES, "all places have lines");

/*
 * Returns how many stack frames of GROUP's first rank are shown: only the place of its call or,
 * outside of calls, its stack.
 */
static int count_places(const watch_report *report, int group) {
    const watch_state *state = &report->states[report->groups[group].first];
    int most = oldest_open_call(state) ? 1 : DEEPEST, count = 0;
    if (group >= PLACED || state->fate != WATCH_ANSWERS)
        return 0;
    while (count < state->head.frames && count < most)
        if (strcmp(state->head.stack[count++].function, "main") == 0)
            break;
    return count;
}

/* Prints where in the program GROUP's first rank is. LINES are the source lines of its places. */
static void print_places(FILE *stream, const watch_report *report, int group,
                         watch_source_line lines[]) {
    const watch_state *state = &report->states[report->groups[group].first];
    char place[256];
    for (int i = 0; i < count_places(report, group); i++) {
        watch_stack_print(&state->head.stack[i], lines[i], place, sizeof place);
        fprintf(stream, "coll: watch:         %s %s\n", i == 0 ? "at" : "from", place);
    }
}

static void print_groups(FILE *stream, const watch_report *report, int ranks[]) {
    char text_of_group[1024];
    const watch_place *places[PLACES];
    watch_source_line lines[PLACES];
    int placed = 0;
    for (int i = 0; i < report->group_count; i++)
        for (int k = 0; k < count_places(report, i); k++)
            places[placed++] = &report->states[report->groups[i].first].head.stack[k];
    watch_addr2line_find(places, lines, placed);
    placed = 0;
    for (int i = 0; i < report->group_count && i < SHOWN; i++) {
        const watch_group *group = &report->groups[i];
        watch_text text = watch_text_in(text_of_group, sizeof text_of_group);
        watch_append_ranks(&text, ranks, ranks_of(report, i, ranks));
        watch_append(&text, ": ");
        append_what_rank_does(&text, report, group->first, group);
        append_times(&text, group);
        fprintf(stream, "coll: watch:   %s\n", text_of_group);
        print_places(stream, report, i, lines + placed);
        placed += count_places(report, i);
    }
    if (report->group_count > SHOWN)
        fprintf(stream, "coll: watch:   and %d groups more\n", report->group_count - SHOWN);
}

void watch_report_print(FILE *stream, const watch_report *report) {
    const watch_diagnosis *diagnosis = &report->diagnosis;
    int *ranks = malloc((size_t)report->ranks * sizeof *ranks);
    if (!ranks)
        return;
    locale_t before = coll_c_locale_begin();
    if (report->failed >= 0)
        fprintf(stream, "coll: watch: a call of rank %d has failed: %s\n", report->failed,
                report->failure);
    fprintf(stream, "coll: watch: what the %d ranks do, as rank %d reports:\n", report->ranks,
            report->reporter);
    print_groups(stream, report, ranks);
    for (int i = 0; i < diagnosis->count; i++)
        fprintf(stream, "coll: watch: %s: %s\n", i == 0 ? "diagnosis" : "and",
                diagnosis->findings[i].text);
    if (diagnosis->count == 0)
        fprintf(stream, "coll: watch: no rank is known to wait in vain\n");
    coll_c_locale_end(before);
    free(ranks);
}

/* --- For programs: JSON, and lines for coll-watch --top --- */

static void write_group(FILE *stream, const watch_report *report, int group, int ranks[]) {
    char does[1024];
    const watch_group *what = &report->groups[group];
    const watch_record *call = oldest_open_call(&report->states[what->first]);
    watch_text text = watch_text_in(does, sizeof does);
    int count = ranks_of(report, group, ranks);
    append_what_rank_does(&text, report, what->first, what);
    fprintf(stream, "{\"ranks\": [");
    for (int i = 0; i < count; i++)
        fprintf(stream, i ? ", %d" : "%d", ranks[i]);
    fprintf(stream, "], \"does\": ");
    coll_json_write_string(stream, does);
    if (call)
        fprintf(stream, ", \"call\": \"%s\"", watch_calls[call->call].name);
    if (call && call->number)
        fprintf(stream, ", \"number\": %u", call->number);
    fprintf(stream, ", \"seconds\": %.3f}", (double)what->longest * 1e-9);
}

void watch_report_json(FILE *stream, const watch_report *report) {
    const watch_diagnosis *diagnosis = &report->diagnosis;
    int *ranks = malloc((size_t)report->ranks * sizeof *ranks);
    if (!ranks)
        return;
    locale_t before = coll_c_locale_begin();
    fprintf(stream, "{\"ranks\": %d, \"reporter\": %d, \"groups\": [", report->ranks,
            report->reporter);
    for (int i = 0; i < report->group_count; i++) {
        fprintf(stream, i ? ", " : "");
        write_group(stream, report, i, ranks);
    }
    fprintf(stream, "], \"hang\": %s, \"findings\": [",
            watch_diagnosis_hangs(diagnosis) ? "true" : "false");
    for (int i = 0; i < diagnosis->count; i++) {
        const watch_finding *finding = &diagnosis->findings[i];
        fprintf(stream, "%s{\"kind\": \"%s\", \"rank\": %d, \"text\": ", i ? ", " : "",
                watch_finding_name(finding->kind), finding->rank);
        coll_json_write_string(stream, finding->text);
        fprintf(stream, "}");
    }
    fprintf(stream, "]}\n");
    coll_c_locale_end(before);
    free(ranks);
}

void watch_report_sample(FILE *stream, const watch_report *report) {
    char does[512];
    for (int rank = 0; rank < report->ranks; rank++) {
        const watch_state *state = &report->states[rank];
        const watch_record *call = oldest_open_call(state);
        uint64_t inside = state->head.inside + (call ? call->begun : 0);
        watch_text text = watch_text_in(does, sizeof does);
        append_what_rank_does(&text, report, rank, NULL);
        fprintf(stream, "%d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
                rank, (int)state->fate, state->head.calls, state->head.bytes, inside,
                state->head.age, duration_of(state), does);
    }
}

#include "config.h"

#include "watch/diagnosis.h"

#include "watch/calls.h"
#include "watch/messages.h"
#include "watch/signature.h"
#include "watch/words.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* How sure it is that a rank waits for another. */
enum { NOT, PERHAPS, SURELY };

/* What a rank's state means for those that wait for it. */
typedef enum condition {
    MOVING,   /* it may go on: its call is young, or has all that it needs, or isn't understood */
    WAITING,  /* for all that its row in WAITS names, or, with ANY, for any of them */
    OUTSIDE,  /* in no call */
    FINISHED, /* in MPI_Finalize */
    LOST      /* its process has ended, is stopped, or its host doesn't answer */
} condition;

typedef struct view {
    const watch_state *states;
    int ranks;
    uint64_t young;
    condition *conditions;
    bool *any;            /* with WAITING */
    bool *stuck;          /* it never goes on by itself */
    unsigned char *waits; /* [rank * ranks + other] */
    watch_diagnosis *out;
} view;

const char *watch_finding_name(watch_finding_kind kind) {
    static const char *const names[] = {"mismatch", "cycle",  "unsent",
                                        "unwanted", "absent", "missing"};
    return names[kind];
}

/* A new finding about RANK, whose text *TEXT writes; NULL: there are enough. */
static watch_finding *add(view *v, watch_finding_kind kind, int rank, watch_text *text) {
    if (v->out->count == WATCH_FINDINGS)
        return NULL;
    watch_finding *finding = &v->out->findings[v->out->count++];
    finding->kind = kind;
    finding->rank = rank;
    *text = watch_text_in(finding->text, sizeof finding->text);
    return finding;
}

/* --- Ranks that make different calls as the same collective --- */

typedef struct made {
    const watch_record *record;
    int rank;
} made;

static int by_place(const void *a, const void *b) {
    const made *one = a, *other = b;
    const watch_record *x = one->record, *y = other->record;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return one->rank - other->rank;
}

static bool differ(const watch_record *a, const watch_record *b) {
    const watch_call_kind *kind = &watch_calls[a->call];
    return a->call != b->call || (kind->rooted && a->peer != b->peer) ||
           (kind->reduces && a->op != b->op) || watch_signature_differs(&a->data, &b->data);
}

/* All collectives that all ranks mean alike, ordered by communicator, number and rank. */
static made *list_collectives(const view *v, int *count) {
    size_t most = 0;
    for (int rank = 0; rank < v->ranks; rank++)
        most += v->states[rank].head.records;
    made *list = malloc((most + 1) * sizeof *list);
    *count = 0;
    for (int rank = 0; list && rank < v->ranks; rank++) {
        const watch_state *state = &v->states[rank];
        for (uint32_t i = 0; i < state->head.records; i++) {
            const watch_record *record = &state->records[i];
            if (record->number && !(record->comm & WATCH_ALONE))
                list[(*count)++] = (made){record, rank};
        }
    }
    if (list)
        qsort(list, (size_t)*count, sizeof *list, by_place);
    return list;
}

/* Ranks of LIST whose call is as that at FIRST. */
static int alike(const made list[], int count, int first, int ranks[]) {
    int found = 0;
    for (int i = 0; i < count; i++)
        if (!differ(list[i].record, list[first].record))
            ranks[found++] = list[i].rank;
    return found;
}

/* What sets OTHER apart from MOST, after its call is said. */
static void say_difference(watch_text *text, const watch_record *other, const watch_record *most) {
    const watch_call_kind *kind = &watch_calls[other->call];
    if (other->call != most->call)
        return;
    if (kind->rooted && other->peer != most->peer)
        watch_say(text, ": another root");
    else if (kind->reduces && other->op != most->op)
        watch_say(text, ": another operation");
    else if (other->data.bytes != most->data.bytes)
        watch_say(text, ": another amount of data");
    else
        watch_say(text, ": another type");
}

static void report_mismatch(view *v, const made list[], int count) {
    int *ranks = malloc(2 * (size_t)count * sizeof *ranks);
    if (!ranks)
        return;
    int best = 0, best_count = 0, odd = 0;
    for (int i = 0; i < count; i++) {
        int found = alike(list, count, i, ranks);
        /* A call whose data aren't known is like all others: it says nothing of what is right. */
        if (found > best_count && found < count) {
            best = i;
            best_count = found;
        }
    }
    while (!differ(list[odd].record, list[best].record))
        odd++;
    const watch_record *one = list[odd].record, *most = list[best].record;
    int odd_count = alike(list, count, odd, ranks);
    best_count = alike(list, count, best, ranks + count);
    watch_text text;
    if (add(v, WATCH_MISMATCH, list[odd].rank, &text)) {
        watch_say_ranks(&text, ranks, odd_count);
        watch_say(&text, one->open ? (odd_count > 1 ? " are in " : " is in ") : " called ");
        watch_say_call(&text, one);
        watch_say(&text, ", the ");
        watch_say_ordinal(&text, one->number);
        watch_say(&text, " collective on ");
        watch_say_comm(&text, one->comm, v->states, v->ranks);
        watch_say(&text, ", where ");
        watch_say_ranks(&text, ranks + count, best_count);
        watch_say(&text, most->open ? (best_count > 1 ? " are in " : " is in ") : " called ");
        watch_say_call(&text, most);
        say_difference(&text, one, most);
    }
    free(ranks);
}

/* The first on each communicator: what follows is its consequence. */
static bool find_mismatches(view *v) {
    int count;
    made *list = list_collectives(v, &count);
    if (!list)
        return false;
    uint64_t done = 0;
    for (int first = 0, next; first < count; first = next) {
        const watch_record *record = list[first].record;
        bool different = false;
        for (next = first; next < count && list[next].record->comm == record->comm &&
                           list[next].record->number == record->number;
             next++)
            different = different || differ(list[next].record, record);
        if (different && record->comm != done) {
            report_mismatch(v, list + first, next - first);
            done = record->comm;
        }
    }
    free(list);
    return true;
}

/* --- Who waits for whom --- */

static void wait_for(view *v, int rank, int other, unsigned char how) {
    if (other >= 0 && other < v->ranks && v->waits[rank * v->ranks + other] < how)
        v->waits[rank * v->ranks + other] = how;
}

static bool is_in_call(const view *v, int rank) {
    return v->conditions[rank] == WAITING || v->conditions[rank] == MOVING ||
           v->conditions[rank] == FINISHED;
}

/* The only open call of RANK, or NULL. */
static const watch_record *call_of(const view *v, int rank) {
    const watch_record *found = NULL;
    const watch_state *state = &v->states[rank];
    for (uint32_t i = 0; i < state->head.records; i++) {
        if (!state->records[i].open)
            continue;
        if (found)
            return NULL;
        found = &state->records[i];
    }
    return found;
}

static bool in_any_call(const watch_state *state) {
    for (uint32_t i = 0; i < state->head.records; i++)
        if (state->records[i].open)
            return true;
    return false;
}

static condition condition_of(const view *v, int rank) {
    const watch_state *state = &v->states[rank];
    if (state->fate == WATCH_SILENT)
        return MOVING;
    if (state->fate != WATCH_ANSWERS)
        return LOST;
    if (!in_any_call(state))
        return state->head.outside >= v->young ? OUTSIDE : MOVING;
    const watch_record *call = call_of(v, rank);
    if (!call || call->begun < v->young)
        return MOVING;
    return strcmp(watch_calls[call->call].name, "MPI_Finalize") == 0 ? FINISHED : WAITING;
}

/*
 * RANK waits in collective NUMBER on COMM for the members that have not begun it. False: none is
 * known to be missing.
 */
static bool wait_in_collective(view *v, int rank, uint64_t comm, uint32_t number) {
    int known = 0, size = 0;
    bool missing = false;
    for (int other = 0; other < v->ranks; other++) {
        const watch_comm_info *info = watch_comm_known(comm, &v->states[other], 1);
        if (!info)
            continue;
        known++;
        size = info->size;
        if (!info->certain || info->inter)
            return false;
        if (info->calls < number) {
            wait_for(v, rank, other, SURELY);
            missing = true;
        }
    }
    /* Of those that are lost nothing is known, but that they are among these. */
    int lost = 0;
    for (int other = 0; other < v->ranks; other++)
        lost += v->conditions[other] == LOST;
    for (int other = 0; other < v->ranks && (comm == WATCH_WORLD || size - known == lost);
         other++) {
        if (v->conditions[other] != LOST)
            continue;
        wait_for(v, rank, other, SURELY);
        missing = true;
    }
    return missing;
}

/* RANK waits for a message by WANT. False: one is on its way, or nothing is known. */
static bool wait_for_message(view *v, int rank, const watch_message *want) {
    int peer = watch_message_peer(want, v->states, v->ranks);
    if (want->peer == MPI_ANY_SOURCE) {
        if (watch_message_matched(want, rank, v->states, v->ranks) != WATCH_UNMATCHED)
            return false;
        v->any[rank] = true;
        for (int other = 0; other < v->ranks; other++)
            if (other != rank && watch_comm_known(want->comm, &v->states[other], 1))
                wait_for(v, rank, other, SURELY);
        return true;
    }
    if (peer < 0)
        return false;
    watch_matched matched = watch_message_matched(want, rank, v->states, v->ranks);
    if (v->conditions[peer] == LOST || matched == WATCH_UNMATCHED) {
        wait_for(v, rank, peer, SURELY);
        return true;
    }
    if (is_in_call(v, peer))
        return false;
    wait_for(v, rank, peer, PERHAPS);
    return true;
}

/* What one request, or a call as if it were one, waits for. */
static bool wait_for_request(view *v, int rank, const watch_awaited *what) {
    const watch_call_kind *kind = &watch_calls[what->call];
    if (!what->known)
        return false;
    if (kind->waits == WATCH_COLLECTIVE)
        return wait_in_collective(v, rank, what->comm, what->number);
    if (what->peer == MPI_PROC_NULL ||
        (kind->waits != WATCH_SEND && kind->waits != WATCH_RECEIVE && kind->waits != WATCH_PROBE))
        return false;
    watch_message want = {.comm = what->comm,
                          .peer = what->peer,
                          .tag = what->tag,
                          .sends = kind->waits == WATCH_SEND,
                          .probes = kind->waits == WATCH_PROBE};
    return wait_for_message(v, rank, &want);
}

static bool wait_for_requests(view *v, int rank, const watch_record *call) {
    const watch_state *state = &v->states[rank];
    const char *name = watch_calls[call->call].name;
    bool any = strcmp(name, "MPI_Waitany") == 0 || strcmp(name, "MPI_Waitsome") == 0;
    bool waits = false, all = true;
    for (uint32_t i = 0; i < state->head.awaited; i++) {
        if (state->awaited[i].waiter != call->serial)
            continue;
        bool one = wait_for_request(v, rank, &state->awaited[i]);
        waits = waits || one;
        all = all && one;
    }
    v->any[rank] = v->any[rank] || any;
    return any ? waits && all : waits;
}

static bool wait_in_call(view *v, int rank, const watch_record *call) {
    watch_awaited what = {.comm = call->comm,
                          .number = call->number,
                          .peer = call->peer,
                          .tag = call->tag,
                          .call = call->call,
                          .known = 1};
    switch (watch_calls[call->call].waits) {
    case WATCH_REQUESTS:
        return wait_for_requests(v, rank, call);
    case WATCH_EXCHANGE: {
        watch_message sent = {
            .comm = call->comm, .peer = call->peer, .tag = call->tag, .sends = true};
        watch_message wanted = {.comm = call->comm, .peer = call->from, .tag = call->from_tag};
        bool sends = call->peer != MPI_PROC_NULL && wait_for_message(v, rank, &sent);
        bool receives = call->from != MPI_PROC_NULL && wait_for_message(v, rank, &wanted);
        return sends || receives;
    }
    default:
        return wait_for_request(v, rank, &what);
    }
}

/* Ranks that can't go on unless another one does that can't either. */
static void find_stuck(view *v) {
    for (int rank = 0; rank < v->ranks; rank++)
        v->stuck[rank] = v->conditions[rank] == WAITING || v->conditions[rank] == FINISHED ||
                         v->conditions[rank] == LOST;
    for (bool changed = true; changed;) {
        changed = false;
        for (int rank = 0; rank < v->ranks; rank++) {
            if (v->conditions[rank] != WAITING || !v->stuck[rank])
                continue;
            bool none_moves = true, one_is_stuck = false;
            for (int other = 0; other < v->ranks; other++) {
                if (v->waits[rank * v->ranks + other] != SURELY)
                    continue;
                none_moves = none_moves && v->stuck[other];
                one_is_stuck = one_is_stuck || v->stuck[other];
            }
            bool stays = v->any[rank] ? none_moves && one_is_stuck : one_is_stuck;
            changed = changed || !stays;
            v->stuck[rank] = stays;
        }
    }
}

/* --- What is said of it --- */

/* "rank 1 is in MPI_Recv ..., the 3rd collective on ..." */
static void say_doing(view *v, watch_text *text, int rank) {
    const watch_record *call = call_of(v, rank);
    if (!call)
        return;
    watch_say_call(text, call);
    if (call->number) {
        watch_say(text, ", the ");
        watch_say_ordinal(text, call->number);
        watch_say(text, " collective on ");
        watch_say_comm(text, call->comm, v->states, v->ranks);
    } else if (call->comm && call->comm != WATCH_WORLD) {
        watch_say(text, " on ");
        watch_say_comm(text, call->comm, v->states, v->ranks);
    }
}

/* A message of RANK's that has no partner, with its near misses. False: all have, or nothing is
 * sure. */
static bool report_message(view *v, int rank, const watch_message *want, const watch_record *call) {
    int peer = watch_message_peer(want, v->states, v->ranks);
    watch_miss misses[4];
    if (watch_message_matched(want, rank, v->states, v->ranks) != WATCH_UNMATCHED)
        return false;
    int count = watch_message_misses(want, rank, v->states, v->ranks, misses, 4);
    bool final = peer < 0 || peer == rank || v->stuck[peer] || v->conditions[peer] == FINISHED;
    if (!count || !final)
        return false;
    watch_text text;
    if (!add(v, want->sends ? WATCH_UNWANTED : WATCH_UNSENT, rank, &text))
        return true;
    watch_say(&text, "rank %d is in ", rank);
    say_doing(v, &text, rank);
    if (watch_calls[call->call].waits == WATCH_REQUESTS ||
        watch_calls[call->call].waits == WATCH_EXCHANGE) {
        watch_say(&text, want->sends ? ", with a send to rank %d" : ", with a receive from rank %d",
                  want->peer);
        watch_say(&text, want->tag == MPI_ANY_TAG ? ", any tag" : ", tag %d", want->tag);
    }
    watch_say(&text, want->sends ? ", which no receive takes; but "
                                 : ", for which no message was sent; but ");
    for (int i = 0; i < count; i++) {
        const watch_miss *miss = &misses[i];
        if (i > 0)
            watch_say(&text, ", and ");
        watch_say(&text, want->sends ? "rank %d waits for" : "rank %d has sent", miss->rank);
        watch_say(&text, miss->surplus == 1 ? " one" : " %llu", (unsigned long long)miss->surplus);
        watch_say(&text, miss->tag == MPI_ANY_TAG ? " with any tag" : " with tag %d", miss->tag);
        if (want->sends)
            watch_say(&text, miss->peer == MPI_ANY_SOURCE ? " from any rank" : " from rank %d",
                      miss->peer);
        if (miss->comm != want->comm) {
            watch_say(&text, " on ");
            watch_say_comm(&text, miss->comm, v->states, v->ranks);
        }
    }
    watch_say(&text, want->sends ? "" : " that no receive has taken");
    return true;
}

static void report_request(view *v, int rank, const watch_awaited *what, const watch_record *call) {
    watch_waits waits = watch_calls[what->call].waits;
    if (!what->known || what->peer == MPI_PROC_NULL)
        return;
    if (waits != WATCH_SEND && waits != WATCH_RECEIVE && waits != WATCH_PROBE)
        return;
    watch_message want = {.comm = what->comm,
                          .peer = what->peer,
                          .tag = what->tag,
                          .sends = waits == WATCH_SEND,
                          .probes = waits == WATCH_PROBE};
    report_message(v, rank, &want, call);
}

static void report_messages(view *v, int rank) {
    const watch_record *call = call_of(v, rank);
    const watch_state *state = &v->states[rank];
    if (!call || v->conditions[rank] != WAITING)
        return;
    watch_awaited what = {
        .comm = call->comm, .peer = call->peer, .tag = call->tag, .call = call->call, .known = 1};
    if (watch_calls[call->call].waits == WATCH_EXCHANGE) {
        watch_message sent = {
            .comm = call->comm, .peer = call->peer, .tag = call->tag, .sends = true};
        watch_message wanted = {.comm = call->comm, .peer = call->from, .tag = call->from_tag};
        if (call->peer == MPI_PROC_NULL || !report_message(v, rank, &sent, call))
            report_message(v, rank, &wanted, call);
        return;
    }
    if (watch_calls[call->call].waits != WATCH_REQUESTS)
        report_request(v, rank, &what, call);
    for (uint32_t i = 0; i < state->head.awaited; i++)
        if (state->awaited[i].waiter == call->serial)
            report_request(v, rank, &state->awaited[i], call);
}

/* The next rank on a cycle: one that RANK surely waits for, and that waits in turn. */
static int next_stuck(const view *v, int rank) {
    for (int other = 0; other < v->ranks; other++)
        if (v->waits[rank * v->ranks + other] == SURELY && v->stuck[other] &&
            v->conditions[other] == WAITING)
            return other;
    return -1;
}

/* Whether one of PATH waits for a rank that will not come: then that is why, and not the cycle. */
static bool waits_for_lost(const view *v, const int path[], int length) {
    for (int i = 0; i < length; i++)
        for (int other = 0; other < v->ranks; other++)
            if (v->waits[path[i] * v->ranks + other] == SURELY &&
                (v->conditions[other] == FINISHED || v->conditions[other] == LOST))
                return true;
    return false;
}

static void report_cycle(view *v) {
    char *seen = calloc((size_t)v->ranks, 1);
    int *path = malloc((size_t)v->ranks * sizeof *path);
    for (int start = 0; seen && path && start < v->ranks; start++) {
        int length = 0, rank = start;
        if (seen[start] || !v->stuck[start] || v->conditions[start] != WAITING)
            continue;
        while (rank >= 0 && !seen[rank]) {
            seen[rank] = 1;
            path[length++] = rank;
            rank = next_stuck(v, rank);
        }
        int first = 0;
        while (first < length && path[first] != rank)
            first++;
        /* It leads nowhere, or into one that was reported. */
        if (rank < 0 || first == length || waits_for_lost(v, path + first, length - first))
            continue;
        watch_text text;
        if (!add(v, WATCH_CYCLE, path[first], &text))
            break;
        if (length - first == 1)
            watch_say(&text, "rank %d waits for itself", rank);
        else
            watch_say(&text, "%d ranks wait for one another", length - first);
        for (int i = first; i < length; i++) {
            watch_say(&text, i == first ? ": " : "; ");
            watch_say(&text, "rank %d is in ", path[i]);
            say_doing(v, &text, path[i]);
            if (length - first > 1)
                watch_say(&text, ", and waits for rank %d",
                          i + 1 < length ? path[i + 1] : path[first]);
        }
    }
    free(seen);
    free(path);
}

/* What keeps a rank that waits for nobody. */
static void say_condition(view *v, watch_text *text, int rank) {
    const watch_state *state = &v->states[rank];
    static const char *const fates[] = {
        [WATCH_STOPPED] = "is stopped, as by SIGSTOP or a debugger",
        [WATCH_GONE] = "has no process any more: it has ended or was killed",
        [WATCH_UNREACHABLE] = "can't be reached: nothing has come from there, asked twice"};
    if (v->conditions[rank] == FINISHED) {
        watch_say(text, "is in MPI_Finalize");
    } else if (state->fate == WATCH_LEFT) {
        watch_say(text, "has ended without MPI_Finalize, with status %d", state->status);
    } else if (state->fate != WATCH_ANSWERS) {
        watch_say(text, "%s", fates[state->fate]);
    } else {
        watch_say(text, "is in no MPI call that waits, for ");
        watch_say_time(text, state->head.outside);
        if (state->head.asleep[0])
            watch_say(text, ", and sleeps in %s", state->head.asleep);
    }
    if (state->fate != WATCH_ANSWERS && state->head.pid)
        watch_say(text, " (process %d on %s)", state->head.pid, state->host);
    else if (state->fate != WATCH_ANSWERS)
        watch_say(text, " (on %s)", state->host);
}

/* Those that surely wait for RANK itself, or, if there are none, that perhaps do. */
static int waiters_of(const view *v, int rank, int waiters[]) {
    for (unsigned char how = SURELY; how >= PERHAPS; how--) {
        int count = 0;
        for (int other = 0; other < v->ranks; other++)
            if (other != rank && v->conditions[other] == WAITING && !v->any[other] &&
                v->waits[other * v->ranks + rank] == how)
                waiters[count++] = other;
        if (count)
            return count;
    }
    return 0;
}

static bool is_unreachable(const view *v, int rank) {
    return v->states[rank].fate == WATCH_UNREACHABLE;
}

/* RANK, and where it can't be reached all others that can't. */
static void say_lost_ranks(view *v, watch_text *text, int rank) {
    int *ranks = malloc((size_t)v->ranks * sizeof *ranks), count = 0;
    for (int other = 0; ranks && other < v->ranks; other++)
        if (other == rank || (is_unreachable(v, rank) && is_unreachable(v, other)))
            ranks[count++] = other;
    if (ranks)
        watch_say_ranks(text, ranks, count);
    watch_say(text, " ");
    free(ranks);
}

/* Those that can't be reached are one finding, of the first of them. */
static bool was_reported(const view *v, int rank) {
    for (int other = 0; is_unreachable(v, rank) && other < rank; other++)
        if (is_unreachable(v, other))
            return true;
    return false;
}

static void report_absent(view *v, int rank, int waiters[]) {
    if (v->conditions[rank] == WAITING || v->conditions[rank] == MOVING || was_reported(v, rank))
        return;
    int count = waiters_of(v, rank, waiters);
    bool lost = v->conditions[rank] == LOST;
    watch_text text;
    if ((!count && !lost) || !add(v, lost ? WATCH_MISSING : WATCH_ABSENT, rank, &text))
        return;
    say_lost_ranks(v, &text, rank);
    say_condition(v, &text, rank);
    if (!count)
        return;
    /* The calls of the first, and of those that are in the same one. */
    const watch_record *first = call_of(v, waiters[0]);
    int same = 0;
    for (int i = 0; i < count; i++) {
        const watch_record *call = call_of(v, waiters[i]);
        if (call->call == first->call && call->comm == first->comm && call->number == first->number)
            waiters[same++] = waiters[i];
    }
    int first_waiter = waiters[0];
    watch_say(&text, ", where ");
    watch_say_ranks(&text, waiters, same);
    watch_say(&text, same > 1 ? " wait for it in " : " waits for it in ");
    say_doing(v, &text, first_waiter);
    if (same < count)
        watch_say(&text, ", and %d more in other calls", count - same);
}

static void judge(view *v) {
    for (int rank = 0; rank < v->ranks; rank++)
        v->conditions[rank] = condition_of(v, rank);
    for (int rank = 0; rank < v->ranks; rank++) {
        const watch_record *call = call_of(v, rank);
        if (v->conditions[rank] == WAITING && !wait_in_call(v, rank, call))
            v->conditions[rank] = MOVING;
    }
    find_stuck(v);
}

bool watch_diagnose(const watch_state states[], int ranks, uint64_t young,
                    watch_diagnosis *diagnosis) {
    size_t count = (size_t)ranks;
    view v = {.states = states,
              .ranks = ranks,
              .young = young,
              .conditions = calloc(count, sizeof *v.conditions),
              .any = calloc(count, sizeof *v.any),
              .stuck = calloc(count, sizeof *v.stuck),
              .waits = calloc(count, count),
              .out = diagnosis};
    int *waiters = malloc(count * sizeof *waiters);
    diagnosis->count = 0;
    bool done = v.conditions && v.any && v.stuck && v.waits && waiters && find_mismatches(&v);
    if (done) {
        bool explained = diagnosis->count > 0;
        judge(&v);
        for (int rank = 0; rank < ranks; rank++)
            report_messages(&v, rank);
        explained = explained || diagnosis->count > 0;
        /* A rank that waits for others, whom another error keeps, is in no cycle of its own making.
         */
        if (!explained)
            report_cycle(&v);
        for (int rank = 0; rank < ranks; rank++)
            report_absent(&v, rank, waiters);
    }
    free(v.conditions);
    free(v.any);
    free(v.stuck);
    free(v.waits);
    free(waiters);
    return done;
}

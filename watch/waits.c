/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/analysis.h"
#include "watch/calls.h"
#include "watch/messages.h"

#include <mpi.h>
#include <string.h>

static void note_wait(watch_analysis *v, int rank, int other, unsigned char how) {
    if (other >= 0 && other < v->ranks && v->waits[rank * v->ranks + other] < how)
        v->waits[rank * v->ranks + other] = how;
}

static bool is_in_call(const watch_analysis *v, int rank) {
    return v->conditions[rank] == WATCH_WAITING || v->conditions[rank] == WATCH_MOVING ||
           v->conditions[rank] == WATCH_FINISHED;
}

static watch_condition condition_of(const watch_analysis *v, int rank) {
    const watch_state *state = &v->states[rank];
    if (state->fate == WATCH_SILENT || state->fate == WATCH_NO_FILE)
        return WATCH_MOVING;
    if (state->fate != WATCH_ANSWERS)
        return WATCH_LOST;
    const watch_record *call = watch_analysis_call(v, rank);
    if (!call) /* OUTSIDE is 0 if several calls are open */
        return state->head.outside >= v->young ? WATCH_OUTSIDE : WATCH_MOVING;
    if (call->begun < v->young)
        return WATCH_MOVING;
    return strcmp(watch_calls[call->call].name, "MPI_Finalize") == 0 ? WATCH_FINISHED
                                                                     : WATCH_WAITING;
}

/*
 * Notes that RANK waits in collective NUMBER on COMM for the members that have not begun it.
 * Returns false if no member is known to be missing.
 */
static bool note_wait_in_collective(watch_analysis *v, int rank, uint64_t comm, uint32_t number) {
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
            note_wait(v, rank, other, WATCH_SURELY);
            missing = true;
        }
    }
    /*
     * Which communicators the lost ranks belong to is unknown. But if all other ranks have
     * answered, and as many members of COMM are unknown as ranks are lost, these members are taken
     * to be the lost ranks.
     */
    int lost = 0;
    bool silent = false;
    for (int other = 0; other < v->ranks; other++) {
        const unsigned fate = v->states[other].fate;
        lost += v->conditions[other] == WATCH_LOST;
        silent = silent || fate == WATCH_SILENT || fate == WATCH_NO_FILE;
    }
    const bool members = comm == WATCH_WORLD || (size - known == lost && !silent);
    for (int other = 0; other < v->ranks && members; other++) {
        if (v->conditions[other] != WATCH_LOST)
            continue;
        note_wait(v, rank, other, WATCH_SURELY);
        missing = true;
    }
    return missing;
}

/*
 * Notes that RANK waits for the message WANT. Returns false if WANT may be matched soon, or nothing
 * is known about it.
 */
static bool note_wait_for_message(watch_analysis *v, int rank, const watch_message *want) {
    int peer = watch_message_peer(want, v->states, v->ranks);
    if (want->peer == MPI_ANY_SOURCE) {
        if (!watch_message_unmatched(want, rank, v->states, v->ranks))
            return false;
        v->any[rank] = true;
        for (int other = 0; other < v->ranks; other++)
            if (other != rank && watch_comm_known(want->comm, &v->states[other], 1))
                note_wait(v, rank, other, WATCH_SURELY);
        return true;
    }
    if (peer < 0)
        return false;
    if (v->conditions[peer] == WATCH_LOST ||
        watch_message_unmatched(want, rank, v->states, v->ranks)) {
        note_wait(v, rank, peer, WATCH_SURELY);
        return true;
    }
    if (is_in_call(v, peer))
        return false;
    note_wait(v, rank, peer, WATCH_PERHAPS);
    return true;
}

/*
 * Notes what one request, or a call treated as a request, waits for. Returns false if nothing shows
 * that it has to wait.
 */
static bool note_wait_for_request(watch_analysis *v, int rank, const watch_awaited *what) {
    const watch_call_kind *kind = &watch_calls[what->call];
    if (!what->known)
        return false;
    if (kind->waits == WATCH_COLLECTIVE)
        return note_wait_in_collective(v, rank, what->comm, what->number);
    watch_message list[2];
    const int count = watch_message_list(what, list);
    bool waits = false;
    for (int i = 0; i < count; i++)
        waits = note_wait_for_message(v, rank, &list[i]) || waits;
    return waits;
}

static bool note_wait_for_requests(watch_analysis *v, int rank, const watch_record *call) {
    const watch_state *state = &v->states[rank];
    const char *name = watch_calls[call->call].name;
    bool any = strcmp(name, "MPI_Waitany") == 0 || strcmp(name, "MPI_Waitsome") == 0;
    bool waits = false, all = true;
    for (uint32_t i = 0; i < state->head.awaited; i++) {
        if (state->awaited[i].waiter != call->serial)
            continue;
        bool one = note_wait_for_request(v, rank, &state->awaited[i]);
        waits = waits || one;
        all = all && one;
    }
    v->any[rank] = v->any[rank] || any;
    return any ? waits && all : waits;
}

static bool note_wait_in_call(watch_analysis *v, int rank, const watch_record *call) {
    if (watch_calls[call->call].waits == WATCH_REQUESTS)
        return note_wait_for_requests(v, rank, call);
    const watch_awaited own = watch_awaited_of(call);
    return note_wait_for_request(v, rank, &own);
}

/* Sets STUCK: ranks that are lost or in MPI_Finalize, and waiting ranks that can proceed only if
 * another stuck rank does. */
static void find_stuck(watch_analysis *v) {
    for (int rank = 0; rank < v->ranks; rank++)
        v->stuck[rank] = v->conditions[rank] == WATCH_WAITING ||
                         v->conditions[rank] == WATCH_FINISHED || v->conditions[rank] == WATCH_LOST;
    for (bool changed = true; changed;) {
        changed = false;
        for (int rank = 0; rank < v->ranks; rank++) {
            if (v->conditions[rank] != WATCH_WAITING || !v->stuck[rank])
                continue;
            bool none_moves = true, one_is_stuck = false;
            for (int other = 0; other < v->ranks; other++) {
                if (v->waits[rank * v->ranks + other] != WATCH_SURELY)
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

void watch_analysis_find_waits(watch_analysis *v) {
    for (int rank = 0; rank < v->ranks; rank++)
        v->conditions[rank] = condition_of(v, rank);
    for (int rank = 0; rank < v->ranks; rank++) {
        const watch_record *call = watch_analysis_call(v, rank);
        if (v->conditions[rank] == WATCH_WAITING && !note_wait_in_call(v, rank, call))
            v->conditions[rank] = WATCH_MOVING;
    }
    find_stuck(v);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/analysis.h"
#include "watch/calls.h"
#include "watch/messages.h"

#include <mpi.h>

/*
 * Reports the message WANT, for which RANK waits, if it is certainly unmatched, if its peer is RANK
 * itself, unknown, stuck or in MPI_Finalize, and if there are near misses. Returns false if there
 * is nothing to report.
 */
static bool report_message(watch_analysis *v, int rank, const watch_message *want,
                           const watch_record *call) {
    int peer = watch_message_peer(want, v->states, v->ranks);
    watch_miss misses[4];
    if (!watch_message_unmatched(want, rank, v->states, v->ranks))
        return false;
    int count = watch_message_misses(want, rank, v->states, v->ranks, misses, 4);
    bool final =
        peer < 0 || peer == rank || v->stuck[peer] || v->conditions[peer] == WATCH_FINISHED;
    if (!count || !final)
        return false;
    watch_text text;
    if (!watch_analysis_add(v, want->sends ? WATCH_UNWANTED : WATCH_UNSENT, rank, v->stuck[rank],
                            &text))
        return true;
    watch_append(&text, "rank %d is in ", rank);
    watch_analysis_append_call(v, &text, rank);
    if (watch_calls[call->call].waits == WATCH_REQUESTS ||
        watch_calls[call->call].waits == WATCH_EXCHANGE) {
        watch_append(&text,
                     want->sends ? ", with a send to rank %d" : ", with a receive from rank %d",
                     want->peer);
        watch_append(&text, want->tag == MPI_ANY_TAG ? ", any tag" : ", tag %d", want->tag);
    }
    watch_append(&text, want->sends ? ", which no receive takes; but "
                                    : ", for which no message was sent; but ");
    for (int i = 0; i < count; i++) {
        const watch_miss *miss = &misses[i];
        if (i > 0)
            watch_append(&text, ", and ");
        watch_append(&text, want->sends ? "rank %d waits for" : "rank %d has sent", miss->rank);
        watch_append(&text, miss->surplus == 1 ? " one" : " %llu",
                     (unsigned long long)miss->surplus);
        watch_append(&text, miss->tag == MPI_ANY_TAG ? " with any tag" : " with tag %d", miss->tag);
        if (want->sends)
            watch_append(&text, miss->peer == MPI_ANY_SOURCE ? " from any rank" : " from rank %d",
                         miss->peer);
        if (miss->comm != want->comm) {
            watch_append(&text, " on ");
            watch_append_comm(&text, miss->comm, v->states, v->ranks);
        }
    }
    watch_append(&text, want->sends ? "" : " that no receive has taken");
    return true;
}

static void report_messages(watch_analysis *v, int rank, const watch_awaited *what,
                            const watch_record *call) {
    watch_message list[2];
    const int count = what->known ? watch_message_list(what, list) : 0;
    for (int i = 0; i < count; i++)
        if (report_message(v, rank, &list[i], call))
            return;
}

void watch_analysis_find_unmatched(watch_analysis *v, int rank) {
    const watch_record *call = watch_analysis_call(v, rank);
    const watch_state *state = &v->states[rank];
    if (!call || v->conditions[rank] != WATCH_WAITING)
        return;
    const watch_awaited own = watch_awaited_of(call);
    report_messages(v, rank, &own, call);
    for (uint32_t i = 0; i < state->head.awaited; i++)
        if (state->awaited[i].waiter == call->serial)
            report_messages(v, rank, &state->awaited[i], call);
}

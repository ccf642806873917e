/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/recorder.h"

#include "watch/calls.h"
#include "watch/check.h"
#include "watch/message_counts.h"
#include "watch/request_table.h"
#include "watch/ring.h"
#include "watch/signature.h"
#include "watch/ticks.h"

#include <stddef.h>
#include <unistd.h>

bool watch_on;
_Thread_local bool watch_inside __attribute__((tls_model("initial-exec")));

static watch_totals totals;
static _Thread_local int32_t thread __attribute__((tls_model("initial-exec")));

static bool is_root(const watch_call *call) {
    return call->place && call->place->info.rank == call->peer;
}

static watch_signature sum_of_counts(const watch_call *call) {
    MPI_Datatype type = call->from_type ? call->from_type : call->type;
    int64_t sum = 0;
    if (!call->place || !call->counts)
        return (watch_signature){0};
    for (int rank = 0; rank < call->place->info.size; rank++)
        sum += call->counts[rank];
    return watch_signature_of(type, sum);
}

/* Returns the signature of the data, from arguments that are significant on this rank. */
static watch_signature data_of(const watch_call *call, const watch_call_kind *kind) {
    if (kind->waits == WATCH_SEND || kind->waits == WATCH_RECEIVE || kind->waits == WATCH_EXCHANGE)
        return watch_signature_of(call->type, call->count);
    if (kind->waits != WATCH_COLLECTIVE || !call->place || call->place->info.inter)
        return (watch_signature){0};
    switch (kind->agreed) {
    case WATCH_OWN:
        return watch_signature_of(call->type, call->count);
    case WATCH_TO_ROOT:
        return is_root(call) ? watch_signature_of(call->from_type, call->from_count)
                             : watch_signature_of(call->type, call->count);
    case WATCH_FROM_ROOT:
        return is_root(call) ? watch_signature_of(call->type, call->count)
                             : watch_signature_of(call->from_type, call->from_count);
    case WATCH_RECEIVED:
        return watch_signature_of(call->from_type, call->from_count);
    case WATCH_COUNTS:
        return sum_of_counts(call);
    default:
        return (watch_signature){0};
    }
}

/* Counts the messages that this call sends and the receives that it posts. */
static void count_messages(const watch_call *call, const watch_call_kind *kind, uint64_t comm) {
    bool exchange = kind->waits == WATCH_EXCHANGE;
    if ((kind->waits == WATCH_SEND || exchange) && call->peer != MPI_PROC_NULL)
        watch_message_counts_sent(comm, call->peer, call->tag);
    if ((kind->waits == WATCH_RECEIVE || exchange) && call->from != MPI_PROC_NULL)
        watch_message_counts_received(comm, call->from, exchange ? call->from_tag : call->tag);
}

/*
 * Counts the messages of persistent requests, which are sent and received when the requests are
 * started.
 */
static void count_started_messages(const watch_call *call) {
    for (int i = 0; i < call->count; i++) {
        watch_awaited what;
        if (!watch_request_table_find(call->requests[i], &what) || !what.known)
            continue;
        if (watch_calls[what.call].waits == WATCH_SEND && what.peer != MPI_PROC_NULL)
            watch_message_counts_sent(what.comm, what.peer, what.tag);
        if (watch_calls[what.call].waits == WATCH_RECEIVE && what.peer != MPI_PROC_NULL)
            watch_message_counts_received(what.comm, what.peer, what.tag);
    }
}

static void note_effects(const watch_call *call) {
    if (call->name)
        watch_comm_named(call->comm, call->name);
    else if (call->freed_type)
        watch_signature_forget(*call->freed_type);
    else /* MPI_Cancel or MPI_Improbe, which may take a message that no receive was posted for */
        watch_message_counts_invalidate();
}

static watch_record *record_call(watch_call *call, const watch_call_kind *kind) {
    bool receives = kind->waits == WATCH_RECEIVE || kind->waits == WATCH_PROBE;
    watch_comm *place = call->place;
    uint64_t serial;
    uint32_t number = kind->waits == WATCH_COLLECTIVE && place
                          ? __atomic_add_fetch(&place->info.calls, 1, __ATOMIC_RELAXED)
                          : 0;
    watch_signature data = data_of(call, kind);
    watch_record *record = watch_ring_claim(&serial);
    if (!thread)
        thread = (int32_t)gettid();
    record->ended = 0;
    record->caller = (uintptr_t)call->caller;
    record->comm = place ? place->info.id : 0;
    record->requests = (uintptr_t)call->requests;
    record->data = data;
    record->number = number;
    record->peer = receives ? call->from : call->peer;
    record->tag = call->tag;
    record->from = call->from;
    record->from_tag = call->from_tag;
    record->count = (uint32_t)call->count;
    record->call = (uint16_t)call->id;
    record->op = call->op ? watch_op_of(call->op) : 0;
    record->thread = thread;
    record->begun = coll_ticks();
    watch_ring_filled(record, serial);
    return record;
}

int watch_begin(watch_call *call) {
    const watch_call_kind *kind = &watch_calls[call->id];
    if (kind->waits == WATCH_NOTE) {
        note_effects(call);
        return MPI_SUCCESS;
    }
    if (call->freed)
        call->comm = *call->freed;
    call->place = watch_comm_find(call->comm);
    call->record = record_call(call, kind);
    if (kind->waits == WATCH_START)
        count_started_messages(call);
    else if (kind->manner != WATCH_PERSISTENT)
        count_messages(call, kind, call->record->comm);
    int code = MPI_SUCCESS;
    if (kind->waits == WATCH_COLLECTIVE && watch_checks)
        code = watch_check(call);
    if (call->freed) {
        watch_check_release(call->place);
        watch_comm_forget(*call->freed);
    }
    return code;
}

static void note_request(const watch_call *call) {
    watch_awaited what = watch_awaited_of(call->record);
    watch_request_table_note(*call->request, &what);
}

int watch_end(watch_call *call, int code) {
    watch_record *record = call->record;
    if (record && code == MPI_SUCCESS) {
        if (call->request)
            note_request(call);
        if (call->made && !call->request) {
            watch_comm *made =
                watch_comm_made(*call->made, call->place, record->number, record->call);
            if (watch_checks)
                watch_check_prepare(*call->made, made);
        }
    }
    if (record) {
        /* Nonblocking calls don't wait, so the clock is not read again for them. */
        bool waits = watch_calls[call->id].manner == WATCH_BLOCKING;
        uint64_t now = waits ? coll_ticks() : record->begun + 1;
        totals.calls++;
        totals.bytes += record->data.bytes;
        totals.ticks += now - record->begun;
        __atomic_store_n(&record->ended, now, __ATOMIC_RELEASE);
    }
    watch_inside = false;
    return code;
}

void watch_recorder_begin(uint64_t init_ticks) {
    watch_call call = {.id = watch_call_named("MPI_Init")};
    watch_record *record = record_call(&call, &watch_calls[call.id]);
    record->begun = init_ticks;
    __atomic_store_n(&record->ended, coll_ticks(), __ATOMIC_RELEASE);
}

watch_record *watch_recorder_finalize(void) {
    watch_call call = {.id = watch_call_named("MPI_Finalize"),
                       .comm = MPI_COMM_WORLD,
                       .place = watch_comm_find(MPI_COMM_WORLD)};
    return record_call(&call, &watch_calls[call.id]);
}

watch_totals watch_recorder_totals(void) {
    return totals;
}

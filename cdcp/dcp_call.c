/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/dcp_call.h"

#include "cdcp/dcp_operation.h"
#include "lib/base/c_locale.h"
#include "lib/base/error.h"
#include "lib/pattern/radix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int coll_dcp_send(coll_dcp_context *context, int rank, int tag, const coll_wire_header *header,
                  const void *body, size_t bytes) {
    coll_queued_send *message;
    int code = coll_queued_send_new(sizeof *header + bytes, rank, &message);
    if (code != MPI_SUCCESS)
        return code;
    memcpy(message->bytes, header, sizeof *header);
    coll_dcp_put(message->bytes + sizeof *header, body, bytes);
    code = PMPI_Isend(message->bytes, (int)(sizeof *header + bytes), MPI_BYTE, rank, tag,
                      context->job->wire, &message->request);
    return coll_send_queue_add(&context->send_queue, message, code);
}

static coll_dcp_call **window_place(const coll_server_comm *comm, uint32_t sequence) {
    return &comm->window[sequence & (comm->window_size - 1)];
}

coll_dcp_call *coll_dcp_call_find(const coll_server_comm *comm, uint32_t sequence) {
    coll_dcp_call *found = *window_place(comm, sequence);
    return found && found->sequence == sequence ? found : NULL;
}

/* Doubles the window until SEQUENCE has its own place among the calls under way. */
static bool widen_window(coll_server_comm *comm, uint32_t sequence) {
    while (*window_place(comm, sequence)) {
        uint32_t before = comm->window_size;
        coll_dcp_call **old = comm->window;
        coll_dcp_call **wider = calloc(2 * (size_t)before, sizeof *wider);
        if (!wider)
            return false;
        comm->window = wider;
        comm->window_size = 2 * before;
        for (uint32_t i = 0; i < before; i++)
            if (old[i])
                *window_place(comm, old[i]->sequence) = old[i];
        free(old);
    }
    return true;
}

static void free_call(coll_dcp_call *call) {
    if (!call)
        return;
    coll_unexpected_queue_free(&call->unexpected);
    coll_reduction_tree_free(&call->tree);
    coll_reduction_tree_free(&call->share);
    free(call->rows);
    free(call->contributors);
    free(call);
}

void coll_dcp_call_free_all(coll_server_comm *comm) {
    for (uint32_t i = 0; i < comm->window_size; i++)
        free_call(comm->window[i]);
    while (comm->spare) {
        coll_dcp_call *next = comm->spare->next;
        free_call(comm->spare);
        comm->spare = next;
    }
}

static coll_dcp_call *allocate_call(const coll_server_comm *comm) {
    coll_dcp_call *made = calloc(1, sizeof *made);
    coll_contributor *contributors = malloc((size_t)comm->here * sizeof *contributors);
    if (!made || !contributors) {
        free(made);
        free(contributors);
        return NULL;
    }
    made->contributors = contributors;
    return made;
}

/* Initialises a new or unused call, whose memory stays allocated. */
static void initialise_call(coll_dcp_call *call, coll_server_comm *comm, uint32_t sequence,
                            bool timed) {
    call->comm = comm;
    call->sequence = sequence;
    call->known = call->held = call->asked = call->reported = false;
    call->arrived = call->answered = call->sent = call->received = 0;
    call->error_class = MPI_SUCCESS;
    call->since = timed ? PMPI_Wtime() : 0;
}

int coll_dcp_call_of(coll_dcp_context *context, coll_server_comm *comm, uint32_t sequence,
                     coll_dcp_call **call) {
    *call = coll_dcp_call_find(comm, sequence);
    if (*call)
        return MPI_SUCCESS;
    coll_dcp_call *begun = comm->spare;
    if (begun)
        comm->spare = begun->next;
    else
        begun = allocate_call(comm);
    if (!begun || !widen_window(comm, sequence)) {
        free_call(begun);
        return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a collective");
    }
    initialise_call(begun, comm, sequence, context->timed);
    *window_place(comm, sequence) = begun;
    comm->under_way++;
    context->under_way++;
    *call = begun;
    return MPI_SUCCESS;
}

static void end_call(coll_dcp_context *context, coll_dcp_call *call) {
    coll_server_comm *comm = call->comm;
    *window_place(comm, call->sequence) = NULL;
    call->next = comm->spare;
    comm->spare = call;
    comm->under_way--;
    context->under_way--;
}

void coll_dcp_call_fail(coll_dcp_call *call, int error_class, const char *format, ...) {
    if (call->error_class != MPI_SUCCESS)
        return;
    va_list arguments;
    va_start(arguments, format);
    locale_t before = coll_c_locale_begin();
    vsnprintf(call->text, sizeof call->text, format, arguments);
    coll_c_locale_end(before);
    va_end(arguments);
    call->error_class = error_class;
}

static const coll_dcp_service *const services[COLL_DCP_OPERATIONS] = {
    [COLL_DCP_ALLREDUCE] = &coll_dcp_allreduce,
    [COLL_DCP_BCAST] = &coll_dcp_bcast,
    [COLL_DCP_ALLTOALL] = &coll_dcp_alltoall,
    [COLL_DCP_REDUCE_SCATTER] = &coll_dcp_reduce_scatter,
};

static void fail_for_mismatch(coll_dcp_call *call, const coll_wire_header *header) {
    const coll_dcp_service *other = services[coll_dcp_operation_of(header->code)];
    char brought[80], before[80];
    other->describe(header->code, header->count, brought, sizeof brought);
    call->service->describe(call->code, call->count, before, sizeof before);
    if (other == call->service)
        coll_dcp_call_fail(call, MPI_ERR_OTHER, "%s: rank %d brings %s, but rank %d brings %s",
                           other->name, header->rank, brought, call->rank, before);
    else
        coll_dcp_call_fail(call, MPI_ERR_OTHER,
                           "rank %d calls %s and brings %s, but rank %d calls %s and brings %s",
                           header->rank, other->name, brought, call->rank, call->service->name,
                           before);
}

/* Stores the first description of the call. If a later description differs, the call fails. */
static int check_description(coll_dcp_call *call, const coll_wire_header *header) {
    if (call->known) {
        if (call->code != header->code || call->count != header->count)
            fail_for_mismatch(call, header);
        return MPI_SUCCESS;
    }
    call->known = true;
    call->code = header->code;
    call->count = header->count;
    call->rank = header->rank;
    call->service = services[coll_dcp_operation_of(call->code)];
    return call->service->begin(call);
}

static int write_result_to_slot(const coll_dcp_call *call, const coll_contributor *to) {
    coll_mailbox_slot *slot = to->slot;
    bool good = call->error_class == MPI_SUCCESS;
    const void *result;
    size_t bytes = good ? call->service->result(call, to->place, &result) : 0;
    if (bytes)
        memcpy(to->data, result, bytes);
    if (!good) {
        slot->code = call->error_class;
        memcpy(slot->data, call->text, sizeof call->text);
    }
    coll_mailbox_event event = good ? COLL_MAILBOX_DONE : COLL_MAILBOX_FAILED;
    atomic_store_explicit(&slot->state, coll_mailbox_state(to->ticket, event),
                          memory_order_release);
    coll_wakeup_notify(to->wakeup);
    return MPI_SUCCESS;
}

static int send_result(coll_dcp_context *context, const coll_dcp_call *call,
                       const coll_contributor *to) {
    coll_wire_header header = {.kind = COLL_WIRE_RESULT};
    const void *result = call->text;
    size_t bytes = sizeof call->text;
    if (call->error_class == MPI_SUCCESS)
        bytes = call->service->result(call, to->place, &result);
    else {
        header.kind = COLL_WIRE_FAILURE;
        header.code = call->error_class;
    }
    return coll_dcp_send(context, to->source, to->reply, &header, result, bytes);
}

/* Sends the result or failure to the contributors that have not got it yet. */
static int send_results(coll_dcp_context *context, coll_dcp_call *call) {
    int code = MPI_SUCCESS;
    for (; call->answered < call->arrived && code == MPI_SUCCESS; call->answered++) {
        const coll_contributor *to = &call->contributors[call->answered];
        code = to->slot ? write_result_to_slot(call, to) : send_result(context, call, to);
    }
    return code;
}

/* --- The exchange, by recursive multiplying or by the digits of the distance --- */

static int radix_of(const coll_dcp_call *call) {
    return call->service->radix(call->comm);
}

/*
 * Returns the number of stages. With a radix there is at least one: even a single DCP takes the
 * data for its own ranks in a stage.
 */
static int stages_of(const coll_dcp_call *call) {
    const coll_server_comm *comm = call->comm;
    if (!call->service->radix)
        return comm->stages;
    return comm->stations > 1 ? coll_radix_digits(comm->stations, radix_of(call)) : 1;
}

static int depth_of(const coll_dcp_call *call, int stage) {
    return call->service->radix ? stage : call->comm->stage[stage].depth;
}

static int receives_of(const coll_dcp_call *call, int stage) {
    const coll_server_comm *comm = call->comm;
    return call->service->radix ? coll_radix_others(comm->stations, radix_of(call), stage)
                                : comm->stage[stage].receives;
}

/*
 * Sends a message to COUNT stations, at the positions TO. If one of them is this DCP, the message
 * is absorbed at once.
 */
static int send_to_stations(coll_dcp_context *context, coll_dcp_call *call, int count,
                            const int to[], const coll_wire_header *header, const void *body,
                            size_t bytes) {
    const coll_server_comm *comm = call->comm;
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        if (to[i] == comm->position)
            code = call->service->absorb(call, header, body);
        else
            code = coll_dcp_send(context, comm->station[to[i]], COLL_JOB_TAG_TO_DCP, header, body,
                                 bytes);
    return code;
}

/*
 * Sends the items for the COUNT stations at the positions TO, in as many pieces as necessary, but
 * at least one.
 */
static int send_items(coll_dcp_context *context, coll_dcp_call *call, int count, const int to[],
                      coll_wire_header *header) {
    size_t bytes;
    int items = call->service->items(call, to[0], &bytes), code = MPI_SUCCESS;
    int most =
        bytes ? (int)(coll_wire_room(context->job->limit, context->job->blocks) / bytes) : items;
    header->first = 0;
    do {
        int left = items - header->first;
        header->items = left < most ? left : most;
        header->more = header->items < left;
        call->service->pack(call, to[0], header->first, header->items, context->body);
        code = send_to_stations(context, call, count, to, header, context->body,
                                (size_t)header->items * bytes);
        header->first += header->items;
    } while (header->more && code == MPI_SUCCESS);
    return code;
}

/* Sends the items, or the failure. */
static int send_items_or_failure(coll_dcp_context *context, coll_dcp_call *call, int count,
                                 const int to[], coll_wire_header *header) {
    if (call->error_class == MPI_SUCCESS)
        return send_items(context, call, count, to, header);
    header->kind = COLL_WIRE_FAILURE;
    header->first = call->error_class;
    return send_to_stations(context, call, count, to, header, call->text, sizeof call->text);
}

/*
 * For each value of this stage's digit, sends the items that move by this value to the station at
 * that distance. In the first stage, a DCP first absorbs its own items, if there are any.
 */
static int send_by_digit(coll_dcp_context *context, coll_dcp_call *call, coll_wire_header *header) {
    const coll_server_comm *comm = call->comm;
    int others = receives_of(call, call->sent), code = MPI_SUCCESS;
    int worth = coll_radix_worth(radix_of(call), call->sent);
    bool own = call->sent == 0 && call->error_class == MPI_SUCCESS;
    for (int times = own ? 0 : 1; times <= others && code == MPI_SUCCESS; times++) {
        const int to = (comm->position + times * worth) % comm->stations;
        code = send_items_or_failure(context, call, 1, &to, header);
    }
    return code;
}

static int send_stage(coll_dcp_context *context, coll_dcp_call *call) {
    const coll_multiply_stage *stage = &call->comm->stage[call->sent];
    coll_wire_header header = {.comm = call->comm->number,
                               .sequence = call->sequence,
                               .kind = COLL_WIRE_ITEMS,
                               .code = call->code,
                               .count = call->count,
                               .rank = call->rank,
                               .depth = depth_of(call, call->sent)};
    if (call->service->radix)
        return send_by_digit(context, call, &header);
    return stage->sends ? send_items_or_failure(context, call, stage->sends, stage->to, &header)
                        : MPI_SUCCESS;
}

/*
 * Checks that a message belongs to the same kind of exchange as CALL. Otherwise the messages that
 * CALL expects will not come, and CALL can't continue.
 */
static int check_exchange(const coll_dcp_call *call, const coll_wire_header *header) {
    const coll_dcp_service *other = services[coll_dcp_operation_of(header->code)];
    if (other->radix == call->service->radix)
        return MPI_SUCCESS;
    return coll_error(MPI_ERR_OTHER, "rank %d calls %s where rank %d calls %s", header->rank,
                      other->name, call->rank, call->service->name);
}

/* Processes a message of the stage that is being received. */
static int absorb_message(coll_dcp_call *call, const coll_wire_header *header, const char *body) {
    int code = check_description(call, header);
    if (header->kind == COLL_WIRE_FAILURE)
        coll_dcp_call_fail(call, header->first, "%.*s", COLL_WIRE_TEXT, body);
    if (code == MPI_SUCCESS && call->error_class == MPI_SUCCESS)
        code = call->service->absorb(call, header, body);
    call->received += !header->more;
    return code;
}

/*
 * Processes the messages of the stage that this DCP has sent last, if they arrived before this DCP
 * sent the stage. Takes them in the order of their arrival.
 */
static int absorb_unexpected(coll_dcp_call *call) {
    int depth = depth_of(call, call->sent - 1), code = MPI_SUCCESS;
    coll_unexpected_message *message;
    while (code == MPI_SUCCESS &&
           (message = coll_unexpected_queue_take(&call->unexpected, depth))) {
        code = absorb_message(call, &message->header, message->body);
        free(message);
    }
    return code;
}

static int check_unexpected(const coll_dcp_call *call) {
    int code = MPI_SUCCESS;
    for (const coll_unexpected_message *message = call->unexpected.first;
         message && code == MPI_SUCCESS; message = message->next)
        code = check_exchange(call, &message->header);
    return code;
}

/* Advances the call as far as the arrived messages allow. */
static int advance_call(coll_dcp_context *context, coll_dcp_call *call) {
    bool waits_for_verdict = call->held && !call->reported;
    if (call->arrived < call->comm->here || waits_for_verdict)
        return MPI_SUCCESS;
    int code = call->sent ? MPI_SUCCESS : check_unexpected(call);
    while (code == MPI_SUCCESS) {
        bool stage_complete =
            call->sent == 0 || call->received == receives_of(call, call->sent - 1);
        if (!stage_complete)
            return MPI_SUCCESS;
        if (call->sent == stages_of(call))
            break;
        code = send_stage(context, call);
        call->sent++;
        call->received = 0;
        if (code == MPI_SUCCESS)
            code = absorb_unexpected(call);
    }
    if (code == MPI_SUCCESS)
        code = send_results(context, call);
    end_call(context, call);
    return code;
}

int coll_dcp_call_report(coll_dcp_context *context, coll_dcp_call *call) {
    call->reported = true;
    int code = send_results(context, call);
    return code == MPI_SUCCESS ? advance_call(context, call) : code;
}

int coll_dcp_call_contribute(coll_dcp_context *context, coll_server_comm *comm,
                             const coll_wire_header *header, const void *values,
                             const coll_contributor *where) {
    coll_dcp_call *call;
    int code = coll_dcp_call_of(context, comm, header->sequence, &call);
    if (code != MPI_SUCCESS)
        return code;
    int place = coll_server_comm_place(comm, header->rank);
    code = check_description(call, header);
    call->contributors[call->arrived] = *where;
    call->contributors[call->arrived++].place = place;
    coll_server_comm_count(comm, place, header->sequence);
    if (header->kind == COLL_WIRE_WITHDRAWAL)
        coll_dcp_call_fail(call, header->first, "%.*s", COLL_WIRE_TEXT, (const char *)values);
    if (code == MPI_SUCCESS && call->error_class == MPI_SUCCESS)
        code = call->service->take(call, place, values);
    if (code == MPI_SUCCESS && call->reported)
        code = send_results(context, call);
    return code == MPI_SUCCESS ? advance_call(context, call) : code;
}

int coll_dcp_call_exchange(coll_dcp_context *context, coll_server_comm *comm,
                           const coll_wire_header *header, const void *body, size_t bytes,
                           int source) {
    coll_dcp_call *call;
    int code = coll_dcp_call_of(context, comm, header->sequence, &call);
    if (code != MPI_SUCCESS)
        return code;
    if (call->sent == 0)
        return coll_unexpected_queue_add(&call->unexpected, header, body, bytes, source);
    code = check_exchange(call, header);
    if (code != MPI_SUCCESS)
        return code;
    if (header->depth != depth_of(call, call->sent - 1))
        return coll_unexpected_queue_add(&call->unexpected, header, body, bytes, source);
    code = absorb_message(call, header, body);
    return code == MPI_SUCCESS ? advance_call(context, call) : code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/chain_confirmed.h"

#include "lib/algorithm/rank_order.h"
#include "lib/base/error.h"
#include "lib/base/send_queue.h"
#include "lib/bcast/reliable/control_msg.h"
#include "lib/bcast/reliable/diagnosis.h"
#include "lib/bcast/reliable/failure_detector.h"
#include "lib/bcast/reliable/ring_buffers.h"
#include "lib/bcast/reliable/segment_header.h"

#include <math.h>
#include <string.h>

void (*coll_chain_confirmed_tamper)(int rank, uint32_t epoch, uint64_t index, char *bytes,
                                    size_t length);

/* Counts the confirmed broadcasts on a communicator. */
coll_comm_key coll_chain_confirmed_key = {.bytes = sizeof(uint32_t)};

/* Heartbeats per timeout. */
static const double BEATS = 4;

/*
 * Time during which this process ran: if the process was stopped, by a signal or by the machine, at
 * most STEP seconds of the stop count. Messages sent to it meanwhile are there already, so their
 * senders were not silent.
 */
typedef struct lifetime {
    /*
     * NOW: the seconds that count so far; DATE: PMPI_Wtime at the last update; STEP: most seconds
     * that count between two updates, 0: no limit
     */
    double now, date, step;
} lifetime;

/* State of one rank's broadcast. */
typedef struct rank_state {
    const coll_exec_args *call;
    const coll_shape *shape;
    coll_comm *comm;
    size_t segments;
    unsigned retry;
    double limit; /* s without progress after which an attempt fails; 0: no limit */
    uint32_t sequence;

    /* State of the current attempt. */
    uint32_t epoch;
    int *order, previous, next; /* neighbours in the line; -1: none */
    size_t passed;              /* segments of this attempt received, or at the root sent */
    bool spoiled;               /* a segment arrived damaged: ignore the rest of this epoch */
    bool acknowledged;

    /* State of all attempts. */
    uint64_t taken; /* messages received */
    uint32_t ends;  /* epochs that this rank's predecessors have ended */
    lifetime life;
    double beat;  /* when the next heartbeat is due */
    double heard; /* when the root was last heard from */
    bool over;

    /* Used by the root. */
    coll_failure_detector detector;
    int confirmations; /* acknowledgements of this epoch */

    coll_ring_buffers buffers;
    coll_control_msg msg;  /* receive buffer of request COLL_RING_BUFFERS_OWN */
    coll_send_queue sends; /* of control messages */
    int tag;               /* of control messages */
} rank_state;

static bool is_root(const rank_state *p) {
    return p->comm->rank == p->shape->root;
}

static size_t length_of(const rank_state *p, size_t i) {
    size_t segment = p->buffers.segment, left = p->call->data->bytes - i * segment;
    return left < segment ? left : segment;
}

/* --- Control messages --- */

static int post_control_receive(rank_state *p) {
    return coll_irecv(p->comm, &p->msg, (int)sizeof p->msg, MPI_BYTE, MPI_ANY_SOURCE, p->tag,
                      &p->buffers.requests[COLL_RING_BUFFERS_OWN]);
}

static coll_control_msg make_control_msg(const rank_state *p, coll_control_msg_kind kind) {
    return (coll_control_msg){
        .sequence = p->sequence,
        .epoch = p->epoch,
        .kind = kind,
        .from = p->comm->rank,
        .account = {.epoch = p->epoch, .passed = p->passed, .taken = p->taken},
    };
}

static int send_to(rank_state *p, coll_control_msg msg, int to) {
    coll_queued_send *message;
    int code = coll_queued_send_new(sizeof msg, to, &message);
    if (code != MPI_SUCCESS)
        return code;
    memcpy(message->bytes, &msg, sizeof msg);
    code = coll_isend(p->comm, message->bytes, (int)sizeof msg, MPI_BYTE, to, p->tag,
                      &message->request);
    return coll_send_queue_add(&p->sends, message, code);
}

static int send_to_root(rank_state *p, coll_control_msg msg) {
    return send_to(p, msg, p->shape->root);
}

static int send_to_all(rank_state *p, coll_control_msg msg) {
    int code = MPI_SUCCESS;
    for (int to = 0; to < p->comm->ranks && code == MPI_SUCCESS; to++)
        if (to != p->comm->rank)
            code = send_to(p, msg, to);
    return code;
}

/*
 * Ends the broadcast with an error on this rank and, through a control message, on the root or (at
 * the root) on all ranks.
 */
static int fail_broadcast(rank_state *p, const coll_diagnosis *diagnosis) {
    coll_control_msg msg = make_control_msg(p, COLL_CONTROL_MSG_FAILED);
    msg.diagnosis = *diagnosis;
    p->over = true;
    int code = is_root(p) ? send_to_all(p, msg) : send_to_root(p, msg);
    return code != MPI_SUCCESS ? code
                               : coll_diagnosis_error(diagnosis, p->shape->topo, p->epoch + 1);
}

/* --- Epochs --- */

/* Begins an epoch: finds this rank's neighbours in the line and allocates its outbox. If
 * there is no memory for the outbox, fails the broadcast on all ranks. */
static int enter_epoch(rank_state *p) {
    int i = 0;
    while (p->order[i] != p->comm->rank)
        i++;
    p->previous = i > 0 ? p->order[i - 1] : -1;
    p->next = i + 1 < p->comm->ranks ? p->order[i + 1] : -1;
    p->passed = 0;
    p->spoiled = p->acknowledged = false;
    p->confirmations = 0;
    coll_failure_detector_begin(&p->detector, p->life.now);
    if (p->next < 0 || coll_ring_buffers_open(&p->buffers, p->epoch))
        return MPI_SUCCESS;
    return fail_broadcast(p, &(coll_diagnosis){.fault = COLL_FAULT_MEMORY, .who = p->comm->rank});
}

static coll_segment_header *outbox_message(const rank_state *p, size_t slot) {
    return coll_ring_buffers_out(&p->buffers, p->epoch, slot);
}

static int close_epoch(rank_state *p) {
    if (p->next < 0)
        return MPI_SUCCESS;
    coll_segment_header *message = outbox_message(p, p->buffers.window);
    *message = (coll_segment_header){
        .sequence = p->sequence, .epoch = p->epoch, .index = COLL_SEGMENT_HEADER_END, .length = 0};
    coll_segment_header_seal(message);
    return coll_ring_buffers_send(&p->buffers, p->epoch, p->buffers.window, p->next);
}

static void move_to_end(int rank, int order[], int ranks) {
    int kept = 0;
    for (int i = 0; i < ranks; i++)
        if (order[i] != rank)
            order[kept++] = order[i];
    order[kept] = rank;
}

static int next_epoch(rank_state *p, const coll_diagnosis *diagnosis) {
    int code = close_epoch(p);
    if (code != MPI_SUCCESS)
        return code;
    move_to_end(coll_diagnosis_suspect(diagnosis, p->shape->root), p->order, p->comm->ranks);
    p->epoch++;
    /* send a heartbeat at once, so that the root knows that this rank has entered the epoch */
    p->beat = p->life.now;
    return enter_epoch(p);
}

/* Starts the next attempt, or fails if none is left. Only the root calls this. */
static int restart_or_fail(rank_state *p, const coll_diagnosis *diagnosis) {
    if (p->epoch == p->retry)
        return fail_broadcast(p, diagnosis);
    int code = next_epoch(p, diagnosis);
    coll_control_msg msg = make_control_msg(p, COLL_CONTROL_MSG_RESTART);
    msg.diagnosis = *diagnosis;
    return code == MPI_SUCCESS ? send_to_all(p, msg) : code;
}

/* --- Segments --- */

/* Returns the outbox slot of segment p->passed. */
static size_t slot_of(const rank_state *p) {
    return p->passed % p->buffers.window;
}

static bool is_free(const rank_state *p) {
    return coll_ring_buffers_is_free(&p->buffers, p->epoch, slot_of(p));
}

/* Sends the message in the outbox slot of segment p->passed to the next rank. */
static int forward_segment(rank_state *p) {
    coll_segment_header *message = outbox_message(p, slot_of(p));
    if (coll_chain_confirmed_tamper)
        coll_chain_confirmed_tamper(p->comm->rank, p->epoch, message->index,
                                    coll_segment_header_payload(message), message->length);
    return coll_ring_buffers_send(&p->buffers, p->epoch, slot_of(p), p->next);
}

/* Sends segments while outbox slots are free. Only the root calls this. */
static int send_segments(rank_state *p) {
    for (; p->passed < p->segments && is_free(p); p->passed++) {
        coll_segment_header *message = outbox_message(p, slot_of(p));
        *message = (coll_segment_header){.sequence = p->sequence,
                                         .epoch = p->epoch,
                                         .index = p->passed,
                                         .length = (uint32_t)length_of(p, p->passed)};
        coll_data_pack(p->call->data, p->passed * p->buffers.segment, message->length,
                       coll_segment_header_payload(message));
        coll_segment_header_seal(message);
        int code = forward_segment(p);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* What to do with a received message. */
typedef enum action { ACCEPT, DISCARD, CLOSE, POSTPONE, REPORT } action;

static action action_for(const rank_state *p, coll_segment_header *message) {
    if (!coll_segment_header_intact(message, p->buffers.segment))
        return p->spoiled ? DISCARD : REPORT;
    if (message->sequence != p->sequence)
        return DISCARD;
    if (message->index == COLL_SEGMENT_HEADER_END)
        return CLOSE;
    if (message->epoch > p->epoch) /* the root's message about that epoch has not arrived yet */
        return POSTPONE;
    if (message->epoch < p->epoch || p->spoiled)
        return DISCARD;
    if (message->index != p->passed || message->length != length_of(p, p->passed))
        return REPORT;
    return p->next >= 0 && !is_free(p) ? POSTPONE : ACCEPT;
}

static int accept_segment(rank_state *p, coll_segment_header *message) {
    coll_data_write(p->call->data, p->passed * p->buffers.segment, message->length,
                    coll_segment_header_payload(message));
    int code = MPI_SUCCESS;
    if (p->next >= 0) {
        memcpy(outbox_message(p, slot_of(p)), message, coll_segment_header_bytes(message));
        code = forward_segment(p);
    }
    p->passed++;
    return code;
}

static int report_corrupt(rank_state *p) {
    coll_control_msg msg = make_control_msg(p, COLL_CONTROL_MSG_CORRUPT);
    msg.diagnosis = (coll_diagnosis){.fault = COLL_FAULT_CORRUPT,
                                     .who = p->comm->rank,
                                     .from = p->previous,
                                     .segment = p->passed};
    p->spoiled = true;
    return send_to_root(p, msg);
}

/* Processes the messages that have arrived, in order, until one must be postponed. */
static int process_messages(rank_state *p) {
    coll_ring_buffers *buffers = &p->buffers;
    while (buffers->arrived[buffers->head]) {
        coll_segment_header *message = coll_ring_buffers_in(buffers, buffers->head);
        action decided = action_for(p, message);
        if (decided == POSTPONE)
            return MPI_SUCCESS;
        int code = MPI_SUCCESS;
        if (decided == ACCEPT)
            code = accept_segment(p, message);
        else if (decided == REPORT)
            code = report_corrupt(p);
        else if (decided == CLOSE)
            p->ends++;
        p->taken++;
        if (code == MPI_SUCCESS)
            code = coll_ring_buffers_await(buffers, buffers->head);
        if (code != MPI_SUCCESS)
            return code;
        buffers->head = (buffers->head + 1) % buffers->window;
    }
    return MPI_SUCCESS;
}

/* Returns whether all messages of older epochs to this rank have arrived, and its sends of older
 * epochs are complete. */
static bool is_drained(const rank_state *p) {
    return p->ends >= p->epoch && coll_ring_buffers_have_left(&p->buffers, p->epoch);
}

/* Sends the acknowledgement once this rank has all segments and, after a restart, all messages of
 * older epochs have arrived. In the first epoch only the last rank acknowledges. */
static int send_acknowledgement(rank_state *p) {
    if (p->acknowledged || p->passed < p->segments ||
        (p->epoch == 0 ? p->next >= 0 : !is_drained(p)))
        return MPI_SUCCESS;
    p->acknowledged = true;
    return send_to_root(p, make_control_msg(p, COLL_CONTROL_MSG_RECEIVED));
}

/* --- Received control messages --- */

static int root_handles_msg(rank_state *p) {
    const coll_control_msg *msg = &p->msg;
    coll_failure_detector_report(&p->detector, msg->from, &msg->account, p->life.now);
    if (msg->kind == COLL_CONTROL_MSG_FAILED)
        return fail_broadcast(p, &msg->diagnosis);
    if (msg->epoch != p->epoch)
        return MPI_SUCCESS;
    if (msg->kind == COLL_CONTROL_MSG_CORRUPT)
        return restart_or_fail(p, &msg->diagnosis);
    if (msg->kind != COLL_CONTROL_MSG_RECEIVED ||
        ++p->confirmations != (p->epoch == 0 ? 1 : p->comm->ranks - 1))
        return MPI_SUCCESS;
    p->over = true;
    return send_to_all(p, make_control_msg(p, COLL_CONTROL_MSG_DONE));
}

static int rank_handles_msg(rank_state *p) {
    const coll_control_msg *msg = &p->msg;
    p->heard = p->life.now;
    if (msg->kind == COLL_CONTROL_MSG_RESTART)
        return next_epoch(p, &msg->diagnosis);
    p->over = msg->kind == COLL_CONTROL_MSG_DONE || msg->kind == COLL_CONTROL_MSG_FAILED;
    if (msg->kind == COLL_CONTROL_MSG_FAILED)
        return coll_diagnosis_error(&msg->diagnosis, p->shape->topo, msg->epoch + 1);
    return MPI_SUCCESS;
}

static int handle_control_msg(rank_state *p) {
    int code = MPI_SUCCESS;
    if (p->msg.sequence == p->sequence)
        code = is_root(p) ? root_handles_msg(p) : rank_handles_msg(p);
    return code == MPI_SUCCESS && !p->over ? post_control_receive(p) : code;
}

/* --- Time --- */

/* Advances the clock; returns the seconds since the last call. */
static double update_clock(lifetime *life) {
    double date = PMPI_Wtime(), gap = date - life->date;
    life->date = date;
    life->now += life->step > 0 ? fmin(gap, life->step) : gap;
    return gap;
}

/* Returns the seconds of the root's silence after which a rank gives up. */
static double give_up_time(const rank_state *p) {
    return (p->retry + 1) * p->limit;
}

static int send_heartbeat(rank_state *p) {
    if (p->life.now < p->beat)
        return MPI_SUCCESS;
    p->beat = p->life.now + p->limit / BEATS;
    int code = coll_send_queue_clear(&p->sends);
    if (code != MPI_SUCCESS)
        return code;
    return is_root(p) ? send_to_all(p, make_control_msg(p, COLL_CONTROL_MSG_ALIVE))
                      : send_to_root(p, make_control_msg(p, COLL_CONTROL_MSG_ACCOUNT));
}

/*
 * At the root, if the attempt has stalled, starts the next attempt, or fails if none is left. On
 * other ranks, fails if the root has been silent for too long.
 */
static int check_timeout(rank_state *p) {
    if (is_root(p)) {
        if (!coll_failure_detector_stalls(&p->detector, p->life.now, p->limit))
            return MPI_SUCCESS;
        coll_diagnosis diagnosis = coll_failure_detector_diagnose(
            &p->detector, p->order, p->epoch, p->life.now, 2 * p->limit / BEATS);
        return restart_or_fail(p, &diagnosis);
    }
    double silence = p->life.now - p->heard;
    if (silence <= give_up_time(p))
        return MPI_SUCCESS;
    coll_diagnosis diagnosis = {
        .fault = COLL_FAULT_SILENT, .who = p->shape->root, .seconds = silence};
    return fail_broadcast(p, &diagnosis);
}

/* --- The broadcast --- */

/* Waits for the next completion, for at most half the time between heartbeats (if there are
 * heartbeats), and handles a control message if one has arrived. */
static int wait_for_event(rank_state *p) {
    int i;
    int code = coll_wait_any_for(&p->comm->wait, p->limit / (2 * BEATS),
                                 coll_ring_buffers_requests(&p->buffers, p->epoch),
                                 p->buffers.requests, &i);
    double gap = update_clock(&p->life);
    if (code != MPI_SUCCESS)
        return code;
    if (p->limit > 0 && is_root(p) && gap > give_up_time(p)) {
        /* The root itself was stopped for so long that the others have given up. */
        coll_diagnosis diagnosis = {
            .fault = COLL_FAULT_SILENT, .who = p->comm->rank, .seconds = gap};
        return fail_broadcast(p, &diagnosis);
    }
    if (i == COLL_RING_BUFFERS_OWN)
        return handle_control_msg(p);
    if (i == MPI_UNDEFINED)
        return MPI_SUCCESS;
    if (i < COLL_RING_BUFFERS_INBOX + (int)p->buffers.window)
        p->buffers.arrived[i - COLL_RING_BUFFERS_INBOX] = true;
    p->detector.progress = p->life.now;
    return MPI_SUCCESS;
}

static int run_protocol(rank_state *p) {
    int code = enter_epoch(p);
    if (code == MPI_SUCCESS)
        code = post_control_receive(p);
    for (size_t slot = 0; slot < p->buffers.window && code == MPI_SUCCESS && !is_root(p); slot++)
        code = coll_ring_buffers_await(&p->buffers, slot);
    while (code == MPI_SUCCESS && !p->over) {
        code = is_root(p) ? send_segments(p) : process_messages(p);
        if (code == MPI_SUCCESS && !is_root(p))
            code = send_acknowledgement(p);
        if (code == MPI_SUCCESS && p->limit > 0)
            code = send_heartbeat(p);
        if (code == MPI_SUCCESS)
            code = wait_for_event(p);
        if (code == MPI_SUCCESS && p->limit > 0 && !p->over)
            code = check_timeout(p);
    }
    return code;
}

/* Waits for this rank's sends, after success, and cancels its remaining receives. */
static int complete_requests(rank_state *p) {
    MPI_Request *sends = coll_ring_buffers_sends(&p->buffers);
    int count =
            coll_ring_buffers_requests(&p->buffers, p->epoch) - (int)(sends - p->buffers.requests),
        code = coll_wait_all(&p->comm->wait, count, sends, NULL);
    if (code == MPI_SUCCESS)
        code = coll_send_queue_finish(&p->sends, &p->comm->wait, give_up_time(p));
    if (code == MPI_SUCCESS && p->sends.first) {
        coll_diagnosis diagnosis = {
            .fault = COLL_FAULT_SILENT, .who = p->sends.first->to, .seconds = give_up_time(p)};
        code = coll_diagnosis_error(&diagnosis, p->shape->topo, p->epoch + 1);
    }
    return code == MPI_SUCCESS ? coll_ring_buffers_cancel(&p->buffers) : code;
}

/*
 * Returns the size of the state in bytes. The state is in the communicator's scratch memory,
 * because messages that are still in flight after an error may use it. The outboxes of later
 * attempts are allocated when these begin.
 */
static size_t scratch_bytes(const rank_state *p) {
    return coll_scratch_bytes(sizeof *p) + coll_ring_buffers_bytes(&p->buffers) +
           coll_scratch_bytes((size_t)p->comm->ranks * sizeof *p->order) +
           coll_scratch_bytes(coll_failure_detector_bytes(p->comm->ranks));
}

/* Copies PLANNED to SCRATCH, and creates its arrays there. */
static rank_state *place_in_scratch(const rank_state *planned, char *scratch) {
    rank_state *p = coll_scratch_alloc(&scratch, sizeof *p);
    *p = *planned;
    size_t bytes = (size_t)p->comm->ranks * sizeof *p->order;
    coll_ring_buffers_furnish(&p->buffers, &scratch);
    p->order = coll_scratch_alloc(&scratch, bytes);
    memcpy(p->order, p->call->args.line->order, bytes);
    coll_failure_detector_open(&p->detector, scratch, p->shape->root, p->comm->ranks);
    return p;
}

/* Returns the state before its memory is allocated. */
static rank_state initial_state(const coll_exec_args *call, size_t segment, int window,
                                unsigned retry) {
    coll_comm *comm = call->comm;
    size_t bytes = call->data->bytes;
    double limit = comm->wait.timeout;
    uint32_t sequence = (*(uint32_t *)coll_comm_slot(comm, &coll_chain_confirmed_key))++;
    /*
     * Tags alternate, so that a message that a faster rank sends in the next broadcast is not
     * mistaken for one of this broadcast.
     */
    int turn = (int)(sequence % 2);
    segment = segment < bytes ? segment : bytes;
    size_t segments = (bytes + segment - 1) / segment;
    return (rank_state){
        .call = call,
        .shape = call->args.shape,
        .comm = comm,
        .segments = segments,
        .retry = retry,
        .limit = limit,
        .sequence = sequence,
        .life = {.date = PMPI_Wtime(), .step = limit / BEATS},
        .beat = limit / BEATS,
        .buffers = {.comm = comm,
                    .tag = COLL_TAG_CONFIRMED + turn,
                    .segment = segment,
                    .window = (size_t)window < segments ? (size_t)window : segments,
                    .epochs = retry + 1},
        .tag = COLL_TAG_NOTE + turn,
    };
}

int coll_chain_confirmed_run(const coll_exec_args *call, size_t segment, int window,
                             unsigned retry) {
    coll_comm *comm = call->comm;
    rank_state planned = initial_state(call, segment, window, retry);
    void *scratch;
    int code = coll_comm_scratch(comm, scratch_bytes(&planned), &scratch);
    if (code != MPI_SUCCESS)
        return code;
    rank_state *p = place_in_scratch(&planned, scratch);
    code = run_protocol(p);
    if (code == MPI_SUCCESS)
        code = complete_requests(p);
    if (code == MPI_SUCCESS) {
        coll_ring_buffers_free(&p->buffers, p->epoch);
        return MPI_SUCCESS;
    }
    coll_send_queue_finish(&p->sends, &comm->wait, p->limit > 0 ? p->limit / BEATS : 1);
    coll_send_queue_abandon(&p->sends);
    coll_wait_abandon(coll_ring_buffers_requests(&p->buffers, p->epoch), p->buffers.requests);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts an application rank's values and fetches the result.
 *
 * Values go through the rank's mailbox in the node's shared memory, or in a message to the DCP if
 * the rank has no mailbox, or the mailbox is full. The result comes back the same way. A rank may
 * use both: the DCP identifies a call by its communicator and its number.
 *
 * Cost with a mailbox: a post and a completed wait need two copies of the value and about four
 * cache misses, whatever the number of ranks; a post takes some 180 instructions, a wait 90.
 */
#include "config.h"

#include "cdcp/client.h"

#include "cdcp/client_comm.h"
#include "cdcp/job.h"
#include "cdcp/native.h"
#include "cdcp/request_pool.h"
#include "cdcp/wire.h"
#include "coll.h"
#include "lib/base/error.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of checks of a slot before the first reading of a clock: about a microsecond. */
enum { LOOKS = 64 };

/*
 * Buffers for two messages, each with a header and a body: the values, and the result or the text
 * of a failure.
 */
struct coll_message_pair {
    MPI_Request requests[2]; /* the send of the values, the receive of the result */
    int error;               /* the messages have failed with this error of MPI, or MPI_SUCCESS */
    size_t room;             /* bytes of a buffer */
    alignas(max_align_t) char buffers[];
};

/* This rank's mailbox, and the wake-up of its DCP; guarded by the job's lock. */
static coll_mailbox box;
static const coll_wakeup *wakeup;
static bool large_slot_in_use[COLL_MAILBOX_LARGE_SLOTS];

/* Allows as many requests at a time as there are tags for their results. */
static int open_request_pool(void) {
    int there = 0, *highest;
    int code = PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &there);
    if (code != MPI_SUCCESS)
        return code;
    return coll_request_open((there ? *highest : COLL_JOB_TAG_PROMISED) - COLL_JOB_TAG_RESULT + 1);
}

int coll_client_open(void) {
    const coll_job *job = &coll_the_job;
    memset(large_slot_in_use, 0, sizeof large_slot_in_use);
    int code = open_request_pool();
    if (code == MPI_SUCCESS)
        code = coll_client_comm_begin();
    if (code == MPI_SUCCESS)
        code = coll_mailbox_open(&job->mailboxes, job->wire, job->rank, &box);
    coll_mailbox of_dcp;
    if (code == MPI_SUCCESS)
        code =
            coll_mailbox_open(&job->mailboxes, job->wire, job->mapping.dcp_of[job->rank], &of_dcp);
    if (code == MPI_SUCCESS)
        wakeup = of_dcp.wakeup;
    return code;
}

int coll_dcp_register(MPI_Comm comm) {
    return comm == MPI_COMM_NULL || coll_dcp_knows(comm) ? MPI_SUCCESS
                                                         : coll_client_comm_make(comm);
}

bool coll_dcp_knows(MPI_Comm comm) {
    return !coll_the_job.posts || coll_client_comm_of(comm);
}

/* Copies BYTES. The most frequent size, one number, needs no function call. */
static inline void copy_bytes(void *to, const void *from, size_t bytes) {
    if (bytes == sizeof(double))
        memcpy(to, from, sizeof(double));
    else if (bytes)
        memcpy(to, from, bytes);
}

/* Copies the data of GIVEN to the buffer TO, without gaps. */
static inline void pack_values(void *to, const coll_data *given) {
    if (coll_data_in_place(given))
        copy_bytes(to, given->base, given->bytes);
    else
        coll_data_read(given, 0, given->bytes, to);
}

/* Copies the data in the buffer FROM to the places that WANTED describes. */
static inline void unpack_values(const coll_data *wanted, const void *from) {
    if (coll_data_in_place(wanted))
        copy_bytes(wanted->base, from, wanted->bytes);
    else
        coll_data_store(wanted, 0, wanted->bytes, from);
}

static coll_wire_header header_of(const coll_dcp_request *request) {
    return (coll_wire_header){.comm = request->series->number,
                              .sequence = request->series->sequence,
                              .kind = COLL_WIRE_CONTRIBUTION,
                              .code = request->call.code,
                              .count = request->call.count,
                              .rank = request->client_comm->rank};
}

static size_t larger(size_t one, size_t other) {
    return one > other ? one : other;
}

/*
 * Sets *LARGE_SLOT to a reserved large slot if the data of CALL doesn't fit into a slot, else to
 * COLL_MAILBOX_NO_LARGE_SLOT. Returns false if a large slot is needed and none is free.
 */
static bool reserve_large_slot(const coll_client_call *call, int *large_slot) {
    *large_slot = COLL_MAILBOX_NO_LARGE_SLOT;
    if (larger(call->given.bytes, call->wanted.bytes) <= coll_mailbox_room(&box))
        return true;
    for (int i = 0; i < COLL_MAILBOX_LARGE_SLOTS; i++)
        if (!large_slot_in_use[i]) {
            large_slot_in_use[i] = true;
            *large_slot = i;
            return true;
        }
    return false;
}

/*
 * Writes the values to the next slot. Returns false if there is no mailbox, the next slot is not
 * free, or a large slot is needed and none is free.
 */
static bool post_to_mailbox(coll_dcp_request *request) {
    if (!box.slots)
        return false;
    coll_mailbox_slot *slot = coll_mailbox_slot_at(&box, box.ticket);
    int large_slot;
    if (coll_mailbox_event_in(slot, memory_order_relaxed) != COLL_MAILBOX_FREE ||
        !reserve_large_slot(&request->call, &large_slot))
        return false;
    slot->code = request->call.code;
    slot->comm = request->series->number;
    slot->sequence = request->series->sequence;
    slot->count = request->call.count;
    slot->rank = request->client_comm->rank;
    slot->large_slot = large_slot;
    pack_values(coll_mailbox_data(&box, slot), &request->call.given);
    atomic_store_explicit(&slot->state, coll_mailbox_state(box.ticket++, COLL_MAILBOX_POSTED),
                          memory_order_release);
    coll_wakeup_notify(wakeup);
    request->slot = slot;
    return true;
}

static coll_message_pair *make_message_pair(size_t given, size_t wanted) {
    const size_t unit = alignof(max_align_t);
    size_t bytes = sizeof(coll_wire_header) + larger(COLL_WIRE_TEXT, larger(given, wanted));
    size_t room = (bytes + unit - 1) / unit * unit;
    coll_message_pair *messages = malloc(sizeof *messages + 2 * room);
    if (messages)
        *messages = (coll_message_pair){.error = MPI_SUCCESS, .room = room};
    return messages;
}

static char *result_in(coll_message_pair *messages) {
    return messages->buffers + messages->room;
}

/* Sends the values in a message. */
COLL_ASIDE static int post_as_message(coll_dcp_request *request) {
    const coll_job *job = &coll_the_job;
    coll_message_pair *messages =
        make_message_pair(request->call.given.bytes, request->call.wanted.bytes);
    if (!messages)
        return coll_error(MPI_ERR_NO_MEM, "no memory to post a collective");
    int dcp = job->mapping.dcp_of[job->rank];
    coll_wire_header header = header_of(request);
    header.reply = COLL_JOB_TAG_RESULT + coll_request_number(request);
    memcpy(messages->buffers, &header, sizeof header);
    pack_values(messages->buffers + sizeof header, &request->call.given);
    int code = PMPI_Irecv(result_in(messages), (int)messages->room, MPI_BYTE, dcp, header.reply,
                          job->wire, &messages->requests[1]);
    if (code != MPI_SUCCESS) {
        free(messages);
        return code;
    }
    code = PMPI_Isend(messages->buffers, (int)(sizeof header + request->call.given.bytes), MPI_BYTE,
                      dcp, COLL_JOB_TAG_TO_DCP, job->wire, &messages->requests[0]);
    if (code != MPI_SUCCESS) {
        /* MPI may still write to the buffer, so it is not freed */
        coll_wait_abandon(1, &messages->requests[1]);
        return code;
    }
    request->messages = messages;
    return MPI_SUCCESS;
}

COLL_ASIDE int coll_client_withdraw(const coll_client_comm *client_comm, coll_client_series *series,
                                    int32_t code, int32_t count, int error) {
    struct {
        coll_wire_header header;
        char text[COLL_WIRE_TEXT];
    } message = {.header = {.comm = series->number,
                            .sequence = series->sequence++,
                            .kind = COLL_WIRE_WITHDRAWAL,
                            .code = code,
                            .count = count,
                            .rank = client_comm->rank,
                            .first = coll_error_class(error)}};
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(error, reason, &length);
    const int most = (int)(sizeof message.text - sizeof "rank -2147483648: ");
    snprintf(message.text, sizeof message.text, "rank %d: %.*s", client_comm->rank, most, reason);
    (void)coll_job_tell(&message, sizeof message);
    return error;
}

int coll_dcp_begin(coll_dcp_request *request) {
    coll_job_enter();
    int code = post_to_mailbox(request) ? MPI_SUCCESS : post_as_message(request);
    request->series->sequence += code == MPI_SUCCESS;
    coll_job_leave();
    return code == MPI_SUCCESS
               ? MPI_SUCCESS
               : coll_client_withdraw(request->client_comm, request->series, request->call.code,
                                      request->call.count, code);
}

/* The caller holds the job's lock. */
static inline void end_request(coll_dcp_request **request) {
    coll_dcp_request *ended = *request;
    coll_data_close(&ended->call.given);
    coll_data_close(&ended->call.wanted);
    coll_client_comm_let_go(ended->client_comm);
    coll_request_give_back(ended);
    *request = NULL;
}

int coll_dcp_release(coll_dcp_request **request) {
    int code = (*request)->persistent ? coll_client_series_end(&(*request)->own) : MPI_SUCCESS;
    coll_job_enter();
    end_request(request);
    coll_job_leave();
    return code;
}

bool coll_dcp_active(const coll_dcp_request *request) {
    return request->slot || request->messages;
}

/* The caller holds the job's lock. */
static MPI_Comm comm_of(const coll_dcp_request *request) {
    MPI_Comm comm = request->client_comm->comm;
    return comm == MPI_COMM_NULL ? coll_the_job.app : comm;
}

MPI_Comm coll_dcp_request_comm(const coll_dcp_request *request) {
    coll_job_enter();
    MPI_Comm comm = comm_of(request);
    coll_job_leave();
    return comm;
}

/*
 * Returns whether the result or a failure has arrived: after the post only the DCP changes the
 * state.
 */
static bool has_arrived(const coll_mailbox_slot *slot) {
    return coll_mailbox_event_in(slot, memory_order_acquire) != COLL_MAILBOX_POSTED;
}

/* Returns whether it is known, without a call of MPI, that REQUEST can be completed at once. */
static bool is_known_complete(const coll_dcp_request *request) {
    if (request->slot)
        return has_arrived(request->slot);
    return !request->messages || request->messages->error != MPI_SUCCESS;
}

/*
 * No message with this tag ever arrives here, but the call lets MPI progress the program's
 * messages.
 */
static int let_mpi_work(void) {
    int flag;
    return PMPI_Iprobe(MPI_ANY_SOURCE, COLL_JOB_TAG_TO_DCP, coll_the_job.wire, &flag,
                       MPI_STATUS_IGNORE);
}

/* Returns whether the messages are complete or have failed. */
static bool have_ended(coll_message_pair *messages) {
    int there = 0;
    MPI_Status statuses[2];
    int code = PMPI_Testall(2, messages->requests, &there, statuses);
    messages->error = coll_wait_error(code, 2, statuses);
    return there || code != MPI_SUCCESS;
}

bool coll_dcp_ready(coll_dcp_request *request) {
    if (is_known_complete(request))
        return true;
    return request->messages ? have_ended(request->messages) : let_mpi_work() != MPI_SUCCESS;
}

static int error_of_failure(int error_class, const void *text) {
    return coll_error(error_class, "%.*s", COLL_WIRE_TEXT, (const char *)text);
}

static inline int fetch_from_mailbox(coll_dcp_request *request) {
    coll_mailbox_slot *slot = request->slot;
    int code = MPI_SUCCESS;
    if (coll_mailbox_event_in(slot, memory_order_relaxed) == COLL_MAILBOX_DONE)
        unpack_values(&request->call.wanted, coll_mailbox_data(&box, slot));
    else
        code = error_of_failure(slot->code, slot->data);
    if (slot->large_slot != COLL_MAILBOX_NO_LARGE_SLOT)
        large_slot_in_use[slot->large_slot] = false;
    atomic_store_explicit(&slot->state, COLL_MAILBOX_FREE, memory_order_relaxed);
    request->slot = NULL;
    return code;
}

COLL_ASIDE static int fetch_from_messages(coll_dcp_request *request) {
    coll_message_pair *messages = request->messages;
    const coll_wire_header *header = (const void *)result_in(messages);
    int code = messages->error;
    request->messages = NULL;
    if (code != MPI_SUCCESS) {
        coll_wait_abandon(2, messages->requests);
        coll_wait_leave(messages);
        return code;
    }
    if (header->kind == COLL_WIRE_RESULT)
        unpack_values(&request->call.wanted, header + 1);
    else
        code = error_of_failure(header->code, header + 1);
    free(messages);
    return code;
}

/* Fetches the result or the error, and ends the request or makes it inactive. */
static inline int complete_request(coll_dcp_request **request, MPI_Comm *comm) {
    coll_dcp_request *done = *request;
    int code = MPI_SUCCESS;
    coll_job_enter();
    if (done->slot)
        code = fetch_from_mailbox(done);
    else if (done->messages)
        code = fetch_from_messages(done);
    if (code != MPI_SUCCESS)
        *comm = comm_of(done);
    if (!done->persistent)
        end_request(request);
    coll_job_leave();
    return code;
}

static int wait_at_mailbox(const coll_mailbox_slot *slot, coll_wait *wait) {
    for (int i = 0; i < LOOKS; i++)
        if (has_arrived(slot))
            return MPI_SUCCESS;
    int code = MPI_SUCCESS;
    coll_backoff backoff = coll_backoff_begin(wait);
    while (!has_arrived(slot) && code == MPI_SUCCESS) {
        code = let_mpi_work();
        coll_backoff_relax(&backoff);
    }
    coll_backoff_progress(&backoff);
    return code;
}

/* Returns MPI's errors, but stores those of messages, which end the request. */
COLL_ASIDE static int wait_for_result(const coll_dcp_request *request, MPI_Comm *comm) {
    coll_wait wait = coll_the_job.wait; /* a copy: threads may wait at the same time */
    int code = MPI_SUCCESS;
    if (request->messages)
        request->messages->error = coll_wait_all(&wait, 2, request->messages->requests, NULL);
    else
        code = wait_at_mailbox(request->slot, &wait);
    if (!coll_the_job.threaded)
        coll_the_job.wait = wait;
    if (code != MPI_SUCCESS)
        *comm = coll_dcp_request_comm(request);
    return code;
}

int coll_dcp_wait(coll_dcp_request **request, MPI_Comm *comm) {
    int code = is_known_complete(*request) ? MPI_SUCCESS : wait_for_result(*request, comm);
    return code == MPI_SUCCESS ? complete_request(request, comm) : code;
}

int DCP_Wait(DCP_Request *request) {
    if (!coll_dcp_owns(*request))
        return coll_native_wait(request);
    MPI_Comm comm;
    int code = coll_dcp_wait(request, &comm);
    return coll_raise(comm, code);
}

int DCP_Test(DCP_Request *request, int *flag) {
    if (!coll_dcp_owns(*request))
        return coll_native_test(request, flag);
    *flag = coll_dcp_ready(*request);
    return *flag ? DCP_Wait(request) : MPI_SUCCESS;
}

int coll_client_close(void) {
    coll_wire_header header = {.kind = COLL_WIRE_STOP};
    return coll_job_tell(&header, sizeof header);
}

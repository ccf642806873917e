/*
 * An application rank's side: it hands its values over and fetches the result.
 *
 * Values go through the mailbox in the node's shared memory where the rank has one and its next
 * slot is free, else as a message to the DCP; the result comes back the same way. A rank may use
 * both: the DCP knows a call by its communicator and its number.
 *
 * Cost: on the mailbox a post and a completed wait are two copies of the value and about four
 * misses of the cache, independent of the number of ranks.
 */
#include "config.h"

#include "cdcp/client.h"

#include "cdcp/job.h"
#include "cdcp/membership.h"
#include "cdcp/request_pool.h"
#include "cdcp/wire.h"
#include "lib/base/error.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Looks at a slot before the first look at a clock: a microsecond or so. */
enum { LOOKS = 64 };

/* Two letters, each a header and a body: the values, and the result or the text of a failure. */
struct coll_envelope {
    MPI_Request requests[2]; /* the values' sending, the result's coming */
    size_t room;             /* for a letter */
    alignas(max_align_t) char letters[];
};

/* This rank's mailbox, and who waits for the result in each slot; by the job's lock. */
static coll_mailbox box;
static coll_dcp_request *waits_for[COLL_MAILBOX_SLOTS];
static bool parcel_taken[COLL_MAILBOX_PARCELS];

static int most_requests; /* at once */

/* As many requests at once as there are tags for their results. */
static int make_room_for_requests(void) {
    int there = 0, *highest;
    int code = PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &there);
    if (code != MPI_SUCCESS)
        return code;
    most_requests = (there ? *highest : COLL_JOB_TAG_PROMISED) - COLL_JOB_TAG_RESULT + 1;
    return coll_request_open(&most_requests);
}

int coll_client_open(void) {
    const coll_job *job = &coll_the_job;
    memset(waits_for, 0, sizeof waits_for);
    memset(parcel_taken, 0, sizeof parcel_taken);
    int code = make_room_for_requests();
    if (code == MPI_SUCCESS)
        code = coll_membership_begin();
    return code == MPI_SUCCESS ? coll_mailbox_open(&job->mailboxes, job->wire, job->rank, &box)
                               : code;
}

int coll_dcp_register(MPI_Comm comm) {
    return comm == MPI_COMM_NULL || coll_dcp_knows(comm) ? MPI_SUCCESS : coll_membership_make(comm);
}

bool coll_dcp_knows(MPI_Comm comm) {
    return !coll_the_job.posts || coll_membership_of(comm);
}

/* Puts the bytes of GIVEN one after the other at TO. */
static void put(void *to, const coll_data *given) {
    if (!given->bytes)
        return;
    const void *packed = coll_data_read(given, 0, given->bytes, to);
    if (packed != to)
        memcpy(to, packed, given->bytes);
}

/* The other way round. */
static void take(const coll_data *wanted, const void *from) {
    if (wanted->bytes)
        coll_data_write(wanted, 0, wanted->bytes, from);
}

static coll_wire_header header_of(const coll_dcp_request *request) {
    const coll_membership *membership = request->membership;
    return (coll_wire_header){.team = membership->number,
                              .sequence = membership->sequence,
                              .kind = COLL_WIRE_CONTRIBUTION,
                              .code = request->call.code,
                              .count = request->call.count,
                              .rank = membership->rank};
}

static size_t larger(size_t one, size_t other) {
    return one > other ? one : other;
}

/* Takes a parcel where the data of CALL don't fit into a slot. False where none is free. */
static bool take_parcel(const coll_client_call *call, int *parcel) {
    *parcel = COLL_MAILBOX_NO_PARCEL;
    if (larger(call->given.bytes, call->wanted.bytes) <= coll_mailbox_room(&box))
        return true;
    for (int i = 0; i < COLL_MAILBOX_PARCELS; i++)
        if (!parcel_taken[i]) {
            parcel_taken[i] = true;
            *parcel = i;
            return true;
        }
    return false;
}

/* Puts the values into the next slot; false where that waits for an earlier result. */
static bool put_into_mailbox(coll_dcp_request *request) {
    int parcel;
    if (!box.slots || waits_for[box.ticket % COLL_MAILBOX_SLOTS] ||
        !take_parcel(&request->call, &parcel))
        return false;
    const coll_membership *membership = request->membership;
    coll_mailbox_slot *slot = coll_mailbox_slot_at(&box, box.ticket);
    slot->code = request->call.code;
    slot->team = membership->number;
    slot->sequence = membership->sequence;
    slot->count = request->call.count;
    slot->rank = membership->rank;
    slot->parcel = parcel;
    put(coll_mailbox_data(&box, slot), &request->call.given);
    atomic_store_explicit(&slot->state, coll_mailbox_state(box.ticket, COLL_MAILBOX_POSTED),
                          memory_order_release);
    waits_for[box.ticket % COLL_MAILBOX_SLOTS] = request;
    request->slot = slot;
    request->ticket = box.ticket++;
    return true;
}

static coll_envelope *make_envelope(size_t given, size_t wanted) {
    const size_t unit = alignof(max_align_t);
    size_t letter = sizeof(coll_wire_header) + larger(COLL_WIRE_TEXT, larger(given, wanted));
    size_t room = (letter + unit - 1) / unit * unit;
    coll_envelope *envelope = malloc(sizeof *envelope + 2 * room);
    if (envelope)
        envelope->room = room;
    return envelope;
}

static char *result_in(coll_envelope *envelope) {
    return envelope->letters + envelope->room;
}

/* Sends the values as a message. */
static int mail(coll_dcp_request *request) {
    const coll_job *job = &coll_the_job;
    coll_envelope *envelope = make_envelope(request->call.given.bytes, request->call.wanted.bytes);
    if (!envelope)
        return coll_error(MPI_ERR_NO_MEM, "no memory to post a collective");
    int dcp = job->mapping.dcp_of[job->rank];
    coll_wire_header header = header_of(request);
    header.reply = COLL_JOB_TAG_RESULT + coll_request_number(request);
    memcpy(envelope->letters, &header, sizeof header);
    put(envelope->letters + sizeof header, &request->call.given);
    int code = PMPI_Irecv(result_in(envelope), (int)envelope->room, MPI_BYTE, dcp, header.reply,
                          job->wire, &envelope->requests[1]);
    if (code != MPI_SUCCESS) {
        free(envelope);
        return code;
    }
    code = PMPI_Isend(envelope->letters, (int)(sizeof header + request->call.given.bytes), MPI_BYTE,
                      dcp, COLL_JOB_TAG_TO_DCP, job->wire, &envelope->requests[0]);
    if (code != MPI_SUCCESS) {
        coll_wait_abandon(1, &envelope->requests[1]); /* may still be written to: not freed */
        return code;
    }
    request->slot = NULL;
    request->envelope = envelope;
    return MPI_SUCCESS;
}

void coll_client_drop(coll_client_call *call) {
    coll_data_close(&call->given);
    coll_data_close(&call->wanted);
}

int coll_client_prepare(coll_membership *membership, coll_client_call *call,
                        coll_dcp_request **request) {
    coll_job_enter();
    coll_dcp_request *made = coll_request_take();
    membership->requests += made != NULL;
    coll_job_leave();
    *request = made;
    if (!made) {
        coll_client_drop(call);
        return coll_error(MPI_ERR_NO_MEM, "more than %d collectives under way at once",
                          most_requests);
    }
    made->call = *call;
    made->membership = membership;
    made->persistent = true;
    made->active = false;
    return MPI_SUCCESS;
}

int coll_dcp_begin(coll_dcp_request *request) {
    coll_job_enter();
    int code = put_into_mailbox(request) ? MPI_SUCCESS : mail(request);
    request->membership->sequence++;
    request->active = code == MPI_SUCCESS;
    coll_job_leave();
    return code;
}

void coll_dcp_release(coll_dcp_request **request) {
    coll_client_drop(&(*request)->call);
    coll_job_enter();
    coll_membership_let_go((*request)->membership);
    coll_request_give_back(*request);
    coll_job_leave();
    *request = NULL;
}

int coll_client_post(coll_membership *membership, coll_client_call *call,
                     coll_dcp_request **request) {
    int code = coll_client_prepare(membership, call, request);
    if (code != MPI_SUCCESS)
        return code;
    (*request)->persistent = false;
    code = coll_dcp_begin(*request);
    if (code != MPI_SUCCESS)
        coll_dcp_release(request);
    return code;
}

bool coll_dcp_active(const coll_dcp_request *request) {
    return request->active;
}

MPI_Comm coll_dcp_request_comm(const coll_dcp_request *request) {
    coll_job_enter();
    MPI_Comm comm = request->membership->comm;
    coll_job_leave();
    return comm == MPI_COMM_NULL ? coll_the_job.app : comm;
}

/* Whether the slot's state is anything but "posted": the DCP alone writes it after the post. */
static bool has_come(const coll_dcp_request *request) {
    return atomic_load_explicit(&request->slot->state, memory_order_acquire) !=
           coll_mailbox_state(request->ticket, COLL_MAILBOX_POSTED);
}

/* Nothing ever arrives there: this lets MPI work on the caller's other messages. */
static int let_mpi_work(void) {
    int flag;
    return PMPI_Iprobe(MPI_ANY_SOURCE, COLL_JOB_TAG_TO_DCP, coll_the_job.wire, &flag,
                       MPI_STATUS_IGNORE);
}

bool coll_dcp_ready(coll_dcp_request *request) {
    int there = 0;
    if (!request->active || (!request->envelope && has_come(request)))
        return true;
    int code = request->envelope
                   ? PMPI_Testall(2, request->envelope->requests, &there, MPI_STATUSES_IGNORE)
                   : let_mpi_work();
    return there || code != MPI_SUCCESS;
}

static int failure(int error_class, const void *text) {
    return coll_error(error_class, "%.*s", COLL_WIRE_TEXT, (const char *)text);
}

static int fetch_from_mailbox(coll_dcp_request *request) {
    coll_mailbox_slot *slot = request->slot;
    int code = MPI_SUCCESS;
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) ==
        coll_mailbox_state(request->ticket, COLL_MAILBOX_DONE))
        take(&request->call.wanted, coll_mailbox_data(&box, slot));
    else
        code = failure(slot->code, slot->data);
    if (slot->parcel != COLL_MAILBOX_NO_PARCEL)
        parcel_taken[slot->parcel] = false;
    waits_for[request->ticket % COLL_MAILBOX_SLOTS] = NULL;
    return code;
}

static int fetch_from_envelope(coll_dcp_request *request) {
    coll_envelope *envelope = request->envelope;
    const coll_wire_header *header = (const void *)result_in(envelope);
    int code = MPI_SUCCESS;
    if (header->kind == COLL_WIRE_RESULT)
        take(&request->call.wanted, header + 1);
    else
        code = failure(header->code, header + 1);
    free(envelope);
    request->envelope = NULL;
    return code;
}

/* Takes the result, which has come, and ends the request or makes it inactive. */
static int complete(coll_dcp_request **request) {
    coll_dcp_request *done = *request;
    int code = MPI_SUCCESS;
    coll_job_enter();
    if (done->active)
        code = done->envelope ? fetch_from_envelope(done) : fetch_from_mailbox(done);
    coll_job_leave();
    done->active = false;
    if (!done->persistent)
        coll_dcp_release(request);
    return code;
}

static int wait_at_mailbox(const coll_dcp_request *request, coll_wait *wait) {
    for (int i = 0; i < LOOKS; i++)
        if (has_come(request))
            return MPI_SUCCESS;
    int code = MPI_SUCCESS;
    coll_patience patience = coll_patience_begin(wait);
    while (!has_come(request) && code == MPI_SUCCESS) {
        code = let_mpi_work();
        coll_patience_relax(&patience);
    }
    coll_patience_progress(&patience);
    return code;
}

int coll_dcp_wait(coll_dcp_request **request) {
    coll_dcp_request *awaited = *request;
    if (!awaited->active || (!awaited->envelope && has_come(awaited)))
        return complete(request);
    coll_wait wait = coll_the_job.wait; /* a copy: threads may wait at the same time */
    int code = awaited->envelope ? coll_wait_all(&wait, 2, awaited->envelope->requests, NULL)
                                 : wait_at_mailbox(awaited, &wait);
    if (!coll_the_job.threaded)
        coll_the_job.wait = wait;
    return code == MPI_SUCCESS ? complete(request) : code;
}

int coll_client_close(void) {
    coll_wire_header header = {.kind = COLL_WIRE_STOP};
    return coll_job_tell(&header, sizeof header);
}

/*
 * An application rank's side: it hands its values over and fetches the result.
 *
 * Values go through the mailbox in the node's shared memory where the rank has one and its next
 * slot is free, else as a message to the DCP; the result comes back the same way. The two may mix:
 * the DCP tells an allreduce by its communicator and its number.
 *
 * Cost: on the mailbox a post and a completed wait are two copies of the value and about four
 * misses of the cache, independent of the number of ranks.
 */
#include "config.h"

#include "cdcp/dcp.h"

#include "cdcp/client.h"
#include "cdcp/job.h"
#include "cdcp/membership.h"
#include "cdcp/operands.h"
#include "cdcp/request.h"
#include "cdcp/wire.h"
#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Looks at a slot before the first look at a clock: a microsecond or so. */
enum { LOOKS = 64 };

struct coll_envelope {
    MPI_Request requests[2]; /* the values' sending, the result's coming */
    char *values, *result;   /* each a header and a body */
};

/* This rank's mailbox, and who waits for the result in each slot; by the job's lock. */
static coll_mailbox box;
static coll_dcp_request *waits_for[COLL_MAILBOX_SLOTS];

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

bool coll_dcp_takes(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (!coll_the_job.posts)
        return false;
    coll_membership *membership = coll_membership_of(comm);
    if (!membership || !membership->served)
        return false;
    coll_membership_look_up(membership, type, op);
    return count >= 0 && count <= membership->most;
}

/* For values of no bytes too, which may be nowhere. */
static void copy(void *to, const void *from, size_t bytes) {
    if (bytes)
        memcpy(to, from, bytes);
}

static coll_wire_header header_of(const coll_dcp_request *request) {
    const coll_membership *membership = request->membership;
    return (coll_wire_header){.team = membership->number,
                              .sequence = membership->sequence,
                              .kind = COLL_WIRE_CONTRIBUTION,
                              .code = request->code,
                              .count = request->count,
                              .rank = membership->rank};
}

/* Puts the values into the next slot; false where that waits for an earlier result. */
static bool put_into_mailbox(coll_dcp_request *request) {
    if (!box.slots || waits_for[box.ticket % COLL_MAILBOX_SLOTS])
        return false;
    const coll_membership *membership = request->membership;
    coll_mailbox_slot *slot = coll_mailbox_slot_at(&box, box.ticket);
    slot->code = request->code;
    slot->team = membership->number;
    slot->sequence = membership->sequence;
    slot->count = request->count;
    slot->rank = membership->rank;
    copy(slot->data, request->sendbuf, request->bytes);
    atomic_store_explicit(&slot->state, coll_mailbox_state(box.ticket, COLL_MAILBOX_POSTED),
                          memory_order_release);
    waits_for[box.ticket % COLL_MAILBOX_SLOTS] = request;
    request->slot = slot;
    request->ticket = box.ticket++;
    return true;
}

static void free_envelope(coll_envelope *envelope) {
    free(envelope->values);
    free(envelope->result);
    free(envelope);
}

static coll_envelope *make_envelope(const coll_dcp_request *request) {
    size_t text = COLL_WIRE_TEXT, most = request->bytes > text ? request->bytes : text;
    coll_envelope *envelope = calloc(1, sizeof *envelope);
    if (!envelope)
        return NULL;
    envelope->values = malloc(sizeof(coll_wire_header) + request->bytes);
    envelope->result = malloc(sizeof(coll_wire_header) + most);
    if (envelope->values && envelope->result)
        return envelope;
    free_envelope(envelope);
    return NULL;
}

/* Sends the values as a message. */
static int mail(coll_dcp_request *request) {
    const coll_job *job = &coll_the_job;
    coll_envelope *envelope = make_envelope(request);
    if (!envelope)
        return coll_error(MPI_ERR_NO_MEM, "no memory to post an allreduce");
    int dcp = job->mapping.dcp_of[job->rank];
    size_t head = sizeof(coll_wire_header), text = COLL_WIRE_TEXT;
    size_t most = request->bytes > text ? request->bytes : text;
    coll_wire_header header = header_of(request);
    header.reply = COLL_JOB_TAG_RESULT + coll_request_number(request);
    memcpy(envelope->values, &header, head);
    copy(envelope->values + head, request->sendbuf, request->bytes);
    int code = PMPI_Irecv(envelope->result, (int)(head + most), MPI_BYTE, dcp, header.reply,
                          job->wire, &envelope->requests[1]);
    if (code != MPI_SUCCESS) {
        free_envelope(envelope);
        return code;
    }
    code = PMPI_Isend(envelope->values, (int)(head + request->bytes), MPI_BYTE, dcp,
                      COLL_JOB_TAG_TO_DCP, job->wire, &envelope->requests[0]);
    if (code != MPI_SUCCESS) {
        coll_wait_abandon(1, &envelope->requests[1]); /* may still be written to: not freed */
        return code;
    }
    request->slot = NULL;
    request->envelope = envelope;
    return MPI_SUCCESS;
}

int coll_dcp_prepare(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, coll_dcp_request **request) {
    *request = NULL;
    coll_membership *membership = coll_membership_of(comm);
    coll_job_enter();
    coll_dcp_request *made = coll_request_take();
    membership->requests += made != NULL;
    coll_job_leave();
    if (!made)
        return coll_error(MPI_ERR_NO_MEM, "more than %d allreduces under way at once",
                          most_requests);
    coll_membership_look_up(membership, type, op);
    made->sendbuf = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    made->recvbuf = recvbuf;
    made->count = count;
    made->code = membership->code;
    made->bytes = (size_t)count * membership->extent;
    made->membership = membership;
    made->persistent = true;
    made->active = false;
    *request = made;
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

int coll_dcp_release(coll_dcp_request **request) {
    coll_job_enter();
    coll_membership_let_go((*request)->membership);
    coll_request_give_back(*request);
    coll_job_leave();
    *request = NULL;
    return MPI_SUCCESS;
}

int coll_dcp_post(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, coll_dcp_request **request) {
    int code = coll_dcp_prepare(sendbuf, recvbuf, count, type, op, comm, request);
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

static int test_envelope(coll_envelope *envelope, int *there) {
    return PMPI_Testall(2, envelope->requests, there, MPI_STATUSES_IGNORE);
}

/* Sets *THERE to whether the result has come; an envelope's error counts as a result. */
static int look(coll_dcp_request *request, int *there) {
    *there = 1;
    if (!request->active)
        return MPI_SUCCESS;
    if (request->envelope)
        return test_envelope(request->envelope, there);
    *there = has_come(request);
    return *there ? MPI_SUCCESS : let_mpi_work();
}

bool coll_dcp_ready(coll_dcp_request *request) {
    int there = 1, code = look(request, &there);
    return there || code != MPI_SUCCESS;
}

static int failure(int error_class, const void *text) {
    return coll_error(error_class, "%.*s", COLL_WIRE_TEXT, (const char *)text);
}

static int fetch_from_mailbox(coll_dcp_request *request) {
    const coll_mailbox_slot *slot = request->slot;
    int code = MPI_SUCCESS;
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) ==
        coll_mailbox_state(request->ticket, COLL_MAILBOX_DONE))
        copy(request->recvbuf, slot->data, request->bytes);
    else
        code = failure(slot->code, slot->data);
    waits_for[request->ticket % COLL_MAILBOX_SLOTS] = NULL;
    return code;
}

static int fetch_from_envelope(coll_dcp_request *request) {
    coll_envelope *envelope = request->envelope;
    const coll_wire_header *header = (const void *)envelope->result;
    int code = MPI_SUCCESS;
    if (header->kind == COLL_WIRE_RESULT)
        copy(request->recvbuf, header + 1, request->bytes);
    else
        code = failure(header->code, header + 1);
    free_envelope(envelope);
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

int coll_dcp_test(coll_dcp_request **request, int *flag) {
    int code = look(*request, flag);
    if (code != MPI_SUCCESS || !*flag)
        return code;
    return complete(request);
}

/* The last word to this rank's DCP. */
int coll_client_close(void) {
    const coll_job *job = &coll_the_job;
    coll_wire_header header = {.kind = COLL_WIRE_STOP};
    return PMPI_Send(&header, (int)sizeof header, MPI_BYTE, job->mapping.dcp_of[job->rank],
                     COLL_JOB_TAG_TO_DCP, job->wire);
}

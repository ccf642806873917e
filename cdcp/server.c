/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a DCP: one loop polls the mailboxes of its application ranks and the messages that have
 * arrived, and advances the calls to which they belong (cdcp/dcp_call.h). Between polls it may
 * yield the processor (lib/base/wait.h); after a long silence it sleeps.
 */
#include "config.h"

#include "cdcp/dcp.h"

#include "cdcp/dcp_call.h"
#include "cdcp/job.h"
#include "cdcp/server_comm.h"
#include "cdcp/straggler.h"
#include "cdcp/wire.h"
#include "lib/base/error.h"

#include <stdlib.h>

/*
 * RECEIVES receives are posted for any message; they complete in the order of the messages. Polling
 * mailboxes is cheap, reading the clock is not. So the clock is read and the send queue is cleared
 * only once in LOOKS polls of mailboxes. Messages, too, are polled only then if they are rare: if
 * the job has one DCP, and all its ranks have mailboxes. Otherwise messages are polled each time.
 * On a core that other processes want, no poll is cheap: everything is polled each time, followed
 * by a pause.
 */
enum { RECEIVES = 16, TABLE = 64, LOOKS = 16 };

/*
 * Number of communicators dropped last that are remembered. Other DCPs may still ask about them,
 * for as long as messages of their last calls are under way.
 */
enum { DROPPED = 1024 };

/* Seconds without a post or message after which a DCP sleeps even if it has its own core. */
static const double SILENCE = 20e-3;

typedef struct server {
    coll_dcp_context context;
    coll_wait wait;
    coll_server_comm *table[TABLE]; /* hash table of communicators, by their numbers */
    coll_server_comm *recent;
    uint64_t dropped[DROPPED]; /* numbers of communicators; 0 if unused */
    unsigned drops;            /* number of communicators dropped so far */
    coll_mailbox *boxes;
    /* numbers of ranks that this DCP serves: all, with a mailbox, and stopped */
    int served, box_count, stopped;
    /* the other DCPs that serve ranks; their number; the number of them that have stopped */
    int *others, other_count, others_stopped;
    bool told_others; /* the others know that this DCP has stopped */
    MPI_Request receives[RECEIVES];
    char *buffers; /* RECEIVES buffers, each for a header and a body */
    int next;      /* the receive that completes next */
    double looked; /* time of the last search for late ranks */
    unsigned turn;
} server;

static coll_server_comm **chain_of(server *s, uint64_t number) {
    return &s->table[(number ^ number >> 32) % TABLE];
}

/* Returns the communicator with NUMBER, or NULL if it is unknown. */
static coll_server_comm *find_comm(server *s, uint64_t number) {
    if (s->recent && s->recent->number == number)
        return s->recent;
    coll_server_comm *comm = *chain_of(s, number);
    while (comm && comm->number != number)
        comm = comm->next;
    s->recent = comm ? comm : s->recent;
    return comm;
}

static int make_comm(server *s, uint64_t number, coll_server_comm **comm) {
    *comm = find_comm(s, number);
    if (*comm)
        return MPI_SUCCESS;
    *comm = coll_server_comm_new(number);
    if (!*comm)
        return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a communicator");
    (*comm)->next = *chain_of(s, number);
    *chain_of(s, number) = *comm;
    return MPI_SUCCESS;
}

/* Returns whether the communicator with NUMBER was dropped. */
static bool is_dropped(server *s, uint64_t number) {
    if (find_comm(s, number))
        return false;
    for (int i = 0; i < DROPPED; i++)
        if (s->dropped[i] == number)
            return true;
    return false;
}

static void drop_comm(server *s, coll_server_comm *comm) {
    coll_server_comm **link = chain_of(s, comm->number);
    while (*link != comm)
        link = &(*link)->next;
    *link = comm->next;
    s->dropped[s->drops++ % DROPPED] = comm->number;
    if (s->recent == comm)
        s->recent = NULL;
    coll_dcp_call_free_all(comm);
    coll_server_comm_free(comm);
}

static void drop_if_over(server *s, coll_server_comm *comm) {
    if (coll_server_comm_is_over(comm))
        drop_comm(s, comm);
}

static size_t buffer_bytes(const server *s) {
    const coll_job *job = s->context.job;
    return sizeof(coll_wire_header) + coll_wire_room(job->limit, job->blocks);
}

static char *buffer_at(const server *s, int i) {
    return s->buffers + (size_t)i * buffer_bytes(s);
}

static int post_receive(server *s, int i) {
    return PMPI_Irecv(buffer_at(s, i), (int)buffer_bytes(s), MPI_BYTE, MPI_ANY_SOURCE,
                      COLL_JOB_TAG_TO_DCP, s->context.job->wire, &s->receives[i]);
}

/* Processes a message for a communicator whose members are known. */
static int process_for_ready_comm(server *s, coll_server_comm *comm, const coll_wire_header *header,
                                  const void *body, size_t bytes, int source) {
    const coll_contributor where = {.source = source, .reply = header->reply};
    const coll_contributor nowhere = {.source = MPI_PROC_NULL};
    if (header->kind == COLL_WIRE_CONTRIBUTION)
        return coll_dcp_call_contribute(&s->context, comm, header, body, &where);
    if (header->kind == COLL_WIRE_WITHDRAWAL)
        return coll_dcp_call_contribute(&s->context, comm, header, body, &nowhere);
    if (header->kind == COLL_WIRE_FORGET) {
        comm->forgotten++;
        comm->posted += header->sequence;
        return MPI_SUCCESS;
    }
    if (header->kind == COLL_WIRE_QUESTION) /* the question was answered when it arrived */
        return coll_straggler_hold(&s->context, comm, header->sequence);
    if (header->kind == COLL_WIRE_VERDICT)
        return coll_straggler_process_verdict(&s->context, comm, header, body);
    return coll_dcp_call_exchange(&s->context, comm, header, body, bytes, source);
}

/* Processes the messages that arrived before the members of COMM were known. */
static int process_unexpected_messages(server *s, coll_server_comm *comm) {
    coll_unexpected_message *message;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS &&
           (message = coll_unexpected_queue_take(&comm->unexpected, COLL_UNEXPECTED_ANY))) {
        code = process_for_ready_comm(s, comm, &message->header, message->body, message->bytes,
                                      message->source);
        free(message);
    }
    return code;
}

static int process_for_comm(server *s, const coll_wire_header *header, const void *body,
                            size_t bytes, int source) {
    coll_server_comm *comm;
    if (is_dropped(s, header->comm)) /* a second verdict on a call that has ended */
        return MPI_SUCCESS;
    int code = make_comm(s, header->comm, &comm);
    if (code != MPI_SUCCESS)
        return code;
    if (header->kind == COLL_WIRE_MEMBERS) {
        code = coll_server_comm_list(comm, s->context.job, header, body);
        if (code == MPI_SUCCESS && coll_server_comm_ready(comm))
            code = process_unexpected_messages(s, comm);
    } else if (coll_server_comm_ready(comm))
        code = process_for_ready_comm(s, comm, header, body, bytes, source);
    else
        code = coll_unexpected_queue_add(&comm->unexpected, header, body, bytes, source);
    drop_if_over(s, comm);
    return code;
}

static int process_question(server *s, const coll_wire_header *header, int source) {
    coll_server_comm *comm;
    if (is_dropped(s, header->comm)) { /* all calls have ended here, so no rank is missing */
        const coll_wire_header answer = {
            .comm = header->comm, .sequence = header->sequence, .kind = COLL_WIRE_ANSWER};
        return coll_dcp_send(&s->context, source, COLL_JOB_TAG_TO_DCP, &answer, NULL, 0);
    }
    int code = make_comm(s, header->comm, &comm);
    if (code == MPI_SUCCESS)
        code = coll_straggler_answer(&s->context, comm, header, source);
    if (code == MPI_SUCCESS && !coll_server_comm_ready(comm))
        code = coll_unexpected_queue_add(&comm->unexpected, header, NULL, 0, source);
    return code;
}

static int process_answer(server *s, const coll_wire_header *header, int source) {
    coll_server_comm *comm = find_comm(s, header->comm);
    s->context.unanswered--;
    if (!comm)
        return MPI_SUCCESS;
    int code = coll_straggler_process_answer(&s->context, comm, header, (const void *)(header + 1),
                                             source);
    drop_if_over(s, comm);
    return code;
}

static int process_message(server *s, const coll_wire_header *header, size_t bytes, int source) {
    switch ((coll_wire_kind)header->kind) {
    case COLL_WIRE_STOP:
        if (s->context.job->mapping.dcp_of[source] < 0)
            s->others_stopped++;
        else
            s->stopped++;
        return MPI_SUCCESS;
    case COLL_WIRE_QUESTION:
        return process_question(s, header, source);
    case COLL_WIRE_ANSWER:
        return process_answer(s, header, source);
    default:
        return process_for_comm(s, header, header + 1, bytes - sizeof *header, source);
    }
}

/* Processes the message of the next receive, which is complete. */
static int process_next_message(server *s, const MPI_Status *status) {
    int bytes, i = s->next;
    int code = PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (code == MPI_SUCCESS)
        code = process_message(s, (const void *)buffer_at(s, i), (size_t)bytes, status->MPI_SOURCE);
    s->next = (i + 1) % RECEIVES;
    return code == MPI_SUCCESS ? post_receive(s, i) : code;
}

/* Processes the messages that have arrived, at most as many as there are receives. */
static int poll_messages(server *s, bool *moved) {
    for (int i = 0; i < RECEIVES; i++) {
        int there = 0;
        MPI_Status status;
        int code = PMPI_Test(&s->receives[s->next], &there, &status);
        if (code == MPI_SUCCESS && there)
            code = process_next_message(s, &status);
        if (code != MPI_SUCCESS || !there)
            return code;
        *moved = true;
    }
    return MPI_SUCCESS;
}

/*
 * Waits for messages, at most until the next search for late ranks, and processes them; for DCPs
 * without mailboxes.
 */
static int wait_for_message(server *s) {
    MPI_Status status;
    if (s->wait.manner == COLL_WAIT_BLOCK && !s->context.timed) {
        int code = PMPI_Wait(&s->receives[s->next], &status);
        return code == MPI_SUCCESS ? process_next_message(s, &status) : code;
    }
    coll_backoff backoff = coll_backoff_begin(&s->wait);
    bool moved = false;
    int code = poll_messages(s, &moved);
    while (!moved && code == MPI_SUCCESS && !coll_backoff_expired(&backoff, s->wait.timeout)) {
        coll_backoff_relax(&backoff);
        code = poll_messages(s, &moved);
    }
    coll_backoff_progress(&backoff);
    return code;
}

/* Processes the next post in BOX unless its communicator isn't known here yet. */
static int poll_mailbox(server *s, coll_mailbox *box, bool *moved) {
    coll_mailbox_slot *slot = coll_mailbox_slot_at(box, box->ticket);
    if (atomic_load_explicit(&slot->state, memory_order_acquire) !=
        coll_mailbox_state(box->ticket, COLL_MAILBOX_POSTED))
        return MPI_SUCCESS;
    coll_server_comm *comm = find_comm(s, slot->comm);
    if (!comm || !coll_server_comm_ready(comm))
        return MPI_SUCCESS;
    const coll_wire_header header = {.comm = slot->comm,
                                     .sequence = slot->sequence,
                                     .kind = COLL_WIRE_CONTRIBUTION,
                                     .code = slot->code,
                                     .count = slot->count,
                                     .rank = slot->rank};
    void *data = coll_mailbox_data(box, slot);
    const coll_contributor where = {
        .slot = slot, .ticket = box->ticket++, .data = data, .wakeup = box->wakeup};
    *moved = true;
    int code = coll_dcp_call_contribute(&s->context, comm, &header, data, &where);
    drop_if_over(s, comm);
    return code;
}

static int poll_mailboxes(server *s, bool *moved) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < s->box_count && code == MPI_SUCCESS; i++)
        code = poll_mailbox(s, &s->boxes[i], moved);
    return code;
}

/* Searches, from time to time, for calls that wait for late ranks. */
static int search_for_late_ranks(server *s) {
    double now, timeout = s->context.job->timeout;
    if (!s->context.timed || (now = PMPI_Wtime()) - s->looked < timeout / 8)
        return MPI_SUCCESS;
    s->looked = now;
    int code = MPI_SUCCESS;
    for (int i = 0; i < TABLE; i++)
        for (coll_server_comm *comm = s->table[i]; comm; comm = comm->next)
            for (uint32_t j = 0; j < comm->window_size && code == MPI_SUCCESS; j++)
                if (comm->window[j])
                    code = coll_straggler_check(&s->context, comm->window[j], now);
    return code;
}

/* Tells the other DCPs that this DCP has stopped: it only answers questions from now on. */
static int tell_others(server *s) {
    const coll_wire_header header = {.kind = COLL_WIRE_STOP};
    int code = MPI_SUCCESS;
    for (int i = 0; i < s->other_count && code == MPI_SUCCESS; i++)
        code = coll_dcp_send(&s->context, s->others[i], COLL_JOB_TAG_TO_DCP, &header, NULL, 0);
    s->told_others = true;
    return code;
}

static int stop_if_idle(server *s) {
    bool idle = s->stopped == s->served && s->context.under_way == 0 && s->context.unanswered == 0;
    return idle && !s->told_others ? tell_others(s) : MPI_SUCCESS;
}

/*
 * Returns whether no message to this DCP is under way any more. Until then, the job's WIRE must not
 * be freed: Open MPI would match the message on the next communicator with WIRE's number.
 */
static bool is_done(const server *s) {
    return s->told_others && s->others_stopped == s->other_count;
}

/* Serves messages only, for DCPs without mailboxes. */
static int serve_messages(server *s) {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !is_done(s)) {
        code = wait_for_message(s);
        if (code == MPI_SUCCESS)
            code = coll_send_queue_clear(&s->context.send_queue);
        if (code == MPI_SUCCESS)
            code = search_for_late_ranks(s);
        if (code == MPI_SUCCESS)
            code = stop_if_idle(s);
    }
    return code;
}

static int serve_mailboxes(server *s) {
    bool alone = s->context.job->mapping.dcps == 1 && s->box_count == s->served;
    coll_backoff backoff = coll_backoff_begin(&s->wait);
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !is_done(s)) {
        bool polite = coll_wait_is_polite(&s->wait) || backoff.slept;
        bool moved = false, full_turn = ++s->turn % LOOKS == 0 || polite;
        code = poll_mailboxes(s, &moved);
        if (code == MPI_SUCCESS && (full_turn || !alone))
            code = poll_messages(s, &moved);
        if (code == MPI_SUCCESS && full_turn)
            code = coll_send_queue_clear(&s->context.send_queue);
        if (code == MPI_SUCCESS && full_turn)
            code = search_for_late_ranks(s);
        if (code == MPI_SUCCESS && full_turn)
            code = stop_if_idle(s);
        if (moved)
            coll_backoff_progress(&backoff);
        else if (full_turn)
            coll_backoff_relax(&backoff);
    }
    return code;
}

/* Makes the communicator of the application's world, which is known from the start. */
static int make_world(server *s) {
    const coll_mapping *mapping = &s->context.job->mapping;
    int32_t *members = malloc((size_t)mapping->applications * sizeof *members);
    if (!members)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %d ranks", mapping->applications);
    int count = 0;
    for (int rank = 0; rank < mapping->ranks; rank++)
        if (mapping->dcp_of[rank] >= 0)
            members[count++] = rank;
    const coll_wire_header header = {.count = count, .items = count};
    coll_server_comm *comm;
    int code = make_comm(s, COLL_JOB_WORLD, &comm);
    if (code == MPI_SUCCESS)
        code = coll_server_comm_list(comm, s->context.job, &header, members);
    free(members);
    return code;
}

static int open_boxes(server *s) {
    const coll_job *job = s->context.job;
    for (int rank = 0; rank < job->mapping.ranks; rank++)
        s->served += job->mapping.dcp_of[rank] == job->rank;
    s->boxes = calloc((size_t)s->served + 1, sizeof *s->boxes);
    if (!s->boxes)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %d mailboxes", s->served);
    for (int rank = 0; rank < job->mapping.ranks; rank++) {
        if (job->mapping.dcp_of[rank] != job->rank)
            continue;
        coll_mailbox *box = &s->boxes[s->box_count];
        int code = coll_mailbox_open(&job->mailboxes, job->wire, rank, box);
        if (code != MPI_SUCCESS)
            return code;
        s->box_count += box->slots != NULL;
    }
    return MPI_SUCCESS;
}

static int list_others(server *s) {
    const coll_job *job = s->context.job;
    const size_t ranks = (size_t)job->mapping.ranks;
    bool *serves = calloc(ranks, sizeof *serves);
    s->others = malloc(ranks * sizeof *s->others);
    if (!serves || !s->others) {
        free(serves);
        return coll_error(MPI_ERR_NO_MEM, "no memory for %zu ranks", ranks);
    }
    for (size_t rank = 0; rank < ranks; rank++)
        if (job->mapping.dcp_of[rank] >= 0)
            serves[job->mapping.dcp_of[rank]] = true;
    for (int dcp = 0; dcp < job->mapping.ranks; dcp++)
        if (serves[dcp] && dcp != job->rank)
            s->others[s->other_count++] = dcp;
    free(serves);
    return MPI_SUCCESS;
}

static int open_receives(server *s) {
    s->buffers = malloc(RECEIVES * buffer_bytes(s));
    s->context.body = malloc(coll_wire_room(s->context.job->limit, s->context.job->blocks));
    if (!s->buffers || !s->context.body)
        return coll_error(MPI_ERR_NO_MEM, "no memory for messages");
    int code = MPI_SUCCESS;
    for (int i = 0; i < RECEIVES && code == MPI_SUCCESS; i++)
        code = post_receive(s, i);
    return code;
}

static int close_server(server *s) {
    int code = coll_send_queue_finish(&s->context.send_queue, &s->wait, 0);
    for (int i = 0; i < RECEIVES; i++)
        if (s->receives[i] != MPI_REQUEST_NULL) {
            PMPI_Cancel(&s->receives[i]);
            PMPI_Wait(&s->receives[i], MPI_STATUS_IGNORE);
        }
    for (int i = 0; i < TABLE; i++)
        while (s->table[i])
            drop_comm(s, s->table[i]);
    free(s->boxes);
    free(s->others);
    free(s->buffers);
    free(s->context.body);
    return code;
}

int coll_server_run(const coll_job *job) {
    server s = {.context = {.job = job, .timed = job->timeout > 0}, .wait = job->wait};
    s.wait.silence = SILENCE;
    s.wait.timeout = job->timeout / 8; /* until the next search for late ranks */
    for (int i = 0; i < RECEIVES; i++)
        s.receives[i] = MPI_REQUEST_NULL;
    int code = open_boxes(&s);
    if (code == MPI_SUCCESS)
        code = make_world(&s);
    if (code == MPI_SUCCESS)
        code = list_others(&s);
    if (code == MPI_SUCCESS)
        code = open_receives(&s);
    if (code == MPI_SUCCESS && s.served)
        code = s.box_count ? serve_mailboxes(&s) : serve_messages(&s);
    if (code != MPI_SUCCESS && !s.told_others)
        (void)tell_others(&s); /* so that the others don't wait for this DCP */
    int closing = close_server(&s);
    return code == MPI_SUCCESS ? closing : code;
}

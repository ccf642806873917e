#include "config.h"

#include "lib/bcast/chain_confirmed.h"

#include "lib/algorithm/line.h"
#include "lib/base/error.h"
#include "lib/confirm/blame.h"
#include "lib/confirm/message.h"
#include "lib/confirm/note.h"
#include "lib/confirm/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void (*coll_chain_confirmed_tamper)(int rank, uint32_t epoch, uint64_t index, char *bytes,
                                    size_t length);

/* Confirmed broadcasts so far. */
coll_comm_key coll_chain_confirmed_key = {.bytes = sizeof(uint32_t)};

/* Signs of life in a time-out. */
static const double BEATS = 4;

/*
 * Time as this process lived it: a stop of the process itself, by a signal or by the machine,
 * counts only a little. What others sent meanwhile is there already, they were not silent.
 */
typedef struct lifetime {
    double now, date, step; /* step: the most that counts between two looks; 0: all */
} lifetime;

/* One rank's part in the broadcast. */
typedef struct part {
    const coll_bcast_call *call;
    coll_comm *comm;
    size_t segment, segments, window;
    unsigned retry;
    double limit; /* s without progress that end a try; 0: none do */
    uint32_t sequence;

    /* The try. */
    uint32_t epoch;
    int *order, previous, next; /* -1: nobody */
    size_t passed;              /* segments of it that are here, or at the root: on their way */
    bool spoiled;               /* one came damaged: the rest is of no use */
    bool acknowledged;

    /* All tries. */
    uint64_t taken; /* messages */
    uint32_t ends;  /* epochs that the predecessor of that time has closed */
    lifetime life;
    double beat;  /* when the next sign of life is due */
    double heard; /* when the root last gave one */
    bool over;

    /* The root's. */
    coll_watch watch;
    int confirmations; /* of this epoch */

    /*
     * Requests: the note awaited, the inbox, and for each epoch an outbox. An outbox has a place
     * for the message that closes its epoch behind those for segments. The inbox is taken in the
     * order in which it was posted, which is the order in which any one rank's messages come.
     */
    MPI_Request *requests;
    coll_confirm_note note;
    char *inbox;
    bool *arrived;
    size_t head;
    char **outboxes;
    coll_notes notes;
} part;

enum { NOTE, INBOX }; /* the first requests */

static bool is_root(const part *p) {
    return p->comm->rank == p->call->root;
}

/* --- Where things are --- */

/* Memory of a message: so much that the next is aligned. */
static size_t message_size(const part *p) {
    size_t unit = _Alignof(coll_message);
    return sizeof(coll_message) + (p->segment + unit - 1) / unit * unit;
}

static size_t outbox_bytes(const part *p) {
    return p->window * message_size(p) + sizeof(coll_message);
}

static coll_message *inbox_message(const part *p, size_t slot) {
    return (coll_message *)(p->inbox + slot * message_size(p));
}

static coll_message *outbox_message(const part *p, size_t slot) {
    return (coll_message *)(p->outboxes[p->epoch] + slot * message_size(p));
}

static MPI_Request *outbox(const part *p, uint32_t epoch) {
    return p->requests + INBOX + p->window + epoch * (p->window + 1);
}

/* Requests up to those of this epoch's outbox. */
static int request_count(const part *p) {
    return (int)(outbox(p, p->epoch + 1) - p->requests);
}

static size_t length_of(const part *p, size_t i) {
    size_t from = i * p->segment, bytes = p->call->data->bytes;
    return bytes - from < p->segment ? bytes - from : p->segment;
}

/* Tags take turns: nothing is taken for this broadcast that a quicker rank sends in the next. */
static int turn(const part *p, int tag) {
    return tag + (int)(p->sequence % 2);
}

/* --- Notes --- */

static int await_note(part *p) {
    return PMPI_Irecv(&p->note, (int)sizeof p->note, MPI_BYTE, MPI_ANY_SOURCE,
                      turn(p, COLL_TAG_NOTE), p->comm->private, &p->requests[NOTE]);
}

static coll_confirm_note write_note(const part *p, coll_note_kind kind) {
    return (coll_confirm_note){
        .sequence = p->sequence,
        .epoch = p->epoch,
        .kind = kind,
        .from = p->comm->rank,
        .account = {.epoch = p->epoch, .passed = p->passed, .taken = p->taken},
    };
}

static int tell_root(part *p, coll_confirm_note note) {
    return coll_notes_send(&p->notes, &note, p->call->root);
}

static int tell_all(part *p, coll_confirm_note note) {
    int code = MPI_SUCCESS;
    for (int to = 0; to < p->comm->ranks && code == MPI_SUCCESS; to++)
        if (to != p->comm->rank)
            code = coll_notes_send(&p->notes, &note, to);
    return code;
}

/* Ends the broadcast in an error, here and wherever the note comes. */
static int fail(part *p, const coll_blame *blame) {
    coll_confirm_note note = write_note(p, COLL_NOTE_FAILED);
    note.blame = *blame;
    p->over = true;
    int code = is_root(p) ? tell_all(p, note) : tell_root(p, note);
    return code != MPI_SUCCESS ? code : coll_blame_error(blame, p->call->shape->topo, p->epoch + 1);
}

/* --- Epochs --- */

/* Finds this rank's neighbours in the line, and memory for what it sends. */
static int enter_epoch(part *p) {
    int i = 0;
    while (p->order[i] != p->comm->rank)
        i++;
    p->previous = i > 0 ? p->order[i - 1] : -1;
    p->next = i + 1 < p->comm->ranks ? p->order[i + 1] : -1;
    p->passed = 0;
    p->spoiled = p->acknowledged = false;
    p->confirmations = 0;
    coll_watch_begin(&p->watch, p->life.now);
    if (p->next < 0)
        return MPI_SUCCESS;
    if (!p->outboxes[p->epoch])
        p->outboxes[p->epoch] = malloc(outbox_bytes(p));
    return p->outboxes[p->epoch]
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_NO_MEM, "no memory for %zu segments of %zu bytes", p->window,
                            p->segment);
}

static int send_message(part *p, size_t slot) {
    coll_message *message = outbox_message(p, slot);
    return PMPI_Isend(message, (int)coll_message_bytes(message), MPI_BYTE, p->next,
                      turn(p, COLL_TAG_CONFIRMED), p->comm->private, &outbox(p, p->epoch)[slot]);
}

static int close_epoch(part *p) {
    if (p->next < 0)
        return MPI_SUCCESS;
    coll_message *message = outbox_message(p, p->window);
    *message = (coll_message){
        .sequence = p->sequence, .epoch = p->epoch, .index = COLL_MESSAGE_END, .length = 0};
    coll_message_seal(message);
    return send_message(p, p->window);
}

static void move_to_end(int rank, int order[], int ranks) {
    int kept = 0;
    for (int i = 0; i < ranks; i++)
        if (order[i] != rank)
            order[kept++] = order[i];
    order[kept] = rank;
}

static int next_epoch(part *p, const coll_blame *blame) {
    int code = close_epoch(p);
    if (code != MPI_SUCCESS)
        return code;
    move_to_end(coll_blame_suspect(blame, p->call->root), p->order, p->comm->ranks);
    p->epoch++;
    p->beat = p->life.now; /* the root hears at once who follows */
    return enter_epoch(p);
}

/* At the root: tries again, or gives up. */
static int restart(part *p, const coll_blame *blame) {
    if (p->epoch == p->retry)
        return fail(p, blame);
    int code = next_epoch(p, blame);
    coll_confirm_note note = write_note(p, COLL_NOTE_RESTART);
    note.blame = *blame;
    return code == MPI_SUCCESS ? tell_all(p, note) : code;
}

/* --- Segments --- */

static bool is_free(const part *p, size_t slot) {
    return outbox(p, p->epoch)[slot] == MPI_REQUEST_NULL;
}

/* Sends the message that lies in the outbox as segment p->passed. */
static int pass_on(part *p) {
    size_t slot = p->passed % p->window;
    coll_message *message = outbox_message(p, slot);
    if (coll_chain_confirmed_tamper)
        coll_chain_confirmed_tamper(p->comm->rank, p->epoch, message->index,
                                    coll_message_payload(message), message->length);
    return send_message(p, slot);
}

/* At the root: sends as long as there is room under way. */
static int send_segments(part *p) {
    for (; p->passed < p->segments && is_free(p, p->passed % p->window); p->passed++) {
        coll_message *message = outbox_message(p, p->passed % p->window);
        *message = (coll_message){.sequence = p->sequence,
                                  .epoch = p->epoch,
                                  .index = p->passed,
                                  .length = (uint32_t)length_of(p, p->passed)};
        char *payload = coll_message_payload(message);
        const void *bytes =
            coll_data_read(p->call->data, p->passed * p->segment, message->length, payload);
        if (bytes != payload)
            memcpy(payload, bytes, message->length);
        coll_message_seal(message);
        int code = pass_on(p);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

static int await_message(part *p, size_t slot) {
    p->arrived[slot] = false;
    return PMPI_Irecv(inbox_message(p, slot), (int)message_size(p), MPI_BYTE, MPI_ANY_SOURCE,
                      turn(p, COLL_TAG_CONFIRMED), p->comm->private, &p->requests[INBOX + slot]);
}

/* What to do with a message. */
typedef enum fate { KEEP, DISCARD, CLOSE, POSTPONE, COMPLAIN } fate;

static fate fate_of(const part *p, coll_message *message) {
    if (!coll_message_intact(message, p->segment))
        return p->spoiled ? DISCARD : COMPLAIN;
    if (message->sequence != p->sequence)
        return DISCARD;
    if (message->index == COLL_MESSAGE_END)
        return CLOSE;
    if (message->epoch > p->epoch) /* the root's word of it is still on its way */
        return POSTPONE;
    if (message->epoch < p->epoch || p->spoiled)
        return DISCARD;
    if (message->index != p->passed || message->length != length_of(p, p->passed))
        return COMPLAIN;
    return p->next >= 0 && !is_free(p, p->passed % p->window) ? POSTPONE : KEEP;
}

static int keep(part *p, coll_message *message) {
    size_t from = p->passed * p->segment;
    char *payload = coll_message_payload(message);
    void *target = coll_data_target(p->call->data, from, payload);
    if (target != payload)
        memcpy(target, payload, message->length);
    coll_data_store(p->call->data, from, message->length, payload);
    int code = MPI_SUCCESS;
    if (p->next >= 0) {
        memcpy(outbox_message(p, p->passed % p->window), message, coll_message_bytes(message));
        code = pass_on(p);
    }
    p->passed++;
    return code;
}

static int complain(part *p) {
    coll_confirm_note note = write_note(p, COLL_NOTE_CORRUPT);
    note.blame = (coll_blame){.fault = COLL_FAULT_CORRUPT,
                              .who = p->comm->rank,
                              .from = p->previous,
                              .segment = p->passed};
    p->spoiled = true;
    return tell_root(p, note);
}

/* Takes what has come, in its order, as far as it can be taken. */
static int take_messages(part *p) {
    while (p->arrived[p->head]) {
        coll_message *message = inbox_message(p, p->head);
        fate decided = fate_of(p, message);
        if (decided == POSTPONE)
            return MPI_SUCCESS;
        int code = MPI_SUCCESS;
        if (decided == KEEP)
            code = keep(p, message);
        else if (decided == COMPLAIN)
            code = complain(p);
        else if (decided == CLOSE)
            p->ends++;
        p->taken++;
        if (code == MPI_SUCCESS)
            code = await_message(p, p->head);
        if (code != MPI_SUCCESS)
            return code;
        p->head = (p->head + 1) % p->window;
    }
    return MPI_SUCCESS;
}

/* Whether all that older epochs sent to this rank and from it has arrived. */
static bool is_quiet(const part *p) {
    for (const MPI_Request *r = outbox(p, 0); r < outbox(p, p->epoch); r++)
        if (*r != MPI_REQUEST_NULL)
            return false;
    return p->ends >= p->epoch;
}

/* In the first epoch the last rank speaks for all. */
static int acknowledge(part *p) {
    if (p->acknowledged || p->passed < p->segments || (p->epoch == 0 ? p->next >= 0 : !is_quiet(p)))
        return MPI_SUCCESS;
    p->acknowledged = true;
    return tell_root(p, write_note(p, COLL_NOTE_RECEIVED));
}

/* --- Notes that come --- */

static int finish(part *p) {
    p->over = true;
    return tell_all(p, write_note(p, COLL_NOTE_DONE));
}

static int root_reads(part *p) {
    const coll_confirm_note *note = &p->note;
    coll_watch_report(&p->watch, note->from, &note->account, p->life.now);
    if (note->kind == COLL_NOTE_FAILED)
        return fail(p, &note->blame);
    if (note->epoch != p->epoch)
        return MPI_SUCCESS;
    if (note->kind == COLL_NOTE_CORRUPT)
        return restart(p, &note->blame);
    if (note->kind == COLL_NOTE_RECEIVED &&
        ++p->confirmations == (p->epoch == 0 ? 1 : p->comm->ranks - 1))
        return finish(p);
    return MPI_SUCCESS;
}

static int rank_reads(part *p) {
    const coll_confirm_note *note = &p->note;
    p->heard = p->life.now;
    if (note->kind == COLL_NOTE_RESTART)
        return next_epoch(p, &note->blame);
    p->over = note->kind == COLL_NOTE_DONE || note->kind == COLL_NOTE_FAILED;
    if (note->kind == COLL_NOTE_FAILED)
        return coll_blame_error(&note->blame, p->call->shape->topo, note->epoch + 1);
    return MPI_SUCCESS;
}

static int read_note(part *p) {
    int code = MPI_SUCCESS;
    if (p->note.sequence == p->sequence)
        code = is_root(p) ? root_reads(p) : rank_reads(p);
    return code == MPI_SUCCESS && !p->over ? await_note(p) : code;
}

/* --- Time --- */

/* Returns how long this process didn't look. */
static double look_at_clock(lifetime *life) {
    double date = PMPI_Wtime(), gap = date - life->date;
    life->date = date;
    life->now += life->step > 0 ? fmin(gap, life->step) : gap;
    return gap;
}

/* How long a rank that hears nothing of the root waits for it. */
static double patience(const part *p) {
    return (p->retry + 1) * p->limit;
}

static int give_sign(part *p) {
    if (p->life.now < p->beat)
        return MPI_SUCCESS;
    p->beat = p->life.now + p->limit / BEATS;
    int code = coll_notes_sweep(&p->notes);
    if (code != MPI_SUCCESS)
        return code;
    return is_root(p) ? tell_all(p, write_note(p, COLL_NOTE_ALIVE))
                      : tell_root(p, write_note(p, COLL_NOTE_ACCOUNT));
}

/* Starts again, or gives up, when the patience of this rank is at its end. */
static int judge(part *p) {
    if (is_root(p)) {
        if (!coll_watch_stalls(&p->watch, p->life.now, p->limit))
            return MPI_SUCCESS;
        coll_blame blame =
            coll_watch_blame(&p->watch, p->order, p->epoch, p->life.now, 2 * p->limit / BEATS);
        return restart(p, &blame);
    }
    double silence = p->life.now - p->heard;
    if (silence <= patience(p))
        return MPI_SUCCESS;
    coll_blame blame = {.fault = COLL_FAULT_SILENT, .who = p->call->root, .seconds = silence};
    return fail(p, &blame);
}

/* --- The broadcast --- */

/* Waits for what comes next, but not beyond the next sign of life. */
static int take_next(part *p) {
    int i;
    int code = coll_wait_any_for(&p->comm->wait, p->limit / (2 * BEATS), request_count(p),
                                 p->requests, &i);
    double gap = look_at_clock(&p->life);
    if (code != MPI_SUCCESS)
        return code;
    if (p->limit > 0 && is_root(p) && gap > patience(p)) {
        /* The root itself was stopped, and the others have given up. */
        coll_blame blame = {.fault = COLL_FAULT_SILENT, .who = p->comm->rank, .seconds = gap};
        return fail(p, &blame);
    }
    if (i == NOTE)
        return read_note(p);
    if (i == MPI_UNDEFINED)
        return MPI_SUCCESS;
    if (i < INBOX + (int)p->window)
        p->arrived[i - INBOX] = true;
    p->watch.progress = p->life.now;
    return MPI_SUCCESS;
}

static int take_part(part *p) {
    int code = enter_epoch(p);
    if (code == MPI_SUCCESS)
        code = await_note(p);
    for (size_t slot = 0; slot < p->window && code == MPI_SUCCESS && !is_root(p); slot++)
        code = await_message(p, slot);
    while (code == MPI_SUCCESS && !p->over) {
        code = is_root(p) ? send_segments(p) : take_messages(p);
        if (code == MPI_SUCCESS && !is_root(p))
            code = acknowledge(p);
        if (code == MPI_SUCCESS && p->limit > 0)
            code = give_sign(p);
        if (code == MPI_SUCCESS)
            code = take_next(p);
        if (code == MPI_SUCCESS && p->limit > 0 && !p->over)
            code = judge(p);
    }
    return code;
}

/* After success: what this rank sent leaves, what it awaited doesn't come any more. */
static int settle(part *p) {
    MPI_Request *sends = outbox(p, 0);
    int code =
        coll_wait_all(&p->comm->wait, request_count(p) - (int)(sends - p->requests), sends, NULL);
    if (code == MPI_SUCCESS)
        code = coll_notes_flush(&p->notes, &p->comm->wait, patience(p));
    if (code == MPI_SUCCESS && p->notes.count > 0) {
        coll_blame blame = {
            .fault = COLL_FAULT_SILENT, .who = p->notes.peers[0], .seconds = patience(p)};
        code = coll_blame_error(&blame, p->call->shape->topo, p->epoch + 1);
    }
    for (size_t slot = 0; slot < p->window && code == MPI_SUCCESS; slot++) {
        MPI_Request *awaited = &p->requests[INBOX + slot];
        if (*awaited == MPI_REQUEST_NULL)
            continue;
        code = PMPI_Cancel(awaited);
        if (code == MPI_SUCCESS)
            code = PMPI_Wait(awaited, MPI_STATUS_IGNORE);
    }
    return code;
}

static size_t requests_most(const part *p) {
    return INBOX + p->window + (p->retry + 1) * (p->window + 1);
}

/*
 * All of it lives in the communicator's room: after an error it is left to messages that may still
 * be under way. Outboxes of later tries are made when these begin: a rank without memory for one is
 * then as silent as one that has failed.
 */
static size_t room_bytes(const part *p) {
    return coll_comm_room_of(sizeof *p) + coll_comm_room_of((p->retry + 1) * sizeof *p->outboxes) +
           coll_comm_room_of(requests_most(p) * sizeof *p->requests) +
           coll_comm_room_of(p->window * message_size(p)) + coll_comm_room_of(outbox_bytes(p)) +
           coll_comm_room_of((size_t)p->comm->ranks * sizeof *p->order) +
           coll_comm_room_of(p->window * sizeof *p->arrived);
}

/* Puts PLANNED into ROOM, with what it needs. */
static part *furnish(const part *planned, char *room) {
    part *p = coll_comm_room_take(&room, sizeof *p);
    *p = *planned;
    size_t ranks = (size_t)p->comm->ranks, tries = p->retry + 1;
    p->outboxes = coll_comm_room_take(&room, tries * sizeof *p->outboxes);
    p->requests = coll_comm_room_take(&room, requests_most(p) * sizeof *p->requests);
    p->inbox = coll_comm_room_take(&room, p->window * message_size(p));
    memset(p->outboxes, 0, tries * sizeof *p->outboxes);
    p->outboxes[0] = coll_comm_room_take(&room, outbox_bytes(p));
    p->order = coll_comm_room_take(&room, ranks * sizeof *p->order);
    p->arrived = coll_comm_room_take(&room, p->window * sizeof *p->arrived);
    memset(p->arrived, 0, p->window * sizeof *p->arrived);
    memcpy(p->order, coll_line_of(p->comm, p->call->shape)->order, ranks * sizeof *p->order);
    for (size_t i = 0; i < requests_most(p); i++)
        p->requests[i] = MPI_REQUEST_NULL;
    return p;
}

/* Frees what isn't in the room. */
static void clear_out(part *p) {
    for (uint32_t epoch = 1; epoch <= p->epoch; epoch++)
        free(p->outboxes[epoch]);
    coll_watch_free(&p->watch);
    coll_notes_free(&p->notes);
}

int coll_chain_confirmed_run(const coll_bcast_call *call, size_t segment, int window,
                             unsigned retry) {
    coll_comm *comm = call->comm;
    size_t bytes = call->data->bytes;
    double limit = comm->wait.timeout;
    part planned = {.call = call,
                    .comm = comm,
                    .segment = segment < bytes ? segment : bytes,
                    .retry = retry,
                    .limit = limit,
                    .sequence = (*(uint32_t *)coll_comm_slot(comm, &coll_chain_confirmed_key))++,
                    .life = {.date = PMPI_Wtime(), .step = limit / BEATS},
                    .beat = limit / BEATS};
    planned.segments = (bytes + planned.segment - 1) / planned.segment;
    planned.window = (size_t)window < planned.segments ? (size_t)window : planned.segments;
    planned.notes = (coll_notes){.comm = comm->private, .tag = turn(&planned, COLL_TAG_NOTE)};
    void *room;
    int code = coll_comm_room(comm, room_bytes(&planned), &room);
    if (code != MPI_SUCCESS)
        return code;
    part *p = furnish(&planned, room);
    if (is_root(p) && !coll_watch_create(&p->watch, comm->rank, comm->ranks, 0))
        return coll_error(MPI_ERR_NO_MEM, "no memory to watch %d ranks", comm->ranks);

    code = take_part(p);
    if (code == MPI_SUCCESS)
        code = settle(p);
    if (code == MPI_SUCCESS) {
        clear_out(p);
        return MPI_SUCCESS;
    }
    coll_notes_flush(&p->notes, &comm->wait, limit > 0 ? limit / BEATS : 1);
    coll_wait_abandon(p->notes.count, p->notes.requests);
    coll_wait_abandon(request_count(p), p->requests);
    return code;
}

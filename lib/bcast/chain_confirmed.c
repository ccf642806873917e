#include "config.h"

#include "lib/bcast/chain_confirmed.h"

#include "lib/algorithm/line.h"
#include "lib/base/error.h"
#include "lib/confirm/blame.h"
#include "lib/confirm/boxes.h"
#include "lib/confirm/message.h"
#include "lib/confirm/note.h"
#include "lib/confirm/watch.h"

#include <math.h>
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
    const coll_planned *call;
    const coll_shape *shape;
    coll_comm *comm;
    size_t segments;
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

    coll_boxes boxes;
    coll_confirm_note note; /* awaited by the boxes' own request */
    coll_notes notes;
} part;

static bool is_root(const part *p) {
    return p->comm->rank == p->shape->root;
}

static size_t length_of(const part *p, size_t i) {
    size_t segment = p->boxes.segment, left = p->call->data->bytes - i * segment;
    return left < segment ? left : segment;
}

/* --- Notes --- */

static int await_note(part *p) {
    return coll_irecv(p->comm, &p->note, (int)sizeof p->note, MPI_BYTE, MPI_ANY_SOURCE,
                      p->notes.tag, &p->boxes.requests[COLL_BOXES_OWN]);
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
    return coll_notes_send(&p->notes, &note, p->shape->root);
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
    return code != MPI_SUCCESS ? code : coll_blame_error(blame, p->shape->topo, p->epoch + 1);
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
    return p->next < 0 ? MPI_SUCCESS : coll_boxes_open(&p->boxes, p->epoch);
}

static coll_message *outbox_message(const part *p, size_t slot) {
    return coll_boxes_out(&p->boxes, p->epoch, slot);
}

static int close_epoch(part *p) {
    if (p->next < 0)
        return MPI_SUCCESS;
    coll_message *message = outbox_message(p, p->boxes.window);
    *message = (coll_message){
        .sequence = p->sequence, .epoch = p->epoch, .index = COLL_MESSAGE_END, .length = 0};
    coll_message_seal(message);
    return coll_boxes_send(&p->boxes, p->epoch, p->boxes.window, p->next);
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
    move_to_end(coll_blame_suspect(blame, p->shape->root), p->order, p->comm->ranks);
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

/* The slot of the outbox that is segment p->passed's. */
static size_t slot_of(const part *p) {
    return p->passed % p->boxes.window;
}

static bool is_free(const part *p) {
    return coll_boxes_is_free(&p->boxes, p->epoch, slot_of(p));
}

/* Sends the message that lies in the outbox as segment p->passed. */
static int pass_on(part *p) {
    coll_message *message = outbox_message(p, slot_of(p));
    if (coll_chain_confirmed_tamper)
        coll_chain_confirmed_tamper(p->comm->rank, p->epoch, message->index,
                                    coll_message_payload(message), message->length);
    return coll_boxes_send(&p->boxes, p->epoch, slot_of(p), p->next);
}

/* At the root: sends as long as there is room under way. */
static int send_segments(part *p) {
    for (; p->passed < p->segments && is_free(p); p->passed++) {
        coll_message *message = outbox_message(p, slot_of(p));
        *message = (coll_message){.sequence = p->sequence,
                                  .epoch = p->epoch,
                                  .index = p->passed,
                                  .length = (uint32_t)length_of(p, p->passed)};
        char *payload = coll_message_payload(message);
        const void *bytes =
            coll_data_read(p->call->data, p->passed * p->boxes.segment, message->length, payload);
        if (bytes != payload)
            memcpy(payload, bytes, message->length);
        coll_message_seal(message);
        int code = pass_on(p);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* What to do with a message. */
typedef enum fate { KEEP, DISCARD, CLOSE, POSTPONE, COMPLAIN } fate;

static fate fate_of(const part *p, coll_message *message) {
    if (!coll_message_intact(message, p->boxes.segment))
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
    return p->next >= 0 && !is_free(p) ? POSTPONE : KEEP;
}

static int keep(part *p, coll_message *message) {
    size_t from = p->passed * p->boxes.segment;
    char *payload = coll_message_payload(message);
    void *target = coll_data_target(p->call->data, from, payload);
    if (target != payload)
        memcpy(target, payload, message->length);
    coll_data_store(p->call->data, from, message->length, payload);
    int code = MPI_SUCCESS;
    if (p->next >= 0) {
        memcpy(outbox_message(p, slot_of(p)), message, coll_message_bytes(message));
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
    coll_boxes *boxes = &p->boxes;
    while (boxes->arrived[boxes->head]) {
        coll_message *message = coll_boxes_in(boxes, boxes->head);
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
            code = coll_boxes_await(boxes, boxes->head);
        if (code != MPI_SUCCESS)
            return code;
        boxes->head = (boxes->head + 1) % boxes->window;
    }
    return MPI_SUCCESS;
}

/* Whether all that older epochs sent to this rank and from it has arrived. */
static bool is_quiet(const part *p) {
    return p->ends >= p->epoch && coll_boxes_have_left(&p->boxes, p->epoch);
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
        return coll_blame_error(&note->blame, p->shape->topo, note->epoch + 1);
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
    coll_blame blame = {.fault = COLL_FAULT_SILENT, .who = p->shape->root, .seconds = silence};
    return fail(p, &blame);
}

/* --- The broadcast --- */

/* Waits for what comes next, but not beyond the next sign of life. */
static int take_next(part *p) {
    int i;
    int code = coll_wait_any_for(&p->comm->wait, p->limit / (2 * BEATS),
                                 coll_boxes_requests(&p->boxes, p->epoch), p->boxes.requests, &i);
    double gap = look_at_clock(&p->life);
    if (code != MPI_SUCCESS)
        return code;
    if (p->limit > 0 && is_root(p) && gap > patience(p)) {
        /* The root itself was stopped, and the others have given up. */
        coll_blame blame = {.fault = COLL_FAULT_SILENT, .who = p->comm->rank, .seconds = gap};
        return fail(p, &blame);
    }
    if (i == COLL_BOXES_OWN)
        return read_note(p);
    if (i == MPI_UNDEFINED)
        return MPI_SUCCESS;
    if (i < COLL_BOXES_INBOX + (int)p->boxes.window)
        p->boxes.arrived[i - COLL_BOXES_INBOX] = true;
    p->watch.progress = p->life.now;
    return MPI_SUCCESS;
}

static int take_part(part *p) {
    int code = enter_epoch(p);
    if (code == MPI_SUCCESS)
        code = await_note(p);
    for (size_t slot = 0; slot < p->boxes.window && code == MPI_SUCCESS && !is_root(p); slot++)
        code = coll_boxes_await(&p->boxes, slot);
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
    MPI_Request *sends = coll_boxes_sends(&p->boxes);
    int count = coll_boxes_requests(&p->boxes, p->epoch) - (int)(sends - p->boxes.requests),
        code = coll_wait_all(&p->comm->wait, count, sends, NULL);
    if (code == MPI_SUCCESS)
        code = coll_notes_flush(&p->notes, &p->comm->wait, patience(p));
    if (code == MPI_SUCCESS && p->notes.count > 0) {
        coll_blame blame = {
            .fault = COLL_FAULT_SILENT, .who = p->notes.letters[0]->to, .seconds = patience(p)};
        code = coll_blame_error(&blame, p->shape->topo, p->epoch + 1);
    }
    return code == MPI_SUCCESS ? coll_boxes_cancel(&p->boxes) : code;
}

/*
 * All of it lives in the communicator's room: after an error it is left to messages that may still
 * be under way. Outboxes of later tries are made when these begin: a rank without memory for one is
 * then as silent as one that has failed.
 */
static size_t room_bytes(const part *p) {
    return coll_comm_room_of(sizeof *p) + coll_boxes_bytes(&p->boxes) +
           coll_comm_room_of((size_t)p->comm->ranks * sizeof *p->order);
}

/* Puts PLANNED into ROOM, with what it needs. */
static part *furnish(const part *planned, char *room) {
    part *p = coll_comm_room_take(&room, sizeof *p);
    *p = *planned;
    size_t bytes = (size_t)p->comm->ranks * sizeof *p->order;
    coll_boxes_furnish(&p->boxes, &room);
    p->order = coll_comm_room_take(&room, bytes);
    memcpy(p->order, p->call->part.line->order, bytes);
    return p;
}

/* Frees what isn't in the room. */
static void clear_out(part *p) {
    coll_boxes_free(&p->boxes, p->epoch);
    coll_watch_free(&p->watch);
    coll_notes_free(&p->notes);
}

/* What is known of the broadcast before there is memory for it. */
static part plan_part(const coll_planned *call, size_t segment, int window, unsigned retry) {
    coll_comm *comm = call->comm;
    size_t bytes = call->data->bytes;
    double limit = comm->wait.timeout;
    uint32_t sequence = (*(uint32_t *)coll_comm_slot(comm, &coll_chain_confirmed_key))++;
    /* Tags take turns: nothing is taken for this call that a quicker rank sends in the next. */
    int turn = (int)(sequence % 2);
    segment = segment < bytes ? segment : bytes;
    size_t segments = (bytes + segment - 1) / segment;
    return (part){
        .call = call,
        .shape = call->part.shape,
        .comm = comm,
        .segments = segments,
        .retry = retry,
        .limit = limit,
        .sequence = sequence,
        .life = {.date = PMPI_Wtime(), .step = limit / BEATS},
        .beat = limit / BEATS,
        .boxes = {.comm = comm,
                  .tag = COLL_TAG_CONFIRMED + turn,
                  .segment = segment,
                  .window = (size_t)window < segments ? (size_t)window : segments,
                  .epochs = retry + 1},
        .notes = {.comm = comm, .tag = COLL_TAG_NOTE + turn},
    };
}

int coll_chain_confirmed_run(const coll_planned *call, size_t segment, int window, unsigned retry) {
    coll_comm *comm = call->comm;
    part planned = plan_part(call, segment, window, retry);
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
    coll_notes_flush(&p->notes, &comm->wait, p->limit > 0 ? p->limit / BEATS : 1);
    coll_wait_abandon(p->notes.count, p->notes.requests);
    coll_wait_abandon(coll_boxes_requests(&p->boxes, p->epoch), p->boxes.requests);
    return code;
}

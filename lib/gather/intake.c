/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/gather/intake.h"

#include "lib/algorithm/rank_order.h"
#include "lib/pattern/incast.h"
#include "lib/plan/plan.h"

/* Upper limit of the receives posted at once: more would only take longer to test. */
enum { SLOTS_MAX = 1024 };

/*
 * A stream that has begun and pauses for this many seconds has lost a packet: TCP retransmits after
 * 200 ms at the earliest. A rank that is late for the gather has not begun its stream.
 */
static const double STALL = 0.15;

/* A posted receive, and the grant that goes with it. */
typedef struct coll_slot {
    int sender, lane; /* indices in the lists of senders and lanes */
    size_t from, length;
    char *segment; /* NULL if the data is contiguous */
    uint64_t granted;
    int pending; /* how many of the receive and the grant are incomplete */
} coll_slot;

typedef struct coll_source {
    int rank;
    size_t unasked; /* bytes that the rank sends without a grant */
    bool begun;     /* some of the rank's bytes have arrived */
} coll_source;

/* A queue of senders, which the root asks one after the other: all senders, or those of one rack.
 * Not one of a plan's lanes, which are tags. */
typedef struct coll_lane {
    int next;          /* the sender to be asked next, while LEFT is not 0 */
    size_t asked;      /* bytes of the next sender's block that were asked for */
    size_t left;       /* bytes of all blocks of the lane that were not asked for yet */
    size_t on_the_way; /* bytes asked for that have not arrived */
    size_t of_next;    /* the part of ON_THE_WAY that comes from the next sender */
} coll_lane;

size_t coll_intake_unasked(const coll_exec_args *call, const coll_credit *credit, int place,
                           size_t bytes) {
    size_t senders = (size_t)call->comm->ranks - 1, before = (size_t)place * bytes;
    if (!coll_gather_is_even(call->args.shape))
        return bytes <= credit->unasked / senders ? bytes : 0;
    if (before + bytes <= credit->unasked)
        return bytes;
    size_t left = before < credit->unasked ? credit->unasked - before : 0;
    return left - left % credit->segment;
}

static size_t bytes_of(const coll_intake *in, int sender) {
    return coll_blocks_bytes(in->call.args.blocks, in->senders[sender].rank);
}

/*
 * Lists the senders in chain order, but first those that send without a grant, since their data is
 * in flight already.
 */
static void list_senders(coll_intake *in) {
    const int *order = in->call.args.line->order;
    in->sender_count = 0;
    for (int first = 1; first >= 0; first--)
        for (int place = 0; place < in->call.comm->ranks - 1; place++) {
            int rank = order[place + 1];
            size_t bytes = coll_blocks_bytes(in->call.args.blocks, rank);
            size_t unasked = coll_intake_unasked(&in->call, &in->credit, place, bytes);
            if (bytes > 0 && (unasked > 0) == first)
                in->senders[in->sender_count++] = (coll_source){.rank = rank, .unasked = unasked};
        }
}

static int rack_of(const coll_intake *in, int sender) {
    return in->call.args.shape->topo->places[in->senders[sender].rank].rack;
}

/* Makes one lane for all senders, or one for each group of consecutive senders in the same rack.
 * Nothing has been asked for yet. */
static void list_lanes(coll_intake *in) {
    in->lane_count = 0;
    for (int i = 0; i < in->sender_count; i++) {
        if (i == 0 || (in->credit.lanes > 1 && rack_of(in, i) != rack_of(in, i - 1)))
            in->lanes[in->lane_count++] = (coll_lane){.next = i};
        in->lanes[in->lane_count - 1].left += bytes_of(in, i);
    }
}

/*
 * Returns the most lanes there can be: a rack's senders may form two groups, those that send
 * without a grant and the others.
 */
static size_t most_lanes(const coll_exec_args *call, const coll_credit *credit) {
    const coll_topo *topo = call->args.shape->topo;
    return credit->lanes > 1 ? coll_least(2 * (size_t)topo->racks, (size_t)topo->ranks) : 1;
}

/* Returns the size of the longest message, in bytes, if the longest block has LONGEST bytes. */
static size_t usual_segment(const coll_credit *credit, size_t longest) {
    return coll_least(longest, credit->segment);
}

/* Returns the number of messages of USUAL bytes that fit in the window and the run together, plus
 * 2, but at most SLOTS_MAX; 0 if USUAL is 0. */
static size_t most_slots(const coll_credit *credit, size_t usual) {
    size_t ahead = credit->wide + credit->run;
    return usual ? coll_least(ahead / usual + 2, SLOTS_MAX) : 0;
}

/* Returns the number of receives to post at once, at most the number of segments. */
static int count_slots(const coll_intake *in) {
    size_t usual = usual_segment(&in->credit, coll_blocks_longest(in->call.args.blocks));
    size_t slots = most_slots(&in->credit, usual), segments = 0;
    for (int i = 0; i < in->sender_count && segments < SLOTS_MAX; i++)
        segments += coll_segment_count(bytes_of(in, i), in->credit.segment);
    return (int)coll_least(slots, segments);
}

/*
 * Returns the bytes of memory that the root needs. If only the root knows the block sizes, returns
 * an upper bound for all possible sizes: many short messages, or as many long messages as fit in
 * the window and the run.
 */
static size_t intake_bytes(const coll_exec_args *call, const coll_credit *credit) {
    enum { ALIGNED = 64 };
    size_t bytes = call->args.shape->bytes, ranks = (size_t)call->comm->ranks;
    bool even = coll_gather_is_even(call->args.shape);
    size_t usual = usual_segment(credit, bytes), slots = most_slots(credit, even ? usual : 1);
    if (even)
        slots = coll_least(slots, coll_segment_count(bytes, credit->segment) * (ranks - 1));
    size_t packed = even ? slots * usual
                         : coll_least(SLOTS_MAX * usual, credit->wide + credit->run + 2 * usual);
    size_t each = sizeof(coll_slot) + sizeof(int) +
                  2 * (sizeof(MPI_Request) + sizeof(MPI_Status) + 2 * sizeof(int));
    return ranks * sizeof(coll_source) + most_lanes(call, credit) * sizeof(coll_lane) +
           slots * each + packed + ALIGNED;
}

size_t coll_intake_bytes(const coll_exec_args *call, const coll_credit *credit) {
    size_t segment = usual_segment(credit, call->args.shape->bytes),
           taker = intake_bytes(call, credit),
           sender = sizeof(uint64_t) + COLL_SUPPLY_SENDS * segment;
    return coll_scratch_bytes(sizeof(coll_intake)) + coll_scratch_bytes(sizeof(coll_supply)) +
           (taker > sender ? taker : sender);
}

/* Divides the memory that follows the lists of senders and lanes into slots, MPI's arrays, the list
 * of unused slots, and segments. */
static void divide_memory(coll_intake *in) {
    size_t count = (size_t)in->slot_count;
    size_t segment = usual_segment(&in->credit, coll_blocks_longest(in->call.args.blocks));
    in->slots = (void *)(in->lanes + most_lanes(&in->call, &in->credit));
    in->task.statuses = (void *)(in->slots + count);
    in->task.requests = (void *)(in->task.statuses + 2 * count);
    in->task.peers = (void *)(in->task.requests + 2 * count);
    in->task.indices = in->task.peers + 2 * count;
    in->unused = in->task.indices + 2 * count;
    char *memory =
        coll_data_in_place(&in->call.args.blocks->longest) ? NULL : (char *)(in->unused + count);
    for (size_t i = 0; i < count; i++)
        in->slots[i].segment = memory ? memory + i * segment : NULL;
}

static size_t next_length(const coll_intake *in, const coll_lane *lane) {
    return coll_least(bytes_of(in, lane->next) - lane->asked, in->credit.segment);
}

/* Returns whether no other lane has bytes that were not asked for yet. */
static bool is_last_lane(const coll_intake *in, const coll_lane *lane) {
    for (int i = 0; i < in->lane_count; i++)
        if (&in->lanes[i] != lane && in->lanes[i].left > 0)
            return false;
    return true;
}

/*
 * Returns whether LANE's next segment fits the window. One segment may always be in flight. While
 * all bytes in flight come from LANE's next sender, and no other lane has bytes left to ask for,
 * they may fill the run. Otherwise lanes share the window.
 */
static bool fits_window(const coll_intake *in, const coll_lane *lane) {
    size_t length = next_length(in, lane);
    if (in->on_the_way == 0)
        return true;
    if (in->on_the_way == lane->of_next && in->run > in->window && is_last_lane(in, lane))
        return in->on_the_way + length <= in->run;
    size_t share = in->window / (size_t)in->credit.lanes;
    return in->on_the_way + length <= in->window &&
           (in->lane_count == 1 || lane->on_the_way == 0 || lane->on_the_way + length <= share);
}

/* Posts the receive of LANE's next segment in slot I. */
static int post_receive(coll_intake *in, coll_lane *lane, int i) {
    coll_slot *s = &in->slots[i];
    int rank = in->senders[lane->next].rank;
    s->sender = lane->next;
    s->lane = (int)(lane - in->lanes);
    s->from = lane->asked;
    s->length = next_length(in, lane);
    s->pending = 1;
    lane->asked += s->length;
    lane->left -= s->length;
    lane->on_the_way += s->length;
    lane->of_next += s->length;
    in->on_the_way += s->length;
    in->task.peers[i] = rank;
    in->task.active++;
    coll_data block = coll_blocks_at(in->call.args.blocks, rank);
    return coll_irecv(in->call.comm, coll_data_target(&block, s->from, s->segment), (int)s->length,
                      MPI_BYTE, rank, in->call.tag, &in->task.requests[i]);
}

/* Sends a grant: the sender of slot I may send up to the slot's end. */
static int send_grant(coll_intake *in, int i) {
    coll_slot *s = &in->slots[i];
    int rank = in->senders[s->sender].rank;
    s->granted = s->from + s->length;
    s->pending++;
    in->task.peers[in->slot_count + i] = rank;
    in->task.active++;
    return coll_isend(in->call.comm, &s->granted, 1, MPI_UINT64_T, rank, in->call.tag + 1,
                      &in->task.requests[in->slot_count + i]);
}

static bool can_ask(const coll_intake *in, const coll_lane *lane) {
    return lane->left > 0 && in->unused_count > 0 && fits_window(in, lane);
}

/* Asks LANE's next sender for as much as fits the window, with one grant, or with none for bytes
 * that are sent without a grant. */
static int ask_next_sender(coll_intake *in, coll_lane *lane) {
    const coll_source *sender = &in->senders[lane->next];
    size_t bytes = bytes_of(in, lane->next);
    int last = -1, code = MPI_SUCCESS;
    while (lane->asked < bytes && can_ask(in, lane) && code == MPI_SUCCESS) {
        last = in->unused[--in->unused_count];
        code = post_receive(in, lane, last);
    }
    if (code == MPI_SUCCESS && last >= 0 && lane->asked > sender->unasked)
        code = send_grant(in, last);
    if (lane->asked == bytes) {
        lane->next++;
        lane->asked = lane->of_next = 0;
    }
    return code;
}

/*
 * Returns the lane to ask next: a lane whose next bytes come without a grant, else the lane with
 * the most bytes left, so that all lanes end together. NULL if no lane can be asked.
 */
static coll_lane *next_lane(const coll_intake *in) {
    coll_lane *next = NULL;
    for (int i = 0; i < in->lane_count; i++) {
        coll_lane *lane = &in->lanes[i];
        if (!can_ask(in, lane))
            continue;
        if (lane->asked < in->senders[lane->next].unasked)
            return lane;
        if (!next || lane->left > next->left)
            next = lane;
    }
    return next;
}

static int ask_all(coll_intake *in) {
    int code = MPI_SUCCESS;
    for (coll_lane *lane; code == MPI_SUCCESS && (lane = next_lane(in));)
        code = ask_next_sender(in, lane);
    return code;
}

/* Lets the window grow, since BYTES have arrived. */
static void grow_window(coll_intake *in, size_t bytes) {
    size_t widest = (size_t)(in->share * (double)in->credit.wide);
    in->window = coll_least(in->window + (size_t)(COLL_CREDIT_GROWTH * (double)bytes), widest);
}

static void store_segment(coll_intake *in, const coll_slot *s) {
    coll_lane *lane = &in->lanes[s->lane];
    in->senders[s->sender].begun = true;
    coll_data block = coll_blocks_at(in->call.args.blocks, in->senders[s->sender].rank);
    coll_data_store(&block, s->from, s->length, s->segment);
    grow_window(in, s->length);
    in->on_the_way -= s->length;
    lane->on_the_way -= s->length;
    if (s->sender == lane->next)
        lane->of_next -= s->length;
}

/* Handles the completion of request INDEX, SECONDS after the last arrival. */
static void handle_completion(coll_intake *in, int index, double seconds) {
    int i = index % in->slot_count;
    coll_slot *s = &in->slots[i];
    if (seconds > STALL && in->senders[s->sender].begun)
        in->stalled = true;
    if (index == i)
        store_segment(in, s);
    if (--s->pending == 0)
        in->unused[in->unused_count++] = i;
}

/* Atomic: another thread may run another gather. */
coll_comm_key coll_intake_share_key = {.bytes = sizeof(_Atomic double)};

/* Asks for more; once everything has arrived, saves the share of the window for the next gather. */
static int continue_intake(coll_intake *in) {
    int code = ask_all(in);
    in->since = in->tested = PMPI_Wtime();
    if (code == MPI_SUCCESS && in->task.active == 0) {
        _Atomic double *kept = coll_comm_slot(in->call.comm, &coll_intake_share_key);
        *kept = coll_incast_share(in->share, in->stalled);
    }
    return code;
}

static int start_intake(coll_task *task) {
    coll_intake *intake = (coll_intake *)task;
    double kept = *(_Atomic double *)coll_comm_slot(intake->call.comm, &coll_intake_share_key);
    intake->share = kept > 0 ? kept : 1; /* 0: this is the communicator's first gather */
    intake->window = (size_t)(intake->share * (double)intake->credit.window);
    intake->run = (size_t)(intake->share * (double)intake->credit.run);
    intake->stalled = false;
    intake->unused_count = 0;
    intake->on_the_way = 0;
    list_lanes(intake);
    for (int i = 0; i < intake->sender_count; i++)
        intake->senders[i].begun = false;
    for (int i = 0; i < 2 * intake->slot_count; i++) {
        intake->task.requests[i] = MPI_REQUEST_NULL;
        intake->task.peers[i] = -1;
    }
    for (int i = 0; i < intake->slot_count; i++)
        intake->unused[intake->unused_count++] = i;
    return continue_intake(intake);
}

static int handle_completions(coll_task *task, int count) {
    coll_intake *intake = (coll_intake *)task;
    task->active -= count;
    for (int i = 0; i < count; i++)
        handle_completion(intake, task->indices[i], intake->tested - intake->since);
    return continue_intake(intake);
}

/* Time without polls does not count as a stall. */
static void note_test(coll_task *task) {
    ((coll_intake *)task)->tested = PMPI_Wtime();
}

coll_task *coll_intake_open(const coll_exec_args *call, const coll_credit *credit, void *memory) {
    char *scratch = memory;
    coll_intake *intake = coll_scratch_alloc(&scratch, sizeof *intake);
    *intake = (coll_intake){.task = {.start = start_intake,
                                     .handle_completed = handle_completions,
                                     .after_test = note_test,
                                     .comm = call->comm},
                            .call = *call,
                            .credit = *credit,
                            .senders = (void *)scratch};
    intake->lanes = (void *)(intake->senders + call->comm->ranks);
    list_senders(intake);
    intake->slot_count = count_slots(intake);
    intake->task.count = 2 * intake->slot_count;
    divide_memory(intake);
    return &intake->task;
}

#include "config.h"

#include "lib/gather/intake.h"

#include "lib/algorithm/line.h"
#include "lib/pattern/incast.h"
#include "lib/schedule/plan.h"

/* More receives posted at once than this would only be more to look through. */
enum { SLOTS_MAX = 1024 };

/*
 * A stream that has begun and pauses for so many seconds has lost a packet: TCP sends it again
 * after 200 ms at the earliest. A rank that comes late to the gather has not begun.
 */
static const double STALL = 0.15;

/* A receive that is posted, and the grant that went with it. */
typedef struct slot {
    int sender; /* the place in the list of senders */
    size_t from, length;
    char *segment; /* NULL where the data moves in place */
    uint64_t granted;
    int pending; /* of the two, those that were not found complete yet */
} slot;

typedef struct source {
    int rank;
    size_t unasked; /* bytes that it sends without being asked */
    bool begun;     /* some of its bytes are here */
} source;

typedef struct root {
    const coll_gather_call *call;
    const coll_intake *intake;
    coll_comm *comm;
    source *senders; /* in the order in which they are asked */
    int sender_count;

    size_t window, run; /* of the intake, as large as they have lately been safe */
    bool stalled;       /* some stream did: something was lost */

    int next;          /* the sender to be asked next */
    size_t asked;      /* bytes of its block that it has been asked for */
    size_t on_the_way; /* bytes asked for that have not arrived */
    size_t of_next;    /* those of them that are the next sender's */
    int slot_count, unused_count;
    slot *slots;
    int *unused;           /* slots without a request */
    MPI_Request *requests; /* slot_count receives, then as many grants */
    MPI_Status *statuses;
    int *peers, *completed;
} root;

size_t coll_intake_unasked(const coll_gather_call *call, const coll_intake *intake, int place,
                           size_t bytes) {
    size_t senders = (size_t)call->comm->ranks - 1, before = (size_t)place * bytes;
    if (!coll_gather_is_even(call->shape))
        return bytes <= intake->unasked / senders ? bytes : 0;
    if (before + bytes <= intake->unasked)
        return bytes;
    size_t left = before < intake->unasked ? intake->unasked - before : 0;
    return left - left % intake->segment;
}

static size_t bytes_of(const root *r, int sender) {
    return coll_blocks_bytes(r->call->blocks, r->senders[sender].rank);
}

/* Chain order; first come those who send unasked, since they are on the way already. */
static void list_senders(root *r) {
    const int *order = coll_line_of(r->comm, r->call->shape)->order;
    r->sender_count = 0;
    for (int first = 1; first >= 0; first--)
        for (int place = 0; place < r->comm->ranks - 1; place++) {
            int rank = order[place + 1];
            size_t bytes = coll_blocks_bytes(r->call->blocks, rank);
            size_t unasked = coll_intake_unasked(r->call, r->intake, place, bytes);
            if (bytes > 0 && (unasked > 0) == first)
                r->senders[r->sender_count++] = (source){.rank = rank, .unasked = unasked};
        }
}

/* The bytes of a message where no block is longer than LONGEST. */
static size_t usual_segment(const coll_intake *intake, size_t longest) {
    return coll_least(longest, intake->segment);
}

/* As many receives as the windows hold, where messages are of USUAL bytes. */
static size_t most_slots(const coll_intake *intake, size_t usual) {
    size_t ahead = intake->window + intake->run;
    return usual ? coll_least(ahead / usual + 2, SLOTS_MAX) : 0;
}

/* No more than there are segments. */
static int count_slots(const root *r) {
    size_t usual = usual_segment(r->intake, coll_blocks_longest(r->call->blocks));
    size_t slots = most_slots(r->intake, usual), segments = 0;
    for (int i = 0; i < r->sender_count && segments < SLOTS_MAX; i++)
        segments += coll_segment_count(bytes_of(r, i), r->intake->segment);
    return (int)coll_least(slots, segments);
}

/*
 * What the root needs to take blocks of BYTES each; where only it knows their sizes, as much as any
 * could need: many short messages, or as many long ones as the windows hold.
 */
static size_t root_room(const coll_gather_call *call, const coll_intake *intake) {
    enum { ALIGNED = 64 };
    size_t bytes = call->shape->bytes, ranks = (size_t)call->comm->ranks;
    bool even = coll_gather_is_even(call->shape);
    size_t usual = usual_segment(intake, bytes), slots = most_slots(intake, even ? usual : 1);
    if (even)
        slots = coll_least(slots, coll_segment_count(bytes, intake->segment) * (ranks - 1));
    size_t packed = even ? slots * usual
                         : coll_least(SLOTS_MAX * usual, intake->window + intake->run + 2 * usual);
    size_t each = sizeof(slot) + sizeof(int) +
                  2 * (sizeof(MPI_Request) + sizeof(MPI_Status) + 2 * sizeof(int));
    return ranks * sizeof(source) + slots * each + packed + ALIGNED;
}

int coll_intake_room(const coll_gather_call *call, const coll_intake *intake) {
    size_t bytes = call->shape->bytes;
    size_t sender = COLL_INTAKE_SENDS * usual_segment(intake, bytes);
    size_t taker = root_room(call, intake);
    void *room;
    return coll_comm_room(call->comm, taker > sender ? taker : sender, &room);
}

/* Divides the room behind the list of senders. */
static void furnish(root *r) {
    size_t count = (size_t)r->slot_count;
    size_t segment = usual_segment(r->intake, coll_blocks_longest(r->call->blocks));
    r->slots = (void *)(r->senders + r->comm->ranks);
    r->statuses = (void *)(r->slots + count);
    r->requests = (void *)(r->statuses + 2 * count);
    r->peers = (void *)(r->requests + 2 * count);
    r->completed = r->peers + 2 * count;
    r->unused = r->completed + 2 * count;
    char *memory =
        coll_data_in_place(&r->call->blocks->longest) ? NULL : (char *)(r->unused + count);
    for (size_t i = 0; i < 2 * count; i++) {
        r->requests[i] = MPI_REQUEST_NULL;
        r->peers[i] = -1;
    }
    for (size_t i = 0; i < count; i++) {
        r->slots[i] = (slot){.segment = memory ? memory + i * segment : NULL};
        r->unused[r->unused_count++] = (int)i;
    }
}

static size_t next_length(const root *r) {
    return coll_least(bytes_of(r, r->next) - r->asked, r->intake->segment);
}

/* One segment may always be on the way; a sender that is alone on it has a window of its own. */
static bool has_room(const root *r) {
    bool alone = r->on_the_way == r->of_next && r->run > r->window;
    size_t most = alone ? r->run : r->window;
    return r->on_the_way == 0 || r->on_the_way + next_length(r) <= most;
}

/* Posts the receive of the next segment in slot I. */
static int post(root *r, int i) {
    slot *s = &r->slots[i];
    int rank = r->senders[r->next].rank;
    s->sender = r->next;
    s->from = r->asked;
    s->length = next_length(r);
    s->pending = 1;
    r->asked += s->length;
    r->on_the_way += s->length;
    r->of_next += s->length;
    r->peers[i] = rank;
    coll_data block = coll_blocks_at(r->call->blocks, rank);
    return PMPI_Irecv(coll_data_target(&block, s->from, s->segment), (int)s->length, MPI_BYTE, rank,
                      COLL_TAG_GATHER, r->comm->private, &r->requests[i]);
}

/* Tells the sender of slot I that it may send up to the slot's end. */
static int grant(root *r, int i) {
    slot *s = &r->slots[i];
    int rank = r->senders[s->sender].rank;
    s->granted = s->from + s->length;
    s->pending++;
    r->peers[r->slot_count + i] = rank;
    return PMPI_Isend(&s->granted, 1, MPI_UINT64_T, rank, COLL_TAG_GRANT, r->comm->private,
                      &r->requests[r->slot_count + i]);
}

/* Asks the next sender for as much as there is room for, in one grant; *ALL: the whole rest. */
static int ask_next(root *r, bool *all) {
    size_t bytes = bytes_of(r, r->next);
    int last = -1, code = MPI_SUCCESS;
    while (r->asked < bytes && r->unused_count > 0 && has_room(r) && code == MPI_SUCCESS) {
        last = r->unused[--r->unused_count];
        code = post(r, last);
    }
    if (code == MPI_SUCCESS && last >= 0 && r->asked > r->senders[r->next].unasked)
        code = grant(r, last);
    *all = r->asked == bytes;
    return code;
}

static int ask(root *r) {
    while (r->next < r->sender_count) {
        bool all;
        int code = ask_next(r, &all);
        if (code != MPI_SUCCESS || !all)
            return code;
        r->next++;
        r->asked = r->of_next = 0;
    }
    return MPI_SUCCESS;
}

static void arrive(root *r, const slot *s) {
    r->senders[s->sender].begun = true;
    coll_data block = coll_blocks_at(r->call->blocks, r->senders[s->sender].rank);
    coll_data_store(&block, s->from, s->length, s->segment);
    r->on_the_way -= s->length;
    if (s->sender == r->next)
        r->of_next -= s->length;
}

/* The request at INDEX is complete, after so many SECONDS without any. */
static void complete(root *r, int index, double seconds) {
    int i = index % r->slot_count;
    slot *s = &r->slots[i];
    if (seconds > STALL && r->senders[s->sender].begun)
        r->stalled = true;
    if (index == i)
        arrive(r, s);
    if (--s->pending == 0)
        r->unused[r->unused_count++] = i;
}

static int receive_all(root *r) {
    for (;;) {
        int count, code = ask(r);
        double since = PMPI_Wtime();
        if (code == MPI_SUCCESS)
            code = coll_wait_some(&r->comm->wait, 2 * r->slot_count, r->requests, r->peers, &count,
                                  r->completed, r->statuses);
        if (code != MPI_SUCCESS || count == 0)
            return code;
        for (int i = 0; i < count; i++)
            complete(r, r->completed[i], PMPI_Wtime() - since);
    }
}

coll_comm_key coll_intake_share_key = {.bytes = sizeof(double)};

int coll_intake_run(const coll_gather_call *call, const coll_intake *intake) {
    double *kept = coll_comm_slot(call->comm, &coll_intake_share_key);
    double share = *kept > 0 ? *kept : 1; /* 0: this is the first gather */
    root r = {.call = call, .intake = intake, .comm = call->comm, .senders = call->comm->room};
    r.window = (size_t)(share * (double)intake->window);
    r.run = (size_t)(share * (double)intake->run);
    list_senders(&r);
    r.slot_count = count_slots(&r);
    furnish(&r);
    int code = receive_all(&r);
    *kept = coll_incast_share(share, r.stalled);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(2 * r.slot_count, r.requests);
    return code;
}

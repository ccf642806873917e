/*
 * binomial: blocks go up a binomial tree, streamed in segments.
 *
 * 1. Ranks are positions in the chain order (node by node, rack by rack from the root), so that a
 *    subtree is a run of neighbours, and its blocks in the order of positions are one stream.
 * 2. The stream is cut at multiples of a segment, counted from the root's block. A rank puts each
 *    segment together from its own block and its children's streams, which are cut at the same
 *    places, and sends it on to its parent: inner ranks hold a window of segments, not a subtree.
 *
 * Cost: ceil(log2 p) (a + s B) + ((p - 1) m - s) B for segments of s bytes.
 * Source: the minimum spanning tree of Zhang, Qiu: High Performance Clustering of Social Images,
 * eq. 1, in the other direction.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/base/flow.h"
#include "lib/gather/gather.h"
#include "lib/pattern/binomial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT, WINDOW };

static const coll_param params[] = {
    [SEGMENT] = {"segment", "bytes a message, under the transport's eager limit",
                 .fallback = 32 << 10, .lowest = 1, .highest = 1 << 30},
    [WINDOW] = {"window", "segments that a rank holds", .fallback = 8, .lowest = 1,
                .highest = 1024},
    {.name = NULL},
};

static double predict(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double bytes = (double)call->bytes * (call->topo->ranks - 1);
    double segment = fmin((double)values->at[SEGMENT], bytes);
    double hops = coll_tree_depth(call->topo->ranks) * coll_cost_message(link, segment, 2);
    double rest = coll_cost_transfer(link, bytes, 2) - coll_cost_transfer(link, segment, 2);
    return hops + rest;
}

/* Bytes of the root's stream, counted from the start of its own block. */
typedef struct range {
    size_t from, to;
} range;

static range meet(range a, range b) {
    range both = {a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to};
    if (both.to < both.from)
        both.to = both.from;
    return both;
}

enum { CHILDREN = 31 };

/* One rank's part. Segment I of the window is in slot I % window, with a request for each child. */
typedef struct node {
    const coll_gather_call *call;
    const int *order;
    int position, parent, child_count;
    range own, subtree, below[CHILDREN]; /* this rank's block; with all below; each child's */
    size_t segment, first, end, window;  /* segments FIRST to END - 1 */
    char *memory;                        /* the window's segments */
    MPI_Request *receives;               /* child_count for each slot */
    int peers[CHILDREN];                 /* the children's ranks */
} node;

static range segment_at(const node *n, size_t i) {
    return meet(n->subtree, (range){i * n->segment, (i + 1) * n->segment});
}

/* Where byte AT of the stream is in its slot. */
static char *slot_of(const node *n, size_t i, size_t at) {
    return n->memory + i % n->window * n->segment + (at - i * n->segment);
}

static MPI_Request *receives_of(const node *n, size_t i) {
    return n->receives + i % n->window * (size_t)n->child_count;
}

static int post_receives(const node *n, size_t i) {
    int code = MPI_SUCCESS;
    for (int c = 0; c < n->child_count && code == MPI_SUCCESS; c++) {
        range part = meet(n->below[c], segment_at(n, i));
        if (part.from < part.to)
            code = PMPI_Irecv(slot_of(n, i, part.from), (int)(part.to - part.from), MPI_BYTE,
                              n->peers[c], COLL_TAG_GATHER, n->call->comm->private,
                              &receives_of(n, i)[c]);
    }
    return code;
}

/* This rank's own bytes of segment I, next to the children's. */
static void add_own(const node *n, size_t i) {
    range part = meet(n->own, segment_at(n, i));
    size_t length = part.to - part.from;
    if (length == 0)
        return;
    char *slot = slot_of(n, i, part.from);
    const void *bytes = coll_data_read(n->call->mine, part.from - n->own.from, length, slot);
    if (bytes != slot)
        memcpy(slot, bytes, length);
}

static int send_up(const node *n, size_t i) {
    range part = segment_at(n, i);
    return coll_flow_send_one(n->call->comm, COLL_TAG_GATHER, slot_of(n, i, part.from),
                              part.to - part.from, n->parent);
}

/* The root puts segment I where the ranks' blocks belong. */
static void deliver(const node *n, size_t i) {
    size_t bytes = n->call->shape->bytes;
    range all = segment_at(n, i);
    for (size_t position = all.from / bytes; position * bytes < all.to; position++) {
        range part = meet(all, (range){position * bytes, (position + 1) * bytes});
        coll_data block = coll_blocks_at(n->call->blocks, n->order[position]);
        if (position > 0)
            coll_data_write(&block, part.from - position * bytes, part.to - part.from,
                            slot_of(n, i, part.from));
    }
}

static int pass_up(const node *n) {
    int code = MPI_SUCCESS;
    for (size_t i = n->first; i < n->end && i < n->first + n->window && code == MPI_SUCCESS; i++)
        code = post_receives(n, i);
    for (size_t i = n->first; i < n->end && code == MPI_SUCCESS; i++) {
        if (n->parent >= 0)
            add_own(n, i);
        code = coll_wait_all(&n->call->comm->wait, n->child_count, receives_of(n, i), n->peers);
        if (code == MPI_SUCCESS && n->parent >= 0)
            code = send_up(n, i);
        else if (code == MPI_SUCCESS)
            deliver(n, i);
        if (code == MPI_SUCCESS && i + n->window < n->end)
            code = post_receives(n, i + n->window);
    }
    return code;
}

/* Finds this rank's place in the tree and in the stream. */
static void find_place(node *n) {
    coll_comm *comm = n->call->comm;
    size_t bytes = n->call->shape->bytes;
    int parent, children[CHILDREN];
    const coll_line *line = coll_line_of(comm, n->call->shape);
    n->order = line->order;
    n->position = line->position;
    n->child_count = coll_tree_binomial(comm->ranks, n->position, &parent, children);
    n->parent = parent < 0 ? -1 : n->order[parent];
    size_t start = (size_t)n->position * bytes;
    size_t end = (size_t)coll_tree_binomial_end(comm->ranks, n->position) * bytes;
    n->own = (range){start, start + bytes};
    n->subtree = (range){start, end};
    for (int c = 0; c < n->child_count; c++) {
        n->peers[c] = n->order[children[c]];
        n->below[c] = (range){(size_t)children[c] * bytes, end};
        end = n->below[c].from;
    }
}

static int run(const coll_gather_call *call, const coll_values *values) {
    node n = {.call = call, .segment = values->at[SEGMENT], .window = values->at[WINDOW]};
    /* No rank has more segments than the root, nor more children. */
    size_t all = (size_t)call->comm->ranks * call->shape->bytes;
    size_t segments = all / n.segment + 2;
    size_t window = n.window < segments ? n.window : segments;
    void *room;
    int code =
        coll_comm_room(call->comm, window * (n.segment + CHILDREN * sizeof *n.receives), &room);
    if (code != MPI_SUCCESS)
        return code;
    find_place(&n);
    n.first = n.subtree.from / n.segment;
    n.end = (n.subtree.to + n.segment - 1) / n.segment;
    if (n.window > n.end - n.first)
        n.window = n.end - n.first;

    size_t requests = n.window * (size_t)n.child_count;
    n.receives = room;
    n.memory = (char *)(n.receives + requests);
    for (size_t i = 0; i < requests; i++)
        n.receives[i] = MPI_REQUEST_NULL;
    code = pass_up(&n);
    if (code != MPI_SUCCESS)
        coll_wait_abandon((int)requests, n.receives);
    return code;
}

const coll_gather_algorithm coll_gather_binomial = {
    .base = {.name = "binomial",
             .summary = "segments stream up a binomial tree in rack order",
             .params = params,
             .applicable = coll_gather_is_even,
             .predict = predict},
    .run = run,
};

/*
 * two_tree: a pipeline down two trees at once; for all but small data.
 *
 * 1. The segments go by turns down two trees over the nodes, in which every node is an inner node
 *    of one tree and a leaf of the other, so that it sends about one copy of the data, as in a
 *    chain. Each tree enters each rack once. lib/pattern/twotree.h says how.
 * 2. In a node, the rank that is first in the chain order has the node's place in both trees; the
 *    others follow it as a chain.
 *
 * The rate is that of the chain; the first segment needs a hop for every rack and some log2 of a
 * rack's nodes, where the chain needs one for every node.
 *
 * Cost: d (a + 2 c B M) + (n - 1) c B M for n segments of c bytes and depth d: a node sends to its
 * two children by turns. Two streams meet at every node, and do not share its link quite as well as
 * one alone fills it; M is what that costs. Source: Sanders, Speck, Traeff, Two-tree algorithms for
 * full bandwidth broadcast, reduction and scan, Parallel Computing 35 (2009).
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/twotree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT, WINDOW };

static const coll_param params[] = {
    [SEGMENT] = {"segment",
                 "bytes a message, under the transport's eager limit; 0: by the cost model",
                 .fallback = 0, .lowest = 0, .highest = 1 << 30, .formerly = "chunk"},
    [WINDOW] = {"window", "messages under way to each child", .fallback = 8, .lowest = 1,
                .highest = 1024},
    {.name = NULL},
};

/* The hops to the farthest node: the racks one after the other, then a tree of half of a rack. */
static double depth_of(const coll_topo *topo) {
    int rack = (topo->nodes + topo->racks - 1) / topo->racks;
    return topo->racks - 1 + 1 + coll_tree_depth((rack + 1) / 2) + topo->most_ranks_per_node - 1;
}

static size_t segment_of(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    return coll_profile_segment_or(values->at[SEGMENT], link, call->bytes,
                                   2 * depth_of(call->topo));
}

/* Two streams that meet at a port fill it less evenly than one: what that adds to the time. */
static const double meeting = 1.1;

static double predict(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double segment = fmax((double)segment_of(call, values), 1);
    int sharing = coll_profile_sharing(call->topo);
    double hop = link->wake + coll_cost_messages(link, 2, segment, sharing);
    return depth_of(call->topo) * hop +
           meeting * coll_cost_rest(link, (double)call->bytes, segment, sharing);
}

/* Two children in a tree and the next rank of the node. */
enum { TREES = 2, CHILDREN = 3 };

/* Messages in one direction between this rank and one other, numbered by segments of their tree. */
typedef struct lane {
    int peer;
    size_t started, complete; /* all segments before these */
    MPI_Request *requests;    /* a window of them; segment i has number i % window */
    bool *done;               /* that are complete, but an earlier one isn't */
} lane;

/* This rank's place in one tree. Tree t carries segments t, t + 2, t + 4, ... of the data. */
typedef struct branch {
    int tree;
    size_t segments; /* of this tree */
    size_t held;     /* the first so many are here and may be sent on */
    bool has_parent;
    lane parent;
    int children;
    lane child[CHILDREN];
    char *memory; /* a window of segments; NULL where the data moves in place */
} branch;

typedef struct place {
    const coll_bcast_call *call;
    size_t segment, window;
    branch branch[TREES];
    int lanes;
    MPI_Request *requests; /* a window for each lane */
    MPI_Status *statuses;
    bool *done;
    int *peers, *completed;
} place;

static size_t offset_of(const place *p, const branch *b, size_t i) {
    return (TREES * i + (size_t)b->tree) * p->segment;
}

static size_t length_of(const place *p, const branch *b, size_t i) {
    size_t left = p->call->data->bytes - offset_of(p, b, i);
    return left < p->segment ? left : p->segment;
}

static char *slot_of(const place *p, const branch *b, size_t i) {
    return b->memory ? b->memory + i % p->window * p->segment : NULL;
}

static int tag_of(const branch *b) {
    return b->tree ? COLL_TAG_SECOND_TREE : COLL_TAG_FIRST_TREE;
}

/* Segments before this one have left to all children: their slots are free. */
static size_t passed_on(const branch *b) {
    size_t least = b->held;
    for (int c = 0; c < b->children; c++)
        least = b->child[c].complete < least ? b->child[c].complete : least;
    return least;
}

static bool has_slot(const place *p, const branch *b, size_t i) {
    return !b->memory || i < passed_on(b) + p->window;
}

static int receive_more(const place *p, branch *b) {
    lane *l = &b->parent;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && l->started < b->segments &&
           l->started < l->complete + p->window && has_slot(p, b, l->started)) {
        size_t i = l->started++;
        void *bytes = coll_data_target(p->call->data, offset_of(p, b, i), slot_of(p, b, i));
        code = PMPI_Irecv(bytes, (int)length_of(p, b, i), MPI_BYTE, l->peer, tag_of(b),
                          p->call->comm->private, &l->requests[i % p->window]);
    }
    return code;
}

/* At the root segments need not arrive, but where the data isn't contiguous they must be packed. */
static void pack_more(const place *p, branch *b) {
    for (; b->held < b->segments && has_slot(p, b, b->held); b->held++)
        if (b->memory)
            coll_data_read(p->call->data, offset_of(p, b, b->held), length_of(p, b, b->held),
                           slot_of(p, b, b->held));
}

static int send_more(const place *p, const branch *b, lane *l) {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && l->started < b->held && l->started < l->complete + p->window) {
        size_t i = l->started++;
        const void *bytes = coll_data_target(p->call->data, offset_of(p, b, i), slot_of(p, b, i));
        code = PMPI_Isend(bytes, (int)length_of(p, b, i), MPI_BYTE, l->peer, tag_of(b),
                          p->call->comm->private, &l->requests[i % p->window]);
    }
    return code;
}

/* Starts everything that can be started. */
static int pump(place *p) {
    int code = MPI_SUCCESS;
    for (int t = 0; t < TREES; t++) {
        branch *b = &p->branch[t];
        if (b->has_parent)
            code = receive_more(p, b);
        else
            pack_more(p, b);
        for (int c = 0; c < b->children && code == MPI_SUCCESS; c++)
            code = send_more(p, b, &b->child[c]);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* Request SLOT of L is complete; goes on to the first that isn't. */
static void complete(const place *p, lane *l, size_t slot) {
    l->done[slot] = true;
    while (l->complete < l->started && l->done[l->complete % p->window])
        l->done[l->complete++ % p->window] = false;
}

/* What has arrived in order is unpacked and may be sent on. */
static void take_arrived(const place *p, branch *b) {
    for (; b->held < b->parent.complete; b->held++)
        coll_data_store(p->call->data, offset_of(p, b, b->held), length_of(p, b, b->held),
                        slot_of(p, b, b->held));
}

/* The lane whose requests begin at number INDEX x window of all, with its branch. */
static lane *lane_at(place *p, size_t index, branch **of) {
    for (int t = 0; t < TREES; t++) {
        branch *b = *of = &p->branch[t];
        if (b->has_parent && index-- == 0)
            return &b->parent;
        if (index < (size_t)b->children)
            return &b->child[index];
        index -= (size_t)b->children;
    }
    return NULL;
}

static int run_to_end(place *p) {
    int total = p->lanes * (int)p->window, count;
    for (;;) {
        int code = pump(p);
        if (code == MPI_SUCCESS)
            code = coll_wait_some(&p->call->comm->wait, total, p->requests, p->peers, &count,
                                  p->completed, p->statuses);
        if (code != MPI_SUCCESS || count == 0)
            return code;
        for (int i = 0; i < count; i++) {
            size_t request = (size_t)p->completed[i];
            branch *b;
            lane *l = lane_at(p, request / p->window, &b);
            complete(p, l, request % p->window);
            if (l == &b->parent)
                take_arrived(p, b);
        }
    }
}

/* The nodes in chain order: the position of each one's first rank, and its rack. */
typedef struct node_line {
    int nodes, mine; /* my node's number */
    int *first, *rack;
    int *parent[TREES], *rank_of_child[TREES];
} node_line;

/* The numbers that make_line needs memory for. */
static size_t line_numbers(const coll_topo *topo) {
    size_t nodes = (size_t)topo->nodes;
    return (2 + 2 * TREES) * nodes + COLL_TWO_TREE_SCRATCH * (nodes + 1);
}

static void make_line(const coll_topo *topo, const coll_line *ranks, int *memory, node_line *line) {
    const coll_place *places = topo->places;
    const int *order = ranks->order;
    size_t most = (size_t)topo->nodes;
    line->first = memory;
    line->rack = memory + most;
    for (size_t t = 0; t < TREES; t++) {
        line->parent[t] = memory + (2 + 2 * t) * most;
        line->rank_of_child[t] = memory + (3 + 2 * t) * most;
    }
    line->nodes = 0;
    for (int i = 0; i < topo->ranks; i++) {
        if (i == 0 || places[order[i]].node != places[order[i - 1]].node) {
            line->first[line->nodes] = i;
            line->rack[line->nodes++] = places[order[i]].rack;
        }
        if (i == ranks->position)
            line->mine = line->nodes - 1;
    }
    int *scratch = memory + (2 + 2 * TREES) * most;
    coll_two_tree(line->nodes, line->rack, scratch, line->parent, line->rank_of_child);
}

static void add_child(branch *b, int rank) {
    b->child[b->children++].peer = rank;
}

/* Parents and children of this rank. */
static void take_place(const coll_line *ranks, const node_line *line, place *p) {
    const int *order = ranks->order;
    int position = ranks->position, node = line->mine;
    int end = node + 1 < line->nodes ? line->first[node + 1] : p->call->comm->ranks;
    bool leads = position == line->first[node];
    for (int t = 0; t < TREES; t++) {
        branch *b = &p->branch[t];
        const int *parent = line->parent[t];
        b->tree = t;
        b->has_parent = position > 0;
        if (b->has_parent)
            b->parent.peer = order[leads ? line->first[parent[node]] : position - 1];
        for (int nth = 0; leads && nth < 2; nth++)
            for (int other = 0; other < line->nodes; other++)
                if (parent[other] == node && line->rank_of_child[t][other] == nth)
                    add_child(b, order[line->first[other]]);
        if (position + 1 < end)
            add_child(b, order[position + 1]);
        p->lanes += b->has_parent + b->children;
    }
}

/* What one message of the window needs in a lane, and each of its segments. */
static size_t room_bytes(const place *p, const coll_topo *topo) {
    size_t lanes = TREES * (1 + CHILDREN);
    size_t each = sizeof *p->requests + sizeof *p->statuses + sizeof *p->peers +
                  sizeof *p->completed + sizeof *p->done;
    return p->window * (lanes * each + TREES * p->segment) + line_numbers(topo) * sizeof(int);
}

/* Divides ROOM, once the lanes are known. */
static void furnish(place *p, char *room) {
    size_t total = (size_t)p->lanes * p->window;
    p->statuses = (void *)room;
    p->requests = (void *)(p->statuses + total);
    p->peers = (void *)(p->requests + total);
    p->completed = p->peers + total;
    p->done = (void *)(p->completed + total);
    char *memory = coll_data_in_place(p->call->data) ? NULL : (void *)(p->done + total);
    for (size_t i = 0; i < (size_t)p->lanes; i++) {
        branch *b;
        lane *l = lane_at(p, i, &b);
        l->requests = p->requests + i * p->window;
        l->done = p->done + i * p->window;
        for (size_t slot = 0; slot < p->window; slot++) {
            l->requests[slot] = MPI_REQUEST_NULL;
            l->done[slot] = false;
            p->peers[i * p->window + slot] = l->peer;
        }
    }
    for (int t = 0; memory && t < TREES; t++)
        p->branch[t].memory = memory + (size_t)t * p->window * p->segment;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    coll_comm *comm = call->comm;
    place p = {
        .call = call, .segment = segment_of(call->shape, values), .window = values->at[WINDOW]};
    size_t segments = (call->data->bytes + p.segment - 1) / p.segment;
    p.branch[0].segments = (segments + 1) / 2;
    p.branch[1].segments = segments / 2;
    if (p.window > p.branch[0].segments)
        p.window = p.branch[0].segments;

    void *room;
    int code = coll_comm_room(comm, room_bytes(&p, call->shape->topo), &room);
    if (code != MPI_SUCCESS)
        return code;
    const coll_line *ranks = coll_line_of(comm, call->shape);
    node_line line;
    make_line(call->shape->topo, ranks, room, &line);
    take_place(ranks, &line, &p);
    furnish(&p, room); /* the line is not needed any more */
    code = run_to_end(&p);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(p.lanes * (int)p.window, p.requests);
    return code;
}

const coll_bcast_algorithm coll_bcast_two_tree = {
    .base = {.name = "two_tree",
             .summary = "segments alternate between two trees; each host forwards in only one",
             .params = params,
             .predict = predict},
    .run = run,
};

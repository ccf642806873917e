/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/bcast_runtime.h"

#include "lib/base/error.h"
#include "lib/tuning/state.h"

#include <string.h>

/* Precedes the data of the first message. */
typedef struct header {
    uint32_t broadcast; /* number of the broadcast */
    uint32_t round;     /* round of probes in which leaders are to take part, or 0 */
    int8_t parent[HLOT_SITES], order[HLOT_SITES];
} header;

/* The state of one rank. Segments are in the user's memory, or segment i is in slot i % window. */
typedef struct relay {
    const coll_exec_args *call;
    const coll_shape *shape;
    hlot_site_state *site_state;
    size_t segment, segments;
    size_t window; /* at most SEGMENTS */
    char *memory;  /* memory of the slots; NULL if the data moves in place */

    /* Used by heads: */
    int tag;
    int parent; /* the rank that sends to this one, or -1 */
    int children[HLOT_SITES], child_count;
    char *first; /* the header and the first segment */
    /* number of segments whose sends to the children have been started */
    size_t taken;
    MPI_Request *receives; /* one per slot */
    MPI_Request *sends;    /* one per slot and child; the sends of slot s begin at s *
                              child_count */
} relay;

static size_t length_of(const relay *r, size_t i) {
    size_t from = i * r->segment, bytes = r->call->data->bytes;
    return bytes - from < r->segment ? bytes - from : r->segment;
}

static char *slot_of(const relay *r, size_t i) {
    return r->memory ? r->memory + i % r->window * r->segment : NULL;
}

/* Returns where segment I is received. */
static void *target_of(const relay *r, size_t i) {
    return coll_data_target(r->call->data, i * r->segment, slot_of(r, i));
}

static int head_of(const relay *r, int site) {
    int root = r->shape->root;
    return r->shape->topo->places[root].site == site ? root : r->site_state->leads[site];
}

/* --- between sites --- */

static MPI_Request *sends_of(const relay *r, size_t i) {
    return r->sends + i % r->window * (size_t)r->child_count;
}

static int post_receive(const relay *r, size_t i) {
    if (r->parent < 0 || i >= r->segments)
        return MPI_SUCCESS;
    return coll_irecv(r->call->comm, target_of(r, i), (int)length_of(r, i), MPI_BYTE, r->parent,
                      r->tag, &r->receives[i % r->window]);
}

static int send_to_children(const relay *r, size_t i, const void *bytes, size_t length) {
    int code = MPI_SUCCESS;
    for (int child = 0; child < r->child_count && code == MPI_SUCCESS; child++)
        code = coll_isend(r->call->comm, bytes, (int)length, MPI_BYTE, r->children[child], r->tag,
                          &sends_of(r, i)[child]);
    return code;
}

/* Sends arrived segments on to the children, and waits until segment LEAST has arrived. */
static int forward_segments(relay *r, size_t least) {
    int code = MPI_SUCCESS;
    for (; r->taken < r->segments && r->taken < least + r->window; r->taken++) {
        size_t i = r->taken;
        int there = 1;
        if (r->parent >= 0 && i <= least)
            code = coll_wait_all(&r->call->comm->wait, 1, &r->receives[i % r->window], &r->parent);
        else if (r->parent >= 0)
            code = PMPI_Test(&r->receives[i % r->window], &there, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || !there)
            return code;
        const void *bytes = r->parent >= 0 ? target_of(r, i)
                                           : coll_data_read(r->call->data, i * r->segment,
                                                            length_of(r, i), slot_of(r, i));
        code = send_to_children(r, i, bytes, length_of(r, i));
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* Fills in the header on the root, and begins a round of probes if one is due. */
static int fill_header(const relay *r, hlot_kind kind, header *plan) {
    const hlot_tree *tree =
        hlot_site_state_tree(r->site_state, kind, r->segment, r->call->data->bytes);
    *plan = (header){.broadcast = r->site_state->broadcasts};
    for (int i = 0; i < tree->sites; i++) {
        plan->parent[i] = (int8_t)tree->parent[i];
        plan->order[i] = (int8_t)tree->order[i];
    }
    return kind == HLOT_FLAT ? MPI_SUCCESS
                             : hlot_latency_begin(r->site_state->latency, &plan->round);
}

static int receive_first(relay *r, size_t bytes) {
    MPI_Request request;
    int code =
        coll_irecv(r->call->comm, r->first, (int)bytes, MPI_BYTE, MPI_ANY_SOURCE, r->tag, &request);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_wait_all(&r->call->comm->wait, 1, &request, &r->shape->root);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(1, &request);
    return code;
}

/* Finds this head's parent and children in the tree of PLAN. */
static int find_place(relay *r, const header *plan) {
    int sites = r->shape->topo->sites, site = r->site_state->site;
    if (plan->broadcast != r->site_state->broadcasts)
        return coll_error(MPI_ERR_INTERN, "a message of broadcast %u where number %u is expected",
                          (unsigned)plan->broadcast, (unsigned)r->site_state->broadcasts);
    r->parent = plan->parent[site] < 0 ? -1 : head_of(r, plan->parent[site]);
    for (int i = 1; i < sites; i++)
        if (plan->parent[plan->order[i]] == site)
            r->children[r->child_count++] = head_of(r, plan->order[i]);
    return MPI_SUCCESS;
}

/*
 * Receives the first message, which contains the tree; the root makes this message. Sends the
 * message to the children, and posts the first receives.
 */
static int start_head(relay *r, hlot_kind kind, header *first_header) {
    size_t length = length_of(r, 0);
    bool is_root = r->call->comm->rank == r->shape->root;
    int code;
    if (is_root) {
        code = fill_header(r, kind, first_header);
        memcpy(r->first, first_header, sizeof *first_header);
        memcpy(r->first + sizeof *first_header,
               coll_data_read(r->call->data, 0, length, slot_of(r, 0)), length);
    } else {
        code = receive_first(r, sizeof *first_header + length);
        memcpy(first_header, r->first, sizeof *first_header);
    }
    if (code == MPI_SUCCESS)
        code = find_place(r, first_header);
    if (code != MPI_SUCCESS)
        return code;
    code = send_to_children(r, 0, r->first, sizeof *first_header + length);
    if (!is_root)
        memcpy(target_of(r, 0), r->first + sizeof *first_header, length);
    r->taken = 1;
    for (size_t i = 1; i < r->window && code == MPI_SUCCESS; i++)
        code = post_receive(r, i);
    return code;
}

/* --- within a site --- */

/* Broadcasts segment I, which the head has, within this site. */
static int bcast_within_site(const relay *r, size_t i) {
    coll_comm *local = r->site_state->local;
    const coll_topo *topo = r->shape->topo;
    bool is_root = r->call->comm->rank == r->shape->root;
    int head = head_of(r, r->site_state->site), local_head = 0;
    coll_data data;
    if (local->ranks == 1)
        return MPI_SUCCESS;
    for (int rank = 0; rank < head; rank++)
        local_head += topo->places[rank].site == r->site_state->site;
    void *bytes = is_root && !coll_data_in_place(r->call->data)
                      ? slot_of(r, i) /* the segment was packed there when it was sent */
                      : target_of(r, i);
    coll_data_open_bytes(&data, bytes, length_of(r, i));
    coll_shape shape =
        coll_state_shape(coll_state_of(local), COLL_OPERATION_BCAST, data.bytes, local_head);
    const coll_choice choice = coll_state_choose_started(coll_state_of(local), &shape);
    const coll_exec_args call = {.comm = local,
                                 .algorithm = choice.algorithm,
                                 .args = {.shape = &shape,
                                          .values = &choice.values,
                                          .line = coll_rank_order_of(local, &shape),
                                          .own = data.bytes},
                                 .data = &data,
                                 .tag = COLL_TAG_COLLECTIVE};
    return coll_exec_args_run(&call);
}

static void store_segment(const relay *r, size_t i) {
    if (r->call->comm->rank != r->shape->root)
        coll_data_store(r->call->data, i * r->segment, length_of(r, i), slot_of(r, i));
}

/* --- a rank's whole part --- */

static int run_member(relay *r) {
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < r->segments && code == MPI_SUCCESS; i++) {
        code = bcast_within_site(r, i);
        if (code == MPI_SUCCESS)
            store_segment(r, i);
    }
    return code;
}

static int run_head(relay *r, hlot_kind kind, header *first_header) {
    int code = start_head(r, kind, first_header);
    for (size_t i = 0; i < r->segments && code == MPI_SUCCESS; i++) {
        code = forward_segments(r, i);
        if (code == MPI_SUCCESS)
            code = bcast_within_site(r, i);
        if (code != MPI_SUCCESS)
            break;
        store_segment(r, i);
        /* When the sends of the segment are complete, its slot is free for segment i + window. */
        code = coll_wait_all(&r->call->comm->wait, r->child_count, sends_of(r, i), r->children);
        if (code == MPI_SUCCESS && i + r->window < r->segments)
            code = post_receive(r, i + r->window);
    }
    return code;
}

/*
 * Sends the round from the root to the leader of its site, if that is another rank. This leader is
 * not in the tree, so it gets no header.
 */
static int pass_round(const relay *r, header *first_header) {
    coll_comm *comm = r->call->comm;
    uint32_t *round = &first_header->round;
    int root = r->shape->root, home = r->site_state->leads[r->shape->topo->places[root].site];
    if (home == root)
        return MPI_SUCCESS;
    if (comm->rank != root && comm->rank != home)
        return MPI_SUCCESS;
    MPI_Request request = MPI_REQUEST_NULL;
    int peer = comm->rank == root ? home : root, bytes = (int)sizeof *round;
    int code = comm->rank == root
                   ? coll_isend(comm, round, bytes, MPI_BYTE, peer, COLL_TAG_ROUND, &request)
                   : coll_irecv(comm, round, bytes, MPI_BYTE, peer, COLL_TAG_ROUND, &request);
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&comm->wait, 1, &request, &peer);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(1, &request);
    return code;
}

static int take_part_in_round(const relay *r, hlot_kind kind, header *first_header) {
    if (kind == HLOT_FLAT)
        return MPI_SUCCESS;
    int code = pass_round(r, first_header);
    return code == MPI_SUCCESS
               ? hlot_latency_take_part(r->site_state->latency, first_header->round, r->shape->root)
               : code;
}

/* Returns the number of requests: a window of receives, and a window of sends to every site. */
static size_t requests_most(const relay *r) {
    return r->window * (1 + (size_t)r->shape->topo->sites);
}

static int allocate_buffers(relay *r) {
    void *memory;
    size_t requests = requests_most(r) * sizeof *r->receives, first = sizeof(header) + r->segment;
    int code = coll_comm_scratch(
        r->call->comm,
        coll_scratch_bytes(requests) + coll_scratch_bytes(first) + r->window * r->segment, &memory);
    if (code != MPI_SUCCESS)
        return code;
    char *next = memory;
    r->receives = coll_scratch_alloc(&next, requests);
    r->sends = r->receives + r->window;
    r->first = coll_scratch_alloc(&next, first);
    if (!coll_data_in_place(r->call->data))
        r->memory = next;
    for (size_t i = 0; i < requests_most(r); i++)
        r->receives[i] = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int hlot_bcast_runtime_run(const coll_exec_args *call, hlot_kind kind, uint64_t given, int window) {
    hlot_site_state *site_state;
    int code = hlot_site_state_get(call->comm, kind != HLOT_FLAT, &site_state);
    if (code != MPI_SUCCESS)
        return code;
    size_t segment = hlot_site_state_predict(call->args.shape, kind, given, NULL);
    size_t segments = (call->data->bytes + segment - 1) / segment;
    relay r = {.call = call,
               .shape = call->args.shape,
               .site_state = site_state,
               .segment = segment,
               .segments = segments,
               .window = (size_t)window < segments ? (size_t)window : segments,
               .tag = COLL_TAG_WIDE + (int)(site_state->broadcasts % COLL_TAGS_WIDE),
               .parent = -1};
    header first_header = {.round = 0};
    bool heads = head_of(&r, site_state->site) == call->comm->rank;
    code = allocate_buffers(&r);
    if (code != MPI_SUCCESS)
        return code;
    code = heads ? run_head(&r, kind, &first_header) : run_member(&r);
    if (code == MPI_SUCCESS)
        code = take_part_in_round(&r, kind, &first_header);
    site_state->broadcasts++;
    if (code != MPI_SUCCESS)
        coll_wait_abandon((int)requests_most(&r), r.receives);
    return code;
}

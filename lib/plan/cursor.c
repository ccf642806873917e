/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/cursor.h"

#include <string.h>

/* A node waits for its dependencies and for the previous message on its lane. */
enum { LINKS = COLL_STEP_AFTER + 1, NONE = -1 };

static size_t count_nodes(const coll_plan_size *size) {
    return (size_t)size->window * (size_t)size->steps;
}

/* Integers for each round: LEFT, FENCE and END. */
enum { BY_ROUND = 3 };

size_t coll_cursor_bytes(const coll_plan_size *size) {
    size_t nodes = count_nodes(size), ints = (LINKS + 1) * nodes + BY_ROUND * (size_t)size->window;
    return coll_scratch_bytes(nodes * sizeof(coll_node)) +
           coll_scratch_bytes((size_t)size->steps * sizeof(coll_step)) +
           coll_scratch_bytes(nodes * sizeof(uint64_t)) + coll_scratch_bytes(ints * sizeof(int));
}

void coll_cursor_open(coll_cursor *cursor, const coll_plan *plan, void *memory) {
    size_t nodes = count_nodes(&plan->size), window = (size_t)plan->size.window;
    char *scratch = memory;
    *cursor = (coll_cursor){.plan = plan};
    cursor->nodes = coll_scratch_alloc(&scratch, nodes * sizeof *cursor->nodes);
    cursor->steps = coll_scratch_alloc(&scratch, (size_t)plan->size.steps * sizeof *cursor->steps);
    cursor->latest = coll_scratch_alloc(&scratch, nodes * sizeof *cursor->latest);
    cursor->links = (void *)scratch;
    cursor->ready = cursor->links + LINKS * nodes;
    cursor->left = cursor->ready + nodes;
    cursor->fence = cursor->left + window;
    cursor->end = cursor->fence + window;
}

static int count_streams(const coll_cursor *cursor) {
    return coll_plan_streams(&cursor->plan->size);
}

static int stream_of(const coll_cursor *cursor, uint64_t round) {
    const int streams = count_streams(cursor);
    return streams > 1 ? (int)(round % (uint64_t)streams) : 0;
}

void coll_cursor_begin(coll_cursor *cursor) {
    for (int stream = 0; stream < count_streams(cursor); stream++)
        cursor->first[stream] = cursor->next[stream] = (uint64_t)stream;
    cursor->ready_first = cursor->ready_count = 0;
    memset(cursor->latest, 0, count_nodes(&cursor->plan->size) * sizeof *cursor->latest);
}

static int slot_of(const coll_cursor *cursor, uint64_t round) {
    return (int)(round % (uint64_t)cursor->plan->size.window);
}

static int node_of(const coll_cursor *cursor, uint64_t round, int step) {
    return slot_of(cursor, round) * cursor->plan->size.steps + step;
}

static void make_ready(coll_cursor *cursor, int node) {
    int room = (int)count_nodes(&cursor->plan->size);
    cursor->ready[(cursor->ready_first + cursor->ready_count++) % room] = node;
}

/* Makes node WAITING wait for the start or the completion of another node: adds link NTH of WAITING
 * to LIST, the other node's list for that event. */
static void wait_for(coll_cursor *cursor, int waiting, int nth, int *list) {
    int link = waiting * LINKS + nth;
    cursor->links[link] = *list;
    *list = link;
    cursor->nodes[waiting].waits++;
}

/* Removes all nodes from LIST, in the plan's order. Nodes that wait for nothing else become
 * ready. */
static void release_waiting(coll_cursor *cursor, int *list) {
    int link = *list, first = NONE;
    while (link != NONE) { /* reverse the list, which has the last node first */
        int next = cursor->links[link];
        cursor->links[link] = first;
        first = link;
        link = next;
    }
    for (link = first; link != NONE; link = cursor->links[link])
        if (--cursor->nodes[link / LINKS].waits == 0)
            make_ready(cursor, link / LINKS);
    *list = NONE;
}

/*
 * Returns the previous message, before step WHICH of ROUND, with the same direction, lane and peer;
 * NULL if there is none, or if the round of that message is complete. The step becomes the latest
 * message. LATEST is a hash table with chaining; its entries are step numbers, counted over all
 * rounds, plus 1.
 */
static coll_node *message_before(coll_cursor *cursor, uint64_t round, int which) {
    const coll_plan_size *size = &cursor->plan->size;
    coll_node *node = &cursor->nodes[node_of(cursor, round, which)];
    const coll_step *step = &node->step;
    const int stream = stream_of(cursor, round);
    const size_t streams = (size_t)count_streams(cursor), entries = count_nodes(size) / streams,
                 message = ((size_t)step->peer * 2 + (step->kind == COLL_STEP_SEND)) * COLL_LANES +
                           (size_t)step->lane,
                 entry = message % entries * streams + (size_t)stream;
    uint64_t *latest = &cursor->latest[entry], before = *latest;
    node->older = before;
    *latest = round * (uint64_t)size->steps + (uint64_t)which + 1;
    while (before > 0 && (before - 1) / (uint64_t)size->steps >= cursor->first[stream]) {
        coll_node *other = &cursor->nodes[(before - 1) % count_nodes(size)];
        if (other->step.kind == step->kind && other->step.lane == step->lane &&
            other->step.peer == step->peer)
            return other;
        before = other->older;
    }
    return NULL;
}

/* Makes step WHICH of ROUND wait for its dependencies, or makes it ready. */
static void resolve_dependencies(coll_cursor *cursor, uint64_t round, int which) {
    int number = node_of(cursor, round, which);
    const coll_step *step = &cursor->nodes[number].step;
    for (int i = 0; i < step->afters; i++) {
        uint64_t back = (uint64_t)step->after[i].back;
        if (back > round - cursor->first[stream_of(cursor, round)])
            continue; /* that round is complete */
        coll_node *other = &cursor->nodes[node_of(cursor, round - back, step->after[i].step)];
        if (!other->complete)
            wait_for(cursor, number, i, &other->on_complete);
    }
    if (step->after_earlier)
        cursor->nodes[number].waits += which;
    coll_node *previous = coll_step_is_message(step) ? message_before(cursor, round, which) : NULL;
    if (previous && !previous->started)
        wait_for(cursor, number, COLL_STEP_AFTER, &previous->on_start);
    if (cursor->nodes[number].waits == 0)
        make_ready(cursor, number);
}

static void begin_round(coll_cursor *cursor, uint64_t round) {
    const coll_plan *plan = cursor->plan;
    int slot = slot_of(cursor, round), count = plan->round(plan, round, cursor->steps);
    cursor->left[slot] = cursor->fence[slot] = count;
    cursor->end[slot] = 0;
    for (int i = count - 1; i >= 0; i--) {
        coll_node *node = &cursor->nodes[node_of(cursor, round, i)];
        node->step = cursor->steps[i];
        node->round = round;
        node->waits = 0;
        node->started = node->complete = false;
        node->older = 0;
        node->on_start = node->on_complete = NONE;
        if (!cursor->steps[i].after_earlier)
            continue;
        cursor->fence[slot] = i;
        if (cursor->end[slot] == 0)
            cursor->end[slot] = i + 1;
    }
    for (int i = 0; i < count; i++)
        resolve_dependencies(cursor, round, i);
}

/* Retires complete rounds of STREAM in order, then begins its rounds that now fit in the window. */
static void move_window(coll_cursor *cursor, int stream) {
    const coll_plan *plan = cursor->plan;
    const uint64_t apart = (uint64_t)count_streams(cursor);
    uint64_t *first = &cursor->first[stream], *next = &cursor->next[stream];
    for (;;) {
        while (*first < *next && cursor->left[slot_of(cursor, *first)] == 0)
            *first += apart;
        if (*next >= plan->rounds || *next - *first == (uint64_t)plan->size.window)
            return;
        *next += apart;
        begin_round(cursor, *next - apart);
    }
}

const coll_node *coll_cursor_start(coll_cursor *cursor, int *node) {
    for (int stream = 0; cursor->ready_count == 0 && stream < count_streams(cursor); stream++)
        move_window(cursor, stream);
    if (cursor->ready_count == 0)
        return NULL;
    int room = (int)count_nodes(&cursor->plan->size);
    *node = cursor->ready[cursor->ready_first];
    cursor->ready_first = (cursor->ready_first + 1) % room;
    cursor->ready_count--;
    coll_node *started = &cursor->nodes[*node];
    started->started = true;
    release_waiting(cursor, &started->on_start);
    return started;
}

/* Reports the completion of step WHICH, in the round in SLOT, to the later steps of that round that
 * depend on all earlier steps. */
static void release_after_earlier(coll_cursor *cursor, int slot, int which) {
    int first = slot * cursor->plan->size.steps;
    int i = which + 1 > cursor->fence[slot] ? which + 1 : cursor->fence[slot];
    for (; i < cursor->end[slot]; i++) {
        coll_node *node = &cursor->nodes[first + i];
        if (node->step.after_earlier && --node->waits == 0)
            make_ready(cursor, first + i);
    }
}

void coll_cursor_complete(coll_cursor *cursor, int node) {
    coll_node *complete = &cursor->nodes[node];
    int slot = slot_of(cursor, complete->round);
    complete->complete = true;
    release_waiting(cursor, &complete->on_complete);
    release_after_earlier(cursor, slot, node % cursor->plan->size.steps);
    cursor->left[slot]--;
}

bool coll_cursor_ended(const coll_cursor *cursor) {
    for (int stream = 0; stream < count_streams(cursor); stream++)
        if (cursor->first[stream] < cursor->plan->rounds)
            return false;
    return true;
}

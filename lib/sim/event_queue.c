/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/sim/event_queue.h"

/* Without branches, since the processor could not predict them. */
static bool is_before(const coll_event *a, const coll_event *b) {
    return (a->time < b->time) | ((a->time == b->time) & (a->order < b->order));
}

/* Moves EVENT up from the hole at index AT to its place. */
static void sift_up(coll_event events[], int at, coll_event event) {
    for (; at > 0 && is_before(&event, &events[(at - 1) / 2]); at = (at - 1) / 2)
        events[at] = events[(at - 1) / 2];
    events[at] = event;
}

bool coll_event_queue_add(coll_event_queue *queue, int64_t time, int place, int what) {
    enum { ADDED_BITS = 36 };
    if (queue->count == queue->capacity)
        return false;
    const coll_event added = {
        .time = time, .order = ((uint64_t)place << ADDED_BITS) + queue->added++, .what = what};
    sift_up(queue->events, queue->count++, added);
    return true;
}

/* Replaces the first event by the last one: moves the hole down to a leaf first, then the last
 * event up from there, since it mostly belongs near the leaves. */
bool coll_event_queue_take(coll_event_queue *queue, coll_event *event) {
    if (queue->count == 0)
        return false;
    coll_event *events = queue->events, last = events[--queue->count];
    *event = events[0];
    int at = 0, child = 2;
    for (; child < queue->count; at = child, child = 2 * at + 2) {
        child -= is_before(&events[child - 1], &events[child]);
        events[at] = events[child];
    }
    if (child == queue->count) {
        events[at] = events[child - 1];
        at = child - 1;
    }
    sift_up(events, at, last);
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event queue: a binary heap ordered by time, then by a place that the caller gives, then by the
 * order in which events were added. Pure.
 */
#ifndef COLL_LIB_SIM_EVENT_QUEUE_H
#define COLL_LIB_SIM_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_event {
    int64_t time;
    uint64_t order; /* among events of one time: the place, then a count of added events */
    int what;       /* the caller's value */
} coll_event;

typedef struct coll_event_queue {
    coll_event *events; /* the caller's memory, for CAPACITY events */
    int capacity, count;
    uint64_t added;
} coll_event_queue;

/* Adds an event. Returns false if the queue is full. */
bool coll_event_queue_add(coll_event_queue *queue, int64_t time, int place, int what);

/* Removes the next event. Returns false if there is none. */
bool coll_event_queue_take(coll_event_queue *queue, coll_event *event);

#endif

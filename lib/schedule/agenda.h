/*
 * Events in the order of their times; those of one time by the place of whom they belong to,
 * and at one place in the order in which they were added. A binary heap. Pure.
 */
#ifndef COLL_LIB_SCHEDULE_AGENDA_H
#define COLL_LIB_SCHEDULE_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_event {
    int64_t time;
    uint64_t order; /* of those of one time: by place, then as they were added */
    int what;       /* its user's */
} coll_event;

typedef struct coll_agenda {
    coll_event *events; /* its user's, room for so many: */
    int capacity, count;
    uint64_t added;
} coll_agenda;

/* False where there is no room for another one. */
bool coll_agenda_add(coll_agenda *agenda, int64_t time, int place, int what);

/* Takes the next one out; false where there is none. */
bool coll_agenda_take(coll_agenda *agenda, coll_event *event);

#endif

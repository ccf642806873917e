#include "config.h"

#include "lib/schedule/agenda.h"

static bool is_before(const coll_event *a, const coll_event *b) {
    if (a->time != b->time)
        return a->time < b->time;
    return a->place != b->place ? a->place < b->place : a->order < b->order;
}

bool coll_agenda_add(coll_agenda *agenda, int64_t time, int place, int what) {
    if (agenda->count == agenda->capacity)
        return false;
    coll_event *events = agenda->events,
               added = {.time = time, .place = place, .what = what, .order = agenda->added++};
    int at = agenda->count++;
    for (; at > 0 && is_before(&added, &events[(at - 1) / 2]); at = (at - 1) / 2)
        events[at] = events[(at - 1) / 2];
    events[at] = added;
    return true;
}

bool coll_agenda_take(coll_agenda *agenda, coll_event *event) {
    if (agenda->count == 0)
        return false;
    coll_event *events = agenda->events, last = events[--agenda->count];
    *event = events[0];
    int at = 0;
    for (int child; (child = 2 * at + 1) < agenda->count; at = child) {
        if (child + 1 < agenda->count && is_before(&events[child + 1], &events[child]))
            child++;
        if (!is_before(&events[child], &last))
            break;
        events[at] = events[child];
    }
    events[at] = last;
    return true;
}

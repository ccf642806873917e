/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/sim/fair_link.h"

enum { NONE = -1 };

/* Sets SERVED to its value at time NOW. SINCE keeps the remainder of the division for the next
 * call. */
static void advance(coll_fair_link *link, int64_t now) {
    if (link->ranks == 0 || now <= link->since)
        return;
    const int64_t passed = now - link->since;
    link->served += passed / link->ranks;
    link->since = now - passed % link->ranks;
}

void coll_fair_link_add(coll_fair_link *link, coll_fair_message all[], int number,
                        coll_fair_rank *rank, int64_t duration, int64_t now, int64_t free) {
    advance(link, now);
    if (link->ranks == 0)
        link->since = free > now ? free : now;
    const int64_t begin = rank->waiting ? rank->complete : link->served;
    link->ranks += rank->waiting++ == 0;
    rank->complete = all[number].complete = begin + duration;
    int *at = &link->first;
    while (*at != NONE && all[*at].complete <= all[number].complete)
        at = &all[*at].next;
    all[number].next = *at;
    *at = number;
}

void coll_fair_link_delay(coll_fair_link *link, int64_t duration) {
    link->since += duration;
}

int64_t coll_fair_link_end(const coll_fair_link *link, const coll_fair_message all[]) {
    return link->since + (all[link->first].complete - link->served) * link->ranks;
}

void coll_fair_link_remove(coll_fair_link *link, const coll_fair_message all[],
                           coll_fair_rank *rank, int64_t now) {
    advance(link, now);
    link->first = all[link->first].next;
    rank->left = now;
    link->ranks -= --rank->waiting == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/contention.h"

#include "lib/topology/rack_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A search ends after ROUNDS rounds; after SOME if there is no contention; after SEVERAL if there
 * are more groups than half of the hosts. Two groups are two racks if at least ENOUGH more
 * transfers between them are slow than fast; a host belongs to its group if at least ENOUGH more of
 * its transfers there are fast than slow.
 */
enum { ROUNDS = COLL_FIT_ROUNDS, SOME = 4, SEVERAL = 8, ENOUGH = 2 };

/*
 * Transfers inside racks take up to NEAR times the usual time of such transfers, those between
 * racks at least FAR times. Times between these say nothing. There are no racks if less than
 * CONTENDED of all times differ by FAR from the usual one. Racks are found if AGREEING of all times
 * agree with them.
 */
static const double NEAR = 1.35, FAR = 1.6, CONTENDED = 0.2, AGREEING = 0.85;

/* Fitted racks are found if they gain at least GAIN for each host and each natural logarithm of
 * their number, and each change of a host adds at least SURE. If they gain less than half of that,
 * there are none; but not before FILLING transfers, since only some rounds fill the uplinks. */
static const double GAIN = 1.5, SURE = 10;
enum { FILLING = 96 };

/* The usual time is that of times which differ by at most ALIKE: the least times of which SHARE of
 * all, and at least FEWEST, are alike. */
static const double ALIKE = 1.3, SHARE = 0.05;
enum { FEWEST = 3 };

struct coll_contention {
    int hosts, count; /* of transfers */
    uint32_t random;
    coll_transfer *transfers; /* room for ROUNDS * hosts */
    double *sorted;           /* room for as many times */
    int *scores;              /* hosts * hosts: fast transfers less slow ones of two hosts */
    int *between;             /* hosts * hosts: of two groups */
    int *group;               /* of each host, a number below hosts */
    int *size;                /* of each group */
    int *support;             /* of each host: its scores with its group */
    int *to, *order, *others; /* of each host */
};

coll_contention *coll_contention_new(int hosts) {
    const size_t n = (size_t)hosts, bytes = ROUNDS * n * (sizeof(coll_transfer) + sizeof(double)) +
                                            (2 * n * n + 6 * n) * sizeof(int);
    coll_contention *search = calloc(1, sizeof *search + bytes);
    if (!search)
        return NULL;
    search->hosts = hosts;
    search->random = 1;
    search->transfers = (coll_transfer *)(search + 1);
    search->sorted = (double *)(search->transfers + ROUNDS * n);
    search->scores = (int *)(search->sorted + ROUNDS * n);
    search->between = search->scores + n * n;
    search->group = search->between + n * n;
    search->size = search->group + n;
    search->support = search->size + n;
    search->to = search->support + n;
    search->order = search->to + n;
    search->others = search->order + n;
    for (int host = 0; host < hosts; host++)
        search->group[host] = search->order[host] = search->others[host] = host;
    return search;
}

static int *score(const coll_contention *search, int one, int other) {
    return &search->scores[one * search->hosts + other];
}

static int *score_of_groups(const coll_contention *search, int one, int other) {
    return &search->between[one * search->hosts + other];
}

/* --- The next round --- */

static void shuffle(coll_contention *search, int numbers[]) {
    for (int i = search->hosts - 1; i > 0; i--) {
        search->random = search->random * UINT32_C(1664525) + UINT32_C(1013904223);
        const int j = (int)((search->random >> 8) % (uint32_t)(i + 1)), swapped = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = swapped;
    }
}

/* Returns how much a transfer between two hosts is wanted: most if it is uncertain whether the
 * hosts belong to one group, or whether their groups are one rack; least if they surely are in one
 * group. */
static int value_of(const coll_contention *search, int from, int to) {
    const int one = search->group[from], other = search->group[to];
    if (from == to)
        return 0;
    if (one == other)
        return search->support[from] < ENOUGH || search->support[to] < ENOUGH ? 3 : 1;
    return *score_of_groups(search, one, other) <= -ENOUGH ? 2 : 3;
}

/* Chooses to whom FROM sends: to one of the first LEFT others, which is moved behind these. */
static int choose_receiver(coll_contention *search, int from, int left) {
    int best = 0;
    for (int i = 1; i < left; i++)
        if (value_of(search, from, search->others[i]) >
            value_of(search, from, search->others[best]))
            best = i;
    const int to = search->others[best], one = search->group[from], other = search->group[to];
    search->others[best] = search->others[left - 1];
    search->others[left - 1] = to;
    /* so that this round does not have many transfers between the same two groups */
    (*score_of_groups(search, one, other))--;
    (*score_of_groups(search, other, one))--;
    return to;
}

const int *coll_contention_next(coll_contention *search) {
    const int hosts = search->hosts, last = hosts - 1;
    shuffle(search, search->order);
    shuffle(search, search->others);
    for (int i = 0; i < hosts; i++)
        search->to[search->order[i]] = choose_receiver(search, search->order[i], hosts - i);
    const int *order = search->order;
    if (search->to[order[last]] == order[last]) { /* nobody else was left */
        search->to[order[last]] = search->to[order[0]];
        search->to[order[0]] = order[last];
    }
    return search->to;
}

/* --- What the times say --- */

static int ascending(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Returns how many of the COUNT sorted TIMES, from the first on, are alike. */
static int count_alike(int count, const double times[]) {
    int alike = 0;
    while (alike < count && times[alike] <= ALIKE * times[0])
        alike++;
    return alike;
}

/* Returns the usual time of a transfer inside a rack, or 0 if no times are alike. */
static double usual_time(const coll_contention *search) {
    int count = 0, first = 0;
    double *times = search->sorted;
    for (int i = 0; i < search->count; i++)
        if (search->transfers[i].seconds > 0)
            times[count++] = search->transfers[i].seconds;
    qsort(times, (size_t)count, sizeof *times, ascending);
    const int few = (int)(SHARE * count), fewest = few > FEWEST ? few : FEWEST;
    while (first < count && count_alike(count - first, &times[first]) < fewest)
        first++;
    if (first == count)
        return 0;
    for (int i = first; i < count && times[i] <= ALIKE * times[first]; i++)
        if (count_alike(count - i, &times[i]) > count_alike(count - first, &times[first]))
            first = i;
    return times[first + count_alike(count - first, &times[first]) / 2];
}

/* Returns 1 for a fast transfer, -1 for a slow one, or 0. A time far below the usual one says
 * nothing, since no transfer exceeds the rate of a link. */
static int vote_of(const coll_transfer *one, double usual) {
    if (fabs(one->seconds) >= FAR * usual)
        return -1;
    return one->seconds >= usual / FAR && one->seconds <= NEAR * usual ? 1 : 0;
}

/* Returns whether the times show that transfers hinder each other. */
static bool are_contended(const coll_contention *search, double usual) {
    int known = 0, different = 0;
    for (int i = 0; i < search->count; i++) {
        const double seconds = search->transfers[i].seconds;
        const bool slow = vote_of(&search->transfers[i], usual) < 0;
        known += seconds > 0 || slow;
        different += slow || (seconds > 0 && seconds < usual / FAR);
    }
    return different > CONTENDED * known;
}

static void count_scores(coll_contention *search, double usual) {
    const size_t hosts = (size_t)search->hosts;
    memset(search->scores, 0, hosts * hosts * sizeof *search->scores);
    for (int i = 0; i < search->count; i++) {
        const coll_transfer *one = &search->transfers[i];
        const int vote = vote_of(one, usual);
        *score(search, one->from, one->to) += vote;
        *score(search, one->to, one->from) += vote;
    }
}

/* --- Groups --- */

static void put(coll_contention *search, int host, int group) {
    search->size[search->group[host]]--;
    search->size[group]++;
    search->group[host] = group;
}

static int find_empty_group(const coll_contention *search) {
    int group = 0;
    while (search->size[group] > 0)
        group++;
    return group;
}

/* Moves HOST to the group with which it has the most fast transfers, or to a group of its own.
 * Returns whether it was in another group. */
static bool move_host(coll_contention *search, int host) {
    int *sums = search->between, best = search->group[host];
    memset(sums, 0, (size_t)search->hosts * sizeof *sums);
    for (int other = 0; other < search->hosts; other++)
        sums[search->group[other]] += *score(search, host, other);
    for (int group = 0; group < search->hosts; group++)
        if (sums[group] > 0 && sums[group] > sums[best])
            best = group;
    if (sums[best] < 0)
        best = find_empty_group(search);
    const bool moved = best != search->group[host];
    put(search, host, best);
    return moved;
}

static void compare_groups(coll_contention *search) {
    const int hosts = search->hosts;
    memset(search->between, 0, (size_t)hosts * (size_t)hosts * sizeof *search->between);
    for (int one = 0; one < hosts; one++)
        for (int other = 0; other < hosts; other++)
            *score_of_groups(search, search->group[one], search->group[other]) +=
                *score(search, one, other);
}

/* Merges the two groups that have the most fast transfers between them. Returns false if there are
 * none. */
static bool merge_groups(coll_contention *search) {
    int best = 0, one = 0, other = 0;
    for (int a = 0; a < search->hosts; a++)
        for (int b = 0; b < a; b++)
            if (*score_of_groups(search, a, b) > best) {
                best = *score_of_groups(search, a, b);
                one = a;
                other = b;
            }
    for (int host = 0; best > 0 && host < search->hosts; host++)
        if (search->group[host] == one)
            put(search, host, other);
    return best > 0;
}

/* Divides the hosts into groups. Each move makes the sum of the scores inside groups larger, so
 * that this ends. */
static void find_groups(coll_contention *search) {
    bool changed = true;
    for (int host = 0; host < search->hosts; host++) {
        search->group[host] = host;
        search->size[host] = 1;
    }
    while (changed) {
        changed = false;
        for (int host = 0; host < search->hosts; host++)
            changed = move_host(search, host) || changed;
        compare_groups(search);
        changed = merge_groups(search) || changed;
    }
}

static void count_support(coll_contention *search) {
    for (int host = 0; host < search->hosts; host++) {
        search->support[host] = 0;
        for (int other = 0; other < search->hosts; other++)
            if (search->group[host] == search->group[other])
                search->support[host] += *score(search, host, other);
    }
}

static int count_groups(const coll_contention *search) {
    int count = 0;
    for (int group = 0; group < search->hosts; group++)
        count += search->size[group] > 0;
    return count;
}

/* Returns whether the groups are racks: there are several, all are known to be different, their
 * hosts belong to them, and most times agree with them. */
static bool are_racks(const coll_contention *search, double usual) {
    int votes = 0, agreeing = 0;
    for (int one = 0; one < search->hosts; one++) {
        if (search->support[one] < ENOUGH && search->size[search->group[one]] > 1)
            return false;
        for (int other = 0; other < one; other++) {
            const int a = search->group[one], b = search->group[other];
            if (a != b && *score_of_groups(search, a, b) > -ENOUGH)
                return false;
        }
    }
    for (int i = 0; i < search->count; i++) {
        const coll_transfer *t = &search->transfers[i];
        const int vote = vote_of(t, usual);
        votes += vote != 0;
        agreeing += vote == (search->group[t->from] == search->group[t->to] ? 1 : -1);
    }
    return agreeing >= AGREEING * votes && count_groups(search) > 1;
}

/* Divides the hosts into racks that explain all times, including those of fast transfers between
 * racks. */
static coll_contention_result fit_racks(coll_contention *search, int rounds, double usual) {
    coll_rack_fit fit;
    if (search->hosts > COLL_FIT_HOSTS || !(usual > 0) ||
        coll_rack_fit_make(search->hosts, rounds, search->transfers, usual, &fit) != 0)
        return COLL_CONTENTION_NONE;
    const double needed = GAIN * search->hosts * log(fit.racks);
    if (fit.racks > 1 && 2 * fit.racks <= search->hosts && fit.gain >= needed &&
        fit.margin >= SURE) {
        memcpy(search->group, fit.rack, (size_t)search->hosts * sizeof *search->group);
        return COLL_CONTENTION_FOUND;
    }
    const bool hopeless = fit.racks == 1 || fit.gain < needed / 2;
    return rounds == ROUNDS || (hopeless && search->count >= FILLING) ? COLL_CONTENTION_NONE
                                                                      : COLL_CONTENTION_UNKNOWN;
}

coll_contention_result coll_contention_add(coll_contention *search, const double seconds[]) {
    for (int host = 0; host < search->hosts; host++) {
        const int to = search->to[host];
        search->transfers[search->count++] = (coll_transfer){host, to, seconds[to]};
    }
    const int rounds = search->count / search->hosts;
    const double usual = usual_time(search);
    const bool contended = rounds < SOME || are_contended(search, usual);
    count_scores(search, usual);
    find_groups(search);
    count_support(search);
    if (contended && are_racks(search, usual))
        return COLL_CONTENTION_FOUND;
    const bool scattered = rounds >= SEVERAL && 2 * count_groups(search) > search->hosts;
    if (contended && !scattered && rounds < ROUNDS)
        return COLL_CONTENTION_UNKNOWN;
    return fit_racks(search, rounds, usual);
}

void coll_contention_racks(const coll_contention *search, int racks[]) {
    int count = 0;
    for (int host = 0; host < search->hosts; host++) {
        int first = 0;
        while (search->group[first] != search->group[host])
            first++;
        racks[host] = first < host ? racks[first] : count++;
    }
}

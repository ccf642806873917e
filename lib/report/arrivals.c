/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/arrivals.h"

#include "lib/algorithm/operations.h"
#include "lib/base/hash.h"
#include "lib/report/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rank or host is named only if the others wait for it for at least this fraction of their time
 * in these calls. */
static const double MATTERS = 0.05;

/*
 * At least this fraction of the lateness must have arisen outside these calls: in a series of calls
 * some rank leaves the algorithm last each time, and so enters the next call last.
 */
static const double OWN_FAULT = 0.5;

/* A rank or host is named only if its lateness is more than this many times the clocks' error. */
static const double CERTAIN = 2;

/*
 * A rank that is late now and then is named if it was late at least OFTEN times, and if its
 * lateness is at least MAINLY of all ranks' lateness. With lower limits a rank would often be named
 * by chance, because of random delays.
 */
enum { OFTEN = 5 };
static const double MAINLY = 0.75;

/*
 * The work moves between ranks if at least MOSTLY of the events have a last rank whose lateness is
 * its own fault, if the median of these delays is above FAR times the median time between the first
 * and the second last rank, and if the delays are similar: their interquartile range is at most
 * REGULARLY of their median. Random delays of all ranks look different: the second last rank is
 * late, too, and the delays differ by more. No rank may be last more than TWICE as often as if the
 * late ranks took turns.
 */
static const double FAR = 2, REGULARLY = 0.75, MOSTLY = 0.67, TWICE = 2;

/*
 * Delays come at a fixed period if the interquartile range of the times between them is at most
 * this fraction of their median.
 */
static const double REGULAR = 0.2;

typedef struct event {
    uint64_t comm, group, number;
    int ranks, seen;
    coll_operation operation;
    int last;               /* the rank that entered last */
    int64_t last_entered;   /* ns */
    int64_t second_entered; /* the latest of all other ranks */
    int64_t first_entered;  /* the earliest of all ranks */
    int64_t other_entered;  /* the latest on another host than LAST's; INT64_MIN: there is none */
    int64_t last_outside;   /* ns from the end of LAST's previous event to its entry; -1: unknown */
    double outside; /* s: the sum of these times of all ranks; negative: unknown for some rank */
    double entered, inside; /* sums of all ranks: s from FIRST to the entry, and s inside */
    int64_t first;          /* ns: the entry of the rank whose part was added first */
} event;

struct coll_arrivals {
    bool incomplete;
    const int *host;
    event *events;
    size_t count, room;
    size_t *buckets; /* a hash table of 2 * ROOM indices in EVENTS, plus 1 */
};

coll_arrivals *coll_arrivals_make(const int host[]) {
    coll_arrivals *all = calloc(1, sizeof *all);
    if (all)
        all->host = host;
    return all;
}

void coll_arrivals_free(coll_arrivals *all) {
    if (!all)
        return;
    free(all->events);
    free(all->buckets);
    free(all);
}

static size_t *bucket_of(const coll_arrivals *all, uint64_t comm, uint64_t number) {
    const size_t buckets = 2 * all->room;
    size_t at = (size_t)(coll_hash(comm, &number, sizeof number) % buckets);
    while (all->buckets[at] && (all->events[all->buckets[at] - 1].comm != comm ||
                                all->events[all->buckets[at] - 1].number != number))
        at = (at + 1) % buckets;
    return &all->buckets[at];
}

static bool enlarge(coll_arrivals *all) {
    enum { FIRST = 1024 };
    const size_t room = all->room ? 2 * all->room : FIRST;
    size_t *buckets = calloc(2 * room, sizeof *buckets);
    event *events = buckets ? realloc(all->events, room * sizeof *events) : NULL;
    if (!events) {
        free(buckets);
        return false;
    }
    free(all->buckets);
    all->buckets = buckets;
    all->events = events;
    all->room = room;
    for (size_t i = 0; i < all->count; i++)
        *bucket_of(all, events[i].comm, events[i].number) = i + 1;
    return true;
}

/* Returns event NUMBER on the communicator of SERIES; adds it if it is new, with the operation and
 * the entry of PART, a rank's part in it. Returns NULL if out of memory. */
static event *find_event(coll_arrivals *all, const coll_job_series *series, uint64_t number,
                         const coll_recorded_call *part) {
    if (all->count == all->room && !enlarge(all))
        return NULL;
    size_t *bucket = bucket_of(all, series->comm, number);
    if (!*bucket) {
        all->events[all->count] = (event){.comm = series->comm,
                                          .group = series->group,
                                          .number = number,
                                          .ranks = (int)series->ranks,
                                          .operation = part->operation,
                                          .last = -1,
                                          .last_entered = INT64_MIN,
                                          .second_entered = INT64_MIN,
                                          .first_entered = INT64_MAX,
                                          .other_entered = INT64_MIN,
                                          .first = part->entered};
        *bucket = ++all->count;
    }
    return &all->events[*bucket - 1];
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Adds RANK's PART to the event TO. OUTSIDE is the time in ns since the rank left the
 * communicator's previous event; -1: unknown. */
static void add_part(event *to, const int host[], int rank, const coll_recorded_call *part,
                     int64_t outside) {
    const bool same_host = to->last >= 0 && host[to->last] == host[rank];
    if (part->entered > to->last_entered) {
        to->second_entered = to->last_entered;
        if (!same_host && to->last >= 0)
            to->other_entered = to->last_entered;
        to->last = rank;
        to->last_entered = part->entered;
        to->last_outside = outside;
    } else {
        to->second_entered = later(to->second_entered, part->entered);
        if (!same_host)
            to->other_entered = later(to->other_entered, part->entered);
    }
    if (part->entered < to->first_entered)
        to->first_entered = part->entered;
    if (to->operation != part->operation)
        to->ranks = -1; /* the ranks disagree: never complete */
    to->seen++;
    to->outside = outside < 0 || to->outside < 0 ? -1 : to->outside + 1e-9 * (double)outside;
    to->entered += 1e-9 * (double)(part->entered - to->first);
    to->inside += 1e-9 * (double)(part->left - part->entered);
}

bool coll_arrivals_add(coll_arrivals *all, int rank, const coll_job_series *series,
                       const coll_recorded_call parts[]) {
    for (int64_t i = 0; i < series->count; i++) {
        if (parts[i].operation == COLL_RECORDED_FAILURE)
            continue; /* so this event never becomes complete */
        event *to = find_event(all, series, series->first + (uint64_t)i, &parts[i]);
        if (!to) {
            all->incomplete = true;
            return false;
        }
        add_part(to, all->host, rank, &parts[i],
                 i == 0 ? -1 : parts[i].entered - parts[i - 1].left);
    }
    return true;
}

/* --- Findings --- */

static int by_kind(const void *a, const void *b) {
    const event *one = a, *other = b;
    if (one->operation != other->operation)
        return one->operation < other->operation ? -1 : 1;
    if (one->group != other->group)
        return one->group < other->group ? -1 : 1;
    return 0;
}

/* Orders events by kind, and events of one kind by time. */
static int by_kind_and_time(const void *a, const void *b) {
    const event *one = a, *other = b;
    const int order = by_kind(a, b);
    return order ? order
                 : (one->last_entered > other->last_entered) -
                       (one->last_entered < other->last_entered);
}

static int by_number(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double median(double values[], int count) {
    qsort(values, (size_t)count, sizeof *values, by_number);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Events of one operation and group, all complete. */
typedef struct series {
    const int *host;
    const event *events;
    int count;
    double error; /* s, of the clocks */
    double each;  /* s that a rank spends in an event, on average */
} series;

/* Memory for a series: two numbers for each event; a counter, and a sum, for each candidate. */
typedef struct scratch {
    double *numbers, *sums;
    int *counts;
} scratch;

static int candidate_of(const series *of, const event *one, bool hosts) {
    return hosts ? of->host[one->last] : one->last;
}

/*
 * Lists the events in which WHO, a rank or a host, was last, and returns their number. Sets LATE to
 * the seconds by which WHO was later than the others, and OWN to the seconds by which the last rank
 * was outside the calls for longer than the others were on average (0 if unknown). If HOSTS, leaves
 * out events whose ranks are all on one host.
 */
static int list_lateness(const series *of, bool hosts, int who, double late[], double own[]) {
    int count = 0;
    for (int i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        const int64_t before = hosts ? one->other_entered : one->second_entered;
        if (candidate_of(of, one, hosts) != who || before == INT64_MIN)
            continue;
        const double outside = 1e-9 * (double)one->last_outside;
        late[count] = 1e-9 * (double)(one->last_entered - before);
        own[count++] = one->outside < 0 ? 0 : outside - (one->outside - outside) / (one->ranks - 1);
    }
    return count;
}

/* Returns the rank or host that was last most often, and sets *TIMES to how often it was.
 * Overwrites COUNTS. */
static int find_most_frequent(const series *of, bool hosts, int counts[], int *times) {
    int who = -1;
    *times = 0;
    for (int i = 0; i < of->count; i++)
        counts[candidate_of(of, &of->events[i], hosts)] = 0;
    for (int i = 0; i < of->count; i++) {
        const int one = candidate_of(of, &of->events[i], hosts);
        if (++counts[one] > *times) {
            *times = counts[one];
            who = one;
        }
    }
    return who;
}

/*
 * Sets FOUND to the rank, or the host if HOSTS, that was last most often. Returns whether it stands
 * out: with N candidates (N is 2 if HOSTS) it was last in at least 1/2 + 1/(2 N) of the events; its
 * median lateness is more than CERTAIN times the clocks' ERROR and arose mostly outside the calls;
 * and the sum of its lateness is at least MATTERS of a rank's time in these events.
 */
static bool stands_out(const series *of, bool hosts, const scratch *memory, coll_lateness *found) {
    const double candidates = hosts ? 2 : found->ranks;
    double *late = memory->numbers, *own = late + of->count;
    int times;
    const int who = find_most_frequent(of, hosts, memory->counts, &times);
    const int known = list_lateness(of, hosts, who, late, own);
    found->who = who;
    found->share = (double)times / of->count;
    found->seconds = found->lost = 0;
    if (known == 0)
        return false;
    for (int i = 0; i < known; i++)
        found->lost += late[i];
    found->seconds = median(late, known);
    return found->share >= 0.5 + 0.5 / candidates && found->seconds > CERTAIN * of->error &&
           median(own, known) >= OWN_FAULT * found->seconds &&
           found->lost >= MATTERS * of->each * of->count;
}

/* --- Ranks that are late now and then --- */

/* Returns the seconds by which the last rank of ONE was later than the others. */
static double lateness_of(const event *one) {
    return 1e-9 * (double)(one->last_entered - one->second_entered);
}

/* Returns whether most of the last rank's lateness in ONE arose outside the calls. */
static bool is_own_fault(const event *one) {
    const double outside = 1e-9 * (double)one->last_outside,
                 others = (one->outside - outside) / (one->ranks - 1);
    return one->outside >= 0 && outside - others >= OWN_FAULT * lateness_of(one);
}

/* Returns the period, in seconds, of the events in which WHO was late by at least LEAST seconds
 * through its own fault; 0 if there are fewer than OFTEN such events, or if they have no fixed
 * period. */
static double period_of(const series *of, int who, double least, double between[]) {
    int64_t before = INT64_MIN;
    int count = 0;
    for (int i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        if (one->last != who || lateness_of(one) < least || !is_own_fault(one))
            continue;
        if (before != INT64_MIN)
            between[count++] = 1e-9 * (double)(one->last_entered - before);
        before = one->last_entered;
    }
    if (count < OFTEN - 1)
        return 0;
    const double middle = median(between, count),
                 spread = between[3 * count / 4] - between[count / 4];
    return spread <= REGULAR * middle ? middle : 0;
}

/*
 * Sets FOUND to the rank whose own delays have the largest sum. Returns whether the rank stands
 * out: it has at least OFTEN such delays, whose sum is at least MAINLY of the lateness of all ranks
 * and MATTERS of a rank's time in these events, and the OFTENth longest is more than CERTAIN times
 * the clocks' error. A delay counts at most as much as the rank's OFTENth longest, so that a few
 * long delays don't make a rank stand out.
 */
static bool is_late_at_times(const series *of, const scratch *memory, coll_lateness *found) {
    double *sums = memory->sums, *late = memory->numbers, all = 0;
    int who = -1, count = 0, times = 0;
    for (int i = 0; i < of->count; i++)
        sums[of->events[i].last] = 0;
    for (int i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        if (is_own_fault(one))
            sums[one->last] += lateness_of(one);
        if (who < 0 || sums[one->last] > sums[who])
            who = one->last;
    }
    for (int i = 0; i < of->count; i++)
        if (of->events[i].last == who && is_own_fault(&of->events[i]))
            late[count++] = lateness_of(&of->events[i]);
    if (count < OFTEN)
        return false;
    qsort(late, (size_t)count, sizeof *late, by_number);
    const double most = late[count - OFTEN], least = most / 2;
    double lost = 0, lasted = 0;
    for (int i = 0; i < count; i++) {
        lasted += fmin(late[i], most);
        lost += late[i] >= least ? late[i] : 0;
        times += late[i] >= least;
    }
    for (int i = 0; i < of->count; i++)
        all += fmin(lateness_of(&of->events[i]), most);
    found->who = who;
    found->share = (double)times / of->count;
    found->seconds = late[count - (times + 1) / 2];
    found->lost = lost;
    found->period = period_of(of, who, least, late + of->count);
    return most > CERTAIN * of->error && lasted >= MAINLY * all &&
           lasted >= MATTERS * of->each * of->count;
}

/* --- Work that moves --- */

/*
 * Sets FOUND to the ranks that are late in turn. Returns whether they stand out: see FAR. Two ranks
 * are not enough, since of two ranks the later one is always late alone.
 */
static bool moves(const series *of, const scratch *memory, coll_lateness *found) {
    double *late = memory->numbers, *others = late + of->count, lost = 0;
    int count = 0, most = 0;
    for (int i = 0; i < of->count; i++)
        memory->counts[of->events[i].last] = 0;
    found->late_ranks = 0;
    for (int i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        if (!is_own_fault(one))
            continue;
        late[count] = lateness_of(one);
        others[count] = 1e-9 * (double)(one->second_entered - one->first_entered);
        lost += late[count++];
        found->late_ranks += memory->counts[one->last]++ == 0;
        most = memory->counts[one->last] > most ? memory->counts[one->last] : most;
    }
    if (found->ranks < 3 || count < MOSTLY * of->count)
        return false;
    found->seconds = median(late, count);
    found->share = (double)count / of->count;
    found->lost = lost;
    return found->seconds > FAR * median(others, count) && found->seconds > CERTAIN * of->error &&
           late[3 * count / 4] - late[count / 4] <= REGULARLY * found->seconds &&
           most * found->late_ranks <= TWICE * count && lost >= MATTERS * of->each * of->count;
}

static void find_late(const series *of, const scratch *memory, coll_lateness *found) {
    coll_lateness host = *found, at_times = *found, moving = *found;
    found->late = COLL_LATE_RANK;
    host.late = COLL_LATE_HOST;
    at_times.late = COLL_LATE_AT_TIMES;
    moving.late = COLL_LATE_MOVES;
    if (stands_out(of, false, memory, found))
        return;
    if (stands_out(of, true, memory, &host))
        *found = host;
    else if (is_late_at_times(of, memory, &at_times))
        *found = at_times;
    else if (moves(of, memory, &moving))
        *found = moving;
    else if (found->seconds > CERTAIN * of->error || found->share < 0.5 + 0.5 / found->ranks)
        found->late = COLL_LATE_NOBODY;
    else
        found->late = COLL_LATE_UNKNOWN;
}

static void judge(series *of, const scratch *memory, coll_lateness *found) {
    *found = (coll_lateness){.operation = of->events->operation,
                             .ranks = of->events->ranks,
                             .events = of->count,
                             .waits = coll_operation_synchronizes(of->events->operation)};
    for (int i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        const double last = 1e-9 * (double)(one->last_entered - one->first);
        found->inside += one->inside;
        found->waiting += fmin(one->inside, fmax(0, last * one->ranks - one->entered));
    }
    of->each = found->inside / of->count / found->ranks;
    if (of->count >= COLL_ARRIVALS_FEWEST)
        find_late(of, memory, found);
}

static int by_most_time(const void *a, const void *b) {
    const coll_lateness *one = a, *other = b;
    return (one->inside < other->inside) - (one->inside > other->inside);
}

int coll_arrivals_find(coll_arrivals *all, double error, coll_lateness found[], int most) {
    size_t complete = 0;
    int highest = 0, count = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->events[i].seen != all->events[i].ranks || all->events[i].ranks < 2)
            continue;
        all->events[complete++] = all->events[i];
        highest = all->events[i].last > highest ? all->events[i].last : highest;
    }
    all->count = complete;
    const size_t ranks = (size_t)highest + 1;
    const scratch memory = {.numbers = malloc((2 * complete + 1) * sizeof *memory.numbers),
                            .sums = malloc(ranks * sizeof *memory.sums),
                            .counts = malloc(ranks * sizeof *memory.counts)};
    const bool good = memory.numbers && memory.sums && memory.counts && !all->incomplete;
    if (complete > 0)
        qsort(all->events, complete, sizeof *all->events, by_kind_and_time);
    for (size_t i = 0, next; i < complete && good; i = next) {
        for (next = i + 1; next < complete && by_kind(&all->events[i], &all->events[next]) == 0;)
            next++;
        coll_lateness one;
        judge(&(series){.host = all->host,
                        .events = &all->events[i],
                        .count = (int)(next - i),
                        .error = error},
              &memory, &one);
        coll_list_insert(found, &count, most, &one, sizeof one, by_most_time);
    }
    free(memory.numbers);
    free(memory.sums);
    free(memory.counts);
    return count;
}

double coll_arrivals_drift(int count, const int64_t time[], double apart[]) {
    enum { FEWEST = 60, THIRDS = 3 };
    static const double LONG = 2e9;  /* ns: in less time clocks don't move apart by much */
    static const double MOST = 5e-4; /* NTP corrects a clock's rate by at most this */
    const int third = count / THIRDS;
    if (count < FEWEST)
        return 0;
    double *end = apart + count - third;
    const double passed = (double)(time[count - 1 - third / 2] - time[third / 2]);
    if (passed < LONG)
        return 0;
    qsort(apart, (size_t)third, sizeof *apart, by_number);
    qsort(end, (size_t)third, sizeof *apart, by_number);
    /* If the medians of the first and the last third differ by more than the sum of their
     * interquartile ranges, that is a drift; else it may be noise. */
    const double spread =
                     apart[3 * third / 4] - apart[third / 4] + end[3 * third / 4] - end[third / 4],
                 moved = end[third / 2] - apart[third / 2];
    return fabs(moved) > spread && fabs(moved) <= MOST * passed ? moved / passed : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/sim/estimate.h"

#include "lib/base/comm.h"
#include "lib/sim/link_load.h"
#include "lib/sim/sim.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>

/* The budget of an estimate: EVENTS for up to RANKS ranks, above that in proportion to the ranks,
 * up to EVENTS_MOST. A simulation of a subset of the ranks gets 1/PART of the budget. */
enum { EVENTS = 6000, PART = 4, RANKS = 150, EVENTS_MOST = 32000 };

/* BEGIN: rounds simulated for the start-up time. BEHIND: rounds beyond the window that are
 * simulated for the rate (the time of a round). PACE_LEAST: fewest rounds of all ranks that give a
 * rate. */
enum { BEGIN = 2, BEHIND = 2, PACE_LEAST = 6 };

/* Sizes of a subset of ranks: fewer are not representative; plans for more take long to make. */
enum { RANKS_LEAST = 4, RANKS_MOST = 512 };

/* Static memory, the same on all ranks: an allocation could fail on one rank alone, and the ranks
 * would choose differently. */
enum { RESERVE = 10 << 20, MESSAGES = 1 << 13 };
static alignas(max_align_t) char reserve[RESERVE];
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct estimate {
    const coll_algorithm *algorithm;
    const coll_shape *whole;
    const coll_values *values;
    double enough;        /* s; 0: no limit */
    double events;        /* most events of a simulation */
    bool allocates;       /* simulations allocate their memory */
    coll_link_load load;  /* of all ranks */
    coll_traffic traffic; /* its result */
    coll_place *places;   /* of a subset of the ranks */
    int *numbers;         /* scratch for numbering its nodes, racks and sites */
    double *latencies;    /* between its sites */
    char *room;
    size_t left; /* bytes of ROOM */
} estimate;

/* --- Subsets of the ranks --- */

static int half(int ranks) {
    return (ranks + 1) / 2;
}

static const coll_place *place_in_subset(const estimate *e, int i, int count) {
    const coll_topo *whole = e->whole->topo;
    return &whole->places[e->load.line->order[(int64_t)i * whole->ranks / count]];
}

/* Returns the topology of COUNT ranks, evenly chosen from the chain order. */
static coll_topo subset_topology(const estimate *e, int count) {
    coll_topo subset = *e->whole->topo;
    subset.ranks = count;
    subset.places = e->places;
    for (int i = 0; i < count; i++)
        subset.places[i] = *place_in_subset(e, i, count);
    coll_topo_number(&subset, e->whole->topo, e->numbers);
    return subset;
}

/* Returns the latencies between the sites of SUBSET, by its site numbers; NULL if unknown. */
static const double *subset_latencies(const estimate *e, const coll_topo *subset) {
    const double *latencies = e->whole->latencies;
    int *before = e->numbers;
    for (int i = 0; i < subset->ranks; i++)
        before[subset->places[i].site] = place_in_subset(e, i, subset->ranks)->site;
    for (int i = 0; latencies && i < subset->sites * subset->sites; i++)
        e->latencies[i] = latencies[before[i / subset->sites] * e->whole->topo->sites +
                                    before[i % subset->sites]];
    return latencies ? e->latencies : NULL;
}

/* A subset of the ranks, or all of them. */
typedef struct subset {
    coll_shape shape;
    coll_topo topo;
    coll_link_load load;
    char *room; /* memory for a simulation */
    size_t left;
} subset;

static bool open_subset(const estimate *e, int ranks, subset *p) {
    *p = (subset){.shape = *e->whole, .room = e->room, .left = e->left};
    if (ranks < e->whole->topo->ranks) {
        p->topo = subset_topology(e, ranks);
        p->shape.topo = &p->topo;
        p->shape.latencies = subset_latencies(e, &p->topo);
        p->shape.root = p->shape.root == COLL_NO_ROOT ? COLL_NO_ROOT : 0;
    }
    return coll_link_load_open(&p->load, e->algorithm, &p->shape, e->values, e->whole->topo,
                               &p->room, &p->left);
}

/* Counts a sample of steps that takes about as long as a short simulation. */
static coll_traffic count_sample(coll_link_load *load, uint64_t rounds) {
    enum { ASKED = 4, STEPS = 1 << 12 };
    return coll_link_load_count(load, rounds, ASKED, STEPS);
}

/* --- Simulations --- */

/* Simulates the first ROUNDS rounds, or all if ROUNDS is 0. Returns false if that takes more than
 * twice EVENTS or more memory than there is, or if these rounds wait for later ones. */
static bool simulate(const estimate *e, const subset *p, uint64_t rounds, double events,
                     coll_sim_result *result) {
    const bool all = p->shape.topo == e->whole->topo;
    const coll_sim_call call = {
        .algorithm = e->algorithm,
        .planner = e->algorithm->planner,
        .shape = &p->shape,
        .values = e->values,
        .whole = e->whole->topo,
        .rounds = rounds,
        .budget = (int)fmin(2 * events, INT_MAX), /* EVENTS is itself an estimate */
        .enough = all && e->enough > 0 && e->enough < 1e9 ? (int64_t)(e->enough * 1e9) + 1 : 0,
        .messages = e->allocates ? 0 : MESSAGES,
        .memory = e->allocates ? NULL : p->room,
        .bytes = p->left};
    return coll_simulate(&call, result) == MPI_SUCCESS && result->time != COLL_SIM_UNKNOWN;
}

/* Results of a simulation of the first rounds, in seconds. */
typedef struct sample {
    double time, pace;               /* time of all these rounds; time of one further round */
    double rank_seconds, of_a_round; /* busy time of the busiest rank in TIME and in PACE */
} sample;

/* Simulates the first ROUNDS rounds of a subset of RANKS ranks. Returns false if that exceeds
 * EVENTS or the memory. */
static bool simulate_subset(const estimate *e, int ranks, uint64_t rounds, double events,
                            sample *found) {
    subset p;
    coll_sim_result result;
    *found = (sample){.time = 0};
    if (ranks == 1) /* there is no plan */
        return true;
    if (!open_subset(e, ranks, &p))
        return false;
    const coll_traffic all = count_sample(&p.load, rounds);
    if (all.events > events || !simulate(e, &p, rounds, events, &result))
        return false;
    /* The faster half gives the rate: a TCP timeout, which occurs once, is in the other one. */
    const int64_t half_of_time =
        result.time < 2 * result.halfway ? result.time - result.halfway : result.halfway;
    const uint64_t simulated = coll_least(rounds, all.rounds), second = simulated - simulated / 2;
    const coll_traffic first = count_sample(&p.load, simulated / 2);
    *found = (sample){.time = (double)result.time * 1e-9,
                      .pace = (double)half_of_time * 1e-9 / (double)second,
                      .rank_seconds = all.rank_seconds,
                      .of_a_round = (all.rank_seconds - first.rank_seconds) / (double)second};
    return true;
}

/* Extrapolates the waiting time to ALL ranks from those of RANKS, half and a quarter of them. */
static double extrapolate_wait(const double waits[], int ranks, int all) {
    const double doubles = 1.7, too_much = 2.5; /* 2 with a tolerance */
    const double first = waits[1] - waits[2], second = waits[0] - waits[1];
    double wait = waits[0];
    if (second > doubles * first && second < too_much * first)
        return wait + (first + second) / (ranks - half(half(ranks))) * (all - ranks);
    for (; ranks < all; ranks *= 2)
        wait += fmax(first + second, 0) / 2;
    return wait;
}

/* Estimates the waiting time of all ranks in the first ROUNDS rounds, or, if PACE, in one further
 * round, which hardly depends on the number of ranks. */
static bool estimate_wait(const estimate *e, uint64_t rounds, bool pace, double *wait) {
    const int all = e->whole->topo->ranks;
    const double most = e->events / PART,
                 events = e->traffic.events * (double)rounds / (double)e->traffic.rounds;
    double waits[3];
    sample found;
    int ranks = all;
    /* The events are at most proportional to the square of the ranks. */
    while ((events * ranks / all * ranks / all > most && ranks > RANKS_LEAST) ||
           (ranks > RANKS_MOST && !e->allocates))
        ranks = half(ranks);
    for (; !simulate_subset(e, ranks, rounds, most, &found); ranks = half(ranks))
        if (ranks <= RANKS_LEAST)
            return false;
    const int simulated = ranks;
    for (int i = 0;; i++) {
        waits[i] = fmax(pace ? found.pace - found.of_a_round : found.time - found.rank_seconds, 0);
        if (i == 2 || simulated == all || pace)
            break;
        ranks = half(ranks);
        if (!simulate_subset(e, ranks, rounds, most, &found))
            return false;
    }
    *wait = simulated == all || pace ? waits[0] : extrapolate_wait(waits, simulated, all);
    return true;
}

/* --- Times --- */

/* Returns the lower bound of the call's time. */
static double lower_bound(const coll_traffic *traffic) {
    return fmax(traffic->link_seconds, traffic->rank_seconds);
}

static bool is_far(const estimate *e) {
    return e->whole->topo->sites > 1;
}

/* Estimates the time from the first rounds of all ranks. Returns false if the budget allows too few
 * rounds for a rate. */
static bool estimate_from_rounds(const estimate *e, double *time) {
    const double all = (double)e->traffic.rounds, rounds = e->events / 2 * all / e->traffic.events;
    sample found;
    if (is_far(e) || rounds < PACE_LEAST ||
        !simulate_subset(e, e->whole->topo->ranks, (uint64_t)fmin(rounds, all), e->events, &found))
        return false;
    *time = found.time + found.pace * fmax(all - floor(rounds), 0);
    return true;
}

/* Estimates the time from a subset of the ranks: all their rounds, or their first rounds and their
 * rate. With several sites all rounds are better: in a few rounds hardly a message crosses to
 * another site, and such messages take longest. */
static double estimate_from_ranks(const estimate *e) {
    const uint64_t all = e->traffic.rounds, few = coll_least(BEGIN, all);
    uint64_t begun = is_far(e) ? all : few,
             rounds = coll_least((uint64_t)e->load.size.window + BEHIND, all);
    double begin = 0, pace = 0;
    if (!estimate_wait(e, begun, false, &begin)) {
        begun = is_far(e) ? few : all;
        (void)estimate_wait(e, begun, false, &begin);
    }
    while (begun < all && rounds > 1 && !estimate_wait(e, rounds, true, &pace))
        rounds /= 2;
    return lower_bound(&e->traffic) + begin + pace * (double)(all - begun);
}

/* Counts the load again from more ranks, or all of them. A few ranks show well how long a rank is
 * busy, but the load of links needs many. */
static void count_more_ranks(estimate *e) {
    /* Making a rank's plan takes time in proportion to all ranks. */
    enum { STEPS = 1 << 12, PLACES = 40000, LEAST = 16 };
    const int ranks = e->whole->topo->ranks, asked = PLACES / ranks;
    const coll_traffic closer =
        coll_link_load_count(&e->load, UINT64_MAX, asked > LEAST ? asked : LEAST,
                             (int64_t)(STEPS * (e->events / EVENTS)));
    const double rank_seconds = e->traffic.rank_seconds;
    e->traffic = closer;
    if (!closer.exact)
        e->traffic.rank_seconds = rank_seconds;
}

static double estimate_time(estimate *e) {
    coll_sim_result result;
    double time;
    const double at_least = 0.9; /* the sample of rounds may overestimate */
    e->traffic = count_sample(&e->load, UINT64_MAX);
    if (e->enough > 0 && at_least * e->traffic.rank_seconds >= e->enough)
        return at_least * e->traffic.rank_seconds;
    count_more_ranks(e);
    if (e->enough > 0 && lower_bound(&e->traffic) >= e->enough)
        return lower_bound(&e->traffic);
    const subset whole = {.shape = *e->whole, .room = e->room, .left = e->left};
    if (e->traffic.events <= e->events && simulate(e, &whole, 0, e->events, &result))
        return (double)result.time * 1e-9;
    return fmax(estimate_from_rounds(e, &time) ? time : estimate_from_ranks(e),
                lower_bound(&e->traffic));
}

static bool open_estimate(estimate *e, char *memory, size_t bytes) {
    const coll_topo *topo = e->whole->topo;
    const size_t sites = e->whole->latencies ? (size_t)topo->sites : 0;
    e->room = memory;
    e->left = bytes;
    e->places = coll_comm_room_cut(&e->room, &e->left, (size_t)topo->ranks * sizeof *e->places);
    e->numbers = coll_comm_room_cut(&e->room, &e->left, (size_t)topo->nodes * sizeof(int));
    e->latencies = coll_comm_room_cut(&e->room, &e->left, sites * sites * sizeof(double));
    return e->places && e->numbers && e->latencies &&
           coll_link_load_open(&e->load, e->algorithm, e->whole, e->values, NULL, &e->room,
                               &e->left);
}

/* Estimates with a few events, in the static memory. */
static double estimate_briefly(estimate *e) {
    const int ranks = e->whole->topo->ranks;
    e->events = fmin(EVENTS * fmax(ranks, RANKS) / RANKS, EVENTS_MOST);
    pthread_mutex_lock(&reserve_lock);
    const double time = open_estimate(e, reserve, RESERVE) ? estimate_time(e) : INFINITY;
    pthread_mutex_unlock(&reserve_lock);
    return time;
}

/* Estimates with the shape's number of events, in allocated memory. */
static double estimate_at_length(estimate *e) {
    enum { BYTES = 1 << 20 };
    e->events = e->whole->events;
    e->allocates = true;
    char *memory = NULL;
    for (size_t bytes = BYTES; (memory = malloc(bytes)); bytes *= 2) {
        const double time = open_estimate(e, memory, bytes) ? estimate_time(e) : INFINITY;
        free(memory);
        if (!isinf(time))
            return time;
    }
    return INFINITY;
}

double coll_estimate(const coll_algorithm *algorithm, const coll_shape *shape,
                     const coll_values *values) {
    estimate e = {
        .algorithm = algorithm, .whole = shape, .values = values, .enough = shape->enough};
    if (shape->topo->ranks == 1 || shape->bytes == 0)
        return 0;
    return shape->events ? estimate_at_length(&e) : estimate_briefly(&e);
}

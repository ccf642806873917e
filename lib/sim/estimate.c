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
#include <string.h>

/*
 * The budget of an estimate: EVENTS for up to RANKS ranks, above that in proportion to the ranks,
 * up to EVENTS_MOST. A simulation of a subset of the ranks gets 1/PART of the budget, or, for a
 * pipeline, the events of events_of_rounds; a simulation of the whole call gets SHARED times the
 * budget if ranks share nodes, because then a subset is less representative.
 */
enum { EVENTS = 6000, PART = 4, RANKS = 150, EVENTS_MOST = 32000, SHARED = 2 };

/* BEGIN: rounds simulated for the start-up time. BEHIND: rounds beyond the window that are
 * simulated for the rate (the time of a round). PACE_LEAST: fewest rounds of all ranks that give a
 * rate. SHORT: if ranks share nodes, all rounds of a plan of at most SHORT rounds are simulated,
 * unless the plan is a pipeline, which has at least PIPELINE_LEAST rounds. */
enum { BEGIN = 2, BEHIND = 2, PACE_LEAST = 6, SHORT = 32, PIPELINE_LEAST = 4 };

/* Sizes of a subset of ranks: fewer are not representative; plans for more take long to make. */
enum { RANKS_LEAST = 4, RANKS_MOST = 512 };

/* Fewest whole nodes of a subset: a quarter of them must still exchange messages. */
enum { NODES_LEAST = 8 };

/* Static memory, of the same size on all ranks: an allocation could fail on one rank alone, and the
 * ranks would choose differently. */
enum { RESERVE = 16 << 20, MESSAGES = 1 << 13 };
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
    coll_traffic sampled; /* the load counted from a few ranks */
    coll_traffic traffic; /* the same, or the load counted from more ranks */
    int *chosen;          /* the ranks of a subset */
    coll_place *places;   /* of the chosen ranks */
    int *numbers;         /* scratch: three for each node */
    int per_rack;         /* nodes of each rack; 0: racks differ in size */
    double *latencies;    /* between the sites of a subset */
    char *scratch;
    size_t left; /* bytes of SCRATCH */
} estimate;

/* --- Subsets of the ranks --- */

static bool shares_nodes(const estimate *e) {
    return e->whole->topo->most_ranks_per_node > 1;
}

/* The number of nodes of a subset, and the most ranks on one of these nodes. The number of ranks of
 * a node is reduced in the same proportion on all nodes. Nodes, and the ranks of each node, are
 * evenly chosen from the chain order. */
typedef struct subset_size {
    int nodes, per_node;
} subset_size;

static subset_size whole_size(const coll_topo *whole) {
    return (subset_size){whole->nodes, whole->most_ranks_per_node};
}

static int half(int ranks) {
    return (ranks + 1) / 2;
}

/* Returns whether element I of WHOLE is among PART evenly chosen elements, the first of which is
 * element 0. */
static bool is_chosen(int64_t i, int part, int whole) {
    return (whole - i * part % whole) % whole < part;
}

/* Returns the number of nodes of each rack, or 0 if racks differ in size. MET and OF_RACK are
 * scratch memory, each with one entry for each node. */
static int nodes_per_rack(const coll_topo *topo, int met[], int of_rack[]) {
    memset(met, 0, (size_t)topo->nodes * sizeof *met);
    memset(of_rack, 0, (size_t)topo->nodes * sizeof *of_rack);
    for (int i = 0; i < topo->ranks; i++)
        of_rack[topo->places[i].rack] += met[topo->places[i].node]++ == 0;
    for (int rack = 0; rack < topo->racks; rack++)
        if (of_rack[rack] != of_rack[0])
            return 0;
    return of_rack[0];
}

/*
 * Sets the estimate's CHOSEN to the ranks of a subset of about SIZE, in the chain order. Returns
 * their number. Racks of equal size remain equal in size, if there are enough nodes: many plans
 * have other rounds if racks differ.
 */
static int choose_ranks(const estimate *e, subset_size size) {
    const coll_topo *whole = e->whole->topo;
    /* INDEX: each node's number, in its rack or among all nodes. MET: each node's ranks so far.
     * SEEN: each rack's nodes so far. */
    int *index = e->numbers, *met = index + whole->nodes;
    int *seen = met + whole->nodes;
    const bool by_rack = e->per_rack > 0 && size.nodes >= whole->racks;
    const int all = by_rack ? e->per_rack : whole->nodes,
              part = by_rack ? (size.nodes + whole->racks / 2) / whole->racks : size.nodes;
    int count = 0, nodes = 0;
    memset(met, 0, (size_t)whole->nodes * sizeof *met);
    memset(seen, 0, (size_t)whole->nodes * sizeof *seen);
    for (int i = 0; i < whole->ranks; i++) {
        const int rank = e->load.line->order[i], node = whole->places[rank].node;
        if (met[node] == 0)
            index[node] = by_rack ? seen[whole->places[rank].rack]++ : nodes++;
        if (is_chosen(index[node], part, all) &&
            is_chosen(met[node], size.per_node, whole->most_ranks_per_node))
            e->chosen[count++] = rank;
        met[node]++;
    }
    return count;
}

/* Returns the topology of the first COUNT chosen ranks. */
static coll_topo subset_topology(const estimate *e, int count) {
    coll_topo subset = *e->whole->topo;
    subset.ranks = count;
    subset.places = e->places;
    for (int i = 0; i < count; i++)
        subset.places[i] = e->whole->topo->places[e->chosen[i]];
    coll_topo_number(&subset, e->whole->topo, e->numbers);
    return subset;
}

/* Returns the latencies between the sites of SUBSET, by its site numbers; NULL if unknown. */
static const double *subset_latencies(const estimate *e, const coll_topo *subset) {
    const double *latencies = e->whole->latencies;
    int *before = e->numbers;
    for (int i = 0; i < subset->ranks; i++)
        before[subset->places[i].site] = e->whole->topo->places[e->chosen[i]].site;
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
    char *scratch; /* memory for a simulation */
    size_t left;
} subset;

/* Opens the subset of the COUNT chosen ranks. */
static bool open_subset(const estimate *e, int count, subset *p) {
    *p = (subset){.shape = *e->whole, .scratch = e->scratch, .left = e->left};
    if (count < e->whole->topo->ranks) {
        p->topo = subset_topology(e, count);
        p->shape.topo = &p->topo;
        p->shape.latencies = subset_latencies(e, &p->topo);
        p->shape.root = p->shape.root == COLL_NO_ROOT ? COLL_NO_ROOT : 0;
    }
    return coll_link_load_open(&p->load, e->algorithm, &p->shape, e->values, e->whole->topo,
                               &p->scratch, &p->left);
}

/* Counts the load of the first ROUNDS rounds from a sample of steps, in about the time of a short
 * simulation. */
static coll_traffic count_sample(coll_link_load *load, uint64_t rounds) {
    enum { ASKED = 4, STEPS = 1 << 12 };
    return coll_link_load_count(load, rounds, ASKED, STEPS);
}

/* --- Simulations --- */

/* Simulates the first ROUNDS rounds, or all if ROUNDS is 0. Returns false if the simulation takes
 * more than twice EVENTS or more memory than there is, or if these rounds wait for later rounds. */
static bool simulate(const estimate *e, const subset *p, uint64_t rounds, double events,
                     double *seconds) {
    int64_t time;
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
        .fill = e->whole->fill,
        .memory = e->allocates ? NULL : p->scratch,
        .bytes = p->left};
    if (coll_simulate(&call, &time) != MPI_SUCCESS || time == COLL_SIM_UNKNOWN)
        return false;
    *seconds = (double)time * 1e-9;
    return true;
}

/* Results of simulations of the first rounds, in seconds. */
typedef struct sample {
    double time, pace;       /* time of all these rounds; time of one further round */
    double busy, of_a_round; /* busy time of the busiest rank or host's link in TIME and in PACE */
} sample;

/*
 * Sets FOUND's pace; FOUND has the time of ROUNDS rounds. The first half of these rounds is
 * simulated again alone, since rounds of a pipeline overlap. The faster half gives the pace: a TCP
 * timeout, which occurs once, is in the slower half.
 */
static bool find_pace(const estimate *e, const subset *p, uint64_t rounds, double events,
                      sample *found) {
    const uint64_t first = rounds / 2;
    double time = 0;
    if (first > 0 && !simulate(e, p, first, events, &time))
        return false;
    const double early = first > 0 ? time / (double)first : found->time;
    found->pace = fmin(early, (found->time - time) / (double)(rounds - first));
    return true;
}

static double busy_seconds(const coll_traffic *traffic) {
    return fmax(traffic->rank_seconds, traffic->host_seconds);
}

/* Returns how long the busiest rank or host's link is busy in the first ROUNDS rounds. */
static double busy_in_rounds(const estimate *e, subset *p, uint64_t rounds, double events) {
    /* A few ranks don't show the load of their hosts' links. */
    const coll_traffic load =
        shares_nodes(e)
            ? coll_link_load_count(&p->load, rounds, p->shape.topo->ranks, (int64_t)events)
            : count_sample(&p->load, rounds);
    return busy_seconds(&load);
}

/* What simulate_subset finds in addition to the time. */
enum { PACE = 1, BUSY = 2 };

/* Simulates the first ROUNDS rounds of a subset of SIZE, or fewer if these show the pace, and finds
 * WHAT. Returns false if EVENTS or the memory do not suffice, or if these rounds wait for later
 * rounds. */
static bool simulate_subset(const estimate *e, subset_size size, uint64_t rounds, double events,
                            int what, sample *found) {
    subset p;
    const int ranks = choose_ranks(e, size);
    *found = (sample){.time = 0};
    if (ranks == 1) /* there is no plan */
        return true;
    if (!open_subset(e, ranks, &p))
        return false;
    /* Many plans of fewer ranks have a smaller window, so that fewer rounds show the rate. */
    if (what & PACE && ranks < e->whole->topo->ranks)
        rounds = coll_least(rounds, (uint64_t)p.load.size.window + BEHIND);
    const coll_traffic load = count_sample(&p.load, rounds);
    if (load.events > events || !simulate(e, &p, rounds, events, &found->time))
        return false;
    rounds = coll_least(rounds, load.rounds);
    if (what & PACE && !find_pace(e, &p, rounds, events, found))
        return false;
    if (what & BUSY)
        found->busy = shares_nodes(e) ? busy_in_rounds(e, &p, rounds, events) : busy_seconds(&load);
    if (what == (PACE | BUSY))
        found->of_a_round = (found->busy - busy_in_rounds(e, &p, rounds / 2, events)) /
                            (double)(rounds - rounds / 2);
    return true;
}

/* Extrapolates the waiting time to ALL units from WAITS, the waiting times of UNITS units, of half
 * and of a quarter of them. */
static double extrapolate_wait(const double waits[], int units, int all) {
    const double doubles = 1.7, too_much = 2.5; /* 2 with a tolerance */
    const double first = waits[1] - waits[2], second = waits[0] - waits[1];
    double wait = waits[0];
    if (second > doubles * first && second < too_much * first)
        return wait + (first + second) / (units - half(half(units))) * (all - units);
    for (; units < all; units *= 2)
        wait += fmax(first + second, 0) / 2;
    return wait;
}

/* Returns a subset of about half of the ranks of SIZE. Whole nodes are left out first, because the
 * steps of many plans depend on how many ranks a node has. */
static subset_size smaller(subset_size size) {
    if (size.per_node == 1 || half(size.nodes) >= NODES_LEAST)
        return (subset_size){half(size.nodes), size.per_node};
    return (subset_size){size.nodes, half(size.per_node)};
}

static int count_most_ranks(subset_size size) {
    return size.nodes * size.per_node;
}

/*
 * Returns the size of the first subset to simulate. All ranks take ALL_EVENTS; the events are taken
 * to grow with the square of the ranks, which is the fastest growth. Halves the ranks while more
 * than EVENTS are expected and there are more than RANKS_LEAST. If the estimate uses static memory,
 * also halves them until there are at most RANKS_MOST.
 */
static subset_size first_size(const estimate *e, double all_events, double events) {
    subset_size size = whole_size(e->whole->topo);
    const double all = count_most_ranks(size);
    for (int ranks = count_most_ranks(size);
         (all_events * ranks / all * ranks / all > events && ranks > RANKS_LEAST) ||
         (ranks > RANKS_MOST && !e->allocates);
         ranks = count_most_ranks(size))
        size = smaller(size);
    return size;
}

/* Simulates the first ROUNDS rounds of the largest subset that takes at most EVENTS, and finds
 * WHAT. Sets *SIZE to the size of the subset. */
static bool simulate_largest(const estimate *e, uint64_t rounds, double events, int what,
                             subset_size *size, sample *found) {
    const double of_a_round = e->traffic.events / (double)e->traffic.rounds;
    *size = first_size(e, of_a_round * (double)rounds, events);
    for (; !simulate_subset(e, *size, rounds, events, what, found); *size = smaller(*size))
        if (count_most_ranks(*size) <= RANKS_LEAST)
            return false;
    return true;
}

/* Returns the waiting time in one further round, which hardly depends on the number of ranks. */
static double wait_of_a_round(const sample *found) {
    return fmax(found->pace - found->of_a_round, 0);
}

static double wait_of_all(const sample *found) {
    return fmax(found->time - found->busy, 0);
}

/* Estimates the waiting time of a round from the first ROUNDS rounds. */
static bool estimate_pace(const estimate *e, uint64_t rounds, double *pace) {
    subset_size size;
    sample found;
    if (!simulate_largest(e, rounds, e->events / PART, PACE | BUSY, &size, &found))
        return false;
    *pace = wait_of_a_round(&found);
    return true;
}

/* Estimates *WAIT, the waiting time of all ranks in the first ROUNDS rounds. If PACE is not NULL,
 * also estimates *PACE, the waiting time in one further round. */
static bool estimate_wait(const estimate *e, uint64_t rounds, double events, double *wait,
                          double *pace) {
    const subset_size all = whole_size(e->whole->topo);
    subset_size size;
    sample found;
    if (!simulate_largest(e, rounds, events, pace ? PACE | BUSY : BUSY, &size, &found))
        return false;
    if (pace)
        *pace = wait_of_a_round(&found);
    const bool by_nodes = size.nodes < all.nodes,
               is_all = !by_nodes && size.per_node == all.per_node;
    const int units = by_nodes ? size.nodes : count_most_ranks(size),
              all_units = by_nodes ? all.nodes : count_most_ranks(all);
    double waits[3] = {wait_of_all(&found)};
    for (int i = 1; i < 3 && !is_all; i++) {
        size = by_nodes ? (subset_size){half(size.nodes), size.per_node} : smaller(size);
        if (!simulate_subset(e, size, rounds, events, BUSY, &found))
            return false;
        waits[i] = wait_of_all(&found);
    }
    *wait = is_all ? waits[0] : extrapolate_wait(waits, units, all_units);
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

static double most_events_of_all(const estimate *e) {
    return shares_nodes(e) ? SHARED * e->events : e->events;
}

/* Returns the budget of events for a simulation of first rounds. It is smaller than the budget for
 * a whole call, because half of the rounds are simulated again, and because their number of events
 * is itself an estimate. */
static double events_of_rounds(const estimate *e) {
    return shares_nodes(e) ? most_events_of_all(e) / 3 : e->events / 2;
}

/* Estimates the time from the first rounds of all ranks. Returns false if there are several sites,
 * if the budget allows too few rounds for a rate, or if the simulation fails. */
static bool estimate_from_rounds(const estimate *e, double *time) {
    const double all = (double)e->traffic.rounds,
                 rounds = events_of_rounds(e) * all / e->traffic.events;
    sample found;
    if (is_far(e) || rounds < PACE_LEAST ||
        !simulate_subset(e, whole_size(e->whole->topo), (uint64_t)fmin(rounds, all),
                         most_events_of_all(e), PACE, &found))
        return false;
    *time = found.time + found.pace * fmax(all - floor(rounds), 0);
    return true;
}

/* Returns whether the first ROUNDS rounds have about as many events, and keep the hosts' links
 * about as busy, as the average of the same number of rounds. */
static bool are_rounds_alike(estimate *e, uint64_t rounds) {
    const double share = (double)rounds / (double)e->sampled.rounds, least = 0.8, most = 1.25;
    const coll_traffic first = count_sample(&e->load, rounds);
    const double events = first.events / (e->sampled.events * share),
                 busy = first.host_seconds / (e->sampled.host_seconds * share);
    return events > least && events < most && busy > least && busy < most;
}

/*
 * Returns whether all rounds of a subset must be simulated, and not only its first rounds and their
 * rate. The slowest messages go to other sites or, if nodes have many ranks, to other nodes; a few
 * rounds have hardly any such messages.
 */
static bool needs_all_rounds(const estimate *e) {
    return is_far(e) || (shares_nodes(e) && e->traffic.rounds <= SHORT);
}

/* Estimates the waiting time of a pipeline of a few rounds on shared nodes. A simulation of its
 * first rounds is more exact than one of all rounds of fewer ranks. Returns false if the plan is no
 * such pipeline, or if the simulation fails. */
static bool estimate_pipeline(estimate *e, double *wait) {
    const uint64_t all = e->traffic.rounds;
    double begin, pace;
    if (is_far(e) || !shares_nodes(e) || all < PIPELINE_LEAST || all > SHORT ||
        !are_rounds_alike(e, BEGIN) || !estimate_wait(e, BEGIN, events_of_rounds(e), &begin, &pace))
        return false;
    *wait = begin + pace * (double)(all - BEGIN);
    return true;
}

/* Estimates the time from a subset of the ranks: all their rounds, or their first rounds and their
 * rate. */
static double estimate_from_ranks(estimate *e) {
    const uint64_t all = e->traffic.rounds, few = coll_least(BEGIN, all);
    uint64_t begun = needs_all_rounds(e) ? all : few,
             rounds = coll_least((uint64_t)e->load.size.window + BEHIND, all);
    double begin = 0, pace = 0;
    if (estimate_pipeline(e, &begin))
        return lower_bound(&e->traffic) + begin;
    if (!estimate_wait(e, begun, e->events / PART, &begin, NULL)) {
        begun = needs_all_rounds(e) ? few : all;
        (void)estimate_wait(e, begun, e->events / PART, &begin, NULL);
    }
    while (begun < all && rounds > 1 && !estimate_pace(e, rounds, &pace))
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

/* Returns whether all ranks can be simulated: making their plans doesn't take too long, and as far
 * as their load is known, there are not too many events. */
static bool is_short(const estimate *e) {
    return (e->whole->topo->ranks <= RANKS_MOST || e->allocates) &&
           e->traffic.events <= most_events_of_all(e);
}

/* Simulates all ranks to the end. Returns false if this takes too many events or too much
 * memory. */
static bool simulate_all(const estimate *e, double *time) {
    const subset whole = {.shape = *e->whole, .scratch = e->scratch, .left = e->left};
    return simulate(e, &whole, 0, most_events_of_all(e), time);
}

/* Returns the load of a few ranks, counted unless an earlier estimate has kept it. */
static coll_traffic sampled_load(estimate *e) {
    coll_traffic *kept = e->whole->sampled;
    if (kept && kept->rounds > 0)
        return *kept;
    const coll_traffic sampled = count_sample(&e->load, UINT64_MAX);
    if (kept)
        *kept = sampled;
    return sampled;
}

static double estimate_time(estimate *e) {
    double time;
    const double at_least = 0.9; /* the sample of rounds may overestimate */
    e->sampled = e->traffic = sampled_load(e);
    if (e->enough > 0 && at_least * e->traffic.rank_seconds >= e->enough)
        return at_least * e->traffic.rank_seconds;
    /* A few ranks may have far fewer events than the others. A simulation ends at twice its budget,
     * so that it would be in vain if there are more. */
    const double most = most_events_of_all(e);
    const bool doubtful = is_short(e) && !e->traffic.exact && e->traffic.events > most / 2;
    if (doubtful)
        count_more_ranks(e);
    const bool tried = doubtful ? e->traffic.events <= 2 * most : is_short(e);
    if (tried && simulate_all(e, &time))
        return time;
    if (!doubtful)
        count_more_ranks(e);
    if (e->enough > 0 && lower_bound(&e->traffic) >= e->enough)
        return lower_bound(&e->traffic);
    if (!tried && is_short(e) && simulate_all(e, &time))
        return time;
    e->per_rack = nodes_per_rack(e->whole->topo, e->numbers, e->numbers + e->whole->topo->nodes);
    return fmax(estimate_from_rounds(e, &time) ? time : estimate_from_ranks(e),
                lower_bound(&e->traffic));
}

static bool open_estimate(estimate *e, char *memory, size_t bytes) {
    const coll_topo *topo = e->whole->topo;
    const size_t sites = e->whole->latencies ? (size_t)topo->sites : 0;
    e->scratch = memory;
    e->left = bytes;
    e->places =
        coll_scratch_alloc_within(&e->scratch, &e->left, (size_t)topo->ranks * sizeof *e->places);
    e->chosen = coll_scratch_alloc_within(&e->scratch, &e->left, (size_t)topo->ranks * sizeof(int));
    e->numbers =
        coll_scratch_alloc_within(&e->scratch, &e->left, 3 * (size_t)topo->nodes * sizeof(int));
    e->latencies = coll_scratch_alloc_within(&e->scratch, &e->left, sites * sites * sizeof(double));
    return e->chosen && e->places && e->numbers && e->latencies &&
           coll_link_load_open(&e->load, e->algorithm, e->whole, e->values, NULL, &e->scratch,
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

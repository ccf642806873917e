/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/sim/link_load.h"

#include "lib/base/comm.h"
#include "lib/base/error.h"
#include "lib/sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kind of load that is the time for which hosts' links are busy; the other kinds are bytes. */
enum { BUSY = COLL_LINKS };

static int count_links(const coll_topo *topo, int kind) {
    return kind == COLL_LINK_RACK   ? topo->racks
           : kind == COLL_LINK_SITE ? topo->sites
                                    : topo->nodes;
}

static size_t size_of_loads(const coll_topo *topo) {
    size_t links = 0;
    for (int kind = 0; kind <= BUSY; kind++)
        links += COLL_LINK_WAYS * (size_t)count_links(topo, kind);
    return links * sizeof(double);
}

/* Sets S's plan arguments to those of the rank at POSITION. */
static void set_position(coll_link_load *s, int position) {
    s->line->position = position;
    s->args = coll_sim_plan_args(s->shape, s->values, s->line,
                                 s->line->order[position] == s->shape->root, &s->even);
}

bool coll_link_load_open(coll_link_load *s, const coll_algorithm *algorithm,
                         const coll_shape *shape, const coll_values *values, const coll_topo *whole,
                         char **scratch, size_t *left) {
    const size_t ranks = (size_t)shape->topo->ranks;
    *s = (coll_link_load){.planner = algorithm->planner, .shape = shape, .values = values};
    s->line = coll_scratch_alloc_within(scratch, left, sizeof *s->line + ranks * sizeof(int));
    double *next = coll_scratch_alloc_within(scratch, left, size_of_loads(shape->topo));
    if (!s->line || !next)
        return false;
    for (int kind = 0; kind <= BUSY; kind++)
        for (int way = 0; way < COLL_LINK_WAYS; way++, next += count_links(shape->topo, kind))
            s->load[kind][way] = next;
    coll_order_ranks(shape, s->line->order);
    coll_network_open(&s->network, shape, whole);
    set_position(s, 0);
    s->size = s->planner->size(&s->args);
    s->own = coll_scratch_alloc_within(scratch, left, s->size.own_bytes + s->size.making_bytes);
    s->steps = coll_scratch_alloc_within(scratch, left, (size_t)s->size.steps * sizeof *s->steps);
    return s->own && s->steps;
}

/* One rank's work: nanoseconds of its processor and of the links out of and into its host, and
 * events of a simulation. */
typedef struct rank_work {
    double processor, out, in, events;
} rank_work;

/* Adds a step of RANK to ALL, the work of this rank, and to the links of its host, rack and site.
 * The step represents TIMES steps of each of RANKS ranks. */
static void add_step(coll_link_load *s, int rank, const coll_step *step, double times, double ranks,
                     rank_work *all) {
    enum { EVENTS_OF_SEND = 3, EVENTS_OF_SEND_INSIDE = 1, EVENTS_OF_RECEIVE = 2 };
    if (!coll_step_is_message(step)) {
        all->processor += times * (double)coll_network_copy(&s->network, step->length);
        all->events += times;
        return;
    }
    const coll_level level = coll_topo_level(s->shape->topo, rank, step->peer);
    const coll_message_cost *cost = coll_network_message_cost(&s->network, level, step->length);
    const coll_place *place = &s->shape->topo->places[rank];
    const bool sends = step->kind == COLL_STEP_SEND;
    const int links[] = {place->node, place->rack, place->site};
    all->processor += times * (double)(sends ? cost->send : cost->receive);
    all->events += times * (!sends                     ? EVENTS_OF_RECEIVE
                            : level <= COLL_LEVEL_NODE ? EVENTS_OF_SEND_INSIDE
                                                       : EVENTS_OF_SEND);
    if (level <= COLL_LEVEL_NODE)
        return;
    const double time = times * (double)(sends ? cost->send_gap : cost->receive_gap);
    const int way = sends ? COLL_LINK_OUT : COLL_LINK_IN;
    *(sends ? &all->out : &all->in) += time;
    s->load[BUSY][way][place->node] += time * ranks;
    for (int kind = 0; kind < (int)level - COLL_LEVEL_NODE; kind++)
        s->load[kind][way][links[kind]] += (double)step->length * times * ranks;
}

/* Returns round NTH of a sample of COUNT out of ALL rounds: one round from each of COUNT equal
 * ranges, chosen by a hash that depends on the rank, since an even stride could match the plan's
 * period. */
static uint64_t chosen_round(uint64_t nth, int position, uint64_t count, uint64_t all) {
    const uint64_t begin = nth * all / count, end = (nth + 1) * all / count,
                   any = (nth + (uint64_t)position) * UINT64_C(2654435761) % (UINT64_C(1) << 32);
    return begin + any * (end - begin) / (UINT64_C(1) << 32);
}

/* Adds the rank at POSITION, which represents RANKS ranks, counting at most MOST of its first
 * ROUNDS rounds. */
static void add_rank(coll_link_load *s, int position, double ranks, uint64_t rounds, uint64_t most,
                     coll_traffic *traffic) {
    const double rounds_of_event = 10;
    set_position(s, position);
    const coll_plan *plan = s->planner->plan(&s->args, s->size, s->own);
    const uint64_t all = plan->rounds < rounds ? plan->rounds : rounds,
                   counted = all < most ? all : most;
    rank_work own = {.events = (double)all / rounds_of_event};
    for (uint64_t i = 0; i < counted; i++) {
        int count = plan->round(plan, chosen_round(i, position, counted, all), s->steps);
        for (int k = 0; k < count; k++)
            add_step(s, s->line->order[position], &s->steps[k], (double)all / (double)counted,
                     ranks, &own);
    }
    traffic->rank_seconds =
        fmax(traffic->rank_seconds, fmax(own.processor, fmax(own.out, own.in)) * 1e-9);
    traffic->events += ranks * own.events;
    traffic->rounds = plan->rounds > traffic->rounds ? plan->rounds : traffic->rounds;
    traffic->exact = traffic->exact && counted == all;
}

/* Returns the maximum load of one KIND over all links in both directions. If the loads are not
 * EXACT, returns the mean of the links in the busier direction, a lower bound of the true maximum.
 */
static double busiest_of(const coll_link_load *s, int kind, bool exact) {
    const int count = count_links(s->shape->topo, kind);
    double busiest = 0;
    for (int way = 0; way < COLL_LINK_WAYS; way++) {
        double all = 0, most = 0;
        for (int i = 0; i < count; i++) {
            all += s->load[kind][way][i];
            most = fmax(most, s->load[kind][way][i]);
        }
        busiest = fmax(busiest, exact ? most : all / count);
    }
    return busiest;
}

/* Sets the figures of TRAFFIC that follow from the loads of all links. */
static void find_busiest(const coll_link_load *s, coll_traffic *traffic) {
    const coll_network *network = &s->network;
    for (int kind = 0; kind < COLL_LINKS; kind++)
        traffic->busiest[kind] = busiest_of(s, kind, traffic->exact);
    traffic->link_seconds = traffic->host_seconds = busiest_of(s, BUSY, traffic->exact) * 1e-9;
    for (int kind = COLL_LINK_RACK; kind < COLL_LINKS; kind++) {
        const coll_level level = kind == COLL_LINK_RACK ? COLL_LEVEL_SITE : COLL_LEVEL_WIDE;
        if (network->rate[level] > 0)
            traffic->link_seconds =
                fmax(traffic->link_seconds, traffic->busiest[kind] / network->rate[level]);
    }
}

/* Returns the position of rank NTH of a sample of COUNT. The ranks are at different places of their
 * nodes and racks: in many plans the first ranks of nodes and racks have the most work, or the
 * least. */
static int sampled_position(const coll_topo *topo, int nth, int count) {
    return (int)((int64_t)nth * topo->ranks / count) + nth % (topo->ranks / count);
}

coll_traffic coll_link_load_count(coll_link_load *s, uint64_t rounds, int ranks, int64_t steps) {
    const int all = s->shape->topo->ranks, sampled = ranks < all ? ranks : all;
    const uint64_t most = (uint64_t)(steps / sampled / (s->size.steps + 1)) + 1;
    coll_traffic traffic = {.exact = sampled == all};
    memset(s->load[0][0], 0, size_of_loads(s->shape->topo));
    /* The rank at position 0 represents only itself: it may be a root, with more work. */
    for (int i = 0; i < sampled; i++)
        add_rank(s, sampled_position(s->shape->topo, i, sampled),
                 i ? (double)(all - 1) / (sampled - 1) : 1, rounds, most, &traffic);
    find_busiest(s, &traffic);
    return traffic;
}

int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic) {
    enum { STEPS = 1 << 28, BYTES = 1 << 20 };
    bool found = false;
    char *memory = NULL;
    for (size_t bytes = BYTES; !found && (memory = malloc(bytes)); bytes *= 2) {
        coll_link_load load;
        char *scratch = memory;
        size_t left = bytes;
        found = coll_link_load_open(&load, algorithm, shape, values, NULL, &scratch, &left);
        if (found)
            *traffic = coll_link_load_count(&load, UINT64_MAX, shape->topo->ranks, STEPS);
        free(memory);
    }
    return found ? MPI_SUCCESS
                 : coll_error(MPI_ERR_NO_MEM, "no memory to count what %s sends", algorithm->name);
}

#include "config.h"

#include "lib/schedule/traffic.h"

#include "lib/base/comm.h"
#include "lib/base/error.h"
#include "lib/schedule/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BYTES of the room; NULL: there aren't so many. */
static void *take(coll_survey *s, size_t bytes) {
    return coll_comm_room_cut(&s->room, &s->left, bytes);
}

/* The part of the rank at POSITION. */
static void take_part(coll_survey *s, int position) {
    const bool is_root = s->line->order[position] == s->shape->root;
    s->line->position = position;
    s->part = coll_price_part(s->shape, s->values, s->line, is_root, &s->even);
    s->part.shared = s->shared;
}

bool coll_survey_open(coll_survey *survey, const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, const coll_topo *whole, void *memory,
                      size_t bytes) {
    const coll_planner *planner = algorithm->planner;
    const size_t ranks = (size_t)shape->topo->ranks;
    coll_survey *s = survey;
    *s = (coll_survey){
        .planner = planner, .shape = shape, .values = values, .room = memory, .left = bytes};
    s->line = take(s, sizeof *s->line + ranks * sizeof(int));
    coll_visit *visits = take(s, ranks * sizeof *visits);
    if (!s->line || !visits)
        return false;
    coll_order_line(shape, visits, s->line->order);
    coll_network_open(&s->network, shape, whole, false, NULL);
    s->part = coll_price_part(shape, values, s->line, true, &s->even);
    if (planner->share && !(s->shared = take(s, planner->shared_bytes(&s->part))))
        return false;
    if (planner->share)
        planner->share(&s->part, s->shared);
    s->part.shared = s->shared;
    s->size = planner->size(&s->part);
    s->own = take(s, s->size.own_bytes);
    s->steps = take(s, (size_t)s->size.steps * sizeof *s->steps);
    return s->own && s->steps;
}

/* Number NTH of COUNT rounds of ALL: one of each share, for each rank another one, and not of an
 * even stride, which might meet always the same of what repeats itself. */
static uint64_t chosen_round(uint64_t nth, int position, uint64_t count, uint64_t all) {
    const uint64_t begin = nth * all / count, end = (nth + 1) * all / count,
                   any = (nth + (uint64_t)position) * UINT64_C(2654435761) % (UINT64_C(1) << 32);
    return begin + any * (end - begin) / (UINT64_C(1) << 32);
}

/* A message of RANK over the links of its host, rack and site, as often as it stands for others. */
static void count_bytes(coll_survey *s, int rank, const coll_step *step, coll_level level,
                        double times) {
    const coll_place *place = &s->shape->topo->places[rank];
    const int way = step->kind == COLL_STEP_SEND ? COLL_LINK_OUT : COLL_LINK_IN,
              links[] = {place->node, place->rack, place->site},
              crossed = (int)level - COLL_LEVEL_NODE;
    for (int kind = 0; kind < crossed; kind++)
        s->bytes[kind][way][links[kind]] += (double)step->length * times;
}

static void add_step(coll_survey *s, int rank, const coll_step *step, double times,
                     coll_labour *all) {
    enum { EVENTS_OF_MESSAGE = 6 };
    if (!coll_step_is_message(step)) {
        all->processor += coll_network_copy(&s->network, step->length);
        all->events++;
        return;
    }
    const coll_level level = coll_topo_level(s->shape->topo, rank, step->peer);
    const coll_toll *toll = coll_network_toll(&s->network, level, step->length);
    bool sends = step->kind == COLL_STEP_SEND;
    all->processor += sends ? toll->send : toll->take;
    all->events += EVENTS_OF_MESSAGE / 2;
    if (level > COLL_LEVEL_NODE)
        *(sends ? &all->out : &all->in) += sends ? toll->out : toll->in;
    if (s->counts)
        count_bytes(s, rank, step, level, times);
}

coll_labour coll_survey_ask(coll_survey *s, int position, uint64_t most) {
    enum { ROUNDS_OF_EVENT = 4 };        /* also a round without steps takes its time */
    enum { BY_PLAN = 4, BY_ROUND = 16 }; /* ranks that are looked at as long as a step takes */
    take_part(s, position);
    const coll_plan *plan = s->planner->plan(&s->part, s->size, s->own);
    const uint64_t rounds = plan->rounds < most ? plan->rounds : most;
    coll_labour all = {.processor = 0};
    const uint64_t ranks = (uint64_t)s->shape->topo->ranks;
    const int64_t burst = coll_network_burst(&s->network);
    s->work += ranks / BY_PLAN + rounds * (ranks / BY_ROUND);
    for (uint64_t i = 0; i < rounds; i++) {
        int count = plan->round(plan, chosen_round(i, position, rounds, plan->rounds), s->steps);
        s->work += (uint64_t)count;
        s->listed += (uint64_t)count;
        for (int k = 0; k < count; k++)
            add_step(s, s->line->order[position], &s->steps[k],
                     (double)plan->rounds / (double)rounds, &all);
    }
    int64_t *const sums[] = {&all.processor, &all.out, &all.in, &all.events};
    for (int i = 0; i < 4 && rounds; i++)
        *sums[i] = coll_price_sum(0, *sums[i], rounds, plan->rounds);
    all.events += (int64_t)(plan->rounds / ROUNDS_OF_EVENT);
    all.rounds = plan->rounds;
    all.out = all.out > burst ? all.out - burst : 0;
    all.in = all.in > burst ? all.in - burst : 0;
    return all;
}

bool coll_survey_fold(coll_survey *s, coll_fold *fold) {
    take_part(s, 0);
    const bool there_is_room = coll_fold_bytes(&s->part, s->planner) <= s->left;
    *fold = there_is_room ? coll_fold_find(&s->part, s->planner, s->line, s->room)
                          : (coll_fold){.ranks = s->shape->topo->ranks};
    return there_is_room;
}

static int count_links(const coll_topo *topo, int kind) {
    return kind == COLL_LINK_HOST   ? topo->nodes
           : kind == COLL_LINK_RACK ? topo->racks
                                    : topo->sites;
}

/* None has carried anything; false: there is no room to count. */
static bool open_links(coll_survey *s) {
    for (int i = 0; i < COLL_LINKS * COLL_LINK_WAYS; i++) {
        const size_t bytes =
            (size_t)count_links(s->shape->topo, i / COLL_LINK_WAYS) * sizeof(double);
        double *links = s->bytes[i / COLL_LINK_WAYS][i % COLL_LINK_WAYS] = take(s, bytes);
        if (!links)
            return false;
        memset(links, 0, bytes);
    }
    return true;
}

static int divisor(int a, int b) {
    return b ? divisor(b, a % b) : a;
}

/* How far apart positions are that are asked one after the other: wherever that ends they are
 * spread, and if it doesn't all ALL are met. */
static int stride_of(int all) {
    const double golden = 0.618;
    int stride = (int)(golden * all) + 1;
    while (divisor(stride, all) > 1)
        stride++;
    return stride;
}

/* Of so many of the ranks that were asked; where they weren't all, the mean of the links, which the
 * busiest is not below. */
static double busiest(const coll_survey *s, int kind, int asked, bool all_were) {
    const int links = count_links(s->shape->topo, kind);
    double most = 0;
    for (int way = 0; way < COLL_LINK_WAYS; way++) {
        double all = 0, here = 0;
        for (int i = 0; i < links; i++) {
            all += s->bytes[kind][way][i];
            here = fmax(here, s->bytes[kind][way][i]);
        }
        most = fmax(most, all_were ? here : all * s->shape->topo->ranks / asked / links);
    }
    return most;
}

/* Bytes a second through a link; 0: as many as come. */
static double rate(const coll_survey *s, int kind) {
    const double stream = 32 << 10;
    const coll_cost *host = &s->network.profile->level[COLL_LEVEL_RACK];
    return kind == COLL_LINK_HOST   ? stream / coll_cost_send_gap(host, stream)
           : kind == COLL_LINK_RACK ? s->network.rate[COLL_LEVEL_SITE]
                                    : s->network.rate[COLL_LEVEL_WIDE];
}

/* How far one gets ahead of that by resting, s. */
static double ahead(const coll_survey *s, int kind) {
    const int64_t time = kind == COLL_LINK_HOST   ? coll_network_burst(&s->network)
                         : kind == COLL_LINK_RACK ? s->network.shared[COLL_LEVEL_SITE].most
                                                  : s->network.shared[COLL_LEVEL_WIDE].most;
    return (double)time * 1e-9;
}

enum { A_ROUND = 32 }; /* steps of one that is not long */

/* Asks as many ranks as WORK allows, and as many steps as ROUNDS have where they aren't long. */
static bool count(coll_survey *s, const coll_fold *fold, uint64_t rounds, uint64_t work,
                  coll_traffic *traffic) {
    enum { LEAST = 4 }; /* rounds of a rank */
    const uint64_t steps = rounds * A_ROUND, most = s->work + work, listed = s->listed + steps,
                   each = coll_least(rounds / (uint64_t)fold->ranks,
                                     steps / ((uint64_t)s->size.steps + 1));
    const int stride = stride_of(fold->ranks);
    int asked = 0;
    if (!(s->counts = open_links(s)))
        return false;
    for (int64_t at = 0; asked < fold->ranks && s->work < most && s->listed < listed;
         at += stride, asked++)
        coll_survey_ask(s, (int)(at % fold->ranks), each > LEAST ? each : LEAST);
    traffic->seconds = 0;
    for (int kind = 0; kind < COLL_LINKS; kind++) {
        traffic->busiest[kind] = busiest(s, kind, asked, asked == fold->ranks);
        if (rate(s, kind) > 0)
            traffic->seconds =
                fmax(traffic->seconds, traffic->busiest[kind] / rate(s, kind) - ahead(s, kind));
    }
    return true;
}

bool coll_survey_count(coll_survey *s, const coll_fold *fold, uint64_t rounds,
                       coll_traffic *traffic) {
    return count(s, fold, rounds, rounds * A_ROUND, traffic);
}

int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic) {
    enum { ROUNDS = 1 << 21, BYTES = 1 << 20 };
    const uint64_t work = UINT64_C(1) << 33; /* all of 100,000 ranks, where their plans are short */
    bool found = false;
    char *memory = NULL;
    for (size_t bytes = BYTES; !found && (memory = malloc(bytes)); bytes *= 2) {
        coll_survey survey;
        coll_fold fold;
        found = coll_survey_open(&survey, algorithm, shape, values, NULL, memory, bytes) &&
                coll_survey_fold(&survey, &fold) && count(&survey, &fold, ROUNDS, work, traffic);
        free(memory);
    }
    return found ? MPI_SUCCESS
                 : coll_error(MPI_ERR_NO_MEM, "no memory to count what %s sends", algorithm->name);
}

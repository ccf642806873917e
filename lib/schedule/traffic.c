#include "config.h"

#include "lib/schedule/traffic.h"

#include "lib/base/comm.h"
#include "lib/base/error.h"
#include "lib/schedule/fold.h"
#include "lib/schedule/network.h"
#include "lib/schedule/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Out of the links, and into them. */
enum { OUT, IN, DIRECTIONS };

/* Steps of a round that is not long. */
enum { A_ROUND = 32 };

typedef struct survey {
    const coll_planner *planner;
    const coll_shape *shape;
    coll_part part;
    coll_plan_size size; /* of all plans */
    coll_blocks even;
    coll_network network; /* which tells levels alone */
    coll_line *line;
    coll_visit *visits;
    void *own, *shared, *fold;
    coll_step *steps;
    double *bytes[COLL_LINKS][DIRECTIONS]; /* of each host, rack and site */
    int asked, asking;                     /* ranks whose steps are counted, of so many */
    uint64_t work;                         /* that this took, in steps */
    char *room;
    size_t left; /* bytes of it */
} survey;

static int count_links(const coll_topo *topo, int kind) {
    return kind == COLL_LINK_HOST   ? topo->nodes
           : kind == COLL_LINK_RACK ? topo->racks
                                    : topo->sites;
}

/* BYTES of the room, zeros; NULL: there aren't so many. */
static void *take(survey *s, size_t bytes) {
    void *taken = coll_comm_room_cut(&s->room, &s->left, bytes);
    return taken ? memset(taken, 0, bytes) : NULL;
}

/* The memory that doesn't depend on the line. */
static bool reserve(survey *s) {
    const coll_topo *topo = s->shape->topo;
    const size_t ranks = (size_t)topo->ranks;
    bool good = true;
    s->line = take(s, sizeof *s->line + ranks * sizeof(int));
    s->visits = take(s, ranks * sizeof *s->visits);
    for (int kind = 0; kind < COLL_LINKS; kind++)
        for (int way = 0; way < DIRECTIONS; way++)
            good = (s->bytes[kind][way] =
                        take(s, (size_t)count_links(topo, kind) * sizeof(double))) != NULL &&
                   good;
    return good && s->line && s->visits;
}

/* What all plans have in common, and the memory of one. */
static bool prepare(survey *s, const coll_values *values) {
    const coll_planner *planner = s->planner;
    coll_order_line(s->shape, s->visits, s->line->order);
    coll_network_open(&s->network, s->shape, NULL, NULL);
    s->part = coll_price_part(s->shape, values, s->line, true, &s->even);
    s->size = planner->size(&s->part);
    s->own = take(s, s->size.own_bytes);
    s->fold = take(s, coll_fold_bytes(&s->part, planner));
    s->steps = take(s, (size_t)s->size.steps * sizeof *s->steps);
    s->shared = planner->share ? take(s, planner->shared_bytes(&s->part)) : NULL;
    if (!s->own || !s->fold || !s->steps || (planner->share && !s->shared))
        return false;
    if (planner->share)
        planner->share(&s->part, s->shared);
    return true;
}

static void add_step(survey *s, int rank, const coll_step *step, double times) {
    if (!coll_step_is_message(step))
        return;
    const coll_place *place = &s->shape->topo->places[rank];
    const int way = step->kind == COLL_STEP_SEND ? OUT : IN,
              links[] = {place->node, place->rack, place->site};
    int crossed = (int)coll_topo_level(s->shape->topo, rank, step->peer) - COLL_LEVEL_NODE;
    for (int kind = 0; kind < crossed; kind++)
        s->bytes[kind][way][links[kind]] += (double)step->length * times;
}

/* Number NTH of COUNT rounds of ALL: one of each share, not of an even stride, which might meet
 * always the same of what repeats itself. */
static uint64_t chosen_round(uint64_t nth, uint64_t count, uint64_t all) {
    uint64_t begin = nth * all / count, end = (nth + 1) * all / count;
    return begin +
           nth * UINT64_C(2654435761) % (UINT64_C(1) << 32) * (end - begin) / (UINT64_C(1) << 32);
}

/* The rank at POSITION, told of MOST rounds at most. */
static void add_rank(survey *s, const coll_values *values, int position, uint64_t most) {
    enum { A_STEP = 16 }; /* ranks that a plan or a round looks at take as long */
    const int rank = s->line->order[position];
    s->line->position = position;
    s->part = coll_price_part(s->shape, values, s->line, rank == s->shape->root, &s->even);
    s->part.shared = s->shared;
    const coll_plan *plan = s->planner->plan(&s->part, s->size, s->own);
    uint64_t rounds = plan->rounds < most ? plan->rounds : most;
    s->asked++;
    s->work += (rounds + 1) * (uint64_t)(s->shape->topo->ranks / A_STEP);
    for (uint64_t i = 0; i < rounds; i++) {
        int count = plan->round(plan, chosen_round(i, rounds, plan->rounds), s->steps);
        s->work += (uint64_t)count;
        for (int k = 0; k < count; k++)
            add_step(s, rank, &s->steps[k], (double)plan->rounds / (double)rounds);
    }
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

/* Of ranks that were asked; where they weren't all, the mean of the links, which the busiest is not
 * below. */
static double busiest(const survey *s, int kind) {
    const int links = count_links(s->shape->topo, kind);
    double most = 0;
    for (int way = 0; way < DIRECTIONS; way++) {
        double all = 0, here = 0;
        for (int i = 0; i < links; i++) {
            all += s->bytes[kind][way][i];
            here = fmax(here, s->bytes[kind][way][i]);
        }
        if (s->asked < s->asking)
            here = all * s->shape->topo->ranks / s->asked / links;
        most = fmax(most, here);
    }
    return most;
}

/* Bytes a second through a link; 0: as many as come. */
static double rate(const survey *s, int kind) {
    const double stream = 32 << 10;
    const coll_cost *host = &s->shape->profile->level[COLL_LEVEL_RACK];
    return kind == COLL_LINK_HOST   ? stream / coll_cost_send_gap(host, stream)
           : kind == COLL_LINK_RACK ? s->network.rate[COLL_LEVEL_SITE]
                                    : s->network.rate[COLL_LEVEL_WIDE];
}

static void sum_up(const survey *s, coll_traffic *traffic) {
    traffic->seconds = 0;
    for (int kind = 0; kind < COLL_LINKS; kind++) {
        double bytes = busiest(s, kind);
        traffic->busiest[kind] = bytes;
        if (rate(s, kind) > 0)
            traffic->seconds = fmax(traffic->seconds, bytes / rate(s, kind));
    }
}

bool coll_traffic_count(const coll_algorithm *algorithm, const coll_shape *shape,
                        const coll_values *values, uint64_t rounds, void *memory, size_t bytes,
                        coll_traffic *traffic) {
    survey s = {.planner = algorithm->planner, .shape = shape, .room = memory, .left = bytes};
    if (!reserve(&s) || !prepare(&s, values))
        return false;
    coll_part part = coll_price_part(shape, values, s.line, false, &s.even);
    const coll_fold fold = coll_fold_find(&part, s.planner, s.line, s.fold);
    uint64_t each = rounds / (uint64_t)fold.ranks;
    s.asking = fold.ranks;
    const int stride = stride_of(fold.ranks);
    for (int64_t at = 0; s.asked < s.asking && s.work < rounds * A_ROUND; at += stride)
        add_rank(&s, values, (int)(at % fold.ranks), each ? each : 1);
    sum_up(&s, traffic);
    return true;
}

int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic) {
    enum { ROUNDS = 1 << 21, BYTES = 1 << 20 };
    bool found = false;
    char *memory = NULL;
    for (size_t bytes = BYTES; !found && (memory = malloc(bytes)); bytes *= 2) {
        found = coll_traffic_count(algorithm, shape, values, ROUNDS, memory, bytes, traffic);
        free(memory);
    }
    return found ? MPI_SUCCESS
                 : coll_error(MPI_ERR_NO_MEM, "no memory to count what %s sends", algorithm->name);
}

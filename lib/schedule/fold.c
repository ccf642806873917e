#include "config.h"

#include "lib/schedule/fold.h"

#include "lib/base/comm.h"

/* Ranks of a copy that are looked at, each beside others, and rounds of such a pair's plans: fewer
 * where these have many steps. Each pair is looked at in rounds of its own. */
enum { RANKS = 6, OTHERS = 3, PAIRS = RANKS * OTHERS, ROUNDS = 16, STEPS = 1 << 10 };

/* Two plans, and the steps of one round of each. */
typedef struct pair {
    coll_plan_size size;
    void *memory[2];
    coll_step *steps[2];
    int *positions;       /* of all ranks */
    int looked_at, empty; /* rounds */
    bool left_out;        /* some others */
} pair;

/* --- Places --- */

/* Whether two neighbours in the line are apart as two others are. */
static bool are_alike(const coll_place *a, const coll_place *b, const coll_place *c,
                      const coll_place *d) {
    return (a->site == b->site) == (c->site == d->site) &&
           (a->rack == b->rack) == (c->rack == d->rack) &&
           (a->node == b->node) == (c->node == d->node) &&
           (a->numa == b->numa) == (c->numa == d->numa);
}

/* The ranks of the first of the largest parts that the line consists of: each has links of its own,
 * and all are as far apart. */
static int first_part(const coll_topo *topo, const int order[]) {
    const coll_place *first = &topo->places[order[0]];
    int count = 1;
    for (; count < topo->ranks; count++) {
        const coll_place *place = &topo->places[order[count]];
        if (topo->sites > 1   ? place->site != first->site
            : topo->racks > 1 ? place->rack != first->rack
                              : place->node != first->node)
            break;
    }
    return count;
}

/* The ranks of each part, where all are alike; else all. */
static int ranks_of_parts(const coll_topo *topo, const int order[]) {
    const coll_place *places = topo->places;
    const int count = first_part(topo, order), parts = topo->sites > 1   ? topo->sites
                                                       : topo->racks > 1 ? topo->racks
                                                                         : topo->nodes;
    if (count * parts != topo->ranks)
        return topo->ranks;
    for (int i = 0; i + count + 1 < topo->ranks; i++)
        if (!are_alike(&places[order[i]], &places[order[i + 1]], &places[order[i + count]],
                       &places[order[i + count + 1]]))
            return topo->ranks;
    return count;
}

/* --- Plans --- */

static bool same_wait(const coll_step *a, const coll_step *b) {
    if (a->after_earlier != b->after_earlier || a->afters != b->afters)
        return false;
    for (int i = 0; i < a->afters; i++)
        if (a->after[i].back != b->after[i].back || a->after[i].step != b->after[i].step)
            return false;
    return true;
}

/* Where the rank that stands at POSITION for the first copy stands for the one that begins AWAY. */
static int moved(const coll_fold *fold, int all, int position, int away) {
    return fold->mirrored ? position ^ away : (position + away) % all;
}

/* Whether they take as long, at the same time. */
static bool same_step(const pair *two, const coll_fold *fold, int all, int away, int i) {
    const coll_step *a = &two->steps[0][i], *b = &two->steps[1][i];
    if (a->kind != b->kind || a->length != b->length || !same_wait(a, b))
        return false;
    return !coll_step_is_message(a) ||
           (a->lane == b->lane &&
            moved(fold, all, two->positions[a->peer], away) == two->positions[b->peer]);
}

static bool same_plan(coll_part *part, const coll_planner *planner, coll_line *line,
                      const coll_fold *fold, pair *two, int nth, int position, int away) {
    const int all = part->shape->topo->ranks, at[] = {position, moved(fold, all, position, away)};
    const coll_plan *plan[2];
    for (int which = 0; which < 2; which++) {
        line->position = at[which];
        plan[which] = planner->plan(part, two->size, two->memory[which]);
    }
    if (plan[0]->rounds != plan[1]->rounds)
        return false;
    const uint64_t few = (uint64_t)(STEPS / plan[0]->size.steps) + 1,
                   most = plan[0]->rounds < ROUNDS ? plan[0]->rounds : ROUNDS,
                   rounds = few < most ? few : most;
    for (uint64_t r = 0; r < rounds; r++) {
        int count[2];
        for (int which = 0; which < 2; which++) {
            line->position = at[which];
            count[which] = plan[which]->round(
                plan[which], (r * PAIRS + (uint64_t)nth) * plan[0]->rounds / (rounds * PAIRS),
                two->steps[which]);
        }
        for (int i = 0; i < count[0] && count[0] == count[1]; i++)
            if (!same_step(two, fold, all, away, i))
                return false;
        if (count[0] != count[1])
            return false;
        two->looked_at++;
        two->empty += count[0] == 0;
    }
    two->left_out |= rounds < plan[0]->rounds;
    return true;
}

/* The first copy's plans, beside those of the second, of one amid all and of the last. Where rounds
 * are left out, and most that are looked at have no steps, these tell nothing. */
static bool same_plans(coll_part *part, const coll_planner *planner, coll_line *line,
                       const coll_fold *fold, pair *two) {
    const int copies = part->shape->topo->ranks / fold->ranks,
              others[OTHERS] = {1, copies / 2, copies - 1};
    for (int nth = 0; nth < PAIRS; nth++) {
        const int position = (int)((int64_t)(nth / OTHERS) * (fold->ranks - 1) / (RANKS - 1)),
                  away = others[nth % OTHERS] * fold->ranks;
        if (away > 0 && !same_plan(part, planner, line, fold, two, nth, position, away))
            return false;
    }
    return !two->left_out || two->empty <= two->looked_at / 2;
}

static bool is_power_of_two(int number) {
    return (number & (number - 1)) == 0;
}

static size_t steps_bytes(const coll_plan_size *size) {
    return (size_t)size->steps * sizeof(coll_step);
}

size_t coll_fold_bytes(const coll_part *part, const coll_planner *planner) {
    const coll_plan_size size = planner->size(part);
    return coll_comm_room_of((size_t)part->shape->topo->ranks * sizeof(int)) +
           2 * (coll_comm_room_of(size.own_bytes) + coll_comm_room_of(steps_bytes(&size)));
}

coll_fold coll_fold_find(coll_part *part, const coll_planner *planner, coll_line *line,
                         void *memory) {
    const coll_plan_size size = planner->size(part);
    const int all = part->shape->topo->ranks;
    const coll_fold none = {.ranks = all};
    coll_fold fold = {.ranks = part->shape->root == COLL_NO_ROOT && !part->shape->latencies
                                   ? ranks_of_parts(part->shape->topo, line->order)
                                   : all};
    if (fold.ranks == all)
        return none;
    char *next = memory;
    pair two = {.size = size, .positions = coll_comm_room_take(&next, (size_t)all * sizeof(int))};
    for (int which = 0; which < 2; which++) {
        two.memory[which] = coll_comm_room_take(&next, size.own_bytes);
        two.steps[which] = coll_comm_room_take(&next, steps_bytes(&size));
    }
    for (int i = 0; i < all; i++)
        two.positions[line->order[i]] = i;
    if (same_plans(part, planner, line, &fold, &two))
        return fold;
    fold.mirrored = is_power_of_two(fold.ranks) && is_power_of_two(all);
    return fold.mirrored && same_plans(part, planner, line, &fold, &two) ? fold : none;
}

#include "config.h"

#include "lib/schedule/labour.h"

#include "lib/base/comm.h"
#include "lib/schedule/network.h"

static void add_step(coll_labour *all, coll_network *network, int rank, const coll_step *step) {
    enum { EVENTS_OF_MESSAGE = 6 };
    if (!coll_step_is_message(step)) {
        all->processor += coll_network_copy(network, step->length);
        all->events++;
        return;
    }
    coll_level level = coll_topo_level(network->topo, rank, step->peer);
    const coll_toll *toll = coll_network_toll(network, level, step->length);
    bool sends = step->kind == COLL_STEP_SEND;
    all->processor += sends ? toll->send : toll->take;
    all->events += EVENTS_OF_MESSAGE / 2;
    if (level > COLL_LEVEL_NODE)
        *(sends ? &all->out : &all->in) += sends ? toll->out : toll->in;
}

static void add_rounds(coll_labour *all, coll_network *network, int rank, const coll_plan *plan,
                       coll_step steps[]) {
    enum { MOST = 1 << 8, ROUNDS_OF_EVENT = 4 }; /* also a round without steps takes its time */
    uint64_t rounds = plan->rounds < MOST ? plan->rounds : MOST;
    for (uint64_t i = 0; i < rounds; i++) {
        int count = plan->round(plan, i * plan->rounds / rounds, steps);
        for (int k = 0; k < count; k++)
            add_step(all, network, rank, &steps[k]);
    }
    int64_t *const sums[] = {&all->processor, &all->out, &all->in, &all->events};
    for (int i = 0; i < 4 && rounds; i++)
        *sums[i] = coll_price_sum(0, *sums[i], rounds, plan->rounds);
    all->events += (int64_t)(plan->rounds / ROUNDS_OF_EVENT);
}

bool coll_labour_find(const coll_price_call *call, coll_line *line, int position,
                      coll_labour *labour) {
    const coll_planner *planner = call->algorithm->planner;
    const coll_shape *shape = call->shape;
    char *next = call->memory;
    size_t left = call->bytes;
    coll_network network;
    coll_blocks even;
    line->position = position;
    coll_network_open(&network, shape, call->whole, NULL);
    bool is_root = line->order[position] == shape->root;
    coll_part part = coll_price_part(shape, call->values, line, is_root, &even);
    coll_plan_size size = planner->size(&part);
    size_t shared_bytes = planner->share ? planner->shared_bytes(&part) : 0;
    void *own = coll_comm_room_cut(&next, &left, size.own_bytes),
         *shared = coll_comm_room_cut(&next, &left, shared_bytes);
    coll_step *steps = coll_comm_room_cut(&next, &left, (size_t)size.steps * sizeof *steps);
    if (!own || !shared || !steps)
        return false;
    if (planner->share) {
        planner->share(&part, shared);
        part.shared = shared;
    }
    *labour = (coll_labour){.processor = 0};
    add_rounds(labour, &network, line->order[position], planner->plan(&part, size, own), steps);
    return true;
}

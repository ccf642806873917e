#include "config.h"

#include "lib/schedule/sample.h"

#include "lib/base/comm.h"

typedef struct sample {
    coll_plan base;
    const coll_plan *all;
    coll_step *steps; /* scratch for one of its rounds */
} sample;

static int round_of(const sample *some, uint64_t round, coll_step steps[]) {
    return some->all->round(some->all, round * some->all->rounds / some->base.rounds, steps);
}

/* What a step comes after may be in a round that isn't chosen: then the one in its place counts. */
static int sample_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const sample *some = (const sample *)base;
    int count = round_of(some, round, steps);
    for (int i = 0; i < count; i++) {
        int kept = 0;
        for (int k = 0; k < steps[i].afters; k++) {
            const coll_after after = steps[i].after[k];
            uint64_t back = (uint64_t)after.back;
            if (back == 0 ||
                (back <= round && after.step < round_of(some, round - back, some->steps)))
                steps[i].after[kept++] = after;
        }
        steps[i].afters = kept;
    }
    return count;
}

size_t coll_sample_bytes(const coll_plan_size *size) {
    return coll_comm_room_of(sizeof(sample)) +
           coll_comm_room_of((size_t)size->steps * sizeof(coll_step));
}

coll_plan *coll_sample_open(const coll_plan *all, uint64_t rounds, void *memory) {
    char *room = memory;
    sample *some = coll_comm_room_take(&room, sizeof *some);
    *some = (sample){.base = {.size = all->size, .rounds = rounds, .round = sample_round},
                     .all = all,
                     .steps = (coll_step *)room};
    return &some->base;
}

#include "config.h"

#include "lib/profile.h"

const coll_profile *coll_profile_builtin(void) {
    static const coll_profile builtin = {
        .source = "built-in",
        .level =
            {
                [COLL_LEVEL_NUMA] = {.latency = 0.5e-6, .overhead = 0.2e-6, .per_byte = 0.12e-9},
                [COLL_LEVEL_NODE] = {.latency = 0.8e-6, .overhead = 0.3e-6, .per_byte = 0.2e-9},
                [COLL_LEVEL_RACK] = {.latency = 40e-6, .overhead = 5e-6, .per_byte = 8.5e-9},
                [COLL_LEVEL_SITE] = {.latency = 60e-6, .overhead = 5e-6, .per_byte = 8.5e-9},
                [COLL_LEVEL_WIDE] = {.latency = 10e-3, .overhead = 5e-6, .per_byte = 8.5e-9},
            },
    };
    return &builtin;
}

const coll_cost *coll_profile_outermost(const coll_profile *profile, const coll_topo *topo) {
    coll_level level = topo->sites > 1   ? COLL_LEVEL_WIDE
                       : topo->racks > 1 ? COLL_LEVEL_SITE
                       : topo->nodes > 1 ? COLL_LEVEL_RACK
                                         : COLL_LEVEL_NODE;
    return &profile->level[level];
}

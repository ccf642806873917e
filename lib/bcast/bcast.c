#include "config.h"

#include "lib/bcast/bcast.h"

coll_planned coll_bcast_planned(const coll_algorithm *algorithm, const void *call,
                                const coll_values *values) {
    const coll_bcast_call *of = call;
    return (coll_planned){.comm = of->comm,
                          .algorithm = algorithm,
                          .call = call,
                          .part = {.shape = of->shape,
                                   .values = values,
                                   .line = of->line ? of->line : coll_line_of(of->comm, of->shape),
                                   .own = of->data->bytes},
                          .data = of->data,
                          .tag = of->tag ? of->tag : COLL_TAG_BCAST};
}

size_t coll_bcast_segment(const coll_shape *call, uint64_t wanted, double fill) {
    const uint64_t on_one_node = 1 << 20;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    if (wanted == 0 && call->topo->nodes == 1)
        wanted = on_one_node;
    return coll_profile_segment_or(wanted, link, call->bytes, fill);
}

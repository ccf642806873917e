#include "config.h"

#include "lib/bcast/bcast.h"

#include "lib/schedule/engine.h"

static coll_planned planned_of(const coll_algorithm *algorithm, const coll_bcast_call *call,
                               const coll_values *values) {
    return (coll_planned){
        .comm = call->comm,
        .planner = coll_planner_of(algorithm, values),
        .part = {.shape = call->shape,
                 .values = values,
                 .line = call->line ? call->line : coll_line_of(call->comm, call->shape),
                 .own = call->data->bytes},
        .data = call->data,
        .tag = call->tag ? call->tag : COLL_TAG_BCAST};
}

size_t coll_bcast_bytes(const coll_algorithm *algorithm, const void *call,
                        const coll_values *values) {
    coll_planned planned = planned_of(algorithm, call, values);
    return coll_engine_bytes(&planned);
}

coll_course coll_bcast_open(const coll_algorithm *algorithm, const void *call,
                            const coll_values *values, void *memory) {
    coll_planned planned = planned_of(algorithm, call, values);
    return coll_engine_open(&planned, memory);
}

int coll_bcast_run(const coll_algorithm *algorithm, const coll_bcast_call *call,
                   const coll_values *values) {
    void *memory;
    if (!coll_planner_of(algorithm, values))
        return ((const coll_bcast_algorithm *)algorithm)->run(call, values);
    int code = coll_comm_room(call->comm, coll_bcast_bytes(algorithm, call, values), &memory);
    return code == MPI_SUCCESS ? coll_course_run(coll_bcast_open(algorithm, call, values, memory))
                               : code;
}

size_t coll_bcast_segment(const coll_shape *call, uint64_t wanted, double fill) {
    const uint64_t on_one_node = 1 << 20;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    if (wanted == 0 && call->topo->nodes == 1)
        wanted = on_one_node;
    return coll_profile_segment_or(wanted, link, call->bytes, fill);
}

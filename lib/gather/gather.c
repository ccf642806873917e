#include "config.h"

#include "lib/gather/gather.h"
#include "lib/pattern/incast.h"
#include "lib/schedule/engine.h"

#include <math.h>

int coll_gather_run(const coll_algorithm *algorithm, const coll_gather_call *call,
                    const coll_values *values) {
    const coll_planner *planner = coll_planner_of(algorithm, values);
    if (!planner)
        return ((const coll_gather_algorithm *)algorithm)->run(call, values);
    const coll_planned planned = {.comm = call->comm,
                                  .planner = planner,
                                  .part = {.shape = call->shape,
                                           .values = values,
                                           .line = coll_line_of(call->comm, call->shape),
                                           .own = call->mine ? call->mine->bytes : 0,
                                           .blocks = call->blocks},
                                  .data = call->mine,
                                  .tag = COLL_TAG_GATHER};
    return coll_engine_run(&planned);
}

double coll_gather_seconds(const coll_shape *call, double messages) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double senders = fmax(call->topo->ranks - 1, 1), items = senders * (double)call->bytes;
    double start = coll_cost_transfer(link, 0, 2);
    double through = coll_cost_transfer(link, items, 2) - start;
    double taken = senders * messages * coll_cost_receive_gap(link, 0);
    double first = coll_cost_send_overhead(link, (double)call->bytes) + start;
    double last = coll_cost_arrival_overhead(link, (double)call->bytes) +
                  coll_cost_receive_overhead(link, (double)call->bytes);
    return coll_incast_seconds(first, items, items / fmax(through, taken), last);
}

/* Where nobody has measured it: that of the smallest switches. */
static const double SMALL_BUFFER = 60e3;

double coll_gather_buffer(const coll_shape *call) {
    double buffer = coll_cost_buffer(coll_profile_outermost(call->profile, call->topo));
    return buffer > 0 ? buffer : SMALL_BUFFER;
}

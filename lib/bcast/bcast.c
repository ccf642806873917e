#include "config.h"

#include "lib/bcast/bcast.h"

#include "lib/schedule/engine.h"

int coll_bcast_run(const coll_algorithm *algorithm, const coll_bcast_call *call,
                   const coll_values *values) {
    const coll_planned planned = {.comm = call->comm,
                                  .planner = coll_planner_of(algorithm, values),
                                  .part = {.shape = call->shape,
                                           .values = values,
                                           .line = coll_line_of(call->comm, call->shape),
                                           .own = call->data->bytes},
                                  .data = call->data,
                                  .tag = COLL_TAG_BCAST};
    return planned.planner ? coll_engine_run(&planned)
                           : ((const coll_bcast_algorithm *)algorithm)->run(call, values);
}

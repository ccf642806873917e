/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/trace.h"

#include "lib/base/c_locale.h"
#include "lib/tuning/predict.h"
#include "lib/tuning/state.h"

#include <stdio.h>

void coll_trace(const coll_comm *comm, const char *operation, const coll_shape *call, size_t bytes,
                const coll_choice *choice, double seconds) {
    const coll_state *state = coll_state_of(comm);
    if (!state->trace)
        return;
    char algorithm[COLL_SPEC_MAX];
    double predicted = call->bytes == COLL_BYTES_UNKNOWN
                           ? 0
                           : coll_predicted(choice->algorithm, call, &choice->values);
    coll_spec_print(choice->algorithm, &choice->values, algorithm, sizeof algorithm);
    coll_c_locale_print(
        stderr,
        "coll: %s bytes=%zu ranks=%d nodes=%d choice=%s why=\"%s\" predicted=%.3g seconds=%.6f\n",
        operation, bytes, comm->ranks, state->topo.nodes, algorithm, choice->why, predicted,
        seconds);
}

#include "config.h"

#include "lib/operation/decisions.h"

#include "lib/base/spare.h"

coll_decision *coll_decisions_at(const coll_decisions *decisions, size_t bytes) {
    return decisions->last ? &decisions->last[coll_size_class(bytes) % COLL_DECISIONS]
                           : (coll_decision *)&decisions->only;
}

bool coll_decision_same(const coll_shape *a, const coll_shape *b) {
    return a->bytes == b->bytes && a->root == b->root && coll_select_alike(a, b);
}

/* They may be measured anew at any time, alike on all ranks. */
static double all_latencies(const coll_topo *topo) {
    double all = 0;
    for (int i = 0; topo->latencies && i < topo->sites * topo->sites; i++)
        all += topo->latencies[i] * (i + 1);
    return all;
}

bool coll_decision_holds(const coll_decision *last, const coll_shape *call) {
    const coll_choice *choice = &last->choices.of[0];
    if (!choice->algorithm || last->latencies != all_latencies(call->topo))
        return false;
    return coll_decision_same(&last->call, call) ||
           (call->topo->sites == 1 && choice->predicted > 0 &&
            coll_select_alike(&last->call, call) &&
            coll_select_applicable(choice->algorithm, call));
}

coll_decision *coll_decisions_keep(coll_decisions *decisions, const coll_shape *call,
                                   const coll_choices *choices) {
    if (!decisions->last)
        decisions->last = coll_spare_calloc(COLL_DECISIONS, sizeof *decisions->last);
    coll_decision *last = coll_decisions_at(decisions, call->bytes);
    *last =
        (coll_decision){.call = *call, .latencies = all_latencies(call->topo), .choices = *choices};
    return last;
}

void coll_decisions_free(coll_decisions *decisions) {
    coll_spare_free(decisions->last);
    *decisions = (coll_decisions){.native = false};
}

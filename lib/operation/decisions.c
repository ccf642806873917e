#include "config.h"

#include "lib/operation/decisions.h"

#include "lib/base/spare.h"

coll_decision *coll_decisions_find(coll_decisions *decisions, size_t bytes) {
    const int size_class = coll_size_class(bytes);
    coll_decision *one = decisions->first;
    while (one && one->size_class != size_class)
        one = one->next;
    return one;
}

const coll_decision *coll_decisions_at(const coll_decisions *decisions, size_t bytes) {
    static const coll_decision none = {.native = false};
    const coll_decision *found = coll_decisions_find((coll_decisions *)decisions, bytes);
    return found ? found : &none;
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
    static _Thread_local coll_decision unkept;
    coll_decision *last = coll_decisions_find(decisions, call->bytes);
    if (!last && (last = coll_spare_calloc(1, sizeof *last))) {
        last->next = decisions->first;
        decisions->first = last;
    }
    if (!last)
        last = &unkept;
    *last = (coll_decision){.next = last->next,
                            .size_class = coll_size_class(call->bytes),
                            .call = *call,
                            .latencies = all_latencies(call->topo),
                            .choices = *choices};
    return last;
}

void coll_decisions_free(coll_decisions *decisions) {
    for (coll_decision *next, *one = decisions->first; one; one = next) {
        next = one->next;
        coll_spare_free(one);
    }
    *decisions = (coll_decisions){.native = false};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/mutant.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

mutation mutant;

static void drop(coll_step steps[], int which, int count) {
    memmove(&steps[which], &steps[which + 1], (size_t)(count - which - 1) * sizeof *steps);
    for (int i = which; i < count - 1; i++)
        for (int k = 0; k < steps[i].afters; k++)
            if (steps[i].after[k].back == 0 && steps[i].after[k].step >= which) {
                bool gone = steps[i].after[k].step == which;
                steps[i].after[k].step--;
                if (gone)
                    steps[i].after[k--] = steps[i].after[--steps[i].afters];
            }
}

static bool waits(const coll_step steps[], int which, int window);

/* Returns whether a step is complete by itself soon after its round begins. */
static bool is_at_once(const coll_step steps[], int which, int window) {
    return steps[which].kind == COLL_STEP_COPY && !waits(steps, which, window);
}

/*
 * Returns whether step WHICH waits for others that may be incomplete when its round, of STEPS,
 * begins.
 */
static bool waits(const coll_step steps[], int which, int window) {
    const coll_step *step = &steps[which];
    for (int i = 0; i < step->afters; i++) {
        const coll_after *after = &step->after[i];
        if (after->back < window && !after->paces &&
            (after->back > 0 || !is_at_once(steps, after->step, window)))
            return true;
    }
    for (int i = 0; i < which && step->after_earlier; i++)
        if (!is_at_once(steps, i, window))
            return true;
    return false;
}

/* Returns whether any of the BACK rounds before ROUND sends no data. */
static bool is_idle(const coll_plan *plan, uint64_t round, int back) {
    coll_step steps[64];
    bool idle = false;
    for (; back > 0 && !idle; back--) {
        idle = true;
        for (int i = plan->round(plan, round - (uint64_t)back, steps) - 1; i >= 0; i--)
            idle = idle && (steps[i].kind != COLL_STEP_SEND || !steps[i].length);
    }
    return idle;
}

static int mutate_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const mutation *m = (const mutation *)base;
    int count = m->original->round(m->original, round, steps);
    if (round != m->round || m->step >= count)
        return count;
    coll_step *step = &steps[m->step];
    size_t bytes = step->length;
    mutant.done = true;
    switch (m->kind) {
    case DROPPED:
        drop(steps, m->step, count);
        return count - 1;
    case OTHER_PEER:
        do
            step->peer = (step->peer + 1) % m->ranks;
        while (step->peer == m->rank);
        mutant.done = m->ranks > 2 && coll_step_is_message(step);
        break;
    case OTHER_RANGE: {
        size_t *from = step->buffer == COLL_SCRATCH ? &step->at : &step->from;
        *from = *from ? *from - 1 : 1;
        mutant.done = bytes > 0;
        break;
    }
    case SHORTER:
        step->length = 0;
        mutant.done = bytes > 0;
        break;
    case NO_DEPENDENCY:
        /*
         * Copies that only wait for each other are complete soon after their round begins, but not
         * before a step that waits for nothing. Whether that step needs them is unknown.
         */
        mutant.done = waits(steps, m->step, m->original->size.window);
        if (!mutant.done)
            break;
        step->afters = 0;
        step->after_earlier = false;
        break;
    case NO_WINDOW:
        mutant.done = step->afters > 0;
        if (!mutant.done)
            break;
        step->afters--;
        mutant.done = !step->after[step->afters].paces;
        mutant.idle = is_idle(m->original, round, step->after[step->afters].back);
        for (int i = 0; i < step->afters; i++)
            mutant.idle = mutant.idle || step->after[i].paces;
        break;
    default:
        step->kind = step->kind == COLL_STEP_SEND ? COLL_STEP_RECEIVE : COLL_STEP_SEND;
    }
    return count;
}

const coll_plan *mutant_alter(const coll_plan *plan, int rank, void *context) {
    mutation *m = context;
    if (rank != m->rank || plan->rounds == 0)
        return plan;
    m->original = plan;
    m->base = *plan;
    m->base.round = mutate_round;
    m->step %= plan->size.steps;
    m->round %= plan->rounds;
    return &m->base;
}

coll_topo made_topo(int ranks, int a_host, bool racks) {
    coll_topo topo = {.ranks = ranks, .sites = 1, .most_ranks_per_node = abs(a_host)};
    topo.places = calloc((size_t)ranks, sizeof *topo.places);
    if (!topo.places)
        abort();
    int left = 1;
    for (int rank = 0, next = 0; rank < ranks; rank++) { /* NEXT is the first of the next host */
        if (rank == next) {
            next += a_host > 0 ? a_host : topo.nodes % -a_host + 1;
            topo.nodes++;
            if (topo.racks == 0 || (racks && left-- == 0)) {
                left = topo.racks++;
            }
        }
        topo.places[rank] = (coll_place){.node = topo.nodes - 1, .rack = topo.racks - 1};
    }
    return topo;
}

void mutant_expect_caught(mutant_change *make, int which, int wanted) {
    generator g = {17};
    int made = 0, missed = 0;
    for (int tries = 0; made < wanted && tries < 100 * wanted; tries++) {
        char what[200];
        bool done, caught = make(which, &g, &done, what, sizeof what);
        made += done;
        if (done && !caught) {
            missed++;
            printf("not caught: %s\n", what);
            fflush(stdout); /* a failure ends the process without flushing */
        }
        if (caught && !done)
            ck_abort_msg("no mutation, but caught: %s", what);
    }
    ck_assert_int_eq(missed, 0);
    ck_assert_int_ge(made, wanted);
}

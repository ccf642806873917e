/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes plans that are wrong in one step, to prove that the prover detects it; and made-up
 * topologies.
 */
#ifndef COLL_TESTS_SUPPORT_MUTANT_H
#define COLL_TESTS_SUPPORT_MUTANT_H

#include "lib/plan/plan.h"
#include "lib/topology/topo.h"
#include "tests/support/generator.h"

/* A plan that equals another one except in one step. */
typedef enum mutation_kind {
    DROPPED,
    OTHER_PEER,
    OTHER_RANGE,
    SHORTER,
    NO_DEPENDENCY,
    OTHER_DIRECTION,
    NO_WINDOW, /* removes the last dependency, which is a broadcast's window if there are two */
    MUTATIONS
} mutation_kind;
typedef struct mutation {
    coll_plan base;
    const coll_plan *original;
    mutation_kind kind;
    int rank, ranks, step;
    uint64_t round;
    bool done; /* the step exists, and was changed */
    /* The rank sends nothing in one of the rounds that a removed window spans, or is paced. */
    bool idle;
} mutation;

/*
 * The mutation that is simulated. A plan's rounds get the plan as a constant, so they record here
 * whether they changed anything.
 */
extern mutation mutant;

/* A function for prover_call.alter, with the mutant as its context. */
const coll_plan *mutant_alter(const coll_plan *plan, int rank, void *context);

/*
 * Makes a random change of plan WHICH, drawn from G, and returns whether it is caught. Sets *DONE
 * if there was a step to change. Describes the change in TEXT, of SIZE bytes.
 */
typedef bool mutant_change(int which, generator *g, bool *done, char *text, size_t size);

/* Asserts that WANTED random changes of plan WHICH are all caught. */
void mutant_expect_caught(mutant_change *make, int which, int wanted);

/*
 * Makes a topology with A_HOST ranks on each host; if A_HOST is negative, with 1, 2, ..., -A_HOST
 * ranks on one host after the other, and so on. If RACKS, each rack has one more host than the one
 * before; otherwise there is one rack. The caller frees it.
 */
coll_topo made_topo(int ranks, int a_host, bool racks);

#endif

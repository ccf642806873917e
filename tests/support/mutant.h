/* Plans that are wrong in one step, for proofs that the prover sees it; and made-up topologies. */
#ifndef COLL_TESTS_SUPPORT_MUTANT_H
#define COLL_TESTS_SUPPORT_MUTANT_H

#include "lib/plan/plan.h"
#include "lib/topology/topo.h"
#include "tests/support/generator.h"

/* A plan that does as another does but for one step. */
typedef enum mutation_kind {
    DROPPED,
    OTHER_PEER,
    OTHER_RANGE,
    SHORTER,
    NO_DEPENDENCY,
    OTHER_DIRECTION,
    NO_WINDOW, /* the last dependency, which is a broadcast's window where there are two */
    MUTATIONS
} mutation_kind;
typedef struct mutation {
    coll_plan base;
    const coll_plan *original;
    mutation_kind kind;
    int rank, ranks, step;
    uint64_t round;
    bool done; /* the step is there, and changed */
    /* The rank sends nothing in one of the rounds that a window that is gone spans, or is paced. */
    bool idle;
} mutation;

/* The one that is played: a plan's rounds get it as a constant, and note what they did. */
extern mutation mutant;

/* For prover_call.alter, with the mutant as its context. */
const coll_plan *mutant_alter(const coll_plan *plan, int rank, void *context);

/* Makes a random change of plan WHICH by G, and says whether it is caught; *DONE: there was a step
 * to change. TEXT, of SIZE bytes, describes it. */
typedef bool mutant_change(int which, generator *g, bool *done, char *text, size_t size);

/* A test's assertion: WANTED random changes of plan WHICH are all caught. */
void mutant_expect_caught(mutant_change *make, int which, int wanted);

/* Ranks on hosts on racks: so many a host; racks grow by one host each, or there is one rack. The
 * caller frees it. */
coll_topo made_topo(int ranks, int a_host, bool racks);

#endif

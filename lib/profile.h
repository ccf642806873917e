/* The cost model's parameters for each level of the machine. */
#ifndef COLL_LIB_PROFILE_H
#define COLL_LIB_PROFILE_H

#include "lib/topo.h"

typedef struct coll_cost {
    double latency;  /* s: from the start of a small send to its arrival */
    double overhead; /* s: processor time of one send or one receive */
    double per_byte; /* s: the gap per byte of a stream of messages, 1 / bandwidth */
} coll_cost;

typedef struct coll_profile {
    const char *source; /* "built-in" or the file it was read from */
    coll_cost level[COLL_LEVELS];
} coll_profile;

/* Values typical of shared memory within nodes and of gigabit Ethernet between them. */
const coll_profile *coll_profile_builtin(void);

/* The cost of the farthest level at which ranks of TOPO are apart: what bounds most algorithms. */
const coll_cost *coll_profile_outermost(const coll_profile *profile, const coll_topo *topo);

#endif

/*
 * The decision layer: which algorithm runs a call. Pure: the same call, profile and word of the
 * user give the same choice on every rank.
 */
#ifndef COLL_LIB_OPERATION_SELECT_H
#define COLL_LIB_OPERATION_SELECT_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/spec.h"

typedef struct coll_choice {
    const coll_algorithm *algorithm;
    coll_values values;
    double predicted; /* s; 0 where nothing was predicted */
    const char *why;  /* a few words, static */
} coll_choice;

/*
 * Seconds that ALGORITHM takes for CALL with these values, by the cost model and, where they are
 * the defaults, the profile's trials; *MODEL, which may be NULL, is set to the model's word alone.
 */
double coll_predicted(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values, double *model);

/*
 * Whether every call on a communicator of TOPO goes to the MPI library's own, since nobody has
 * asked for anything else and all ranks are on one node, where its shared memory is hard to beat.
 */
bool coll_select_native(const coll_topo *topo, const coll_spec *user);

/*
 * Chooses from TABLE, whose first entry applies to every call: the MPI library's own. The user's
 * word comes first. Without it, in this order: that first entry on one node, or for as few bytes as
 * it says it is best for; where the sizes are not known to all, the algorithm that is made for
 * that; else the applicable one with the least predicted time, rivals left aside.
 */
coll_choice coll_select(const coll_algorithm *const table[], const coll_shape *call,
                        const coll_spec *user);

#endif

/*
 * What communicators of one job have in common, so that only the first one's set-up has to find it
 * out: the places of its ranks, and what messages cost. A communicator of some of these ranks, with
 * the same sources of both, takes it from there; one of all of them what was chosen, too.
 */
#ifndef COLL_LIB_OPERATION_COMMON_H
#define COLL_LIB_OPERATION_COMMON_H

#include "lib/base/comm.h"
#include "lib/cost/profile.h"
#include "lib/operation/operations.h"
#include "lib/operation/select.h"
#include "lib/place/topo.h"

#include <stdbool.h>

typedef struct coll_common coll_common;

/*
 * What COMM has in common with others, or is the first to find out; collective. TOPOLOGY and
 * PROFILE are where places and costs come from, as all ranks know them (lib/place/topo.h,
 * lib/cost/profile.h); files are read, and networks measured, once in a job. Sets *COMMON, to be
 * given to coll_common_release, and *TOPO, the places of COMM's ranks, which is the caller's.
 * Errors: those of coll_topo_create and coll_profile_load, on all ranks alike.
 */
int coll_common_get(coll_comm *comm, const char *topology, const char *profile,
                    coll_common **common, coll_topo *topo);

/* What messages cost; good until COMMON is released. */
const coll_profile *coll_common_profile(const coll_common *common);

/*
 * Whether a call of OPERATION like CALL was chosen for before, on a communicator whose ranks have
 * the same places: *CHOICE then. No choice is known where several sites are, whose latencies
 * change, and where COMMON is NULL.
 */
bool coll_common_find_choice(coll_common *common, coll_operation operation, bool started,
                             const coll_shape *call, coll_choice *choice);

/* Keeps CHOICE for such calls, if it rests on a prediction. */
void coll_common_keep_choice(coll_common *common, coll_operation operation, bool started,
                             const coll_shape *call, const coll_choice *choice);

/* Nothing where COMMON is NULL. What most ranks have in common is kept for communicators to come.
 */
void coll_common_release(coll_common *common);

#endif

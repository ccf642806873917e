/*
 * How a communicator is set up. Without a message where its ranks are of a job that was set up as a
 * whole (COLL_Setup_job): each process then knows the places of all, and the settings. Else its
 * ranks tell rank 0, which decides for all of them, there and back in a message each.
 */
#ifndef COLL_LIB_OPERATION_SETUP_H
#define COLL_LIB_OPERATION_SETUP_H

#include "lib/base/comm.h"
#include "lib/operation/common.h"
#include "lib/operation/settings.h"
#include "lib/place/topo.h"

#include <stdbool.h>

/* What the ranks of a communicator know alike. */
typedef struct coll_setup {
    const coll_agreed_settings *settings; /* the job's, or the next ones */
    coll_agreed_settings *own_settings;   /* the caller's, to be freed; NULL: it has none */
    coll_common *common;                  /* for coll_common_release */
    coll_topo topo;                       /* where its ranks are; the caller's */
} coll_setup;

/*
 * The first thing that is done for COMM; READY: this rank has memory for the state. Where the job
 * is known it is local, COMM's messages go by the job's transport, and the only errors are
 * MPI_ERR_NO_MEM, and MPI_ERR_ARG of COMM's info keys, which all ranks must have set alike.
 *
 * Else all ranks do it together, on the user's communicator. Each rank waits as its own environment
 * says until it knows rank 0's settings, by which COMM waits from then on. All ranks get the same
 * error: MPI_ERR_ARG of settings, MPI_ERR_FILE of a topology or profile, MPI_ERR_NO_MEM; or, late,
 * MPI's own and that of a time-out. SETUP may hold something nevertheless.
 */
int coll_setup_meet(coll_comm *comm, bool ready, coll_setup *setup);

/*
 * Measures racks and sites, for COMMON and in TOPO, COMM's places, if nobody knows them yet: the
 * one thing that takes more messages, and the private communicator. Collective.
 */
int coll_setup_measure(coll_comm *comm, coll_common *common, coll_topo *topo);

#endif

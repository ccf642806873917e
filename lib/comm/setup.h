/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up a communicator. If its ranks belong to a job that was set up as a whole
 * (COLL_Setup_job), each process knows all places and settings already, and no message is sent.
 * Else rank 0 gathers a contribution from each rank, decides on settings and topology, and
 * broadcasts the decision.
 */
#ifndef COLL_LIB_COMM_SETUP_H
#define COLL_LIB_COMM_SETUP_H

#include "coll_component.h"
#include "lib/base/comm.h"
#include "lib/comm/job_cache.h"
#include "lib/comm/settings.h"
#include "lib/topology/topo.h"

#include <stdbool.h>

/* A communicator's settings and topology, the same on all its ranks. */
typedef struct coll_setup {
    const coll_agreed_settings *settings; /* the job's, or OWN_SETTINGS */
    coll_agreed_settings *own_settings;   /* to be freed by coll_reserve_free; or NULL */
    coll_job_cache *common;               /* to be released with coll_job_cache_release */
    coll_topo topo;                       /* of its ranks; to be freed by the caller */
} coll_setup;

/*
 * Begins to set up the job as a whole: the next communicator to be set up, MPI_COMM_WORLD, uses
 * TRANSPORT instead of a private communicator, whose creation would take longer than the rest of
 * the set-up. Called on all processes, by COLL_Setup_job, which passes NULL after an error.
 */
void coll_setup_begin_job(const COLL_Transport *transport);

/* Saves the job's facts: COMMON, of MPI_COMM_WORLD, and SETTINGS, which hold for all communicators.
 */
void coll_setup_keep_job(coll_job_cache *common, const coll_agreed_settings *settings);

/*
 * Does the first step of COMM's set-up. READY: this rank has memory for the state.
 *
 * If the job is known and all processes of COMM belong to it, the call is local, and COMM uses the
 * job's transport from then on. COMM's info keys must be the same on all ranks. Errors:
 * MPI_ERR_NO_MEM, and MPI_ERR_ARG if an info key is invalid.
 *
 * Else the call is collective on the user's communicator. Each rank waits as its own environment
 * variables say until it knows rank 0's settings; from then on COMM waits as rank 0's settings say.
 * All ranks return the same error: MPI_ERR_ARG of settings, MPI_ERR_FILE of a topology or profile,
 * MPI_ERR_NO_MEM; or errors of MPI and timeouts. The caller frees what SETUP holds even after an
 * error.
 */
int coll_setup_exchange(coll_comm *comm, bool ready, coll_setup *setup);

/*
 * Measures racks and sites if they are not known yet, and stores them in COMMON and in TOPO, COMM's
 * topology. Then measures the network if COMMON says so, and stores the rates in COMMON. Uses
 * COMM's private communicator. Collective.
 */
int coll_setup_measure(coll_comm *comm, coll_job_cache *common, coll_topo *topo);

#endif

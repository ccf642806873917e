/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's facts, known to every process of MPI_COMM_WORLD after COLL_Setup_job. Communicators of
 * these processes are set up from them without a message.
 */
#ifndef COLL_LIB_COMM_JOB_H
#define COLL_LIB_COMM_JOB_H

#include "coll_component.h"
#include "lib/base/comm.h"
#include "lib/comm/job_cache.h"
#include "lib/comm/settings.h"
#include "lib/topology/topo.h"

#include <stdbool.h>

/*
 * Saves the job's facts: COMMON, of MPI_COMM_WORLD, and SETTINGS, which hold for all communicators.
 * Their messages use TRANSPORT. Called at most once, on all processes.
 */
void coll_job_keep(coll_job_cache *common, const coll_agreed_settings *settings,
                   const COLL_Transport *transport);

/* The facts of a communicator of the job. */
typedef struct coll_job_part {
    const coll_agreed_settings *settings;
    coll_job_cache *common; /* for coll_job_cache_release */
    coll_topo topo;         /* of its ranks; the caller's */
} coll_job_part;

/*
 * Sets PART to the job's facts for COMM, and makes COMM use the job's transport. Returns false, on
 * all ranks, if there is no job or COMM has a process of another job. *CODE is MPI_SUCCESS or
 * MPI_ERR_NO_MEM. Local.
 */
bool coll_job_find(coll_comm *comm, coll_job_part *part, int *code);

#endif

/*
 * What a process knows of all processes of its MPI_COMM_WORLD once COLL_Setup_job has told them: it
 * sets communicators of theirs up without a message.
 */
#ifndef COLL_LIB_OPERATION_JOB_H
#define COLL_LIB_OPERATION_JOB_H

#include "coll_tools.h"
#include "lib/base/comm.h"
#include "lib/operation/common.h"
#include "lib/operation/settings.h"
#include "lib/place/topo.h"

#include <stdbool.h>

/*
 * Keeps the job's facts: COMMON, of MPI_COMM_WORLD, and SETTINGS, which hold for all communicators.
 * Their messages go by TRANSPORT. To be called on all processes or on none, once.
 */
void coll_job_keep(coll_common *common, const coll_agreed_settings *settings,
                   const COLL_Transport *transport);

/* What holds for a communicator of the job. */
typedef struct coll_job_part {
    const coll_agreed_settings *settings;
    coll_common *common; /* for coll_common_release */
    coll_topo topo;      /* of its ranks; the caller's */
} coll_job_part;

/*
 * Finds what holds for COMM, and has its messages go by the job's transport. Returns false, the
 * same on all ranks, if the job isn't known or COMM has a rank of another one. *CODE is MPI_SUCCESS
 * or MPI_ERR_NO_MEM. Local.
 */
bool coll_job_find(coll_comm *comm, coll_job_part *part, int *code);

#endif

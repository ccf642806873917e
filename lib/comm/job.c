/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/comm/job.h"

#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"

static struct {
    coll_job_cache *common;
    coll_agreed_settings settings;
    const COLL_Transport *transport; /* NULL: the job isn't known */
} job;

void coll_job_keep(coll_job_cache *common, const coll_agreed_settings *settings,
                   const COLL_Transport *transport) {
    coll_job_cache_retain(common);
    job.common = common;
    job.settings = *settings;
    job.transport = transport;
}

bool coll_job_find(coll_comm *comm, coll_job_part *part, int *code) {
    if (!job.transport)
        return false;
    int *ranks = coll_reserve_alloc((size_t)comm->ranks * sizeof *ranks);
    bool known = !ranks || job.transport->world_ranks(comm->user, ranks);
    *code = MPI_SUCCESS;
    if (!ranks)
        *code = coll_error(MPI_ERR_NO_MEM, "no memory for the numbers of %d ranks", comm->ranks);
    else if (known)
        *code = coll_topo_part(&coll_job_cache_facts_of(job.common)->topo, comm->ranks, ranks,
                               &part->topo);
    coll_reserve_free(ranks);
    if (!known || *code != MPI_SUCCESS)
        return known;
    coll_job_cache_retain(job.common);
    part->common = job.common;
    part->settings = &job.settings;
    comm->private = comm->user;
    comm->transport = job.transport;
    return true;
}

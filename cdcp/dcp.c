/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start and the end of DCPs: which ranks serve, with which settings; and the job's data from
 * start to end.
 */
#include "config.h"

#include "cdcp/dcp.h"

#include "cdcp/client_comm.h"
#include "cdcp/dcp_allreduce.h"
#include "cdcp/job.h"
#include "cdcp/wire.h"
#include "lib/base/agree.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/size.h"
#include "lib/tuning/state.h"

#include <stdlib.h>
#include <string.h>

coll_job coll_the_job;
pthread_mutex_t coll_job_lock = PTHREAD_MUTEX_INITIALIZER;

int coll_job_tell(const void *message, size_t bytes) {
    const coll_job *job = &coll_the_job;
    return PMPI_Send(message, (int)bytes, MPI_BYTE, job->mapping.dcp_of[job->rank],
                     COLL_JOB_TAG_TO_DCP, job->wire);
}

/* The values of COLL_DCP_TRANSPORT: auto, shared, p2p. */
enum { AUTO, SHARED, MESSAGES };

/* Rank 0's settings, which hold for all ranks. */
typedef struct settings {
    coll_mapping_wish wish;
    int transport;
    uint64_t limit; /* 0 if the model determines it */
} settings;

static int read_limit(uint64_t *found) {
    const char *text = coll_env("COLL_DCP_LIMIT");
    if (!text || (coll_spec_size(text, strlen(text), found) && *found >= 1 &&
                  *found <= COLL_MODEL_LIMIT_MOST))
        return MPI_SUCCESS;
    return coll_error(MPI_ERR_ARG, "COLL_DCP_LIMIT=%.60s: a size from 1 to %dK is needed", text,
                      COLL_MODEL_LIMIT_MOST / 1024);
}

static int agree_on_settings(coll_comm *world, const char *spec, settings *agreed) {
    static const char *const transports[] = {"auto", "shared", "p2p", NULL};
    int code = MPI_SUCCESS;
    memset(agreed, 0, sizeof *agreed);
    if (world->rank == 0)
        code = coll_mapping_parse(spec, &agreed->wish);
    if (world->rank == 0 && code == MPI_SUCCESS)
        code = coll_env_word("COLL_DCP_TRANSPORT", transports, &agreed->transport);
    if (world->rank == 0 && code == MPI_SUCCESS)
        code = read_limit(&agreed->limit);
    code = coll_agree(world, code);
    return code == MPI_SUCCESS
               ? PMPI_Bcast(agreed, (int)sizeof *agreed, MPI_BYTE, 0, world->private)
               : code;
}

/* Returns the node of each rank of the job, or NULL if memory is short. */
static int *list_nodes(const coll_topo *topo) {
    int *node_of = malloc((size_t)topo->ranks * sizeof *node_of);
    for (int i = 0; node_of && i < topo->ranks; i++)
        node_of[i] = topo->places[i].node;
    return node_of;
}

static void plan_exchanges(const coll_state *world, uint64_t limit, coll_job *job) {
    const coll_cost *outer = coll_profile_outermost(world->profile, &world->topo);
    const coll_cost *inner = &world->profile->level[COLL_LEVEL_NODE];
    coll_model_job *model = &job->model;
    *model = (coll_model_job){
        .applications = job->mapping.applications,
        .dcps = job->mapping.dcps,
        .most_on_node = world->topo.most_ranks_per_node,
        .to_dcp = job->mapping.dcps < world->topo.nodes ? *outer : *inner,
        .among = *outer,
        .on_node = *inner,
    };
    const double blocks = COLL_MODEL_BLOCKS_USUAL * (double)model->applications / model->dcps;
    job->radix = coll_model_radix(model->dcps, &model->among);
    job->digits = coll_model_digits(model->dcps, blocks, &model->among);
    job->limit = limit ? (size_t)limit : coll_model_limit(model, job->radix);
    job->blocks = limit ? coll_model_blocks_for(job->limit) : coll_model_blocks(model, job->digits);
}

static int map_ranks(coll_comm *world, const settings *agreed, int *node_of) {
    coll_job *job = &coll_the_job;
    int code = node_of ? coll_mapping_make(&agreed->wish, world->ranks, node_of, &job->mapping)
                       : coll_error(MPI_ERR_NO_MEM, "no memory to map %d ranks", world->ranks);
    code = coll_agree(world, code);
    if (code == MPI_SUCCESS)
        plan_exchanges(coll_state_of(world), agreed->limit, job);
    return code;
}

static int connect_ranks(coll_comm *world, const settings *agreed, const int node_of[]) {
    coll_job *job = &coll_the_job;
    int threads = MPI_THREAD_SINGLE;
    int code = PMPI_Query_thread(&threads);
    job->threaded = threads == MPI_THREAD_MULTIPLE;
    if (code == MPI_SUCCESS && agreed->transport != MESSAGES)
        code = coll_mailboxes_make(&job->mailboxes, job->wire, &job->mapping, node_of, job->limit,
                                   job->blocks);
    if (code == MPI_SUCCESS && agreed->transport == SHARED && job->mailboxes.window == MPI_WIN_NULL)
        code = coll_error(MPI_ERR_OTHER, "COLL_DCP_TRANSPORT=shared: a node has no shared memory "
                                         "for its ranks; use auto or p2p");
    code = coll_agree(world, code);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_group(job->wire, &job->group);
    return code;
}

static int end_job(void) {
    coll_job *job = &coll_the_job;
    int code = coll_mailboxes_free(&job->mailboxes);
    if (job->group != MPI_GROUP_NULL)
        PMPI_Group_free(&job->group);
    if (job->app != MPI_COMM_NULL && code == MPI_SUCCESS)
        code = PMPI_Comm_free(&job->app);
    if (job->wire != MPI_COMM_NULL && code == MPI_SUCCESS)
        code = PMPI_Comm_free(&job->wire);
    coll_mapping_free(&job->mapping);
    return code;
}

static int begin_job(const char *spec, coll_comm *world) {
    coll_job *job = &coll_the_job;
    settings agreed;
    *job = (coll_job){.rank = world->rank,
                      .wire = MPI_COMM_NULL,
                      .group = MPI_GROUP_NULL,
                      .app = MPI_COMM_NULL,
                      .mailboxes = {.node = MPI_COMM_NULL, .window = MPI_WIN_NULL},
                      .wait = world->wait};
    int code = PMPI_Comm_dup(world->private, &job->wire);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(job->wire, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = agree_on_settings(world, spec, &agreed);
    if (code != MPI_SUCCESS)
        return code;
    int *node_of = list_nodes(&coll_state_of(world)->topo);
    code = map_ranks(world, &agreed, node_of);
    if (code == MPI_SUCCESS)
        code = connect_ranks(world, &agreed, node_of);
    free(node_of);
    return code;
}

int coll_dcp_start(const char *spec, MPI_Comm world, MPI_Comm *app) {
    coll_job *job = &coll_the_job;
    coll_comm *state;
    int code = coll_comm_get(world, &state);
    if (code != MPI_SUCCESS)
        return code;
    const double timeout = state->wait.timeout;
    state->wait.timeout = 0; /* the start may take longer than the timeout */
    code = begin_job(spec, state);
    bool serves = code == MPI_SUCCESS && job->mapping.dcp_of[job->rank] < 0;
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_split(world, serves ? MPI_UNDEFINED : 0, job->rank, &job->app);
    if (code == MPI_SUCCESS)
        code = coll_agree(state, serves ? MPI_SUCCESS : coll_client_open());
    state->wait.timeout = job->timeout = timeout;
    if (code != MPI_SUCCESS) {
        coll_client_comm_end_all();
        end_job();
        return code;
    }
    job->posts = !serves;
    if (!serves)
        coll_dcp_substituted = (coll_dcp_substitute){world, job->app, coll_dcp_most};
    *app = job->app;
    return MPI_SUCCESS;
}

int DCP_Start(const char *spec, MPI_Comm *app) {
    return coll_dcp_start(spec, MPI_COMM_WORLD, app);
}

int DCP_Serve(void) {
    int code = coll_server_run(&coll_the_job);
    return code == MPI_SUCCESS ? end_job() : code;
}

int DCP_Stop(void) {
    int code = coll_client_close();
    coll_the_job.posts = false;
    if (code == MPI_SUCCESS)
        code = coll_client_comm_end_all();
    if (code == MPI_SUCCESS)
        code = end_job();
    /*
     * This is the last step: when the communicators are freed, the program's attribute callbacks
     * run, and they get MPI_COMM_WORLD instead of its substitute only while the latter is set.
     */
    coll_dcp_substituted = (coll_dcp_substitute){MPI_COMM_NULL, MPI_COMM_NULL, NULL};
    return code;
}

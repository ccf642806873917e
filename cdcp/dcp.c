/* The start and the end: who serves, by what settings; what the job holds while DCPs serve. */
#include "config.h"

#include "cdcp/dcp.h"

#include "cdcp/client.h"
#include "cdcp/dcp_model.h"
#include "cdcp/job.h"
#include "cdcp/membership.h"
#include "cdcp/server.h"
#include "cdcp/wire.h"
#include "lib/base/agree.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/size.h"
#include "lib/operation/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

coll_job coll_the_job;
pthread_mutex_t coll_job_lock = PTHREAD_MUTEX_INITIALIZER;

int coll_job_tell(const void *message, size_t bytes) {
    const coll_job *job = &coll_the_job;
    return PMPI_Send(message, (int)bytes, MPI_BYTE, job->mapping.dcp_of[job->rank],
                     COLL_JOB_TAG_TO_DCP, job->wire);
}

typedef enum transport { AUTO, SHARED, MESSAGES } transport;

/* Rank 0's settings, which hold for all. */
typedef struct settings {
    bool good;
    char problem[COLL_WIRE_TEXT];
    coll_mapping_wish wish;
    transport transport;
    uint64_t limit; /* 0: by the model */
} settings;

static bool read_transport(settings *found) {
    static const char *const names[] = {[AUTO] = "auto", [SHARED] = "shared", [MESSAGES] = "p2p"};
    const char *text = coll_env("COLL_DCP_TRANSPORT");
    for (int i = 0; text && i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(text, names[i]) == 0) {
            found->transport = (transport)i;
            return true;
        }
    if (text)
        snprintf(found->problem, sizeof found->problem,
                 "COLL_DCP_TRANSPORT=%.60s: allowed: auto, shared, p2p", text);
    return !text;
}

static bool read_limit(settings *found) {
    const char *text = coll_env("COLL_DCP_LIMIT");
    bool good = !text || (coll_spec_size(text, strlen(text), &found->limit) && found->limit >= 1 &&
                          found->limit <= COLL_MODEL_LIMIT_MOST);
    if (!good)
        snprintf(found->problem, sizeof found->problem,
                 "COLL_DCP_LIMIT=%.60s: a size from 1 to %dK is needed", text,
                 COLL_MODEL_LIMIT_MOST / 1024);
    return good;
}

static int agree_on_settings(const char *spec, settings *agreed) {
    memset(agreed, 0, sizeof *agreed);
    if (coll_the_job.rank == 0)
        agreed->good =
            coll_mapping_parse(spec, &agreed->wish, agreed->problem, sizeof agreed->problem) &&
            read_transport(agreed) && read_limit(agreed);
    int code = PMPI_Bcast(agreed, (int)sizeof *agreed, MPI_BYTE, 0, coll_the_job.wire);
    if (code == MPI_SUCCESS && !agreed->good)
        code = coll_error(MPI_ERR_ARG, "%s", agreed->problem);
    return code;
}

/* The nodes of the job's ranks, or NULL. */
static int *list_nodes(const coll_topo *topo) {
    int *node_of = malloc((size_t)topo->ranks * sizeof *node_of);
    for (int i = 0; node_of && i < topo->ranks; i++)
        node_of[i] = topo->places[i].node;
    return node_of;
}

static void plan(const coll_state *world, uint64_t limit, coll_job *job) {
    const coll_cost *outer = coll_profile_outermost(world->profile, &world->topo);
    const coll_cost *inner = &world->profile->level[COLL_LEVEL_NODE];
    const coll_model_job model = {
        .applications = job->mapping.applications,
        .dcps = job->mapping.dcps,
        .most_on_node = world->topo.most_ranks_per_node,
        .to_dcp = job->mapping.dcps < world->topo.nodes ? *outer : *inner,
        .among = *outer,
        .on_node = *inner,
    };
    job->radix = coll_model_radix(model.dcps, &model.among);
    job->limit = limit ? (size_t)limit : coll_model_limit(&model, job->radix);
}

static int map(const coll_state *world, const settings *agreed, int *node_of) {
    coll_job *job = &coll_the_job;
    char problem[COLL_WIRE_TEXT];
    bool good = node_of && coll_mapping_make(&agreed->wish, world->topo.ranks, node_of,
                                             &job->mapping, problem, sizeof problem);
    if (!node_of)
        snprintf(problem, sizeof problem, "no memory to map %d ranks", world->topo.ranks);
    bool mine = good;
    int code = coll_agree_good(job->wire, good, &good);
    if (code == MPI_SUCCESS && !good)
        code = mine ? coll_error(MPI_ERR_NO_MEM, "another rank has no memory to map the ranks")
                    : coll_error(node_of ? MPI_ERR_ARG : MPI_ERR_NO_MEM, "%s", problem);
    if (code == MPI_SUCCESS)
        plan(world, agreed->limit, job);
    return code;
}

static int connect_ranks(const settings *agreed, const int node_of[]) {
    coll_job *job = &coll_the_job;
    int threads = MPI_THREAD_SINGLE;
    int code = PMPI_Query_thread(&threads);
    job->threaded = threads == MPI_THREAD_MULTIPLE;
    if (code == MPI_SUCCESS && agreed->transport != MESSAGES)
        code = coll_mailboxes_make(&job->mailboxes, job->wire, &job->mapping, node_of, job->limit);
    bool good = agreed->transport != SHARED || job->mailboxes.window != MPI_WIN_NULL;
    if (code == MPI_SUCCESS)
        code = coll_agree_good(job->wire, good, &good);
    if (code == MPI_SUCCESS && !good)
        code = coll_error(MPI_ERR_OTHER, "COLL_DCP_TRANSPORT=shared: a node has no shared memory "
                                         "for its ranks; use auto or p2p");
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

static int begin_job(const char *spec, const coll_comm *world) {
    coll_job *job = &coll_the_job;
    settings agreed;
    *job = (coll_job){.rank = world->rank,
                      .wire = MPI_COMM_NULL,
                      .group = MPI_GROUP_NULL,
                      .app = MPI_COMM_NULL,
                      .mailboxes = {.node = MPI_COMM_NULL, .window = MPI_WIN_NULL},
                      .wait = world->wait,
                      .timeout = world->wait.timeout};
    job->wait.timeout = 0;
    int code = PMPI_Comm_dup(world->private, &job->wire);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(job->wire, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = agree_on_settings(spec, &agreed);
    if (code != MPI_SUCCESS)
        return code;
    int *node_of = list_nodes(&coll_state_of(world)->topo);
    code = map(coll_state_of(world), &agreed, node_of);
    if (code == MPI_SUCCESS)
        code = connect_ranks(&agreed, node_of);
    free(node_of);
    return code;
}

int coll_dcp_start(const char *spec, MPI_Comm world, MPI_Comm *app) {
    coll_job *job = &coll_the_job;
    coll_comm *state;
    int code = coll_comm_get(world, &state);
    if (code != MPI_SUCCESS)
        return code;
    code = begin_job(spec, state);
    bool serves = code == MPI_SUCCESS && job->mapping.dcp_of[job->rank] < 0;
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_split(world, serves ? MPI_UNDEFINED : 0, job->rank, &job->app);
    if (code == MPI_SUCCESS && !serves)
        code = coll_client_open();
    if (code != MPI_SUCCESS) {
        coll_membership_end_all();
        end_job();
        return code;
    }
    job->posts = !serves;
    if (!serves)
        coll_dcp_substituted = (coll_dcp_substitute){world, job->app};
    *app = job->app;
    return MPI_SUCCESS;
}

int coll_dcp_serve(void) {
    int code = coll_server_run(&coll_the_job);
    return code == MPI_SUCCESS ? end_job() : code;
}

int coll_dcp_stop(void) {
    int code = coll_client_close();
    coll_the_job.posts = false;
    if (code == MPI_SUCCESS)
        code = coll_membership_end_all();
    if (code == MPI_SUCCESS)
        code = end_job();
    /* Not before: callbacks of attributes that went with it are told of MPI_COMM_WORLD. */
    coll_dcp_substituted = (coll_dcp_substitute){MPI_COMM_NULL, MPI_COMM_NULL};
    return code;
}

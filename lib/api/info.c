/* SPDX-License-Identifier: BSD-3-Clause */
/* The public entries that change settings, describe communicators and choices, and write profiles.
 */
#include "config.h"

#include "coll.h"
#include "coll_component.h"
#include "coll_tools.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/call/args.h"
#include "lib/cost/network_probe.h"
#include "lib/cost/networks.h"
#include "lib/cost/profilefile.h"
#include "lib/sim/link_load.h"
#include "lib/sim/sim.h"
#include "lib/tuning/autotune.h"
#include "lib/tuning/predict.h"
#include "lib/tuning/state.h"
#include "lib/tuning/tuning_db.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *COLL_Version(void) {
    return PACKAGE_VERSION;
}

const char *COLL_Operation_name(int operation) {
    return operation >= 0 && operation < COLL_OPERATIONS ? coll_operations[operation].name : NULL;
}

static unsigned sets;

const unsigned *COLL_Sets(void) {
    return &sets;
}

int COLL_Set(MPI_Comm comm, const char *operation, const char *spec) {
    coll_operation which = COLL_OPERATIONS;
    coll_comm *own;
    int code = coll_find_operation(operation, &which);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    code = coll_comm_open_intra(comm, "COLL_Set", &own);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_state_set(coll_state_of(own), which, operation, spec);
    __atomic_fetch_add(&sets, 1, __ATOMIC_RELAXED);
    return coll_raise(comm, code);
}

static void describe_candidate(const coll_shape *call, const coll_choice *choice,
                               const coll_algorithm *algorithm, COLL_Candidate *candidate) {
    bool chosen = choice->algorithm == algorithm;
    coll_shape uneven = *call;
    uneven.bytes = COLL_BYTES_UNKNOWN;
    coll_values values = chosen ? choice->values : coll_values_default(algorithm);
    *candidate = (COLL_Candidate){
        .name = algorithm->name,
        .summary = algorithm->summary,
        .applicable = coll_select_applicable(algorithm, call),
        .uneven = coll_select_applicable(algorithm, &uneven),
        .chosen = chosen,
        .rival = algorithm->rival,
        .why = chosen ? choice->why : NULL,
    };
    coll_spec_print(algorithm, &values, candidate->spec, sizeof candidate->spec);
    coll_spec_print_params(algorithm, candidate->params, sizeof candidate->params);
    if (candidate->applicable)
        candidate->predicted = coll_predicted(algorithm, call, &values);
    coll_shape otherwise = *call;
    otherwise.reproducible = otherwise.ordered = false;
    if (call->reproducible && !candidate->applicable &&
        coll_select_applicable(algorithm, &otherwise))
        candidate->otherwise = coll_predicted(algorithm, &otherwise, &values);
}

/* Sets CANDIDATE's `played`, its time from simulations of up to EVENTS events, and the bytes that
 * ALGORITHM's plans send over the busiest link of each kind. */
static int simulate_at_length(const coll_algorithm *algorithm, const coll_shape *call, int events,
                              COLL_Candidate *candidate) {
    coll_values values = coll_values_default(algorithm);
    coll_shape played = *call;
    coll_traffic traffic = {.busiest = {0}};
    coll_profile network;
    played.events = events;
    played.network = coll_networks_likely(call->profile, call->topo, &network);
    candidate->played = coll_predicted(algorithm, &played, &values);
    int code = MPI_SUCCESS;
    if (coll_planner_of(algorithm, &values))
        code = coll_traffic_find(algorithm, &played, &values, &traffic);
    candidate->played = fmax(candidate->played, traffic.link_seconds);
    candidate->host_bytes = traffic.busiest[COLL_LINK_HOST];
    candidate->rack_bytes = traffic.busiest[COLL_LINK_RACK];
    candidate->site_bytes = traffic.busiest[COLL_LINK_SITE];
    return code;
}

static void explain(const coll_state *state, coll_operation operation, const coll_shape *call,
                    COLL_Candidate candidates[], int capacity, int *count) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    coll_shape known = *call;
    if (coll_operations[operation].uneven)
        known.bytes = COLL_BYTES_UNKNOWN;
    coll_choice choice = coll_select(&known, &state->specs[operation]);
    coll_autotune_tell(state->comm, &known, &choice);
    for (*count = 0; table[*count]; ++*count)
        if (*count < capacity)
            describe_candidate(call, &choice, table[*count], &candidates[*count]);
}

/* A tool's question about a call, on the communicator or on imagined ranks. */
typedef struct question {
    const COLL_Question *of;
    const char *entry; /* name of the public entry */
    coll_operation operation;
    const coll_state *state;
    coll_shape call;
    coll_topo imagined;
} question;

static int check_question(const question *asked) {
    const COLL_Question *of = asked->of;
    const int ranks = of->ranks ? of->ranks : asked->state->topo.ranks;
    const struct {
        int value;
        const char *what;
    } counts[] = {
        {of->ranks, "ranks"}, {of->racks, "racks"}, {of->sites, "sites"}, {of->events, "events"}};
    if (of->bytes < 0)
        return coll_error(MPI_ERR_COUNT, "%s: %lld bytes", asked->entry, (long long)of->bytes);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < 0)
            return coll_error(MPI_ERR_ARG, "%s: %d %s", asked->entry, counts[i].value,
                              counts[i].what);
    if (of->sites > 0 && (of->racks < of->sites || of->racks % of->sites != 0))
        return coll_error(MPI_ERR_ARG, "%s: %d racks can't be spread evenly over %d sites",
                          asked->entry, of->racks, of->sites);
    if (!coll_operations[asked->operation].rootless && (of->root < 0 || of->root >= ranks))
        return coll_error(MPI_ERR_ROOT, "%s: root %d of %d ranks", asked->entry, of->root, ranks);
    return MPI_SUCCESS;
}

/* Makes the imagined topology if the question names ranks or racks. The ranks are spread over the
 * question's racks and sites or, if it names no racks, placed like the communicator's ranks. */
static int imagine_ranks(question *asked) {
    const COLL_Question *of = asked->of;
    coll_topo now = asked->state->topo;
    if (!of->ranks && !of->racks)
        return MPI_SUCCESS;
    int ranks = of->ranks ? of->ranks : now.ranks;
    if (of->racks) {
        now.nodes = (ranks - 1) / now.most_ranks_per_node + 1;
        now.racks = of->racks;
        now.sites = of->sites ? of->sites : 1;
    }
    int code = coll_topo_imagine(&now, ranks, &asked->imagined);
    if (code != MPI_SUCCESS)
        return code;
    asked->call.topo = &asked->imagined;
    asked->call.latencies = NULL;
    return MPI_SUCCESS;
}

/* Sets ASKED up from its question. Raises errors. After success the caller frees the imagined
 * topology. */
static int set_up_question(question *asked, MPI_Comm comm) {
    coll_comm *own;
    int code = coll_find_operation(asked->of->operation, &asked->operation);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    code = coll_comm_open_intra(comm, asked->entry, &own);
    if (code != MPI_SUCCESS)
        return code;
    asked->state = coll_state_of(own);
    code = check_question(asked);
    if (code == MPI_SUCCESS) {
        asked->call = coll_state_shape(asked->state, asked->operation, (size_t)asked->of->bytes,
                                       asked->of->root);
        asked->call.served = coll_call_args_served(asked->operation, own, MPI_INT, MPI_SUM);
        code = imagine_ranks(asked);
    }
    return coll_raise(comm, code);
}

int COLL_Explain(const char *operation, MPI_Count bytes, int root, MPI_Comm comm,
                 COLL_Candidate candidates[], int capacity, int *count) {
    const COLL_Question of = {.operation = operation, .bytes = bytes, .root = root};
    return COLL_Explain_question(&of, comm, candidates, capacity, count);
}

int COLL_Explain_question(const COLL_Question *of, MPI_Comm comm, COLL_Candidate candidates[],
                          int capacity, int *count) {
    question asked = {.of = of, .entry = "COLL_Explain", .operation = COLL_OPERATIONS};
    int code = set_up_question(&asked, comm);
    if (code != MPI_SUCCESS)
        return code;
    explain(asked.state, asked.operation, &asked.call, candidates, capacity, count);
    const coll_algorithm *const *table = coll_operations[asked.operation].table;
    for (int i = 0; i < *count && i < capacity && code == MPI_SUCCESS; i++)
        if (of->events && candidates[i].applicable && !coll_operations[asked.operation].neighbors)
            code = simulate_at_length(table[i], &asked.call, of->events, &candidates[i]);
    coll_topo_free(&asked.imagined);
    return coll_raise(comm, code);
}

char *COLL_Learnt_file(void) {
    return coll_tuning_db_path();
}

/* Chooses the algorithm to draw: the one that SPEC names or, if SPEC names none, the one that would
 * run. Returns an error if the algorithm can't be drawn. */
static int choose_drawn(const question *asked, const char *spec, coll_choice *choice) {
    const coll_algorithm *const *table = coll_operations[asked->operation].table;
    if (coll_operations[asked->operation].neighbors)
        return coll_error(MPI_ERR_ARG, "%s depends on a program's topology, and can't be drawn",
                          coll_operations[asked->operation].name);
    const coll_spec *set = &asked->state->specs[asked->operation];
    coll_spec named = {.algorithm = NULL};
    char drawn[200] = "";
    int code = coll_spec_parse("algorithm", spec, table, &named);
    if (code != MPI_SUCCESS)
        return code;
    *choice = coll_select(&asked->call, named.algorithm ? &named : set);
    if (named.algorithm && choice->algorithm != named.algorithm)
        return coll_error(MPI_ERR_ARG, "%s can't run this %s; coll-info explain shows what can",
                          named.algorithm->name, coll_operations[asked->operation].name);
    if (coll_planner_of(choice->algorithm, &choice->values))
        return MPI_SUCCESS;
    for (; *table; table++)
        if ((*table)->planner)
            coll_error_list(drawn, sizeof drawn, (*table)->name);
    if (!*drawn)
        return coll_error(MPI_ERR_ARG, "no algorithm of %s is a plan, which alone can be drawn",
                          coll_operations[asked->operation].name);
    return coll_error(MPI_ERR_ARG, "%s%s is no plan that can be drawn; name one of: %s",
                      choice->algorithm->name,
                      choice->algorithm->planner ? " with these values"
                      : named.algorithm          ? ""
                                                 : ", which would run,",
                      drawn);
}

static void copy_places(const coll_topo *topo, COLL_Place places[]) {
    for (int rank = 0; rank < topo->ranks; rank++) {
        const coll_place *place = &topo->places[rank];
        places[rank] = (COLL_Place){.site = place->site,
                                    .rack = place->rack,
                                    .node = place->node,
                                    .numa = place->numa,
                                    .host = topo->hosts ? topo->hosts[place->node] : NULL};
    }
}

int COLL_Places(MPI_Comm comm, COLL_Place places[]) {
    coll_comm *own;
    int code = coll_comm_open_intra(comm, "COLL_Places", &own);
    if (code == MPI_SUCCESS)
        copy_places(&coll_state_of(own)->topo, places);
    return code;
}

static int simulate_choice(const question *asked, const coll_choice *choice,
                           COLL_Simulation *simulation) {
    const coll_shape *shape = &asked->call;
    const coll_topo *topo = shape->topo;
    const coll_sim_call call = {.algorithm = choice->algorithm,
                                .planner = coll_planner_of(choice->algorithm, &choice->values),
                                .shape = shape,
                                .values = &choice->values,
                                .budget = asked->of->events,
                                .watch = simulation->see,
                                .context = simulation->context,
                                .ends = simulation->ends};
    coll_order_ranks(shape, simulation->order);
    copy_places(topo, simulation->places);
    int code = coll_simulate(&call, &simulation->time);
    if (code == MPI_SUCCESS && simulation->time == COLL_SIM_UNKNOWN)
        code = coll_error(MPI_ERR_COUNT,
                          "%s of %zu bytes to %d ranks has too many messages to draw; draw fewer "
                          "bytes or ranks, or name longer segments",
                          coll_operations[shape->operation].name, shape->bytes, topo->ranks);
    simulation->nodes = topo->nodes;
    simulation->racks = topo->racks;
    simulation->sites = topo->sites;
    simulation->root = shape->root;
    coll_spec_print(choice->algorithm, &choice->values, simulation->spec, sizeof simulation->spec);
    return code;
}

int COLL_Simulate(const COLL_Question *of, const char *spec, MPI_Comm comm,
                  COLL_Simulation *simulation) {
    question asked = {.of = of, .entry = "COLL_Simulate", .operation = COLL_OPERATIONS};
    coll_choice choice;
    int code = set_up_question(&asked, comm);
    if (code != MPI_SUCCESS)
        return code;
    code = choose_drawn(&asked, spec, &choice);
    if (code == MPI_SUCCESS)
        code = simulate_choice(&asked, &choice, simulation);
    coll_topo_free(&asked.imagined);
    return coll_raise(comm, code);
}

int COLL_Describe(MPI_Comm comm, COLL_Description *description) {
    coll_comm *own;
    int code = coll_comm_open_intra(comm, "COLL_Describe", &own);
    if (code != MPI_SUCCESS)
        return code;
    const coll_state *state = coll_state_of(own);
    const coll_topo *topo = &state->topo;
    *description = (COLL_Description){
        .ranks = topo->ranks,
        .sites = topo->sites,
        .racks = topo->racks,
        .nodes = topo->nodes,
        .most_ranks_per_node = topo->most_ranks_per_node,
        .cores_per_node = topo->cores_per_node,
        .crowded = topo->crowded,
        .wait = coll_wait_manners[own->wait.manner],
        .timeout = own->wait.timeout,
        .topology = *state->settings->topology ? state->settings->topology : NULL,
        .profile = state->profile->source,
    };
    for (int level = 0; level < COLL_LEVELS; level++) {
        description->cost[level] = state->profile->level[level];
        description->measured[level] = state->profile->measured[level];
    }
    memcpy(description->copy, state->profile->copy, sizeof description->copy);
    return MPI_SUCCESS;
}

int COLL_Measure_rates(MPI_Comm comm, COLL_Rates *rates) {
    coll_comm *own;
    coll_network_rates measured = {.link = 0};
    int code = coll_comm_open_intra(comm, "COLL_Measure_rates", &own);
    if (code != MPI_SUCCESS)
        return code;
    const coll_state *state = coll_state_of(own);
    if (state->topo.nodes > 1 && state->topo.sites == 1)
        code = coll_network_probe(own, &state->topo, state->profile->level[COLL_LEVEL_RACK].latency,
                                  &measured);
    *rates = (COLL_Rates){.link = measured.link, .uplinks = measured.together};
    return coll_raise(comm, code);
}

static int write_profile(const char *path, const coll_topo *topo, const COLL_Profile *profile) {
    char problem[COLL_TEXTFILE_PROBLEM];
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return coll_error(MPI_ERR_FILE, "%.150s: can't be written: it is no regular file", path);
    const int error = coll_profilefile_write(path, false, profile, (const char *const *)topo->hosts,
                                             topo->nodes, problem);
    if (*problem)
        return coll_error(MPI_ERR_ARG, "%s", problem);
    return error ? coll_error(MPI_ERR_FILE, "%.150s: can't be written: %s", path, strerror(error))
                 : MPI_SUCCESS;
}

int COLL_Profile_write(const char *path, MPI_Comm comm, const COLL_Profile *profile) {
    coll_comm *own;
    int code = coll_comm_open_intra(comm, "COLL_Profile_write", &own);
    return code == MPI_SUCCESS
               ? coll_raise(comm, write_profile(path, &coll_state_of(own)->topo, profile))
               : code;
}

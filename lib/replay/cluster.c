/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/replay/cluster.h"

#include "lib/base/error.h"
#include "lib/cost/network_cache.h"
#include "lib/cost/networks.h"
#include "lib/topology/topofile.h"
#include "lib/tuning/ompi_decision_table.h"
#include "lib/tuning/predict.h"
#include "lib/tuning/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Hosts --- */

/* Returns the index of HOST among the *COUNT NAMES; appends HOST if it is new. */
static int number_of(const char *host, const char *names[], int *count) {
    int i = 0;
    while (i < *count && strcmp(names[i], host) != 0)
        i++;
    if (i == *count)
        names[(*count)++] = host;
    return i;
}

/* Sets the racks and sites of the nodes of TOPO according to the file at PATH. */
static int read_topology(const char *path, const coll_topo *topo, int racks[], int sites[]) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    coll_topofile *file = coll_topofile_read(path, problem);
    bool good = file;
    for (int i = 0; i < topo->nodes && good; i++)
        good = coll_topofile_find(file, topo->hosts[i], &racks[i], &sites[i], problem);
    coll_topofile_free(file);
    return good ? MPI_SUCCESS : coll_error(MPI_ERR_FILE, "%s", problem);
}

/* Returns a recorded rank on HOST whose place is known; NULL if there is none. */
static const coll_job_rank *find_recorded(const COLL_Record *record, const char *host) {
    for (int rank = 0; rank < record->ranks; rank++)
        if (record->of[rank].rack >= 0 && strcmp(record->of[rank].host, host) == 0)
            return &record->of[rank];
    return NULL;
}

/*
 * Copies the racks and sites of TOPO's nodes from the record, if it has all these nodes. SCRATCH is
 * memory for a number for each recorded rank.
 */
static void copy_places(const COLL_Record *record, const coll_topo *topo, int racks[], int sites[],
                        int scratch[]) {
    for (int node = 0; node < topo->nodes; node++)
        if (!find_recorded(record, topo->hosts[node]))
            return;
    for (int node = 0; node < topo->nodes; node++) {
        const coll_job_rank *there = find_recorded(record, topo->hosts[node]);
        racks[node] = there->rack;
        sites[node] = there->site;
    }
    /* TOPO may have only some of the recorded racks. */
    (void)coll_topo_renumber(racks, sizeof *racks, topo->nodes, record->ranks, scratch);
    (void)coll_topo_renumber(sites, sizeof *sites, topo->nodes, record->ranks, scratch);
}

int coll_cluster_make_topo(const COLL_Record *record, const char *path, int count,
                           const char *const hosts[], coll_topo *topo) {
    const size_t ranks = (size_t)count;
    const char **names = malloc(ranks * sizeof *names);
    int *racks = calloc(2 * ranks + (size_t)record->ranks, sizeof *racks),
        *sites = racks ? racks + ranks : NULL;
    *topo = (coll_topo){.ranks = count};
    topo->places = calloc(ranks, sizeof *topo->places);
    bool good = names && racks && topo->places;
    for (size_t rank = 0; rank < ranks && good; rank++)
        topo->places[rank].node = number_of(hosts[rank], names, &topo->nodes);
    good = good && coll_topo_set_hosts(topo, names);
    int code = good ? MPI_SUCCESS
                    : coll_error(MPI_ERR_NO_MEM, "no memory for the places of %zu ranks", ranks);
    if (code == MPI_SUCCESS && path && *path)
        code = read_topology(path, topo, racks, sites);
    else if (code == MPI_SUCCESS)
        copy_places(record, topo, racks, sites, sites + ranks);
    if (code == MPI_SUCCESS) {
        coll_topo_locate(topo, racks, sites);
        (void)coll_topo_fewest(topo, COLL_LEVEL_NODE, &topo->most_ranks_per_node);
        topo->cores_per_node = topo->most_ranks_per_node; /* a core for each rank */
    }
    free(names);
    free(racks);
    return code;
}

/* Sets HOSTS to the hosts on which HOW puts the ranks. Sets *MEMORY to memory for the names of
 * hosts that neither HOW nor RECORD names; the caller frees it. */
static int place_ranks(const COLL_Record *record, const COLL_Cluster *how, const char *hosts[],
                       char **memory) {
    enum { NAME = 32 };
    const int each = how->ranks_per_host, most = record->ranks;
    int known = 0;
    if (how->slots && how->slot_count < most)
        return coll_error(MPI_ERR_ARG, "there are %d slots for the %d ranks; name more hosts",
                          how->slot_count, most);
    for (int rank = 0; rank < most; rank++)
        hosts[rank] = how->slots ? how->slots[rank] : record->of[rank].host;
    if (how->slots || each == 0)
        return MPI_SUCCESS;
    const char **names = malloc((size_t)most * sizeof *names);
    *memory = malloc((size_t)most * NAME);
    if (!names || !*memory) {
        free(names);
        return coll_error(MPI_ERR_NO_MEM, "no memory for the hosts of %d ranks", most);
    }
    for (int rank = 0; rank < most; rank++)
        (void)number_of(record->of[rank].host, names, &known);
    for (int rank = 0; rank < most; rank++) {
        char *made = *memory + (size_t)rank * NAME;
        snprintf(made, NAME, "host-%d", rank / each);
        hosts[rank] = rank / each < known ? names[rank / each] : made;
    }
    free(names);
    return MPI_SUCCESS;
}

/* --- The cluster --- */

/* Reads "allreduce=ring;bcast=chain:segment=32K". */
static int read_specs(const char *text, coll_spec specs[]) {
    char copy[1024], *rest = NULL;
    int code = MPI_SUCCESS;
    if (snprintf(copy, sizeof copy, "%s", text ? text : "") >= (int)sizeof copy)
        return coll_error(MPI_ERR_ARG, "the list of algorithms is too long");
    for (char *word = strtok_r(copy, "; ", &rest); word && code == MPI_SUCCESS;
         word = strtok_r(NULL, "; ", &rest)) {
        char *spec = strchr(word, '=');
        coll_operation operation;
        if (!spec)
            return coll_error(MPI_ERR_ARG, "\"%s\" names no algorithm; write allreduce=ring", word);
        *spec++ = '\0';
        code = coll_find_operation(word, &operation);
        if (code == MPI_SUCCESS)
            code = coll_spec_parse(word, spec, coll_operations[operation].table, &specs[operation]);
    }
    return code;
}

int coll_cluster_make(const COLL_Record *record, const COLL_Cluster *how, coll_cluster *cluster) {
    char problem[COLL_TEXTFILE_PROBLEM] = "", *memory = NULL;
    const char **chosen = malloc((size_t)record->ranks * sizeof *chosen);
    *cluster = (coll_cluster){.record = record};
    int code = chosen ? read_specs(how->algorithms, cluster->specs)
                      : coll_error(MPI_ERR_NO_MEM, "no memory for %d hosts", record->ranks);
    if (code == MPI_SUCCESS)
        code = place_ranks(record, how, chosen, &memory);
    if (code == MPI_SUCCESS)
        code = coll_cluster_make_topo(record, how->topology, record->ranks, chosen, &cluster->topo);
    if (code == MPI_SUCCESS)
        coll_profile_load(how->profile ? how->profile : "", &cluster->topo, &cluster->profile,
                          problem);
    if (code == MPI_SUCCESS && *problem)
        code = coll_error(MPI_ERR_FILE, "%s", problem);
    if (code == MPI_SUCCESS && !(how->profile && *how->profile) &&
        coll_profile_is_builtin(&cluster->profile))
        (void)coll_network_cache_load(&cluster->topo, &cluster->profile);
    free(chosen);
    free(memory);
    return code;
}

void coll_cluster_free(coll_cluster *cluster) {
    for (coll_cluster_choice *one = cluster->choices, *next; one; one = next) {
        next = one->next;
        coll_topo_free(&one->topo);
        free(one);
    }
    coll_topo_free(&cluster->topo);
}

/* --- Choices --- */

/* Returns the shape that libcoll gives to a call of BYTES with CHOICE. */
static coll_shape shape_of(const coll_cluster_choice *choice, const coll_profile *profile,
                           size_t bytes) {
    const coll_operation_info *info = &coll_operations[choice->operation];
    coll_shape shape = {.operation = choice->operation,
                        .sides = info->sides,
                        .bytes = choice->operation == COLL_OPERATION_BARRIER ? 1 : bytes,
                        .root = info->rootless ? COLL_NO_ROOT : choice->root,
                        .element = info->reduces,
                        .topo = &choice->topo,
                        .profile = profile};
    shape.element = coll_select_element(&shape);
    if (shape.element && shape.bytes > shape.element)
        shape.bytes -= shape.bytes % shape.element;
    return shape;
}

/* Sets CHOICE's topology: the members from FIRST on, then the members before FIRST. */
static int set_topo(const coll_cluster *cluster, int first, coll_cluster_choice *choice) {
    const coll_job_group *group = choice->group;
    int *members = malloc((size_t)group->ranks * sizeof *members);
    if (!members)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < group->ranks; i++)
        members[i] = group->members[(i + first) % group->ranks];
    coll_topo_free(&choice->topo);
    const int code = coll_topo_part(&cluster->topo, group->ranks, members, &choice->topo);
    choice->first = first;
    free(members);
    return code;
}

/* Chooses the algorithm of CHOICE for calls of BYTES. */
static int choose(const coll_cluster *cluster, size_t bytes, coll_cluster_choice *choice) {
    const coll_operation_info *info = &coll_operations[choice->operation];
    int code = set_topo(cluster, 0, choice);
    if (code == MPI_SUCCESS && choice->asked && !choice->asked->native) {
        choice->algorithm = choice->asked;
        choice->values = coll_values_default(choice->asked);
    } else if (code == MPI_SUCCESS && !choice->asked) {
        coll_shape shape = shape_of(choice, &cluster->profile, bytes);
        /* In operations other than these the ranks know all counts. */
        if (choice->uneven && (choice->operation == COLL_OPERATION_GATHER ||
                               choice->operation == COLL_OPERATION_SCATTER ||
                               choice->operation == COLL_OPERATION_ALLTOALL))
            shape.bytes = COLL_BYTES_UNKNOWN;
        const coll_choice found = coll_select(&shape, &cluster->specs[choice->operation]);
        choice->algorithm = found.algorithm->native ? NULL : found.algorithm;
        choice->values = found.values;
    }
    if (code == MPI_SUCCESS && !choice->algorithm && !info->rootless)
        code = set_topo(cluster, choice->root, choice);
    if (code == MPI_SUCCESS) {
        const coll_profile *likely =
            coll_networks_likely(&cluster->profile, &choice->topo, &choice->network);
        if (likely != &choice->network)
            choice->network = *likely;
    }
    return code;
}

static bool is_for(const coll_cluster_choice *choice, const coll_job_group *group,
                   const coll_job_call *call, const coll_algorithm *asked) {
    return choice->group == group && choice->operation == call->operation &&
           choice->size_class == coll_size_class(call->bytes) && choice->root == call->root &&
           choice->uneven == call->uneven && choice->asked == asked;
}

coll_cluster_choice *coll_cluster_choose(coll_cluster *cluster, const coll_job_group *group,
                                         const coll_job_call *call, const coll_algorithm *asked) {
    for (coll_cluster_choice *one = cluster->choices; one; one = one->next)
        if (is_for(one, group, call, asked))
            return one;
    coll_cluster_choice *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->group = group;
    made->operation = call->operation;
    made->size_class = coll_size_class(call->bytes);
    made->root = call->root;
    made->uneven = call->uneven;
    made->asked = asked;
    if (choose(cluster, call->bytes, made) != MPI_SUCCESS) {
        coll_topo_free(&made->topo);
        free(made);
        return NULL;
    }
    made->next = cluster->choices;
    return cluster->choices = made;
}

/* --- Times --- */

coll_cluster_plan coll_cluster_plan_of(const coll_cluster_choice *choice, size_t bytes) {
    coll_cluster_plan plan = {.shape = shape_of(choice, &choice->network, bytes),
                              .values = choice->values,
                              .algorithm = choice->algorithm,
                              .factor = 1};
    if (!choice->algorithm) {
        const coll_native_default found = coll_native_find(&plan.shape);
        plan.algorithm = found.algorithm;
        plan.values = found.values;
        plan.factor = found.factor;
        plan.shape.ordered = true; /* ranks in numerical order */
        if (plan.shape.root != COLL_NO_ROOT)
            plan.shape.root = 0;
    }
    if (plan.algorithm)
        plan.planner = coll_planner_of(plan.algorithm, &plan.values);
    return plan;
}

/*
 * Simulates PLAN, the plan of CHOICE. Returns false if PLAN has no planner or too many events, or
 * after an error.
 */
static bool simulate(coll_cluster_choice *choice, const coll_cluster_plan *plan,
                     const int64_t starts[], int64_t ends[]) {
    enum { EVENTS = 400000, FEW = 16 }; /* FEW: messages of a rank */
    const coll_sim_call call = {.algorithm = plan->algorithm,
                                .planner = plan->planner,
                                .shape = &plan->shape,
                                .values = &plan->values,
                                .budget = EVENTS,
                                .messages = choice->many ? 0 : FEW * plan->shape.topo->ranks,
                                .starts = starts,
                                .ends = ends};
    int64_t time;
    if (!plan->planner || (choice->too_long > 0 && plan->shape.bytes >= choice->too_long) ||
        coll_simulate(&call, &time) != MPI_SUCCESS)
        return false;
    if (time != COLL_SIM_UNKNOWN)
        return true;
    if (choice->many) {
        choice->too_long = plan->shape.bytes;
        return false;
    }
    choice->many = true;
    return simulate(choice, plan, starts, ends);
}

/* Returns the estimated seconds of a call of BYTES with PLAN that all members enter at the same
 * time. */
static double estimate(coll_cluster_choice *choice, const coll_cluster_plan *plan, size_t bytes) {
    if (choice->known && choice->known_bytes == bytes)
        return choice->known_seconds;
    coll_shape shape = plan->shape;
    shape.ordered = false;
    choice->known = true;
    choice->known_bytes = bytes;
    choice->known_seconds = choice->algorithm ? coll_predicted_on(choice->algorithm, &shape,
                                                                  &plan->values, &choice->network)
                                              : coll_native_estimate(&shape);
    return choice->known_seconds;
}

/*
 * Sets the ENDS of the senders in a gather that is not simulated. Its root leaves SECONDS after
 * LAST, the time at which the last rank entered. Small blocks are sent unasked; else the root asks
 * one rank after another.
 */
static void let_senders_leave(const coll_cluster_choice *choice, size_t bytes,
                              const double starts[], double last, double seconds, double ends[]) {
    enum { UNASKED = 16 << 10 }; /* bytes of all ranks, which fit the buffer of most switches */
    const int ranks = choice->topo.ranks;
    for (int i = 0; i < ranks; i++) {
        const int nth = (i - choice->root + ranks) % ranks;
        if (nth > 0 && bytes * (size_t)(ranks - 1) <= UNASKED)
            ends[i] = starts[i];
        else if (nth > 0)
            ends[i] = last + seconds * nth / (ranks - 1);
    }
}

/* Sets ENDS[i] to the time, in s, at which member i leaves a call of BYTES, if the members enter
 * the call at the times STARTS. */
static int find_ends(coll_cluster_choice *choice, size_t bytes, const double starts[],
                     double ends[]) {
    const int ranks = choice->topo.ranks;
    const coll_cluster_plan plan = coll_cluster_plan_of(choice, bytes);
    int64_t *memory = malloc(2 * (size_t)ranks * sizeof *memory), *after = memory + ranks;
    double first = INFINITY, last = 0;
    if (!memory)
        return coll_error(MPI_ERR_NO_MEM, "no memory to simulate %d ranks", ranks);
    for (int i = 0; i < ranks; i++) {
        first = fmin(first, starts[i]);
        last = fmax(last, starts[i]);
        ends[i] = starts[i];
    }
    for (int i = 0; i < ranks; i++)
        memory[i] = (int64_t)(1e9 * (starts[(i + choice->first) % ranks] - first));
    if (plan.shape.bytes == 0) {
        /* nothing is sent */
    } else if (simulate(choice, &plan, memory, after)) {
        for (int i = 0; i < ranks; i++) {
            const int member = (i + choice->first) % ranks;
            const double end = first + 1e-9 * (double)after[i];
            ends[member] = fmax(starts[member], end + (plan.factor - 1) * fmax(end - last, 0));
        }
    } else {
        const double seconds = estimate(choice, &plan, bytes);
        for (int i = 0; i < ranks; i++)
            ends[i] = last + seconds;
        if (choice->operation == COLL_OPERATION_GATHER)
            let_senders_leave(choice, bytes, starts, last, seconds, ends);
    }
    free(memory);
    return MPI_SUCCESS;
}

int coll_cluster_replay(coll_cluster_choice *choice, coll_job_call *const calls[], double now[],
                        double starts[], double ends[]) {
    const coll_job_group *group = choice->group;
    for (int i = 0; i < group->ranks; i++)
        starts[i] = now[group->members[i]] + calls[i]->before;
    const int code = find_ends(choice, calls[0]->bytes, starts, ends);
    for (int i = 0; i < group->ranks && code == MPI_SUCCESS; i++)
        now[group->members[i]] = ends[i];
    return code;
}

double coll_cluster_time_alone(coll_cluster_choice *choice, size_t bytes) {
    if (choice->known)
        return choice->known_seconds; /* an estimate takes milliseconds, so one serves all sizes */
    const coll_cluster_plan plan = coll_cluster_plan_of(choice, bytes);
    return plan.shape.bytes > 0 ? estimate(choice, &plan, bytes) : 0;
}

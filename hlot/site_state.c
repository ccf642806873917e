/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/site_state.h"

#include "hlot/levels.h"
#include "lib/base/agree.h"
#include "lib/base/c_locale.h"
#include "lib/base/error.h"
#include "lib/pattern/binomial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new tree replaces the current one if its time is at most this fraction of the current tree's
 * time. */
static const double CLEARLY = 0.97;

/*
 * The range of segment sizes from which the model chooses. Larger segments come near the eager
 * limits of transports.
 */
static const size_t LEAST_SEGMENT = 4 << 10, MOST_SEGMENT = 32 << 10;

bool hlot_site_state_possible(const coll_topo *topo) {
    return topo->sites > 1 && topo->sites <= HLOT_SITES;
}

static void free_site_state(hlot_site_state *site_state) {
    if (site_state->latency)
        hlot_latency_close(site_state->latency);
    if (site_state->local && site_state->state->comm->broken)
        site_state->local->broken = site_state->state->comm->broken;
    coll_comm_free_part(site_state->local);
    free(site_state);
}

static int make_site_state(coll_comm *comm, hlot_site_state **made) {
    hlot_site_state *site_state = calloc(1, sizeof *site_state);
    int *members = malloc((size_t)comm->ranks * sizeof *members), count = 0;
    int code =
        coll_agree(comm, site_state && members
                             ? MPI_SUCCESS
                             : coll_error(MPI_ERR_NO_MEM, "no memory for collectives over sites"));
    if (code != MPI_SUCCESS) {
        free(site_state);
        free(members);
        return code;
    }
    site_state->state = coll_state_of(comm);
    const coll_place *places = site_state->state->topo.places;
    site_state->site = places[comm->rank].site;
    for (int rank = comm->ranks - 1; rank >= 0; rank--)
        site_state->leads[places[rank].site] = rank;
    for (int rank = 0; rank < comm->ranks; rank++)
        if (places[rank].site == site_state->site)
            members[count++] = rank;
    code = coll_comm_part(comm, count, members, &site_state->local);
    free(members);
    if (code == MPI_SUCCESS)
        *made = site_state;
    else
        free_site_state(site_state);
    return code;
}

static void close_slot(void *slot) {
    hlot_site_state **site_state = slot;
    if (*site_state)
        free_site_state(*site_state);
}

coll_comm_key hlot_site_state_key = {.bytes = sizeof(hlot_site_state *), .close = close_slot};

int hlot_site_state_get(coll_comm *comm, bool latencies, hlot_site_state **site_state) {
    hlot_site_state **kept = coll_comm_slot(comm, &hlot_site_state_key);
    int code = *kept ? MPI_SUCCESS : make_site_state(comm, kept);
    if (code != MPI_SUCCESS)
        return code;
    *site_state = *kept;
    if (!latencies || (*site_state)->latency)
        return MPI_SUCCESS;
    return hlot_latency_open(comm, (*site_state)->leads, &(*site_state)->latency);
}

/* --- predictions --- */

void hlot_site_state_network(const coll_shape *call, hlot_network *network) {
    const coll_topo *topo = call->topo;
    network->sites = topo->sites;
    for (int from = 0; from < topo->sites; from++)
        for (int to = 0; to < topo->sites; to++)
            network->latency[from][to] = call->latencies
                                             ? call->latencies[from * topo->sites + to]
                                             : call->profile->level[COLL_LEVEL_WIDE].latency;
}

/* Predicts the time of a segment within a site, about the time of a binomial tree. */
static double predict_local(const coll_shape *call, size_t segment) {
    const coll_topo *topo = call->topo;
    coll_level level = topo->racks > topo->sites   ? COLL_LEVEL_SITE
                       : topo->nodes > topo->sites ? COLL_LEVEL_RACK
                                                   : COLL_LEVEL_NODE;
    const coll_cost *link = &call->profile->level[level];
    int ranks = (topo->ranks + topo->sites - 1) / topo->sites;
    return coll_tree_depth(ranks) * coll_cost_relay(link, (double)segment);
}

static double make_tree(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree) {
    return kind == HLOT_FLAT ? hlot_tree_make(network, kind, root, tree)
                             : hlot_levels_tree(network, kind, root, tree);
}

static double predict_with(const coll_shape *call, hlot_kind kind, size_t segment,
                           hlot_network *network) {
    hlot_tree tree;
    hlot_network_load(&call->profile->level[COLL_LEVEL_WIDE], segment, call->bytes, network);
    double between = make_tree(network, kind, call->topo->places[call->root].site, &tree);
    return between + network->segments * predict_local(call, segment);
}

size_t hlot_site_state_predict(const coll_shape *call, hlot_kind kind, uint64_t segment,
                               double *seconds) {
    hlot_network network;
    size_t lowest = segment ? segment : LEAST_SEGMENT, highest = segment ? segment : MOST_SEGMENT;
    size_t best = 0;
    double least = INFINITY;
    if (!seconds && (segment || call->bytes <= LEAST_SEGMENT)) /* there is no choice */
        return lowest < call->bytes ? lowest : call->bytes;
    hlot_site_state_network(call, &network);
    for (size_t now = lowest; now <= highest; now *= 2) {
        size_t length = now < call->bytes ? now : call->bytes;
        double time = predict_with(call, kind, length, &network);
        if (!best || time < least) {
            least = time;
            best = length;
        }
        if (now >= call->bytes)
            break;
    }
    if (seconds)
        *seconds = least;
    return best;
}

/* --- the tree --- */

static bool is_still_good(const hlot_site_state *site_state, hlot_kind kind,
                          const hlot_network *network, double time) {
    double arrival[HLOT_SITES];
    const hlot_network *last = &site_state->network;
    return last->sites && site_state->kind == kind && site_state->tree.root == site_state->site &&
           last->gap == network->gap && last->segments == network->segments &&
           time > CLEARLY * hlot_tree_time(network, &site_state->tree, arrival);
}

const hlot_tree *hlot_site_state_tree(hlot_site_state *site_state, hlot_kind kind, size_t segment,
                                      size_t bytes) {
    long changes = 0;
    hlot_network network = {.sites = site_state->state->topo.sites};
    hlot_tree tree;
    if (site_state->latency)
        memcpy(network.latency, *hlot_latency_known(site_state->latency, &changes),
               sizeof network.latency);
    hlot_network_load(&site_state->state->profile->level[COLL_LEVEL_WIDE], segment, bytes,
                      &network);
    if (changes == site_state->changes && is_still_good(site_state, kind, &network, INFINITY))
        return &site_state->tree;

    double time = make_tree(&network, kind, site_state->site, &tree);
    site_state->changes = changes;
    if (is_still_good(site_state, kind, &network, time))
        return &site_state->tree;
    site_state->kind = kind;
    site_state->network = network;
    site_state->tree = tree;
    if (site_state->state->trace)
        coll_c_locale_print(stderr, "coll: %s tree from site %d, predicted=%.3g\n",
                            hlot_kind_name(kind), site_state->site, time);
    return &site_state->tree;
}

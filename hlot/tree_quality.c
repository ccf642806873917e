/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/tree_quality.h"

#include <math.h>
#include <stdlib.h>

/* Returns the next number of Lehmer's generator, with Park and Miller's factor: 0 <= result < 1. */
static double random_number(uint32_t *state) {
    enum { MODULUS = 2147483647 };
    *state = (uint32_t)((uint64_t)(*state % MODULUS ? *state : 1) * 16807 % MODULUS);
    return (double)*state / MODULUS;
}

/* Generates the next random network. *STATE is the state of the random number generator; initially
 * the seed. */
static void make_network(const hlot_tree_quality_settings *settings, uint32_t *state,
                         hlot_network *network) {
    static const double corner_to_corner = 0.1, longest_detour = 3;
    double x[HLOT_SITES], y[HLOT_SITES];
    network->sites = settings->sites;
    network->gap = settings->gap;
    network->segments = settings->segments;
    for (int site = 0; site < settings->sites; site++) {
        x[site] = random_number(state);
        y[site] = random_number(state);
    }
    for (int a = 0; a < settings->sites; a++)
        for (int b = 0; b < a; b++)
            network->latency[a][b] = network->latency[b][a] =
                hypot(x[a] - x[b], y[a] - y[b]) / sqrt(2) * corner_to_corner *
                (1 + random_number(state) * (longest_detour - 1));
}

/* Returns whether the path up from every site ends at the root, 0. */
static bool is_tree(const hlot_tree *tree) {
    for (int site = 1; site < tree->sites; site++) {
        int above = tree->parent[site], steps = 0;
        while (above > 0 && ++steps < tree->sites)
            above = tree->parent[above];
        if (above != 0)
            return false;
    }
    return true;
}

/*
 * Sets the next combination of parents, like the digits of a number that is counted up. Returns
 * false after the last combination.
 */
static bool choose_next(hlot_tree *tree) {
    for (int site = 1; site < tree->sites; site++) {
        if (++tree->parent[site] < tree->sites)
            return true;
        tree->parent[site] = 0;
    }
    return false;
}

double hlot_tree_quality_optimum(const hlot_network *network) {
    hlot_tree tree = {.sites = network->sites, .parent = {-1}};
    double arrival[HLOT_SITES], least = INFINITY;
    do {
        if (!is_tree(&tree))
            continue;
        hlot_tree_arrange(network, &tree);
        least = fmin(least, hlot_tree_time(network, &tree, arrival));
    } while (choose_next(&tree));
    return least;
}

static int compare_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts the COUNT QUOTIENTS, and returns their median, their maximum, and how many of them are
 * 1. */
static hlot_tree_quality summarise(double quotients[], int count) {
    static const double chance = 1e-9; /* tolerance for rounding */
    hlot_tree_quality quality = {.best = 0};
    qsort(quotients, (size_t)count, sizeof *quotients, compare_size);
    quality.median = (quotients[(count - 1) / 2] + quotients[count / 2]) / 2;
    quality.worst = quotients[count - 1];
    while (quality.best < count && quotients[quality.best] <= 1 + chance)
        quality.best++;
    return quality;
}

/* Computes the QUOTIENTS of network NTH of NETWORKS. The quotients of one kind of tree are stored
 * consecutively. */
static void rate_kinds(const hlot_network *network, double quotients[], int nth, int networks) {
    hlot_tree tree;
    double time[HLOT_KINDS], best = INFINITY;
    for (int kind = 0; kind < HLOT_KINDS; kind++) {
        time[kind] = hlot_tree_make(network, (hlot_kind)kind, 0, &tree);
        best = fmin(best, time[kind]);
    }
    if (network->sites <= HLOT_EXHAUSTED)
        best = hlot_tree_quality_optimum(network);
    for (int kind = 0; kind < HLOT_KINDS; kind++)
        quotients[kind * networks + nth] = time[kind] / best;
}

bool hlot_tree_quality_run(const hlot_tree_quality_settings *settings,
                           hlot_tree_quality qualities[HLOT_KINDS]) {
    const int networks = settings->networks;
    uint32_t state = settings->seed;
    hlot_network network;
    double *quotients = malloc((size_t)(HLOT_KINDS * networks) * sizeof *quotients);
    if (!quotients)
        return false;
    for (int nth = 0; nth < networks; nth++) {
        make_network(settings, &state, &network);
        rate_kinds(&network, quotients, nth, networks);
    }
    for (int kind = 0; kind < HLOT_KINDS; kind++)
        qualities[kind] = summarise(quotients + kind * networks, networks);
    free(quotients);
    return true;
}

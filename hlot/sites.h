/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces, reduces and barriers over sites: the entries of their tables, and their common code.
 * Within a site, sums (or the notifications of a barrier) go up trees to its first rank and,
 * except in a reduce, results come down again. Between the sites the algorithms differ.
 */
#ifndef COLL_HLOT_SITES_H
#define COLL_HLOT_SITES_H

#include "hlot/tree.h"
#include "lib/allreduce/trees.h"
#include "lib/base/comm.h"

extern const coll_algorithm hlot_allreduce_all_sites, hlot_allreduce_sites, hlot_reduce_sites,
    hlot_barrier_all_sites;

/*
 * The largest number of sites: COLL_TREES_CHILDREN must be enough for a rank's children in its site
 * and a sum of each site.
 */
enum { HLOT_SITES_SUMMED = COLL_TREES_CHILDREN / 2 };

/* Links between sites have long latencies, so the default window is larger than elsewhere. */
#define HLOT_SITES_PARAMS COLL_TREES_PARAMS(16)

/*
 * Returns whether CALL's operands may be combined in any order, and its ranks are at 2 to
 * HLOT_SITES_SUMMED sites and not too many (RANKS_MOST in sites.c).
 */
bool hlot_sites_apply(const coll_shape *call);

/* Measures the latencies if they are unknown. Collective. Returns an MPI error code. */
int hlot_sites_prepare(coll_comm *comm);

/*
 * Returns an upper bound of the number of ranks from which a site's first rank receives, including
 * one rank for each site.
 */
int hlot_sites_children(const coll_plan_args *args);

/* Returns the size of a plan in which the first rank of every site receives the sums of all sites.
 */
coll_plan_size hlot_sites_size(const coll_plan_args *args);

/*
 * Opens a plan that has each rank's parent and children in its own site, and none in other sites
 * yet. On a site's first rank, which has no parent yet, also sets FIRST to the first ranks of all
 * sites.
 */
coll_trees *hlot_sites_open(const coll_plan_args *args, coll_plan_size size, void *memory,
                            int first[]);

/* On a site's first rank, adds the rank's parent and children between sites: the first ranks, in
 * FIRST, of the sites that are the site's parent and children in TREE. */
void hlot_sites_join(coll_trees *plan, const hlot_tree *tree, const int first[]);

/* A message from SITE that reaches this site on the tree of shortest paths from SITE. */
typedef struct hlot_site_message {
    int site;
    double arrival;    /* whole nanoseconds after a common start, so that all ranks sort the same */
    int from;          /* the rank that sends it here; -1 if it starts here */
    int to_count, *to; /* the ranks to which it is passed on */
} hlot_site_message;

/*
 * Lists the messages that reach the site of ARGS, one from each site, in the order of their
 * arrival, with the rank that sends each message to this site, and the ranks to which it is passed
 * on. FIRST has the first rank of each site. RANKS has room for a rank for each pair of sites.
 */
void hlot_sites_messages(const coll_plan_args *args, const int first[],
                         hlot_site_message messages[], int ranks[]);

/*
 * Sets NETWORK like hlot_site_state_network, for small messages (a gap of 0 and one segment), and
 * with latencies in whole nanoseconds, which can be added without error.
 */
void hlot_sites_network(const coll_shape *call, hlot_network *network);

#endif

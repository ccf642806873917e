/*
 * Allreduces, reduces and barriers over sites: in a site sums, or words, go up trees to its first
 * rank, and results down again; between these the algorithms differ. For the tables, and what they
 * have in common.
 */
#ifndef COLL_HLOT_SITES_H
#define COLL_HLOT_SITES_H

#include "hlot/tree.h"
#include "lib/allreduce/trees.h"
#include "lib/base/comm.h"

extern const coll_algorithm hlot_allreduce_all_sites, hlot_allreduce_sites, hlot_reduce_sites,
    hlot_barrier_all_sites;

/* The most sites: a rank's children in its site and a sum of each have to fit. */
enum { HLOT_SITES_SUMMED = COLL_TREES_CHILDREN / 2 };

/* Ways are long: more segments are under way than elsewhere. */
#define HLOT_SITES_PARAMS COLL_TREES_PARAMS(16)

/* For commuting operations, at several sites, but not too many. */
bool hlot_sites_apply(const coll_shape *call);

/* Measures the latencies where they aren't known. */
int hlot_sites_prepare(coll_comm *comm);

/* From how many others a site's first rank receives at most, one of each other site among them. */
int hlot_sites_children(const coll_part *part);

/* The measures of a plan whose first ranks receive a sum of each site. */
coll_plan_size hlot_sites_size(const coll_part *part);

/* A plan that is complete inside the sites; a site's first rank, which has no parent yet, gets the
 * FIRST ranks of all sites. */
coll_trees *hlot_sites_open(const coll_part *part, coll_plan_size size, void *memory, int first[]);

/* A site's FIRST rank joins those of its neighbours in TREE. */
void hlot_sites_join(coll_trees *plan, const hlot_tree *tree, const int first[]);

/* What comes from a site to another one, down the tree of the shortest ways from there. */
typedef struct hlot_visitor {
    int site;
    double arrival;   /* whole nanoseconds from the common start: so all find the same order */
    int from;         /* rank; -1: it is this site's own */
    int goes_to, *to; /* ranks */
} hlot_visitor;

/*
 * Who comes to the site of PART from whom, and goes on to whom: VISITORS, one from each site, in
 * the order in which they come. FIRST has the first rank of each site; RANKS has room for one for
 * each pair of sites.
 */
void hlot_sites_visitors(const coll_part *part, const int first[], hlot_visitor visitors[],
                         int ranks[]);

/* hlot_wide_network for small messages, in whole nanoseconds, which can be added without error. */
void hlot_sites_network(const coll_shape *call, hlot_network *network);

/* The site of the rank that PART is for. */
int hlot_sites_own(const coll_part *part);

#endif

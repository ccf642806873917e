/*
 * Where the ranks of a communicator are: NUMA domain, node, rack and site of each, as dense numbers
 * that every rank knows alike.
 */
#ifndef COLL_LIB_PLACE_TOPO_H
#define COLL_LIB_PLACE_TOPO_H

#include "coll_tools.h"
#include "lib/base/parcel.h"
#include "lib/place/locate.h"
#include "lib/place/report.h"

#include <mpi.h>
#include <stdbool.h>

typedef COLL_Level coll_level;

/* One rank's place; numbers count from 0 in order of first appearance by rank. */
typedef struct coll_place {
    int site;
    int rack; /* unique over all sites */
    int node; /* unique over all racks */
    int numa; /* within the node */
} coll_place;

typedef struct coll_topo {
    int ranks;
    int sites, racks, nodes;
    int most_ranks_per_node;
    int cores_per_node; /* the fewest that the processes of any one node may use, at least 1 */
    bool crowded;       /* some node has more processes than cores for them */
    coll_place *places; /* one a rank */
    char **hosts;       /* one a node: its host name */
    double *latencies;  /* s: from one site to another, [from * sites + to]; NULL: not known */
    char *origin;       /* where racks and sites come from, in a line; NULL: nobody asked */
} coll_topo;

/* What RANKS ranks have reported: the first one's, and the bytes from one to the next. */
typedef struct coll_reports {
    const char *first;
    size_t stride;
} coll_reports;

/*
 * The places of ranks that told ALL, in one rack. Nodes and NUMA domains come from the reports;
 * cores are those that binding and control groups let the ranks on a node use together. A node is
 * crowded when these ranks outnumber them, or when the processes of the whole job on it (a
 * communicator may hold only some) outnumber its cores. Behind the NUL of each host name are
 * Slurm's switches (lib/place/locate.h). False without memory. Call coll_topo_free on the result.
 */
bool coll_topo_make(const coll_reports *all, int ranks, coll_topo *topo);
void coll_topo_free(coll_topo *topo);

/* The nodes of TOPO lie in these RACKS and SITES, numbered from 0 in order of first appearance. */
void coll_topo_locate(coll_topo *topo, const int racks[], const int sites[]);

/* Puts TOPO into PARCEL, without switches and latencies, or takes it out: to be freed even where
 * that fails. */
void coll_topo_carry(coll_parcel *parcel, coll_topo *topo);

/*
 * RANKS ranks spread like those of NOW: as many on a node, nodes in a rack and racks in a site as
 * there are now on average, rounded up (of the ranks on a node the most); all nodes in one rack,
 * and all racks in one site, where there is one now. The result has no host names. MPI_ERR_NO_MEM.
 */
int coll_topo_imagine(const coll_topo *now, int ranks, coll_topo *topo);

/*
 * The places of COUNT of the ranks of WHOLE, which RANKS lists, as if there were no others;
 * cores are WHOLE's. The result has host names where WHOLE has. MPI_ERR_NO_MEM.
 */
int coll_topo_part(const coll_topo *whole, int count, const int ranks[], coll_topo *part);

/* What the ranks A and B are apart in: how far messages between them go. */
coll_level coll_topo_level(const coll_topo *topo, int a, int b);

/* How many ranks a node (LEVEL is COLL_LEVEL_NODE) or a rack (COLL_LEVEL_RACK) has: the fewest, and
 * *MOST. */
int coll_topo_fewest(const coll_topo *topo, coll_level level, int *most);

/*
 * Gives sites, racks and nodes of PART, whose ranks and places are some of WHOLE's, numbers of its
 * own, and counts them. SCRATCH has room for a number for each of WHOLE's nodes.
 */
void coll_topo_number(coll_topo *part, const coll_topo *whole, int scratch[]);

/*
 * Numbers anew, from 0 by first appearance, COUNT numbers from FIRST on, STRIDE bytes apart, that
 * were below BEFORE; returns how many there are. MAP has room for BEFORE numbers.
 */
int coll_topo_renumber(int *first, size_t stride, int count, int before, int map[]);

#endif

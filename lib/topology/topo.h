/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The topology of a communicator: NUMA domain, node, rack and site of each rank, as dense numbers
 * that are the same on all ranks.
 */
#ifndef COLL_LIB_TOPOLOGY_TOPO_H
#define COLL_LIB_TOPOLOGY_TOPO_H

#include "coll_tools.h"
#include "lib/base/pack_buffer.h"
#include "lib/topology/rank_info.h"
#include "lib/topology/topology_source.h"

#include <mpi.h>
#include <stdbool.h>

typedef COLL_Level coll_level;

/* The place of one rank; numbers begin at 0, in order of first appearance by rank. */
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
    /* the number of cores that a node's ranks may use: the minimum over all nodes, at least 1 */
    int cores_per_node;
    bool crowded;       /* some node has more processes than cores for them */
    coll_place *places; /* of each rank */
    char **hosts;       /* host name of each node */
    double *latencies;  /* s: from one site to another, [from * sites + to]; NULL: unknown */
    char *origin;       /* one line that names the source of racks and sites; NULL: not recorded */
} coll_topo;

/* The reports of all ranks: the first one, and the distance in bytes from one to the next. */
typedef struct coll_rank_infos {
    const char *first;
    size_t stride;
} coll_rank_infos;

/*
 * Makes the topology of RANKS ranks from their reports ALL, with all nodes in one rack. Nodes and
 * NUMA domains come from the reports; a node's cores are those that binding and control groups let
 * its ranks use together. A node is crowded if these ranks outnumber these cores, or if all
 * processes of the job on the node (a communicator may hold only some of them) outnumber all cores
 * of the node or those that control groups grant. Each host name is followed, after its NUL, by
 * Slurm's switches (lib/topology/topology_source.h). Returns false if out of memory. Free the
 * result with coll_topo_free.
 */
bool coll_topo_make(const coll_rank_infos *all, int ranks, coll_topo *topo);
void coll_topo_free(coll_topo *topo);

/* Sets the host names of TOPO's nodes to copies of NAMES. Returns false if out of memory. */
bool coll_topo_set_hosts(coll_topo *topo, const char *const names[]);

/* Sets the RACKS and SITES of TOPO's nodes, numbered from 0 in order of first appearance. */
void coll_topo_locate(coll_topo *topo, const int racks[], const int sites[]);

/*
 * Packs TOPO, without switches and latencies, into PACK, or unpacks it. An unpacked TOPO must be
 * freed even if PACK->failed.
 */
void coll_topo_carry(coll_pack_buffer *pack, coll_topo *topo);

/*
 * Makes the topology of RANKS imaginary ranks placed like those of NOW: with the maximum of ranks
 * per node, the average (rounded up) of nodes per rack and of racks per site; one rack or one site
 * if NOW has only one. The result has no host names. Error: MPI_ERR_NO_MEM.
 */
int coll_topo_imagine(const coll_topo *now, int ranks, coll_topo *topo);

/*
 * Makes the topology of COUNT ranks of WHOLE, listed in RANKS, as if there were no others; cores
 * are those of WHOLE. The result has host names if WHOLE has. Error: MPI_ERR_NO_MEM.
 */
int coll_topo_part(const coll_topo *whole, int count, const int ranks[], coll_topo *part);

/* Sets FIRST[node] to the lowest rank of each node of TOPO. */
void coll_topo_first_ranks(const coll_topo *topo, int first[]);

/*
 * Returns the level of messages between the ranks A and B: NUMA if both are in one NUMA domain,
 * else NODE if both are on one node, and so on; WIDE if they are in different sites.
 */
coll_level coll_topo_level(const coll_topo *topo, int a, int b);

/*
 * Returns the fewest ranks of a node (LEVEL is COLL_LEVEL_NODE) or a rack (COLL_LEVEL_RACK), and
 * sets *MOST to the most.
 */
int coll_topo_fewest(const coll_topo *topo, coll_level level, int *most);

/* Returns how many ranks of a host of TOPO can handle messages at the same time, each on a core of
 * its own. */
int coll_topo_busy_cores(const coll_topo *topo);

/*
 * Renumbers the sites, racks and nodes of PART, whose ranks and places are some of WHOLE's, and
 * sets PART's number of sites, racks and nodes, and its most ranks per node. SCRATCH has space for
 * one number for each of WHOLE's nodes.
 */
void coll_topo_number(coll_topo *part, const coll_topo *whole, int scratch[]);

/*
 * Renumbers COUNT numbers below BEFORE, at FIRST and STRIDE bytes apart, from 0 by first
 * appearance. Returns how many different numbers there are. MAP is scratch memory for BEFORE
 * numbers.
 */
int coll_topo_renumber(int *first, size_t stride, int count, int before, int map[]);

#endif

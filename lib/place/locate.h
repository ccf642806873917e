/* The racks and sites of nodes, from where the user says: a file, Slurm, or measurement. */
#ifndef COLL_LIB_PLACE_LOCATE_H
#define COLL_LIB_PLACE_LOCATE_H

#include <mpi.h>

/* The longest note, its NUL included. */
enum { COLL_LOCATE_NOTE = 512 };

/* What is left to do once rank 0 has looked into files. */
typedef enum coll_locate_rest {
    COLL_LOCATE_NOTHING,
    COLL_LOCATE_TRY,     /* to measure; where that does not work, all nodes are in one rack */
    COLL_LOCATE_MEASURE, /* to measure; where that does not work, that is an error */
    COLL_LOCATE_COMPARE  /* likewise, and to compare */
} coll_locate_rest;

/* Of a communicator's nodes: names, and racks and sites, numbered by first appearance. */
typedef struct coll_location {
    int nodes;
    char *const *hosts;
    int *racks, *sites;
    char *note; /* COLL_LOCATE_NOTE bytes: where the answer comes from, in a line */
} coll_location;

/*
 * Sets racks, sites and note of what is AT as far as no message is needed, for rank 0. SOURCE is
 *
 *     auto        what topocache.h keeps for these hosts, else measured (autotopo.h) and kept;
 *                 where what is kept is no good, this says so on stderr, once a process
 *     auto:fresh  measured and kept
 *     check:FILE  FILE, and measured and kept: rank 0 prints on stderr where the two disagree
 *     FILE        the file (topofile.h)
 *     flat        all in one rack
 *     ""          Slurm's own address of each node; else, of three nodes or more, what topocache.h
 *                 keeps, else measured within a short time and kept; else all in one rack
 *
 * Behind the NUL of each host name is Slurm's path of switches down to the node, "s0.s4" or "", and
 * another NUL. In it the rack is all switches down to the node's own; where some address has more
 * than one switch the site is the topmost one, else there is one site, as in files. PROBLEM
 * (COLL_TEXTFILE_PROBLEM bytes) says what is wrong, or "".
 */
coll_locate_rest coll_locate(const coll_location *at, const char *source, char *problem);

/*
 * Does the REST on all ranks of COMM, which must return its errors, and sets racks, sites and note
 * on them. To be given what coll_locate has found on rank 0. LEADERS[node] is the lowest rank of
 * each. All ranks get the same error: MPI_ERR_OTHER or MPI_ERR_NO_MEM, with text, or MPI's.
 */
int coll_locate_rest_of(MPI_Comm comm, coll_locate_rest rest, const char *source,
                        const int leaders[], const coll_location *at);

#endif

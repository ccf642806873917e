/*
 * Determines the racks and sites of nodes from the source that the user chooses: a file, Slurm, or
 * measurement.
 */
#ifndef COLL_LIB_PLACE_LOCATE_H
#define COLL_LIB_PLACE_LOCATE_H

#include <mpi.h>

/* Most bytes of a note, including its NUL. */
enum { COLL_LOCATE_NOTE = 512 };

/* What remains to be done after rank 0 has read files. */
typedef enum coll_locate_rest {
    COLL_LOCATE_NOTHING,
    COLL_LOCATE_TRY,     /* measure; if that fails, all nodes are in one rack */
    COLL_LOCATE_MEASURE, /* measure; if that fails, return an error */
    /* measure and compare with the file; if measuring fails, return an error */
    COLL_LOCATE_COMPARE
} coll_locate_rest;

/* The nodes of a communicator: their names, racks and sites, numbered by first appearance. */
typedef struct coll_location {
    int nodes;
    char *const *hosts;
    int *racks, *sites;
    char *note; /* COLL_LOCATE_NOTE bytes: one line that names the source */
} coll_location;

/*
 * On rank 0, sets AT's racks, sites and note as far as that needs no messages, and returns what
 * remains to be done. SOURCE is
 *
 *     auto        the cached topology of these hosts (topocache.h), else measured (autotopo.h) and
 *                 cached; if the cached file is damaged, says so on stderr once per process
 *     auto:fresh  measured and cached
 *     check:FILE  FILE; also measured and cached, and rank 0 prints on stderr if the two disagree
 *     FILE        the file (topofile.h)
 *     flat        all nodes in one rack
 *     ""          Slurm's address of each node; else, for three nodes or more, the cached topology,
 *                 else measured within a short time and cached; else all in one rack
 *
 * Each host name is followed, after its NUL, by Slurm's path of switches down to the node, "s0.s4"
 * or "", and another NUL. A node's rack is given by all switches of that path. If some path has
 * more than one switch, the site is the topmost switch; otherwise there is one site, as with files.
 * PROBLEM (COLL_TEXTFILE_PROBLEM bytes) receives an error message, or "".
 */
coll_locate_rest coll_locate(const coll_location *at, const char *source, char *problem);

/*
 * Does what remains on all ranks of COMM, whose error handler must return errors, and sets racks,
 * sites and note on all of them. On rank 0, AT must hold what coll_locate has found. LEADERS[node]
 * is the lowest rank of each node. All ranks get the same error: MPI_ERR_OTHER or MPI_ERR_NO_MEM,
 * with text, or MPI's.
 */
int coll_locate_rest_of(MPI_Comm comm, coll_locate_rest rest, const char *source,
                        const int leaders[], const coll_location *at);

#endif

/*
 * The racks and sites of nodes, from where the user says: a file, Slurm, or measurement.
 */
#ifndef COLL_LIB_PLACE_LOCATE_H
#define COLL_LIB_PLACE_LOCATE_H

#include <mpi.h>

/* The longest note, its NUL included. */
enum { COLL_LOCATE_NOTE = 512 };

/*
 * Sets RACKS and SITES of NODES nodes on all ranks of COMM to numbers that are equal for nodes of
 * the same rack or site. SOURCE, of which rank 0's counts, is
 *
 *     auto        what topocache.h keeps for these hosts, else measured (autotopo.h) and kept;
 *                 where what is kept is no good, rank 0 says so on stderr, once a process
 *     auto:fresh  measured and kept
 *     check:FILE  FILE, and measured and kept: rank 0 prints on stderr where the two disagree
 *     FILE        the file (topofile.h)
 *     "" or NULL  Slurm's own address of each node, else all are in one rack
 *
 * HOSTS are the nodes' host names; behind the NUL of each is Slurm's path of switches down to the
 * node, "s0.s4" or "", and another NUL. LEADERS[node] is the lowest rank of each. On rank 0 NOTE
 * (COLL_LOCATE_NOTE bytes) says in a line where the answer comes from, elsewhere it is "".
 *
 * Collective; all ranks get the same error: MPI_ERR_FILE or MPI_ERR_NO_MEM, with text, or MPI's.
 */
int coll_locate(MPI_Comm comm, const char *source, int nodes, char *const hosts[],
                const int leaders[], int racks[], int sites[], char *note);

#endif

/*
 * What has been learnt, in this process and in earlier runs of the same user: what algorithms took
 * for calls of a size class of ranks in the same places. It is kept in one file, "learnt"
 * (lib/base/cachefile.h):
 *
 *     libcoll-learnt 2
 *     # comments and empty lines may stand anywhere below the first line
 *     0123456789abcdef 25 n0 bcast 1048576 chain 0.446
 *
 * A line has the placement as below, the number of ranks and the first one's host for whoever reads
 * it, the operation, the class's least size, the algorithm, and the seconds that a call took. A
 * file that begins with "libcoll-learnt 1" has but the fastest algorithm of each class. What the
 * library doesn't know is of no consequence. No MPI.
 */
#ifndef COLL_LIB_OPERATION_LEARNT_H
#define COLL_LIB_OPERATION_LEARNT_H

#include "lib/place/topo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_learnt {
    uint64_t placement;
    int ranks;
    char host[64];
    char operation[16];
    size_t bytes; /* a power of two: of all calls from there to below twice that */
    char algorithm[32];
    double seconds;
} coll_learnt;

/* The file's path, for the caller to free; NULL: there can be none. */
char *coll_learnt_path(void);

/* A number for the hosts and racks of TOPO's ranks. */
uint64_t coll_learnt_placement(const coll_topo *topo);

/*
 * Returns the seconds that calls of LIKE's placement, operation, bytes and algorithm took; 0: not
 * known. Reads the file once in a process; of a damaged one says so on stderr, and passes over it.
 */
double coll_learnt_find(const coll_learnt *like);

/*
 * Keeps COUNT of WHAT, in the place of what was learnt for the same; IN_FILE: in the file, too,
 * beside what other jobs have written there meanwhile. Returns 0 or an errno: then nothing is kept
 * in the file.
 */
int coll_learnt_keep(const coll_learnt what[], int count, bool in_file);

#endif

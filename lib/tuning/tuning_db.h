/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of autotuning, of this process and of earlier runs of the same user: the times of
 * algorithms for calls of a size class by ranks in the same places. They are saved in one file,
 * "learnt" (lib/base/cachefile.h):
 *
 *     libcoll-learnt 3
 *     # comments and empty lines may be anywhere below the first line
 *     0123456789abcdef 25 n0 bcast 1048576 chain 0.446
 *
 * A line has the placement (see below), the number of ranks and the first rank's host (for human
 * readers), the operation, the class's least size in bytes, the algorithm, and the seconds that a
 * call took. A file of an earlier version counts as empty, since its times were measured in another
 * way. Operations and algorithms that the library doesn't know are ignored. No MPI.
 */
#ifndef COLL_LIB_TUNING_TUNING_DB_H
#define COLL_LIB_TUNING_TUNING_DB_H

#include "lib/topology/topo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_tuning_entry {
    uint64_t placement;
    int ranks;
    char host[64];
    char operation[16];
    size_t bytes; /* a power of two; the entry covers calls of [bytes, 2 * bytes) */
    char algorithm[32];
    double seconds;
} coll_tuning_entry;

/* Returns the file's path, which the caller frees; NULL if there can be none. */
char *coll_tuning_db_path(void);

/* Returns a hash of the hosts and racks of TOPO's ranks. */
uint64_t coll_tuning_db_placement(const coll_topo *topo);

/*
 * Returns the seconds of calls with LIKE's placement, operation, bytes and algorithm; 0 if not
 * known. The file is read once in a process; a damaged file is reported on stderr and ignored.
 */
double coll_tuning_db_find(const coll_tuning_entry *like);

/*
 * Saves the COUNT entries of WHAT, which replace older entries for the same calls and algorithms;
 * with IN_FILE also in the file, merged with entries that other jobs have written meanwhile.
 * Returns 0, or an errno if the file was not written.
 */
int coll_tuning_db_keep(const coll_tuning_entry what[], int count, bool in_file);

#endif

/*
 * Files of measured costs, which coll-profile writes. No MPI.
 *
 *     libcoll-profile 3
 *     # comments and empty lines may stand anywhere below the first line
 *     date 2026-11-20T07:13:54Z
 *     hosts n[0-3],login1
 *     level rack latency_s 4.1e-05 overhead_s 5e-06 per_byte_s 8.5e-09 buffer_bytes 61440
 *     curve rack L error 0.03 at 1 3.1e-05 1024 4.2e-05 65536 0.00058
 *     level site latency_s 6.2e-05 overhead_s 5e-06 per_byte_s 8.5e-09
 *     copy Mmtm error 0.1 at 64 2e-08 1048576 0.0002
 *     end
 *
 * The date and the first line of hosts come once, the hosts (in Slurm's syntax,
 * lib/place/hostlist.h) in as many lines as they need. A level is numa, node, rack, site or wide;
 * each at most once, one at least; those that are not there were not measured. `end` tells a whole
 * file from a truncated one. Of a level's figures the first three are always there; wake_s,
 * per_rank_s, together_bytes_per_s and buffer_bytes are 0 where they are missing. Below its line
 * come its curves (COLL_Parameter), and anywhere the copies in memory (COLL_Copy): the error of the
 * fit, then knots of bytes and seconds. Lines that begin with `trial`, which earlier versions
 * wrote, are passed over.
 *
 * A file of another version is refused, older ones too: what a profile says of the model belongs to
 * the one that it was measured with.
 */
#ifndef COLL_LIB_COST_PROFILEFILE_H
#define COLL_LIB_COST_PROFILEFILE_H

#include "lib/base/textfile.h"

#include "coll_tools.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct coll_profilefile {
    char date[32];
    char *hosts;    /* a host list */
    int hosts_line; /* where it begins */
    COLL_Cost level[COLL_LEVELS];
    bool measured[COLL_LEVELS];
    COLL_Curve copy[COLL_COPIES];
} coll_profilefile;

typedef enum coll_profilefile_state {
    COLL_PROFILEFILE_GOOD,
    COLL_PROFILEFILE_BAD,    /* and the problem says why */
    COLL_PROFILEFILE_ABSENT, /* there is no such file */
} coll_profilefile_state;

/*
 * Parses LENGTH bytes of TEXT, in place and with a NUL behind them, calling them PATH in error
 * texts. False on errors, with file, line and remedy in PROBLEM (COLL_TEXTFILE_PROBLEM bytes), and
 * nothing to free in FILE.
 */
bool coll_profilefile_parse(const char *path, char *text, size_t length, coll_profilefile *file,
                            char *problem);

/* The same for what the regular file at PATH holds. FILE is to be freed where it is good. */
coll_profilefile_state coll_profilefile_read(const char *path, coll_profilefile *file,
                                             char *problem);

void coll_profilefile_free(coll_profilefile *file);

/* True when FILE was measured on HOST, among others; domains are stripped as in topology files. */
bool coll_profilefile_has_host(const coll_profilefile *file, const char *host);

/*
 * True where no file could hold COST: then PROBLEM says what is wrong with it, as "latency_s 0 is
 * not within 1e-09 to 100". Curves without knots are good.
 */
bool coll_profilefile_fault(const COLL_Cost *cost, char *problem, size_t size);

/*
 * Writes a file of this format to STREAM, with what FILE has measured and HOSTS, COUNT names.
 * The caller checks the stream for errors; false where a name can't be written, with a text in
 * PROBLEM.
 */
bool coll_profilefile_print(FILE *stream, const coll_profilefile *file, const char *const hosts[],
                            int count, char *problem);

#endif

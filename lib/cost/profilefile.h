/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of measured costs, which coll-profile writes. No MPI.
 *
 *     libcoll-profile 3
 *     # comments and empty lines may be anywhere below the first line
 *     date 2026-11-20T07:13:54Z
 *     hosts n[0-3],login1
 *     level rack latency_s 4.1e-05 overhead_s 5e-06 per_byte_s 8.5e-09 buffer_bytes 61440
 *     curve rack L error 0.03 at 1 3.1e-05 1024 4.2e-05 65536 0.00058
 *     level site latency_s 6.2e-05 overhead_s 5e-06 per_byte_s 8.5e-09
 *     copy Mmtm error 0.1 at 64 2e-08 1048576 0.0002
 *     end
 *
 * There is one date, and at least one line of hosts (in Slurm's syntax, lib/topology/hostlist.h). A
 * level is numa, node, rack, site or wide; each appears at most once, and at least one does;
 * missing levels were not measured. `end` distinguishes a whole file from a truncated one. The
 * first three figures of a level are required; wake_s, per_rank_s, together_bytes_per_s and
 * buffer_bytes default to 0. A level's curves (COLL_Parameter) follow its line; copies in memory
 * (COLL_Copy) may be anywhere. Lines of curves and copies have the error of the fit, then knots of
 * bytes and seconds. Lines that begin with `trial`, which earlier versions wrote, are ignored.
 *
 * Files of other versions, also of older ones, are rejected: their figures belong to another cost
 * model.
 */
#ifndef COLL_LIB_COST_PROFILEFILE_H
#define COLL_LIB_COST_PROFILEFILE_H

#include "lib/base/textfile.h"

#include "coll_tools.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct coll_profilefile {
    char date[32];
    char *hosts;    /* a host list */
    int hosts_line; /* line number of the first hosts */
    COLL_Profile values;
} coll_profilefile;

/*
 * Parses LENGTH bytes of TEXT, in place; a NUL must follow them. PATH names them in error texts.
 * Returns false on errors, with file, line and remedy in PROBLEM (COLL_TEXTFILE_PROBLEM bytes);
 * else the caller frees FILE.
 */
bool coll_profilefile_parse(const char *path, char *text, size_t length, coll_profilefile *file,
                            char *problem);

/* Reads and parses the regular file at PATH in the same way. If there is no such file, returns
 * false, and PROBLEM is "". */
bool coll_profilefile_read(const char *path, coll_profilefile *file, char *problem);

void coll_profilefile_free(coll_profilefile *file);

/* Returns whether FILE's hosts contain HOST; a domain that only one of two names has is ignored, as
 * in topology files. */
bool coll_profilefile_has_host(const coll_profilefile *file, const char *host);

/*
 * Returns whether COST is invalid in a file; PROBLEM then says why, for example "latency_s 0 is not
 * within 1e-09 to 100". Curves without knots are valid.
 */
bool coll_profilefile_fault(const COLL_Cost *cost, char *problem, size_t size);

/*
 * Writes the measured VALUES and the COUNT names HOSTS to the file at PATH, using
 * coll_cachefile_write if CACHED, else coll_cachefile_replace. Returns 0 or an errno. PROBLEM is
 * "", or a text about VALUES or about a name that can't be written.
 */
int coll_profilefile_write(const char *path, bool cached, const COLL_Profile *values,
                           const char *const hosts[], int count, char *problem);

#endif

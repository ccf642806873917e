/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes files of latencies between sites. No MPI.
 *
 *     # two sites in Europe, one overseas
 *     unit ms
 *     ams fra nyc
 *       0   8  41
 *       8   0  44
 *      40  46   0
 *     hosts nyc n[8-11],login1
 *
 * A row has the latencies of small messages from its site to the site of each column. "unit" sets
 * the unit of the numbers: us, ms or s, possibly with a number before it (0.1ms); the default is
 * ms. The line of names may be left out: the sites are then called site0, site1, ... Rows may begin
 * with the names of their sites; then the line of names may begin with another word or an empty
 * cell. Commas or semicolons may separate names and numbers instead of spaces. A - stands for a
 * missing link. The number from a site to itself is ignored. "hosts" lists the hosts of a site, in
 * Slurm's syntax of host lists, either for all sites or for none. '#' starts a comment. netlab also
 * reads such files if their rows have only numbers, separated by spaces.
 */
#ifndef COLL_HLOT_MATRIX_H
#define COLL_HLOT_MATRIX_H

#include "hlot/tree.h"
#include "lib/base/textfile.h"
#include "lib/topology/topo.h"

#include <stdio.h>

/* The size of a site's name, including the NUL. */
enum { HLOT_NAME = 64 };

typedef struct hlot_matrix {
    int sites;
    char names[HLOT_SITES][HLOT_NAME];
    char *hosts[HLOT_SITES]; /* a host list, or NULL; owned */
    hlot_latencies latency;  /* s; 0 from a site to itself */
    bool within;             /* the file has a latency other than 0 from a site to itself */
} hlot_matrix;

/*
 * Reads the regular file at PATH or, with OR_INPUT, standard input if PATH is "-". The caller frees
 * MATRIX with hlot_matrix_free. On errors, returns false, with nothing to free, and writes the
 * file, the line and a remedy to PROBLEM (COLL_TEXTFILE_PROBLEM bytes).
 */
bool hlot_matrix_read(const char *path, bool or_input, hlot_matrix *matrix, char *problem);

/*
 * Does the same for the LENGTH bytes of TEXT, which a NUL must follow. Error texts say that TEXT is
 * from the file PATH. TEXT is modified.
 */
bool hlot_matrix_parse(const char *path, char *text, size_t length, hlot_matrix *matrix,
                       char *problem);

void hlot_matrix_free(hlot_matrix *matrix);

/*
 * Writes MATRIX in the form that hlot_matrix_read reads. NOTE, a line or NULL, becomes a comment.
 */
void hlot_matrix_print(FILE *stream, const hlot_matrix *matrix, const char *note);

/* Returns the site whose list of hosts contains HOST, or -1. */
int hlot_matrix_find_host(const hlot_matrix *matrix, const char *host);

/* Returns the number of the site that is called NAME, or -1. */
int hlot_matrix_find(const hlot_matrix *matrix, const char *name);

/*
 * Reads the matrix file at PATH and sets LATENCY for the sites of TOPO. The hosts that the file
 * lists show which row belongs to which site; without hosts, the rows are the sites in the order of
 * their first ranks. Returns false, with PROBLEM (COLL_TEXTFILE_PROBLEM bytes), if the file is
 * invalid, is for other hosts, or leaves a site unreachable.
 */
bool hlot_matrix_of(const char *path, const coll_topo *topo, hlot_latencies latency, char *problem);

#endif

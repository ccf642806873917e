/*
 * Latencies between sites in a file. No MPI.
 *
 *     # two sites in Europe, one overseas
 *     unit ms
 *     ams fra nyc
 *       0   8  41
 *       8   0  44
 *      40  46   0
 *     hosts nyc n[8-11],login1
 *
 * A row says how long a small message takes from its site to that of each column. "unit" gives the
 * size of 1, us, ms or s with a number before it or none (0.1ms); ms without it. The line of names
 * may be left out: the sites are then site0, site1, ... Rows may begin with their site's name;
 * above these names the line of names may have another word or an empty cell. Commas or semicolons
 * may separate names and numbers in place of spaces. The number of a pair that has no way is -.
 * What a row says of the way from a site to itself is ignored.
 * "hosts" says, in Slurm's syntax of host lists, which hosts are at a site; it may be left out, for
 * all sites or none. '#' starts a comment. netlab reads files whose rows are numbers between
 * spaces.
 */
#ifndef COLL_HLOT_MATRIX_H
#define COLL_HLOT_MATRIX_H

#include "hlot/tree.h"
#include "lib/base/textfile.h"
#include "lib/place/topo.h"

#include <stdio.h>

/* The longest error text and the longest name of a site, their NULs included. */
enum { HLOT_NAME = 64 };

typedef struct hlot_matrix {
    int sites;
    char names[HLOT_SITES][HLOT_NAME];
    char *hosts[HLOT_SITES]; /* a host list, or NULL; owned */
    hlot_latencies latency;  /* s; 0 from a site to itself */
    bool within;             /* the file gave some site another latency to itself */
} hlot_matrix;

/*
 * Reads the regular file at PATH. The caller frees what it gets with hlot_matrix_free. False on
 * errors, with nothing to free, and file, line and remedy in PROBLEM (COLL_TEXTFILE_PROBLEM bytes).
 */
bool hlot_matrix_read(const char *path, hlot_matrix *matrix, char *problem);

/* The same for standard input, which is called "-" in error texts. */
bool hlot_matrix_read_input(hlot_matrix *matrix, char *problem);

/* The same for LENGTH bytes of TEXT and the NUL behind them, called PATH; TEXT is used up. */
bool hlot_matrix_parse(const char *path, char *text, size_t length, hlot_matrix *matrix,
                       char *problem);

void hlot_matrix_free(hlot_matrix *matrix);

/* Writes MATRIX so that it can be read back; NOTE, a line or NULL, becomes a comment. */
void hlot_matrix_print(FILE *stream, const hlot_matrix *matrix, const char *note);

/* The site whose list of hosts names HOST; -1 for none. */
int hlot_matrix_find_host(const hlot_matrix *matrix, const char *host);

/* The number of the site that is called NAME; -1 for none. */
int hlot_matrix_find(const hlot_matrix *matrix, const char *name);

/*
 * Latencies by hand: reads the matrix file at PATH for the sites of TOPO: by the hosts that it
 * lists, else its rows are the sites in the order of their first ranks. False, with PROBLEM
 * (COLL_TEXTFILE_PROBLEM bytes), where the file is bad or of other hosts, or leaves a site without
 * a way.
 */
bool hlot_matrix_of(const char *path, const coll_topo *topo, hlot_latencies latency, char *problem);

#endif

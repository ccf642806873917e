/* SPDX-License-Identifier: BSD-3-Clause */
/* The data that topofile.c shares with its two parsers: the switches that a file lists. No MPI. */
#ifndef COLL_LIB_TOPOLOGY_TOPOFILE_PARSE_H
#define COLL_LIB_TOPOLOGY_TOPOFILE_PARSE_H

#include "lib/base/textfile.h"
#include "lib/topology/topofile.h"

#include <stdbool.h>

/* A switch or a block. Strings belong to the file's sources. */
typedef struct coll_switch {
    const char *name;
    const char *nodes;    /* its host list, or NULL */
    const char *switches; /* the list of switches below it, or NULL */
    const char *path;     /* the file that contains it */
    int line;
    bool is_block;
    int parent; /* the first switch that lists it, or -1 */
    int lister; /* the last switch that lists it, or -1 */
    /* union-find link to another switch of the same site, or itself; see site_of */
    int joined;
    int rack_number, site_number; /* numbered from 1 when first found; 0: not yet */
} coll_switch;

/* A file's path and text, and the document that coll_topology_yaml_parse has made of them, or
 * NULL. */
typedef struct coll_topofile_source {
    char *path, *text;
    void *document;
} coll_topofile_source;

struct coll_topofile {
    coll_lines lines;              /* reading position, and place of a problem */
    coll_topofile_source *sources; /* the file and the files that it includes */
    int source_count;
    coll_switch *switches;
    int count, capacity;
    coll_switch **by_name;
    bool layered;     /* some switch lists other switches */
    bool listing;     /* some switch or block lists hosts */
    int racks, sites; /* numbers of racks and sites found so far */
    bool said_spines, said_racks;
    char note[200];
};

/*
 * Parses the rest of FILE->lines and appends the switches. Returns false on an error, which
 * FILE->lines.problem then describes.
 */
bool coll_topology_conf_parse(coll_topofile *file);
bool coll_topology_yaml_parse(coll_topofile *file);

/* Frees SOURCE's document. */
void coll_topology_yaml_free(coll_topofile_source *source);

/* Returns the place of a problem: LINE of the current file. */
const coll_lines *coll_topofile_line(coll_topofile *file, int line);

/* Adds a copy of ENTRY. Returns false, with the problem set, if out of memory. */
bool coll_topofile_append(coll_topofile *file, const coll_switch *entry);

/* Adds a message to the note about how FILE was interpreted. */
__attribute__((format(printf, 2, 3))) void coll_topofile_add_note(coll_topofile *file,
                                                                  const char *format, ...);

/*
 * Parses the file NAME, which LINE of the current file includes. A relative NAME starts at the
 * current file's folder. Returns false on an error.
 */
bool coll_topofile_include(coll_topofile *file, const char *name, int line);

#endif

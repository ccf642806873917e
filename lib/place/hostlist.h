/*
 * Slurm's host lists, "n[0-3,010-012],login1": names separated by commas, in which brackets hold
 * numbers and ranges of numbers, padded with zeros to the width of the first. Lists are read where
 * they stand and never expanded as a whole. No MPI.
 */
#ifndef COLL_LIB_PLACE_HOSTLIST_H
#define COLL_LIB_PLACE_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

/* The longest name that is looked for or handed out. */
enum { COLL_HOSTLIST_NAME = 255 };

/* What is wrong with LIST, as "an empty name", or NULL. The functions below need a good list. */
const char *coll_hostlist_fault(const char *list);

/* True when LIST names HOST. */
bool coll_hostlist_has(const char *list, const char *host);

/*
 * True when LIST names HOST but for a domain, "node1" against "node1.cluster.org": one of the two
 * has it, and the other none.
 */
bool coll_hostlist_has_short(const char *list, const char *host);

/*
 * Calls VISIT for the names of LIST in its order until it returns false, and returns what VISIT
 * returned last. A name longer than COLL_HOSTLIST_NAME is handed over cut to that.
 */
bool coll_hostlist_visit(const char *list, bool (*visit)(const char *name, void *context),
                         void *context);

#endif

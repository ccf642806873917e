/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's host lists, "n[0-3,010-012],login1": names separated by commas, in which brackets hold
 * numbers and ranges of numbers, padded with zeros to the width of the range's first number. Lists
 * are matched in place and never expanded as a whole. No MPI.
 */
#ifndef COLL_LIB_TOPOLOGY_HOSTLIST_H
#define COLL_LIB_TOPOLOGY_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

/* The maximum length of a host name, in characters. */
enum { COLL_HOSTLIST_NAME = 255 };

/*
 * Returns what is wrong with LIST, such as "an empty name", or NULL if LIST is correct. The
 * functions below need a correct list.
 */
const char *coll_hostlist_fault(const char *list);

/* Returns whether LIST names HOST. */
bool coll_hostlist_has(const char *list, const char *host);

/*
 * Returns whether LIST names HOST except for a domain that only one of the two has: "node1" and
 * "node1.cluster.org".
 */
bool coll_hostlist_has_short(const char *list, const char *host);

/*
 * Calls VISIT for the names of LIST, in order, until VISIT returns false. Returns VISIT's last
 * result. Truncates names to COLL_HOSTLIST_NAME characters.
 */
bool coll_hostlist_visit(const char *list, bool (*visit)(const char *name, void *context),
                         void *context);

#endif

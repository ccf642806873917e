/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the hosts of a hostfile of Open MPI: a host on each line, with slots=N; # begins a comment.
 */
#ifndef COLL_TOOLS_INFO_SLOTS_H
#define COLL_TOOLS_INFO_SLOTS_H

#include "app/problem.h"

#include <stdbool.h>

/* The host of each slot. All are 0 without a hostfile. */
typedef struct slot_list {
    char **hosts; /* of each slot, NULL without a hostfile */
    int count;
    char *text;
} slot_list;

/* Reads the file at PATH; does nothing if that is NULL. EACH is the slots of a host, 0: as the file
 * says, one if it doesn't. On false PROBLEM names the line; the caller frees SLOTS even then. */
bool slots_read(const char *path, int each, slot_list *slots, app_problem *problem);
void slots_free(slot_list *slots);

#endif

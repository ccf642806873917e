/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of both scan and exscan; their tables are in lib/api/registry.c. */
#ifndef COLL_LIB_SCAN_SCAN_H
#define COLL_LIB_SCAN_SCAN_H

#include "lib/plan/plan.h"

extern const coll_algorithm coll_scan_linear, coll_scan_recursive_doubling;

/* Round I handles segment I. */
typedef struct coll_scan_plan {
    coll_plan base;
    int rank, ranks;
    bool excludes; /* an exscan: the result excludes the rank's own contribution */
} coll_scan_plan;

/*
 * coll_scan_size returns the size of a plan in segments of SEGMENT bytes, with WINDOW rounds in
 * flight and at most STEPS steps and SEGMENTS segments of memory a round. coll_scan_open creates
 * the plan, whose rounds are written by ROUND.
 */
coll_plan_size coll_scan_size(const coll_plan_args *args, size_t segment, size_t window, int steps,
                              int segments);
coll_plan *coll_scan_open(const coll_plan_args *args, coll_plan_size size, void *memory,
                          coll_round *round);

#endif

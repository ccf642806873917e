/* The scans and exscans; lib/registry.c has the tables of them all. */
#ifndef COLL_LIB_SCAN_SCAN_H
#define COLL_LIB_SCAN_SCAN_H

#include "lib/schedule/plan.h"

extern const coll_algorithm coll_scan_linear, coll_scan_recursive_doubling, coll_exscan_linear,
    coll_exscan_recursive_doubling;

/* Round I is about segment I. */
typedef struct coll_scan_plan {
    coll_plan base;
    int rank, ranks;
    bool excludes; /* an exscan: the data leave out the rank's own contribution */
} coll_scan_plan;

/* The measures of plans in segments of SEGMENT, with so many STEPS and SEGMENTS of memory a round,
 * and the plan whose rounds are by ROUND. */
coll_plan_size coll_scan_size(const coll_part *part, size_t segment, size_t window, int steps,
                              int segments);
coll_plan *coll_scan_open(const coll_part *part, coll_plan_size size, void *memory,
                          coll_round *round);

#endif

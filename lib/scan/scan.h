/* The scans and exscans; lib/registry.c has the tables of them all. */
#ifndef COLL_LIB_SCAN_SCAN_H
#define COLL_LIB_SCAN_SCAN_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_scan_linear, coll_scan_recursive_doubling, coll_exscan_linear,
    coll_exscan_recursive_doubling;

/* Whether the data of CALL's ranks leave out their own contributions. */
static inline bool coll_scan_excludes(const coll_shape *call) {
    return call->sides.input == COLL_SIDE_ONE;
}

#endif

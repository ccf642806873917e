/* SPDX-License-Identifier: BSD-3-Clause */
/* The scatter algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_SCATTER_SCATTER_H
#define COLL_LIB_SCATTER_SCATTER_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_scatter_straight, coll_scatter_binomial;

#endif

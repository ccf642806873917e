/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linear: every rank sends to the root at once; the root receives in chain order.
 *
 * The uncoordinated gather of message-passing libraries, here as a baseline for comparison. On
 * Ethernet the senders together flood the switch port of the root.
 *
 * Cost: (C1 + (p - 1) m D + C2) / r (eq. 8), where only the share r of eq. 4 arrives and the rest
 * is sent again.
 * Source: Tam and Wang, section 5.
 */
#include "config.h"

#include "lib/gather/gather.h"
#include "lib/gather/straight.h"

#include <limits.h>

static const coll_straight how = {
    .segment = 1 << 20, .window = 16, .together = 64, .senders = INT_MAX, .sends = 4};

static coll_plan_size plan_size(const coll_plan_args *args) {
    return coll_straight_size(args, &how);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_straight_plan(args, &how, size, memory);
}

const coll_algorithm coll_gather_linear = {
    .name = "linear",
    .summary = "all ranks send to the root at once",
    .rival = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/leader_tree.h"

#include "lib/pattern/binomial.h"
#include "lib/pattern/radix.h"
#include "lib/plan/multi_leader.h"

#include <math.h>

static int ranks_of_node(const coll_plan_args *args, int first) {
    return coll_plan_args_ranks(args, first, COLL_UNIT_NODE);
}

/* Returns the most nodes in a tree, which includes the root's node of SERVERS ranks. */
static int most_nodes(const coll_plan_args *args, int servers) {
    const int others = args->shape->topo->nodes - 1;
    return 1 + (others + servers - 1) / servers;
}

/*
 * Returns the seconds of ROUNDS rounds in which a rank sends RADIX - 1 messages. The SERVERS ranks
 * of the root's node share its link, so the result is at least the time of all their messages
 * there.
 */
static double seconds_of(const coll_plan_args *args, int servers, int rounds, int radix) {
    const coll_shape *shape = args->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    const double bytes = (double)shape->bytes, relay = coll_cost_relay(link, bytes);
    const int messages = servers * rounds * (radix - 1);
    return fmax(rounds * (relay + (radix - 2) * fmax(link->overhead, bytes * link->per_byte)),
                relay + (messages - 1) * bytes * link->per_byte);
}

/* Returns the user's radix, else the one that takes the least time. */
static int radix_of(const coll_plan_args *args) {
    const uint64_t asked = args->values->at[COLL_RADIX];
    const int servers = ranks_of_node(args, 0), nodes = most_nodes(args, servers);
    int best = 2;
    if (asked >= 2)
        return (int)asked;
    const int fewest = coll_radix_digits(nodes, COLL_LEADERS_RADIX);
    double least = INFINITY;
    for (int rounds = coll_radix_digits(nodes, 2); rounds > 0 && rounds >= fewest; rounds--) {
        const int radix = coll_radix_for(nodes, rounds);
        const double seconds = seconds_of(args, servers, rounds, radix);
        if (seconds < least) {
            least = seconds;
            best = radix;
        }
    }
    return best;
}

int coll_leader_tree_children(const coll_plan_args *args) {
    const int nodes = most_nodes(args, ranks_of_node(args, 0)), radix = radix_of(args),
              rounds = coll_radix_digits(nodes, radix);
    return coll_tree_depth(args->shape->topo->most_ranks_per_node) +
           (int)coll_least((size_t)nodes, (size_t)rounds * (size_t)(radix - 1));
}

/* Returns the position of the first rank of node TO. Position AT is that of node NODE, which is not
 * after TO. */
static int first_of(const coll_plan_args *args, int to, int node, int at) {
    for (; node < to; node++)
        at += ranks_of_node(args, at);
    return at;
}

/* Adds the kin in the tree of SERVER, a rank of the root's node, of the node NODE whose first rank
 * is at position FIRST, or of SERVER if NODE is 0. Returns the number of children added. */
static int kin_between_nodes(const coll_plan_args *args, int server, int node, int first,
                             int *parent, int children[]) {
    const int *order = args->line->order, servers = ranks_of_node(args, 0);
    const size_t others = (size_t)args->shape->topo->nodes - 1;
    const int before = (int)coll_block_start(others, servers, server),
              end = (int)coll_block_start(others, servers, server + 1);
    int above;
    const int count = coll_tree_knomial(end - before + 1, radix_of(args), node ? node - before : 0,
                                        &above, children);
    for (int i = count - 1, at = first, to = node; i >= 0; i--) { /* the nearest first */
        const int child = before + children[i];
        at = first_of(args, child, to, at);
        to = child;
        children[i] = order[at];
    }
    if (node > 0)
        *parent = order[above ? first_of(args, before + above, 0, 0) : server];
    return count;
}

int coll_leader_tree(const coll_plan_args *args, int *parent, int children[]) {
    const int *order = args->line->order, own = args->line->position,
              servers = ranks_of_node(args, 0);
    int node = 0, first = 0;
    for (int end = servers; end <= own; end += ranks_of_node(args, end), node++)
        first = end;
    int above;
    int count = coll_tree_binomial(ranks_of_node(args, first), own - first, &above, children);
    for (int i = 0; i < count; i++)
        children[i] = order[first + children[i]];
    *parent = above >= 0 ? order[first + above] : -1;
    if (node > 0 && own > first)
        return count;
    const int server =
        node ? coll_block_at((size_t)(args->shape->topo->nodes - 1), servers, (size_t)(node - 1))
             : own;
    return count + kin_between_nodes(args, server, node, first, parent, &children[count]);
}

bool coll_leader_tree_applies(const coll_shape *call) {
    return call->topo->nodes > 1 && call->topo->sites == 1;
}

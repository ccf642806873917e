/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/twotree.h"

#include <stdbool.h>

/* A tree being built: a queue of hosts that hold the data and may still send it. */
typedef struct growth {
    int tree;
    int *parent, *child;
    const int *budget; /* children that each host may have in this tree */
    int *holders;      /* queue of the hosts that may still send */
    int first, last;   /* the ends of the queue */
} growth;

/*
 * Sets BUDGET, the children that each of the hosts FROM..TO-1, which are one rack, may have in
 * TREE: 2 in both trees together.
 */
static void set_budgets(int from, int to, int tree, int budget[]) {
    for (int h = from; h < to; h++)
        budget[h] = (h - from) % 2 == tree ? 2 : 0;
    if ((to - from) % 2)
        budget[to - 1] = 1;
}

static void enqueue_holder(growth *g, int host) {
    if (g->budget[host])
        g->holders[g->last++] = host;
}

/* Attaches HOST to the host that has held the data longest and may still send it. */
static void attach_host(growth *g, int host) {
    int sender = g->holders[g->first], *children = &g->child[2 * sender], used = children[0] >= 0;
    g->parent[host] = sender;
    children[used] = host;
    if (used + 1 == g->budget[sender])
        g->first++;
}

/*
 * Returns the host through which the tree enters the rack FROM..TO-1: the first that is an inner
 * node.
 */
static int entry_of(const growth *g, int from, int to) {
    int host = from;
    while (host < to - 1 && !g->budget[host])
        host++;
    return host;
}

/*
 * Attaches the hosts of rack FROM..TO-1, which the tree enters through ENTRY, and the entry NEXT of
 * the next rack (-1: none).
 */
static void attach_rack(growth *g, int from, int to, int entry, int next) {
    g->first = g->last = 0;
    enqueue_holder(g, entry);
    bool is_root = g->parent[entry] < 0;
    if (next >= 0 && !(is_root && to - from > 1)) {
        attach_host(g, next);
        next = -1;
    }
    /* Attach inner nodes first, those with two children before the one with one child, and then the
     * leaves. */
    for (int children = 2; children >= 0; children--)
        for (int h = from; h < to; h++) {
            if (h == entry || g->budget[h] != children)
                continue;
            attach_host(g, h);
            enqueue_holder(g, h);
            if (next >= 0) { /* the root's only copy goes to its own rack, which forwards it */
                attach_host(g, next);
                next = -1;
            }
        }
}

static int rack_end(int hosts, const int rack_of[], int from) {
    int to = from + 1;
    while (to < hosts && rack_of[to] == rack_of[from])
        to++;
    return to;
}

static void build_tree(growth *g, int *budget, int hosts, const int rack_of[]) {
    for (int from = 0, to; from < hosts; from = to) {
        to = rack_end(hosts, rack_of, from);
        /*
         * The root has one child in each tree, and the rest of its rack shares the other children.
         */
        set_budgets(from ? from : 1, to, g->tree, budget);
    }
    budget[0] = 1;

    int entry = 0;
    g->parent[0] = -1;
    for (int from = 0, to; from < hosts; from = to) {
        to = rack_end(hosts, rack_of, from);
        int next = to < hosts ? entry_of(g, to, rack_end(hosts, rack_of, to)) : -1;
        attach_rack(g, from, to, entry, next);
        entry = next;
    }
}

void coll_two_tree(int hosts, const int rack_of[], int scratch[], int *parent[2], int *child[2]) {
    int *budget = scratch, *holders = budget + hosts;
    for (int tree = 0; tree < 2; tree++) {
        growth g = {.tree = tree,
                    .parent = parent[tree],
                    .child = child[tree],
                    .budget = budget,
                    .holders = holders};
        for (int i = 0; i < 2 * hosts; i++)
            child[tree][i] = -1;
        build_tree(&g, budget, hosts, rack_of);
    }
}

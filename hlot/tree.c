/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/tree.h"

#include "lib/pattern/binomial.h"

#include <math.h>
#include <stddef.h>

/* The largest number of changes that are tried to improve a tree: some milliseconds of work. */
enum { MOST_TRIES = 300 };

/* A tree is improved only if its time is below this many times the best time so far. */
static const double PROMISING = 1.3;

const char *hlot_kind_name(int kind) {
    static const char *const names[HLOT_KINDS] = {
        [HLOT_PAPER] = "hlot",        [HLOT_PLUS] = "hlot+", [HLOT_FLAT] = "flat",
        [HLOT_BINOMIAL] = "binomial", [HLOT_MST] = "mst",    [HLOT_SPT] = "spt"};
    return kind < HLOT_KINDS ? names[kind] : NULL;
}

/* --- trees that grow from the root, a link at a time --- */

/*
 * Returns a value for the link from FROM to TO: the link with the smallest value is added to the
 * tree first, a link with INFINITY never. REACH is D of FROM, the time of the path from the root to
 * FROM.
 */
typedef double rule(const hlot_network *network, int root, double reach, int from, int to);

static double latency_alone(const hlot_network *network, int root, double reach, int from, int to) {
    (void)root, (void)reach;
    return network->latency[from][to];
}

/* Figure 3: prefers the fastest link, but refuses a link that makes the path to TO slower than the
 * direct link from ROOT ("D[n] is higher than W[0][n]" in the paper). */
static double not_slower_than_direct(const hlot_network *network, int root, double reach, int from,
                                     int to) {
    double latency = network->latency[from][to];
    return reach + latency > network->latency[root][to] ? INFINITY : latency;
}

static double whole_path(const hlot_network *network, int root, double reach, int from, int to) {
    (void)root;
    return reach + network->latency[from][to];
}

/*
 * Prim's algorithm with a given rule: repeatedly adds the site with the best link from the tree. A
 * link that the rule has refused stays refused, because D of the sites in the tree does not change.
 */
static void grow_by_rule(const hlot_network *network, rule *value_of, hlot_tree *tree) {
    double best[HLOT_SITES], reach[HLOT_SITES] = {0};
    bool inside[HLOT_SITES] = {false};
    for (int site = 0; site < tree->sites; site++) {
        best[site] = INFINITY;
        tree->parent[site] = site == tree->root ? -1 : tree->root;
    }
    for (int newest = tree->root; newest >= 0;) {
        inside[newest] = true;
        int next = -1;
        for (int site = 0; site < tree->sites; site++) {
            if (inside[site])
                continue;
            double value = value_of(network, tree->root, reach[newest], newest, site);
            if (value < best[site]) {
                best[site] = value;
                tree->parent[site] = newest;
            }
            if (best[site] < INFINITY && (next < 0 || best[site] < best[next]))
                next = site;
        }
        if (next >= 0)
            reach[next] = reach[tree->parent[next]] + network->latency[tree->parent[next]][next];
        newest = next;
    }
}

/*
 * Repeatedly adds the link whose message arrives earliest, given the sends that its sender already
 * makes to other children. Source: Bhat, Raghavendra, Prasanna: Efficient Collective Communication
 * in Distributed Heterogeneous Systems.
 */
static void grow_earliest(const hlot_network *network, hlot_tree *tree) {
    double reach[HLOT_SITES] = {0};
    int inside[HLOT_SITES], sends[HLOT_SITES] = {0};
    for (int site = 0; site < tree->sites; site++)
        tree->parent[site] = -1;
    inside[0] = tree->root;
    for (int count = 1; count < tree->sites; count++) {
        int from = -1, to = -1;
        double least = INFINITY;
        for (int i = 0; i < count; i++)
            for (int site = 0; site < tree->sites; site++) {
                if (site == tree->root || tree->parent[site] >= 0)
                    continue;
                int sender = inside[i];
                double date = reach[sender] + (sends[sender] + 1) * network->gap +
                              network->latency[sender][site];
                if (from < 0 || date < least) {
                    least = date;
                    from = sender;
                    to = site;
                }
            }
        tree->parent[to] = from;
        reach[to] = least;
        sends[from]++;
        inside[count] = to;
    }
}

/*
 * Makes a line of sites, each followed by the nearest of the remaining sites, so that no site has
 * two children.
 */
static void make_line(const hlot_network *network, hlot_tree *tree) {
    bool inside[HLOT_SITES] = {false};
    for (int site = tree->root, next; site >= 0; site = next) {
        inside[site] = true;
        next = -1;
        for (int other = 0; other < tree->sites; other++)
            if (!inside[other] &&
                (next < 0 || network->latency[site][other] < network->latency[site][next]))
                next = other;
        if (next >= 0)
            tree->parent[next] = site;
    }
    tree->parent[tree->root] = -1;
}

static void make_binomial(hlot_tree *tree) {
    for (int position = 0; position < tree->sites; position++) {
        int parent, children[31], site = (tree->root + position) % tree->sites;
        coll_tree_binomial(tree->sites, position, &parent, children);
        tree->parent[site] = parent < 0 ? -1 : (tree->root + parent) % tree->sites;
    }
}

/* --- order and times --- */

int hlot_tree_children(const hlot_tree *tree, int site, const int **children) {
    int first = 1, count = 0;
    while (first < tree->sites && tree->parent[tree->order[first]] != site)
        first++;
    while (first + count < tree->sites && tree->parent[tree->order[first + count]] == site)
        count++;
    *children = tree->order + first;
    return count;
}

/* The children of each site as a linked list. */
typedef struct family {
    int first[HLOT_SITES], next[HLOT_SITES]; /* -1 at the end */
} family;

/* Writes the sites in the order of the lists, parents before children. */
static void write_order(const family *kin, hlot_tree *tree) {
    int count = 0;
    tree->order[count++] = tree->root;
    for (int i = 0; i < count; i++)
        for (int child = kin->first[tree->order[i]]; child >= 0; child = kin->next[child])
            tree->order[count++] = child;
}

/*
 * Inserts SITE into the list of its parent: the longest tail first; if tails are equal, the lowest
 * site number first.
 */
static void insert_child(family *kin, const double tail[], int parent, int site) {
    int *place = &kin->first[parent];
    while (*place >= 0 &&
           (tail[*place] > tail[site] || (tail[*place] == tail[site] && *place < site)))
        place = &kin->next[*place];
    kin->next[site] = *place;
    *place = site;
}

/*
 * For sends of equal length, it is best to send first to the child with the longest remaining time
 * (Jackson's rule). A site's tail is the time from the end of its parent's send until all sites of
 * its subtree are reached.
 */
void hlot_tree_arrange(const hlot_network *network, hlot_tree *tree) {
    family kin;
    double tail[HLOT_SITES] = {0};
    for (int site = 0; site < tree->sites; site++)
        kin.first[site] = kin.next[site] = -1;
    for (int site = tree->sites - 1; site >= 0; site--)
        if (site != tree->root)
            insert_child(&kin, tail, tree->parent[site], site);
    write_order(&kin, tree);

    for (int site = 0; site < tree->sites; site++)
        kin.first[site] = -1;
    for (int i = tree->sites - 1; i > 0; i--) {
        int site = tree->order[i], parent = tree->parent[site], turn = 1;
        double below = 0;
        for (int child = kin.first[site]; child >= 0; child = kin.next[child], turn++)
            below = fmax(below, turn * network->gap + tail[child]);
        tail[site] = network->latency[parent][site] + below;
        insert_child(&kin, tail, parent, site);
    }
    write_order(&kin, tree);
}

double hlot_tree_time(const hlot_network *network, const hlot_tree *tree,
                      double arrival[HLOT_SITES]) {
    double first[HLOT_SITES] = {0}, pace[HLOT_SITES] = {0}, latest = 0;
    int sends[HLOT_SITES] = {0};
    for (int i = 1; i < tree->sites; i++) {
        int site = tree->order[i], parent = tree->parent[site];
        first[site] =
            first[parent] + ++sends[parent] * network->gap + network->latency[parent][site];
    }
    arrival[tree->root] = 0;
    pace[tree->root] = sends[tree->root] * network->gap;
    for (int i = 1; i < tree->sites; i++) {
        int site = tree->order[i], parent = tree->parent[site];
        pace[site] = fmax(pace[parent], sends[site] * network->gap);
        arrival[site] = first[site] + (network->segments - 1) * pace[parent];
        latest = fmax(latest, arrival[site]);
    }
    return latest;
}

static double arrange_and_time(const hlot_network *network, hlot_tree *tree) {
    double arrival[HLOT_SITES];
    hlot_tree_arrange(network, tree);
    return hlot_tree_time(network, tree, arrival);
}

/* --- hlot+ --- */

static bool is_below(const hlot_tree *tree, int site, int ancestor) {
    while (site >= 0 && site != ancestor)
        site = tree->parent[site];
    return site >= 0;
}

/*
 * Moves SITE, with its subtree, to the parent with which the tree is fastest, as far as *TRIES
 * allows. Returns whether *TIME has become less.
 */
static bool move_site(const hlot_network *network, int site, hlot_tree *tree, double *time,
                      int *tries) {
    hlot_tree now = *tree;
    bool better = false;
    for (int parent = 0; parent < tree->sites && *tries < MOST_TRIES; parent++) {
        if (parent == tree->parent[site] || is_below(tree, parent, site) ||
            network->latency[parent][site] == INFINITY)
            continue;
        now.parent[site] = parent;
        double made = arrange_and_time(network, &now);
        ++*tries;
        if (made < *time) {
            *time = made;
            *tree = now;
            better = true;
        }
    }
    return better;
}

/*
 * Gives sites on the path from the root to the site that is reached last another parent, as long as
 * this reduces the time of the tree. Returns the time.
 */
static double improve_longest_path(const hlot_network *network, hlot_tree *tree, double time) {
    int tries = 0;
    for (bool better = true; better;) {
        double arrival[HLOT_SITES];
        int last = tree->root;
        hlot_tree_time(network, tree, arrival);
        for (int site = 0; site < tree->sites; site++)
            if (arrival[site] > arrival[last])
                last = site;
        better = false;
        for (int site = last; !better && site != tree->root; site = tree->parent[site])
            better = move_site(network, site, tree, &time, &tries);
    }
    return time;
}

static double make_kind(const hlot_network *network, hlot_kind kind, hlot_tree *tree);

/*
 * Builds a tree of every other kind, the tree of grow_earliest, and a line. Each promising tree is
 * improved by moving the sites on its longest path. Sets TREE to the fastest tree, and returns its
 * time. The line suits large messages: for them, each further child of a site costs as much as the
 * first.
 */
static double make_best(const hlot_network *network, hlot_tree *tree) {
    double least = make_kind(network, HLOT_SPT, tree);
    if (network->gap == 0)
        return least; /* no tree is faster */
    for (int i = HLOT_PAPER; i < HLOT_KINDS + 2; i++) {
        hlot_tree other = {.sites = tree->sites, .root = tree->root};
        if (i == HLOT_PLUS)
            continue;
        if (i < HLOT_KINDS)
            make_kind(network, (hlot_kind)i, &other);
        else if (i == HLOT_KINDS)
            grow_earliest(network, &other);
        else
            make_line(network, &other);
        double time = arrange_and_time(network, &other);
        if (time < PROMISING * least)
            time = improve_longest_path(network, &other, time);
        if (time < least) {
            least = time;
            *tree = other;
        }
    }
    return least;
}

/* Makes the tree of KIND; SITES and ROOT of TREE must be set. Returns its time. */
static double make_kind(const hlot_network *network, hlot_kind kind, hlot_tree *tree) {
    switch (kind) {
    case HLOT_PLUS:
        return make_best(network, tree);
    case HLOT_PAPER:
        grow_by_rule(network, not_slower_than_direct, tree);
        break;
    case HLOT_MST:
        grow_by_rule(network, latency_alone, tree);
        break;
    case HLOT_SPT:
        grow_by_rule(network, whole_path, tree);
        break;
    case HLOT_BINOMIAL:
        make_binomial(tree);
        break;
    default:
        for (int site = 0; site < tree->sites; site++)
            tree->parent[site] = site == tree->root ? -1 : tree->root;
    }
    return arrange_and_time(network, tree);
}

double hlot_tree_make(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree) {
    *tree = (hlot_tree){.sites = network->sites, .root = root};
    return make_kind(network, kind, tree);
}

int hlot_unreachable(const hlot_network *network, int root, bool lost[]) {
    bool reached[HLOT_SITES] = {[0] = false};
    int queue[HLOT_SITES], count = 0;
    reached[root] = true;
    queue[count++] = root;
    for (int i = 0; i < count; i++)
        for (int site = 0; site < network->sites; site++)
            if (!reached[site] && network->latency[queue[i]][site] < INFINITY) {
                reached[site] = true;
                queue[count++] = site;
            }
    for (int site = 0; lost && site < network->sites; site++)
        lost[site] = !reached[site];
    return network->sites - count;
}

size_t hlot_network_load(const coll_cost *link, uint64_t segment, size_t bytes,
                         hlot_network *network) {
    /*
     * On its path to the last site, the first segment is sent about as many times as there are
     * sites.
     */
    size_t length = coll_profile_segment_or(segment, link, bytes, network->sites);
    network->gap = coll_cost_send_gap(link, (double)length);
    network->segments = length ? ceil((double)bytes / (double)length) : 1;
    return length;
}

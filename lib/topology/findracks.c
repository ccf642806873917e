/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/findracks.h"

#include "lib/base/ticks.h"
#include "lib/topology/nearness.h"
#include "lib/topology/topo.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* MEMBERS: nodes that represent a rack in a row. In a check, a node measures the round trips to up
 * to MATES nodes of its own rack and to up to STRANGERS nodes of every other rack, or of some other
 * racks if there are many. */
enum { MEMBERS = 2, MATES = 3, STRANGERS = 1 };

/*
 * A site has no racks after EVEN_ROWS even rows and no clear one. If there are up to FEW_NODES
 * nodes, each of them measures a row, unless all round trips are slow.
 */
enum { EVEN_ROWS = 3, FEW_NODES = 8 };

/* A switch makes a round trip only some microseconds longer. If all round trips take longer than
 * this many seconds, the difference may be too small to see. */
static const double SLOW = 25e-6;

/* Most rounds of rows, the first one included; each further round repeats the unclear rows. */
enum { ROUNDS = 5 };

/*
 * At most CHECKS checks are made until one agrees with what is known. If none does, everything is
 * measured again; there are at most ATTEMPTS attempts, the first one included. A rack is checked
 * against all other racks if there are at most FEW_RACKS racks, else against SOME_RACKS of them.
 */
enum { CHECKS = 4, ATTEMPTS = 4, FEW_RACKS = 8, SOME_RACKS = 3 };

/*
 * In a row, far nodes are few if at most 1 node in FEW_FAR is far, and a gap below LARGE_GAP is
 * small. A row is slow if its median near time is at least LARGE_GAP times the fastest time of all
 * rows.
 */
enum { FEW_FAR = 6 };
static const double LARGE_GAP = 1.25;

/* Seconds of sleep before each check and before each further round or attempt: a disturbance may be
 * over by then. */
static const double PAUSE = 10e-3;

/* The results of one site's rows. */
typedef struct site_rows {
    int even, clear;
    bool settled; /* there are no clear rows, and the whole site is in RACK */
    int rack;
} site_rows;

typedef struct finder {
    int nodes, racks, sites;
    coll_measure_row *measure;
    void *context;
    int *rack, *site; /* of each node; -1: not known yet */
    site_rows *rows;  /* of each site */
    bool *tried;      /* of each node: its row was even */
    int even_checks;  /* number of consecutive rows of checks that were even */
    uint64_t random;
    double fastest;        /* s: the fastest round trip */
    coll_row_split widest; /* the clear row with the most nodes (if none is clear, the even one) */
    int widest_count;      /* number of its nodes */
    /* The current row: */
    int count, *targets;
    double *seconds, *sorted;
    coll_nearness *nearness, *before;
} finder;

static int random_below(finder *f, int bound) {
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((f->random >> 33) % (uint64_t)bound);
}

/* --- rows --- */

static bool may_share_site(const finder *f, int a, int b) {
    return f->site[a] < 0 || f->site[b] < 0 || f->site[a] == f->site[b];
}

/* Adds up to MOST nodes of RACK other than PIVOT to the targets, beginning at a random node. */
static void add_members(finder *f, int rack, int pivot, int most) {
    int first = random_below(f, f->nodes), added = 0;
    for (int i = 0; i < f->nodes && added < most; i++) {
        int node = (first + i) % f->nodes;
        if (f->rack[node] != rack || node == pivot)
            continue;
        f->targets[f->count++] = node;
        added++;
    }
}

/* Lets PIVOT measure the targets once, and divides them into near and far ones. */
static bool measure_once(finder *f, int pivot, coll_row_split *split) {
    if (f->count > 0 && !f->measure(f->context, pivot, f->count, f->targets, f->seconds))
        return false;
    for (int i = 0; i < f->count; i++)
        f->fastest = fmin(f->fastest, f->seconds[i]);
    *split = coll_nearness_find(f->count, f->seconds, f->fastest, f->sorted, f->nearness);
    return true;
}

/* Repeats the row: only nodes that are near in both rows count as near. */
static bool measure_again(finder *f, int pivot, coll_row_split *split) {
    int near = 0;
    memcpy(f->before, f->nearness, (size_t)f->count * sizeof *f->before);
    if (!measure_once(f, pivot, split))
        return false;
    for (int i = 0; i < f->count; i++) {
        if (f->nearness[i] == COLL_NEAR && f->before[i] != COLL_NEAR)
            f->nearness[i] = COLL_FAR;
        near += f->nearness[i] == COLL_NEAR;
    }
    if (split->kind == COLL_ROW_CLEAR && near == 0)
        split->kind = COLL_ROW_EVEN;
    return true;
}

/*
 * Lets PIVOT measure the targets, and divides them into near and far ones. Repeats a clear row if
 * its gap is small, only a few nodes are far, or the row is slow, since that may be chance: if some
 * far nodes are disturbed, the other far nodes seem near, and if near nodes are disturbed, these
 * seem far.
 */
static bool measure_targets(finder *f, int pivot, coll_row_split *split) {
    int far = 0;
    if (!measure_once(f, pivot, split))
        return false;
    for (int i = 0; i < f->count; i++)
        far += f->nearness[i] == COLL_FAR;
    bool sure =
        split->gap >= LARGE_GAP && far * FEW_FAR > f->count && split->near < LARGE_GAP * f->fastest;
    if (split->kind == COLL_ROW_CLEAR && !sure && !measure_again(f, pivot, split))
        return false;
    bool better =
        split->kind == f->widest.kind ? f->count > f->widest_count : split->kind == COLL_ROW_CLEAR;
    if (better) {
        f->widest = *split;
        f->widest_count = f->count;
    }
    return true;
}

/* --- placing nodes --- */

static void relabel(finder *f, int labels[], int from, int to) {
    for (int node = 0; node < f->nodes; node++)
        if (labels[node] == from)
            labels[node] = to;
}

/*
 * Gives PIVOT and all targets up to FARTHEST the same label: a label that one of these nodes has,
 * else a new label, *COUNT. Nodes that share another label with one of them get it, too.
 */
static void give_label(finder *f, int labels[], int *count, int pivot, coll_nearness farthest) {
    for (int i = 0; i < f->count && labels[pivot] < 0; i++)
        if (f->nearness[i] <= farthest)
            labels[pivot] = labels[f->targets[i]];
    if (labels[pivot] < 0)
        labels[pivot] = (*count)++;
    for (int i = 0; i < f->count; i++) {
        int *label = &labels[f->targets[i]];
        if (f->nearness[i] > farthest)
            continue;
        if (*label < 0)
            *label = labels[pivot];
        else if (*label != labels[pivot])
            relabel(f, labels, *label, labels[pivot]);
    }
}

/*
 * Lets PIVOT measure its row, and enters the result. Returns false if nothing more can be measured.
 */
static bool place_node(finder *f, int pivot) {
    coll_row_split split;
    f->count = 0;
    for (int node = 0; node < f->nodes; node++)
        if (node != pivot && f->rack[node] < 0 && may_share_site(f, pivot, node))
            f->targets[f->count++] = node;
    for (int rack = 0; rack < f->racks; rack++) {
        int node = 0;
        while (node < f->nodes && f->rack[node] != rack)
            node++;
        if (node < f->nodes && may_share_site(f, pivot, node))
            add_members(f, rack, pivot, MEMBERS);
    }
    if (!measure_targets(f, pivot, &split))
        return false;
    if (split.kind == COLL_ROW_UNCLEAR)
        return true;
    give_label(f, f->site, &f->sites, pivot, COLL_FAR);
    site_rows *rows = &f->rows[f->site[pivot]];
    if (split.kind == COLL_ROW_CLEAR) {
        give_label(f, f->rack, &f->racks, pivot, COLL_NEAR);
        rows->clear++;
    } else {
        f->tried[pivot] = true;
        rows->even++;
    }
    return true;
}

static bool is_slow(const finder *f) {
    return f->fastest > SLOW && isfinite(f->fastest);
}

static bool is_placed(const finder *f, int node) {
    if (f->rack[node] >= 0 || f->tried[node])
        return true;
    const site_rows *rows = f->site[node] < 0 ? NULL : &f->rows[f->site[node]];
    return rows && (f->nodes > FEW_NODES || is_slow(f)) && rows->clear == 0 &&
           rows->even >= EVEN_ROWS;
}

/* Returns a step coprime to NODES, so that steps of this length visit all nodes; the first nodes
 * visited are far apart. */
static int coprime_step(int nodes) {
    int step = nodes * 5 / 8 + 1;
    for (;; step--) {
        int a = nodes, b = step;
        while (b) {
            int rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

/*
 * Lets nodes measure until every node is placed or the rounds are over. Sets *ALL to whether every
 * node is placed. Returns false if nothing more can be measured.
 */
static bool place_all(finder *f, bool *all) {
    int step = coprime_step(f->nodes), first = random_below(f, f->nodes);
    *all = false;
    for (int round = 0; round < ROUNDS && !*all; round++) {
        if (round > 0)
            coll_sleep(PAUSE);
        for (int i = 0; i < f->nodes; i++) {
            int node = (int)((first + (long)i * step) % f->nodes);
            if (!is_placed(f, node) && !place_node(f, node))
                return false;
        }
        *all = true;
        for (int node = 0; node < f->nodes; node++)
            *all = *all && is_placed(f, node);
    }
    return true;
}

/*
 * Gives racks to the remaining nodes: in a site with racks, a node whose row was even is alone in
 * its rack; otherwise all nodes of the site are in one rack.
 */
static void place_rest(finder *f) {
    for (int node = 0; node < f->nodes; node++) {
        site_rows *rows = &f->rows[f->site[node]];
        if (f->rack[node] >= 0)
            continue;
        if (rows->clear > 0) {
            f->rack[node] = f->racks++;
            continue;
        }
        if (!rows->settled)
            rows->rack = f->racks++;
        rows->settled = true;
        f->rack[node] = rows->rack;
    }
}

/* --- checks --- */

/*
 * Counts an even row of PIVOT in a check that includes nodes of its rack and of other racks. After
 * EVEN_ROWS consecutive even rows, the differences by which the site was divided into racks were
 * due to chance: merges these racks.
 */
static void count_even_check(finder *f, int pivot) {
    if (++f->even_checks < EVEN_ROWS)
        return;
    f->even_checks = 0;
    for (int node = 0; node < f->nodes; node++)
        if (f->site[node] == f->site[pivot])
            f->rack[node] = f->rack[pivot];
}

/* Returns whether a target outside the pivot's rack is near. The first MATES targets are in that
 * rack. */
static bool has_near_stranger(const finder *f, int mates) {
    int i = mates;
    while (i < f->count && f->nearness[i] != COLL_NEAR)
        i++;
    return i < f->count;
}

/*
 * Enters what PIVOT's row shows about nodes of other racks: the targets after the first MATES ones.
 * Returns whether the row agrees with what was known.
 */
static bool enter_check(finder *f, int pivot, int mates, coll_row_kind kind) {
    bool near_mates = true, others = false, as_known = true;
    for (int i = mates; i < f->count; i++) {
        int node = f->targets[i];
        if (f->nearness[i] == COLL_AWAY)
            continue;
        as_known = as_known && f->nearness[i] == COLL_FAR && f->site[node] == f->site[pivot];
        others = true;
        relabel(f, f->site, f->site[node], f->site[pivot]);
        if (f->nearness[i] == COLL_NEAR)
            relabel(f, f->rack, f->rack[node], f->rack[pivot]);
    }
    for (int i = 0; i < mates; i++)
        near_mates = near_mates && f->nearness[i] == COLL_NEAR;
    if (mates > 0 && others && kind == COLL_ROW_EVEN)
        count_even_check(f, pivot);
    else if (mates > 0 && others)
        f->even_checks = 0;
    return as_known && (near_mates || !others);
}

/*
 * Lets a node of RACK measure nodes of its own and of other racks, and clears *AGREED if the row
 * disagrees with what is known. Returns false if nothing more can be measured.
 */
static bool check_rack(finder *f, int rack, bool *agreed) {
    coll_row_split split;
    int pivot = random_below(f, f->nodes);
    for (int i = 0; i < f->nodes && f->rack[pivot] != rack; i++)
        pivot = (pivot + 1) % f->nodes;
    if (f->rack[pivot] != rack) /* the rack has been merged into another */
        return true;
    f->count = 0;
    add_members(f, rack, pivot, MATES);
    int mates = f->count;
    for (int other = 0; f->racks <= FEW_RACKS && other < f->racks; other++)
        if (other != rack)
            add_members(f, other, pivot, STRANGERS);
    for (int i = 0; f->racks > FEW_RACKS && i < SOME_RACKS; i++)
        add_members(f, (rack + 1 + random_below(f, f->racks - 1)) % f->racks, pivot, STRANGERS);
    if (!measure_targets(f, pivot, &split))
        return false;
    if (has_near_stranger(f, mates) && !measure_again(f, pivot, &split))
        return false;
    bool good = split.kind != COLL_ROW_UNCLEAR && enter_check(f, pivot, mates, split.kind);
    *agreed = *agreed && good;
    return true;
}

/*
 * Checks all racks, at most CHECKS times, until a check agrees with what is known. Sets *SURE to
 * whether a check agreed or there is only one rack. Returns false if nothing more can be measured.
 */
static bool check_all(finder *f, bool *sure) {
    *sure = f->racks == 1;
    for (int i = 0; i < CHECKS && !*sure; i++) {
        *sure = true;
        coll_sleep(PAUSE);
        for (int rack = 0; rack < f->racks; rack++)
            if (!check_rack(f, rack, sure))
                return false;
    }
    return true;
}

/* --- all --- */

static bool allocate(finder *f) {
    size_t nodes = (size_t)f->nodes;
    f->rows = calloc(nodes, sizeof *f->rows);
    f->tried = calloc(nodes, sizeof *f->tried);
    f->targets = malloc(nodes * sizeof *f->targets);
    f->seconds = malloc(2 * nodes * sizeof *f->seconds);
    f->sorted = f->seconds ? f->seconds + nodes : NULL;
    f->nearness = malloc(2 * nodes * sizeof *f->nearness);
    f->before = f->nearness ? f->nearness + nodes : NULL;
    return f->rows && f->tried && f->targets && f->seconds && f->nearness;
}

static void forget_all(finder *f) {
    for (int node = 0; node < f->nodes; node++) {
        f->rack[node] = f->site[node] = -1;
        f->rows[node] = (site_rows){.even = 0};
        f->tried[node] = false;
    }
    f->racks = f->sites = f->even_checks = 0;
    f->widest = (coll_row_split){.kind = COLL_ROW_EVEN};
    f->widest_count = 0;
}

/* Places all nodes and checks them. Sets *SURE to false if some node can't be placed or the checks
 * disagree. */
static bool find_once(finder *f, bool *sure) {
    bool all;
    forget_all(f);
    if (!place_all(f, &all))
        return false;
    *sure = false;
    if (!all)
        return true;
    place_rest(f);
    return check_all(f, sure);
}

/* Numbers the racks and sites. If no racks were found for certain, makes each site one rack. */
static void number_found(finder *f, coll_racks_found *found) {
    bool racks = found->sure && f->widest.kind == COLL_ROW_CLEAR;
    for (int node = 0; node < f->nodes; node++)
        if (f->site[node] < 0)
            f->site[node] = 0;
    found->sites = coll_topo_renumber(f->site, sizeof *f->site, f->nodes, f->nodes, f->targets);
    if (!racks)
        memcpy(f->rack, f->site, (size_t)f->nodes * sizeof *f->rack);
    found->racks = coll_topo_renumber(f->rack, sizeof *f->rack, f->nodes, f->nodes, f->targets);
    found->near = f->widest.near;
    found->far = found->racks > found->sites ? f->widest.far : 0;
}

/* Measures, at most ATTEMPTS times, until racks are found for certain, no racks are found twice in
 * succession, or all round trips are too long to show whether there are racks. */
static bool find_all(finder *f, coll_racks_found *found) {
    int flat = 0;
    found->slow = false;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (i > 0)
            coll_sleep(PAUSE);
        if (!find_once(f, &found->sure))
            return false;
        number_found(f, found);
        if (found->sure && found->racks > found->sites)
            return true;
        found->slow = found->sites == 1 && is_slow(f);
        if (found->slow)
            break;
        flat = found->sure ? flat + 1 : 0;
        if (flat == 2)
            return true;
    }
    found->sure = false;
    return true;
}

bool coll_find_racks(int nodes, coll_measure_row *measure_row, void *context, int racks[],
                     int sites[], coll_racks_found *found) {
    finder f = {.nodes = nodes,
                .measure = measure_row,
                .context = context,
                .rack = racks,
                .site = sites,
                .random = 1,
                .fastest = INFINITY};
    bool good = allocate(&f) && find_all(&f, found);
    free(f.rows);
    free(f.tried);
    free(f.targets);
    free(f.seconds);
    free(f.nearness);
    return good;
}

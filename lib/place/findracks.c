#include "config.h"

#include "lib/place/findracks.h"

#include "lib/place/nearness.h"
#include "lib/place/topo.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So many members of a rack stand for all of it. */
enum { MEMBERS = 2 };

/* After so many even rows alone a site has no racks; of FEW_NODES all measure one. */
enum { EVEN_ROWS = 3, FEW_NODES = 8 };

/* Rows that are unclear are measured again in so many rounds. */
enum { ROUNDS = 5 };

/* One check out of so many must agree with what is known by then. A rack is checked against all
 * others where these are few, else against some. */
enum { CHECKS = 6, FEW_RACKS = 8, SOME_RACKS = 3 };

/* One in so many of a row is few; and a gap of less is small. */
enum { FEW_FAR = 6 };
static const double LARGE_GAP = 1.25;

/* Between rounds: whatever disturbed one may be over in the next; seconds. */
static const double PAUSE = 10e-3;

/* What one site's rows have shown. */
typedef struct site_rows {
    int even, clear;
    bool settled; /* there were no clear ones: all of it is in RACK */
    int rack;
} site_rows;

typedef struct finder {
    int nodes, racks, sites;
    coll_measure_row *measure;
    void *context;
    int *rack, *site; /* of each node; -1: not known yet */
    site_rows *rows;  /* of each site */
    bool *tried;      /* of each node: its row was even */
    bool doubtful;    /* some row wasn't clear */
    int even_checks;  /* one after the other */
    uint64_t random;
    double fastest;        /* s: of all round trips */
    coll_row_split widest; /* the clear row of the most nodes, */
    int widest_count;      /* and how many */
    /* A row: */
    int count, *targets;
    double *seconds, *sorted;
    coll_nearness *nearness, *before;
} finder;

static int random_below(finder *f, int bound) {
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((f->random >> 33) % (uint64_t)bound);
}

static void pause_for_others(void) {
    struct timespec time = {.tv_nsec = (long)(PAUSE * 1e9)};
    nanosleep(&time, NULL); /* a signal may cut it short: the next round comes earlier */
}

/* --- rows --- */

static bool may_share_site(const finder *f, int a, int b) {
    return f->site[a] < 0 || f->site[b] < 0 || f->site[a] == f->site[b];
}

/* Adds some members of RACK but PIVOT, a random one and those behind it. */
static void add_members(finder *f, int rack, int pivot) {
    int first = random_below(f, f->nodes), added = 0;
    for (int i = 0; i < f->nodes && added < MEMBERS; i++) {
        int node = (first + i) % f->nodes;
        if (f->rack[node] != rack || node == pivot)
            continue;
        f->targets[f->count++] = node;
        added++;
    }
}

static int count_far(const finder *f) {
    int far = 0;
    for (int i = 0; i < f->count; i++)
        far += f->nearness[i] == COLL_FAR;
    return far;
}

/* Has PIVOT measure the targets once, and parts them. */
static bool measure_once(finder *f, int pivot, coll_row_split *split) {
    if (f->count > 0 && !f->measure(f->context, pivot, f->count, f->targets, f->seconds))
        return false;
    for (int i = 0; i < f->count; i++)
        f->fastest = fmin(f->fastest, f->seconds[i]);
    *split = coll_nearness_find(f->count, f->seconds, f->fastest, f->sorted, f->nearness);
    return true;
}

/* A second row makes sure: near is what is so in both. */
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

/* Has PIVOT measure the targets, and parts them. A small gap, or one behind which few are far, may
 * be chance. */
static bool measure(finder *f, int pivot, coll_row_split *split) {
    if (!measure_once(f, pivot, split))
        return false;
    bool sure = split->gap >= LARGE_GAP && count_far(f) * FEW_FAR > f->count;
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

/* --- who is where --- */

static void relabel(finder *f, int labels[], int from, int to) {
    for (int node = 0; node < f->nodes; node++)
        if (labels[node] == from)
            labels[node] = to;
}

/* Gives PIVOT and all targets up to the FARTHEST one label, one that some of them has or else the
 * next one of *COUNT. */
static void join(finder *f, int labels[], int *count, int pivot, coll_nearness farthest) {
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

/* Has PIVOT measure its row. */
static bool place(finder *f, int pivot) {
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
            add_members(f, rack, pivot);
    }
    if (!measure(f, pivot, &split))
        return false;
    f->doubtful = f->doubtful || split.kind != COLL_ROW_CLEAR;
    if (split.kind == COLL_ROW_UNCLEAR)
        return true;
    join(f, f->site, &f->sites, pivot, COLL_FAR);
    site_rows *rows = &f->rows[f->site[pivot]];
    if (split.kind == COLL_ROW_CLEAR) {
        join(f, f->rack, &f->racks, pivot, COLL_NEAR);
        rows->clear++;
    } else {
        f->tried[pivot] = true;
        rows->even++;
    }
    return true;
}

static bool is_placed(const finder *f, int node) {
    if (f->rack[node] >= 0 || f->tried[node])
        return true;
    const site_rows *rows = f->site[node] < 0 ? NULL : &f->rows[f->site[node]];
    return rows && f->nodes > FEW_NODES && rows->clear == 0 && rows->even >= EVEN_ROWS;
}

/* A step through all nodes that comes by far ones first. */
static int stride(int nodes) {
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

/* False: there is nothing more to be measured. *ALL: every node is placed. */
static bool place_all(finder *f, bool *all) {
    int step = stride(f->nodes);
    *all = false;
    for (int round = 0; round < ROUNDS && !*all; round++) {
        if (round > 0)
            pause_for_others();
        for (int i = 0; i < f->nodes; i++) {
            int node = (int)((long)i * step % f->nodes);
            if (!is_placed(f, node) && !place(f, node))
                return false;
        }
        *all = true;
        for (int node = 0; node < f->nodes; node++)
            *all = *all && is_placed(f, node);
    }
    return true;
}

/* Where a site has racks, nodes whose rows were even are alone in theirs; else all are in one. */
static void settle(finder *f) {
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

/* Where rows are even again and again, although they have nodes of one rack and of others, it was
 * chance that the site seemed to have racks. */
static void take_even_row(finder *f, int pivot) {
    if (++f->even_checks < EVEN_ROWS)
        return;
    f->even_checks = 0;
    for (int node = 0; node < f->nodes; node++)
        if (f->site[node] == f->site[pivot])
            f->rack[node] = f->rack[pivot];
}

/* Takes what the row of PIVOT says of nodes in other racks, behind its MATES. Returns whether that
 * is what was known. */
static bool agrees(finder *f, int pivot, int mates, coll_row_kind kind) {
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
        take_even_row(f, pivot);
    else if (mates > 0 && others)
        f->even_checks = 0;
    return as_known && (near_mates || !others);
}

/* Measures a node of RACK against its own and other racks; see AGREES. False: there is nothing more
 * to be measured. */
static bool check_rack(finder *f, int rack, bool *agreed) {
    coll_row_split split;
    int pivot = random_below(f, f->nodes);
    for (int i = 0; i < f->nodes && f->rack[pivot] != rack; i++)
        pivot = (pivot + 1) % f->nodes;
    if (f->rack[pivot] != rack) /* all of it is in another rack by now */
        return true;
    f->count = 0;
    add_members(f, rack, pivot);
    int mates = f->count;
    for (int other = 0; f->racks <= FEW_RACKS && other < f->racks; other++)
        if (other != rack)
            add_members(f, other, pivot);
    for (int i = 0; f->racks > FEW_RACKS && i < SOME_RACKS; i++)
        add_members(f, (rack + 1 + random_below(f, f->racks - 1)) % f->racks, pivot);
    if (!measure(f, pivot, &split))
        return false;
    bool good = split.kind != COLL_ROW_UNCLEAR && agrees(f, pivot, mates, split.kind);
    *agreed = *agreed && good;
    return true;
}

/* False: there is nothing more to be measured. *SURE: it needed no check, or one agreed with what
 * is known. */
static bool check_all(finder *f, bool *sure) {
    *sure = f->racks == 1 || !f->doubtful;
    for (int i = 0; i < CHECKS && !*sure; i++) {
        *sure = true;
        pause_for_others();
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
    f->nearness = malloc(2 * nodes * sizeof *f->nearness);
    f->before = f->nearness ? f->nearness + nodes : NULL;
    return f->rows && f->tried && f->targets && f->seconds && f->nearness;
}

static bool find(finder *f, bool *sure) {
    bool all;
    if (!place_all(f, &all))
        return false;
    *sure = false;
    if (!all)
        return true;
    settle(f);
    return check_all(f, sure);
}

/* Numbers what was found; of what isn't sure sites alone. */
static void number(finder *f, coll_racks_found *found) {
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

bool coll_find_racks(int nodes, coll_measure_row *measure_row, void *context, int racks[],
                     int sites[], coll_racks_found *found) {
    finder f = {.nodes = nodes,
                .measure = measure_row,
                .context = context,
                .rack = racks,
                .site = sites,
                .random = 1,
                .fastest = INFINITY,
                .widest = {.kind = COLL_ROW_EVEN}};
    for (int node = 0; node < nodes; node++)
        racks[node] = sites[node] = -1;
    bool good = allocate(&f) && (f.sorted = f.seconds + nodes) && find(&f, &found->sure);
    if (good)
        number(&f, found);
    free(f.rows);
    free(f.tried);
    free(f.targets);
    free(f.seconds);
    free(f.nearness);
    return good;
}

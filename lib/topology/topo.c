/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topo.h"

#include "lib/base/cores.h"
#include "lib/base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is counted for a node. */
typedef struct node_count {
    uint64_t node; /* NODE of the reports */
    /* number of its NUMA domains, and the first rank of the newest one */
    int domains, newest;
    uint64_t bound[COLL_CORES_WORDS]; /* the cores that its ranks may use */
    /* number of its ranks; the maxima of their reports' cores, quota and job */
    int ranks, cores, quota, job;
} node_count;

static const coll_rank_info *report_of(const coll_rank_infos *all, int rank) {
    return (const coll_rank_info *)(all->first + (size_t)rank * all->stride);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static int most(int a, int b) {
    return a > b ? a : b;
}

/*
 * Counts the rank that sent REPORT. Returns the index of its node among COUNT nodes. If the node is
 * new, adds it, and its host's name and switches to NAMES.
 */
static int count_rank(const coll_rank_info *report, node_count nodes[], const char *names[],
                      int *count) {
    int node = 0;
    while (node < *count && nodes[node].node != report->node)
        node++;
    node_count *here = &nodes[node];
    if (node == *count) {
        (*count)++;
        here->node = report->node;
        names[node] = report->text;
    }
    here->ranks++;
    here->cores = most(here->cores, report->cores);
    here->quota = most(here->quota, report->quota);
    here->job = most(here->job, report->job);
    coll_rank_info_add_cores(report, here->bound);
    return node;
}

/*
 * Returns the number of RANK's NUMA domain on its node HERE. The domains of a node are linked
 * through the first rank of each: BEFORE[rank] is the first rank of the domain found before.
 */
static int numa_number(const coll_rank_infos *all, const coll_place *places, node_count *here,
                       int before[], int rank) {
    int first = here->newest;
    for (int i = 0; i < here->domains; i++, first = before[first])
        if (report_of(all, first)->numa == report_of(all, rank)->numa)
            return places[first].numa;
    before[rank] = here->newest;
    here->newest = rank;
    return here->domains++;
}

/* Sets TOPO's numbers of ranks and cores per node, and whether a node is crowded. */
static void set_occupancy(const node_count nodes[], coll_topo *topo) {
    for (int node = 0; node < topo->nodes; node++) {
        const node_count *here = &nodes[node];
        int cores = most(1, least(coll_cores_count(here->bound), here->quota));
        topo->most_ranks_per_node = most(topo->most_ranks_per_node, here->ranks);
        topo->cores_per_node = node == 0 ? cores : least(topo->cores_per_node, cores);
        topo->crowded =
            topo->crowded || here->ranks > cores || here->job > least(here->cores, here->quota);
    }
}

static size_t name_bytes(const char *host) {
    return strlen(host) + 1;
}

static size_t names_bytes(const char *names) {
    return name_bytes(names) + name_bytes(names + name_bytes(names));
}

/* Sets TOPO's hosts to copies of NAMES, whose sizes BYTES_OF returns. The pointers and the copies
 * are in one block of memory. */
static bool set_hosts(coll_topo *topo, const char *const names[],
                      size_t (*bytes_of)(const char *)) {
    size_t bytes = (size_t)topo->nodes * sizeof *topo->hosts;
    for (int node = 0; node < topo->nodes; node++)
        bytes += bytes_of(names[node]);
    topo->hosts = malloc(bytes);
    char *next = (char *)(topo->hosts + topo->nodes);
    for (int node = 0; topo->hosts && node < topo->nodes; node++) {
        size_t length = bytes_of(names[node]);
        topo->hosts[node] = memcpy(next, names[node], length);
        next += length;
    }
    return topo->hosts;
}

bool coll_topo_set_hosts(coll_topo *topo, const char *const names[]) {
    return set_hosts(topo, names, name_bytes);
}

bool coll_topo_make(const coll_rank_infos *all, int ranks, coll_topo *topo) {
    coll_topo made = {.ranks = ranks, .racks = 1, .sites = 1};
    node_count *nodes = calloc((size_t)ranks, sizeof *nodes);
    const char **names = malloc((size_t)ranks * sizeof *names);
    int *before = malloc((size_t)ranks * sizeof *before);
    made.places = calloc((size_t)ranks, sizeof *made.places);
    made.origin = calloc(1, COLL_TOPOLOGY_SOURCE_NOTE);
    bool good = nodes && names && before && made.places && made.origin;
    for (int rank = 0; good && rank < ranks; rank++) {
        int node = count_rank(report_of(all, rank), nodes, names, &made.nodes);
        made.places[rank].node = node;
        made.places[rank].numa = numa_number(all, made.places, &nodes[node], before, rank);
    }
    if (good)
        set_occupancy(nodes, &made);
    good = good && set_hosts(&made, names, names_bytes);
    free(before);
    free(names);
    free(nodes);
    if (good)
        *topo = made;
    else
        coll_topo_free(&made);
    return good;
}

void coll_topo_locate(coll_topo *topo, const int racks[], const int sites[]) {
    topo->racks = topo->sites = 1;
    for (int rank = 0; rank < topo->ranks; rank++) {
        coll_place *place = &topo->places[rank];
        place->rack = racks[place->node];
        place->site = sites[place->node];
        topo->racks = most(topo->racks, place->rack + 1);
        topo->sites = most(topo->sites, place->site + 1);
    }
}

void coll_topo_first_ranks(const coll_topo *topo, int first[]) {
    for (int rank = topo->ranks - 1; rank >= 0; rank--)
        first[topo->places[rank].node] = rank;
}

/* Packs or unpacks the host names, without switches. */
static void carry_hosts(coll_pack_buffer *pack, coll_topo *topo) {
    size_t bytes = (size_t)topo->nodes * sizeof *topo->hosts;
    for (int node = 0; !pack->unpacked && node < topo->nodes; node++)
        bytes += name_bytes(topo->hosts[node]);
    coll_pack_buffer_move(pack, &bytes, sizeof bytes);
    if (pack->unpacked && !pack->failed)
        topo->hosts = malloc(bytes);
    pack->failed = pack->failed || !topo->hosts;
    char *next = pack->failed ? NULL : (char *)(topo->hosts + topo->nodes);
    for (int node = 0; node < topo->nodes && !pack->failed; node++) {
        if (pack->unpacked)
            topo->hosts[node] = next;
        coll_pack_buffer_move_text(pack, topo->hosts[node], bytes);
        next += name_bytes(topo->hosts[node]);
    }
}

void coll_topo_carry(coll_pack_buffer *pack, coll_topo *topo) {
    coll_pack_buffer_move(pack, topo, offsetof(coll_topo, places));
    coll_pack_buffer_move_array(pack, (void **)&topo->origin, COLL_TOPOLOGY_SOURCE_NOTE);
    coll_pack_buffer_move_array(pack, (void **)&topo->places,
                                (size_t)topo->ranks * sizeof *topo->places);
    carry_hosts(pack, topo);
}

void coll_topo_free(coll_topo *topo) {
    free(topo->places);
    free(topo->hosts);
    free(topo->origin);
    free(topo->latencies);
    *topo = (coll_topo){0};
}

const char *COLL_Level_name(int level) {
    static const char *const names[COLL_LEVELS] = {[COLL_LEVEL_NUMA] = "numa",
                                                   [COLL_LEVEL_NODE] = "node",
                                                   [COLL_LEVEL_RACK] = "rack",
                                                   [COLL_LEVEL_SITE] = "site",
                                                   [COLL_LEVEL_WIDE] = "wide"};
    return level >= 0 && level < COLL_LEVELS ? names[level] : NULL;
}

coll_level coll_topo_level(const coll_topo *topo, int a, int b) {
    const coll_place *one = &topo->places[a], *other = &topo->places[b];
    return one->site != other->site   ? COLL_LEVEL_WIDE
           : one->rack != other->rack ? COLL_LEVEL_SITE
           : one->node != other->node ? COLL_LEVEL_RACK
           : one->numa != other->numa ? COLL_LEVEL_NODE
                                      : COLL_LEVEL_NUMA;
}

static int divide_up(int dividend, int divisor) {
    return dividend / divisor + (dividend % divisor != 0);
}

int coll_topo_imagine(const coll_topo *now, int ranks, coll_topo *topo) {
    int per_node = now->most_ranks_per_node;
    int per_rack = now->racks > 1 ? divide_up(now->nodes, now->racks) : ranks;
    int per_site = now->sites > 1 ? divide_up(now->racks, now->sites) : ranks;
    coll_topo made = {.ranks = ranks,
                      .most_ranks_per_node = least(per_node, ranks),
                      .cores_per_node = now->cores_per_node,
                      .crowded = now->crowded};
    made.places = malloc((size_t)ranks * sizeof *made.places);
    if (!made.places)
        return coll_error(MPI_ERR_NO_MEM, "no memory for the places of %d ranks", ranks);
    made.nodes = divide_up(ranks, per_node);
    made.racks = divide_up(made.nodes, per_rack);
    made.sites = divide_up(made.racks, per_site);
    for (int rank = 0; rank < ranks; rank++) {
        int node = rank / per_node, rack = node / per_rack;
        made.places[rank] = (coll_place){.site = rack / per_site, .rack = rack, .node = node};
    }
    *topo = made;
    return MPI_SUCCESS;
}

int coll_topo_fewest(const coll_topo *topo, coll_level level, int *fullest) {
    enum { AT_ONCE = 1 << 10 };
    int parts = level == COLL_LEVEL_NODE ? topo->nodes : topo->racks, fewest = topo->ranks;
    *fullest = 0;
    for (int first = 0; first < parts; first += AT_ONCE) {
        int counts[AT_ONCE] = {0};
        for (int rank = 0; rank < topo->ranks; rank++) {
            const coll_place *place = &topo->places[rank];
            int part = (level == COLL_LEVEL_NODE ? place->node : place->rack) - first;
            if (part >= 0 && part < AT_ONCE)
                counts[part]++;
        }
        for (int i = 0; i < least(AT_ONCE, parts - first); i++) {
            fewest = least(fewest, counts[i]);
            *fullest = most(*fullest, counts[i]);
        }
    }
    return fewest;
}

void coll_topo_number(coll_topo *part, const coll_topo *whole, int scratch[]) {
    coll_place *first = part->places;
    size_t stride = sizeof *first;
    int ranks = part->ranks;
    part->sites = coll_topo_renumber(&first->site, stride, ranks, whole->sites, scratch);
    part->racks = coll_topo_renumber(&first->rack, stride, ranks, whole->racks, scratch);
    part->nodes = coll_topo_renumber(&first->node, stride, ranks, whole->nodes, scratch);
    (void)coll_topo_fewest(part, COLL_LEVEL_NODE, &part->most_ranks_per_node);
}

int coll_topo_part(const coll_topo *whole, int count, const int ranks[], coll_topo *part) {
    coll_topo made = {
        .ranks = count, .cores_per_node = whole->cores_per_node, .crowded = whole->crowded};
    int *scratch = malloc((size_t)whole->nodes * sizeof *scratch);
    const char **names = malloc((size_t)whole->nodes * sizeof *names);
    made.places = malloc((size_t)count * sizeof *made.places);
    made.origin = whole->origin ? strdup(whole->origin) : NULL;
    bool good = scratch && names && made.places && (made.origin || !whole->origin);
    if (good) {
        for (int i = 0; i < count; i++)
            made.places[i] = whole->places[ranks[i]];
        coll_topo_number(&made, whole, scratch);
        for (int i = 0; i < count && whole->hosts; i++)
            names[made.places[i].node] = whole->hosts[whole->places[ranks[i]].node];
        good = !whole->hosts || coll_topo_set_hosts(&made, names);
    }
    free(scratch);
    free(names);
    if (good)
        *part = made;
    else
        coll_topo_free(&made);
    return good ? MPI_SUCCESS
                : coll_error(MPI_ERR_NO_MEM, "no memory for the places of %d ranks", count);
}

int coll_topo_renumber(int *first, size_t stride, int count, int before, int map[]) {
    int next = 0;
    for (int i = 0; i < before; i++)
        map[i] = -1;
    for (int i = 0; i < count; i++) {
        int *number = (int *)((char *)first + (size_t)i * stride);
        if (map[*number] < 0)
            map[*number] = next++;
        *number = map[*number];
    }
    return next;
}

int coll_topo_busy_cores(const coll_topo *topo) {
    const int ranks = topo->most_ranks_per_node, cores = topo->cores_per_node;
    return topo->crowded || ranks < 2 || cores < 2 ? 1 : ranks < cores ? ranks : cores;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for a better placement of a recorded job's ranks (COLL_Replay_place): swaps the slots of
 * two ranks, or moves a rank to a free slot, as long as that reduces the sum of the fourth powers
 * of the seconds for which links are busy. The busiest links count most in this sum. The sum falls
 * whenever one of several equally busy links gets less load; their maximum does not fall then, so
 * that a search that minimizes the maximum would stop. The search begins with the present placement
 * and with some random ones. The placement found replaces the present one unless the messages' time
 * on the busiest link and the simulated time of the collectives together get longer.
 *
 * Point-to-point messages load the links between their ranks. A collective of a group that is not
 * on one host (in one rack, one site) loads the link of each of its hosts (racks, sites) with its
 * bytes once, as libcoll's algorithms do.
 */
#include "config.h"

#include "lib/base/error.h"
#include "lib/cost/networks.h"
#include "lib/replay/cluster.h"
#include "lib/sim/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS, RACKS, SITES, KINDS };
enum { STARTS = 8, NEVER = -1 };
static const double TRIES_MOST = 2e7; /* swaps, for all starts together */

/* A rank's messages to or from PEER. */
typedef struct edge {
    int peer;
    double out, in; /* bytes */
} edge;

typedef struct search {
    const COLL_Record *record;
    coll_topo slots; /* the place of each slot */
    int ranks, slot_count;
    int *slot_of, *rank_at; /* each rank's slot; each slot's rank, NEVER if the slot is free */
    edge **edges;           /* of each rank */
    int *edge_counts;
    double *group_bytes;            /* of the collectives of each group */
    int *groups;                    /* those of rank 0, then those of rank 1, ... */
    size_t *groups_from;            /* where the groups of each rank begin in GROUPS, and the end */
    int *members[KINDS];            /* numbers of ranks of each group in each host, rack and site */
    int units[KINDS];               /* number of hosts, racks and sites */
    double *out[KINDS], *in[KINDS]; /* bytes out of and into each host, rack and site */
    double per_byte[KINDS];         /* s, on one link */
    bool no_uplinks;                /* the rate of uplinks is not known */
    uint64_t random;
} search;

static int unit_of(const search *now, int kind, int slot) {
    const coll_place *place = &now->slots.places[slot];
    return kind == HOSTS ? place->node : kind == RACKS ? place->rack : place->site;
}

/* --- Loads --- */

/* Adds RANK's messages, times SIGN, to the loads of links. Leaves out messages with rank EXCEPT. */
static void add_messages(search *now, int rank, int except, double sign) {
    for (const edge *one = now->edges[rank]; one < now->edges[rank] + now->edge_counts[rank]; one++)
        for (int kind = 0; kind < KINDS && one->peer != except; kind++) {
            const int own = unit_of(now, kind, now->slot_of[rank]),
                      other = unit_of(now, kind, now->slot_of[one->peer]);
            if (own == other)
                break; /* also in the same rack and site */
            now->out[kind][own] += sign * one->out;
            now->in[kind][other] += sign * one->out;
            now->in[kind][own] += sign * one->in;
            now->out[kind][other] += sign * one->in;
        }
}

/* Adds the load of GROUP's collectives, times SIGN, to the link of a UNIT that has SOME of GROUP's
 * ranks. There is no load if SOME is 0 or the number of all ranks of GROUP. */
static void add_collectives(search *now, int kind, int unit, int group, int some, double sign) {
    if (some == 0 || some == now->record->groups[group].ranks)
        return;
    now->out[kind][unit] += sign * now->group_bytes[group];
    now->in[kind][unit] += sign * now->group_bytes[group];
}

/*
 * Adds BY (1 or -1) to the number of GROUP's ranks in the host, rack and site of SLOT, and changes
 * the loads of their links.
 */
static void count_member(search *now, int group, int slot, int by) {
    for (int kind = 0; kind < KINDS; kind++) {
        const int unit = unit_of(now, kind, slot);
        int *some = &now->members[kind][group * now->units[kind] + unit];
        add_collectives(now, kind, unit, group, *some, -1);
        *some += by;
        add_collectives(now, kind, unit, group, *some, 1);
    }
}

/* Adds BY (1 or -1) to the counts of all listed groups of RANK. */
static void count_rank(search *now, int rank, int by) {
    for (size_t i = now->groups_from[rank]; i < now->groups_from[rank + 1]; i++)
        count_member(now, now->groups[i], now->slot_of[rank], by);
}

/* Exchanges the contents of slots A and B. A has a rank; B may be free. */
static void swap(search *now, int a, int b) {
    const int one = now->rank_at[a], other = now->rank_at[b];
    add_messages(now, one, NEVER, -1);
    count_rank(now, one, -1);
    if (other >= 0) {
        add_messages(now, other, one, -1);
        count_rank(now, other, -1);
        now->slot_of[other] = a;
    }
    now->slot_of[one] = b;
    now->rank_at[a] = other;
    now->rank_at[b] = one;
    add_messages(now, one, NEVER, 1);
    count_rank(now, one, 1);
    if (other >= 0) {
        add_messages(now, other, one, 1);
        count_rank(now, other, 1);
    }
}

static double seconds_of(const search *now, int kind, int unit) {
    return now->per_byte[kind] * fmax(now->out[kind][unit], now->in[kind][unit]);
}

static double cost(const search *now) {
    double sum = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int unit = 0; unit < now->units[kind]; unit++) {
            const double seconds = seconds_of(now, kind, unit);
            sum += seconds * seconds * seconds * seconds;
        }
    return sum;
}

/* Computes the loads of all links in the placement; only those of messages if MESSAGES, without the
 * collectives. */
static void load_links(search *now, bool messages) {
    for (int kind = 0; kind < KINDS; kind++) {
        const size_t units = (size_t)now->units[kind];
        memset(now->out[kind], 0, units * sizeof *now->out[kind]);
        memset(now->in[kind], 0, units * sizeof *now->in[kind]);
        memset(now->members[kind], 0,
               units * (size_t)now->record->group_count * sizeof *now->members[kind]);
    }
    for (int rank = 0; rank < now->ranks; rank++) {
        add_messages(now, rank, NEVER, 0.5); /* each message is in the lists of two ranks */
        if (!messages)
            count_rank(now, rank, 1);
    }
}

/* Returns the seconds in which the busiest link passes the messages. */
static double message_seconds(search *now) {
    double most = 0;
    load_links(now, true);
    for (int kind = 0; kind < KINDS; kind++)
        for (int unit = 0; unit < now->units[kind]; unit++)
            most = fmax(most, seconds_of(now, kind, unit));
    return most;
}

/* --- The search --- */

static void place(search *now, const int slot_of[]) {
    for (int slot = 0; slot < now->slot_count; slot++)
        now->rank_at[slot] = NEVER;
    for (int rank = 0; rank < now->ranks; rank++) {
        now->slot_of[rank] = slot_of[rank];
        now->rank_at[slot_of[rank]] = rank;
    }
    load_links(now, false);
}

/* Returns a random number below LIMIT (xorshift). */
static int random_below(search *now, int limit) {
    now->random ^= now->random << 13;
    now->random ^= now->random >> 7;
    now->random ^= now->random << 17;
    return (int)(now->random % (uint64_t)limit);
}

/* Makes swaps that reduce the cost, until no swap does or TRIES swaps have been tried. Returns the
 * cost. */
static double improve(search *now, double tries) {
    double least = cost(now);
    for (bool better = true; better && tries > 0;) {
        better = false;
        for (int a = 0; a < now->slot_count; a++)
            for (int b = 0; b < now->slot_count && tries > 0; b++) {
                if (now->rank_at[a] < 0 || (b < a && now->rank_at[b] >= 0) ||
                    now->slots.places[a].node == now->slots.places[b].node)
                    continue;
                tries--;
                swap(now, a, b);
                const double changed = cost(now);
                if (changed < least * (1 - 1e-9)) {
                    least = changed;
                    better = true;
                } else {
                    swap(now, b, a);
                }
            }
    }
    return least;
}

/* Sets SLOTS to the best placement found, and places the ranks there. */
static void search_placements(search *now, int slots[]) {
    double least = INFINITY;
    int *order = now->rank_at + now->slot_count; /* scratch */
    for (int start = 0; start < STARTS; start++) {
        for (int slot = 0; slot < now->slot_count; slot++)
            order[slot] = slot;
        for (int i = now->slot_count - 1; i > 0 && start > 0; i--) {
            const int other = random_below(now, i + 1), slot = order[i];
            order[i] = order[other];
            order[other] = slot;
        }
        if (start == 0)
            memcpy(order, slots, (size_t)now->ranks * sizeof *order);
        place(now, order);
        const double found = improve(now, TRIES_MOST / STARTS);
        if (found < least * (1 - 1e-6)) {
            least = found;
            memcpy(slots, now->slot_of, (size_t)now->ranks * sizeof *slots);
        }
    }
    place(now, slots);
}

/* --- The record --- */

/* Returns the edge of RANK to PEER, which is added if it is new; NULL if out of memory. */
static edge *find_edge(search *now, int rank, int peer) {
    edge *first = now->edges[rank];
    const int count = now->edge_counts[rank];
    for (int i = 0; i < count; i++)
        if (first[i].peer == peer)
            return &first[i];
    edge *added = coll_job_add_element((void **)&now->edges[rank], (size_t)count, sizeof *added);
    if (!added)
        return NULL;
    now->edge_counts[rank]++;
    *added = (edge){.peer = peer};
    return added;
}

static bool add_edges(search *now) {
    for (int rank = 0; rank < now->ranks; rank++) {
        const coll_job_rank *own = &now->record->of[rank];
        for (size_t i = 0; i < own->sent_count; i++) {
            const int to = own->sent[i].to;
            if (to == rank)
                continue;
            edge *out = find_edge(now, rank, to), *in = find_edge(now, to, rank);
            if (!out || !in)
                return false;
            out->out += own->sent[i].bytes;
            in->in += own->sent[i].bytes;
        }
    }
    return true;
}

/* Counts the bytes that a call brings into each host, rack or site. */
static int add_group_bytes(void *context, const coll_job_group *group,
                           coll_job_call *const calls[]) {
    search *now = context;
    const coll_operation operation = calls[0]->operation;
    const coll_sides *sides = &coll_operations[operation].sides;
    const bool blocks = sides->data == COLL_SIDE_BLOCKS || sides->input == COLL_SIDE_BLOCKS ||
                        sides->root_data == COLL_SIDE_BLOCKS ||
                        sides->root_input == COLL_SIDE_BLOCKS;
    now->group_bytes[group - now->record->groups] +=
        (double)calls[0]->bytes * (blocks ? group->ranks : 1) *
        (operation == COLL_OPERATION_ALLREDUCE ? 2 : 1);
    return MPI_SUCCESS;
}

/* Returns whether the placement of GROUP matters. The group of all ranks has the same load in every
 * placement. */
static bool is_counted(const search *now, int group) {
    return now->group_bytes[group] > 0 && now->record->groups[group].ranks < now->ranks;
}

/* Lists the groups of each rank that are counted. Returns false if out of memory. */
static bool list_groups(search *now) {
    const coll_job_group *groups = now->record->groups;
    const int count = now->record->group_count;
    size_t *from = now->groups_from;
    for (int group = 0; group < count; group++)
        for (int i = 0; i < groups[group].ranks && is_counted(now, group); i++)
            from[groups[group].members[i] + 2]++;
    for (int rank = 0; rank < now->ranks; rank++)
        from[rank + 2] += from[rank + 1];
    now->groups = malloc((from[now->ranks + 1] + 1) * sizeof *now->groups);
    if (!now->groups)
        return false;
    /* FROM[rank + 1] is where the rank's next group goes and, after the loop, where the rank's list
     * ends. */
    for (int group = 0; group < count; group++)
        for (int i = 0; i < groups[group].ranks && is_counted(now, group); i++)
            now->groups[from[groups[group].members[i] + 1]++] = group;
    return true;
}

/* Sets the seconds for a byte on each kind of link. */
static void price_links(search *now, const coll_profile *profile) {
    coll_profile likely;
    const coll_profile *costs = coll_networks_likely(profile, &now->slots, &likely);
    const coll_shape shape = {.topo = &now->slots, .profile = costs};
    coll_network network;
    coll_network_open(&network, &shape, NULL);
    now->per_byte[HOSTS] = costs->level[COLL_LEVEL_RACK].per_byte;
    for (int kind = RACKS; kind < KINDS; kind++) {
        const int level = kind == RACKS ? COLL_LEVEL_SITE : COLL_LEVEL_WIDE;
        now->no_uplinks = now->no_uplinks || (now->units[kind] > 1 && !(network.rate[level] > 0));
        /* Uplinks without a known limit pass what all their hosts send. */
        now->per_byte[kind] = network.rate[level] > 0 ? 1 / network.rate[level]
                                                      : costs->level[level].per_byte *
                                                            now->units[kind] / now->units[HOSTS];
    }
}

/* Sets SLOTS to the recorded placement; returns false if the slots don't allow it. */
static bool find_recorded(search *now, int slots[]) {
    for (int slot = 0; slot < now->slot_count; slot++)
        now->rank_at[slot] = NEVER;
    for (int rank = 0; rank < now->ranks; rank++) {
        int slot = 0;
        while (slot < now->slot_count &&
               (now->rank_at[slot] >= 0 || strcmp(now->slots.hosts[now->slots.places[slot].node],
                                                  now->record->of[rank].host) != 0))
            slot++;
        if (slot == now->slot_count)
            return false;
        now->rank_at[slot] = rank;
        slots[rank] = slot;
    }
    return true;
}

static bool allocate(search *now) {
    const size_t ranks = (size_t)now->ranks, slots = (size_t)now->slot_count,
                 groups = (size_t)now->record->group_count;
    const int units[KINDS] = {now->slots.nodes, now->slots.racks, now->slots.sites};
    now->slot_of = malloc(ranks * sizeof *now->slot_of);
    now->rank_at = malloc(2 * slots * sizeof *now->rank_at);
    now->edges = calloc(ranks, sizeof *now->edges);
    now->edge_counts = calloc(ranks, sizeof *now->edge_counts);
    now->group_bytes = calloc(groups + 1, sizeof *now->group_bytes);
    now->groups_from = calloc(ranks + 2, sizeof *now->groups_from);
    bool good = now->slot_of && now->rank_at && now->edges && now->edge_counts &&
                now->group_bytes && now->groups_from;
    for (int kind = 0; kind < KINDS; kind++) {
        now->units[kind] = units[kind];
        now->members[kind] =
            malloc((groups + 1) * (size_t)units[kind] * sizeof *now->members[kind]);
        now->out[kind] = malloc((size_t)units[kind] * sizeof *now->out[kind]);
        now->in[kind] = malloc((size_t)units[kind] * sizeof *now->in[kind]);
        good = good && now->members[kind] && now->out[kind] && now->in[kind];
    }
    return good;
}

static void release(search *now) {
    for (int rank = 0; now->edges && rank < now->ranks; rank++)
        free(now->edges[rank]);
    for (int kind = 0; kind < KINDS; kind++) {
        free(now->members[kind]);
        free(now->out[kind]);
        free(now->in[kind]);
    }
    free(now->slot_of);
    free(now->rank_at);
    free(now->edges);
    free(now->edge_counts);
    free(now->group_bytes);
    free(now->groups);
    free(now->groups_from);
    coll_topo_free(&now->slots);
}

/* --- The result --- */

/* Sets element WHICH of FOUND's seconds to the seconds of the placement SLOTS. */
static int rate(search *now, const COLL_Cluster *cluster, const int slots[], int which,
                COLL_Placement *found) {
    const char **hosts = malloc((size_t)now->ranks * sizeof *hosts);
    COLL_Replay_row *rows = malloc(COLL_REPLAY_ROWS * sizeof *rows);
    COLL_Cluster placed = *cluster;
    COLL_Replay_sum sum;
    int count,
        code = hosts && rows ? MPI_SUCCESS : coll_error(MPI_ERR_NO_MEM, "no memory to place ranks");
    for (int rank = 0; rank < now->ranks && code == MPI_SUCCESS; rank++)
        hosts[rank] = cluster->slots[slots[rank]];
    placed.slots = hosts;
    placed.slot_count = now->ranks;
    if (code == MPI_SUCCESS)
        code = COLL_Replay(now->record, &placed, rows, &count, &sum);
    if (code == MPI_SUCCESS) {
        place(now, slots);
        found->messages[which] = message_seconds(now);
        found->collectives[which] = sum.collectives[1];
    }
    free(hosts);
    free(rows);
    return code;
}

/* Sets SLOTS to a better placement or, if none is found, to the present one. Sets FOUND. */
static int find_better(search *now, const COLL_Cluster *cluster, int slots[],
                       COLL_Placement *found) {
    int *before = malloc((size_t)now->ranks * sizeof *before);
    if (!before)
        return coll_error(MPI_ERR_NO_MEM, "no memory to place %d ranks", now->ranks);
    if (!find_recorded(now, slots))
        for (int rank = 0; rank < now->ranks; rank++)
            slots[rank] = rank;
    memcpy(before, slots, (size_t)now->ranks * sizeof *before);
    search_placements(now, slots);
    int code = rate(now, cluster, before, 0, found);
    if (code == MPI_SUCCESS)
        code = rate(now, cluster, slots, 1, found);
    if (code == MPI_SUCCESS &&
        found->messages[1] + found->collectives[1] > found->messages[0] + found->collectives[0]) {
        memcpy(slots, before, (size_t)now->ranks * sizeof *before);
        found->messages[1] = found->messages[0];
        found->collectives[1] = found->collectives[0];
    }
    free(before);
    return code;
}

int COLL_Replay_place(const COLL_Record *record, const COLL_Cluster *cluster, unsigned seed,
                      int slots[], COLL_Placement *found) {
    search now = {.record = record,
                  .ranks = record->ranks,
                  .slot_count = cluster->slot_count,
                  .random = UINT64_C(0x9e3779b97f4a7c15) + seed};
    coll_cluster costs;
    if (!cluster->slots)
        return coll_error(MPI_ERR_ARG, "a placement needs slots");
    int code = coll_cluster_make(record, cluster, &costs);
    if (code == MPI_SUCCESS)
        code = coll_cluster_make_topo(record, cluster->topology, cluster->slot_count,
                                      cluster->slots, &now.slots);
    if (code == MPI_SUCCESS && !(allocate(&now) && add_edges(&now)))
        code = coll_error(MPI_ERR_NO_MEM, "no memory to place %d ranks", record->ranks);
    if (code == MPI_SUCCESS)
        code = coll_job_walk(record, add_group_bytes, &now);
    if (code == MPI_SUCCESS && !list_groups(&now))
        code = coll_error(MPI_ERR_NO_MEM, "no memory to place %d ranks", record->ranks);
    if (code == MPI_SUCCESS) {
        price_links(&now, &costs.profile);
        code = find_better(&now, cluster, slots, found);
        found->no_uplinks = now.no_uplinks;
    }
    release(&now);
    coll_cluster_free(&costs);
    return code;
}

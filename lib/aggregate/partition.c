/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/aggregate/partition.h"

#include <stdlib.h>

/* The finaliser of SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom generators). */
uint64_t coll_partition_hash(uint64_t key) {
    uint64_t hash = key + UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

int coll_partition_owner(uint64_t hash, int ranks) {
    return (int)(((hash >> 32) * (uint64_t)ranks) >> 32);
}

bool coll_layout_create(const coll_topo *topo, coll_layout *layout) {
    const int ranks = topo->ranks, nodes = topo->nodes;
    int *memory = calloc(3 * (size_t)ranks + (size_t)nodes + 1, sizeof *memory);
    if (!memory)
        return false;
    *layout = (coll_layout){.ranks = ranks,
                            .nodes = nodes,
                            .node = memory,
                            .index = memory + ranks,
                            .members = memory + 2 * (size_t)ranks,
                            .first = memory + 3 * (size_t)ranks};

    for (int rank = 0; rank < ranks; rank++) {
        int node = layout->node[rank] = topo->places[rank].node;
        layout->index[rank] = layout->first[node + 1]++;
    }
    for (int node = 0; node < nodes; node++)
        layout->first[node + 1] += layout->first[node];
    for (int rank = 0; rank < ranks; rank++)
        layout->members[layout->first[layout->node[rank]] + layout->index[rank]] = rank;
    return true;
}

void coll_layout_free(coll_layout *layout) {
    free(layout->node);
    *layout = (coll_layout){0};
}

int coll_layout_collector(const coll_layout *layout, int node, int owner) {
    if (layout->node[owner] == node)
        return owner;
    int processes = layout->first[node + 1] - layout->first[node];
    return layout->members[layout->first[node] + layout->index[owner] % processes];
}

bool coll_route_create(const coll_layout *layout, coll_route_maker *make, int rank, int root,
                       coll_route *route) {
    const size_t ranks = (size_t)layout->ranks;
    int *memory = malloc(3 * ranks * sizeof *memory);
    if (!memory)
        return false;
    *route =
        (coll_route){.group_of = memory, .sends = memory + ranks, .receives = memory + 2 * ranks};
    for (int owner = 0; owner < layout->ranks; owner++)
        route->group_of[owner] = -1;
    make(layout, rank, root, route);
    return true;
}

void coll_route_free(coll_route *route) {
    free(route->group_of);
    *route = (coll_route){0};
}

void coll_route_to_collectors(const coll_layout *layout, int rank, int root, coll_route *route) {
    (void)root;
    int node = layout->node[rank], mine = layout->index[rank];
    const int *members = layout->members + layout->first[node];
    int processes = layout->first[node + 1] - layout->first[node];

    for (int round = 1; round < processes; round++) {
        route->sends[route->send_count++] = members[(mine + round) % processes];
        route->receives[route->receive_count++] = members[(mine - round + processes) % processes];
    }
    for (int owner = 0; owner < layout->ranks; owner++) {
        int collector = coll_layout_collector(layout, node, owner);
        if (collector != rank)
            route->group_of[owner] = (layout->index[collector] - mine - 1 + processes) % processes;
    }
}

void coll_route_to_owners(const coll_layout *layout, int rank, int root, coll_route *route) {
    (void)root;
    int node = layout->node[rank], nodes = layout->nodes;

    for (int round = 1; round < nodes; round++) {
        int ahead = (node + round) % nodes, behind = (node - round + nodes) % nodes;
        for (int i = layout->first[ahead]; i < layout->first[ahead + 1]; i++) {
            int owner = layout->members[i];
            if (coll_layout_collector(layout, node, owner) != rank)
                continue;
            route->group_of[owner] = route->send_count;
            route->sends[route->send_count++] = owner;
        }
        route->receives[route->receive_count++] = coll_layout_collector(layout, behind, rank);
    }
}

void coll_route_all_to_owners(const coll_layout *layout, int rank, int root, coll_route *route) {
    (void)root;
    int ranks = layout->ranks;
    for (int round = 1; round < ranks; round++) {
        int owner = (int)(((int64_t)rank + round) % ranks);
        route->group_of[owner] = route->send_count;
        route->sends[route->send_count++] = owner;
        route->receives[route->receive_count++] = (rank - round + ranks) % ranks;
    }
}

void coll_route_to_root(const coll_layout *layout, int rank, int root, coll_route *route) {
    int ranks = layout->ranks;
    if (rank == root) {
        for (int round = 1; round < ranks; round++)
            route->receives[route->receive_count++] = (int)(((int64_t)root + round) % ranks);
        return;
    }
    route->sends[route->send_count++] = root;
    for (int owner = 0; owner < ranks; owner++)
        route->group_of[owner] = 0;
}

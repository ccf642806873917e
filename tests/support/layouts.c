/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/layouts.h"

#include "lib/algorithm/rank_order.h"
#include "lib/plan/plan.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

layout describe(int kind, int units) {
    layout l = {.count = units};
    MPI_Datatype inner;
    switch (kind) {
    case 0:
        l = (layout){.name = "bytes", .type = MPI_BYTE, .count = units * UNIT};
        l.span = (size_t)l.count;
        return l;
    case 1: /* three ints and a gap of two, as one element for the whole payload */
        MPI_Type_vector(units, 3, 5, MPI_INT, &l.type);
        l.name = "vector";
        l.count = units ? 1 : 0;
        l.span = (size_t)units * 20;
        break;
    case 2: { /* char, double and three chars, in another order than in memory */
        int lengths[] = {1, 1, 3};
        MPI_Aint places[] = {16, 0, 9};
        MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_CHAR};
        MPI_Type_create_struct(3, lengths, places, types, &inner);
        MPI_Type_create_resized(inner, 0, 24, &l.type);
        MPI_Type_free(&inner);
        l.name = "struct";
        l.span = (size_t)units * 24;
        break;
    }
    case 3: /* three ints at the start of each 32 bytes */
        MPI_Type_contiguous(3, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 32, &l.type);
        MPI_Type_free(&inner);
        l.name = "resized";
        l.span = (size_t)units * 32;
        break;
    default:
        MPI_Type_contiguous(UNIT, MPI_CHAR, &l.type);
        l.name = "contiguous";
        l.span = (size_t)units * UNIT;
    }
    MPI_Type_commit(&l.type);
    return l;
}

void forget(layout *l) {
    if (l->type != MPI_BYTE)
        MPI_Type_free(&l->type);
}

void fill(unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
}

/* Gives all nodes the name of this host on the first rank. */
static void pretend_hosts(coll_topo *topo, int nodes) {
    size_t length = strlen(topo->hosts[0]) + 1, list = (size_t)nodes * sizeof *topo->hosts;
    char **hosts = malloc(list + length);
    memcpy((char *)hosts + list, topo->hosts[0], length);
    for (int node = 0; node < nodes; node++)
        hosts[node] = (char *)hosts + list;
    free(topo->hosts);
    topo->hosts = hosts;
    topo->nodes = nodes;
}

/* Returns the topology of COMM, on NODES imagined nodes whose ranks the caller places. */
static coll_topo *imagine_nodes(MPI_Comm comm, int nodes) {
    coll_comm *state;
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    coll_topo *topo = &coll_state_of(state)->topo;
    pretend_hosts(topo, nodes);
    ((coll_rank_order *)coll_comm_slot(state, &coll_rank_order_key))->next_root = 0;
    return topo;
}

void pretend_layout(MPI_Comm comm, int nodes, int racks) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    nodes = (int)coll_least((size_t)nodes, (size_t)ranks);
    racks = (int)coll_least((size_t)racks, (size_t)nodes);
    coll_topo *topo = imagine_nodes(comm, nodes);
    const int stride = nodes % 7 ? 7 : 5; /* so that every node has ranks */
    for (int i = 0; i < topo->ranks; i++) {
        int node = (i * stride + 3) % nodes;
        topo->places[i] = (coll_place){.site = 0, .rack = node % racks, .node = node};
    }
    topo->racks = racks;
}

void pretend_sites(MPI_Comm comm, int sites) {
    coll_topo *topo = imagine_nodes(comm, 2 * sites);
    for (int i = 0; i < topo->ranks; i++) {
        int site = i < sites ? i : (i * 7 + 3) % sites;
        topo->places[i] = (coll_place){.site = site, .rack = site, .node = 2 * site + i % 2};
    }
    topo->racks = topo->sites = sites;
}

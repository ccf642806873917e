/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/mapping.h"

#include "lib/base/error.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Parses TEXT. Returns whether it is a decimal number from 1 to INT_MAX. */
static bool read_number(const char *text, int *number) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *number = (int)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && !errno && value >= 1 && value <= INT_MAX;
}

int coll_mapping_parse(const char *text, coll_mapping_wish *wish) {
    static const char ratio[] = "1:";
    bool is_ratio = strncmp(text, ratio, sizeof ratio - 1) == 0;
    int number;
    if (!read_number(is_ratio ? text + sizeof ratio - 1 : text, &number))
        return coll_error(MPI_ERR_ARG,
                          "COLL_DCP=%s: write 1:4 for one dedicated processor to four application "
                          "ranks, or 8 for eight dedicated processors",
                          text);
    *wish = is_ratio ? (coll_mapping_wish){.served = number} : (coll_mapping_wish){.dcps = number};
    return MPI_SUCCESS;
}

static int count_dcps(const coll_mapping_wish *wish, int ranks, int *dcps) {
    long long group = wish->served + 1LL;
    *dcps = wish->dcps ? wish->dcps : (int)((ranks + group - 1) / group);
    if (*dcps > ranks)
        return coll_error(
            MPI_ERR_ARG, "COLL_DCP=%d: more dedicated processors than ranks (%d); start more ranks",
            *dcps, ranks);
    if (*dcps == ranks)
        return coll_error(MPI_ERR_ARG,
                          "COLL_DCP: %d of %d ranks would serve, and none is left for the "
                          "application; start more ranks",
                          *dcps, ranks);
    return MPI_SUCCESS;
}

/* The ranks of a node, ascending; the last DCPS of them are DCPs. */
typedef struct node {
    int ranks, dcps;
    int *rank;
} node;

static const int *dcps_of(const node *n) {
    return n->rank + n->ranks - n->dcps;
}

static void free_nodes(node *nodes, int count) {
    for (int i = 0; nodes && i < count; i++)
        free(nodes[i].rank);
    free(nodes);
}

static node *list_nodes(int ranks, const int node_of[], int count) {
    node *nodes = calloc((size_t)count, sizeof *nodes);
    for (int rank = 0; nodes && rank < ranks; rank++)
        nodes[node_of[rank]].ranks++;
    for (int i = 0; nodes && i < count; i++) {
        nodes[i].rank = malloc((size_t)nodes[i].ranks * sizeof *nodes[i].rank);
        nodes[i].ranks = 0;
        if (!nodes[i].rank) {
            free_nodes(nodes, count);
            return NULL;
        }
    }
    for (int rank = 0; nodes && rank < ranks; rank++) {
        node *n = &nodes[node_of[rank]];
        n->rank[n->ranks++] = rank;
    }
    return nodes;
}

/*
 * Distributes the DCPs over the nodes in proportion to their ranks: the nodes 0 to i, if they have
 * r ranks together, get floor(dcps * r / ranks) DCPs together. Node 0, with rank 0, always keeps an
 * application rank, since floor(dcps * size / ranks) < size if size is the number of ranks on node
 * 0.
 */
static void distribute_dcps(node *nodes, int count, int ranks, int dcps) {
    long long ranks_so_far = 0, dcps_so_far = 0;
    for (int i = 0; i < count; i++) {
        ranks_so_far += nodes[i].ranks;
        nodes[i].dcps = (int)(ranks_so_far * dcps / ranks - dcps_so_far);
        dcps_so_far += nodes[i].dcps;
    }
}

/*
 * Lets each DCP of node N serve a block of N's application ranks. Block sizes differ by at most
 * one.
 */
static void assign_within_node(const node *n, int dcp_of[], int load[]) {
    int applications = n->ranks - n->dcps;
    for (int i = 0; i < n->dcps; i++)
        dcp_of[dcps_of(n)[i]] = -1;
    for (int i = 0; n->dcps && i < applications; i++) {
        int dcp = dcps_of(n)[(long long)i * n->dcps / applications];
        dcp_of[n->rank[i]] = dcp;
        load[dcp]++;
    }
}

/* Returns the DCP on the node nearest to HOME that serves fewer than SHARE ranks, or -1. */
static int nearest_with_room(const node *nodes, int count, int home, int share, const int load[]) {
    for (int distance = 1; distance < count; distance++)
        for (int side = -1; side <= 1; side += 2) {
            int at = home + side * distance;
            for (int i = 0; at >= 0 && at < count && i < nodes[at].dcps; i++)
                if (load[dcps_of(&nodes[at])[i]] < share)
                    return dcps_of(&nodes[at])[i];
        }
    return -1;
}

/*
 * Assigns the ranks of node HOME, which has no DCP, to the nearest DCPs on other nodes that serve
 * fewer than SHARE ranks. The shares add up to at least the number of application ranks, so some
 * DCP has room.
 */
static void assign_to_other_nodes(const node *nodes, int count, int home, int share, int dcp_of[],
                                  int load[]) {
    for (int i = 0; i < nodes[home].ranks; i++) {
        int dcp = nearest_with_room(nodes, count, home, share, load);
        dcp_of[nodes[home].rank[i]] = dcp;
        load[dcp]++;
    }
}

int coll_mapping_make(const coll_mapping_wish *wish, int ranks, const int node_of[],
                      coll_mapping *mapping) {
    int dcps, count = 0, code = count_dcps(wish, ranks, &dcps);
    if (code != MPI_SUCCESS)
        return code;
    for (int rank = 0; rank < ranks; rank++)
        count = node_of[rank] >= count ? node_of[rank] + 1 : count;

    node *nodes = list_nodes(ranks, node_of, count);
    int *dcp_of = malloc((size_t)ranks * sizeof *dcp_of),
        *load = calloc((size_t)ranks, sizeof *load);
    bool good = nodes && dcp_of && load;
    if (good) {
        int applications = ranks - dcps, share = (applications + dcps - 1) / dcps;
        distribute_dcps(nodes, count, ranks, dcps);
        for (int i = 0; i < count; i++)
            assign_within_node(&nodes[i], dcp_of, load);
        for (int i = 0; i < count; i++)
            if (!nodes[i].dcps)
                assign_to_other_nodes(nodes, count, i, share, dcp_of, load);
        *mapping = (coll_mapping){
            .ranks = ranks, .dcps = dcps, .applications = applications, .dcp_of = dcp_of};
    } else
        free(dcp_of);
    free(load);
    free_nodes(nodes, count);
    return good ? MPI_SUCCESS : coll_error(MPI_ERR_NO_MEM, "no memory to map %d ranks", ranks);
}

void coll_mapping_free(coll_mapping *mapping) {
    free(mapping->dcp_of);
    *mapping = (coll_mapping){0};
}

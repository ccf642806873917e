/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/graph.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

/* --- The topology of one rank --- */

/* The neighbours of a rank: the source of each block of its receive buffer, and the destination of
 * each block of its send buffer. */
typedef struct neighbors {
    int in, out;
    int *sources; /* the destinations follow */
} neighbors;

int coll_graph_degrees(MPI_Comm comm, int *in, int *out) {
    int kind, rank, weighted, code = PMPI_Topo_test(comm, &kind);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_rank(comm, &rank);
    if (code != MPI_SUCCESS)
        return code;
    if (kind == MPI_DIST_GRAPH)
        return PMPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
    if (kind != MPI_CART && kind != MPI_GRAPH)
        return coll_error(MPI_ERR_TOPOLOGY, "the communicator has no topology");
    code =
        kind == MPI_CART ? PMPI_Cartdim_get(comm, in) : PMPI_Graph_neighbors_count(comm, rank, in);
    if (code == MPI_SUCCESS && kind == MPI_CART)
        *in *= 2;
    if (code == MPI_SUCCESS)
        *out = *in;
    return code;
}

/* Sets FOUND to this rank's neighbours in a graph. The caller frees the sources. */
static int find_neighbors(MPI_Comm comm, neighbors *found) {
    int kind, rank, code = PMPI_Topo_test(comm, &kind);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = coll_graph_degrees(comm, &found->in, &found->out);
    if (code != MPI_SUCCESS)
        return code;
    const size_t all = (size_t)found->in + (size_t)found->out;
    found->sources = malloc((2 * all + 1) * sizeof *found->sources);
    if (!found->sources)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %zu neighbours", all);
    int *destinations = found->sources + found->in, *weights = found->sources + all;
    if (kind == MPI_DIST_GRAPH)
        return PMPI_Dist_graph_neighbors(comm, found->in, found->sources, weights, found->out,
                                         destinations, weights + found->in);
    code = PMPI_Graph_neighbors(comm, rank, found->in, found->sources);
    memcpy(destinations, found->sources, (size_t)found->out * sizeof *destinations);
    return code;
}

/* --- The edges of all ranks --- */

/*
 * Writes the edges of a Cartesian topology to EDGE, which has space for two edges for each rank and
 * dimension, and returns their number. At the lower neighbour, a message counts as one from its
 * upper neighbour, even if both neighbours are the same rank.
 */
static int list_cart(int ranks, int dimensions, const int size[], const int periodic[],
                     coll_edge edge[]) {
    int count = 0;
    for (int d = dimensions - 1, stride = 1; d >= 0; stride *= size[d--])
        for (int rank = 0; rank < ranks; rank++) {
            const int at = rank / stride % size[d];
            for (int up = 0; up < 2; up++) {
                int to = up ? at + 1 : at - 1;
                if ((to < 0 || to == size[d]) && !periodic[d])
                    continue;
                to = (to + size[d]) % size[d];
                edge[count++] = (coll_edge){.source = rank,
                                            .destination = rank + (to - at) * stride,
                                            .out = 2 * d + up,
                                            .in = 2 * d + 1 - up};
            }
        }
    return count;
}

/* Returns the first number in FOUR that is not 0; 0 if there is none. */
static int first_difference(const int four[]) {
    int i = 0;
    while (i < 3 && four[i] == 0)
        i++;
    return four[i];
}

/* Orders the edges of a list by source, destination and block. In a list from the sources all IN
 * are 0, in a list from the destinations all OUT. */
static int by_ends(const void *one, const void *other) {
    const coll_edge *a = one, *b = other;
    return first_difference((const int[]){a->source - b->source, a->destination - b->destination,
                                          a->out - b->out, a->in - b->in});
}

static int by_nodes(const void *one, const void *other) {
    const coll_edge *a = one, *b = other;
    return first_difference(
        (const int[]){a->from - b->from, a->to - b->to, a->source - b->source, a->out - b->out});
}

/*
 * Joins the COUNT edges in OUTS, as listed by their sources, with those in INS, as listed by their
 * destinations: the nth edge from one rank to another in OUTS is the nth such edge in INS. Sets
 * `in` of OUTS. Returns false if the lists don't match.
 */
static bool join_lists(coll_edge outs[], coll_edge ins[], int count) {
    qsort(outs, (size_t)count, sizeof *outs, by_ends);
    qsort(ins, (size_t)count, sizeof *ins, by_ends);
    for (int i = 0; i < count; i++) {
        if (outs[i].source != ins[i].source || outs[i].destination != ins[i].destination)
            return false;
        outs[i].in = ins[i].in;
    }
    return true;
}

/* --- Bundles --- */

/* Makes the bundles of GRAPH's edges, which are sorted. */
static void make_bundles(coll_graph *graph) {
    for (int i = 0; i < graph->edges; i++) {
        const coll_edge *edge = &graph->edge[i];
        coll_edge_bundle *last = &graph->bundle[graph->bundles - 1];
        const bool begins = graph->bundles == 0 || last->from != edge->from || last->to != edge->to;
        if (begins) {
            last = &graph->bundle[graph->bundles++];
            *last = (coll_edge_bundle){.from = edge->from, .to = edge->to, .first = i};
        }
        last->sources += begins || edge->source != edge[-1].source;
        last->count++;
    }
}

/* Lists the bundles that leave and that arrive at each node. */
static void list_bundles(coll_graph *graph) {
    for (int b = 0; b < graph->bundles; b++) {
        graph->leaving[graph->bundle[b].from + 1]++;
        graph->first_arriving[graph->bundle[b].to + 1]++;
    }
    for (int node = 0; node < graph->nodes; node++) {
        graph->leaving[node + 1] += graph->leaving[node];
        graph->first_arriving[node + 1] += graph->first_arriving[node];
    }
    for (int b = 0; b < graph->bundles; b++)
        graph->arriving[graph->first_arriving[graph->bundle[b].to]++] = b;
    for (int node = graph->nodes; node > 0; node--)
        graph->first_arriving[node] = graph->first_arriving[node - 1];
    graph->first_arriving[0] = 0;
}

/* --- Carriers and loads --- */

/* The kinds of loads. */
enum { LINEAR, COMBINED, SHARED, LOADS };

/* What one rank does. */
typedef struct duties {
    int bundles; /* that it sends or receives for other ranks */
    int steps[LOADS], blocks[LOADS];
} duties;

/* Chooses the sender and the receiver of BUNDLE: among the sources of its edges, and among the
 * destinations, the rank that has the fewest bundles so far. */
static void choose_carriers(const coll_graph *graph, coll_edge_bundle *bundle, duties all[]) {
    const coll_edge *edge = &graph->edge[bundle->first];
    bundle->sender = edge->source;
    bundle->receiver = edge->destination;
    for (int i = 1; i < bundle->count; i++) {
        if (all[edge[i].source].bundles < all[bundle->sender].bundles)
            bundle->sender = edge[i].source;
        if (all[edge[i].destination].bundles < all[bundle->receiver].bundles)
            bundle->receiver = edge[i].destination;
    }
    all[bundle->sender].bundles++;
    all[bundle->receiver].bundles++;
}

static void add_duty(duties *one, int kind, int steps, int blocks) {
    one->steps[kind] += steps;
    one->blocks[kind] += blocks;
}

/* Adds to ALL the steps and blocks that the ranks need for BUNDLE, which is between two nodes
 * (lib/neighbor/combined.c). */
static void add_remote_duties(const coll_graph *graph, const coll_edge_bundle *bundle, int kind,
                              duties all[]) {
    const int blocks = kind == SHARED ? bundle->sources : bundle->count;
    add_duty(&all[bundle->sender], kind, blocks + 1, blocks);
    add_duty(&all[bundle->receiver], kind, bundle->count + 1, blocks);
    for (int i = bundle->first; i < bundle->first + bundle->count; i++) {
        const coll_edge *edge = &graph->edge[i];
        const bool again = kind == SHARED && i > bundle->first && edge[-1].source == edge->source;
        if (edge->source != bundle->sender && !again)
            add_duty(&all[edge->source], kind, 1, 1);
        if (edge->destination != bundle->receiver)
            add_duty(&all[edge->destination], kind, 1, 1);
    }
}

/* Adds to ALL, for KIND, a step and a block of the source and of the destination of each edge of
 * BUNDLE. */
static void add_linear_duties(const coll_graph *graph, const coll_edge_bundle *bundle, int kind,
                              duties all[]) {
    for (int i = bundle->first; i < bundle->first + bundle->count; i++) {
        add_duty(&all[graph->edge[i].source], kind, 1, 1);
        add_duty(&all[graph->edge[i].destination], kind, 1, 1);
    }
}

static void raise_to(int *most, int value) {
    *most = value > *most ? value : *most;
}

/* The messages between a node and all other nodes in one direction. */
typedef struct passage {
    int bundles, edges, sources;
} passage;

static void add_passage(passage *way, const coll_edge_bundle *bundle) {
    if (bundle->from == bundle->to)
        return;
    way->bundles++;
    way->edges += bundle->count;
    way->sources += bundle->sources;
}

static void measure_nodes(coll_graph *graph) {
    for (int node = 0; node < graph->nodes; node++) {
        passage ways[2] = {{0, 0, 0}, {0, 0, 0}};
        for (int b = graph->leaving[node]; b < graph->leaving[node + 1]; b++)
            add_passage(&ways[0], &graph->bundle[b]);
        for (int a = graph->first_arriving[node]; a < graph->first_arriving[node + 1]; a++)
            add_passage(&ways[1], &graph->bundle[graph->arriving[a]]);
        for (int way = 0; way < 2; way++) {
            raise_to(&graph->combined.node_blocks, ways[way].edges);
            raise_to(&graph->shared.node_blocks, ways[way].sources);
        }
        raise_to(&graph->linear.remote, ways[0].edges + ways[1].edges);
        raise_to(&graph->combined.remote, ways[0].bundles + ways[1].bundles);
    }
    graph->shared.remote = graph->combined.remote;
    graph->linear.node_blocks = graph->combined.node_blocks;
}

static void measure_ranks(coll_graph *graph, const duties all[], int ranks) {
    coll_graph_load *const loads[] = {
        [LINEAR] = &graph->linear, [COMBINED] = &graph->combined, [SHARED] = &graph->shared};
    for (int rank = 0; rank < ranks; rank++)
        for (int kind = 0; kind < LOADS; kind++) {
            raise_to(&loads[kind]->steps, all[rank].steps[kind] + (kind != LINEAR));
            raise_to(&loads[kind]->blocks, all[rank].blocks[kind]);
        }
}

/* --- Making a graph --- */

static void free_graph(coll_graph *graph) {
    if (!graph)
        return;
    free(graph->edge);
    free(graph->bundle);
    free(graph->leaving);
    free(graph);
}

/* Sorts the edges, and makes the bundles and the loads. ALL, which must be zero, has an entry for
 * each rank. */
static void arrange(coll_graph *graph, const coll_topo *topo, duties all[]) {
    for (int i = 0; i < graph->edges; i++) {
        graph->edge[i].from = topo->places[graph->edge[i].source].node;
        graph->edge[i].to = topo->places[graph->edge[i].destination].node;
    }
    qsort(graph->edge, (size_t)graph->edges, sizeof *graph->edge, by_nodes);
    make_bundles(graph);
    list_bundles(graph);
    for (int b = 0; b < graph->bundles; b++) {
        coll_edge_bundle *bundle = &graph->bundle[b];
        const bool local = bundle->from == bundle->to;
        if (!local)
            choose_carriers(graph, bundle, all);
        for (int kind = LINEAR; kind < LOADS; kind++)
            if (local || kind == LINEAR)
                add_linear_duties(graph, bundle, kind, all);
            else
                add_remote_duties(graph, bundle, kind, all);
        raise_to(&graph->combined.message, local ? 0 : bundle->count);
        raise_to(&graph->shared.message, local ? 0 : bundle->sources);
    }
    measure_nodes(graph);
    measure_ranks(graph, all, topo->ranks);
}

/* Returns the graph of the COUNT edges at EDGE, and takes ownership of EDGE. Frees EDGE and returns
 * NULL if out of memory. IN and OUT are the numbers of blocks of this rank's receive and send
 * buffers. */
static coll_graph *make_graph(coll_edge edge[], int count, const coll_topo *topo, int in, int out) {
    const size_t edges = (size_t)count + 1, nodes = (size_t)topo->nodes + 1;
    coll_graph *graph = malloc(sizeof *graph);
    duties *all = calloc((size_t)topo->ranks, sizeof *all);
    coll_edge_bundle *bundle = malloc(edges * sizeof *bundle);
    int *lists = calloc(2 * nodes + edges, sizeof *lists);
    if (graph && all && bundle && lists) {
        *graph = (coll_graph){.in = in,
                              .out = out,
                              .nodes = topo->nodes,
                              .edges = count,
                              .edge = edge,
                              .bundle = bundle,
                              .leaving = lists,
                              .first_arriving = lists + nodes,
                              .arriving = lists + 2 * nodes};
        arrange(graph, topo, all);
    } else {
        free(graph);
        free(edge);
        free(bundle);
        free(lists);
        graph = NULL;
    }
    free(all);
    return graph;
}

static int no_memory(const char *what) {
    return coll_error(MPI_ERR_NO_MEM, "no memory for the edges of %s", what);
}

/* Makes the graph of a Cartesian topology. Local. */
static int make_cart(const coll_comm *comm, const coll_topo *topo, coll_graph **made) {
    int dimensions, code = PMPI_Cartdim_get(comm->user, &dimensions);
    if (code != MPI_SUCCESS)
        return code;
    const size_t many = (size_t)dimensions;
    int *size = malloc((3 * many + 1) * sizeof *size);
    coll_edge *edge = malloc(((size_t)comm->ranks * 2 * many + 1) * sizeof *edge);
    if (size && edge)
        code = PMPI_Cart_get(comm->user, dimensions, size, size + many, size + 2 * many);
    else
        code = no_memory("a Cartesian topology");
    if (code == MPI_SUCCESS) {
        const int count = list_cart(comm->ranks, dimensions, size, size + many, edge);
        *made = make_graph(edge, count, topo, 2 * dimensions, 2 * dimensions);
        code = *made ? MPI_SUCCESS : no_memory("a Cartesian topology");
    } else {
        free(edge);
    }
    free(size);
    return code;
}

/* The data that the ranks exchange: their degrees, in and out, and their neighbours. */
typedef struct gathered {
    int *degrees;          /* IN and OUT of each rank */
    int *all;              /* sources, then destinations, of each rank */
    int *lengths, *places; /* of each rank's numbers in ALL */
    coll_edge *outs, *ins;
    int edges;
} gathered;

/* Allocates memory for the neighbours of all ranks, whose degrees are known. Errors:
 * MPI_ERR_NO_MEM. */
static int allocate_lists(gathered *g, int ranks) {
    int length = 0;
    g->lengths = malloc(2 * (size_t)ranks * sizeof *g->lengths);
    if (!g->lengths)
        return no_memory("a graph");
    g->places = g->lengths + ranks;
    for (int rank = 0; rank < ranks; rank++) {
        g->places[rank] = length;
        g->lengths[rank] = g->degrees[2 * rank] + g->degrees[2 * rank + 1];
        g->edges += g->degrees[2 * rank + 1];
        length += g->lengths[rank];
    }
    /* EDGES is the number of edges according to the sources. If the number according to the
     * destinations differs, the graph is not used. */
    g->all = malloc(((size_t)length + 1) * sizeof *g->all);
    g->outs = malloc(((size_t)g->edges + 1) * sizeof *g->outs);
    g->ins = malloc(((size_t)(length - g->edges) + 1) * sizeof *g->ins);
    return g->all && g->outs && g->ins ? MPI_SUCCESS : no_memory("a graph");
}

/* Returns whether the sources and the destinations list the same edges; then G->outs has the
 * edges. */
static bool match_ends(gathered *g, int ranks) {
    int outs = 0, ins = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const int *one = g->all + g->places[rank], in = g->degrees[2 * rank];
        for (int i = 0; i < g->lengths[rank]; i++) {
            if (i < in)
                g->ins[ins++] = (coll_edge){.source = one[i], .destination = rank, .in = i};
            else
                g->outs[outs++] = (coll_edge){.source = rank, .destination = one[i], .out = i - in};
        }
    }
    return outs == ins && join_lists(g->outs, g->ins, outs);
}

/* Gathers the neighbours of all ranks in G. Collective. */
static int gather_lists(coll_comm *comm, const neighbors *own, gathered *g) {
    const int degrees[] = {own->in, own->out};
    g->degrees = malloc(2 * (size_t)comm->ranks * sizeof *g->degrees);
    int code = coll_agree(comm, g->degrees ? MPI_SUCCESS : no_memory("a graph"));
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(degrees, 2, MPI_INT, g->degrees, 2, MPI_INT, comm->private);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_agree(comm, allocate_lists(g, comm->ranks));
    return code == MPI_SUCCESS ? PMPI_Allgatherv(own->sources, own->in + own->out, MPI_INT, g->all,
                                                 g->lengths, g->places, MPI_INT, comm->private)
                               : code;
}

/* Makes the graph of a graph or distributed graph topology. Makes none if the ranks disagree about
 * an edge; its collectives are then left to the MPI library. Collective. */
static int make_gathered(coll_comm *comm, const coll_topo *topo, coll_graph **made) {
    neighbors own = {.sources = NULL};
    gathered g = {.edges = 0};
    int code = coll_agree(comm, find_neighbors(comm->user, &own));
    if (code == MPI_SUCCESS)
        code = gather_lists(comm, &own, &g);
    if (code == MPI_SUCCESS && match_ends(&g, comm->ranks)) {
        coll_graph *graph = make_graph(g.outs, g.edges, topo, own.in, own.out);
        g.outs = NULL;
        for (int rank = 0; graph && rank < comm->ranks; rank++)
            graph->isolated = graph->isolated || g.lengths[rank] == 0;
        code = coll_agree(comm, graph ? MPI_SUCCESS : no_memory("a graph"));
        if (code == MPI_SUCCESS)
            *made = graph;
        else
            free_graph(graph);
    }
    free(own.sources);
    free(g.degrees);
    free(g.lengths);
    free(g.all);
    free(g.outs);
    free(g.ins);
    return code;
}

/* --- The communicator's slot --- */

typedef struct known {
    coll_graph *graph; /* NULL: none, or not made yet */
    bool gathered;     /* all ranks have it, or none has one */
} known;

static known *known_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_graph_key);
}

static int kind_of(const coll_comm *comm) {
    int kind;
    return comm->user != MPI_COMM_NULL && PMPI_Topo_test(comm->user, &kind) == MPI_SUCCESS
               ? kind
               : MPI_UNDEFINED;
}

/* Makes the graph of a Cartesian topology, unless it has been made. Local. */
static int make_local(const coll_comm *comm, const coll_topo *topo) {
    known *own = known_of(comm);
    return own->graph || kind_of(comm) != MPI_CART ? MPI_SUCCESS
                                                   : make_cart(comm, topo, &own->graph);
}

int coll_graph_gather(coll_comm *comm, const coll_topo *topo) {
    known *own = known_of(comm);
    if (own->gathered)
        return MPI_SUCCESS;
    const int kind = kind_of(comm);
    int code = MPI_SUCCESS;
    if (kind == MPI_CART)
        code = coll_agree(comm, make_local(comm, topo));
    else if (kind != MPI_UNDEFINED)
        code = make_gathered(comm, topo, &own->graph);
    own->gathered = code == MPI_SUCCESS;
    return code;
}

int coll_graph_of(coll_comm *comm, const coll_topo *topo, const coll_graph **graph) {
    const int code = make_local(comm, topo);
    *graph = known_of(comm)->graph;
    return code;
}

static void close_known(void *slot) {
    free_graph(((known *)slot)->graph);
}

coll_comm_key coll_graph_key = {.bytes = sizeof(known), .close = close_known};

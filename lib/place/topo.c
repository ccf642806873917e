#include "config.h"

#include "lib/place/topo.h"

#include "lib/base/agree.h"
#include "lib/base/cores.h"
#include "lib/base/error.h"
#include "lib/place/cluster.h"
#include "lib/place/locate.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every rank tells all others. */
typedef struct report {
    int leader;  /* the lowest rank of its node */
    int numa;    /* as the system numbers it */
    int ranks;   /* of COMM on its node */
    int cores;   /* for these */
    int crowded; /* its node is */
    int bytes;   /* of the names that it sends: leaders only */
} report;

enum { REPORT_INTS = sizeof(report) / sizeof(int) };

/* A node's names: host name and Slurm's path of switches down to it ("" for none), NUL after each.
 */
enum { ADDRESS_MOST = 1024, NAMES_MOST = MPI_MAX_PROCESSOR_NAME + ADDRESS_MOST + 2 };

/* What the ranks tell each other, on the way to a topology. */
typedef struct findings {
    MPI_Comm comm;
    int rank;
    report *reports;    /* one a rank */
    int *bytes;         /* of each rank's names */
    int *offsets;       /* where they begin */
    int *leaders;       /* one a node: its lowest rank */
    int *racks, *sites; /* one a node; what is equal is the same, but not yet numbered from 0 */
} findings;

/* An error on all ranks where GOOD is not true on all of them. */
static int agree_on_memory(MPI_Comm comm, bool good) {
    bool all;
    int code = coll_agree_good(comm, good, &all);
    if (code != MPI_SUCCESS || all)
        return code;
    return coll_error(MPI_ERR_NO_MEM, "no memory for the ranks' topology");
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* The processes of the whole job on this node as far as the launcher tells, else 0. */
static int job_processes(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                            "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        int processes = value ? atoi(value) : 0;
        if (processes > 0)
            return processes;
    }
    return 0;
}

/* Fills in what the ranks of this node, NODE, find out together. */
static int weigh_node(MPI_Comm node, report *mine) {
    const coll_cores *cores = coll_cores_get();
    uint64_t together[COLL_CORES_WORDS];
    int own[] = {cores->node, cores->quota, job_processes()}, most[3];
    int code = PMPI_Comm_size(node, &mine->ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(&mine->leader, 1, MPI_INT, 0, node);
    if (code == MPI_SUCCESS)
        code =
            PMPI_Allreduce(cores->bound, together, COLL_CORES_WORDS, MPI_UINT64_T, MPI_BOR, node);
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(own, most, 3, MPI_INT, MPI_MAX, node);
    if (code != MPI_SUCCESS)
        return code;

    int quota = most[1];
    mine->cores = least(coll_cores_count(together), quota);
    if (mine->cores < 1)
        mine->cores = 1;
    mine->crowded = mine->ranks > mine->cores || most[2] > least(most[0], quota);
    return MPI_SUCCESS;
}

/* This rank's report but for its names. */
static int look_around(MPI_Comm comm, int rank, report *mine) {
    MPI_Comm node;
    int code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (code != MPI_SUCCESS)
        return code;
    *mine = (report){.leader = rank, .numa = coll_cores_get()->numa};
    code = weigh_node(node, mine);
    int freed = PMPI_Comm_free(&node);
    return code != MPI_SUCCESS ? code : freed;
}

/*
 * Writes the switches above this node, "s4.s0" of SLURM_TOPOLOGY_ADDR=s4.s0.node7, as many as
 * SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node says; "" without them.
 */
static void slurm_switches(char switches[ADDRESS_MOST]) {
    static const char word[] = "switch.";
    const char *address = getenv("SLURM_TOPOLOGY_ADDR");
    const char *pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    memset(switches, 0, ADDRESS_MOST);
    if (!address || !pattern || strlen(address) >= ADDRESS_MOST)
        return;
    size_t length = 0;
    for (; strncmp(pattern, word, strlen(word)) == 0; pattern += strlen(word)) {
        size_t name = strcspn(address + length, ".");
        if (!address[length + name])
            return;
        length += name + 1;
    }
    if (length)
        memcpy(switches, address, length - 1); /* without the last dot */
}

/* Writes this node's names and returns their bytes. */
static int name_node(char names[NAMES_MOST], int *bytes) {
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    int code = PMPI_Get_processor_name(host, &length);
    if (code != MPI_SUCCESS)
        return code;
    memcpy(names, host, (size_t)length);
    names[length] = '\0';
    slurm_switches(names + length + 1);
    *bytes = length + 1 + (int)strlen(names + length + 1) + 1;
    return MPI_SUCCESS;
}

/* Tells all ranks what each has seen. */
static int exchange_reports(findings *all, int ranks, const report *mine) {
    size_t count = (size_t)ranks;
    all->reports = malloc(count * sizeof *all->reports);
    all->bytes = malloc(count * sizeof *all->bytes);
    all->offsets = malloc(count * sizeof *all->offsets);
    int code = agree_on_memory(all->comm, all->reports && all->bytes && all->offsets);
    if (code != MPI_SUCCESS)
        return code;
    return PMPI_Allgather(mine, REPORT_INTS, MPI_INT, all->reports, REPORT_INTS, MPI_INT,
                          all->comm);
}

/* The first rank on RANK's node with its NUMA domain numbers the domain. */
static int numa_number(const report *reports, const coll_place *places, int rank) {
    int next = 0;
    for (int other = reports[rank].leader; other < rank; other++) {
        if (reports[other].leader != reports[rank].leader)
            continue;
        if (reports[other].numa == reports[rank].numa)
            return places[other].numa;
        if (places[other].numa >= next)
            next = places[other].numa + 1;
    }
    return next;
}

/* Sets the nodes and NUMA domains of TOPO, which has memory for its places. */
static void number_nodes(const report *reports, coll_topo *topo) {
    int next = 0;
    for (int rank = 0; rank < topo->ranks; rank++) {
        int leader = reports[rank].leader;
        int node = leader == rank ? next++ : topo->places[leader].node;
        topo->places[rank] = (coll_place){.node = node};
        topo->places[rank].numa = numa_number(reports, topo->places, rank);
    }
}

/* Sets what TOPO says about the fullness of nodes. */
static void weigh_nodes(const report *reports, coll_topo *topo) {
    topo->cores_per_node = reports[0].cores;
    for (int rank = 0; rank < topo->ranks; rank++) {
        if (reports[rank].ranks > topo->most_ranks_per_node)
            topo->most_ranks_per_node = reports[rank].ranks;
        topo->cores_per_node = least(topo->cores_per_node, reports[rank].cores);
        topo->crowded = topo->crowded || reports[rank].crowded;
    }
}

/* Makes memory for what TOPO and ALL hold of each node, with TOTAL bytes of names. */
static int make_room(findings *all, coll_topo *topo, size_t total) {
    for (int rank = 0; rank < topo->ranks; rank++)
        topo->nodes += all->reports[rank].leader == rank;
    size_t nodes = (size_t)topo->nodes;
    topo->places = malloc((size_t)topo->ranks * sizeof *topo->places);
    topo->hosts = malloc(nodes * sizeof *topo->hosts + total);
    all->leaders = malloc(nodes * sizeof *all->leaders);
    all->racks = calloc(nodes, sizeof *all->racks);
    all->sites = calloc(nodes, sizeof *all->sites);
    return agree_on_memory(all->comm,
                           topo->places && topo->hosts && all->leaders && all->racks && all->sites);
}

/* Makes TOPO's hosts, whose names lie behind the pointers to them. */
static int exchange_names(findings *all, const char *mine, coll_topo *topo) {
    size_t total = 0;
    for (int rank = 0; rank < topo->ranks; rank++) {
        all->offsets[rank] = (int)total;
        all->bytes[rank] = all->reports[rank].bytes;
        total += (size_t)all->bytes[rank];
    }
    int code = make_room(all, topo, total);
    if (code != MPI_SUCCESS)
        return code;
    char *names = (char *)(topo->hosts + topo->nodes);
    code = PMPI_Allgatherv(mine, all->bytes[all->rank], MPI_CHAR, names, all->bytes, all->offsets,
                           MPI_CHAR, all->comm);
    for (int rank = 0, node = 0; rank < topo->ranks; rank++)
        if (all->reports[rank].leader == rank)
            topo->hosts[node++] = names + all->offsets[rank];
    return code;
}

/* Finds the racks and sites of all nodes. */
static int locate_nodes(findings *all, const char *source, coll_topo *topo) {
    for (int rank = 0, node = 0; rank < topo->ranks; rank++)
        if (all->reports[rank].leader == rank)
            all->leaders[node++] = rank;
    return coll_locate(all->comm, source, topo->nodes, topo->hosts, all->leaders, all->racks,
                       all->sites, topo->origin);
}

/* Sets the racks and sites of TOPO. Nodes are in the order of their first ranks. */
static void number_locations(findings *all, coll_topo *topo) {
    topo->racks = coll_cluster_renumber(all->racks, topo->nodes);
    topo->sites = coll_cluster_renumber(all->sites, topo->nodes);
    for (int rank = 0; rank < topo->ranks; rank++) {
        coll_place *place = &topo->places[rank];
        place->rack = all->racks[place->node];
        place->site = all->sites[place->node];
    }
}

/* Finds out all; *FOUND and ALL may be left half made on errors. */
static int discover(const char *source, findings *all, coll_topo *found) {
    report mine;
    char names[NAMES_MOST];
    int code = PMPI_Comm_size(all->comm, &found->ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_rank(all->comm, &all->rank);
    if (code == MPI_SUCCESS)
        code = look_around(all->comm, all->rank, &mine);
    if (code == MPI_SUCCESS && mine.leader == all->rank)
        code = name_node(names, &mine.bytes);
    if (code == MPI_SUCCESS)
        code = exchange_reports(all, found->ranks, &mine);
    if (code == MPI_SUCCESS)
        code = exchange_names(all, names, found);
    if (code != MPI_SUCCESS)
        return code;

    number_nodes(all->reports, found);
    weigh_nodes(all->reports, found);
    code = locate_nodes(all, source, found);
    if (code == MPI_SUCCESS)
        number_locations(all, found);
    return code;
}

int coll_topo_create(MPI_Comm comm, const char *source, coll_topo *topo) {
    findings all = {.comm = comm};
    coll_topo found = {0};
    int code = discover(source, &all, &found);
    free(all.reports);
    free(all.bytes);
    free(all.offsets);
    free(all.leaders);
    free(all.racks);
    free(all.sites);
    if (code == MPI_SUCCESS)
        *topo = found;
    else
        coll_topo_free(&found);
    return code;
}

void coll_topo_free(coll_topo *topo) {
    free(topo->places);
    free(topo->hosts);
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

/*
 * Numbers anew, from 0, what is NUMBER bytes within each place of PART, where it was below BEFORE;
 * returns how many there are. MAP has room for BEFORE numbers.
 */
static int renumber(coll_topo *part, size_t number, int before, int map[]) {
    int next = 0;
    for (int i = 0; i < before; i++)
        map[i] = -1;
    for (int rank = 0; rank < part->ranks; rank++) {
        int *place = (int *)((char *)&part->places[rank] + number);
        if (map[*place] < 0)
            map[*place] = next++;
        *place = map[*place];
    }
    return next;
}

/* COUNTS has room for a number a node. */
static int count_fullest(const coll_topo *topo, int counts[]) {
    int most = 0;
    memset(counts, 0, (size_t)topo->nodes * sizeof *counts);
    for (int rank = 0; rank < topo->ranks; rank++) {
        int here = ++counts[topo->places[rank].node];
        most = here > most ? here : most;
    }
    return most;
}

void coll_topo_number(coll_topo *part, const coll_topo *whole, int scratch[]) {
    part->sites = renumber(part, offsetof(coll_place, site), whole->sites, scratch);
    part->racks = renumber(part, offsetof(coll_place, rack), whole->racks, scratch);
    part->nodes = renumber(part, offsetof(coll_place, node), whole->nodes, scratch);
    part->most_ranks_per_node = count_fullest(part, scratch);
}

static size_t name_bytes(const char *host) {
    return strlen(host) + 1;
}

/* Gives PART, of whose ranks RANKS are those of WHOLE, host names of its own. */
static bool copy_hosts(const coll_topo *whole, const int ranks[], coll_topo *part) {
    size_t bytes = (size_t)part->nodes * sizeof *part->hosts;
    int node = 0;
    for (int i = 0; i < part->ranks; i++)
        if (part->places[i].node == node) {
            bytes += name_bytes(whole->hosts[whole->places[ranks[i]].node]);
            node++;
        }
    part->hosts = malloc(bytes);
    char *next = (char *)(part->hosts + part->nodes);
    node = 0;
    for (int i = 0; i < part->ranks && part->hosts; i++)
        if (part->places[i].node == node) {
            const char *host = whole->hosts[whole->places[ranks[i]].node];
            part->hosts[node++] = memcpy(next, host, name_bytes(host));
            next += name_bytes(host);
        }
    return part->hosts;
}

int coll_topo_part(const coll_topo *whole, int count, const int ranks[], coll_topo *part) {
    coll_topo made = {
        .ranks = count, .cores_per_node = whole->cores_per_node, .crowded = whole->crowded};
    int *scratch = malloc((size_t)whole->nodes * sizeof *scratch);
    made.places = malloc((size_t)count * sizeof *made.places);
    bool good = scratch && made.places;
    if (good) {
        for (int i = 0; i < count; i++)
            made.places[i] = whole->places[ranks[i]];
        coll_topo_number(&made, whole, scratch);
        strcpy(made.origin, whole->origin);
        good = !whole->hosts || copy_hosts(whole, ranks, &made);
    }
    free(scratch);
    if (good)
        *part = made;
    else
        coll_topo_free(&made);
    return good ? MPI_SUCCESS
                : coll_error(MPI_ERR_NO_MEM, "no memory for the places of %d ranks", count);
}

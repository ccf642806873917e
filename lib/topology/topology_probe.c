/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topology_probe.h"

#include "lib/base/members.h"
#include "lib/topology/addresses.h"
#include "lib/topology/tcp_rtt.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Most seconds that a node sleeps between two tests for its turn. */
static const double LONGEST_SLEEP = 4e-3;

/* Values that replace a time: the target did not answer; the target was not measured. */
enum { UNREACHED = -1, TOO_LATE = -2 };

/* Rows are received from any source, so the outcome has another tag. */
enum { OUTCOME = COLL_TAG_COLLECTIVE, ROWS };

typedef struct target {
    struct in_addr address;
    int port;
} target;

/*
 * A message between rank 0 and a pivot, the node that measures. Rank 0 sends a row of targets; the
 * pivot returns the nanoseconds of each round trip, or UNREACHED or TOO_LATE. At the end all nodes
 * pass on an empty row.
 */
typedef struct row {
    int count;
    union {
        target target;
        int nanoseconds;
    } of[];
} row;

typedef struct probe {
    coll_comm *comm;
    coll_wait wait;
    coll_members leaders; /* one of each node */
    int nodes;
    coll_topology_probe_limits limits;
    double start; /* time of PMPI_Wtime */
    row *row;     /* has room for all nodes */

    /* On rank 0: */
    coll_addresses *addresses; /* of each node */
    int *racks, *sites;
    int code; /* MPI's error of a row */

    coll_topology_probe_report report;
} probe;

/* --- a row --- */

static size_t row_bytes(int count) {
    return offsetof(row, of) + (size_t)count * sizeof((row *)NULL)->of[0];
}

static int send_row(probe *s, int to) {
    MPI_Request request;
    int code =
        coll_isend(s->comm, s->row, (int)row_bytes(s->row->count), MPI_BYTE, to, ROWS, &request);
    return code == MPI_SUCCESS ? coll_wait_all(&s->wait, 1, &request, NULL) : code;
}

/* Receives a row; sleeps while it waits. */
static int receive_row(probe *s, int from) {
    MPI_Request request;
    int code =
        coll_irecv(s->comm, s->row, (int)row_bytes(s->nodes), MPI_BYTE, from, ROWS, &request);
    return code == MPI_SUCCESS ? coll_wait_all(&s->wait, 1, &request, NULL) : code;
}

static bool is_late(const probe *s) {
    return PMPI_Wtime() - s->start > s->limits.longest;
}

/*
 * Measures COUNT targets of the row, beginning with FIRST, and replaces them by their times.
 * Returns false if a target is silent.
 */
static bool measure_some(probe *s, int first, int count) {
    struct sockaddr_in to[COLL_TCP_RTTS] = {{.sin_family = AF_INET}};
    double seconds[COLL_TCP_RTTS];
    bool reached = true;
    for (int i = 0; i < count; i++) {
        const target *at = &s->row->of[first + i].target;
        to[i] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_addr = at->address, .sin_port = htons((uint16_t)at->port)};
    }
    coll_tcp_rtts(count, to, s->limits.timeout, seconds);
    for (int i = 0; i < count; i++) {
        reached = reached && seconds[i] >= 0;
        s->row->of[first + i].nanoseconds = seconds[i] < 0   ? UNREACHED
                                            : seconds[i] < 2 ? 1 + (int)(1e9 * seconds[i])
                                                             : INT_MAX;
    }
    return reached;
}

/* Measures the row until a target is silent or the time is over. */
static void measure_row(probe *s) {
    bool reached = true;
    for (int first = 0; first < s->row->count; first += COLL_TCP_RTTS) {
        int left = s->row->count - first, count = left < COLL_TCP_RTTS ? left : COLL_TCP_RTTS;
        if (reached && !is_late(s))
            reached = measure_some(s, first, count);
        else
            for (int i = 0; i < count; i++)
                s->row->of[first + i].nanoseconds = TOO_LATE;
    }
}

/* Measures rows for rank 0 until an empty one comes from another node, and passes that one on. */
static int serve_as_pivot(probe *s) {
    for (;;) {
        int code = receive_row(s, MPI_ANY_SOURCE);
        if (code != MPI_SUCCESS)
            return code;
        if (s->row->count == 0)
            return coll_members_pass_on(&s->leaders, s->row, row_bytes(0));
        measure_row(s);
        code = send_row(s, 0);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* --- on rank 0 --- */

/* Lets node PIVOT measure the row. */
static int measure_at(probe *s, int pivot) {
    if (pivot == 0) {
        measure_row(s);
        return MPI_SUCCESS;
    }
    const int leader = s->leaders.ranks[pivot];
    int code = send_row(s, leader);
    return code == MPI_SUCCESS ? receive_row(s, leader) : code;
}

/* Returns the seconds of a pair, or sets s->report.end if there are none. */
static double read_time(probe *s, int pivot, int node, int nanoseconds) {
    if (nanoseconds == TOO_LATE)
        s->report.end = COLL_TOPOLOGY_PROBE_LATE;
    if (nanoseconds == UNREACHED) {
        s->report.end = COLL_TOPOLOGY_PROBE_SILENT;
        s->report.missing[0] = pivot;
        s->report.missing[1] = node;
    }
    return 1e-9 * nanoseconds;
}

/* Measures a row; a coll_measure_row. */
static bool measure_for_racks(void *context, int pivot, int count, const int targets[],
                              double seconds[]) {
    probe *s = context;
    if (is_late(s))
        s->report.end = COLL_TOPOLOGY_PROBE_LATE;
    if (s->report.end != COLL_TOPOLOGY_PROBE_DONE)
        return false;
    s->row->count = count;
    for (int i = 0; i < count; i++) {
        const coll_addresses *to = &s->addresses[targets[i]];
        s->row->of[i].target = (target){coll_addresses_choose(&s->addresses[pivot], to), to->port};
    }
    s->code = measure_at(s, pivot);
    if (s->code != MPI_SUCCESS)
        return false;
    for (int i = 0; i < count && s->report.end != COLL_TOPOLOGY_PROBE_SILENT; i++)
        seconds[i] = read_time(s, pivot, targets[i], s->row->of[i].nanoseconds);
    s->report.pairs += count;
    return s->report.end == COLL_TOPOLOGY_PROBE_DONE;
}

/* Returns whether all nodes can be reached; false also if out of memory. */
static bool check_addresses(probe *s) {
    bool all = true;
    if (!coll_addresses_keep_unique(s->nodes, s->addresses))
        return false;
    for (int node = 0; node < s->nodes && s->nodes > 1; node++)
        all = all && s->addresses[node].port > 0 && s->addresses[node].count > 0;
    return all;
}

/* On rank 0: finds the racks, then passes on an empty row, after which the nodes stop measuring. */
static int find_on_root(probe *s) {
    bool able = check_addresses(s);
    if (able)
        able =
            coll_find_racks(s->nodes, measure_for_racks, s, s->racks, s->sites, &s->report.found) ||
            s->report.end != COLL_TOPOLOGY_PROBE_DONE;
    if (!able)
        s->report.end = COLL_TOPOLOGY_PROBE_UNABLE;
    s->row->count = 0;
    /* after an error, too: the other leaders wait for an empty row */
    int code = coll_members_pass_on(&s->leaders, s->row, row_bytes(0));
    s->code = s->code == MPI_SUCCESS ? code : s->code;
    if (s->code != MPI_SUCCESS)
        s->report.end = COLL_TOPOLOGY_PROBE_UNABLE;
    return s->code;
}

/* --- on all ranks --- */

/* Returns the node that this rank measures for; -1: none. */
static int led_node(const probe *s) {
    int node = s->nodes - 1;
    while (node >= 0 && s->leaders.ranks[node] != s->comm->rank)
        node--;
    return node;
}

/* Broadcasts rank 0's outcome; the other ranks sleep until then. */
static int broadcast_outcome(probe *s) {
    coll_members all = coll_members_all(s->comm, OUTCOME);
    int told[] = {(int)s->report.end, s->report.missing[0], s->report.missing[1]};
    all.wait = &s->wait;
    int code = coll_members_bcast(&all, told, sizeof told);
    s->report.end = (coll_topology_probe_end)told[0];
    s->report.missing[0] = told[1];
    s->report.missing[1] = told[2];
    return code;
}

/* Does the part of a node's leader. */
static int measure_as_leader(probe *s) {
    coll_addresses own = {.port = 0};
    coll_addresses_find(&own);
    const int reserved = coll_tcp_rtt_reserve(&own.port);
    int code = coll_members_gather(&s->leaders, &own, sizeof own,
                                   s->leaders.own == 0 ? s->addresses : NULL, s->addresses);
    s->start = PMPI_Wtime();
    if (code == MPI_SUCCESS)
        code = s->leaders.own == 0 ? find_on_root(s) : serve_as_pivot(s);
    if (reserved >= 0)
        close(reserved);
    return code;
}

size_t coll_topology_probe_bytes(int nodes) {
    return row_bytes(nodes) + (size_t)nodes * sizeof(coll_addresses);
}

int coll_topology_probe(coll_comm *comm, int nodes, const int leaders[],
                        coll_topology_probe_limits limits, void *memory, int racks[], int sites[],
                        coll_topology_probe_report *report) {
    probe s = {.comm = comm,
               .wait = {.manner = COLL_WAIT_POLITE, .longest_sleep = LONGEST_SLEEP},
               .nodes = nodes,
               .limits = limits,
               .start = PMPI_Wtime(),
               .row = memory,
               .addresses = (coll_addresses *)((char *)memory + row_bytes(nodes)),
               .racks = racks,
               .sites = sites};
    s.leaders = (coll_members){
        .comm = comm, .wait = &s.wait, .ranks = leaders, .count = nodes, .tag = ROWS};
    s.leaders.own = led_node(&s);
    int code = s.leaders.own >= 0 ? measure_as_leader(&s) : MPI_SUCCESS;
    /* After an error, too: the other ranks take part. */
    int told = broadcast_outcome(&s);
    code = code == MPI_SUCCESS ? told : code;
    s.report.seconds = PMPI_Wtime() - s.start;
    if (code == MPI_SUCCESS)
        *report = s.report;
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topology_probe.h"

#include "lib/base/wait.h"
#include "lib/topology/addresses.h"
#include "lib/topology/tcp_rtt.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Most seconds that a node sleeps between two tests for its turn. */
static const double LONGEST_SLEEP = 4e-3;

/*
 * The tag of messages, and the values that replace a time: the target did not answer; the target
 * was not measured.
 */
enum { TAG = 1, UNREACHED = -1, TOO_LATE = -2 };

typedef struct target {
    struct in_addr address;
    int port;
} target;

/*
 * A message between rank 0 and a pivot, the node that measures. Rank 0 sends a row of targets
 * (none: the pivot is done); the pivot returns the nanoseconds of each round trip, or UNREACHED or
 * TOO_LATE.
 */
typedef struct row {
    int count;
    union {
        target target;
        int nanoseconds;
    } of[];
} row;

typedef struct probe {
    MPI_Comm comm;
    coll_wait wait;
    int rank, nodes;
    const int *leaders;
    coll_topology_probe_limits limits;
    double start; /* time of PMPI_Wtime */
    row *row;     /* has room for all nodes */

    /* On rank 0: */
    coll_addresses *addresses; /* of each rank at first, later of each node */
    int *racks, *sites;
    int code; /* MPI's error of a row */

    coll_topology_probe_report report;
} probe;

/* --- a row --- */

static size_t row_bytes(int count) {
    return offsetof(row, of) + (size_t)count * sizeof((row *)NULL)->of[0];
}

static int send_row(const probe *s, int to) {
    return PMPI_Send(s->row, (int)row_bytes(s->row->count), MPI_BYTE, to, TAG, s->comm);
}

/* Receives a row; sleeps while it waits. */
static int receive_row(probe *s, int from) {
    MPI_Request request;
    int code = PMPI_Irecv(s->row, (int)row_bytes(s->nodes), MPI_BYTE, from, TAG, s->comm, &request);
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

/* Measures rows for rank 0 until it sends an empty one. */
static int serve_as_pivot(probe *s) {
    for (;;) {
        int code = receive_row(s, 0);
        if (code != MPI_SUCCESS || s->row->count == 0)
            return code;
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
    int code = send_row(s, s->leaders[pivot]);
    return code == MPI_SUCCESS ? receive_row(s, s->leaders[pivot]) : code;
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

/*
 * Reduces the addresses of all ranks to those of the leaders. Returns false if a node cannot be
 * reached, or if out of memory.
 */
static bool select_leaders(probe *s) {
    bool all = true;
    for (int node = 0; node < s->nodes; node++)
        s->addresses[node] = s->addresses[s->leaders[node]];
    if (!coll_addresses_keep_unique(s->nodes, s->addresses))
        return false;
    for (int node = 0; node < s->nodes && s->nodes > 1; node++)
        all = all && s->addresses[node].port > 0 && s->addresses[node].count > 0;
    return all;
}

/* On rank 0: finds the racks, then sends each other pivot an empty row, after which that pivot
 * stops measuring. */
static int find_on_root(probe *s) {
    bool able = select_leaders(s);
    if (able)
        able =
            coll_find_racks(s->nodes, measure_for_racks, s, s->racks, s->sites, &s->report.found) ||
            s->report.end != COLL_TOPOLOGY_PROBE_DONE;
    if (!able)
        s->report.end = COLL_TOPOLOGY_PROBE_UNABLE;
    s->row->count = 0;
    /* after an error, too: the other leaders wait for an empty row */
    for (int node = 1; node < s->nodes; node++) {
        int code = send_row(s, s->leaders[node]);
        s->code = s->code == MPI_SUCCESS ? code : s->code;
    }
    if (s->code != MPI_SUCCESS)
        s->report.end = COLL_TOPOLOGY_PROBE_UNABLE;
    return s->code;
}

/* --- on all ranks --- */

static bool is_leader(const probe *s) {
    for (int node = 0; node < s->nodes; node++)
        if (s->leaders[node] == s->rank)
            return true;
    return false;
}

/* Broadcasts rank 0's outcome; the other ranks sleep until then. */
static int broadcast_outcome(probe *s) {
    MPI_Request request;
    int told[] = {(int)s->report.end, s->report.missing[0], s->report.missing[1]};
    int code = PMPI_Ibcast(told, 3, MPI_INT, 0, s->comm, &request);
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&s->wait, 1, &request, NULL);
    s->report.end = (coll_topology_probe_end)told[0];
    s->report.missing[0] = told[1];
    s->report.missing[1] = told[2];
    return code;
}

/* Gathers OWN, the port and addresses of each rank, on rank 0. */
static int gather_addresses(probe *s, const coll_addresses *own) {
    MPI_Request request;
    int code = PMPI_Igather(own, sizeof *own, MPI_BYTE, s->addresses, sizeof *own, MPI_BYTE, 0,
                            s->comm, &request);
    return code == MPI_SUCCESS ? coll_wait_all(&s->wait, 1, &request, NULL) : code;
}

size_t coll_topology_probe_bytes(int nodes, int ranks) {
    return row_bytes(nodes) + (size_t)ranks * sizeof(coll_addresses);
}

int coll_topology_probe(MPI_Comm comm, int nodes, const int leaders[],
                        coll_topology_probe_limits limits, void *memory, int racks[], int sites[],
                        coll_topology_probe_report *report) {
    probe s = {.comm = comm,
               .wait = {.manner = COLL_WAIT_POLITE, .longest_sleep = LONGEST_SLEEP},
               .nodes = nodes,
               .leaders = leaders,
               .limits = limits,
               .row = memory,
               .addresses = (coll_addresses *)((char *)memory + row_bytes(nodes)),
               .racks = racks,
               .sites = sites};
    coll_addresses own = {.port = 0};
    int code = PMPI_Comm_rank(comm, &s.rank);
    int reserved = -1;
    if (code == MPI_SUCCESS && is_leader(&s)) {
        coll_addresses_find(&own);
        reserved = coll_tcp_rtt_reserve(&own.port);
    }
    if (code == MPI_SUCCESS)
        code = gather_addresses(&s, &own);
    s.start = PMPI_Wtime();
    if (code == MPI_SUCCESS) {
        if (s.rank == 0)
            code = find_on_root(&s);
        else if (is_leader(&s))
            code = serve_as_pivot(&s);
        int told = broadcast_outcome(&s); /* after an error, too: the other ranks take part */
        code = code == MPI_SUCCESS ? told : code;
    }
    s.report.seconds = PMPI_Wtime() - s.start;
    if (code == MPI_SUCCESS)
        *report = s.report;
    if (reserved >= 0)
        close(reserved);
    return code;
}

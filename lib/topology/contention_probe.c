/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/contention_probe.h"

#include "lib/base/members.h"
#include "lib/topology/contention.h"

#include <stdlib.h>
#include <string.h>

/*
 * Each host sends FEWEST to MOST messages of PIECE bytes in a round: so many that they usually take
 * at least LONG_ENOUGH seconds, and as long as LATENCIES latencies, in which TCP is slow at first.
 * No round begins after LONGEST seconds.
 */
enum { PIECE = 8 << 10, FEWEST = 8, MOST = 256, LATENCIES = 4 };
static const double LONG_ENOUGH = 10e-3, LONGEST = 6;

/* Data is received from any source, so orders and times have another tag. */
enum { DATA = COLL_TAG_COLLECTIVE, CONTROL };

/* Longest sleep of a receiver: sleeps make times uncertain. */
static const double LONGEST_SLEEP = 100e-6;

/* What rank 0 tells each host's first rank before a round. */
typedef struct order {
    int to;       /* the rank to send to, or MPI_PROC_NULL: there is no further round */
    int messages; /* how many, also from another host */
} order;

typedef struct probe {
    coll_comm *comm;
    coll_wait wait;
    coll_members hosts; /* the first rank of each host */
    char *out, *in;     /* PIECE bytes each */
    order *orders;      /* of all hosts */
    double *seconds, shortest;
    int *first;  /* the first rank of each host */
    int *result; /* whether racks were found, and the rack of each host */

    /* on rank 0 */
    coll_contention *search; /* NULL: out of memory */
    double *times;           /* of all hosts */
} probe;

/* --- One round --- */

/* Receives a message. Sets *AFTER to the time of the test that found it, and *BEFORE to the time of
 * the test before, unless the first test found it. */
static int receive_message(probe *p, double *before, double *after) {
    MPI_Request request;
    int arrived = 0;
    int code = coll_irecv(p->comm, p->in, PIECE, MPI_BYTE, MPI_ANY_SOURCE, DATA, &request);
    coll_backoff backoff = coll_backoff_begin(&p->wait);
    while (code == MPI_SUCCESS) {
        code = PMPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
        *after = PMPI_Wtime();
        if (arrived || code != MPI_SUCCESS)
            return code;
        *before = *after;
        if (coll_backoff_expired(&backoff, p->wait.timeout))
            return coll_wait_report(p->wait.timeout, 1, &request, NULL);
        coll_backoff_relax(&backoff);
    }
    return code;
}

/*
 * Sends and receives as ordered. Sets *p->seconds to the time from the first message received to
 * the last one, which leaves out the time in which other hosts begin. It is negative if the first
 * one may have come so much earlier that this is only a lower bound.
 */
static int exchange(probe *p) {
    const double uncertain = 0.15;
    const order *given = &p->orders[p->hosts.own];
    const int count = given->messages;
    MPI_Request requests[MOST];
    double before = PMPI_Wtime(), first = before, last, unused;
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = coll_isend(p->comm, p->out, PIECE, MPI_BYTE, given->to, DATA, &requests[i]);
    if (code == MPI_SUCCESS)
        code = receive_message(p, &before, &first);
    last = first;
    for (int i = 1; i < count && code == MPI_SUCCESS; i++)
        code = receive_message(p, &unused, &last);
    *p->seconds = first - before <= uncertain * (last - first) ? last - first : first - last;
    return code == MPI_SUCCESS ? coll_wait_all(&p->wait, count, requests, NULL) : code;
}

/* Broadcasts all orders. */
static int pass_orders(probe *p) {
    return coll_members_bcast(&p->hosts, p->orders, (size_t)p->hosts.count * sizeof *p->orders);
}

/* Gathers the times on rank 0. */
static int gather_times(probe *p) {
    return coll_members_gather(&p->hosts, p->seconds, sizeof *p->seconds,
                               p->hosts.own == 0 ? p->times : NULL, p->times);
}

/* --- Rank 0 --- */

/* Sends the orders for the next round, or for none, to all hosts. */
static int send_orders(probe *p, bool again, int messages) {
    const int *to = again ? coll_contention_next(p->search) : NULL;
    for (int host = 0; host < p->hosts.count; host++)
        p->orders[host] = (order){again ? p->first[to[host]] : MPI_PROC_NULL, messages};
    return pass_orders(p);
}

/* Returns whether at least three quarters of the known times are long enough. */
static bool are_long(const probe *p) {
    int known = 0, enough = 0;
    for (int host = 0; host < p->hosts.count; host++) {
        known += p->times[host] > 0;
        enough += p->times[host] >= p->shortest;
    }
    return known > 0 && 4 * enough >= 3 * known;
}

static int direct(probe *p, int racks[], bool *found) {
    const double end = PMPI_Wtime() + LONGEST;
    coll_contention_result result = p->search ? COLL_CONTENTION_UNKNOWN : COLL_CONTENTION_NONE;
    int messages = FEWEST, code = MPI_SUCCESS;
    bool enough = false;
    while (code == MPI_SUCCESS) {
        const bool again = result == COLL_CONTENTION_UNKNOWN && PMPI_Wtime() < end;
        code = send_orders(p, again, messages);
        if (!again)
            break;
        if (code == MPI_SUCCESS)
            code = exchange(p);
        if (code == MPI_SUCCESS)
            code = gather_times(p);
        enough = enough || messages == MOST || are_long(p);
        if (!enough)
            messages *= 2;
        else if (code == MPI_SUCCESS)
            result = coll_contention_add(p->search, p->times);
    }
    *found = code == MPI_SUCCESS && result == COLL_CONTENTION_FOUND;
    if (*found)
        coll_contention_racks(p->search, racks);
    return code;
}

/* --- Other ranks --- */

static int follow(probe *p) {
    for (;;) {
        int code = pass_orders(p);
        if (code != MPI_SUCCESS || p->orders[p->hosts.own].to == MPI_PROC_NULL)
            return code;
        code = exchange(p);
        if (code == MPI_SUCCESS)
            code = gather_times(p);
        if (code != MPI_SUCCESS)
            return code;
    }
}

static int broadcast_result(probe *p, int racks[], bool *found) {
    int *result = p->result;
    const size_t hosts = (size_t)p->hosts.count;
    result[0] = *found;
    memcpy(result + 1, racks, hosts * sizeof *racks);
    int code = coll_comm_publish(p->comm, result, (1 + hosts) * sizeof *result);
    if (code == MPI_SUCCESS) {
        *found = result[0];
        memcpy(racks, result + 1, hosts * sizeof *racks);
    }
    return code;
}

size_t coll_contention_probe_bytes(int nodes) {
    const size_t hosts = (size_t)nodes;
    return 2 * PIECE + (hosts + 1) * sizeof(double) + hosts * sizeof(order) +
           (2 * hosts + 1) * sizeof(int);
}

int coll_contention_probe(coll_comm *comm, const coll_topo *topo, double latency, void *memory,
                          int racks[], bool *found) {
    const int hosts = topo->nodes;
    *found = false;
    if (hosts < 3 || hosts > COLL_CONTENTION_HOSTS)
        return MPI_SUCCESS;
    probe p = {.comm = comm,
               .wait = comm->wait,
               .out = memset(memory, 0, coll_contention_probe_bytes(hosts)),
               .in = (char *)memory + PIECE,
               .shortest = LONG_ENOUGH + LATENCIES * latency};
    p.times = (double *)(p.in + PIECE);
    p.seconds = p.times + hosts;
    p.orders = (order *)(p.seconds + 1);
    p.first = (int *)(p.orders + hosts);
    p.result = p.first + hosts;
    coll_topo_first_ranks(topo, p.first);
    p.hosts = (coll_members){.comm = comm,
                             .wait = &p.wait,
                             .ranks = p.first,
                             .count = hosts,
                             .own = topo->places[comm->rank].node,
                             .tag = CONTROL};
    p.wait.longest_sleep = LONGEST_SLEEP;
    int code = MPI_SUCCESS;
    if (comm->rank == 0) {
        p.search = coll_contention_new(hosts);
        code = direct(&p, racks, found);
        free(p.search);
    } else if (p.first[p.hosts.own] == comm->rank)
        code = follow(&p);
    if (code == MPI_SUCCESS)
        code = broadcast_result(&p, racks, found);
    return code == MPI_SUCCESS ? code : (comm->broken = code);
}

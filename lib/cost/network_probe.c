/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/network_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A host sends FEWEST to MOST messages of PIECE bytes to measure a link. Only the second half
 * counts: switches let a burst pass faster, and TCP begins slowly. To measure an uplink, the hosts
 * of a rack begin with as many bytes as one host does for a link: the switch can buffer them.
 */
enum { PIECE = 8 << 10, PIECE_LEAST = 1 << 10, FEWEST = 8, MOST = 128, GROWTH = 4 };

/* A measurement is repeated with more bytes until the second half takes ENOUGH seconds, and as long
 * as LATENCIES messages without data; one shorter than NOISY is made three times. */
static const double ENOUGH = 4e-3, NOISY = 30e-3;
enum { LATENCIES = 8 };

/* Longest sleep of a receiver, which makes times uncertain. */
static const double LONGEST_SLEEP = 100e-6;

typedef struct probe {
    coll_comm *comm;
    coll_wait wait;
    char *out, *in; /* PIECE bytes each */
    double *values; /* on rank 0: of all ranks */
    double *usual;  /* their quartile */
    double enough;  /* s */
} probe;

/* One host's part in an exchange. */
typedef struct partners {
    int to;      /* the rank to send to, or MPI_PROC_NULL */
    int senders; /* how many ranks send to this one */
    int streams; /* how many ranks share the bottleneck of what this one receives */
} partners;

/* What one host has measured. */
typedef struct measurement {
    double seconds; /* of the second half; 0 if nothing was received */
    double rate;    /* bytes/s of all streams of the bottleneck; 0 likewise */
} measurement;

/* --- Who sends to whom --- */

/* Returns the number of hosts in RACK; sets *NTH, if not NULL, to the place of NODE among them. */
static int count_hosts(const coll_topo *topo, int rack, int node, int *nth) {
    int hosts = 0;
    for (int rank = 0, seen = 0; rank < topo->ranks; rank++) {
        const coll_place *place = &topo->places[rank];
        if (place->node < seen)
            continue;
        seen++;
        if (place->rack == rack && place->node == node && nth)
            *nth = hosts;
        hosts += place->rack == rack;
    }
    return hosts;
}

/* Returns the first rank of the NTH host of RACK. */
static int rank_of_host(const coll_topo *topo, int rack, int nth) {
    int rank = 0;
    for (int seen = 0;; rank++) {
        const coll_place *place = &topo->places[rank];
        if (place->node < seen)
            continue;
        seen++;
        if (place->rack == rack && nth-- == 0)
            return rank;
    }
}

static bool speaks_for_host(const coll_topo *topo, int rank) {
    for (int other = 0; other < rank; other++)
        if (topo->places[other].node == topo->places[rank].node)
            return false;
    return true;
}

static const partners nobody = {.to = MPI_PROC_NULL};

/* Returns the partners of RANK if each host sends to the host that is SHIFT further in its rack. */
static partners partners_in_rack(const coll_topo *topo, int rank, int shift) {
    const coll_place *place = &topo->places[rank];
    int nth = 0, hosts = count_hosts(topo, place->rack, place->node, &nth);
    if (hosts < 2 || !speaks_for_host(topo, rank))
        return nobody;
    return (partners){rank_of_host(topo, place->rack, (nth + shift) % hosts), 1, 1};
}

/* Returns the partners of RANK if each rack sends to the next one. Hosts of a small rack receive
 * from several of a large one. */
static partners partners_across(const coll_topo *topo, int rank) {
    const coll_place *place = &topo->places[rank];
    const int racks = topo->racks, next = (place->rack + 1) % racks,
              before = (place->rack + racks - 1) % racks;
    int nth = 0, hosts = count_hosts(topo, place->rack, place->node, &nth);
    if (!speaks_for_host(topo, rank))
        return nobody;
    const int sending = count_hosts(topo, before, 0, NULL),
              senders = sending / hosts + (nth < sending % hosts);
    return (partners){rank_of_host(topo, next, nth % count_hosts(topo, next, 0, NULL)), senders,
                      sending};
}

/* --- Measuring --- */

static int start_sends(const probe *p, int to, int count, int bytes, MPI_Request requests[]) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = coll_isend(p->comm, p->out, bytes, MPI_BYTE, to, COLL_TAG_COLLECTIVE, &requests[i]);
    return code;
}

/* Receives COUNT messages and sets the seconds from the middle one to the last. */
static int receive_all(probe *p, int count, int bytes, double *seconds) {
    double middle = 0;
    int index, code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        MPI_Request request;
        code = coll_irecv(p->comm, p->in, bytes, MPI_BYTE, MPI_ANY_SOURCE, COLL_TAG_COLLECTIVE,
                          &request);
        if (code == MPI_SUCCESS)
            code = coll_wait_any(&p->wait, 1, &request, NULL, &index);
        if (i == count / 2 - 1)
            middle = PMPI_Wtime();
    }
    *seconds = PMPI_Wtime() - middle;
    return code;
}

/* Sends COUNT messages of BYTES to WHOM's partner, and measures what arrives. */
static int exchange(probe *p, const partners *whom, int count, int bytes, measurement *found) {
    MPI_Request requests[MOST];
    const int received = count * whom->senders;
    const int sent = whom->to == MPI_PROC_NULL ? 0 : count;
    double seconds = 0;
    int code = start_sends(p, whom->to, sent, bytes, requests);
    if (code == MPI_SUCCESS && received > 0)
        code = receive_all(p, received, bytes, &seconds);
    if (code == MPI_SUCCESS && sent > 0)
        code = coll_wait_all(&p->wait, sent, requests, NULL);
    if (code != MPI_SUCCESS)
        return p->comm->broken = code;
    *found = (measurement){.rate = 0};
    if (received > 0) {
        const double least = 1e-6, each = (received - received / 2) / (fmax(seconds, least));
        *found = (measurement){seconds, each * bytes / whom->senders * whom->streams};
    }
    return MPI_SUCCESS;
}

static int ascending(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Returns the lower quartile of COUNT VALUES, without those that are 0; sorts them. */
static double find_quartile(int count, double values[]) {
    int none = 0;
    qsort(values, (size_t)count, sizeof *values, ascending);
    while (none < count - 1 && values[none] <= 0)
        none++;
    return values[none + (count - 1 - none) / 4];
}

/*
 * Sets *USUAL to the lower quartile of what all hosts have measured, of which this is OWN; 0:
 * nothing. Of hosts that share an uplink some finish early and leave it to the others, so that
 * their median is above its rate. No rank leaves before all have entered.
 */
static int share_quartile(probe *p, double own, double *usual) {
    MPI_Request request;
    MPI_Comm comm = p->comm->private;
    int index,
        code = PMPI_Igather(&own, 1, MPI_DOUBLE, p->values, 1, MPI_DOUBLE, 0, comm, &request);
    if (code == MPI_SUCCESS)
        code = coll_wait_any(&p->wait, 1, &request, NULL, &index);
    if (code == MPI_SUCCESS && p->comm->rank == 0)
        *p->usual = find_quartile(p->comm->ranks, p->values);
    if (code == MPI_SUCCESS)
        code = PMPI_Ibcast(p->usual, 1, MPI_DOUBLE, 0, comm, &request);
    if (code == MPI_SUCCESS)
        code = coll_wait_any(&p->wait, 1, &request, NULL, &index);
    *usual = *p->usual;
    return code == MPI_SUCCESS ? code : (p->comm->broken = code);
}

/* Returns the median of three numbers. */
static double middle_of(double a, double b, double c) {
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * Sets *RATE to the usual rate of all hosts' bottlenecks. The first exchange has messages of
 * BYTES. Of short exchanges each host takes the median of three: it may be late in receiving or in
 * sending while other processes start.
 */
static int measure(probe *p, const partners *whom, int bytes, double *rate) {
    measurement own, again[2];
    double usual = 0;
    int code = MPI_SUCCESS, count = FEWEST / GROWTH;
    while (code == MPI_SUCCESS && usual < p->enough && count < MOST) {
        count *= GROWTH;
        code = exchange(p, whom, count, bytes, &own);
        if (code == MPI_SUCCESS)
            code = share_quartile(p, own.seconds, &usual);
    }
    const bool noisy = usual < NOISY;
    for (int i = 0; i < 2 && code == MPI_SUCCESS && noisy; i++) {
        code = exchange(p, whom, count, bytes, &again[i]);
        if (code == MPI_SUCCESS)
            code = share_quartile(p, again[i].seconds, &usual);
    }
    if (code == MPI_SUCCESS && noisy)
        own.rate = middle_of(own.rate, again[0].rate, again[1].rate);
    return code == MPI_SUCCESS ? share_quartile(p, own.rate, rate) : code;
}

/* Measures hosts in one rack, or in racks that are not known: each host's share while all send, to
 * near and to far ones, is what matters then. */
static int measure_one_rack(probe *p, const coll_topo *topo, coll_network_rates *rates) {
    const partners next = partners_in_rack(topo, p->comm->rank, 1),
                   far = partners_in_rack(topo, p->comm->rank, topo->nodes / 2);
    double one, other;
    int code = measure(p, &next, PIECE, &one);
    if (code == MPI_SUCCESS)
        code = measure(p, &far, PIECE, &other);
    if (code == MPI_SUCCESS)
        *rates = (coll_network_rates){.link = fmin(one, other)};
    return code;
}

/* Measures hosts in several racks. */
static int measure_racks(probe *p, const coll_topo *topo, coll_network_rates *rates) {
    const int rank = p->comm->rank;
    const partners within = partners_in_rack(topo, rank, 1), across = partners_across(topo, rank);
    int largest = 1;
    double link = 0, uplink;
    for (int rack = 0; rack < topo->racks; rack++)
        largest = (int)fmax(largest, count_hosts(topo, rack, 0, NULL));
    int code = largest > 1 ? measure(p, &within, PIECE, &link) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = measure(p, &across, (int)fmax(PIECE / largest, PIECE_LEAST), &uplink);
    if (code == MPI_SUCCESS)
        *rates = (coll_network_rates){largest > 1 ? link : uplink, topo->racks * uplink};
    return code;
}

int coll_network_probe(coll_comm *comm, const coll_topo *topo, double latency,
                       coll_network_rates *rates) {
    probe p = {.comm = comm, .wait = comm->wait, .enough = ENOUGH + LATENCIES * latency};
    const size_t values_bytes = (size_t)comm->ranks * sizeof *p.values;
    void *room;
    int code = coll_comm_room(comm, 2 * PIECE + sizeof *p.usual + values_bytes, &room);
    if (code != MPI_SUCCESS)
        return code;
    p.out = memset(room, 0, PIECE);
    p.in = p.out + PIECE;
    p.usual = (double *)(p.in + PIECE);
    p.values = p.usual + 1;
    p.wait.longest_sleep = LONGEST_SLEEP;
    code = topo->racks > 1 ? measure_racks(&p, topo, rates) : measure_one_rack(&p, topo, rates);
    coll_comm_leave_room(comm);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/network_probe.h"

#include "lib/base/members.h"
#include "lib/cost/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * An exchange moves FEWEST to MOST times PIECE bytes over each link or uplink, in messages of at
 * most PIECE. The rate is the difference of the bytes of two successive exchanges, divided by the
 * difference of their times, because the first bytes pass a switch as a burst, and TCP begins
 * slowly.
 */
enum { PIECE = 8 << 10, FEWEST = 4, MOST = 256, GROWTH = 4 };

/* Messages with times use TIMES_TAG, since messages with data are received from any source. */
enum { TIMES_TAG = COLL_TAG_COLLECTIVE + 1 };

/*
 * Exchanges grow until the times of two successive exchanges differ by at least ENOUGH seconds. TCP
 * is slow at first: the first exchange of a size may take up to LATENCIES times the latency longer.
 * So if the difference is below NOISY seconds plus these latencies, both sizes are exchanged again,
 * up to REPEATS times each, and the least times count. If these latencies are more than BRIEF, the
 * first time of the larger size does not count. A size is repeated less often if its two least
 * times differ by at most ALIKE times the difference. If the difference is then below half of
 * ENOUGH, exchanges grow further.
 */
static const double ENOUGH = 4e-3, NOISY = 30e-3, BRIEF = 1e-3, ALIKE = 0.1;
enum { LATENCIES = 4, REPEATS = 3 };

static const double MEDIAN = 0.5, UPPER_DECILE = 0.9;

/* A pair of hosts exchanges small messages for PAUSE seconds, until all pairs have begun, and then
 * measures for as long again. */
static const double PAUSE = 5e-3;

/* Longest sleep of a receiver: sleeps make times uncertain. */
static const double LONGEST_SLEEP = 100e-6;

typedef struct probe {
    coll_comm *comm;
    const coll_topo *topo;
    coll_wait wait;
    coll_members hosts; /* the first rank of each host */
    char *out, *in;     /* PIECE bytes each */
    double *values;     /* s; on rank 0: the times of all hosts */
    double *usual;      /* the quantile QUANTILE of the hosts' times */
    int *first;         /* the first rank of each host */
    double quantile;
    double slow_start; /* s: how much longer the first exchange of a size may take */
} probe;

/* One host's part in an exchange. */
typedef struct partners {
    int to;      /* the rank to send to, or MPI_PROC_NULL */
    int share;   /* this host sends 1/SHARE of what passes its link or uplink */
    int senders; /* how many ranks send to this one */
    int divided; /* each of these ranks sends 1/DIVIDED of the bytes */
} partners;

static const partners nobody = {.to = MPI_PROC_NULL, .share = 1, .divided = 1};

/* --- Who sends to whom --- */

static int rack_of_host(const probe *p, int host) {
    return p->topo->places[p->first[host]].rack;
}

/* Returns how many of the first COUNT hosts are in RACK. */
static int count_hosts(const probe *p, int rack, int count) {
    int hosts = 0;
    for (int host = 0; host < count; host++)
        hosts += rack_of_host(p, host) == rack;
    return hosts;
}

/* Returns the first rank of the NTH host of RACK. */
static int rank_of_host(const probe *p, int rack, int nth) {
    int host = 0;
    while (rack_of_host(p, host) != rack || nth-- > 0)
        host++;
    return p->first[host];
}

/* Returns the index to which index NTH of COUNT sends (STEP 1), or from which it receives (STEP
 * -1). Two indices exchange with each other, so that their ranks open one connection, not two. If
 * COUNT is odd, the last three form a ring. */
static int neighbor(int nth, int count, int step) {
    enum { RING = 3 };
    const int ring = count - RING;
    if (count % 2 == 0 || nth < ring)
        return nth ^ 1;
    return ring + (nth - ring + RING + step) % RING;
}

/* Returns this rank's partners if each host exchanges with hosts of its rack: with its neighbour in
 * the order of nodes if NEAR is true, else with the hosts half of the rack away. */
static partners partners_in_rack(const probe *p, bool near) {
    const coll_place *place = &p->topo->places[p->comm->rank];
    const int hosts = count_hosts(p, place->rack, p->topo->nodes),
              nth = count_hosts(p, place->rack, place->node);
    if (hosts < 2)
        return nobody;
    const int to = near ? neighbor(nth, hosts, 1) : (nth + hosts / 2) % hosts;
    return (partners){rank_of_host(p, place->rack, to), 1, 1, 1};
}

/* Returns this rank's partners if each rack exchanges with another. Each host of a small rack
 * receives from several hosts of a larger one. */
static partners partners_across(const probe *p) {
    const coll_place *place = &p->topo->places[p->comm->rank];
    const int racks = p->topo->racks, all = p->topo->nodes, to = neighbor(place->rack, racks, 1),
              from = neighbor(place->rack, racks, -1), hosts = count_hosts(p, place->rack, all),
              nth = count_hosts(p, place->rack, place->node), sending = count_hosts(p, from, all);
    return (partners){rank_of_host(p, to, nth % count_hosts(p, to, all)), hosts,
                      sending / hosts + (nth < sending % hosts), sending};
}

/* --- Measuring --- */

/* Returns the number of messages for BYTES. */
static int count_messages(int bytes) {
    return (bytes + PIECE - 1) / PIECE;
}

/* Starts sending BYTES to rank TO, with a request for each message. */
static int start_sends(const probe *p, int to, int bytes, MPI_Request requests[]) {
    int code = MPI_SUCCESS;
    for (int i = 0; bytes > 0 && code == MPI_SUCCESS; i++, bytes -= PIECE)
        code = coll_isend(p->comm, p->out, bytes < PIECE ? bytes : PIECE, MPI_BYTE, to,
                          COLL_TAG_COLLECTIVE, &requests[i]);
    return code;
}

static int receive_messages(probe *p, int count) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        MPI_Request request;
        code = coll_irecv(p->comm, p->in, PIECE, MPI_BYTE, MPI_ANY_SOURCE, COLL_TAG_COLLECTIVE,
                          &request);
        if (code == MPI_SUCCESS)
            code = coll_wait_all(&p->wait, 1, &request, NULL);
    }
    return code;
}

static int ascending(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Sorts the COUNT VALUES, and returns the quantile SHARE of the values above 0; 0 if there are
 * none. */
static double find_quantile(int count, double values[], double share) {
    int none = 0;
    qsort(values, (size_t)count, sizeof *values, ascending);
    while (none < count - 1 && values[none] <= 0)
        none++;
    return values[none + (int)((count - 1 - none) * share)];
}

/* Sets *USUAL to the quantile P->quantile of the times that the hosts have measured. OWN is this
 * host's time, or 0 if it received nothing; zeros are ignored. No host leaves before all have
 * entered. */
static int share_quantile(probe *p, double own, double *usual) {
    const bool root = p->hosts.own == 0;
    *p->usual = own;
    int code =
        coll_members_gather(&p->hosts, p->usual, sizeof own, root ? p->values : NULL, p->values);
    if (code == MPI_SUCCESS && root)
        *p->usual = find_quantile(p->hosts.count, p->values, p->quantile);
    if (code == MPI_SUCCESS)
        code = coll_members_bcast(&p->hosts, p->usual, sizeof *p->usual);
    *usual = *p->usual;
    return code;
}

/* Moves BYTES over each link or uplink, and sets *SECONDS to the quantile P->quantile of the hosts'
 * times. Some of the hosts that share an uplink finish early, because TCP does not divide it
 * evenly; the times of the last hosts show its rate. */
static int exchange(probe *p, const partners *whom, int bytes, double *seconds) {
    MPI_Request requests[MOST];
    const int sent = whom->to == MPI_PROC_NULL ? 0 : bytes / whom->share,
              received = whom->senders * count_messages(bytes / whom->divided);
    const double begin = PMPI_Wtime();
    int code = start_sends(p, whom->to, sent, requests);
    if (code == MPI_SUCCESS)
        code = receive_messages(p, received);
    const double own = received > 0 ? PMPI_Wtime() - begin : 0;
    if (code == MPI_SUCCESS && sent > 0)
        code = coll_wait_all(&p->wait, count_messages(sent), requests, NULL);
    if (code == MPI_SUCCESS)
        code = share_quantile(p, own, seconds);
    return code == MPI_SUCCESS ? code : (p->comm->broken = code);
}

/* Repeats an exchange up to REPEATS times, and sets *SECONDS to the least of these times and its
 * old value. Ends when the two least times differ by at most CLOSE seconds. */
static int repeat_exchange(probe *p, const partners *whom, int bytes, double close,
                           double *seconds) {
    double other = INFINITY;
    int code = MPI_SUCCESS;
    for (int i = 0; i < REPEATS && code == MPI_SUCCESS && !(other - *seconds <= close); i++) {
        double again;
        code = exchange(p, whom, bytes, &again);
        other = fmin(other, fmax(*seconds, again));
        *seconds = fmin(*seconds, again);
    }
    return code;
}

/* Repeats the exchanges of BYTES and of the previous size if their times, *AFTER and *BEFORE,
 * may differ by noise or by TCP's slow start alone. */
static int confirm(probe *p, const partners *whom, int bytes, double *before, double *after) {
    const double close = ALIKE * (*after - *before);
    if (*after - *before >= NOISY + p->slow_start)
        return MPI_SUCCESS;
    if (p->slow_start > BRIEF)
        *after = INFINITY;
    int code = repeat_exchange(p, whom, bytes, close, after);
    return code == MPI_SUCCESS ? repeat_exchange(p, whom, bytes / GROWTH, close, before) : code;
}

/* Sets *RATE to the usual rate of a host's link or of a rack's uplink. */
static int measure(probe *p, const partners *whom, double *rate) {
    int bytes = FEWEST * PIECE;
    double before, after;
    int code = exchange(p, whom, bytes, &before); /* opens connections */
    if (code == MPI_SUCCESS)
        code = exchange(p, whom, bytes, &before);
    for (after = before; code == MPI_SUCCESS; before = after) {
        bytes *= GROWTH;
        code = exchange(p, whom, bytes, &after);
        const bool last = bytes >= MOST * PIECE;
        if (code != MPI_SUCCESS || (!last && after - before < ENOUGH))
            continue;
        code = confirm(p, whom, bytes, &before, &after);
        if (last || after - before >= ENOUGH / 2)
            break;
    }
    const double least = 1e-6;
    *rate = (bytes - bytes / GROWTH) / fmax(after - before, least);
    return code;
}

/* --- How much longer messages take while other ranks communicate --- */

/* Returns the rank with which this rank exchanges small messages, and sets *LEADS to whether this
 * rank begins. The two are in one rack, if there is a rack of several hosts; MPI_PROC_NULL: there
 * is no partner. */
static int find_partner(const probe *p, bool *leads) {
    const coll_topo *topo = p->topo;
    const coll_place *place = &topo->places[p->comm->rank];
    const bool by_rack = topo->racks == topo->nodes; /* no rack has several hosts */
    const int nth = by_rack ? place->rack : count_hosts(p, place->rack, place->node),
              other = nth ^ 1;
    *leads = nth < other;
    if (other >= (by_rack ? topo->racks : count_hosts(p, place->rack, topo->nodes)))
        return MPI_PROC_NULL;
    return by_rack ? rank_of_host(p, other, 0) : rank_of_host(p, place->rack, other);
}

/* Sends and receives a message; the rank that LEADS sends first. The message says whether MORE
 * round trips follow. */
static int do_round_trip(probe *p, int partner, bool leads, bool *more) {
    MPI_Request request;
    int code = MPI_SUCCESS;
    for (int half = 0; half < 2 && code == MPI_SUCCESS; half++) {
        *p->out = *more;
        code =
            leads == (half == 0)
                ? coll_isend(p->comm, p->out, 1, MPI_BYTE, partner, COLL_TAG_COLLECTIVE, &request)
                : coll_irecv(p->comm, p->in, 1, MPI_BYTE, partner, COLL_TAG_COLLECTIVE, &request);
        if (code == MPI_SUCCESS)
            code = coll_wait_all(&p->wait, 1, &request, NULL);
        if (!leads && half == 0)
            *more = *p->in;
    }
    return code;
}

/* Exchanges small messages with PARTNER. If this rank LEADS, sets *LEAST and *MEAN to the least
 * and the mean time of a message. */
static int time_messages(probe *p, int partner, bool leads, double *least, double *mean) {
    double shortest = INFINITY, now = 0, counted_since = 0;
    const double begin = PMPI_Wtime();
    bool more = true;
    int count = 0, code = MPI_SUCCESS;
    while (more && code == MPI_SUCCESS) {
        const double before = now;
        if (before < PAUSE) {
            counted_since = before;
            count = 0;
        }
        more = before < 2 * PAUSE;
        code = do_round_trip(p, partner, leads, &more);
        now = PMPI_Wtime() - begin;
        shortest = fmin(shortest, now - before);
        count++;
    }
    if (leads && code == MPI_SUCCESS) {
        *least = shortest / 2;
        *mean = (now - counted_since) / count / 2;
    }
    return code;
}

/*
 * Sets *PER_RANK to the seconds by which a message takes longer for each host beyond two that
 * communicates at the same time. Pairs of hosts exchange messages, the shortest of which were not
 * disturbed by other pairs. The mean counts, since while two ranks have the processors, their own
 * messages are fast. If it is less than twice the shortest time, that is noise.
 */
static int measure_per_rank(probe *p, double *per_rank) {
    enum { FEWEST_HOSTS = 4 };
    const int hosts = p->topo->nodes,
              counted = hosts < COLL_RANKS_MEASURED ? hosts : COLL_RANKS_MEASURED;
    double least = 0, mean = 0;
    bool leads;
    *per_rank = 0;
    if (hosts < FEWEST_HOSTS)
        return MPI_SUCCESS;
    const int partner = find_partner(p, &leads);
    int code = MPI_SUCCESS;
    if (partner != MPI_PROC_NULL)
        code = time_messages(p, partner, leads, &least, &mean);
    if (code == MPI_SUCCESS)
        code = share_quantile(p, least, &least);
    if (code == MPI_SUCCESS)
        code = share_quantile(p, mean, &mean);
    if (mean >= 2 * least)
        *per_rank = (mean - least) / (counted - 2);
    return code == MPI_SUCCESS ? code : (p->comm->broken = code);
}

/* --- The whole measurement --- */

/* Broadcasts RATES, which hosts' first ranks have measured, to all ranks. */
static int broadcast_rates(probe *p, coll_network_rates *rates) {
    coll_network_rates *shared = (coll_network_rates *)p->in;
    *shared = *rates;
    int code = coll_comm_publish(p->comm, shared, sizeof *shared);
    if (code == MPI_SUCCESS)
        *rates = *shared;
    return code;
}

/*
 * Measures the hosts' links within racks and, if there are several racks, the uplinks. A single
 * rack may stand for racks that are not known: then all hosts send to near and to far hosts, and
 * the lower of the two rates counts.
 */
static int measure_links(probe *p, coll_network_rates *rates) {
    const int racks = p->topo->racks;
    const bool has_links = racks < p->topo->nodes;
    const partners near = partners_in_rack(p, true),
                   far = racks > 1 ? partners_across(p) : partners_in_rack(p, false);
    double link = INFINITY, other;
    int code = has_links ? measure(p, &near, &link) : MPI_SUCCESS;
    p->quantile = racks > 1 ? UPPER_DECILE : MEDIAN;
    if (code == MPI_SUCCESS)
        code = measure(p, &far, &other);
    if (code == MPI_SUCCESS && racks > 1)
        *rates = (coll_network_rates){.link = has_links ? link : other, .together = racks * other};
    else if (code == MPI_SUCCESS)
        *rates = (coll_network_rates){.link = fmin(link, other)};
    return code;
}

/* Measures everything. Only the first rank of each host calls this. */
static int measure_all(probe *p, coll_network_rates *rates) {
    int code = measure_links(p, rates);
    p->quantile = MEDIAN;
    return code == MPI_SUCCESS ? measure_per_rank(p, &rates->per_rank) : code;
}

int coll_network_probe(coll_comm *comm, const coll_topo *topo, double latency,
                       coll_network_rates *rates) {
    probe p = {.comm = comm,
               .topo = topo,
               .wait = comm->wait,
               .quantile = MEDIAN,
               .slow_start = LATENCIES * latency};
    const size_t values_bytes = (size_t)topo->nodes * sizeof *p.values,
                 first_bytes = (size_t)topo->nodes * sizeof *p.first;
    void *scratch;
    int code =
        coll_comm_scratch(comm, 2 * PIECE + sizeof *p.usual + values_bytes + first_bytes, &scratch);
    if (code != MPI_SUCCESS)
        return code;
    p.out = memset(scratch, 0, PIECE);
    p.in = p.out + PIECE;
    p.usual = (double *)(p.in + PIECE);
    p.values = p.usual + 1;
    p.first = (int *)(p.values + topo->nodes);
    p.wait.longest_sleep = LONGEST_SLEEP;
    coll_topo_first_ranks(topo, p.first);
    p.hosts = (coll_members){.comm = comm,
                             .wait = &p.wait,
                             .ranks = p.first,
                             .count = topo->nodes,
                             .own = topo->places[comm->rank].node,
                             .tag = TIMES_TAG};
    if (p.first[p.hosts.own] == comm->rank)
        code = measure_all(&p, rates);
    if (code == MPI_SUCCESS)
        code = broadcast_rates(&p, rates);
    coll_comm_release_scratch(comm);
    return code;
}

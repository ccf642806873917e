#include "config.h"

#include "hlot/latency.h"

#include "hlot/probe.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/monotonic.h"
#include "lib/base/plain.h"
#include "lib/place/roundtrip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A root begins a round of probes at most so often; seconds. */
static const double PERIOD = 50e-3;

/* A probe without an answer for so long is lost: TCP sends its first packet again after 1 s. */
static const double PATIENCE = 1;

/* Between two looks at the probes of the first survey; nanoseconds. */
static const long NAP = 500000;

/* A link that never answered counts as so many times as slow as the slowest that did. */
static const double UNKNOWN = 2;

/* A forecast that moves by less than this share of it changes nothing. */
static const double NOTABLE = 0.02;

/* A survey of all pairs takes about so many rounds; with more sites than that each has several. */
enum { ROUNDS = 7 };

struct hlot_latency {
    coll_comm *comm;
    coll_state *state;
    int sites, site; /* the site that this rank leads, or -1 */
    const int *leads;
    bool by_hand;
    hlot_latencies known;
    long changes;

    /* Of a lead: */
    int listener;
    struct sockaddr_in addresses[HLOT_SITES]; /* of the other leads; port 0: unknown */
    hlot_probe probes[HLOT_SITES];
    hlot_forecast forecasts[HLOT_SITES];
    bool silent[HLOT_SITES]; /* the latest probe was lost */
    double mine[HLOT_SITES]; /* what is being sent */
    MPI_Request sending;

    /* Of a root: */
    uint32_t round; /* the latest that it began */
    double began;   /* date */
    bool reported_silent[HLOT_SITES][HLOT_SITES];
    int silent_links;
    double reports[HLOT_SITES][HLOT_SITES];
    MPI_Request receiving[HLOT_SITES];
};

int hlot_latency_opponent(int sites, uint32_t round, int site) {
    int even = sites + sites % 2, others = even - 1;
    if (others < 1)
        return -1;
    int shift = (int)(round % (uint32_t)others), opponent;
    if (site == others)
        opponent = shift * (even / 2) % others; /* the one that would meet itself */
    else {
        opponent = (shift - site + others) % others;
        opponent = opponent == site ? others : opponent;
    }
    return opponent < sites ? opponent : -1;
}

/* Which of two sites measures their link. */
static bool is_mine(int site, int other) {
    return ((site + other) % 2 == 0) == (site < other);
}

const hlot_latencies *hlot_latency_known(const hlot_latency *latency, long *changes) {
    if (changes)
        *changes = latency->changes;
    return (const hlot_latencies *)&latency->known;
}

int hlot_latency_silent(const hlot_latency *latency) {
    return latency->silent_links;
}

/* --- a lead's probes --- */

static void start_round(hlot_latency *l, uint32_t round) {
    int other = hlot_latency_opponent(l->sites, round, l->site);
    if (other >= 0 && is_mine(l->site, other) && l->addresses[other].sin_port)
        hlot_probe_start(&l->probes[other], &l->addresses[other]);
}

/* How many rounds are under way side by side. */
static uint32_t rounds_at_once(const hlot_latency *l) {
    return (uint32_t)(l->sites + ROUNDS - 1) / ROUNDS;
}

/* Takes in what has been answered; returns how many probes are still under way. */
static int take_answers(hlot_latency *l) {
    int waiting = 0;
    for (int other = 0; other < l->sites; other++) {
        double seconds;
        hlot_answer answer = hlot_probe_look(&l->probes[other], PATIENCE, &seconds);
        waiting += answer == HLOT_WAITING;
        if (answer == HLOT_SILENT)
            l->silent[other] = true;
        if (answer != HLOT_ANSWERED)
            continue;
        l->silent[other] = false;
        hlot_forecast_add(&l->forecasts[other], seconds / 2);
        if (l->forecasts[other].surprised)
            hlot_probe_start(&l->probes[other], &l->addresses[other]);
    }
    return waiting;
}

/* Probes every link once, a few rounds at a time. */
static void survey(hlot_latency *l) {
    uint32_t rounds = (uint32_t)(l->sites + l->sites % 2 - 1), step = rounds_at_once(l);
    double start = coll_monotonic();
    for (uint32_t round = 0; round < rounds; round += step) {
        for (uint32_t i = round; i < round + step && i < rounds; i++)
            start_round(l, i);
        while (take_answers(l)) {
            struct timespec time = {.tv_nsec = NAP};
            nanosleep(&time, NULL); /* a signal may cut it short: the next look comes earlier */
        }
    }
    if (l->state->trace)
        coll_plain_print(stderr, "coll: hlot has probed %d sites in %.3f s\n", l->sites,
                         coll_monotonic() - start);
}

/* --- reports --- */

/* What a lead tells of its links: the latency, negative where it is silent now, 0 where unknown. */
static void fill_report(const hlot_latency *l, double report[]) {
    for (int other = 0; other < l->sites; other++) {
        double latency = hlot_forecast_value(&l->forecasts[other]);
        report[other] = l->silent[other] ? -latency : latency;
    }
}

static void tell_silence(hlot_latency *l, int site, int other, bool silent) {
    if (silent == l->reported_silent[site][other])
        return;
    l->reported_silent[site][other] = silent;
    l->silent_links += silent ? 1 : -1;
    if (l->state->trace)
        fprintf(stderr, "coll: hlot probes from site %d to site %d %s\n", site, other,
                silent ? "get no answer: the last good tree stays" : "are answered again");
}

static void take_report(hlot_latency *l, int site, const double report[]) {
    for (int other = 0; other < l->sites; other++) {
        double latency = fabs(report[other]), before = l->known[site][other];
        if (other == site || !is_mine(site, other))
            continue;
        tell_silence(l, site, other, signbit(report[other]) != 0);
        if (latency == 0 || fabs(latency - before) <= NOTABLE * before)
            continue;
        l->known[site][other] = l->known[other][site] = latency;
        l->changes++;
    }
}

/* Takes in the reports that have come; *ALL: none is still to come. */
static int take_reports(hlot_latency *l, bool *all) {
    *all = true;
    for (int site = 0; site < l->sites; site++) {
        int done = 1;
        if (l->receiving[site] == MPI_REQUEST_NULL)
            continue;
        int code = PMPI_Test(&l->receiving[site], &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return code;
        if (done)
            take_report(l, site, l->reports[site]);
        *all = *all && done;
    }
    return MPI_SUCCESS;
}

static int expect_reports(hlot_latency *l) {
    int code = MPI_SUCCESS;
    for (int site = 0; site < l->sites && code == MPI_SUCCESS; site++)
        if (l->leads[site] != l->comm->rank)
            code = coll_irecv(l->comm, l->reports[site], l->sites, MPI_DOUBLE, l->leads[site],
                              COLL_TAG_REPORT, &l->receiving[site]);
    return code;
}

int hlot_latency_begin(hlot_latency *l, uint32_t *round) {
    bool all;
    *round = 0;
    if (l->by_hand)
        return MPI_SUCCESS;
    int code = take_reports(l, &all);
    double now = PMPI_Wtime();
    if (code != MPI_SUCCESS || !all || now - l->began < PERIOD)
        return code;
    l->began = now;
    *round = l->round + 1;
    l->round += rounds_at_once(l);
    return expect_reports(l);
}

int hlot_latency_take_part(hlot_latency *l, uint32_t round, int root) {
    if (round == 0 || l->site < 0)
        return MPI_SUCCESS;
    hlot_probe_drain(l->listener);
    take_answers(l);
    for (uint32_t i = 0; i < rounds_at_once(l); i++)
        start_round(l, round + i);
    if (l->comm->rank == root) {
        fill_report(l, l->reports[l->site]);
        take_report(l, l->site, l->reports[l->site]);
        return MPI_SUCCESS;
    }
    int code = coll_wait_all(&l->comm->wait, 1, &l->sending, &root);
    if (code != MPI_SUCCESS)
        return code;
    fill_report(l, l->mine);
    return coll_isend(l->comm, l->mine, l->sites, MPI_DOUBLE, root, COLL_TAG_REPORT, &l->sending);
}

/* --- the first matrix, which all ranks know alike --- */

/* Opens this lead's port; *PORT is 0 for ranks that lead nothing, or where there is none. */
static void listen_for_probes(hlot_latency *l, int *port) {
    *port = 0;
    if (l->site >= 0)
        l->listener = hlot_probe_listen(port);
    if (l->listener < 0)
        *port = 0;
}

static void find_leads(hlot_latency *l, const int ports[]) {
    const coll_topo *topo = &l->state->topo;
    for (int other = 0; other < l->sites; other++) {
        int lead = l->leads[other];
        bool found = ports[lead] && coll_roundtrip_find(topo->hosts[topo->places[lead].node],
                                                        ports[lead], &l->addresses[other]);
        if (!found)
            l->addresses[other].sin_port = 0;
    }
}

/* Waits with sleeps, so that the ranks that measure have the processors. */
static int wait_for(hlot_latency *l, int code, MPI_Request *request) {
    return code == MPI_SUCCESS ? coll_wait_all(&l->comm->wait, 1, request, NULL) : code;
}

/* Puts what the leads have measured together; 0 stands for links that did not answer. */
static int share(hlot_latency *l) {
    MPI_Request request;
    double row[HLOT_SITES], *all = &l->reports[0][0];
    memset(l->reports, 0, sizeof l->reports);
    if (l->site >= 0) {
        fill_report(l, row);
        memcpy(all + l->site * l->sites, row, (size_t)l->sites * sizeof *row);
    }
    int code = PMPI_Iallreduce(MPI_IN_PLACE, all, l->sites * l->sites, MPI_DOUBLE, MPI_MAX,
                               l->comm->private, &request);
    code = wait_for(l, code, &request);
    for (int from = 0; from < l->sites && code == MPI_SUCCESS; from++)
        for (int to = 0; to < l->sites; to++)
            l->known[from][to] = fmax(all[from * l->sites + to], all[to * l->sites + from]);
    return code;
}

/* Gives links that did not answer a latency, so that trees use them only where they must. */
static void assume_unknown(hlot_latency *l) {
    double most = 0;
    int unknown = 0;
    for (int from = 0; from < l->sites; from++)
        for (int to = 0; to < l->sites; to++)
            most = fmax(most, l->known[from][to]);
    if (most == 0)
        most = l->state->profile->level[COLL_LEVEL_WIDE].latency;
    for (int from = 0; from < l->sites; from++)
        for (int to = 0; to < l->sites; to++)
            if (from != to && l->known[from][to] == 0) {
                l->known[from][to] = UNKNOWN * most;
                unknown++;
            }
    if (unknown && l->state->trace)
        fprintf(stderr,
                "coll: hlot probes between %d of %d pairs of sites get no answer; "
                "COLL_LATENCIES=FILE says what they take\n",
                unknown / 2, l->sites * (l->sites - 1) / 2);
}

/* PORTS has room for one of each rank. */
static int measure(hlot_latency *l, int ports[]) {
    int port;
    listen_for_probes(l, &port);
    int code = PMPI_Allgather(&port, 1, MPI_INT, ports, 1, MPI_INT, l->comm->private);
    if (code == MPI_SUCCESS && l->site >= 0) {
        find_leads(l, ports);
        survey(l);
    }
    if (code == MPI_SUCCESS)
        code = share(l);
    if (code == MPI_SUCCESS)
        assume_unknown(l);
    return code;
}

/* --- by hand --- */

static int load(hlot_latency *l) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    if (l->comm->rank == 0)
        hlot_matrix_of(l->state->settings->latencies, &l->state->topo, l->known, problem);
    int code = PMPI_Bcast(problem, sizeof problem, MPI_CHAR, 0, l->comm->private);
    if (code == MPI_SUCCESS && *problem)
        code = coll_error(MPI_ERR_FILE, "%s", problem);
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(l->known, HLOT_SITES * HLOT_SITES, MPI_DOUBLE, 0, l->comm->private);
    return code;
}

/* --- both --- */

/* LATENCIES and PROFILE, which COMM takes, are what choices rest on: alike on all ranks for ever.
 */
static void publish(const hlot_latency *l, double latencies[], coll_profile *profile) {
    double sum = 0;
    int count = 0;
    for (int from = 0; from < l->sites; from++)
        for (int to = 0; to < l->sites; to++) {
            double latency = from == to ? 0 : l->known[from][to];
            latencies[from * l->sites + to] = latency;
            if (from != to && latency < INFINITY) {
                sum += latency;
                count++;
            }
        }
    free(l->state->topo.latencies);
    l->state->topo.latencies = latencies;
    *profile = *l->state->profile;
    if (!profile->measured[COLL_LEVEL_WIDE] && count)
        profile->level[COLL_LEVEL_WIDE].latency = sum / count;
    free(l->state->own_profile);
    l->state->profile = l->state->own_profile = profile;
}

static hlot_latency *make(coll_comm *comm, const int leads[]) {
    hlot_latency *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->comm = comm;
    l->state = coll_state_of(comm);
    l->sites = l->state->topo.sites;
    l->leads = leads;
    l->by_hand = *l->state->settings->latencies != '\0';
    l->site = -1;
    l->listener = -1;
    l->sending = MPI_REQUEST_NULL;
    for (int site = 0; site < l->sites; site++) {
        if (leads[site] == comm->rank)
            l->site = site;
        l->probes[site].connection = -1;
        l->receiving[site] = MPI_REQUEST_NULL;
    }
    return l;
}

int hlot_latency_open(coll_comm *comm, const int leads[], hlot_latency **latency) {
    size_t sites = (size_t)coll_state_of(comm)->topo.sites;
    hlot_latency *l = make(comm, leads);
    double *latencies = malloc(sites * sites * sizeof *latencies);
    coll_profile *profile = malloc(sizeof *profile);
    int *ports = malloc((size_t)comm->ranks * sizeof *ports);
    int code = coll_agree(
        comm, l && latencies && profile && ports
                  ? MPI_SUCCESS
                  : coll_error(MPI_ERR_NO_MEM, "no memory for the latencies of %zu sites", sites));
    if (code == MPI_SUCCESS)
        code = l->by_hand ? load(l) : measure(l, ports);
    free(ports);
    if (code == MPI_SUCCESS) {
        publish(l, latencies, profile);
        *latency = l;
        return MPI_SUCCESS;
    }
    free(latencies);
    free(profile);
    if (l)
        hlot_latency_close(l);
    return code;
}

void hlot_latency_close(hlot_latency *l) {
    /* What roots still wait for has been sent: all ranks took part in those rounds. */
    if (l->comm->broken == MPI_SUCCESS) {
        coll_wait_all(&l->comm->wait, l->sites, l->receiving, NULL);
        coll_wait_all(&l->comm->wait, 1, &l->sending, NULL);
    }
    coll_wait_abandon(l->sites, l->receiving);
    coll_wait_abandon(1, &l->sending);
    for (int site = 0; site < l->sites; site++)
        hlot_probe_end(&l->probes[site]);
    if (l->listener >= 0)
        close(l->listener);
    free(l);
}

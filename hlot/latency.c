/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/latency.h"

#include "hlot/probe.h"
#include "lib/base/agree.h"
#include "lib/base/c_locale.h"
#include "lib/base/error.h"
#include "lib/base/ticks.h"
#include "lib/topology/tcp_rtt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The least time between two rounds of probes that a root begins; seconds. */
static const double PERIOD = 50e-3;

/* A probe without an answer after this time is lost: TCP repeats its first packet after 1 s. */
static const double PATIENCE = 1;

/* The time between two checks of the probes of the first measurement; seconds. */
static const double NAP = 500e-6;

/* A link that has never answered counts as this many times as slow as the slowest link that has
 * answered. */
static const double UNKNOWN = 2;

/* A latency counts as changed if its forecast differs from the known value by more than this
 * share. */
static const double NOTABLE = 0.02;

/*
 * A measurement of all pairs takes at most this many steps. With more sites than that, a step
 * consists of several rounds.
 */
enum { ROUNDS = 7 };

struct hlot_latency {
    coll_comm *comm;
    int sites, site; /* the site that this rank leads, or -1 */
    const int *leads;
    bool from_file;
    hlot_latencies known;
    long changes;

    /* Used by leaders: */
    int listener;
    /* addresses of the other leaders; port 0 if unknown */
    struct sockaddr_in addresses[HLOT_SITES];
    hlot_probe probes[HLOT_SITES];
    hlot_forecast forecasts[HLOT_SITES];
    bool silent[HLOT_SITES]; /* the latest probe was lost */
    double mine[HLOT_SITES]; /* the report that is being sent */
    MPI_Request sending;

    /* Used by roots: */
    uint32_t round; /* the latest round that this rank began */
    double began;   /* when this rank last began rounds; s, by MPI_Wtime */
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
        opponent = shift * (even / 2) % others; /* the site that would be its own opponent */
    else {
        opponent = (shift - site + others) % others;
        opponent = opponent == site ? others : opponent;
    }
    return opponent < sites ? opponent : -1;
}

/* Returns whether SITE, not OTHER, measures the link between them. */
static bool measures_link(int site, int other) {
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

/* --- a leader's probes --- */

static void start_round(hlot_latency *l, uint32_t round) {
    int other = hlot_latency_opponent(l->sites, round, l->site);
    if (other >= 0 && measures_link(l->site, other) && l->addresses[other].sin_port)
        hlot_probe_start(&l->probes[other], &l->addresses[other]);
}

/* Returns how many rounds are under way at the same time. */
static uint32_t rounds_at_once(const hlot_latency *l) {
    return (uint32_t)(l->sites + ROUNDS - 1) / ROUNDS;
}

/* Processes the answered probes. Returns how many probes had no answer yet. */
static int process_answers(hlot_latency *l) {
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
static void probe_all_links(hlot_latency *l) {
    uint32_t rounds = (uint32_t)(l->sites + l->sites % 2 - 1), step = rounds_at_once(l);
    double start = coll_monotonic();
    for (uint32_t round = 0; round < rounds; round += step) {
        for (uint32_t i = round; i < round + step && i < rounds; i++)
            start_round(l, i);
        while (process_answers(l))
            coll_sleep(NAP);
    }
    if (coll_state_of(l->comm)->trace)
        coll_c_locale_print(stderr, "coll: hlot has probed %d sites in %.3f s\n", l->sites,
                            coll_monotonic() - start);
}

/* --- reports --- */

/*
 * Fills in a leader's report about its links: one latency for each link, negative if the link is
 * silent now, 0 if the latency is unknown.
 */
static void fill_report(const hlot_latency *l, double report[]) {
    for (int other = 0; other < l->sites; other++) {
        double latency = hlot_forecast_value(&l->forecasts[other]);
        report[other] = l->silent[other] ? -latency : latency;
    }
}

static void note_silence(hlot_latency *l, int site, int other, bool silent) {
    if (silent == l->reported_silent[site][other])
        return;
    l->reported_silent[site][other] = silent;
    l->silent_links += silent ? 1 : -1;
    if (coll_state_of(l->comm)->trace)
        fprintf(stderr, "coll: hlot probes from site %d to site %d %s\n", site, other,
                silent ? "get no answer: the last good tree stays" : "are answered again");
}

static void process_report(hlot_latency *l, int site, const double report[]) {
    for (int other = 0; other < l->sites; other++) {
        double latency = fabs(report[other]), before = l->known[site][other];
        if (other == site || !measures_link(site, other))
            continue;
        note_silence(l, site, other, signbit(report[other]) != 0);
        if (latency == 0 || fabs(latency - before) <= NOTABLE * before)
            continue;
        l->known[site][other] = l->known[other][site] = latency;
        l->changes++;
    }
}

/* Processes the reports that have arrived. Sets *ALL to whether all expected reports have. */
static int process_reports(hlot_latency *l, bool *all) {
    *all = true;
    for (int site = 0; site < l->sites; site++) {
        int done = 1;
        if (l->receiving[site] == MPI_REQUEST_NULL)
            continue;
        int code = PMPI_Test(&l->receiving[site], &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return code;
        if (done)
            process_report(l, site, l->reports[site]);
        *all = *all && done;
    }
    return MPI_SUCCESS;
}

static int post_receives_of_reports(hlot_latency *l) {
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
    if (l->from_file)
        return MPI_SUCCESS;
    int code = process_reports(l, &all);
    double now = PMPI_Wtime();
    if (code != MPI_SUCCESS || !all || now - l->began < PERIOD)
        return code;
    l->began = now;
    *round = l->round + 1;
    l->round += rounds_at_once(l);
    return post_receives_of_reports(l);
}

int hlot_latency_take_part(hlot_latency *l, uint32_t round, int root) {
    if (round == 0 || l->site < 0)
        return MPI_SUCCESS;
    hlot_probe_drain(l->listener);
    process_answers(l);
    for (uint32_t i = 0; i < rounds_at_once(l); i++)
        start_round(l, round + i);
    if (l->comm->rank == root) {
        fill_report(l, l->reports[l->site]);
        process_report(l, l->site, l->reports[l->site]);
        return MPI_SUCCESS;
    }
    int code = coll_wait_all(&l->comm->wait, 1, &l->sending, &root);
    if (code != MPI_SUCCESS)
        return code;
    fill_report(l, l->mine);
    return coll_isend(l->comm, l->mine, l->sites, MPI_DOUBLE, root, COLL_TAG_REPORT, &l->sending);
}

/* --- the first matrix, which is the same on all ranks --- */

/* Opens this leader's port. *PORT is 0 on other ranks and if no port can be opened. */
static void listen_for_probes(hlot_latency *l, int *port) {
    *port = 0;
    if (l->site >= 0)
        l->listener = hlot_probe_listen(port);
    if (l->listener < 0)
        *port = 0;
}

static void find_addresses_of_leaders(hlot_latency *l, const int ports[]) {
    const coll_topo *topo = &coll_state_of(l->comm)->topo;
    for (int other = 0; other < l->sites; other++) {
        int lead = l->leads[other];
        bool found = ports[lead] && coll_tcp_rtt_find(topo->hosts[topo->places[lead].node],
                                                      ports[lead], &l->addresses[other]);
        if (!found)
            l->addresses[other].sin_port = 0;
    }
}

/* Combines the measurements of all leaders; 0 stands for links that did not answer. */
static int combine_measurements(hlot_latency *l) {
    MPI_Request request;
    double row[HLOT_SITES], *all = &l->reports[0][0];
    memset(l->reports, 0, sizeof l->reports);
    if (l->site >= 0) {
        fill_report(l, row);
        memcpy(all + l->site * l->sites, row, (size_t)l->sites * sizeof *row);
    }
    int code = PMPI_Iallreduce(MPI_IN_PLACE, all, l->sites * l->sites, MPI_DOUBLE, MPI_MAX,
                               l->comm->private, &request);
    if (code == MPI_SUCCESS) /* waits with sleeps, so that ranks that measure get the processors */
        code = coll_wait_all(&l->comm->wait, 1, &request, NULL);
    for (int from = 0; from < l->sites && code == MPI_SUCCESS; from++)
        for (int to = 0; to < l->sites; to++)
            l->known[from][to] = fmax(all[from * l->sites + to], all[to * l->sites + from]);
    return code;
}

/* Assigns a latency to links that did not answer, so that trees use them only if they must. */
static void assume_unknown(hlot_latency *l) {
    double most = 0;
    int unknown = 0;
    for (int from = 0; from < l->sites; from++)
        for (int to = 0; to < l->sites; to++)
            most = fmax(most, l->known[from][to]);
    if (most == 0)
        most = coll_state_of(l->comm)->profile->level[COLL_LEVEL_WIDE].latency;
    for (int from = 0; from < l->sites; from++)
        for (int to = 0; to < l->sites; to++)
            if (from != to && l->known[from][to] == 0) {
                l->known[from][to] = UNKNOWN * most;
                unknown++;
            }
    if (unknown && coll_state_of(l->comm)->trace)
        fprintf(stderr,
                "coll: hlot probes between %d of %d pairs of sites get no answer; "
                "COLL_LATENCIES=FILE sets their latencies\n",
                unknown / 2, l->sites * (l->sites - 1) / 2);
}

/* Measures all latencies. PORTS has room for a port of each rank. */
static int measure_latencies(hlot_latency *l, int ports[]) {
    int port;
    listen_for_probes(l, &port);
    int code = PMPI_Allgather(&port, 1, MPI_INT, ports, 1, MPI_INT, l->comm->private);
    if (code == MPI_SUCCESS && l->site >= 0) {
        find_addresses_of_leaders(l, ports);
        probe_all_links(l);
    }
    if (code == MPI_SUCCESS)
        code = combine_measurements(l);
    if (code == MPI_SUCCESS)
        assume_unknown(l);
    return code;
}

/* --- from a file --- */

static int load_latencies(hlot_latency *l) {
    const coll_state *state = coll_state_of(l->comm);
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    if (l->comm->rank == 0)
        hlot_matrix_of(state->settings->latencies, &state->topo, l->known, problem);
    int code = PMPI_Bcast(problem, sizeof problem, MPI_CHAR, 0, l->comm->private);
    if (code == MPI_SUCCESS && *problem) {
        l->comm->agreed = true;
        return coll_error(MPI_ERR_FILE, "%s", problem);
    }
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(l->known, HLOT_SITES * HLOT_SITES, MPI_DOUBLE, 0, l->comm->private);
    return code;
}

/* --- in both cases --- */

/*
 * Stores the latencies in LATENCIES and PROFILE, which COMM then owns. Choices depend on these
 * latencies, which must stay the same on all ranks.
 */
static void store_in_communicator(const hlot_latency *l, double latencies[],
                                  coll_profile *profile) {
    coll_state *state = coll_state_of(l->comm);
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
    free(state->topo.latencies);
    state->topo.latencies = latencies;
    *profile = *state->profile;
    if (!profile->measured[COLL_LEVEL_WIDE] && count)
        profile->level[COLL_LEVEL_WIDE].latency = sum / count;
    free(state->own_profile);
    state->profile = state->own_profile = profile;
}

static hlot_latency *allocate_latency(coll_comm *comm, const int leads[]) {
    const coll_state *state = coll_state_of(comm);
    hlot_latency *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->comm = comm;
    l->sites = state->topo.sites;
    l->leads = leads;
    l->from_file = *state->settings->latencies != '\0';
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
    hlot_latency *l = allocate_latency(comm, leads);
    double *latencies = malloc(sites * sites * sizeof *latencies);
    coll_profile *profile = malloc(sizeof *profile);
    int *ports = malloc((size_t)comm->ranks * sizeof *ports);
    int code = coll_agree(
        comm, l && latencies && profile && ports
                  ? MPI_SUCCESS
                  : coll_error(MPI_ERR_NO_MEM, "no memory for the latencies of %zu sites", sites));
    if (code == MPI_SUCCESS)
        code = l->from_file ? load_latencies(l) : measure_latencies(l, ports);
    free(ports);
    if (code == MPI_SUCCESS) {
        store_in_communicator(l, latencies, profile);
        *latency = l;
        return MPI_SUCCESS;
    }
    free(latencies);
    free(profile);
    if (!comm->agreed)
        comm->broken = code;
    if (l)
        hlot_latency_close(l);
    return code;
}

void hlot_latency_close(hlot_latency *l) {
    /*
     * All messages that roots still wait for have been sent, because all ranks took part in those
     * rounds.
     */
    int code = l->comm->broken;
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&l->comm->wait, l->sites, l->receiving, NULL);
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&l->comm->wait, 1, &l->sending, NULL);
    coll_wait_abandon(l->sites, l->receiving);
    coll_wait_abandon(1, &l->sending);
    for (int site = 0; site < l->sites; site++)
        hlot_probe_end(&l->probes[site]);
    if (l->listener >= 0)
        close(l->listener);
    if (code == MPI_SUCCESS)
        free(l);
    else
        coll_wait_leave(l);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges the facts of ranks and hosts. */
#include "config.h"

#include "tools/doctor/judge.h"

#include "app/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host is slow if its speed is below SLOW times the median speed. It is busy if the share of a
 * core that its ranks get is below BUSY times the median of all hosts. */
static const double SLOW = 0.85, BUSY = 0.75;

/* If more than 1/FEW of the hosts differ from the usual value, the job has several kinds of
 * hosts. */
enum { FEW = 3, NAMED = 4 };

/* Hosts that stand out for the same reason, and the evidence about the first of them. */
typedef struct odd_hosts {
    const doctor_job *job;
    bool *is_odd;
    int count, first;
    char evidence[256];
} odd_hosts;

/* Adds HOST, and the evidence that FORMAT makes. */
static void add_odd(odd_hosts *odd, int host, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_odd(odd_hosts *odd, int host, const char *format, ...) {
    if (odd->is_odd[host])
        return;
    odd->is_odd[host] = true;
    if (odd->count++ > 0 && host > odd->first)
        return;
    odd->first = host;
    va_list values;
    va_start(values, format);
    vsnprintf(odd->evidence, sizeof odd->evidence, format, values);
    va_end(values);
}

/* Writes "host n1", "hosts n1 and n2" or "hosts n1, n2, n3, n4 and 7 more". */
static void name_hosts(const odd_hosts *odd, char *text, size_t size) {
    int named = 0;
    size_t used = (size_t)snprintf(text, size, odd->count == 1 ? "host" : "hosts");
    for (int host = 0; host < odd->job->hosts && named < NAMED && used < size; host++) {
        if (!odd->is_odd[host])
            continue;
        const char *before = named == 0 ? " " : named + 1 == odd->count ? " and " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", before,
                                 doctor_job_facts(odd->job, host)->host);
        named++;
    }
    if (named < odd->count && used < size)
        snprintf(text + used, size - used, " and %d more", odd->count - named);
}

/* Adds a finding about the hosts in ODD, if there are any, and empties ODD. */
static void add_finding(odd_hosts *odd, doctor_kind kind, bool certain, const char *remedy,
                        doctor_findings *found) {
    const size_t bytes = (size_t)odd->job->hosts * sizeof *odd->is_odd;
    if (odd->count > 0 && found->count < DOCTOR_FINDINGS) {
        doctor_finding *finding = &found->of[found->count++];
        *finding = (doctor_finding){kind, certain, odd->first, -1, "", remedy, NULL};
        if (odd->count > 1)
            finding->of_several = malloc(bytes);
        if (finding->of_several)
            memcpy(finding->of_several, odd->is_odd, bytes);
        name_hosts(odd, finding->text, sizeof finding->text / 2);
        const size_t used = strlen(finding->text);
        snprintf(finding->text + used, sizeof finding->text - used, ": %s", odd->evidence);
    }
    memset(odd->is_odd, 0, bytes);
    odd->count = 0;
}

/* Does the same as add_finding if few hosts are odd. If many hosts are odd, only empties ODD, since
 * the job has several kinds of hosts. */
static void add_finding_of_few(odd_hosts *odd, doctor_kind kind, bool certain, const char *remedy,
                               doctor_findings *found) {
    if (odd->count > (odd->job->hosts + FEW - 1) / FEW)
        odd->count = 0;
    add_finding(odd, kind, certain, remedy, found);
}

/* Returns whether FOUND has a finding of one of the kinds up to LAST about HOST. */
static bool is_explained(const doctor_findings *found, int host, doctor_kind last) {
    for (int i = 0; i < found->count; i++)
        if (doctor_finding_is_about(&found->of[i], host) && found->of[i].kind <= last)
            return true;
    return false;
}

/* --- Processors --- */

static bool is_within(const uint64_t one[], const uint64_t other[]) {
    for (int word = 0; word < DOCTOR_CORE_WORDS; word++)
        if (one[word] & ~other[word])
            return false;
    return true;
}

/* Returns how many ranks of HOST are bound within CORES, and sets *SECOND to the second of them. */
static int count_within(const doctor_job *job, int host, const uint64_t cores[], int *second) {
    int count = 0;
    for (int rank = 0; rank < job->ranks; rank++)
        if (job->host_of[rank] == host && is_within(job->facts[rank].cores, cores) && ++count == 2)
            *second = rank;
    return count;
}

/* Looks for ranks that together may use fewer cores than there are such ranks: one core if ONE is
 * true, else several cores. */
static void judge_cores(odd_hosts *odd, bool one, doctor_findings *found) {
    const doctor_job *job = odd->job;
    for (int rank = 0; rank < job->ranks; rank++) {
        const uint64_t *cores = job->facts[rank].cores;
        const int host = job->host_of[rank], allowed = doctor_cores_count(cores);
        int second = rank;
        const int count = count_within(job, host, cores, &second);
        if (allowed == 0 || count <= allowed || one != (allowed == 1))
            continue;
        if (one)
            add_odd(odd, host, "%d ranks, %d and %d among them, are bound to the same core", count,
                    rank, second);
        else
            add_odd(odd, host, "%d ranks, %d and %d among them, may use only %d cores", count, rank,
                    second, allowed);
    }
    add_finding(odd, one ? DOCTOR_SHARED_CORE : DOCTOR_FEW_CORES, true,
                one ? "bind each rank to a core of its own: mpirun --map-by core --bind-to core; "
                      "with several jobs on a host: --bind-to none"
                    : "start at most as many ranks on a host as it has cores; if there must be "
                      "more: --mca mpi_yield_when_idle 1",
                found);
}

static void judge_limits(odd_hosts *odd, doctor_findings *found) {
    const doctor_job *job = odd->job;
    for (int host = 0; host < job->hosts; host++) {
        const double limit = doctor_job_facts(job, host)->limit;
        const int ranks = doctor_job_ranks(job, host);
        if (limit > 0 && limit < ranks)
            add_odd(odd, host, "a control group grants %.3g processors to %d rank%s", limit, ranks,
                    ranks == 1 ? "" : "s");
    }
    add_finding(odd, DOCTOR_LIMIT, true,
                "raise cpu.max of the control group, or the processors of the container or of the "
                "job (docker --cpus, Slurm --cpus-per-task)",
                found);
}

static double speed_of(const doctor_facts *facts, int nth) {
    return facts->speed[nth];
}

static double share_of(const doctor_facts *facts, int nth) {
    return facts->share[nth];
}

/* Returns the value of HOST's worst rank in try NTH. */
static double worst_of(const doctor_job *job, int host, int nth,
                       double (*value)(const doctor_facts *, int)) {
    double worst = value(doctor_job_facts(job, host), nth);
    for (int rank = 0; rank < job->ranks; rank++)
        if (job->host_of[rank] == host && value(&job->facts[rank], nth) < worst)
            worst = value(&job->facts[rank], nth);
    return worst;
}

/*
 * Adds the hosts whose value is below LEAST times the median in all tries, or in all tries but one;
 * in the latter case the finding is uncertain. Tries whose median is below USUAL don't count.
 */
static void judge_speed(odd_hosts *odd, double (*value)(const doctor_facts *, int), double least,
                        double usual, doctor_kind kind, const char *what, const char *remedy,
                        doctor_findings *found) {
    const doctor_job *job = odd->job;
    double *values = malloc((size_t)job->hosts * sizeof *values), medians[DOCTOR_TRIES];
    int *low = calloc((size_t)job->hosts, sizeof *low);
    for (int nth = 0; values && low && nth < DOCTOR_TRIES; nth++) {
        for (int host = 0; host < job->hosts; host++)
            values[host] = worst_of(job, host, nth, value);
        medians[nth] = app_stats_median(values, job->hosts);
        for (int host = 0; medians[nth] >= usual && host < job->hosts; host++)
            low[host] += worst_of(job, host, nth, value) < least * medians[nth];
    }
    for (int host = 0; values && low && host < job->hosts; host++) {
        if (low[host] < DOCTOR_TRIES - 1 || is_explained(found, host, kind))
            continue;
        double worst = INFINITY, best = 0;
        for (int nth = 0; nth < DOCTOR_TRIES; nth++) {
            worst = fmin(worst, worst_of(job, host, nth, value) / medians[nth]);
            best = fmax(best, worst_of(job, host, nth, value) / medians[nth]);
        }
        add_odd(odd, host, "%s, %.0f to %.0f %% of the median host in %d tries", what, 100 * worst,
                100 * best, DOCTOR_TRIES);
    }
    add_finding_of_few(odd, kind, odd->count > 0 && low[odd->first] == DOCTOR_TRIES, remedy, found);
    free(values);
    free(low);
}

/* --- Interfaces --- */

static const doctor_interface *interface_named(const doctor_facts *facts, const char *name) {
    for (int i = 0; i < facts->interface_count; i++)
        if (strcmp(facts->interfaces[i].name, name) == 0)
            return &facts->interfaces[i];
    return NULL;
}

/* Returns the interface of HOST that most of MPI's connections use; NULL if none is in use. */
static const doctor_interface *interface_used(const doctor_job *job, int host) {
    const doctor_facts *facts = doctor_job_facts(job, host);
    const doctor_interface *most = NULL;
    for (int i = 0; i < facts->interface_count; i++)
        if (facts->interfaces[i].connections > (most ? most->connections : 0))
            most = &facts->interfaces[i];
    return most;
}

static int count_used(const doctor_facts *facts) {
    int count = 0;
    for (int i = 0; i < facts->interface_count; i++)
        count += facts->interfaces[i].connections > 0;
    return count;
}

static void judge_bridges(odd_hosts *odd, doctor_findings *found) {
    for (int host = 0; host < odd->job->hosts; host++)
        for (int i = 0; i < doctor_job_facts(odd->job, host)->interface_count; i++) {
            const doctor_interface *at = &doctor_job_facts(odd->job, host)->interfaces[i];
            if (at->bridge && at->connections > 0)
                add_odd(odd, host,
                        "MPI's connections use %s, a bridge for containers or virtual machines",
                        at->name);
        }
    add_finding(odd, DOCTOR_BRIDGE, true,
                "name the network that connects the hosts: --mca btl_tcp_if_include 10.0.0.0/16",
                found);
}

/* Looks for hosts that lack an interface which MPI uses on the host with the most interfaces in
 * use, or that have this interface without a link. */
static void judge_links(odd_hosts *odd, doctor_findings *found) {
    const doctor_job *job = odd->job;
    const doctor_facts *model =
        doctor_job_facts(job, 0); /* the host with the most interfaces in use */
    for (int host = 1; host < job->hosts; host++)
        if (count_used(doctor_job_facts(job, host)) > count_used(model))
            model = doctor_job_facts(job, host);
    for (int i = 0; i < model->interface_count; i++)
        for (int host = 0; model->interfaces[i].connections > 0 && host < job->hosts; host++) {
            const char *name = model->interfaces[i].name;
            const doctor_interface *here = interface_named(doctor_job_facts(job, host), name);
            if (!here || !here->running)
                add_odd(odd, host, "%s, which MPI uses on other hosts, has %s here", name,
                        here ? "no link" : "no address");
        }
    add_finding_of_few(odd, DOCTOR_DOWN, true,
                       "repair the cable or the driver, or leave this network out: --mca "
                       "btl_tcp_if_include with another one",
                       found);
}

/* Adds hosts whose interface in use has another MTU than the median host if OF_MTU, else a lower
 * speed. */
static void judge_values(odd_hosts *odd, bool of_mtu, doctor_findings *found) {
    const doctor_job *job = odd->job;
    double *values = malloc((size_t)job->hosts * sizeof *values);
    int count = 0;
    for (int host = 0; values && host < job->hosts; host++) {
        const doctor_interface *used = interface_used(job, host);
        const int value = !used ? 0 : of_mtu ? used->mtu : used->megabits;
        if (value > 0)
            values[count++] = value;
    }
    if (count > 0)
        app_stats_sort(values, count);
    /* With an even number of values, use the upper middle value, not a mean that no host has. */
    const double usual = count > 0 ? values[count / 2] : 0;
    for (int host = 0; count > 0 && host < job->hosts; host++) {
        const doctor_interface *used = interface_used(job, host);
        if (used && of_mtu && used->mtu != 0 && used->mtu != usual)
            add_odd(odd, host, "%s has an MTU of %d, that of the other hosts is %.0f", used->name,
                    used->mtu, usual);
        if (used && !of_mtu && used->megabits != 0 && used->megabits < usual)
            add_odd(odd, host, "%s runs at %d Mbit/s, that of the other hosts at %.0f", used->name,
                    used->megabits, usual);
    }
    free(values);
    add_finding_of_few(
        odd, of_mtu ? DOCTOR_MTU : DOCTOR_MEGABITS, true,
        of_mtu ? "give all hosts and switches the same MTU: ip link set dev INTERFACE mtu N"
               : "check cable, port and autonegotiation: ethtool INTERFACE",
        found);
}

static void judge_errors(odd_hosts *odd, doctor_findings *found) {
    for (int host = 0; host < odd->job->hosts; host++)
        for (int i = 0; i < doctor_job_facts(odd->job, host)->interface_count; i++) {
            const doctor_interface *at = &doctor_job_facts(odd->job, host)->interfaces[i];
            if (at->errors > 0)
                add_odd(odd, host, "%s has lost %llu packets for errors during the test", at->name,
                        (unsigned long long)at->errors);
        }
    add_finding(odd, DOCTOR_ERRORS, true, "exchange the cable or the port: ip -s -s link", found);
}

static void judge_names(odd_hosts *odd, doctor_findings *found) {
    for (int host = 0; odd->job->hosts > 1 && host < odd->job->hosts; host++)
        if (doctor_job_facts(odd->job, host)->loopback[0])
            add_odd(odd, host, "the host's own name means %s, which leads to no other host",
                    doctor_job_facts(odd->job, host)->loopback);
    add_finding(odd, DOCTOR_NAME_LOOPBACK, true,
                "remove the name from the line 127.0.1.1 of /etc/hosts, and give it the address "
                "of the network there",
                found);
}

/* Returns the number of ranks in RACK. */
static int count_in_rack(const doctor_job *job, int rack) {
    int count = 0;
    for (int rank = 0; rank < job->ranks; rank++)
        count += job->rack_of[rank] == rack;
    return count;
}

/* Adds a finding if the order of ranks is nearer to a random order than to one rack by rack. */
static void judge_order(const doctor_job *job, doctor_findings *found) {
    const int neighbours = job->ranks - 1;
    int racks = 0, apart = 0;
    if (!job->rack_of || found->count == DOCTOR_FINDINGS)
        return;
    for (int rank = 0; rank < job->ranks; rank++) {
        racks = job->rack_of[rank] >= racks ? job->rack_of[rank] + 1 : racks;
        apart += rank > 0 && job->rack_of[rank] != job->rack_of[rank - 1];
    }
    /* Mean number of pairs of consecutive ranks in different racks, if the order is random. */
    double at_random = neighbours;
    for (int rack = 0; rack < racks; rack++) {
        const double ranks = count_in_rack(job, rack);
        at_random -= ranks * (ranks - 1) / job->ranks;
    }
    const int least = racks - 1;
    if (apart - least < 2 || apart - least <= (at_random - least) / 2)
        return;
    doctor_finding *finding = &found->of[found->count++];
    *finding = (doctor_finding){
        DOCTOR_ORDER,
        !job->racks_measured,
        -1,
        -1,
        "",
        "list the hosts rack by rack in the hostfile, or have coll-info place find an order: it "
        "keeps messages between neighbours, and the MPI library's collectives, off the uplinks",
        NULL};
    snprintf(finding->text, sizeof finding->text,
             "the order of the hosts: %d of %d pairs of consecutive ranks are in different racks, "
             "rack by rack it would be %d",
             apart, neighbours, least);
}

void doctor_judge_facts(const doctor_job *job, doctor_findings *found) {
    odd_hosts odd = {.job = job, .is_odd = calloc((size_t)job->hosts, sizeof *odd.is_odd)};
    if (!odd.is_odd)
        return;
    judge_cores(&odd, true, found);
    judge_cores(&odd, false, found);
    judge_limits(&odd, found);
    judge_speed(
        &odd, share_of, BUSY, BUSY, DOCTOR_BUSY,
        "ranks get too little of their cores' time while all compute",
        "look for other programs on that host: top; or for a virtual machine with a part of "
        "a core",
        found);
    judge_speed(&odd, speed_of, SLOW, 0, DOCTOR_SLOW, "a core computes slowly",
                "compare frequency, power plan and temperature: cpupower frequency-info; or leave "
                "the host out",
                found);
    judge_bridges(&odd, found);
    judge_links(&odd, found);
    judge_values(&odd, false, found);
    judge_values(&odd, true, found);
    judge_errors(&odd, found);
    judge_names(&odd, found);
    judge_order(job, found);
    free(odd.is_odd);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges what ranks and hosts know of themselves. */
#include "config.h"

#include "tools/doctor/judge.h"

#include "app/stats.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host is slow if it has less than this of the median speed, and busy if its ranks get less than
 * this of the time of a core that the median host's ranks get. */
static const double SLOW = 0.85, BUSY = 0.75;

/* If more than 1/FEW of the hosts differ from the usual value, there are kinds of hosts. */
enum { FEW = 3, NAMED = 4 };

/* Hosts that stand out for the same reason. */
typedef struct odd_hosts {
    const doctor_job *job;
    bool *is_odd;
    int count, first;
} odd_hosts;

static void add_odd(odd_hosts *odd, int host) {
    if (odd->is_odd[host])
        return;
    odd->first = odd->count++ == 0 || host < odd->first ? host : odd->first;
    odd->is_odd[host] = true;
}

/* Begins with no odd host. */
static void clear(odd_hosts *odd) {
    memset(odd->is_odd, 0, (size_t)odd->job->hosts * sizeof *odd->is_odd);
    odd->count = 0;
}

static const doctor_facts *facts_of(const doctor_job *job, int host) {
    return &job->facts[job->first[host]];
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
                                 facts_of(odd->job, host)->host);
        named++;
    }
    if (named < odd->count && used < size)
        snprintf(text + used, size - used, " and %d more", odd->count - named);
}

/* Adds a finding about the odd hosts, if there are any: their names, and then the evidence. */
static void add_finding(const odd_hosts *odd, doctor_kind kind, bool certain, const char *remedy,
                        doctor_findings *found, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
static void add_finding(const odd_hosts *odd, doctor_kind kind, bool certain, const char *remedy,
                        doctor_findings *found, const char *format, ...) {
    if (odd->count == 0 || found->count == DOCTOR_FINDINGS)
        return;
    doctor_finding *finding = &found->of[found->count++];
    *finding = (doctor_finding){kind, certain, odd->first, -1, "", remedy};
    name_hosts(odd, finding->text, sizeof finding->text / 2);
    const size_t used = strlen(finding->text);
    va_list values;
    va_start(values, format);
    vsnprintf(finding->text + used, sizeof finding->text - used, format, values);
    va_end(values);
}

/* Returns whether FOUND has one of the first kinds, up to LAST, about HOST. */
static bool is_explained(const doctor_findings *found, int host, doctor_kind last) {
    for (int i = 0; i < found->count; i++)
        if (found->of[i].host == host && found->of[i].kind <= last)
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

/* Looks for ranks that may use fewer cores than they are: alone on ONE core, or on several. */
static void judge_cores(const doctor_job *job, odd_hosts *odd, bool one, doctor_findings *found) {
    int here = 0, cores = 0, first = 0, next = 0;
    clear(odd);
    for (int rank = 0; rank < job->ranks; rank++) {
        const int host = job->host_of[rank], allowed = doctor_cores_count(job->facts[rank].cores);
        int second = rank;
        const int count = count_within(job, host, job->facts[rank].cores, &second);
        if (allowed == 0 || count <= allowed || one != (allowed == 1) || odd->is_odd[host])
            continue;
        add_odd(odd, host);
        if (odd->first == host)
            here = count, cores = allowed, first = rank, next = second;
    }
    if (one)
        add_finding(
            odd, DOCTOR_SHARED_CORE, true,
            "bind each rank to a core of its own: mpirun --map-by core --bind-to core; with "
            "several jobs on a host: --bind-to none",
            found, ": %d ranks, %d and %d among them, are bound to the same core", here, first,
            next);
    else
        add_finding(odd, DOCTOR_FEW_CORES, true,
                    "start at most as many ranks on a host as it has cores; if there must be more: "
                    "--mca mpi_yield_when_idle 1",
                    found, ": %d ranks, %d and %d among them, may use only %d cores", here, first,
                    next, cores);
}

static void judge_limits(const doctor_job *job, odd_hosts *odd, doctor_findings *found) {
    double limit = 0;
    int ranks = 0;
    clear(odd);
    for (int host = 0; host < job->hosts; host++) {
        int here = 0;
        for (int rank = 0; rank < job->ranks; rank++)
            here += job->host_of[rank] == host;
        if (facts_of(job, host)->limit <= 0 || facts_of(job, host)->limit >= here)
            continue;
        add_odd(odd, host);
        if (odd->first == host)
            limit = facts_of(job, host)->limit, ranks = here;
    }
    add_finding(odd, DOCTOR_LIMIT, true,
                "raise cpu.max of the control group, or the processors of the container or of the "
                "job (docker --cpus, Slurm --cpus-per-task)",
                found, ": a control group grants %.3g processors to %d rank%s", limit, ranks,
                ranks == 1 ? "" : "s");
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
    double worst = value(facts_of(job, host), nth);
    for (int rank = 0; rank < job->ranks; rank++)
        if (job->host_of[rank] == host && value(&job->facts[rank], nth) < worst)
            worst = value(&job->facts[rank], nth);
    return worst;
}

/*
 * Adds the hosts whose value is less than LEAST of the median in all or, which is uncertain, in all
 * but one of the tries; no host if the median is below USUAL.
 */
static void judge_speed(odd_hosts *odd, double (*value)(const doctor_facts *, int), double least,
                        double usual, doctor_kind kind, const char *what, const char *remedy,
                        doctor_findings *found) {
    const doctor_job *job = odd->job;
    double *values = malloc((size_t)job->hosts * sizeof *values), evidence[DOCTOR_TRIES] = {0};
    int *low = calloc((size_t)job->hosts, sizeof *low);
    clear(odd);
    for (int nth = 0; values && low && nth < DOCTOR_TRIES; nth++) {
        for (int host = 0; host < job->hosts; host++)
            values[host] = worst_of(job, host, nth, value);
        const double median = app_stats_median(values, job->hosts);
        for (int host = 0; median >= usual && host < job->hosts; host++)
            low[host] += worst_of(job, host, nth, value) < least * median;
        for (int host = 0; host < job->hosts; host++)
            if (nth == DOCTOR_TRIES - 1 && low[host] >= nth && !is_explained(found, host, kind))
                add_odd(odd, host);
        evidence[nth] = median;
    }
    double worst = 0, best = 0;
    for (int nth = 0; low && odd->count > 0 && nth < DOCTOR_TRIES; nth++) {
        const double ratio = worst_of(job, odd->first, nth, value) / evidence[nth];
        worst = nth == 0 || ratio < worst ? ratio : worst;
        best = nth == 0 || ratio > best ? ratio : best;
    }
    if (low && odd->count <= (job->hosts + FEW - 1) / FEW)
        add_finding(odd, kind, low[odd->first] == DOCTOR_TRIES, remedy, found,
                    ": %s, %.0f to %.0f %% of the median host in %d tries", what, 100 * worst,
                    100 * best, DOCTOR_TRIES);
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

/* Returns the interface of HOST that most of MPI's connections use; NULL: none does. */
static const doctor_interface *interface_used(const doctor_job *job, int host) {
    const doctor_facts *facts = facts_of(job, host);
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

static void judge_bridges(const doctor_job *job, odd_hosts *odd, doctor_findings *found) {
    const char *name = "";
    clear(odd);
    for (int host = 0; host < job->hosts; host++)
        for (int i = 0; i < facts_of(job, host)->interface_count; i++) {
            const doctor_interface *at = &facts_of(job, host)->interfaces[i];
            if (!at->bridge || at->connections == 0)
                continue;
            add_odd(odd, host);
            name = at->name;
        }
    add_finding(odd, DOCTOR_BRIDGE, true,
                "name the network that connects the hosts: --mca btl_tcp_if_include 10.0.0.0/16",
                found, ": MPI's connections use %s, a bridge for containers or virtual machines",
                name);
}

/* Looks for an interface that MPI uses on most hosts, and that this one lacks, or has without a
 * link. */
static void judge_links(const doctor_job *job, odd_hosts *odd, doctor_findings *found) {
    const doctor_facts *model = NULL;
    const char *name = "", *lack = "";
    for (int host = 0; host < job->hosts; host++) /* the host with the most interfaces in use */
        if (!model || count_used(facts_of(job, host)) > count_used(model))
            model = facts_of(job, host);
    clear(odd);
    for (int i = 0; i < model->interface_count; i++)
        for (int host = job->hosts - 1; model->interfaces[i].connections > 0 && host >= 0; host--) {
            const doctor_interface *here =
                interface_named(facts_of(job, host), model->interfaces[i].name);
            if (here && here->running)
                continue;
            add_odd(odd, host);
            name = model->interfaces[i].name;
            lack = here ? "no link" : "no address";
        }
    if (odd->count <= (job->hosts + FEW - 1) / FEW)
        add_finding(odd, DOCTOR_DOWN, true,
                    "repair the cable or the driver, or leave this network out: --mca "
                    "btl_tcp_if_include with another one",
                    found, ": %s, which MPI uses on other hosts, has %s here", name, lack);
}

/* Adds hosts whose interface in use has another value than most, or a lower one. */
static void judge_values(const doctor_job *job, odd_hosts *odd, doctor_findings *found,
                         bool of_mtu) {
    double *values = malloc((size_t)job->hosts * sizeof *values);
    int count = 0, own = 0;
    const char *name = "";
    clear(odd);
    for (int host = 0; values && host < job->hosts; host++) {
        const doctor_interface *used = interface_used(job, host);
        if (used && (of_mtu || used->megabits > 0))
            values[count++] = of_mtu ? used->mtu : used->megabits;
    }
    const double usual = count > 0 ? app_stats_median(values, count) : 0;
    for (int host = job->hosts - 1; count > 0 && host >= 0; host--) {
        const doctor_interface *used = interface_used(job, host);
        const int value = !used ? 0 : of_mtu ? used->mtu : used->megabits;
        if (value == 0 || (of_mtu ? value == usual : value >= usual))
            continue;
        add_odd(odd, host);
        own = value;
        name = used->name;
    }
    free(values);
    if (odd->count > (job->hosts + FEW - 1) / FEW)
        return;
    if (of_mtu)
        add_finding(odd, DOCTOR_MTU, true,
                    "give all hosts and switches the same MTU: ip link set dev INTERFACE mtu N",
                    found, ": %s has an MTU of %d, that of the other hosts is %.0f", name, own,
                    usual);
    else
        add_finding(odd, DOCTOR_MEGABITS, true,
                    "check cable, port and autonegotiation: ethtool INTERFACE", found,
                    ": %s runs at %d Mbit/s, that of the other hosts at %.0f", name, own, usual);
}

static void judge_errors(const doctor_job *job, odd_hosts *odd, doctor_findings *found) {
    unsigned long long errors = 0;
    const char *name = "";
    clear(odd);
    for (int host = job->hosts - 1; host >= 0; host--)
        for (int i = 0; i < facts_of(job, host)->interface_count; i++) {
            const doctor_interface *at = &facts_of(job, host)->interfaces[i];
            if (at->errors == 0)
                continue;
            add_odd(odd, host);
            errors = at->errors;
            name = at->name;
        }
    add_finding(odd, DOCTOR_ERRORS, true, "exchange the cable or the port: ip -s -s link", found,
                ": %s has lost %llu packets for errors during the test", name, errors);
}

static void judge_names(const doctor_job *job, odd_hosts *odd, doctor_findings *found) {
    clear(odd);
    for (int host = 0; job->hosts > 1 && host < job->hosts; host++)
        if (facts_of(job, host)->loopback[0])
            add_odd(odd, host);
    if (odd->count > 0)
        add_finding(
            odd, DOCTOR_NAME_LOOPBACK, true,
            "remove the name from the line 127.0.1.1 of /etc/hosts, and give it the address "
            "of the network there",
            found, ": the host's own name means %s, which leads to no other host",
            facts_of(job, odd->first)->loopback);
}

void doctor_judge_facts(const doctor_job *job, doctor_findings *found) {
    odd_hosts odd = {.job = job, .is_odd = calloc((size_t)job->hosts, sizeof *odd.is_odd)};
    if (!odd.is_odd)
        return;
    judge_cores(job, &odd, true, found);
    judge_cores(job, &odd, false, found);
    judge_limits(job, &odd, found);
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
    judge_bridges(job, &odd, found);
    judge_links(job, &odd, found);
    judge_values(job, &odd, found, false);
    judge_values(job, &odd, found, true);
    judge_errors(job, &odd, found);
    judge_names(job, &odd, found);
    free(odd.is_odd);
}

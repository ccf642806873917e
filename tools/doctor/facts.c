/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/doctor/facts.h"

#include "app/clocks.h"
#include "app/connections.h"
#include "app/processor_limit.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads a number from the file whose path is PREFIX, NAME and SUFFIX joined. Returns OTHERWISE if
 * there is no number. */
static long read_number(const char *prefix, const char *name, const char *suffix, long otherwise) {
    char path[128];
    long value;
    snprintf(path, sizeof path, "%s%s%s", prefix, name, suffix);
    FILE *file = fopen(path, "r");
    if (!file)
        return otherwise;
    if (fscanf(file, "%ld", &value) != 1)
        value = otherwise;
    fclose(file);
    return value;
}

/* All hardware threads of a core count as the first of these threads. */
static void read_cores(doctor_facts *facts) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int thread = 0; thread < CPU_SETSIZE; thread++) {
        char name[16];
        if (!CPU_ISSET(thread, &allowed))
            continue;
        snprintf(name, sizeof name, "%d", thread);
        const long core = read_number("/sys/devices/system/cpu/cpu", name,
                                      "/topology/thread_siblings_list", thread);
        if (core >= 0 && core < 64 * DOCTOR_CORE_WORDS)
            facts->cores[core / 64] |= UINT64_C(1) << core % 64;
    }
}

int doctor_cores_count(const uint64_t cores[DOCTOR_CORE_WORDS]) {
    int count = 0;
    for (int word = 0; word < DOCTOR_CORE_WORDS; word++)
        count += __builtin_popcountll(cores[word]);
    return count;
}

/* Stores the address of the host's own name if that is a loopback address: Open MPI's daemons may
 * announce it to other hosts, where it leads nowhere. */
static void read_own_address(doctor_facts *facts) {
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(facts->host, NULL, &hints, &found) != 0)
        return;
    const struct sockaddr_in *address = (const void *)found->ai_addr;
    if (ntohl(address->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET)
        inet_ntop(AF_INET, &address->sin_addr, facts->loopback, sizeof facts->loopback);
    freeaddrinfo(found);
}

static uint64_t errors_of(const char *name) {
    static const char *const counters[] = {"/statistics/rx_errors", "/statistics/tx_errors",
                                           "/statistics/rx_missed_errors"};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        sum += (uint64_t)read_number("/sys/class/net/", name, counters[i], 0);
    return sum;
}

static bool is_bridge(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/sys/class/net/%s/bridge", name);
    return access(path, F_OK) == 0 || strncmp(name, "docker", 6) == 0 ||
           strncmp(name, "virbr", 5) == 0;
}

static void read_interfaces(doctor_facts *facts) {
    struct ifaddrs *first;
    if (getifaddrs(&first) != 0)
        return;
    for (const struct ifaddrs *at = first; at; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & IFF_LOOPBACK) ||
            facts->interface_count == DOCTOR_INTERFACES)
            continue;
        doctor_interface *i = &facts->interfaces[facts->interface_count++];
        const long megabits = read_number("/sys/class/net/", at->ifa_name, "/speed", 0);
        snprintf(i->name, sizeof i->name, "%s", at->ifa_name);
        i->address = ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr.s_addr;
        i->mtu = (int)read_number("/sys/class/net/", at->ifa_name, "/mtu", 0);
        i->megabits = megabits > 0 ? (int)megabits : 0;
        i->running = (at->ifa_flags & IFF_UP) && (at->ifa_flags & IFF_RUNNING);
        i->bridge = is_bridge(at->ifa_name);
        i->errors = errors_of(at->ifa_name);
    }
    freeifaddrs(first);
}

static void count_connections(doctor_facts *facts) {
    app_connection list[APP_CONNECTIONS];
    const int count = app_connections_read(list);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < facts->interface_count; i++)
            facts->interfaces[i].connections += list[c].own == facts->interfaces[i].address;
}

/* Reads the two lines "Tcp: NAMES" and "Tcp: VALUES". */
static void read_segments(doctor_facts *facts) {
    char names[1024], values[1024], *rest_of_names, *rest_of_values;
    FILE *file = fopen("/proc/net/snmp", "r");
    if (!file)
        return;
    while (fgets(names, sizeof names, file) && fgets(values, sizeof values, file)) {
        if (strncmp(names, "Tcp:", 4) != 0)
            continue;
        char *name = strtok_r(names, " \n", &rest_of_names),
             *value = strtok_r(values, " \n", &rest_of_values);
        for (; name && value; name = strtok_r(NULL, " \n", &rest_of_names),
                              value = strtok_r(NULL, " \n", &rest_of_values))
            if (strcmp(name, "OutSegs") == 0)
                facts->sent = strtoull(value, NULL, 10);
            else if (strcmp(name, "RetransSegs") == 0)
                facts->resent = strtoull(value, NULL, 10);
    }
    fclose(file);
}

void doctor_facts_read(doctor_facts *facts) {
    *facts = (doctor_facts){.limit = app_processor_limit()};
    if (gethostname(facts->host, sizeof facts->host - 1) != 0)
        snprintf(facts->host, sizeof facts->host, "?");
    read_cores(facts);
    read_own_address(facts);
    read_interfaces(facts);
    count_connections(facts);
    read_segments(facts);
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void doctor_facts_compute(doctor_facts *facts, int nth) {
    enum { PARTS = 16, STEPS = 400000 };
    volatile unsigned state = 1;
    const double began = app_seconds(), began_on_core = processor_seconds();
    double fastest = 1e9;
    /* The fastest part counts: interrupts, and caches that other programs have used, slow some of
     * the parts. */
    for (int part = 0; part < PARTS; part++) {
        const double before = processor_seconds();
        for (int i = 0; i < STEPS; i++)
            state = state * 1664525u + 1013904223u;
        const double taken = processor_seconds() - before;
        fastest = taken < fastest ? taken : fastest;
    }
    facts->speed[nth] = STEPS / fastest;
    facts->share[nth] = (processor_seconds() - began_on_core) / (app_seconds() - began);
}

void doctor_facts_since(doctor_facts *facts, const doctor_facts *earlier) {
    facts->sent -= earlier->sent;
    facts->resent -= earlier->resent;
    for (int i = 0; i < facts->interface_count && i < earlier->interface_count; i++)
        facts->interfaces[i].errors -= earlier->interfaces[i].errors;
}

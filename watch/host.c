/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/host.h"

#include "watch/communicators.h"
#include "watch/process.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

watch_process watch_host_self(void) {
    watch_process_facts facts = {.started = 0};
    int pid = getpid();
    watch_process_read(pid, &facts);
    return (watch_process){.pid = pid, .started = facts.started};
}

watch_fate watch_host_look(watch_process process) {
    watch_process_facts facts;
    if (!watch_process_read(process.pid, &facts) || facts.started != process.started)
        return WATCH_GONE;
    if (facts.state == 'Z' || facts.state == 'X')
        return WATCH_GONE;
    return watch_process_is_stopped(&facts) ? WATCH_STOPPED : WATCH_SILENT;
}

/* Returns a number that identifies this process's namespace of KIND, or 0. */
static uint64_t namespace_id(const char *kind) {
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    return stat(path, &found) == 0 ? found.st_ino : 0;
}

uint64_t watch_host_id(const char *name) {
    char boot[40] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        if (!fgets(boot, sizeof boot, file))
            boot[0] = '\0';
        fclose(file);
    }
    /* Containers on one host can't see one another's processes and loopback interfaces. */
    uint64_t id = watch_mix(namespace_id("pid"), namespace_id("net"));
    for (const char *c = boot; *c; c++)
        id = watch_mix(id, (unsigned char)*c);
    for (const char *c = name; *c; c++)
        id = watch_mix(id, (unsigned char)*c);
    return id;
}

/* Returns whether LIST, such as "eth0,10.0.0.0/24", includes the interface CANDIDATE. */
static bool list_includes(const char *list, const struct ifaddrs *candidate) {
    uint32_t address =
        ntohl(((const struct sockaddr_in *)(const void *)candidate->ifa_addr)->sin_addr.s_addr);
    char words[256], *rest = NULL;
    snprintf(words, sizeof words, "%s", list);
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *slash = strchr(word, '/');
        if (strcmp(word, candidate->ifa_name) == 0)
            return true;
        if (!slash)
            continue;
        *slash = '\0';
        struct in_addr network;
        int bits = atoi(slash + 1);
        uint32_t mask = bits <= 0 ? 0 : bits >= 32 ? UINT32_MAX : ~(UINT32_MAX >> bits);
        if (inet_pton(AF_INET, word, &network) == 1 &&
            (ntohl(network.s_addr) & mask) == (address & mask))
            return true;
    }
    return false;
}

/* Finds the address of an interface that LIST includes, or, if LIST is NULL, of the first interface
 * other than loopback. */
static bool find_listed_address(const char *list, struct in_addr *address) {
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
            (list ? !list_includes(list, one) : (one->ifa_flags & IFF_LOOPBACK) != 0))
            continue;
        *address = ((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr;
        found = true;
    }
    freeifaddrs(all);
    return found;
}

/*
 * Finds the local address from which packets to the daemon of URI, "...;tcp://10.0.0.1,...:1024",
 * leave.
 */
static bool find_address_towards(const char *uri, struct in_addr *address) {
    const char *at = strstr(uri, "tcp://");
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(9)}, here;
    socklen_t length = sizeof here;
    char text[64];
    if (!at)
        return false;
    snprintf(text, sizeof text, "%s", at + strlen("tcp://"));
    text[strcspn(text, ",:")] = '\0';
    if (inet_pton(AF_INET, text, &there.sin_addr) != 1)
        return false;
    int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return false;
    bool found = connect(probe, (struct sockaddr *)&there, sizeof there) == 0 &&
                 getsockname(probe, (struct sockaddr *)&here, &length) == 0;
    close(probe);
    if (found)
        *address = here.sin_addr;
    return found;
}

bool watch_host_address(struct in_addr *address) {
    static const char *const lists[] = {"OMPI_MCA_btl_tcp_if_include", "UCX_NET_DEVICES"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = getenv(lists[i]);
        if (list && find_listed_address(list, address))
            return true;
    }
    static const char *const uris[] = {"OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_local_daemon_uri",
                                       "PMIX_SERVER_URI2", "PMIX_SERVER_URI21"};
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        const char *uri = getenv(uris[i]);
        if (uri && find_address_towards(uri, address) && address->s_addr != htonl(INADDR_LOOPBACK))
            return true;
    }
    return find_listed_address(NULL, address); /* MPICH's launcher announces no address */
}

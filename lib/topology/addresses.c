/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>

/* Returns whether INTERFACE has an IPv4 address, is up and running, and is not a loopback
 * device. */
static bool is_useful(const struct ifaddrs *interface) {
    const unsigned wanted = IFF_UP | IFF_RUNNING;
    return interface->ifa_addr && interface->ifa_netmask &&
           interface->ifa_addr->sa_family == AF_INET && !(interface->ifa_flags & IFF_LOOPBACK) &&
           (interface->ifa_flags & wanted) == wanted;
}

void coll_addresses_find(coll_addresses *own) {
    struct ifaddrs *first;
    *own = (coll_addresses){.count = 0};
    if (getifaddrs(&first) != 0)
        return;
    for (const struct ifaddrs *at = first; at && own->count < COLL_ADDRESSES; at = at->ifa_next) {
        if (!is_useful(at))
            continue;
        own->of[own->count].address = ((const struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr;
        own->of[own->count].mask = ((const struct sockaddr_in *)(void *)at->ifa_netmask)->sin_addr;
        own->count++;
    }
    freeifaddrs(first);
}

/* An address, and the host that has it. */
typedef struct owned {
    in_addr_t address;
    int host;
} owned;

static int by_address(const void *a, const void *b) {
    const owned *one = a, *other = b;
    return one->address != other->address ? (one->address > other->address ? 1 : -1)
                                          : (one->host > other->host) - (one->host < other->host);
}

static void remove_address(coll_addresses *from, in_addr_t address) {
    int kept = 0;
    for (int i = 0; i < from->count; i++)
        if (from->of[i].address.s_addr != address)
            from->of[kept++] = from->of[i];
    from->count = kept;
}

bool coll_addresses_keep_unique(int count, coll_addresses all[]) {
    owned *list = malloc(((size_t)count * COLL_ADDRESSES + 1) * sizeof *list);
    int length = 0;
    if (!list)
        return false;
    for (int host = 0; host < count; host++)
        for (int i = 0; i < all[host].count; i++)
            list[length++] = (owned){all[host].of[i].address.s_addr, host};
    qsort(list, (size_t)length, sizeof *list, by_address);
    for (int first = 0, next; first < length; first = next) {
        for (next = first; next < length && list[next].address == list[first].address;)
            next++;
        for (int i = first; i < next && list[next - 1].host != list[first].host; i++)
            remove_address(&all[list[i].host], list[i].address);
    }
    free(list);
    return true;
}

struct in_addr coll_addresses_choose(const coll_addresses *from, const coll_addresses *to) {
    for (int own = 0; own < from->count; own++)
        for (int other = 0; other < to->count; other++) {
            in_addr_t differs = from->of[own].address.s_addr ^ to->of[other].address.s_addr;
            if ((differs & from->of[own].mask.s_addr) == 0)
                return to->of[other].address;
        }
    return to->of[0].address;
}

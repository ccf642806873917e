/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the address at which one host of a job reaches another, from the hosts' interfaces. It
 * uses no name service, which may take seconds or answer with the loopback address. No MPI; IPv4
 * only.
 */
#ifndef COLL_LIB_TOPOLOGY_ADDRESSES_H
#define COLL_LIB_TOPOLOGY_ADDRESSES_H

#include <netinet/in.h>
#include <stdbool.h>

/* Maximum number of interfaces considered for each host, including bridges for virtual machines. */
enum { COLL_ADDRESSES = 8 };

/* The addresses of one host, in the order of its interfaces. Ranks send this struct as it is in
 * memory. */
typedef struct coll_addresses {
    int port; /* a TCP port of the host, for the caller; 0: none */
    int count;
    struct {
        struct in_addr address, mask;
    } of[COLL_ADDRESSES];
} coll_addresses;

/*
 * Finds the addresses of this host's interfaces that are up, except loopback devices; there may be
 * none. Sets the port to 0.
 */
void coll_addresses_find(coll_addresses *own);

/*
 * Removes the addresses that several hosts have from ALL, which has the addresses of COUNT hosts:
 * bridges of virtual machines have the same address everywhere. Returns false, with nothing
 * changed, if out of memory.
 */
bool coll_addresses_keep_unique(int count, coll_addresses all[]);

/*
 * Returns the address at which host FROM reaches host TO: the first address of TO in the first
 * subnet of FROM that has one, else the first address of TO. TO must have at least one address.
 */
struct in_addr coll_addresses_choose(const coll_addresses *from, const coll_addresses *to);

#endif

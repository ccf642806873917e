/*
 * By which address one host of a job reaches another: found from the hosts' interfaces, without a
 * name service, which may take seconds or answer with the loopback device. No MPI; IPv4.
 */
#ifndef COLL_LIB_PLACE_ADDRESSES_H
#define COLL_LIB_PLACE_ADDRESSES_H

#include <netinet/in.h>
#include <stdbool.h>

/* So many interfaces of a host are looked at, those of bridges for virtual machines included. */
enum { COLL_ADDRESSES = 8 };

/* Of one host, in the order of its interfaces; sent as it is. */
typedef struct coll_addresses {
    int count;
    struct {
        struct in_addr address, mask;
    } of[COLL_ADDRESSES];
} coll_addresses;

/* Finds those of this host's interfaces that are up, without loopback devices; maybe none. */
void coll_addresses_find(coll_addresses *own);

/*
 * Takes out of ALL of COUNT hosts what several of them have: bridges of virtual machines have the
 * same address everywhere. False, with nothing changed, without memory. STRIDE bytes lie between
 * one host's and the next.
 */
bool coll_addresses_keep_unique(int count, coll_addresses *all, size_t stride);

/*
 * Chooses where host FROM reaches host TO: at the first address of TO that is in the subnet of one
 * of FROM's, else at the first. TO has at least one.
 */
struct in_addr coll_addresses_choose(const coll_addresses *from, const coll_addresses *to);

#endif

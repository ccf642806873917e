/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model's parameters for each level of the machine: built in, or measured by coll-profile
 * and read from its file.
 */
#ifndef COLL_LIB_COST_PROFILE_H
#define COLL_LIB_COST_PROFILE_H

#include "lib/base/pack_buffer.h"
#include "lib/cost/cost.h"
#include "lib/cost/network_probe.h"
#include "lib/topology/topo.h"

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>
#include <stdbool.h>

/* The longest name of a profile's source, its NUL included. */
enum { COLL_PROFILE_SOURCE = 1024 };

typedef struct coll_profile {
    char source[COLL_PROFILE_SOURCE]; /* "built-in" or the file it was read from */
    double shared_work; /* s: work of each end of a message between hosts on processors that all
                           ranks share; 0 unless lib/cost/networks.h made this profile */
    coll_cost level[COLL_LEVELS];
    bool measured[COLL_LEVELS]; /* false: built in, or copied from the other level between hosts of
                                   a site */
    bool only_rates;            /* only rates and per_rank of the measured levels were measured */
    coll_curve copy[COLL_COPIES];
} coll_profile;

/* Returns values typical of shared memory within nodes and gigabit Ethernet between them. */
const coll_profile *coll_profile_builtin(void);

/*
 * Sets PROFILE for the hosts of TOPO; local. PATH is a file, which must be good and name at least
 * one of these hosts; "built-in"; or "" to search. A search uses libcoll/profile in XDG_CONFIG_HOME
 * (or ~/.config), else /etc/libcoll/profile, else the built-in values; it skips files that don't
 * exist or name none of these hosts, but a damaged file is an error. PROBLEM (COLL_TEXTFILE_PROBLEM
 * bytes) receives the text of an error, or "".
 */
void coll_profile_load(const char *path, const coll_topo *topo, coll_profile *profile,
                       char *problem);

/*
 * Sets PROFILE's latencies in a rack and between racks from ROUND_TRIP, a measured round trip in
 * seconds, or 0 if there is none. PROFILE must be the built-in one. The results are the built-in
 * latencies times a power of two from 1 to 1024, so that jobs on the same hosts get the same
 * latencies.
 */
void coll_profile_set_round_trip(coll_profile *profile, double round_trip);

/*
 * Sets PROFILE's latencies in a rack and between racks to RACK and SITE, in seconds, unless
 * coll-profile has measured them. If one of the two is 0, which means unknown, that latency keeps
 * its ratio to the other; if both are 0, nothing changes.
 */
void coll_profile_set_latencies(coll_profile *profile, double rack, double site);

/* Replaces the rates of messages between hosts in PROFILE, a built-in profile, by RATES, which were
 * measured on the hosts of TOPO when the job began. */
void coll_profile_set_rates(coll_profile *profile, const coll_topo *topo,
                            const coll_network_rates *rates);

/* Returns whether PROFILE is the built-in one. */
bool coll_profile_is_builtin(const coll_profile *profile);

/* Packs PROFILE into PACK, or unpacks it. */
void coll_profile_carry(coll_pack_buffer *pack, coll_profile *profile);

/* Returns the cost of the level between the farthest ranks of TOPO, which limits most algorithms.
 */
const coll_cost *coll_profile_outermost(const coll_profile *profile, const coll_topo *topo);

/*
 * Returns WANTED, the user's segment, but at most BYTES. If WANTED is 0, returns the segment size
 * for a pipeline of m = BYTES whose first segment takes FILL segment times to reach the end: c =
 * sqrt(m a / (FILL B)), which minimizes m / c (a + c B) + FILL c B, with the link's overhead a and
 * time per byte B. But c is about 4 KB or more, because smaller segments are mostly header, and at
 * most 32 KB, because larger ones come near the transports' eager limit (64 KB over Open MPI's
 * TCP), above which a rank's clear-to-send queues behind the data that it is forwarding. The
 * segments are of equal size, and at least two, since one segment is no pipeline. Source: Zhang and
 * Qiu, section 4.1 (k_opt).
 */
size_t coll_profile_segment_or(uint64_t wanted, const coll_cost *link, size_t bytes, double fill);

/*
 * Returns WANTED, the user's radix. If WANTED is below 2, returns the radix r from 2 to 8 with
 * which RANKS ranks need the least time for rounds of r - 1 short messages each.
 */
int coll_profile_radix_or(uint64_t wanted, const coll_cost *link, int ranks);

#endif

/*
 * The cost model's parameters for each level of the machine: built in, or measured by coll-profile
 * and read from its file.
 */
#ifndef COLL_LIB_COST_PROFILE_H
#define COLL_LIB_COST_PROFILE_H

#include "lib/base/parcel.h"
#include "lib/cost/cost.h"
#include "lib/place/topo.h"

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>
#include <stdbool.h>

/* The longest name of a profile's source, its NUL included. */
enum { COLL_PROFILE_SOURCE = 1024 };

typedef struct coll_profile {
    char source[COLL_PROFILE_SOURCE]; /* "built-in" or the file it was read from */
    coll_cost level[COLL_LEVELS];
    bool measured[COLL_LEVELS]; /* false: the built-in values */
    coll_curve copy[COLL_COPIES];
} coll_profile;

/* Values typical of shared memory within nodes and of gigabit Ethernet between them. */
const coll_profile *coll_profile_builtin(void);

/*
 * Finds the profile for the hosts of TOPO; local. PATH is a file, which must then be good and of
 * these hosts; "built-in"; or "" to search. A search takes libcoll/profile in XDG_CONFIG_HOME (or
 * ~/.config), else /etc/libcoll/profile, else the built-in values; it passes over files that are
 * not there or of other hosts, but a damaged one is a problem. PROBLEM (COLL_TEXTFILE_PROBLEM
 * bytes) says what is
 * wrong; "" where PROFILE is set.
 */
void coll_profile_load(const char *path, const coll_topo *topo, coll_profile *profile,
                       char *problem);

/*
 * Sets the latency between the hosts of PROFILE, which must be built in, from a ROUND_TRIP in
 * seconds that was seen; 0 if none was. The result is the built-in latency times a power of two, so
 * that jobs on the same hosts get the same one; never less than the built-in latency.
 */
void coll_profile_set_round_trip(coll_profile *profile, double round_trip);

/* Returns whether PROFILE is the built-in one. */
bool coll_profile_is_builtin(const coll_profile *profile);

/* Puts PROFILE into PARCEL, or takes it out. */
void coll_profile_carry(coll_parcel *parcel, coll_profile *profile);

/* The farthest level at which ranks of TOPO are apart, and its cost, which bounds most algorithms.
 */
coll_level coll_profile_farthest(const coll_topo *topo);
const coll_cost *coll_profile_outermost(const coll_profile *profile, const coll_topo *topo);

/*
 * The segment for a pipeline of BYTES whose first segment takes FILL segment times to get to the
 * end: the one that makes m / c (a + c B) + FILL c B least, c = sqrt(m a / (FILL B)). Within
 * bounds: smaller ones are all header, and larger ones than 32 KB come near the eager limit of
 * transports (64 KB over Open MPI's TCP), above which a rank's clear-to-send queues behind the data
 * that it is forwarding. Data of few KB is cut in two at least, since one segment alone is no
 * pipeline. Source: Zhang, Qiu: High Performance Clustering of Social Images, section 4.1 (k_opt).
 */
size_t coll_profile_segment(const coll_cost *link, size_t bytes, double fill);

/* WANTED, where the user named a segment, but at most BYTES; else (0) the best as above. */
size_t coll_profile_segment_or(uint64_t wanted, const coll_cost *link, size_t bytes, double fill);

/*
 * WANTED, where the user named a radix; else (below 2) the one of up to 8 with which RANKS spend
 * least on rounds and messages, where each round has as many short messages as the radix has other
 * digits.
 */
int coll_profile_radix_or(uint64_t wanted, const coll_cost *link, int ranks);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latencies between the sites of a communicator: read from a file (COLL_LATENCIES) or measured.
 *
 * Only the leader of each site, its lowest rank, measures: by probes for which the other process
 * need not be awake (hlot/probe.h). At first, all leaders probe each other in rounds, as in a
 * tournament: the pairs of a round are disjoint, so a leader has only a few probes under way.
 * Afterwards all ranks know the same matrix.
 *
 * Later measurements need neither a thread nor waiting. With its broadcast a root may begin a round
 * of probes, at most every 50 ms. Each leader then reads the results of answered probes, starts the
 * probes of this round, and sends its forecasts (hlot/forecast.h) to the root, which checks for
 * these messages in its next broadcast. A sample far from the forecast is checked by another probe
 * at once, so that two samples show a lasting change. The rate is bounded: a root begins probes at
 * most 20 times a second, with a few packets for each leader, some 10 KB/s.
 *
 * No two clocks are compared. A probe measures a round trip, and half of that is taken as the
 * latency of either direction. This is right if both directions take the same time. If they don't,
 * a file can give the latencies of both directions.
 *
 * A link whose probes are not answered keeps its last forecast, so the last good tree stays in use.
 * A link that has never answered counts as slower than all other links. COLL_TRACE reports both.
 */
#ifndef COLL_HLOT_LATENCY_H
#define COLL_HLOT_LATENCY_H

#include "hlot/forecast.h"
#include "hlot/matrix.h"
#include "lib/tuning/state.h"

#include <stdint.h>

typedef struct hlot_latency hlot_latency;

/*
 * Loads or measures the latencies between the sites of COMM. LEADS has the leader of each site and
 * must live as long as the result. Sets the latencies of COMM's topology. Also sets the latency of
 * the profile's wide-area level, unless the profile has a measured one. Collective. All ranks get
 * the same MPI_ERR_FILE or MPI_ERR_NO_MEM; after any other error COMM is broken. The caller closes
 * the result.
 */
int hlot_latency_open(coll_comm *comm, const int leads[], hlot_latency **latency);
void hlot_latency_close(hlot_latency *latency);

/*
 * On the root: processes the reports that have arrived, and sets *ROUND to the round of probes that
 * accompanies its broadcast, or to 0. If there is a round, all leaders must call
 * hlot_latency_take_part after they have passed the data on.
 */
int hlot_latency_begin(hlot_latency *latency, uint32_t *round);

/*
 * Does a leader's part of a ROUND that ROOT has begun. Does nothing on other ranks, or if ROUND is
 * 0.
 */
int hlot_latency_take_part(hlot_latency *latency, uint32_t round, int root);

/*
 * Returns the latencies as this rank knows them. Sets *CHANGES, unless CHANGES is NULL, to how
 * often they have changed.
 */
const hlot_latencies *hlot_latency_known(const hlot_latency *latency, long *changes);

/* Returns how many links have not answered their latest probe, as far as this rank knows. */
int hlot_latency_silent(const hlot_latency *latency);

/*
 * Returns the opponent of SITE in ROUND (from 0) of a tournament of SITES sites, or -1 if SITE has
 * none. In any SITES - 1 consecutive rounds (in SITES rounds if SITES is odd), every two sites are
 * opponents once.
 */
int hlot_latency_opponent(int sites, uint32_t round, int site);

#endif

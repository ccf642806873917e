/*
 * Latencies between the sites of a communicator: by hand (COLL_LATENCIES) or measured.
 *
 * Only one rank of each site measures, its lead, by probes that nobody need be awake for
 * (hlot/probe.h). The first time all leads probe each other in rounds, as in a tournament: the
 * pairs of a round are disjoint, and a lead has no more than a few probes under way. All ranks then
 * know the same matrix.
 *
 * Later there is no thread and no waiting: a broadcast's root may begin a round with it, at most
 * every PERIOD seconds. Each lead then takes in the probes that were answered, starts those of the
 * next round, and sends the root what it forecasts (hlot/forecast.h), in messages that the root
 * looks for in its next broadcast. A sample far from the forecast is checked by another probe at
 * once, so that a lasting change is believed after two. Bounded rate: 20 rounds a second with a few
 * packets for each lead, some 10 KB/s.
 *
 * One-way figures: no two clocks are compared. A probe measures a round trip, and half of that
 * stands for either direction, which is right where both take the same time. Where they don't, a
 * matrix by hand says so; its two directions are taken as they are.
 *
 * A link that is silent keeps its last forecast, so that the last good tree stays; one that never
 * answered counts as slower than all others. COLL_TRACE tells.
 */
#ifndef COLL_HLOT_LATENCY_H
#define COLL_HLOT_LATENCY_H

#include "hlot/forecast.h"
#include "hlot/matrix.h"
#include "lib/operation/state.h"

#include <stdint.h>

typedef struct hlot_latency hlot_latency;

/*
 * Loads or measures the latencies between the sites of COMM, whose leads are LEADS (one rank a
 * site; they live as long as the result). Sets COMM's topology's latencies and, unless it was
 * measured, the latency of the profile's wide level. Collective; all ranks get the same error:
 * MPI_ERR_FILE, MPI_ERR_NO_MEM, or MPI's own. The caller closes the result.
 */
int hlot_latency_open(coll_comm *comm, const int leads[], hlot_latency **latency);
void hlot_latency_close(hlot_latency *latency);

/*
 * The root takes in what has been reported. *ROUND is the round of probes that goes with its
 * broadcast, or 0 for none; all leads must then take part, after they have passed the data on.
 */
int hlot_latency_begin(hlot_latency *latency, uint32_t *round);

/* A lead's part of a ROUND (0: nothing) that ROOT has begun. */
int hlot_latency_take_part(hlot_latency *latency, uint32_t round, int root);

/* The latencies as this rank knows them; *CHANGES, if not NULL, is how often they have changed. */
const hlot_latencies *hlot_latency_known(const hlot_latency *latency, long *changes);

/* Links whose probes have gone unanswered lately, as far as this rank knows. */
int hlot_latency_silent(const hlot_latency *latency);

/*
 * The opponent of SITE in ROUND (from 0) of a tournament of SITES, or -1. In any SITES - 1 rounds
 * in a row (SITES, where it is odd) every two sites meet once.
 */
int hlot_latency_opponent(int sites, uint32_t round, int site);

#endif

/*
 * What messages cost at one level of the machine, in seconds as functions of their size: the
 * parameters of Tam and Wang's model. Pure.
 *
 * A parameter that was measured is a curve; one that was not follows from the three figures that
 * every level has: a message takes Os + L + Or + Ur = latency + m B, of which the overhead is spent
 * at either end.
 *
 * Source: Tam, Wang: a performance model for commodity clusters, section 3.2.
 */
#ifndef COLL_LIB_COST_COST_H
#define COLL_LIB_COST_COST_H

#include "coll_tools.h"

#include <stddef.h>

typedef COLL_Cost coll_cost;
typedef COLL_Curve coll_curve;

/* What is wrong with CURVE, in a few static words ("a time below the one before"); NULL where it is
 * good.
 */
const char *coll_curve_fault(const coll_curve *curve);

/* Os, gs, gr, Or, Ur: see COLL_Parameter. */
double coll_cost_send_overhead(const coll_cost *cost, double bytes);
double coll_cost_send_gap(const coll_cost *cost, double bytes);
double coll_cost_receive_gap(const coll_cost *cost, double bytes);
double coll_cost_arrival_overhead(const coll_cost *cost, double bytes);
double coll_cost_receive_overhead(const coll_cost *cost, double bytes);

/*
 * L(m; p), where RANKS (p; 2 for one pair) take part at once, all but one of them sending: l(p) +
 * m B max(1, (p - 1) m / (C gs(m))), where C is what the level's network moves in all.
 */
double coll_cost_transfer(const coll_cost *cost, double bytes, int ranks);

/* One message from the start of its send until its receiver has it: Os + L + Or + Ur. */
double coll_cost_message(const coll_cost *cost, double bytes, int ranks);

/* The same where the receiver is a rank of libcoll that has been waiting: it wakes up first. */
double coll_cost_relay(const coll_cost *cost, double bytes, int ranks);

/*
 * COUNT messages of BYTES each that one rank sends one after the other, until the last one has
 * arrived: they share the sender's link as one message of their total does, and its processor.
 */
double coll_cost_messages(const coll_cost *cost, double count, double bytes, int ranks);

/*
 * How far a link gets ahead of its rate by resting, in seconds of that rate: so much passes at
 * once, then what comes takes but a share of its time, until the link is as far ahead as it gets. A
 * message that finds links rested takes so much less than a stream needs for its bytes. Ethernet's
 * own don't get ahead (most is 0); those whose rate buckets of tokens limit do, in clouds for
 * example.
 */
typedef struct coll_burst {
    double most, at_once;
    double peak; /* that share, from 0 to 1 */
} coll_burst;

coll_burst coll_cost_burst(const coll_cost *cost);

/* BL, the bytes that wait before the bottleneck without loss; 0: unknown. */
double coll_cost_buffer(const coll_cost *cost);

#endif

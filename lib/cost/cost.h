/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The costs of messages at one level of the machine, in seconds as functions of their size: the
 * parameters of Tam and Wang's model. Pure.
 *
 * A measured parameter is a curve. A parameter that was not measured is derived from three figures
 * that every level has: a message of m bytes takes Os + L + Or + Ur = latency + m * per_byte, of
 * which each end spends the overhead.
 *
 * Source: Tam and Wang, section 3.2.
 */
#ifndef COLL_LIB_COST_COST_H
#define COLL_LIB_COST_COST_H

#include "coll_tools.h"

#include <stddef.h>

typedef COLL_Cost coll_cost;
typedef COLL_Curve coll_curve;

/* The sender of a message of at least this many bytes asks the receiver before it sends the data.
 * With the header, such a message exceeds the eager limit of most transports, 64 KB. */
enum { COLL_EAGER = 64 << 10 };

/* A cost's per_rank is measured with at most so many ranks: more don't make messages longer. */
enum { COLL_RANKS_MEASURED = 64 };

/* Returns what is wrong with CURVE, as static text ("a time below the one before"); NULL if CURVE
 * is valid. */
const char *coll_curve_fault(const coll_curve *curve);

/* Os, gs, gr, Or, Ur: see COLL_Parameter. */
double coll_cost_send_overhead(const coll_cost *cost, double bytes);
double coll_cost_send_gap(const coll_cost *cost, double bytes);
double coll_cost_receive_gap(const coll_cost *cost, double bytes);
double coll_cost_arrival_overhead(const coll_cost *cost, double bytes);
double coll_cost_receive_overhead(const coll_cost *cost, double bytes);

/* Returns L of a message that no other message disturbs: l + m B max(1, m / (C gs(m))), where l is
 * L of an empty message, m B the rest of L between two ranks, and C the total rate of the level's
 * network. */
double coll_cost_transfer(const coll_cost *cost, double bytes);

/* Returns the time of one message from the start of its send to the end of its receive: Os + L + Or
 * + Ur. */
double coll_cost_message(const coll_cost *cost, double bytes);

/* Returns the time of one message, as above, if the receiver has been waiting in libcoll and must
 * wake up first. */
double coll_cost_relay(const coll_cost *cost, double bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts the time of collectives with and without DCPs, with the cost model. Pure arithmetic.
 * Source: Sancho, Kerbyson and Barker, sections IV.A and V.E: step counts, with latencies
 * and overheads.
 */
#ifndef COLL_CDCP_DCP_MODEL_H
#define COLL_CDCP_DCP_MODEL_H

#include "lib/cost/profile.h"

#include <stddef.h>

/* The numbers of application ranks and DCPs, and the costs of messages between them. */
typedef struct coll_model_job {
    int applications, dcps;
    int most_on_node;  /* the largest number of ranks on a node */
    coll_cost to_dcp;  /* between a rank and its DCP */
    coll_cost among;   /* among DCPs, and among ranks of different nodes */
    coll_cost on_node; /* between ranks of a node */
} coll_model_job;

/*
 * Returns the seconds of an exchange of BYTES among DCPS processors by recursive multiplying with
 * RADIX.
 */
double coll_model_exchange(int dcps, int radix, size_t bytes, const coll_cost *cost);

/* Returns the radix, at least 2, with the fastest exchange of 8 bytes, the paper's usual size. */
int coll_model_radix(int dcps, const coll_cost *cost);

/*
 * Returns the seconds of an exchange among PARTIES by the digits of the distances
 * (lib/pattern/radix.h), with the smallest radix that needs at most DIGITS digits. Each party has
 * BYTES, in equal blocks for all parties.
 */
double coll_model_blocks_exchange(int parties, int digits, double bytes, const coll_cost *cost);

/*
 * Returns the number of digits with which coll_model_blocks_exchange takes the least time; 1 means
 * that blocks go directly. COLL_MODEL_BLOCKS_USUAL is the assumed size in bytes of all blocks of a
 * rank together.
 */
enum { COLL_MODEL_BLOCKS_USUAL = 4096 };
int coll_model_digits(int parties, double bytes, const coll_cost *cost);

/*
 * Returns the seconds of an allreduce of BYTES, from the last rank's post to the last rank's
 * result.
 */
double coll_model_latency(const coll_model_job *job, int radix, size_t bytes);

/*
 * Returns the size in bytes of the largest allreduce that DCPs take: the largest power of two, at
 * most COLL_MODEL_LIMIT_MOST, up to which DCPs are not slower than the ranks themselves. The result
 * is at least COLL_MODEL_LIMIT_LEAST, the largest size that the paper measures: up to this size,
 * DCPs save an order of magnitude of the ranks' processor time, even if the latency is a little
 * longer.
 */
enum { COLL_MODEL_LIMIT_LEAST = 1024, COLL_MODEL_LIMIT_MOST = 8192 };
size_t coll_model_limit(const coll_model_job *job, int radix);

/*
 * Return the times of an alltoall with and without DCPs, in which all blocks of a rank together
 * have BYTES. The ranks of a node share its link. Without DCPs, the ranks send each block
 * separately, as the nonblocking alltoalls of MPI libraries do.
 */
double coll_model_blocks_latency(const coll_model_job *job, int digits, size_t bytes);
double coll_model_blocks_native(const coll_model_job *job, size_t bytes);

/*
 * Returns the upper limit in bytes of all blocks of a rank in an alltoall or reduce_scatter that
 * DCPs take. It is determined as for an allreduce, but is at most COLL_MODEL_BLOCKS_MOST, to limit
 * the shared memory for each rank.
 */
enum { COLL_MODEL_BLOCKS_MOST = 32768, COLL_MODEL_BLOCKS_PER_LIMIT = 32 };
size_t coll_model_blocks(const coll_model_job *job, int digits);

/*
 * Returns the upper limit of all blocks of a rank if the user has set the limit of allreduces to
 * LIMIT bytes: COLL_MODEL_BLOCKS_PER_LIMIT times LIMIT, but at most COLL_MODEL_BLOCKS_MOST.
 */
size_t coll_model_blocks_for(size_t limit);

#endif

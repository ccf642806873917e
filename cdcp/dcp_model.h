/*
 * What allreduces cost with and without DCPs, in the terms of the cost model. Pure arithmetic.
 * Sources: paper "CDCP", sections IV.A and V.E; its step counts with latencies and overheads.
 */
#ifndef COLL_CDCP_DCP_MODEL_H
#define COLL_CDCP_DCP_MODEL_H

#include "lib/cost/profile.h"

#include <stddef.h>

/* Who takes part: ranks of the application, DCPs, and the costs between them. */
typedef struct coll_model_job {
    int applications, dcps;
    int most_on_node;  /* ranks of one node */
    coll_cost to_dcp;  /* between a rank and its DCP */
    coll_cost among;   /* among DCPs, and among ranks of different nodes */
    coll_cost on_node; /* between ranks of a node */
} coll_model_job;

/* Seconds that the exchange of BYTES among DCPS takes by recursive multiplying with RADIX. */
double coll_model_exchange(int dcps, int radix, size_t bytes, const coll_cost *cost);

/* The radix with the least exchange of 8 bytes, the paper's usual size; at least 2. */
int coll_model_radix(int dcps, const coll_cost *cost);

/*
 * Seconds in which PARTIES that have BYTES each, in equal blocks for all of them, exchange these by
 * the digits of their ways (lib/pattern/radix.h), with the least radix that makes DIGITS of them.
 */
double coll_model_blocks_exchange(int parties, int digits, double bytes, const coll_cost *cost);

/* How many digits take the least time: one where they go directly. */
enum { COLL_MODEL_BLOCKS_USUAL = 4096 };
int coll_model_digits(int parties, double bytes, const coll_cost *cost);

/* Seconds from the last rank's post to the last rank's result. */
double coll_model_latency(const coll_model_job *job, int radix, size_t bytes);

/* Seconds of recursive doubling among the application ranks themselves. */
double coll_model_native(const coll_model_job *job, size_t bytes);

/*
 * The bytes up to which DCPs take an allreduce: the largest power of two for which their latency is
 * not above the ranks' own. At least COLL_MODEL_LIMIT_LEAST, the largest that the paper measures:
 * there DCPs save an order of magnitude of the ranks' time even where latency is a little longer.
 */
enum { COLL_MODEL_LIMIT_LEAST = 1024, COLL_MODEL_LIMIT_MOST = 8192 };
size_t coll_model_limit(const coll_model_job *job, int radix);

/*
 * The same for an alltoall, in which all blocks of a rank together have BYTES. The ranks of a node
 * share its link. Among themselves they send each block by itself, as nonblocking ones of MPI
 * libraries do.
 */
double coll_model_blocks_latency(const coll_model_job *job, int digits, size_t bytes);
double coll_model_blocks_native(const coll_model_job *job, size_t bytes);

/*
 * The bytes of all blocks of a rank up to which DCPs take an alltoall or the like: as for an
 * allreduce, and no more than a node's memory should hold for each rank.
 */
enum { COLL_MODEL_BLOCKS_MOST = 32768, COLL_MODEL_BLOCKS_PER_LIMIT = 32 };
size_t coll_model_blocks(const coll_model_job *job, int digits);

/* The same where the user has set the LIMIT of allreduces. */
size_t coll_model_blocks_for(size_t limit);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/dcp_model.h"

#include "lib/pattern/multiply.h"
#include "lib/pattern/radix.h"

/* Returns the processor time of a message at one end. */
static double handling_time(const coll_cost *cost, size_t bytes) {
    return cost->overhead + (double)bytes * cost->per_byte;
}

/* Returns the time of a stage with one message to and one from each of PEERS peers. */
static double stage_time(int peers, size_t bytes, const coll_cost *cost) {
    return cost->latency + 2 * peers * handling_time(cost, bytes);
}

double coll_model_exchange(int dcps, int radix, size_t bytes, const coll_cost *cost) {
    double seconds = 0;
    for (int left = dcps; left > 1; left = (left + radix - 1) / radix)
        seconds += stage_time((left < radix ? left : radix) - 1, bytes, cost);
    return seconds;
}

int coll_model_radix(int dcps, const coll_cost *cost) {
    int best = 2;
    for (int radix = 3; radix <= COLL_MULTIPLY_RADIX; radix++)
        if (coll_model_exchange(dcps, radix, 8, cost) < coll_model_exchange(dcps, best, 8, cost))
            best = radix;
    return best;
}

double coll_model_blocks_exchange(int parties, int digits, double bytes, const coll_cost *cost) {
    const int radix = coll_radix_for(parties, digits);
    double seconds = 0;
    for (int stage = 0; stage < coll_radix_digits(parties, radix); stage++) {
        const int others = coll_radix_others(parties, radix, stage);
        const double sent = bytes * others / (others + 1);
        seconds += cost->latency + 2 * (others * cost->overhead + sent * cost->per_byte);
    }
    return seconds;
}

int coll_model_digits(int parties, double bytes, const coll_cost *cost) {
    int best = 1;
    for (int digits = 2; digits <= coll_radix_digits(parties, 2); digits++)
        if (coll_model_blocks_exchange(parties, digits, bytes, cost) <
            coll_model_blocks_exchange(parties, best, bytes, cost))
            best = digits;
    return best;
}

static int ranks_served(const coll_model_job *job) {
    return (job->applications + job->dcps - 1) / job->dcps;
}

/* Returns the time of the messages from the ranks to their DCP, or back. */
static double one_way(const coll_model_job *job, size_t bytes) {
    return job->to_dcp.latency + (1 + ranks_served(job)) * handling_time(&job->to_dcp, bytes);
}

double coll_model_latency(const coll_model_job *job, int radix, size_t bytes) {
    return 2 * one_way(job, bytes) + coll_model_exchange(job->dcps, radix, bytes, &job->among);
}

/* Returns the seconds of recursive doubling among the application ranks themselves. */
static double native_seconds(const coll_model_job *job, size_t bytes) {
    int on_node = job->most_on_node < job->applications ? job->most_on_node : job->applications;
    int nodes = (job->applications + on_node - 1) / on_node;
    return coll_model_exchange(on_node, 2, bytes, &job->on_node) +
           coll_model_exchange(nodes, 2, bytes, &job->among);
}

size_t coll_model_limit(const coll_model_job *job, int radix) {
    size_t limit = COLL_MODEL_LIMIT_LEAST;
    while (limit < COLL_MODEL_LIMIT_MOST &&
           coll_model_latency(job, radix, 2 * limit) <= native_seconds(job, 2 * limit))
        limit *= 2;
    return limit;
}

/* Returns how many ranks' blocks share the link of a node; 1 if all ranks are on one node. */
static int ranks_on_link(const coll_model_job *job) {
    return job->applications + job->dcps > job->most_on_node ? job->most_on_node : 1;
}

double coll_model_blocks_latency(const coll_model_job *job, int digits, size_t bytes) {
    int served = ranks_served(job), together = ranks_on_link(job);
    double gathered = (double)bytes * (served > together ? served : together);
    return 2 * one_way(job, bytes) +
           coll_model_blocks_exchange(job->dcps, digits, gathered, &job->among);
}

double coll_model_blocks_native(const coll_model_job *job, size_t bytes) {
    double together = (double)bytes * ranks_on_link(job);
    return coll_model_blocks_exchange(job->applications, 1, together, &job->among);
}

size_t coll_model_blocks(const coll_model_job *job, int digits) {
    size_t blocks = COLL_MODEL_LIMIT_LEAST;
    while (blocks < COLL_MODEL_BLOCKS_MOST && coll_model_blocks_latency(job, digits, 2 * blocks) <=
                                                  coll_model_blocks_native(job, 2 * blocks))
        blocks *= 2;
    return blocks;
}

size_t coll_model_blocks_for(size_t limit) {
    size_t blocks = limit * COLL_MODEL_BLOCKS_PER_LIMIT;
    return blocks < COLL_MODEL_BLOCKS_MOST ? blocks : COLL_MODEL_BLOCKS_MOST;
}

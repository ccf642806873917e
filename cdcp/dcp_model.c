#include "config.h"

#include "cdcp/dcp_model.h"

#include "lib/pattern/multiply.h"

/* A message's processor time at one end, and its way. */
static double handling(const coll_cost *cost, size_t bytes) {
    return cost->overhead + (double)bytes * cost->per_byte;
}

/* A stage that sends to and receives from PEERS others. */
static double stage(int peers, size_t bytes, const coll_cost *cost) {
    return cost->latency + 2 * peers * handling(cost, bytes);
}

double coll_model_exchange(int dcps, int radix, size_t bytes, const coll_cost *cost) {
    double seconds = 0;
    for (int left = dcps; left > 1; left = (left + radix - 1) / radix)
        seconds += stage((left < radix ? left : radix) - 1, bytes, cost);
    return seconds;
}

int coll_model_radix(int dcps, const coll_cost *cost) {
    int best = 2;
    for (int radix = 3; radix <= COLL_MULTIPLY_RADIX; radix++)
        if (coll_model_exchange(dcps, radix, 8, cost) < coll_model_exchange(dcps, best, 8, cost))
            best = radix;
    return best;
}

double coll_model_latency(const coll_model_job *job, int radix, size_t bytes) {
    int served = (job->applications + job->dcps - 1) / job->dcps;
    double one_way = job->to_dcp.latency + (1 + served) * handling(&job->to_dcp, bytes);
    return 2 * one_way + coll_model_exchange(job->dcps, radix, bytes, &job->among);
}

double coll_model_native(const coll_model_job *job, size_t bytes) {
    int on_node = job->most_on_node < job->applications ? job->most_on_node : job->applications;
    int nodes = (job->applications + on_node - 1) / on_node;
    return coll_model_exchange(on_node, 2, bytes, &job->on_node) +
           coll_model_exchange(nodes, 2, bytes, &job->among);
}

size_t coll_model_limit(const coll_model_job *job, int radix) {
    size_t limit = COLL_MODEL_LIMIT_LEAST;
    while (limit < COLL_MODEL_LIMIT_MOST &&
           coll_model_latency(job, radix, 2 * limit) <= coll_model_native(job, 2 * limit))
        limit *= 2;
    return limit;
}

size_t coll_model_blocks(size_t limit) {
    size_t blocks = limit * COLL_MODEL_BLOCKS_PER_LIMIT;
    return blocks < COLL_MODEL_BLOCKS_MOST ? blocks : COLL_MODEL_BLOCKS_MOST;
}

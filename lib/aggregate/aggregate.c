/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the stages of an aggregation. In each stage a rank sends pairs from its pool to the partners
 * that a route names, and merges the pairs that arrive into the pool. Pairs move in segments, with
 * at most a window of segments in flight in each direction. Memory in addition to the pool: two
 * windows of segments, and eight bytes for every key that leaves.
 *
 * First the partners send each other the number of pairs that will follow. Whatever goes wrong on
 * one rank later, the others know what to expect: a rank that cannot merge continues to receive and
 * send, and all ranks learn of its error at the next agreement. Arrivals are merged in the order of
 * the route, not in the order of arrival.
 */
#include "config.h"

#include "lib/aggregate/aggregate.h"

#include "lib/aggregate/partition.h"
#include "lib/aggregate/pool.h"
#include "lib/algorithm/spec.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The pairs that one rank exchanges with the partners of a route. */
typedef struct stage_traffic {
    coll_route route;
    coll_pool_groups leaving;
    uint64_t *send_counts, *receive_counts; /* pairs to and from each partner */
    MPI_Request *requests;                  /* for the counts: receives, then sends */
    int *peers;
    size_t bytes; /* bytes charged to the pool for the arrays */
} stage_traffic;

/* Position in the stream of segments to or from all partners, one partner after the other. */
typedef struct cursor {
    int partner; /* index in the route's sends or receives */
    size_t done; /* pairs of that partner sent or received so far */
} cursor;

typedef struct exchange {
    coll_aggregate_call call;
    coll_layout layout;
    size_t pair_bytes;
    size_t segment_pairs;
    int window;
    char *buffers; /* a window of segments to send, then one to receive */
    MPI_Request *requests;
    int *peers;
    size_t *arriving; /* pairs in each segment to receive */
    bool *arrived;
    size_t bytes; /* bytes charged to the pool for the buffers and arrays above */
    int error;    /* this rank's error, unknown to the others until the next agreement */
    bool broken;  /* communication failed: MPI may still use the memory, so none is freed */
} exchange;

/*
 * Returns the same result on all ranks: MPI_SUCCESS or the error of the lowest rank that has one.
 */
static int agree_on_error(const exchange *x) {
    int code = x->error;
    if (code != MPI_SUCCESS)
        code = coll_error(code, "COLL_Aggregate: rank %d has too little memory for its keys",
                          x->call.comm->rank);
    return coll_agree(x->call.comm, code);
}

static bool create_buffers(exchange *x) {
    size_t window = (size_t)x->window;
    size_t segments = 2 * window, segment_bytes = x->segment_pairs * x->pair_bytes;
    if (segment_bytes > (SIZE_MAX - x->bytes) / segments / 2)
        return false;
    size_t bytes = segments * (segment_bytes + sizeof *x->requests + sizeof *x->peers) +
                   window * (sizeof *x->arriving + sizeof *x->arrived);
    coll_pool_charge(x->call.pool, bytes);
    x->bytes += bytes;
    x->buffers = malloc(segments * segment_bytes);
    x->requests = malloc(segments * sizeof *x->requests);
    x->peers = malloc(segments * sizeof *x->peers);
    x->arriving = calloc(window, sizeof *x->arriving);
    x->arrived = calloc(window, sizeof *x->arrived);
    return x->buffers && x->requests && x->peers && x->arriving && x->arrived;
}

/* Sets the segment and the window to the user's values, but at most to what MOST pairs can need. */
static void set_segments(exchange *x, size_t most, const coll_values *values) {
    most = most ? most : 1;
    size_t pairs = values->at[COLL_SEGMENT] / x->pair_bytes;
    x->segment_pairs = pairs < 1 ? 1 : pairs < most ? pairs : most;
    size_t whole = most / x->segment_pairs, partners = (size_t)x->call.comm->ranks;
    size_t window = values->at[COLL_WINDOW];
    x->window = (int)(window < whole + partners ? window : whole + partners);
}

/*
 * Sets *X up for the stages of CALL. CALL->stats must not be NULL. A pool may get up to
 * MOST_PAIRS pairs; MOST_PAIRS is the same on all ranks. If this rank has no memory for the
 * segments, the first stage reports that to all ranks.
 */
static void open_exchange(exchange *x, const coll_aggregate_call *call, size_t most_pairs,
                          const coll_values *values) {
    *x = (exchange){.call = *call};
    x->pair_bytes = coll_pool_pair_bytes(call->pool);
    set_segments(x, most_pairs, values);
    if (!coll_layout_create(call->shape->topo, &x->layout) || !create_buffers(x))
        x->error = MPI_ERR_NO_MEM;
}

/*
 * Frees X's memory, unless communication has failed, and returns CODE, the result of the last
 * stage. If CODE is MPI_SUCCESS, all ranks first agree on whether the last arrivals were merged
 * everywhere; the result of this agreement is then returned.
 */
static int close_exchange(exchange *x, int code) {
    if (code == MPI_SUCCESS)
        code = agree_on_error(x);
    if (x->broken)
        return code;
    coll_pool_credit(x->call.pool, x->bytes);
    coll_layout_free(&x->layout);
    free(x->buffers);
    free(x->requests);
    free(x->peers);
    free(x->arriving);
    free(x->arrived);
    return code;
}

/* Context of group_of_key. */
typedef struct key_grouping {
    const int *group_of;
    int ranks;
} key_grouping;

static int group_of_key(uint64_t key, const void *context) {
    const key_grouping *grouping = context;
    return grouping->group_of[coll_partition_owner(coll_partition_hash(key), grouping->ranks)];
}

static int traffic_create(exchange *x, coll_route_maker *make, stage_traffic *traffic) {
    coll_comm *comm = x->call.comm;
    if (!coll_route_create(&x->layout, make, comm->rank, x->call.shape->root, &traffic->route))
        return MPI_ERR_NO_MEM;
    size_t sends = (size_t)traffic->route.send_count;
    size_t receives = (size_t)traffic->route.receive_count, partners = sends + receives + 1;
    size_t bytes = partners * (sizeof *traffic->send_counts + sizeof *traffic->requests +
                               sizeof *traffic->peers);
    coll_pool_charge(x->call.pool, bytes);
    traffic->bytes = bytes;
    traffic->receive_counts = calloc(partners, sizeof *traffic->receive_counts);
    traffic->requests = malloc(partners * sizeof *traffic->requests);
    traffic->peers = malloc(partners * sizeof *traffic->peers);
    if (!traffic->receive_counts || !traffic->requests || !traffic->peers)
        return MPI_ERR_NO_MEM;
    traffic->send_counts = traffic->receive_counts + receives;

    key_grouping grouping = {.group_of = traffic->route.group_of, .ranks = comm->ranks};
    return coll_pool_group(x->call.pool, (int)sends, group_of_key, &grouping, &traffic->leaving);
}

static void traffic_free(exchange *x, stage_traffic *traffic) {
    coll_pool_ungroup(x->call.pool, &traffic->leaving);
    coll_pool_credit(x->call.pool, traffic->bytes);
    free(traffic->receive_counts);
    free(traffic->requests);
    free(traffic->peers);
    coll_route_free(&traffic->route);
}

/*
 * Sends every partner the number of pairs that this rank will send to it, and receives the
 * partners' numbers.
 */
static int exchange_counts(exchange *x, stage_traffic *traffic) {
    coll_comm *comm = x->call.comm;
    const coll_route *route = &traffic->route;
    int started = 0;
    for (int i = 0; i < route->receive_count; i++, started++) {
        traffic->peers[started] = route->receives[i];
        int code = coll_irecv(comm, &traffic->receive_counts[i], 1, MPI_UINT64_T,
                              route->receives[i], COLL_TAG_COUNTS, &traffic->requests[started]);
        if (code != MPI_SUCCESS)
            return code;
    }
    for (int i = 0; i < route->send_count; i++, started++) {
        traffic->send_counts[i] = traffic->leaving.first[i + 1] - traffic->leaving.first[i];
        traffic->peers[started] = route->sends[i];
        int code = coll_isend(comm, &traffic->send_counts[i], 1, MPI_UINT64_T, route->sends[i],
                              COLL_TAG_COUNTS, &traffic->requests[started]);
        if (code != MPI_SUCCESS)
            return code;
    }
    return coll_wait_all(&comm->wait, started, traffic->requests, traffic->peers);
}

/*
 * Advances AT to the next segment of a stream to or from PARTNERS partners. Returns the number of
 * pairs in that segment; 0 at the end of the stream.
 */
static size_t next_segment(const exchange *x, const uint64_t counts[], int partners, cursor *at) {
    while (at->partner < partners && at->done == counts[at->partner])
        *at = (cursor){.partner = at->partner + 1};
    if (at->partner == partners)
        return 0;
    size_t left = counts[at->partner] - at->done;
    return left < x->segment_pairs ? left : x->segment_pairs;
}

static char *segment_buffer(const exchange *x, int slot) {
    return x->buffers + (size_t)slot * x->segment_pairs * x->pair_bytes;
}

/* Returns the length of a message in words of 8 bytes, so that a pair may have up to 16 GB. */
static int count_words(const exchange *x, size_t pairs) {
    return (int)(pairs * x->pair_bytes / sizeof(uint64_t));
}

/*
 * Moves the next segment out of the pool and starts to send it from SLOT; does nothing at the end
 * of the stream.
 */
static int send_next(exchange *x, stage_traffic *traffic, cursor *at, int slot) {
    size_t pairs = next_segment(x, traffic->send_counts, traffic->route.send_count, at);
    if (pairs == 0)
        return MPI_SUCCESS;
    const uint64_t *keys = traffic->leaving.keys + traffic->leaving.first[at->partner] + at->done;
    coll_pool_take(x->call.pool, keys, pairs, segment_buffer(x, slot));
    at->done += pairs;
    x->call.stats->bytes_sent += pairs * x->pair_bytes;
    x->peers[slot] = traffic->route.sends[at->partner];
    return coll_isend(x->call.comm, segment_buffer(x, slot), count_words(x, pairs), MPI_UINT64_T,
                      x->peers[slot], COLL_TAG_PAIRS, &x->requests[slot]);
}

/*
 * Starts to receive the next segment into place RING of the window; does nothing at the end of the
 * stream.
 */
static int receive_next(exchange *x, stage_traffic *traffic, cursor *at, int ring) {
    int slot = x->window + ring;
    size_t pairs = next_segment(x, traffic->receive_counts, traffic->route.receive_count, at);
    if (pairs == 0)
        return MPI_SUCCESS;
    at->done += pairs;
    x->arriving[ring] = pairs;
    x->peers[slot] = traffic->route.receives[at->partner];
    return coll_irecv(x->call.comm, segment_buffer(x, slot), count_words(x, pairs), MPI_UINT64_T,
                      x->peers[slot], COLL_TAG_PAIRS, &x->requests[slot]);
}

/*
 * Merges the segments that have arrived, from place *OLDEST on, and starts new receives in their
 * places.
 */
static int merge_arrived(exchange *x, stage_traffic *traffic, cursor *at, int *oldest) {
    while (x->arrived[*oldest]) {
        int ring = *oldest;
        x->arrived[ring] = false;
        if (x->error == MPI_SUCCESS)
            x->error = coll_pool_merge(x->call.pool, segment_buffer(x, x->window + ring),
                                       x->arriving[ring]);
        int code = receive_next(x, traffic, at, ring);
        if (code != MPI_SUCCESS)
            return code;
        *oldest = (ring + 1) % x->window;
    }
    return MPI_SUCCESS;
}

/* Sends and receives all segments of a stage. */
static int stream_segments(exchange *x, stage_traffic *traffic) {
    cursor sent = {0}, received = {0};
    int oldest = 0;
    for (int slot = 0; slot < 2 * x->window; slot++)
        x->requests[slot] = MPI_REQUEST_NULL;
    for (int i = 0; i < x->window; i++) {
        int code = receive_next(x, traffic, &received, i);
        if (code == MPI_SUCCESS)
            code = send_next(x, traffic, &sent, i);
        if (code != MPI_SUCCESS)
            return code;
    }
    for (;;) {
        int slot;
        int code = coll_wait_any(&x->call.comm->wait, 2 * x->window, x->requests, x->peers, &slot);
        if (code != MPI_SUCCESS || slot == MPI_UNDEFINED)
            return code;
        if (slot < x->window) {
            code = send_next(x, traffic, &sent, slot);
        } else {
            x->arrived[slot - x->window] = true;
            code = merge_arrived(x, traffic, &received, &oldest);
        }
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* Runs one stage; MAKE determines which rank sends to which. Adds the stage's time to *SECONDS. */
static int run_stage(exchange *x, coll_route_maker *make, double *seconds) {
    double start = PMPI_Wtime();
    stage_traffic traffic = {0};
    if (x->error == MPI_SUCCESS)
        x->error = traffic_create(x, make, &traffic);
    int code = agree_on_error(x);
    if (code == MPI_SUCCESS) {
        code = exchange_counts(x, &traffic);
        if (code == MPI_SUCCESS)
            code = stream_segments(x, &traffic);
        x->broken = code != MPI_SUCCESS;
        if (x->broken)
            x->call.comm->broken = code;
    }
    if (!x->broken)
        traffic_free(x, &traffic);
    *seconds += PMPI_Wtime() - start;
    return code;
}

/*
 * Checks that all ranks gave valid and equal arguments, and sets *MOST_PAIRS to the most pairs that
 * all pools together can have. The result is the same on all ranks.
 */
static int check_arguments(const COLL_Pool *pool, int root, coll_comm *comm, size_t *most_pairs) {
    int64_t value_bytes = pool ? (int64_t)coll_pool_value_bytes(pool) : 0;
    int64_t pairs = pool ? (int64_t)COLL_Pool_size(pool) : 0;
    const int64_t mine[] = {!pool, root, -(int64_t)root, value_bytes, -value_bytes, pairs};
    int64_t highest[sizeof mine / sizeof *mine];
    int code = coll_agree_highest(comm, sizeof mine / sizeof *mine, mine, highest);
    if (code != MPI_SUCCESS)
        return code;

    int64_t any_null = highest[0], high_root = highest[1], low_root = -highest[2];
    int64_t most_bytes = highest[3], least_bytes = -highest[4];
    *most_pairs = (size_t)highest[5] * (size_t)comm->ranks;
    if (any_null)
        return coll_error(MPI_ERR_ARG, "COLL_Aggregate: the pool is NULL on some rank");
    if (low_root < 0 || high_root >= comm->ranks)
        return coll_error(MPI_ERR_ROOT, "COLL_Aggregate: root %lld is not in 0 to %d",
                          (long long)(low_root < 0 ? low_root : high_root), comm->ranks - 1);
    if (low_root != high_root)
        return coll_error(MPI_ERR_ROOT, "COLL_Aggregate: ranks name different roots, %lld and %lld",
                          (long long)low_root, (long long)high_root);
    if (least_bytes != most_bytes)
        return coll_error(MPI_ERR_ARG,
                          "COLL_Aggregate: values are of %lld bytes on some rank, %lld on another",
                          (long long)least_bytes, (long long)most_bytes);
    if (coll_pool_pair_bytes(pool) / sizeof(uint64_t) > INT_MAX)
        return coll_error(MPI_ERR_COUNT, "COLL_Aggregate: a value of %lld bytes is over 16 GB",
                          (long long)most_bytes);
    return MPI_SUCCESS;
}

/* Runs all stages. CALL->stats must not be NULL. A pool may get up to MOST_PAIRS pairs. */
static int run_stages(const coll_aggregate_call *call, size_t most_pairs,
                      const coll_aggregate_algorithm *choice, const coll_values *values) {
    COLL_Aggregate_stats *stats = call->stats;
    const struct {
        coll_route_maker *route;
        double *seconds;
    } stages[] = {{choice->local, &stats->local_seconds},
                  {choice->group_by, &stats->group_by_seconds},
                  {choice->gather, &stats->gather_seconds}};
    exchange x;
    int code = MPI_SUCCESS;
    open_exchange(&x, call, most_pairs, values);
    for (size_t i = 0; i < sizeof stages / sizeof *stages && code == MPI_SUCCESS; i++)
        if (stages[i].route)
            code = run_stage(&x, stages[i].route, stages[i].seconds);
    return close_exchange(&x, code);
}

int coll_aggregate_run(const coll_aggregate_call *call, const coll_aggregate_algorithm *choice,
                       const coll_values *values) {
    COLL_Aggregate_stats stats = {0};
    coll_aggregate_call measured = *call;
    size_t most_pairs;
    measured.stats = &stats;
    int code = check_arguments(call->pool, call->shape->root, call->comm, &most_pairs);
    if (code != MPI_SUCCESS)
        return code;
    coll_pool_restart_peak(call->pool);
    coll_values chosen = values ? *values : coll_values_default(&choice->base);
    code = run_stages(&measured, most_pairs, choice, &chosen);
    if (code != MPI_SUCCESS)
        return code;
    stats.peak_bytes = coll_pool_peak(call->pool);
    if (call->stats)
        *call->stats = stats;
    return MPI_SUCCESS;
}

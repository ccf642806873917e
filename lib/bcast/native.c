/*
 * native: the MPI library's own broadcast.
 *
 * The data goes as bytes, in place where it is contiguous, because MPI libraries split segments by
 * elements and go wrong when root and others describe the same bytes by different types (Open MPI
 * issues 1763 and 10523). Data that isn't contiguous passes in segments, so that its packed copy
 * stays bounded.
 *
 * Cost: that of the algorithm which Open MPI 4.1 takes by default for so many ranks and bytes,
 * never in segments. Its trees follow the ranks, not the racks: where there are several, the
 * messages of a round cross their uplinks at once. Source: Open MPI 4.1,
 * coll_tuned_decision_fixed.c and coll_base_bcast.c.
 */
#include "config.h"

#include "lib/bcast/bcast.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

/*
 * Below this only latency counts, and the MPI library's trees are the fastest. At twice this size
 * they already take twice as long as the best algorithm.
 */
enum { BEST_BELOW = 2 << 10 };

/* One call's limit; at the same time what a packed copy may take. */
static const size_t segment_most = (size_t)256 << 20;

/*
 * What Open MPI takes below so many ranks and bytes, in the order in which it asks. A tree is known
 * by the most children that a rank has in one of its rounds, which all are sent to at once.
 */
typedef enum shape { LINEAR, FOUR_CHAINS, LINE, BINARY, BINOMIAL, QUADRINOMIAL, SCATTER } shape;
static const struct {
    int ranks;
    size_t bytes;
    shape shape;
} defaults[] = {
    {4, 32, LINE},
    {4, 256, BINARY},
    {4, 512, LINE},
    {4, 1 << 10, QUADRINOMIAL},
    {4, 32 << 10, LINEAR},
    {4, 128 << 10, BINARY},
    {4, 256 << 10, FOUR_CHAINS},
    {4, 512 << 10, LINEAR},
    {4, 1 << 20, BINOMIAL},
    {4, SIZE_MAX, BINARY},
    {8, 64, BINARY},
    {8, 128, BINOMIAL},
    {8, 2 << 10, BINARY},
    {8, 8 << 10, BINOMIAL},
    {8, 1 << 20, LINEAR},
    {8, SIZE_MAX, FOUR_CHAINS},
    {16, 8, QUADRINOMIAL},
    {16, 64, BINARY},
    {16, 4 << 10, QUADRINOMIAL},
    {16, 16 << 10, BINARY},
    {16, 32 << 10, BINOMIAL},
    {16, SIZE_MAX, LINEAR},
    {32, 4 << 10, QUADRINOMIAL},
    {32, 1 << 20, BINOMIAL},
    {32, SIZE_MAX, SCATTER},
    {64, 2 << 10, BINOMIAL},
    {64, SIZE_MAX, QUADRINOMIAL},
    {128, SIZE_MAX, QUADRINOMIAL},
    {256, 16 << 10, BINARY},
    {256, 32 << 10, LINEAR},
    {256, 64 << 10, BINARY},
    {1024, SIZE_MAX, QUADRINOMIAL},
    {2048, 512 << 10, QUADRINOMIAL},
    {4096, 256 << 10, QUADRINOMIAL},
    {INT_MAX, 256 << 10, QUADRINOMIAL},
    {INT_MAX, SIZE_MAX, SCATTER},
};

static shape shape_for(int ranks, size_t bytes) {
    size_t i = 0;
    while (i + 1 < sizeof defaults / sizeof *defaults &&
           (ranks >= defaults[i].ranks || bytes >= defaults[i].bytes))
        i++;
    return defaults[i].shape;
}

/* Rounds in which a tree reaches P ranks when those that have the data multiply by so many. */
static int rounds(int p, int times) {
    int count = 0;
    for (double reached = 1; reached < p; reached *= times)
        count++;
    return count;
}

/* A round of a tree: the last of CHILDREN messages that a rank sends at once, as others do. */
static double round_of(const coll_cost *link, const coll_shape *call, double children, int last) {
    int senders = call->topo->racks > 1 ? last : 2;
    return coll_cost_messages(link, children, (double)call->bytes, senders);
}

/* Binomial trees of RADIX: the root has RADIX - 1 children in each round, its first one round less.
 */
static double predict_binomial(const coll_cost *link, const coll_shape *call, int radix) {
    double seconds = 0;
    for (int i = rounds(call->topo->ranks, radix); i > 0; i--)
        seconds += round_of(link, call, i * (radix - 1), call->topo->ranks / 2);
    return seconds;
}

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    int p = call->topo->ranks;
    double bytes = (double)call->bytes, message = coll_cost_message(link, bytes, 2);
    switch (shape_for(p, call->bytes)) {
    case LINEAR:
        return coll_cost_messages(link, p - 1, bytes, 2);
    case LINE:
        return (p - 1) * message;
    case FOUR_CHAINS:
        return coll_cost_messages(link, fmin(4, p - 1), bytes, 2) + (p - 2) / 4 * message;
    case BINARY: /* 1, 3, 7, ... ranks are reached */
        return (rounds(p + 1, 2) - 1) * round_of(link, call, 2, p / 2);
    case BINOMIAL:
        return predict_binomial(link, call, 2);
    case QUADRINOMIAL:
        return predict_binomial(link, call, 4);
    default: /* halves down a binomial tree, then by recursive doubling up to the whole */
        return 2 * rounds(p, 2) * coll_cost_message(link, 1, 2) + 2 * message;
    }
}

/* With a time-out the nonblocking one: the other couldn't be left when a rank never comes. */
static int broadcast(const coll_planned *call, void *bytes, int length) {
    coll_comm *comm = call->comm;
    int root = call->part.shape->root;
    if (comm->wait.timeout == 0)
        return PMPI_Bcast(bytes, length, MPI_BYTE, root, comm->private);
    MPI_Request request;
    int code = PMPI_Ibcast(bytes, length, MPI_BYTE, root, comm->private, &request);
    return code == MPI_SUCCESS ? coll_wait_native(&comm->wait, &request, "MPI_Bcast") : code;
}

static int run(const coll_planned *call) {
    const coll_data *data = call->data;
    size_t most = data->bytes < segment_most ? data->bytes : segment_most;
    void *segment;
    int code = coll_comm_room(call->comm, most, &segment);
    bool is_root = call->comm->rank == call->part.shape->root;
    for (size_t from = 0; from < data->bytes && code == MPI_SUCCESS; from += most) {
        size_t length = data->bytes - from < most ? data->bytes - from : most;
        void *bytes = is_root ? coll_data_read(data, from, length, segment)
                              : coll_data_target(data, from, segment);
        code = broadcast(call, bytes, (int)length);
        if (code == MPI_SUCCESS && !is_root)
            coll_data_store(data, from, length, segment);
    }
    return code;
}

const coll_algorithm coll_bcast_native = {
    .name = "native",
    .summary = "the MPI library's own broadcast",
    .best_below = BEST_BELOW,
    .predict = predict,
    .run = run,
};

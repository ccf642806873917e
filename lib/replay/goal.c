/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a recorded job as GOAL (COLL_Replay_goal; Hoefler, Siebert and Lumsdaine, "Group operation
 * assembly language"): for each rank, labelled operations and what they require. A round of a plan
 * ends with a "calc 0" that requires its steps, and a round requires the end of the one a window
 * before it. Messages to one rank begin in their order.
 */
#include "config.h"

#include "lib/base/error.h"
#include "lib/replay/cluster.h"
#include "lib/sim/network.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The labels of a round under way; those of its steps follow FIRST. */
typedef struct round_labels {
    long first, end;
} round_labels;

/* A rank's part of a file. */
typedef struct writing {
    FILE *stream;
    int rank;
    long labels;           /* so far, in this rank */
    long previous;         /* the end of the previous call; 0: there is none */
    long *latest_messages; /* by direction, lane and peer; 0: none yet */
} writing;

static void require(const writing *now, long label, const char *how, long other) {
    if (other > 0)
        fprintf(now->stream, "l%ld %s l%ld\n", label, how, other);
}

static long write_calc(writing *now, int64_t nanoseconds) {
    fprintf(now->stream, "l%ld: calc %" PRId64 "\n", ++now->labels, nanoseconds);
    return now->labels;
}

/* Writes a step of CALL. */
static void write_step(writing *now, const coll_cluster_choice *choice, const coll_job_call *call,
                       const coll_step *step, coll_network *network) {
    const coll_job_group *group = choice->group;
    if (!coll_step_is_message(step)) {
        (void)write_calc(now, coll_network_copy(network, step->length));
        return;
    }
    const bool sends = step->kind == COLL_STEP_SEND;
    const int peer = group->members[(step->peer + choice->first) % group->ranks];
    long *latest = &now->latest_messages[(step->peer * COLL_LANES + step->lane) * 2 + sends];
    fprintf(now->stream, "l%ld: %s %zub %s %d tag %d\n", ++now->labels, sends ? "send" : "recv",
            step->length, sends ? "to" : "from", peer, COLL_LANES * call->number + step->lane);
    require(now, now->labels, "irequires", *latest);
    *latest = now->labels;
}

/* Writes ROUND of PLAN, whose rounds under way have LABELS. BEGIN is the label of the call's begin.
 */
static void write_round(writing *now, const coll_cluster_choice *choice, const coll_job_call *call,
                        const coll_plan *plan, uint64_t round, long begin, round_labels labels[],
                        coll_step steps[], coll_network *network) {
    const uint64_t window = (uint64_t)plan->size.window;
    round_labels *own = &labels[round % window];
    const long before = round < window ? begin : own->end;
    const int count = plan->round(plan, round, steps);
    own->first = now->labels + 1;
    for (int i = 0; i < count; i++) {
        write_step(now, choice, call, &steps[i], network);
        const long label = own->first + i;
        require(now, label, "requires", before);
        for (int k = 0; k < i && steps[i].after_earlier; k++)
            require(now, label, "requires", own->first + k);
        for (int k = 0; k < steps[i].afters; k++) {
            const coll_after *after = &steps[i].after[k];
            const uint64_t back = (uint64_t)after->back;
            if (back < window && back <= round) /* earlier rounds have ended */
                require(now, label, "requires",
                        labels[(round - back) % window].first + after->step);
        }
    }
    own->end = write_calc(now, 0);
    require(now, own->end, "requires", before);
    for (int i = 0; i < count; i++)
        require(now, own->end, "requires", own->first + i);
}

/* Writes the rounds of this rank's plan, and the end of the call. */
static bool write_plan(writing *now, const coll_cluster_choice *choice, const coll_job_call *call,
                       const coll_cluster_plan *of, const coll_plan_args *args, long begin) {
    coll_network network;
    const coll_plan_size size = of->planner->size(args);
    const size_t window = (size_t)size.window;
    char *memory = malloc(size.own_bytes + size.making_bytes + 1);
    coll_step *steps = malloc((size_t)size.steps * sizeof *steps);
    round_labels *labels = calloc(window, sizeof *labels);
    const bool good = memory && steps && labels;
    if (good) {
        const coll_plan *plan = of->planner->plan(args, size, memory);
        coll_network_open(&network, &of->shape, NULL);
        for (uint64_t round = 0; round < plan->rounds; round++)
            write_round(now, choice, call, plan, round, begin, labels, steps, &network);
        now->previous = write_calc(now, 0);
        require(now, now->previous, "requires", begin);
        for (size_t i = 0; i < window; i++)
            require(now, now->previous, "requires", labels[i].end);
    }
    free(memory);
    free(steps);
    free(labels);
    return good;
}

/* Writes CALL of this rank, which is MEMBER of its group. */
static int write_call(writing *now, const coll_cluster_choice *choice, const coll_job_call *call,
                      int member) {
    const int ranks = choice->topo.ranks, own = (member - choice->first + ranks) % ranks;
    const coll_cluster_plan plan = coll_cluster_plan_of(choice, call->bytes);
    const long begin = write_calc(now, (int64_t)(1e9 * call->before));
    require(now, begin, "requires", now->previous);
    now->previous = begin;
    if (plan.shape.bytes == 0)
        return MPI_SUCCESS;
    if (!plan.planner)
        return coll_error(MPI_ERR_ARG,
                          "%s of %zu bytes is by %s, which has no plan; name another algorithm by "
                          "--algorithm",
                          coll_operations[call->operation].name, call->bytes,
                          plan.algorithm ? plan.algorithm->name : "the MPI library");
    coll_blocks even;
    coll_rank_order *line = malloc(sizeof *line + (size_t)ranks * sizeof(int));
    coll_visit *visits = malloc((size_t)ranks * sizeof *visits);
    bool good = line && visits;
    if (good) {
        coll_order_ranks(&plan.shape, visits, line->order);
        for (line->position = 0; line->order[line->position] != own;)
            line->position++;
        for (int i = 0; i < 2 * COLL_LANES * ranks; i++)
            now->latest_messages[i] = 0;
        const coll_plan_args args =
            coll_sim_plan_args(&plan.shape, &plan.values, line, own == plan.shape.root, &even);
        good = write_plan(now, choice, call, &plan, &args, begin);
    }
    free(line);
    free(visits);
    return good ? MPI_SUCCESS : coll_error(MPI_ERR_NO_MEM, "no memory for a plan");
}

static int write_rank(writing *now, coll_cluster *cluster) {
    const COLL_Record *record = cluster->record;
    const coll_job_rank *own = &record->of[now->rank];
    int code = MPI_SUCCESS;
    fprintf(now->stream, "\nrank %d {\n", now->rank);
    for (size_t i = 0; i < own->call_count && code == MPI_SUCCESS; i++) {
        const coll_job_call *call = &own->calls[i];
        const coll_job_group *group = &record->groups[record->comm_groups[call->comm]];
        const coll_cluster_choice *choice = coll_cluster_choose(cluster, group, call, false);
        int member = 0;
        while (group->members[member] != now->rank)
            member++;
        code = choice ? write_call(now, choice, call, member)
                      : coll_error(MPI_ERR_NO_MEM, "no memory to choose algorithms");
    }
    const long end = write_calc(now, (int64_t)(1e9 * own->after));
    require(now, end, "requires", now->previous);
    fputs("}\n", now->stream);
    return code;
}

int COLL_Replay_goal(const COLL_Record *record, const COLL_Cluster *how, FILE *stream) {
    coll_cluster cluster;
    const size_t pairs = (size_t)record->ranks * 2 * COLL_LANES;
    long *latest = malloc(pairs * sizeof *latest);
    int code = coll_cluster_make(record, how, &cluster);
    if (!latest && code == MPI_SUCCESS)
        code = coll_error(MPI_ERR_NO_MEM, "no memory for %d ranks", record->ranks);
    if (code == MPI_SUCCESS)
        fprintf(stream, "num_ranks %d\n", record->ranks);
    for (int rank = 0; rank < record->ranks && code == MPI_SUCCESS; rank++) {
        writing now = {.stream = stream, .rank = rank, .latest_messages = latest};
        code = write_rank(&now, &cluster);
    }
    coll_cluster_free(&cluster);
    free(latest);
    return code;
}

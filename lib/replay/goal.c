/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a recorded job as GOAL (COLL_Replay_goal; Hoefler, Siebert and Lumsdaine, "Group operation
 * assembly language"): for each rank, labelled operations and what they require. A round of a plan
 * ends with a "calc 0" that requires the round's steps, and a round requires the end of the round
 * that is one window before it. Messages between two ranks on one lane begin in the order in which
 * the plan has them.
 */
#include "config.h"

#include "lib/base/error.h"
#include "lib/replay/cluster.h"
#include "lib/sim/network.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The labels of a round under way: its steps have the labels FIRST, FIRST + 1 and so on; END is the
 * label of its end. */
typedef struct round_labels {
    long first, end;
} round_labels;

/* A rank's part of a file. */
typedef struct writing {
    FILE *stream;
    int rank;
    long labels;           /* used so far in this rank */
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

/* A call of this rank that is being written. */
typedef struct written_call {
    writing *now;
    const coll_cluster_choice *choice;
    const coll_job_call *call;
    const coll_plan *plan;
    long begin;           /* the label of the call's begin */
    round_labels *labels; /* of the rounds under way */
    coll_step *steps;     /* scratch memory for a round */
    coll_network network;
} written_call;

static void write_step(written_call *of, const coll_step *step) {
    writing *now = of->now;
    const coll_job_group *group = of->choice->group;
    if (!coll_step_is_message(step)) {
        (void)write_calc(now, coll_network_copy(&of->network, step->length));
        return;
    }
    const bool sends = step->kind == COLL_STEP_SEND;
    const int peer = group->members[(step->peer + of->choice->first) % group->ranks];
    long *latest = &now->latest_messages[(step->peer * COLL_LANES + step->lane) * 2 + sends];
    fprintf(now->stream, "l%ld: %s %zub %s %d tag %" PRId64 "\n", ++now->labels,
            sends ? "send" : "recv", step->length, sends ? "to" : "from", peer,
            COLL_LANES * of->call->number + step->lane);
    require(now, now->labels, "irequires", *latest);
    *latest = now->labels;
}

static void write_round(written_call *of, uint64_t round) {
    writing *now = of->now;
    const coll_step *steps = of->steps;
    const uint64_t window = (uint64_t)of->plan->size.window;
    round_labels *labels = of->labels, *own = &labels[round % window];
    const long before = round < window ? of->begin : own->end;
    const int count = of->plan->round(of->plan, round, of->steps);
    own->first = now->labels + 1;
    for (int i = 0; i < count; i++) {
        write_step(of, &steps[i]);
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

/* Writes the rounds of this rank's plan, whose arguments are ARGS, and the end of the call. */
static bool write_plan(written_call *of, const coll_cluster_plan *plan,
                       const coll_plan_args *args) {
    writing *now = of->now;
    const coll_plan_size size = plan->planner->size(args);
    const size_t window = (size_t)size.window;
    char *memory = malloc(size.own_bytes + size.making_bytes + 1);
    of->steps = malloc((size_t)size.steps * sizeof *of->steps);
    of->labels = calloc(window, sizeof *of->labels);
    const bool good = memory && of->steps && of->labels;
    if (good) {
        of->plan = plan->planner->plan(args, size, memory);
        coll_network_open(&of->network, &plan->shape, NULL);
        for (uint64_t round = 0; round < of->plan->rounds; round++)
            write_round(of, round);
        now->previous = write_calc(now, 0);
        require(now, now->previous, "requires", of->begin);
        for (size_t i = 0; i < window; i++)
            require(now, now->previous, "requires", of->labels[i].end);
    }
    free(memory);
    free(of->steps);
    free(of->labels);
    return good;
}

/* Writes CALL of this rank, which has number MEMBER in its group. */
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
    bool good = line;
    if (good) {
        coll_order_ranks(&plan.shape, line->order);
        for (line->position = 0; line->order[line->position] != own;)
            line->position++;
        for (int i = 0; i < 2 * COLL_LANES * ranks; i++)
            now->latest_messages[i] = 0;
        const coll_plan_args args =
            coll_sim_plan_args(&plan.shape, &plan.values, line, own == plan.shape.root, &even);
        written_call of = {.now = now, .choice = choice, .call = call, .begin = begin};
        good = write_plan(&of, &plan, &args);
    }
    free(line);
    return good ? MPI_SUCCESS : coll_error(MPI_ERR_NO_MEM, "no memory for a plan");
}

static int write_rank(writing *now, coll_cluster *cluster) {
    const COLL_Record *record = cluster->record;
    const coll_job_rank *own = &record->of[now->rank];
    int code = MPI_SUCCESS;
    fprintf(now->stream, "\nrank %d {\n", now->rank);
    for (size_t i = 0; i < own->call_count && code == MPI_SUCCESS; i++) {
        const coll_job_call *call = &own->calls[i];
        const coll_job_group *group = coll_job_group_of(record, call);
        const coll_cluster_choice *choice = coll_cluster_choose(cluster, group, call, NULL);
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

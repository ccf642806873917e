/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/bench.h"

#include "app/agreement.h"
#include "app/progress.h"
#include "app/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The state of measuring one size. */
typedef struct series {
    contender_list *list;
    const bench_settings *settings;
    const app_clock *clock;
    MPI_Comm comm;
    int rank, ranks;
    size_t bytes;
    operation_run run;
    double lead, shortest_lead; /* s: how far ahead rank 0 announces a common start */
    int *order;
    bool *given_up; /* contenders that are not repeated */
} series;

static bool has_failed(const bench_result *result) {
    return *result->problem.text != '\0';
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/*
 * Ranks sleep while they wait, so that a rank that has finished does not take the processor from
 * others. Sleeps grow from NAP to SHORT_NAP before the start, and to LONG_NAP while others may
 * still work; s.
 */
static const double NAP = 20e-6, SHORT_NAP = 100e-6, LONG_NAP = 1e-3;

/*
 * Waits on all ranks for a start time that rank 0 announces. Sets *LATE to whether the announcement
 * reached this rank after that time.
 */
static int start_together(const series *s, double *start, bool *late) {
    MPI_Request request;
    int code = app_barrier_asleep(s->comm, NAP, SHORT_NAP);
    if (code != MPI_SUCCESS)
        return code;
    if (s->rank == 0)
        *start = app_clock_now(s->clock) + s->lead;
    code = MPI_Ibcast(start, 1, MPI_DOUBLE, 0, s->comm, &request);
    if (code == MPI_SUCCESS)
        code = app_wait_asleep(&request, NAP, SHORT_NAP);
    *late = app_clock_now(s->clock) > *start;
    if (code == MPI_SUCCESS)
        app_clock_wait(s->clock, *start);
    return code;
}

bool bench_drops(const char *command, double *count) {
    FILE *output = popen(command, "r");
    if (!output)
        return false;
    double number = -1;
    bool good = fscanf(output, "%lf", &number) == 1 && isfinite(number) && number >= 0;
    if (pclose(output) != 0 || !good)
        return false;
    *count = number;
    return true;
}

/*
 * On rank 0, returns the number of packets dropped so far, NAN if the command for it fails, or 0 if
 * the settings have none. Returns 0 on other ranks.
 */
static double count_drops(const series *s) {
    double count = 0;
    if (s->rank == 0 && s->settings->drops && !bench_drops(s->settings->drops, &count))
        return NAN;
    return count;
}

/*
 * Runs one contender once. Sets *SECONDS (the time of the slowest rank) and *TOGETHER (whether all
 * ranks began at the common start) to the same values on all ranks. Updates *RESULT: adds the
 * processor time and the dropped packets if the ranks began together, and notes errors and wrong
 * data.
 */
static int run_once(const series *s, const contender *c, unsigned seed, double *seconds,
                    bool *together, bench_result *result) {
    enum { ELAPSED, LATE, ERROR, WRONG, MARKS };
    double marks[MARKS] = {0}, worst[MARKS], start = 0, spent;
    MPI_Request request;
    const operation *op = s->settings->operation;
    operation_run run = s->run;
    run.seed = seed;
    if (s->settings->verify)
        op->fill(&run);
    double dropped = count_drops(s);
    bool late = false;
    int code = start_together(s, &start, &late);
    if (code != MPI_SUCCESS)
        return code;

    spent = processor_seconds();
    int failure = c->run(c, &run);
    marks[ELAPSED] = app_clock_now(s->clock) - start;
    spent = processor_seconds() - spent;
    marks[LATE] = late;
    marks[ERROR] = !app_mpi(&result->problem, failure);
    bool checked = s->settings->verify && c->kind != CONTENDER_WIRE && failure == MPI_SUCCESS;
    marks[WRONG] = checked && !op->verify(&run);

    code = MPI_Iallreduce(marks, worst, MARKS, MPI_DOUBLE, MPI_MAX, s->comm, &request);
    if (code == MPI_SUCCESS)
        code = app_wait_asleep(&request, NAP, LONG_NAP);
    if (code != MPI_SUCCESS)
        return code;
    *seconds = worst[ELAPSED];
    *together = worst[LATE] == 0;
    if (*together) {
        result->processor += spent;
        result->dropped += count_drops(s) - dropped;
    }
    /* A code may mean another error on another rank: only its text can be agreed on. */
    if (worst[ERROR] > 0)
        app_agree(&result->problem, s->comm);
    result->wrong = result->wrong || worst[WRONG] > 0;
    return MPI_SUCCESS;
}

/*
 * Calls run_once; while some rank gets the announcement too late, doubles the lead and repeats the
 * run. A run in time shortens the lead by 5 %: delays are rare, and with a long lead ranks would
 * wait for longer than a short run takes.
 */
static int run_together(series *s, const contender *c, unsigned seed, double *seconds,
                        bench_result *result) {
    bool together = false;
    for (int code; !together;) {
        code = run_once(s, c, seed, seconds, &together, result);
        if (code != MPI_SUCCESS || has_failed(result))
            return code;
        s->lead = together ? fmax(0.95 * s->lead, s->shortest_lead) : 2 * s->lead;
    }
    return MPI_SUCCESS;
}

/* Shuffles the contenders for a round, in the same way on all ranks. */
static void shuffle(int order[], int count, unsigned seed) {
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = count - 1; i > 0; i--) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int other = (int)((state >> 33) % (uint64_t)(i + 1));
        int held = order[i];
        order[i] = order[other];
        order[other] = held;
    }
}

static int run_round(series *s, unsigned round, bool counted, bench_result results[]) {
    shuffle(s->order, s->list->count, round);
    for (int i = 0; i < s->list->count; i++) {
        int which = s->order[i];
        bench_result *result = &results[which];
        if (has_failed(result) || s->given_up[which])
            continue;
        double seconds;
        int code = run_together(s, &s->list->at[which], round, &seconds, result);
        if (code != MPI_SUCCESS)
            return code;
        if (!has_failed(result) && result->call_count < BENCH_CALLS)
            result->calls[result->call_count++] = seconds;
        if (!counted)
            result->processor = result->dropped = 0;
        else if (!has_failed(result))
            result->samples[result->count++] = seconds;
    }
    return MPI_SUCCESS;
}

/*
 * When contenders are given up, the best time is taken to be at least this long (s), since one
 * sample of a shorter run is mostly noise.
 */
static const double cheap = 10e-3;

static bool is_rival(const contender *c) {
    return c->kind == CONTENDER_RIVAL;
}

/* Returns whether C is the MPI library's default, or an algorithm of libcoll other than auto. */
static bool is_named(const contender *c) {
    return c->kind == CONTENDER_NATIVE ||
           (c->kind == CONTENDER_OURS && strcmp(c->algorithm, "auto") != 0);
}

/*
 * Called after the first counted round. Among the contenders accepted by COUNTS, gives up those
 * that take more than TIMES times as long as the best. A contender that is given up, takes more
 * than SLOW seconds and was less far behind at the previous size won't catch up: it is left out of
 * the next sizes if settings->give_up is set.
 */
static void give_up_hopeless(const series *s, const bench_result results[],
                             bool (*counts)(const contender *), double times) {
    const double slow = 0.2;
    double best = -1;
    for (int i = 0; i < s->list->count; i++)
        if (counts(&s->list->at[i]) && results[i].count &&
            (best < 0 || results[i].samples[0] < best))
            best = results[i].samples[0];
    for (int i = 0; i < s->list->count; i++) {
        contender *c = &s->list->at[i];
        if (!counts(c) || !results[i].count)
            continue;
        const double seconds = results[i].samples[0], behind = seconds / fmax(best, cheap);
        s->given_up[i] = behind > times;
        c->left_out = s->settings->give_up > 0 && s->given_up[i] && seconds > slow &&
                      c->behind > 0 && behind > c->behind;
        c->behind = behind;
    }
}

/* Returns whether all medians are known to within the tolerance. Sorts the samples. */
static bool all_steady(const series *s, const bench_result results[]) {
    if (s->settings->steady == 0)
        return false;
    for (int i = 0; i < s->list->count; i++) {
        const bench_result *result = &results[i];
        if (has_failed(result) || s->given_up[i])
            continue;
        app_stats_sort(result->samples, result->count);
        if (!app_stats_median_is_steady(result->samples, result->count, s->settings->steady))
            return false;
    }
    return true;
}

/* Lets rank 0 decide for all ranks whether to run another round. */
static int decide_on_round(const series *s, int done, double began, const bench_result results[],
                           int *more) {
    *more = done < s->settings->most;
    if (*more && done >= s->settings->least)
        *more = MPI_Wtime() - began < s->settings->seconds && !all_steady(s, results);
    return MPI_Bcast(more, 1, MPI_INT, 0, s->comm);
}

/* Turns a contender's sums into means per run, after adding up the processor time of all ranks. */
static int finish_result(const series *s, bench_result *result) {
    app_stats_sort(result->samples, result->count);
    int code = MPI_Allreduce(MPI_IN_PLACE, &result->processor, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    if (result->count) {
        result->processor /= result->count;
        result->dropped /= result->count;
    }
    return code;
}

static int run_rounds(series *s, bench_result results[]) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < s->settings->warmups && code == MPI_SUCCESS; i++)
        code = run_round(s, 1000000u + (unsigned)i, false, results);

    double began = MPI_Wtime();
    int more = 1;
    for (int done = 0; more && code == MPI_SUCCESS;) {
        code = run_round(s, (unsigned)++done, true, results);
        if (done == 1 && s->settings->hopeless > 0)
            give_up_hopeless(s, results, is_rival, s->settings->hopeless);
        if (done == 1 && s->settings->give_up > 0)
            give_up_hopeless(s, results, is_named, s->settings->give_up);
        if (s->rank == 0)
            app_progress("%s of %zu bytes: %d rounds, %.0f s", s->settings->operation->name,
                         s->bytes, done, MPI_Wtime() - began);
        if (code == MPI_SUCCESS)
            code = decide_on_round(s, done, began, results, &more);
    }
    for (int i = 0; i < s->list->count && code == MPI_SUCCESS; i++)
        code = finish_result(s, &results[i]);
    return code;
}

static bool allocate_results(series *s, bench_result results[]) {
    int count = s->list->count;
    const bench_settings *settings = s->settings;
    bool good =
        operation_open(&s->run, settings->operation, s->bytes, s->rank, s->ranks, settings->root);
    s->order = malloc((size_t)count * sizeof *s->order);
    s->given_up = malloc((size_t)count * sizeof *s->given_up);
    good = good && s->order && s->given_up;
    for (int i = 0; i < count; i++) {
        if (s->order)
            s->order[i] = i;
        if (s->given_up)
            s->given_up[i] = s->list->at[i].left_out;
        results[i] = (bench_result){.count = 0};
        results[i].samples = malloc((size_t)settings->most * sizeof *results[i].samples);
        good = good && results[i].samples;
    }
    return good;
}

int bench_run(contender_list *list, size_t bytes, const bench_settings *settings,
              const app_clock *clock, MPI_Comm comm, bench_result results[]) {
    series s = {.list = list,
                .settings = settings,
                .clock = clock,
                .comm = comm,
                .rank = app_rank(comm),
                .ranks = app_ranks(comm),
                .bytes = bytes};
    /* Usually long enough for the announcement to reach all ranks. */
    s.lead = s.shortest_lead = 1e-3 + 8 * clock->uncertainty + 50e-6 * s.ranks;
    int good = allocate_results(&s, results);
    int code = MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
    if (code == MPI_SUCCESS)
        code = good ? run_rounds(&s, results) : MPI_ERR_NO_MEM;
    operation_close(&s.run);
    free(s.order);
    free(s.given_up);
    return code;
}

void bench_free(bench_result results[], int count) {
    for (int i = 0; i < count; i++)
        free(results[i].samples);
}

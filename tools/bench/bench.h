/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures contenders side by side: every round runs each of them once, in an order that changes
 * from round to round, so that drift of the machine affects all equally.
 */
#ifndef COLL_TOOLS_BENCH_BENCH_H
#define COLL_TOOLS_BENCH_BENCH_H

#include "app/clocks.h"
#include "app/problem.h"
#include "tools/bench/contender.h"
#include "tools/bench/operation.h"

#include <stdbool.h>

typedef struct bench_settings {
    const operation *operation;
    int root;
    int warmups;       /* rounds that don't count */
    int least, most;   /* counted rounds */
    double seconds;    /* after LEAST rounds, end a size once its rounds have taken this long */
    double steady;     /* also end a size after LEAST rounds if all medians are known to within this
                          share of their values; 0: never */
    double hopeless;   /* a rival this many times slower than the best rival isn't repeated; 0: all
                          are repeated */
    double give_up;    /* an algorithm of libcoll other than auto, or the MPI library's default,
                          isn't repeated if it is this many times slower than the fastest of these;
                          0: all are repeated */
    bool verify;       /* check the received data after every run */
    const char *drops; /* command that prints the number of packets dropped so far; or NULL */
} bench_settings;

enum { BENCH_CALLS = 20 };

/*
 * The results of one contender at one size. Times are in seconds, from the common start to the last
 * rank's end.
 */
typedef struct bench_result {
    double *samples; /* sorted */
    int count;
    double calls[BENCH_CALLS]; /* times of the first runs in their order, including warm-up */
    int call_count;
    double processor;    /* processor seconds of all ranks together, per run */
    double dropped;      /* dropped packets per run; NAN: unknown */
    bool wrong;          /* verification failed on some rank */
    app_problem problem; /* the error of the lowest rank that has one; the same on all ranks */
} bench_result;

/*
 * Measures LIST at BYTES; collective over COMM. RESULTS, one for each contender, are complete on
 * rank 0. If settings->give_up is set, a slow contender that is given up and is further behind than
 * at the previous size is left out of later sizes. Returns MPI_ERR_NO_MEM on all ranks if memory is
 * short on some rank, or an MPI error code of the measurement itself. An error of a contender is
 * stored in its result. Free the results with bench_free.
 */
int bench_run(contender_list *list, size_t bytes, const bench_settings *settings,
              const app_clock *clock, MPI_Comm comm, bench_result results[]);
void bench_free(bench_result results[], int count);

/*
 * Runs COMMAND with sh and parses its output, the number of packets that the network has dropped so
 * far, into *COUNT. Returns false if COMMAND fails or prints no number.
 */
bool bench_drops(const char *command, double *count);

#endif

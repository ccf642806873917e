/*
 * Measures contenders side by side: all of them once in every round, in an order that changes from
 * round to round, so that the machine's drift hits them alike.
 */
#ifndef COLL_TOOLS_BENCH_BENCH_H
#define COLL_TOOLS_BENCH_BENCH_H

#include "app/clocks.h"
#include "tools/bench/contender.h"
#include "tools/bench/operation.h"

#include <stdbool.h>

typedef struct bench_settings {
    const operation *operation;
    int root;
    int warmups;     /* rounds that are not counted */
    int least, most; /* counted rounds */
    double seconds;  /* after the least rounds, stop a size that has taken so long */
    double steady;   /* or whose medians are all known to within this share of themselves */
    double
        hopeless; /* a rival this many times slower than the best one isn't repeated; 0: all are */
    double give_up;    /* likewise libcoll's algorithms, but auto, and the library's default */
    bool progress;     /* rank 0 shows it after every round */
    bool verify;       /* compare what arrived, after every run */
    const char *drops; /* a command that prints how many packets were dropped so far; or NULL */
} bench_settings;

enum { BENCH_CALLS = 20 };

/* What one contender did at one size; times in seconds, from the common start to the last rank's
 * end. */
typedef struct bench_result {
    double *samples; /* sorted */
    int count;
    double calls[BENCH_CALLS]; /* the first ones in their order, with those that warm up */
    int call_count;
    double processor; /* processor seconds of all ranks together, per run */
    double dropped;   /* packets per run */
    bool wrong;       /* verification failed on some rank */
    int error;        /* the MPI error of the lowest rank that had one, else MPI_SUCCESS */
} bench_result;

/*
 * Measures LIST at BYTES; collective over COMM. RESULTS, one a contender, are complete on rank 0. A
 * contender that was given up and falls further behind at each size is left out of the next ones.
 * MPI_ERR_NO_MEM and errors of the measurement itself are alike on all ranks. Free the results with
 * bench_free.
 */
int bench_run(contender_list *list, size_t bytes, const bench_settings *settings,
              const app_clock *clock, MPI_Comm comm, bench_result results[]);
void bench_free(bench_result results[], int count);

/*
 * Runs COMMAND with sh and reads the number that it prints into *COUNT: how many packets the
 * network has dropped so far. False where it fails or prints no number.
 */
bool bench_drops(const char *command, double *count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints coll-kmeans's table, progress and JSON lines at rank 0, and writes its files. */
#ifndef COLL_KMEANS_KM_REPORT_H
#define COLL_KMEANS_KM_REPORT_H

#include "kmeans/kmeans.h"

#include <stdio.h>

typedef struct km_report {
    const km_points *points;
    FILE *json;           /* NULL for no JSON */
    int64_t iterations;   /* the most iterations */
    double read, started; /* s: the time that reading took, and when the clustering began */
    double seconds;       /* s that the clustering took */
    uint64_t batch;       /* points of the current batch, or all */
    double since;         /* when the iterations on these points began */
    double skipped;       /* passes over these points made before this run; < 0: not known yet */
} km_report;

/*
 * Starts the clock and prints the header of the table. The points were read in READ_SECONDS. POINTS
 * must outlive REPORT.
 */
void km_report_begin(km_report *report, const km_points *points, const km_settings *settings,
                     int ranks, double read_seconds);

/* The callbacks of a km_observer whose context is a km_report. */
void km_report_batch(uint64_t points, void *context);
void km_report_quality(uint64_t objective, void *context);
void km_report_step(const km_step *step, void *context);
void km_report_progress(int64_t iteration, double done, void *context);
void km_report_note(const char *text, void *context);

/* Prints the summary. */
void km_report_end(km_report *report, const km_result *result);

/* Prints how long each part of the run took; the result was written in WRITE_SECONDS. */
void km_report_times(const km_report *report, const km_result *result, double write_seconds);

/*
 * Writes the K centroids of RESULT (k x dim; float32 if the features are real or the centroids are
 * fixed-point, else uint8) and the clusters of all points in their order (int32) to the two paths.
 * ASSIGN_PATH may be NULL. Both files are complete before either is renamed to its path.
 * Collective; on false all ranks have the same problem.
 */
bool km_write_result(const km_result *result, const km_points *points, size_t k,
                     const char *centroids_path, const char *assign_path, MPI_Comm comm,
                     app_problem *problem);

#endif

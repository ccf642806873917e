/* What coll-kmeans prints at rank 0, the table, its figures as JSON lines and the progress; and the
 * files it writes. */
#ifndef COLL_KMEANS_KM_REPORT_H
#define COLL_KMEANS_KM_REPORT_H

#include "kmeans/kmeans.h"

#include <stdio.h>

typedef struct km_report {
    const km_points *points;
    FILE *json;         /* or NULL */
    int64_t iterations; /* at most */
    double started;
    uint64_t batch; /* points that the iterations now are on */
    double since;   /* when they began */
    double skipped; /* passes over these that a run before this one made; below 0: not known */
} km_report;

/* Starts the clock and prints the head of the table. POINTS must live as long as the report. */
void km_report_begin(km_report *report, const km_points *points, const km_settings *settings,
                     int ranks, double read_seconds);

/* The observer whose context is a report. */
void km_report_batch(uint64_t points, void *context);
void km_report_quality(uint64_t objective, void *context);
void km_report_step(const km_step *step, void *context);
void km_report_progress(int64_t iteration, double done, void *context);
void km_report_note(const char *text, void *context);

/* Prints the summary. */
void km_report_end(km_report *report, const km_result *result);

/* Warns, on stderr, of an OpenBLAS that takes the processor for an older one. */
void km_report_core_type(void);

/*
 * Writes the K centroids of RESULT (uint8, or float32 where the features are real, k x dim) and the
 * clusters of all points in their order (int32) to the two paths; neither file gets its name before
 * both are whole. Collective; on false all ranks have the same problem.
 */
bool km_write_result(const km_result *result, const km_points *points, size_t k,
                     const char *centroids_path, const char *assign_path, MPI_Comm comm,
                     app_problem *problem);

#endif

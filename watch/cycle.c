/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/analysis.h"

#include <stdlib.h>

/*
 * Returns the next rank on a cycle: a rank that RANK certainly waits for, and that itself waits and
 * is stuck; or -1.
 */
static int next_stuck(const watch_analysis *v, int rank) {
    for (int other = 0; other < v->ranks; other++)
        if (v->waits[rank * v->ranks + other] == WATCH_SURELY && v->stuck[other] &&
            v->conditions[other] == WATCH_WAITING)
            return other;
    return -1;
}

/*
 * Returns whether a rank on PATH waits for a rank that is lost or in MPI_Finalize. Then the latter
 * rank is the cause, not the cycle.
 */
static bool waits_for_lost(const watch_analysis *v, const int path[], int length) {
    for (int i = 0; i < length; i++)
        for (int other = 0; other < v->ranks; other++)
            if (v->waits[path[i] * v->ranks + other] == WATCH_SURELY &&
                (v->conditions[other] == WATCH_FINISHED || v->conditions[other] == WATCH_LOST))
                return true;
    return false;
}

void watch_analysis_find_cycles(watch_analysis *v) {
    char *seen = calloc((size_t)v->ranks, 1);
    int *path = malloc((size_t)v->ranks * sizeof *path);
    for (int start = 0; seen && path && start < v->ranks; start++) {
        int length = 0, rank = start;
        if (seen[start] || !v->stuck[start] || v->conditions[start] != WATCH_WAITING)
            continue;
        while (rank >= 0 && !seen[rank]) {
            seen[rank] = 1;
            path[length++] = rank;
            rank = next_stuck(v, rank);
        }
        int first = 0;
        while (first < length && path[first] != rank)
            first++;
        /* The path ends, or leads to ranks that an earlier path has visited. */
        if (rank < 0 || first == length || waits_for_lost(v, path + first, length - first))
            continue;
        watch_text text;
        if (!watch_analysis_add(v, WATCH_CYCLE, path[first], true, &text))
            break;
        if (length - first == 1)
            watch_append(&text, "rank %d waits for itself", rank);
        else
            watch_append(&text, "%d ranks wait for one another", length - first);
        for (int i = first; i < length; i++) {
            watch_append(&text, i == first ? ": " : "; ");
            watch_append(&text, "rank %d is in ", path[i]);
            watch_analysis_append_call(v, &text, path[i]);
            if (length - first > 1)
                watch_append(&text, ", and waits for rank %d",
                             i + 1 < length ? path[i + 1] : path[first]);
        }
    }
    free(seen);
    free(path);
}

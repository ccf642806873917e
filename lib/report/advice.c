/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/advice.h"

#include "lib/algorithm/operations.h"
#include "lib/report/list.h"

#include <string.h>

/* Nothing is recommended that gains less than this fraction of the run. */
static const double MATTERS = 0.02;

/* A call is named if its transfers take at least this fraction of the run. */
static const double DOMINATES = 0.25;

static int by_most_gain(const void *a, const void *b) {
    const coll_advice *one = a, *other = b;
    return (one->seconds < other->seconds) - (one->seconds > other->seconds);
}

static void insert(coll_advice advice[], int *count, const coll_advice *next) {
    coll_list_insert(advice, count, COLL_ADVICE_MOST, next, sizeof *next, by_most_gain);
}

static bool is_named(const coll_lateness *late) {
    return late->late != COLL_LATE_UNKNOWN && late->late != COLL_LATE_NOBODY;
}

static bool same_culprit(const coll_lateness *one, const coll_lateness *other) {
    if (one->late == COLL_LATE_MOVES || other->late == COLL_LATE_MOVES)
        return one->late == other->late && one->ranks == other->ranks;
    return is_named(one) && one->who == other->who &&
           (one->late == COLL_LATE_HOST) == (other->late == COLL_LATE_HOST);
}

const char *coll_advice_late_host(const coll_summary *all, const coll_lateness *one) {
    return all->host_names[one->late == COLL_LATE_HOST ? one->who : all->host_of[one->who]];
}

/*
 * Returns the advice about LATE. Its gain is the sum of the delays that the same rank or host
 * causes in all operations. If the work moves, its gain is the sum over all operations on as many
 * ranks in which the work moves.
 */
static coll_advice about_late(const coll_summary *all, const coll_lateness *late) {
    coll_advice advice = {.at_most = true,
                          .rank = -1,
                          .setting = "give it less work, or examine its host: coll-run --doctor"};
    for (int i = 0; i < all->late_count; i++)
        if (same_culprit(&all->late[i], late))
            advice.seconds += all->late[i].lost;
    if (late->late == COLL_LATE_MOVES) {
        advice.kind = "moving work";
        advice.setting = "divide the work of each step evenly among the ranks";
        snprintf(advice.what, sizeof advice.what, "%d of %d ranks in turn arrive late",
                 late->late_ranks, late->ranks);
        return advice;
    }
    advice.host = coll_advice_late_host(all, late);
    if (late->late == COLL_LATE_HOST) {
        advice.kind = "late host";
        snprintf(advice.what, sizeof advice.what, "the ranks of host %s arrive late", advice.host);
        return advice;
    }
    char period[32] = "";
    if (late->late == COLL_LATE_AT_TIMES)
        advice.setting = "see what else runs there then: daemons, timers, output";
    if (late->period > 0)
        snprintf(period, sizeof period, ", every %.2g s", late->period);
    advice.kind = "late rank";
    advice.rank = late->who;
    snprintf(advice.what, sizeof advice.what, "rank %d (host %s) arrives late%s%s", late->who,
             advice.host, late->late == COLL_LATE_AT_TIMES ? " at times" : "", period);
    return advice;
}

static bool is_first_of_culprit(const coll_summary *all, int nth) {
    for (int i = 0; i < nth; i++)
        if (same_culprit(&all->late[i], &all->late[nth]))
            return false;
    return is_named(&all->late[nth]);
}

double coll_advice_transferring_share(const coll_summary *all, const char *operation) {
    double inside = 0, waiting = 0;
    for (int i = 0; i < all->late_count; i++)
        if (strcmp(coll_operations[all->late[i].operation].name, operation) == 0) {
            inside += all->late[i].inside;
            waiting += all->late[i].waits ? all->late[i].waiting : 0;
        }
    return inside > 0 ? 1 - waiting / inside : 1;
}

bool coll_advice_names_link(const coll_summary *all) {
    return all->link.problem != COLL_LINK_GOOD && all->link.seconds >= MATTERS * all->seconds;
}

double coll_advice_excess(const coll_summary *all, const coll_report_row *row) {
    if (!(row->predicted > 0) || row->everywhere < row->calls)
        return 0;
    return row->inside * coll_advice_transferring_share(all, row->operation) / row->predicted;
}

void coll_advice_describe_link(const coll_summary *all, char *text, size_t size) {
    snprintf(text, size, "the %s of host %s %s", all->link.uplink ? "uplink of the rack" : "link",
             all->host_names[all->link.host],
             all->link.problem == COLL_LINK_LOSES ? "loses packets" : "is slow");
}

int coll_advice_make(const coll_summary *all, coll_advice advice[COLL_ADVICE_MOST]) {
    int count = 0;
    const double least = MATTERS * all->seconds;
    for (int i = 0; i < all->late_count; i++) {
        if (!is_first_of_culprit(all, i))
            continue;
        const coll_advice next = about_late(all, &all->late[i]);
        if (next.seconds >= least)
            insert(advice, &count, &next);
    }
    for (int i = 0; i < all->count; i++) {
        const coll_report_row *row = &all->rows[i];
        coll_advice next = {
            .kind = "call",
            .seconds =
                row->inside / all->ranks * coll_advice_transferring_share(all, row->operation),
            .at_most = true,
            .rank = -1,
            .row = row,
            .setting = "call it less often, with less data, or nonblocking while it computes"};
        snprintf(next.what, sizeof next.what, "%s of %zu bytes or more dominates the run",
                 row->operation, coll_report_row_bytes(row));
        if (next.seconds >= DOMINATES * all->seconds)
            insert(advice, &count, &next);
    }
    if (coll_advice_names_link(all)) {
        coll_advice next = {.kind = "link",
                            .seconds = all->link.seconds,
                            .at_most = true,
                            .rank = -1,
                            .host = all->host_names[all->link.host],
                            .setting = "examine the hosts and links: coll-run --doctor"};
        coll_advice_describe_link(all, next.what, sizeof next.what);
        insert(advice, &count, &next);
    }
    const coll_advice next = {
        .kind = "native",
        .seconds = all->would_save.middle,
        .rank = -1,
        .what = "libcoll can run the collectives",
        .setting = "coll-run --wrap all, or the component, enabled and without COLL_DISABLE"};
    if (!all->served && all->would_known && next.seconds >= least)
        insert(advice, &count, &next);
    return count;
}

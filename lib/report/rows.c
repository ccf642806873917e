/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/rows.h"

#include "lib/cost/networks.h"
#include "lib/tuning/predict.h"
#include "lib/tuning/tuning_db.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Times that autotuning has measured are the least of a few calls. The difference of two such times
 * is taken to be right within this fraction of the native time.
 */
static const double MEASURED_WITHIN = 0.1;

static bool is_native(const coll_report_class *class) {
    return !class->dcp && (!class->algorithm || class->algorithm->native);
}

static const char *algorithm_name(const coll_report_class *class) {
    return class->dcp ? COLL_REPORT_DCP : class->algorithm ? class->algorithm->name : "native";
}

/*
 * Returns the seconds that autotuning has measured for a call of CLASS with ALGORITHM; 0: unknown.
 */
static double measured_seconds(const coll_report_class *class, const char *algorithm) {
    coll_tuning_entry like = {.placement = coll_tuning_db_placement(&class->group->topo),
                              .ranks = class->group->ranks,
                              .bytes = coll_class_bytes(class->size_class)};
    snprintf(like.operation, sizeof like.operation, "%s", coll_operations[class->operation].name);
    snprintf(like.algorithm, sizeof like.algorithm, "%s", algorithm);
    return coll_tuning_db_find(&like);
}

static void scale(coll_report_range *range, double by) {
    range->low *= by;
    range->middle *= by;
    range->high *= by;
}

/* Sets SAVED to the seconds that a call saves according to autotuning. Returns false if autotuning
 * has not measured both algorithms. */
static bool saved_as_measured(const coll_report_class *class, coll_report_range *saved) {
    const double native = measured_seconds(class, "native"),
                 own = measured_seconds(class, class->algorithm->name);
    if (!(native > 0 && own > 0))
        return false;
    const double within = MEASURED_WITHIN * native;
    *saved = (coll_report_range){native - own - within, native - own, native - own + within};
    return true;
}

/*
 * Estimates CALL, which NATIVE ran if RAN_NATIVE is true, else OWN. Sets *PREDICTED to the seconds
 * of the algorithm that ran, on the slowest network that the job may be running on, and SAVED to
 * the seconds by which OWN is faster than NATIVE. The range of SAVED covers the relative savings on
 * all these networks. Returns false if there is no prediction.
 */
static bool predict_saved(const coll_shape *call, const coll_algorithm *own,
                          const coll_values *values, const coll_algorithm *native, bool ran_native,
                          double *predicted, coll_report_range *saved) {
    const int networks = coll_networks_count(call->profile, call->topo);
    const coll_values none = coll_values_default(native);
    *saved = (coll_report_range){INFINITY, 0, -INFINITY};
    *predicted = 0;
    for (int n = 0; n < (networks ? networks : 1); n++) {
        coll_profile network;
        if (networks)
            coll_networks_get(call->profile, call->topo, n, &network);
        const coll_profile *costs = networks ? &network : NULL;
        const double theirs = coll_predicted_on(native, call, &none, costs),
                     ours = coll_predicted_on(own, call, values, costs),
                     ran = ran_native ? theirs : ours,
                     within = COLL_REPORT_PREDICTED_WITHIN * (theirs + ours);
        if (!(ran > 0) || !isfinite(theirs) || !isfinite(ours))
            return false;
        saved->low = fmin(saved->low, (theirs - ours - within) / ran);
        saved->high = fmax(saved->high, (theirs - ours + within) / ran);
        if (n == 0)
            saved->middle = (theirs - ours) / ran;
        *predicted = fmax(*predicted, ran);
    }
    scale(saved, *predicted);
    return true;
}

/* Returns the shape of CLASS's average call. */
static coll_shape average_call(const coll_report_class *class, const coll_shape *like) {
    coll_shape call = *like;
    if (call.bytes != COLL_BYTES_UNKNOWN && call.operation != COLL_OPERATION_BARRIER)
        call.bytes = (size_t)(class->bytes / class->calls);
    call.element = coll_select_element(&call);
    if (call.element)
        call.bytes -= call.bytes % call.element;
    if (call.root != COLL_NO_ROOT)
        call.root = 0;
    return call;
}

/*
 * Returns the fraction by which predicted savings are multiplied, if calls take EACH seconds on
 * average. The time beyond the prediction counts as waiting for late ranks, which no algorithm
 * shortens.
 */
static double counted_share(double each, double predicted) {
    return predicted > 0 ? fmin(each / predicted, 1) : 1;
}

/*
 * Sets SAVED to the seconds that all calls of CLASS have saved if they took *PREDICTED seconds;
 * *PREDICTED is 0 if SAVED needs no prediction. Returns the source of SAVED.
 */
static coll_report_source find_saved(const coll_report_class *class, double *predicted,
                                     coll_report_range *saved) {
    coll_report_source source = COLL_REPORT_MEASURED;
    *saved = (coll_report_range){0, 0, 0};
    *predicted = 0;
    if (is_native(class))
        return COLL_REPORT_NATIVE;
    const coll_shape *first = &class->shape;
    const coll_algorithm *native = coll_operations[class->operation].table[0];
    if (coll_operations[class->operation].neighbors || class->dcp ||
        class->kind != COLL_REPORT_BLOCKING || !first->topo || first->topo->sites != 1 ||
        first->bytes == COLL_BYTES_UNKNOWN || !native->native)
        return COLL_REPORT_UNKNOWN;
    if (!saved_as_measured(class, saved)) {
        const coll_shape call = average_call(class, first);
        source = COLL_REPORT_ESTIMATED;
        if (!predict_saved(&call, class->algorithm, &class->values, native, false, predicted,
                           saved))
            return COLL_REPORT_UNKNOWN;
    }
    scale(saved, (double)class->calls);
    *predicted *= (double)class->calls;
    return source;
}

static double seconds_inside(const coll_report_class *class) {
    return 1e-9 * coll_report_tick() * (double)class->inside;
}

bool coll_report_would_save(const coll_report_class *class, const coll_topo *topo,
                            const coll_profile *profile, coll_report_range *saved) {
    const coll_operation_info *info = &coll_operations[class->operation];
    static const coll_spec automatic = {.algorithm = NULL};
    if (!is_native(class) || class->kind != COLL_REPORT_BLOCKING || class->calls == 0 ||
        !info->table[0]->native || info->neighbors)
        return false;
    const coll_shape like = {.operation = class->operation,
                             .sides = info->sides,
                             .bytes = 1,
                             .root = info->rootless ? COLL_NO_ROOT : 0,
                             .element = info->reduces,
                             .topo = topo,
                             .profile = profile};
    const coll_shape call = average_call(class, &like);
    *saved = (coll_report_range){0, 0, 0};
    if (call.bytes == 0)
        return true;
    const coll_choice choice = coll_select(&call, &automatic);
    if (choice.algorithm->native)
        return true;
    double predicted;
    if (!predict_saved(&call, choice.algorithm, &choice.values, info->table[0], true, &predicted,
                       saved))
        return false;
    const double calls = (double)class->calls, each = seconds_inside(class) / calls;
    scale(saved, calls * counted_share(each, predicted));
    return true;
}

static coll_report_row make_row(const coll_report_class *class, int rank, int ranks) {
    coll_report_row row = {.size_class = class->size_class,
                           .calls = (double)class->calls,
                           .bytes = (double)class->bytes,
                           .inside = seconds_inside(class),
                           .completed = (double)class->completed,
                           .until = class->until};
    if (class->group && class->group->ranks == ranks)
        row.everywhere = row.calls;
    const char *name = coll_operations[class->operation].name;
    snprintf(row.operation, sizeof row.operation, "%s%s%s",
             class->kind == COLL_REPORT_NONBLOCKING ? "i" : "", name,
             class->kind == COLL_REPORT_PERSISTENT ? "_init" : "");
    snprintf(row.algorithm, sizeof row.algorithm, "%s", algorithm_name(class));
    const bool first = class->group && class->group->members[0] == rank;
    /* An estimate of the first rank stands for all ranks of its group. */
    const double represented = first && !is_native(class) ? class->group->ranks : 1;
    if (is_native(class) || first)
        row.source = find_saved(class, &row.predicted, &row.saved);
    if (row.source != COLL_REPORT_UNKNOWN)
        row.estimated = represented * row.calls;
    row.predicted *= represented;
    scale(&row.saved, represented);
    return row;
}

int coll_report_make_rows(int rank, int ranks, coll_report_row rows[], int16_t row_of[]) {
    int classes, count = 0;
    const coll_report_class *all = coll_report_classes(&classes);
    for (int i = 0; i < classes; i++)
        if (all[i].calls > 0) {
            const coll_report_row row = make_row(&all[i], rank, ranks);
            row_of[i] = (int16_t)coll_report_add_row(rows, &count, COLL_REPORT_ROWS, &row);
        }
    return count;
}

void coll_report_finish_saved(coll_report_row *row) {
    if (!(row->estimated > 0))
        return;
    const double share = counted_share(row->inside / row->calls, row->predicted / row->estimated);
    scale(&row->saved, share * row->calls / row->estimated);
    row->predicted *= row->calls / row->estimated;
    row->estimated = row->calls;
}

static int combined_source(int a, int b) {
    if (a == b || b == COLL_REPORT_UNKNOWN)
        return a;
    return a == COLL_REPORT_UNKNOWN ? b : COLL_REPORT_MIXED;
}

void coll_report_sum_row(coll_report_row *sum, const coll_report_row *row) {
    sum->source = combined_source(sum->source, row->source);
    sum->calls += row->calls;
    sum->bytes += row->bytes;
    sum->inside += row->inside;
    sum->completed += row->completed;
    sum->until += row->until;
    sum->estimated += row->estimated;
    sum->predicted += row->predicted;
    sum->everywhere += row->everywhere;
    coll_report_range_add(&sum->saved, &row->saved);
}

int coll_report_add_row(coll_report_row sums[], int *count, int most, const coll_report_row *row) {
    int i = 0;
    while (i < *count && (sums[i].size_class != row->size_class ||
                          strcmp(sums[i].operation, row->operation) != 0 ||
                          strcmp(sums[i].algorithm, row->algorithm) != 0))
        i++;
    if (i == most)
        return -1;
    if (i == *count)
        sums[(*count)++] = *row;
    else
        coll_report_sum_row(&sums[i], row);
    return i;
}

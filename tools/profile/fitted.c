/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/fitted.h"

#include "app/stats.h"
#include "tools/profile/fit.h"

#include <math.h>
#include <string.h>

/* Bytes of the last point of curves that grow at a stream's rate; larger than all messages. */
static const double FAR = 1 << 30;

/*
 * Concurrent streams share a limit if their total rate is less than this share of their number
 * times the rate of a single stream.
 */
static const double LIMITED_SHARE = 0.8;

/* Computes the minimum and the median of a pair's rounds. Returns false if there are none. */
static bool summarize_rounds(const probe_result *probe, probe_figure figure, int size,
                             double *least, double *median) {
    double sorted[PROBE_ROUNDS];
    int rounds = probe->rounds[figure][size];
    memcpy(sorted, probe->sample[figure][size], sizeof sorted);
    if (!rounds)
        return false;
    *median = app_stats_median(sorted, rounds);
    *least = sorted[0];
    return true;
}

/* Sets the points of CURVE from FIGURE, at the sizes that all pairs have measured, and the noise of
 * CURVE. */
static void collect_points(const survey_level *l, probe_figure figure, model_curve *curve) {
    double noise[PROBE_SIZES * SURVEY_PAIRS];
    int noises = 0;
    for (int size = 0; size < PROBE_SIZES; size++) {
        double least[SURVEY_PAIRS], median;
        int pairs = 0;
        while (pairs < l->pairs &&
               summarize_rounds(&l->probe[pairs], figure, size, &least[pairs], &median)) {
            noise[noises++] = least[pairs] > 0 ? median / least[pairs] - 1 : 0;
            pairs++;
        }
        if (!pairs || pairs < l->pairs)
            continue;
        curve->bytes[curve->points] = probe_size[size];
        curve->seconds[curve->points++] = app_stats_median(least, pairs);
    }
    if (!noises)
        return;
    curve->noise = app_stats_median(noise, noises);
}

/*
 * Fits CURVE to its points. BESIDES is as for fit_curve. If PER_BYTE is not 0, the curve continues
 * beyond its last point with that many seconds per byte.
 */
static void fit_points(model_curve *curve, double per_byte, double besides) {
    double bytes[PROBE_SIZES + 1], seconds[PROBE_SIZES + 1];
    int points = curve->points;
    if (!points)
        return;
    memcpy(bytes, curve->bytes, sizeof curve->bytes);
    memcpy(seconds, curve->seconds, sizeof curve->seconds);
    if (per_byte > 0) {
        bytes[points] = FAR;
        seconds[points] = seconds[points - 1] + (FAR - bytes[points - 1]) * per_byte;
        points++;
    }
    fit_curve(points, bytes, seconds, besides, &curve->fitted);
}

/* Marks the curve of PARAMETER if it is too noisy; otherwise copies it to the cost. */
static void set_cost_curve(model_level *level, COLL_Parameter parameter, double noise) {
    model_curve *curve = &level->curve[parameter];
    curve->noisy = curve->points && !(curve->noise <= noise);
    level->cost.curve[parameter] = curve->noisy ? (COLL_Curve){.knots = 0} : curve->fitted;
}

/* Returns the seconds of PARAMETER at BYTES; OTHERWISE if its curve has no knots. */
static double parameter_at(const COLL_Cost *cost, COLL_Parameter parameter, double bytes,
                           double otherwise) {
    const COLL_Curve *curve = &cost->curve[parameter];
    return curve->knots ? COLL_Curve_at(curve, bytes) : otherwise;
}

/*
 * Makes the curve of L from half round trips, less the overheads that the profile will have: the
 * library adds the same overheads when it estimates a message.
 */
static void make_transfer(model_level *level, const model_curve *message) {
    model_curve *transfer = &level->curve[COLL_TRANSFER];
    const COLL_Cost *cost = &level->cost;
    transfer->points = message->points;
    transfer->noise = message->noise;
    for (int i = 0; i < message->points; i++) {
        double bytes = message->bytes[i];
        double ends = parameter_at(cost, COLL_SEND_OVERHEAD, bytes, cost->overhead) +
                      parameter_at(cost, COLL_ARRIVAL_OVERHEAD, bytes, cost->overhead / 2) +
                      parameter_at(cost, COLL_RECEIVE_OVERHEAD, bytes, cost->overhead / 2);
        transfer->bytes[i] = bytes;
        transfer->seconds[i] = fmax(message->seconds[i] - ends, 0);
    }
    fit_points(transfer, cost->per_byte, cost->latency);
}

/* Makes the curves of gs and gr. */
static void make_gaps(const survey_level *l, model_level *level) {
    model_curve *gap = &level->curve[COLL_SEND_GAP], *receive = &level->curve[COLL_RECEIVE_GAP];
    fit_points(gap, level->cost.per_byte, 0);
    if (!(l->gap[CROWD_SIZES - 1] > 0))
        return;
    for (int i = 0; i < CROWD_SIZES; i++) {
        receive->bytes[i] = crowd_size[i];
        receive->seconds[i] = l->gap[i];
    }
    receive->points = CROWD_SIZES;
    fit_points(receive, l->gap[CROWD_SIZES - 1] / crowd_size[CROWD_SIZES - 1], 0);
}

/* Sets how concurrent ranks delay messages, and the limit that concurrent streams share. */
static void make_concurrency(const survey_level *l, COLL_Cost *cost) {
    double ranks[SURVEY_CROWDS], intercept;
    for (int i = 0; i < l->crowds; i++)
        ranks[i] = l->crowd_ranks[i];
    if (l->crowds < 2)
        return;
    fit_line(l->crowds, ranks, l->crowd_message, &cost->per_rank, &intercept);
    cost->per_rank = fmax(cost->per_rank, 0);
    double most = 0;
    bool limited = false;
    for (int i = 0; i < l->crowds; i++) {
        most = fmax(most, l->crowd_rate[i]);
        limited = limited || l->crowd_rate[i] < LIMITED_SHARE * l->crowd_rate[0] * ranks[i] / 2;
    }
    cost->together = limited ? most : 0;
}

static void make_level(const survey_level *l, double noise, model_level *level) {
    model_curve message = {.points = 0}, *curve = level->curve;
    COLL_Cost *cost = &level->cost;
    collect_points(l, PROBE_MESSAGE, &message);
    collect_points(l, PROBE_SEND, &curve[COLL_SEND_OVERHEAD]);
    collect_points(l, PROBE_RECEIVE, &curve[COLL_RECEIVE_OVERHEAD]);
    collect_points(l, PROBE_ARRIVAL, &curve[COLL_ARRIVAL_OVERHEAD]);
    collect_points(l, PROBE_GAP, &curve[COLL_SEND_GAP]);
    const model_curve *gap = &curve[COLL_SEND_GAP];
    level->noisy = !(message.noise <= noise && gap->noise <= noise);
    cost->latency = message.seconds[0];
    cost->overhead =
        (curve[COLL_SEND_OVERHEAD].seconds[0] + curve[COLL_RECEIVE_OVERHEAD].seconds[0]) / 2;
    cost->overhead = fmin(cost->overhead, cost->latency / 2);
    cost->per_byte = gap->seconds[gap->points - 1] / gap->bytes[gap->points - 1];

    fit_points(&curve[COLL_SEND_OVERHEAD], 0, 0);
    fit_points(&curve[COLL_RECEIVE_OVERHEAD], 0, 0);
    fit_points(&curve[COLL_ARRIVAL_OVERHEAD], 0, 0);
    make_gaps(l, level);
    for (int i = 0; i < COLL_PARAMETERS; i++)
        if (i != COLL_TRANSFER)
            set_cost_curve(level, (COLL_Parameter)i, noise);
    make_transfer(level, &message);
    set_cost_curve(level, COLL_TRANSFER, noise);
    make_concurrency(l, cost);
    cost->wake = fmax(l->relay - cost->latency, 0);
    cost->buffer = floor(flood_buffer(&l->flood));
}

void model_make(const survey *s, double noise, model *m) {
    *m = (model){.survey = s};
    for (int level = 0; level < COLL_LEVELS; level++)
        if (s->level[level].pairs)
            make_level(&s->level[level], noise, &m->level[level]);
    /* The level's pairs send on an uplink from half of a rack's hosts, which may not fill it. */
    if (s->rates.uplinks > 0)
        m->level[COLL_LEVEL_SITE].cost.together = s->rates.uplinks;
    for (int copy = 0; s->copied && copy < COLL_COPIES; copy++) {
        model_curve *curve = &m->copy[copy];
        curve->points = COPIES_SIZES;
        memcpy(curve->bytes, copies_size, sizeof copies_size);
        memcpy(curve->seconds, s->copy[copy], sizeof s->copy[copy]);
        fit_points(curve, 0, 0);
    }
}

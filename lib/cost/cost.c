/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/cost.h"

#include <math.h>

const char *COLL_Parameter_name(int parameter) {
    static const char *const names[COLL_PARAMETERS] = {
        [COLL_SEND_OVERHEAD] = "Os", [COLL_SEND_GAP] = "gs",         [COLL_TRANSFER] = "L",
        [COLL_RECEIVE_GAP] = "gr",   [COLL_ARRIVAL_OVERHEAD] = "Or", [COLL_RECEIVE_OVERHEAD] = "Ur",
    };
    return parameter >= 0 && parameter < COLL_PARAMETERS ? names[parameter] : NULL;
}

const char *COLL_Copy_name(int copy) {
    static const char *const names[COLL_COPIES] = {
        [COLL_COPY_CACHE_TO_CACHE] = "Mctc",
        [COLL_COPY_CACHE_TO_MEMORY] = "Mctm",
        [COLL_COPY_MEMORY_TO_MEMORY] = "Mmtm",
    };
    return copy >= 0 && copy < COLL_COPIES ? names[copy] : NULL;
}

double COLL_Curve_at(const coll_curve *curve, double bytes) {
    if (curve->knots == 1 || bytes <= curve->bytes[0])
        return curve->seconds[0];
    int i = 1;
    while (i < curve->knots - 1 && bytes > curve->bytes[i])
        i++;
    const double slope =
        (curve->seconds[i] - curve->seconds[i - 1]) / (curve->bytes[i] - curve->bytes[i - 1]);
    return curve->seconds[i - 1] + (bytes - curve->bytes[i - 1]) * slope;
}

const char *coll_curve_fault(const coll_curve *curve) {
    if (curve->knots < 1 || curve->knots > COLL_KNOTS)
        return "too few or too many knots";
    for (int i = 0; i < curve->knots; i++) {
        if (!(curve->bytes[i] >= 0 && curve->bytes[i] <= 1e12))
            return "a size that is not within 0 to 1e12";
        if (!(curve->seconds[i] >= 0 && curve->seconds[i] <= 1e6))
            return "a time that is not within 0 to 1e6 s";
        if (i > 0 && !(curve->bytes[i] > curve->bytes[i - 1]))
            return "a size that is not above the one before";
        if (i > 0 && !(curve->seconds[i] >= curve->seconds[i - 1]))
            return "a time below the one before";
    }
    return NULL;
}

/* Returns PARAMETER at BYTES: from its curve if it was measured, else from a straight line. */
static double parameter_at(const coll_cost *cost, COLL_Parameter parameter, double bytes,
                           double fixed, double per_byte) {
    const coll_curve *curve = &cost->curve[parameter];
    return curve->knots ? COLL_Curve_at(curve, bytes) : fixed + bytes * per_byte;
}

double coll_cost_send_overhead(const coll_cost *cost, double bytes) {
    return parameter_at(cost, COLL_SEND_OVERHEAD, bytes, cost->overhead, 0);
}

double coll_cost_send_gap(const coll_cost *cost, double bytes) {
    return parameter_at(cost, COLL_SEND_GAP, bytes, cost->overhead, cost->per_byte);
}

double coll_cost_receive_gap(const coll_cost *cost, double bytes) {
    return parameter_at(cost, COLL_RECEIVE_GAP, bytes, cost->overhead, cost->per_byte);
}

double coll_cost_arrival_overhead(const coll_cost *cost, double bytes) {
    return parameter_at(cost, COLL_ARRIVAL_OVERHEAD, bytes, cost->overhead / 2, 0);
}

double coll_cost_receive_overhead(const coll_cost *cost, double bytes) {
    return parameter_at(cost, COLL_RECEIVE_OVERHEAD, bytes, cost->overhead / 2, 0);
}

double coll_cost_transfer(const coll_cost *cost, double bytes) {
    const double empty = fmax(cost->latency - 2 * cost->overhead, 0),
                 pair = parameter_at(cost, COLL_TRANSFER, bytes, empty, cost->per_byte),
                 start = parameter_at(cost, COLL_TRANSFER, 0, empty, 0),
                 asked = bytes / coll_cost_send_gap(cost, bytes),
                 crowding = cost->together > 0 ? fmax(1, asked / cost->together) : 1;
    return start + (pair - start) * crowding;
}

double coll_cost_message(const coll_cost *cost, double bytes) {
    return coll_cost_send_overhead(cost, bytes) + coll_cost_transfer(cost, bytes) +
           coll_cost_arrival_overhead(cost, bytes) + coll_cost_receive_overhead(cost, bytes);
}

double coll_cost_relay(const coll_cost *cost, double bytes) {
    return cost->wake + coll_cost_message(cost, bytes);
}

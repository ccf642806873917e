#include "config.h"

#include "lib/schedule/trend.h"

#include "lib/schedule/price.h"

static int doublings(int ranks, int all) {
    return all > ranks ? 1 + doublings(ranks, coll_trend_half(all)) : 0;
}

int64_t coll_trend_at(const coll_trend *trend, int all, bool pace, bool in_step) {
    const int ranks = trend->ranks, half = coll_trend_half(ranks), more = ranks - half,
              less = half - coll_trend_half(half), times = doublings(ranks, all);
    const int64_t now = trend->waits[0], first = trend->waits[1] - trend->waits[2],
                  second = now - trend->waits[1], linear = second - first;
    if (first + second < now / 8)
        return now; /* no more than chance */
    if (linear < first / 4 || (pace && (in_step || second < now / 3)) || more <= less ||
        (linear > first && (in_step || less == 1))) /* two and three ranks tell no line, either */
        return coll_price_sum(now, first + second, 2, (uint64_t)times);
    if (linear > first) /* the line alone */
        return coll_price_sum(now, first + second, (uint64_t)(more + less),
                              (uint64_t)(all - ranks));
    const int64_t logarithm =
                      coll_price_sum(first, -linear, (uint64_t)(more - less), (uint64_t)less),
                  line =
                      coll_price_sum(now, linear, (uint64_t)(more - less), (uint64_t)(all - ranks));
    return coll_price_sum(line, logarithm, 1, (uint64_t)times);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/incast.h"

#include <math.h>

int coll_incast_fewest(double gs, double gr) {
    double fewest = ceil(gs / gr);
    return fewest >= 1 ? (int)fmin(fewest, 1 << 30) : 1;
}

/* Solves D / A + B / k >= 1, where B is BUFFER and k is ITEMS: with A = x / gs and D = 1 / gr the
 * solution is x <= gs / gr / (1 - B / k). */
int coll_incast_most(double gs, double gr, double buffer, double items, int senders) {
    if (items <= buffer)
        return senders;
    double most = floor(gs / gr / (1 - buffer / items));
    return most < 1 ? 1 : (int)fmin(most, senders);
}

int coll_incast_window(int fewest, int most, int senders) {
    for (int w = most < senders ? most : senders; w >= fewest; w--) {
        int last = senders % w;
        if (last == 0 || last >= fewest)
            return w;
    }
    return fewest < senders ? fewest : senders;
}

double coll_incast_share(double share, bool stalled) {
    static const double least = 1.0 / 16;
    return stalled ? fmax(share / 2, least) : fmin(share * 9 / 8, 1);
}

double coll_incast_seconds(double first, double items, double departure, double last) {
    return first + items / departure + last;
}

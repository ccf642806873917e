/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/rack_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Rates of uplinks that are tried, in links. */
static const double UPLINKS[] = {0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 22, 32};

/* A transfer's largest misfit: a few disturbed transfers must not decide. */
static const double MOST = 0.5;

/* What another rack must gain, in mean misfits of a transfer: of two racks, one can be divided at
 * will, since the uplink of the other explains all times. */
static const double RACK = 5;

/* Other changes must gain more than rounding errors. */
static const double TINY = 1e-9;

/* Sweeps of small changes, and of exchanges, so that a fit always ends soon. */
enum { SWEEPS = 8, EXCHANGES = 4 };

typedef struct model {
    int hosts, count; /* of transfers */
    const coll_transfer *transfers;
    double slower[COLL_FIT_ROUNDS * COLL_FIT_HOSTS]; /* logarithm of a transfer's time in usual
                                                        times */
    int racks, *rack;
    double rack_gain; /* what another rack must gain, as a share of the misfit */
    double uplink;
    double sharing[COLL_FIT_HOSTS + 1]; /* logarithm of k/u, by k */
    /* Of the transfers between two racks whose times are known: the sum of SLOWER, and how many;
     * and the mean of SLOWER of all. */
    double sum[COLL_FIT_HOSTS][COLL_FIT_HOSTS];
    int known[COLL_FIT_HOSTS][COLL_FIT_HOSTS];
    double mean;
} model;

/* --- Misfit --- */

/* A fit spends most of its time here. With fmin and fmax it would take longer. */
static double misfit_of_round(const model *m, int first) {
    const coll_transfer *transfer = &m->transfers[first];
    const int *rack = m->rack;
    int leave[COLL_FIT_HOSTS], enter[COLL_FIT_HOSTS];
    double sum = 0;
    for (int i = 0; i < m->hosts; i++)
        leave[i] = enter[i] = 0;
    for (int i = 0; i < m->hosts; i++) {
        const int from = rack[transfer[i].from], to = rack[transfer[i].to];
        leave[from] += from != to;
        enter[to] += from != to;
    }
    for (int i = 0; i < m->hosts; i++) {
        const int from = rack[transfer[i].from], to = rack[transfer[i].to],
                  most = leave[from] > enter[to] ? leave[from] : enter[to];
        const double more = m->slower[first + i] - m->sharing[from == to ? 0 : most],
                     less = transfer[i].seconds < 0 ? 0 : -more, misfit = more > 0 ? more : less;
        sum += misfit < MOST ? misfit : MOST;
    }
    return sum;
}

static double misfit(const model *m) {
    double sum = 0;
    for (int first = 0; first < m->count; first += m->hosts)
        sum += misfit_of_round(m, first);
    return sum;
}

static void set_uplink(model *m, double uplink) {
    m->uplink = uplink;
    for (int k = 0; k <= m->hosts; k++)
        m->sharing[k] = k > uplink ? log(k / uplink) : 0;
}

/* Sets the rate of uplinks that fits best. Returns the misfit. */
static double fit_uplink(model *m) {
    double least = INFINITY, best = 0;
    for (size_t i = 0; i < sizeof UPLINKS / sizeof *UPLINKS; i++) {
        set_uplink(m, UPLINKS[i]);
        const double now = misfit(m);
        if (now < least - TINY) {
            least = now;
            best = UPLINKS[i];
        }
    }
    set_uplink(m, best);
    return least;
}

/* Numbers the racks in order of first appearance. */
static void number_racks(model *m) {
    int number[COLL_FIT_HOSTS];
    m->racks = 0;
    for (int i = 0; i < m->hosts; i++)
        number[i] = -1;
    for (int host = 0; host < m->hosts; host++) {
        int *of = &number[m->rack[host]];
        if (*of < 0)
            *of = m->racks++;
        m->rack[host] = *of;
    }
}

/* --- The first racks --- */

static void sum_known_times(model *m) {
    const double least = -0.3, most = 1;
    double sum = 0;
    int known = 0;
    memset(m->known, 0, sizeof m->known);
    memset(m->sum, 0, sizeof m->sum);
    for (int i = 0; i < m->count; i++) {
        const int from = m->transfers[i].from, to = m->transfers[i].to;
        const double slower = fmin(fmax(m->slower[i], least), most);
        if (m->transfers[i].seconds < 0)
            continue;
        sum += slower;
        known++;
        m->sum[from][to] += slower;
        m->sum[to][from] += slower;
        m->known[from][to]++;
        m->known[to][from]++;
    }
    m->mean = known > 0 ? sum / known : 0;
}

/* Merges the two of the COUNT racks whose transfers to each other are fastest. If no time is known,
 * they count as fast as the mean. */
static void merge_nearest(model *m, int count) {
    double least = INFINITY;
    int one = 0, other = 0;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            const double slower = (m->sum[a][b] + m->mean) / (m->known[a][b] + 1);
            if (slower < least) {
                least = slower;
                one = a;
                other = b;
            }
        }
    for (int i = 0; i < count; i++) {
        m->sum[i][other] = m->sum[other][i] += m->sum[one][i];
        m->known[i][other] = m->known[other][i] += m->known[one][i];
    }
    /* the last rack takes the free place */
    for (int i = 0; i < count; i++) {
        m->sum[i][one] = m->sum[one][i] = m->sum[count - 1][i];
        m->known[i][one] = m->known[one][i] = m->known[count - 1][i];
    }
    for (int host = 0; host < m->hosts; host++)
        m->rack[host] = m->rack[host] == one         ? other
                        : m->rack[host] == count - 1 ? one
                                                     : m->rack[host];
}

/* Merges hosts again and again, and keeps the racks that fit best, at most half as many as hosts.
 */
static void find_first_racks(model *m) {
    double least = INFINITY;
    int best[COLL_FIT_HOSTS] = {0};
    sum_known_times(m);
    for (int host = 0; host < m->hosts; host++)
        m->rack[host] = host;
    for (int count = m->hosts; count > 1; count--) {
        if (2 * count <= m->hosts) {
            const double now = fit_uplink(m) * (1 + m->rack_gain * count);
            if (now < least) {
                least = now;
                memcpy(best, m->rack, sizeof best);
            }
        }
        merge_nearest(m, count);
    }
    memcpy(m->rack, best, sizeof best);
    number_racks(m);
}

/* --- Better racks --- */

/* Merges racks that are not needed. Returns whether there are any. */
static bool merge_racks(model *m, double *least) {
    bool changed = false;
    for (int one = 1; one < m->racks; one++)
        for (int other = 0; other < one; other++) {
            int before[COLL_FIT_HOSTS];
            memcpy(before, m->rack, sizeof before);
            for (int host = 0; host < m->hosts; host++)
                if (m->rack[host] == one)
                    m->rack[host] = other;
            const double now = misfit(m);
            if (now >= *least * (1 + m->rack_gain)) {
                memcpy(m->rack, before, sizeof before);
                continue;
            }
            *least = now;
            changed = true;
            number_racks(m);
            one = other = 0; /* compare all again */
        }
    return changed;
}

/* Moves each host to the rack where it fits best, which may be a new one. Returns whether any host
 * has moved. */
static bool move_hosts(model *m, double *least) {
    bool changed = false;
    for (int host = 0; host < m->hosts; host++) {
        const int old = m->rack[host], fresh = m->racks;
        double lowest = *least - TINY;
        int best = old;
        for (int rack = 0; rack <= fresh && rack < m->hosts; rack++) {
            m->rack[host] = rack;
            const double now = misfit(m);
            if (rack == old || now * (rack == fresh ? 1 + m->rack_gain : 1) >= lowest)
                continue;
            lowest = now;
            best = rack;
        }
        m->rack[host] = best;
        if (best == old)
            continue;
        *least = lowest;
        m->racks += best == fresh;
        changed = true;
    }
    number_racks(m);
    return changed;
}

static void exchange(model *m, int one, int other) {
    const int rack = m->rack[one];
    m->rack[one] = m->rack[other];
    m->rack[other] = rack;
}

/* Exchanges hosts of different racks if they fit better then. Returns whether any do. Sets *MARGIN
 * to the least misfit that another exchange adds. */
static bool exchange_hosts(model *m, double *least, double *margin) {
    bool changed = false;
    *margin = INFINITY;
    for (int one = 0; one < m->hosts; one++)
        for (int other = 0; other < one; other++) {
            if (m->rack[one] == m->rack[other])
                continue;
            exchange(m, one, other);
            const double now = misfit(m);
            if (now < *least - TINY) {
                *least = now;
                changed = true;
                continue;
            }
            *margin = fmin(*margin, now - *least);
            exchange(m, one, other);
        }
    return changed;
}

/* Returns the least misfit that is added by moving one host to another rack. */
static double margin_of_moves(model *m, double misfit_now) {
    double least = INFINITY;
    for (int host = 0; host < m->hosts; host++) {
        const int old = m->rack[host];
        for (int rack = 0; rack < m->racks; rack++) {
            m->rack[host] = rack;
            if (rack != old)
                least = fmin(least, misfit(m) - misfit_now);
        }
        m->rack[host] = old;
    }
    return least;
}

/* Changes racks and uplinks as long as they fit better. Returns the misfit. */
static double improve(model *m) {
    double least = fit_uplink(m);
    bool changed = true;
    for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
        const double uplink = m->uplink;
        changed = merge_racks(m, &least);
        changed = move_hosts(m, &least) || changed;
        least = fit_uplink(m);
        changed = changed || m->uplink != uplink;
    }
    return least;
}

int coll_rack_fit_make(int hosts, int rounds, const coll_transfer transfers[], double usual,
                       coll_rack_fit *fit) {
    model *m = malloc(sizeof *m);
    if (!m)
        return -1;
    *fit = (coll_rack_fit){.racks = 1};
    m->hosts = hosts;
    m->count = rounds * hosts;
    m->transfers = transfers;
    m->rack = fit->rack;
    m->rack_gain = RACK / m->count;
    for (int i = 0; i < m->count; i++)
        m->slower[i] = log(fabs(transfers[i].seconds) / usual);
    set_uplink(m, 1); /* inside a single rack no transfer crosses an uplink */
    const double single = misfit(m);
    double least = single, margin = INFINITY;
    bool changed = true;
    find_first_racks(m);
    for (int i = 0; changed && i < EXCHANGES; i++) {
        least = improve(m);
        changed = exchange_hosts(m, &least, &margin);
    }
    fit->racks = m->racks;
    const double mean = fmax(least, TINY) / m->count;
    fit->gain = (single - least) / mean;
    fit->margin = fmin(margin, margin_of_moves(m, least)) / mean;
    free(m);
    return 0;
}

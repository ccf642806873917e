/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/circulant.h"

#include "lib/pattern/binomial.h"

#include <stdbool.h>

/*
 * The search for a receive schedule: a greedy walk over sums of different skips, largest first. The
 * skips that are still unused form a linked list from the largest (index q) down to -1.
 */
typedef struct search {
    const int *skip;
    int q;
    long long target; /* p + the position */
    long long bound;  /* the last sum used: sums decrease */
    int above[COLL_CIRCULANT_ROUNDS + 1], below[COLL_CIRCULANT_ROUNDS + 1];
    int first;
    int *segment;
} search;

static void use_skip(search *s, int skip_index) {
    int below = s->below[skip_index], above = s->above[skip_index];
    if (above > s->q)
        s->first = below;
    else
        s->below[above] = below;
    if (below >= 0)
        s->above[below] = above;
}

/*
 * Extends the sum FROM by unused skips, from index E downwards, and so finds the segments for
 * rounds K and later. Returns the first round that still has none.
 */
static int extend_schedule(search *s, long long from, int e, int k) {
    for (; e >= 0 && k < s->q; e = s->below[e]) {
        long long sum = from + s->skip[e];
        if (sum > s->target - s->skip[k] || sum >= s->bound)
            continue;
        if (sum <= s->target - s->skip[k + 1])
            k = extend_schedule(s, sum, e, k);
        if (k == s->q || from > s->target - s->skip[k + 1])
            return k;
        s->bound = sum;
        s->segment[k++] = e;
        use_skip(s, e);
    }
    return k;
}

/*
 * Returns the segment that POSITION receives first: the index of the smallest skip in its sum of
 * skips; q for the root.
 */
static int base_segment(const int *skip, int q, int position) {
    for (int k = q - 1; k >= 0; k--) {
        if (skip[k] == position)
            return k;
        if (skip[k] < position)
            position -= skip[k];
    }
    return q;
}

static void receive_schedule(const int *skip, int p, int q, int position, int segment[]) {
    search s = {.skip = skip,
                .q = q,
                .target = (long long)p + position,
                .bound = 2LL * p,
                .first = q,
                .segment = segment};
    for (int e = 0; e <= q; e++) {
        s.above[e] = e + 1;
        s.below[e] = e - 1;
    }
    int base = base_segment(skip, q, position);
    use_skip(&s, base);
    extend_schedule(&s, 0, s.first, 0);
    for (int k = 0; k < q; k++)
        segment[k] = segment[k] == q ? base : segment[k] - q;
}

void coll_circulant_init(coll_circulant *schedule, int p, int position) {
    int q = coll_tree_depth(p);
    schedule->p = p;
    schedule->q = q;
    schedule->position = position;
    schedule->skip[q] = p;
    for (int k = q - 1; k >= 0; k--)
        schedule->skip[k] = schedule->skip[k + 1] - schedule->skip[k + 1] / 2;

    receive_schedule(schedule->skip, p, q, position, schedule->receive);
    for (int k = 0; k < q; k++)
        receive_schedule(schedule->skip, p, q, (int)(((long long)position + schedule->skip[k]) % p),
                         schedule->neighbour[k]);
}

/*
 * Returns the segment that a receive schedule delivers in round I of N segments, or -1. The last
 * round must end a phase, so the first phase is shorter by VIRTUAL_ROUNDS: it begins with its round
 * VIRTUAL_ROUNDS. Segments beyond the last one are replaced by the last.
 */
static long long segment_at(const int receive[], int q, long long n, long long i) {
    long long virtual_rounds = (q - (n - 1) % q) % q, round = i + virtual_rounds;
    long long segment = receive[round % q] + round / q * q - virtual_rounds;
    return segment < 0 ? -1 : segment < n ? segment : n - 1;
}

/* Returns whether round I delivers the last segment again; only the last q rounds can. */
static bool repeats_last(const int receive[], int q, long long n, long long i) {
    if (segment_at(receive, q, n, i) != n - 1)
        return false;
    for (long long earlier = i - 1; earlier >= 0 && earlier > i - 2 * q; earlier--)
        if (segment_at(receive, q, n, earlier) == n - 1)
            return true;
    return false;
}

static long long new_segment(const int receive[], int position, int q, long long n, long long i) {
    return position == 0 || repeats_last(receive, q, n, i) ? -1 : segment_at(receive, q, n, i);
}

coll_circulant_round coll_circulant_at(const coll_circulant *schedule, long long n, long long i) {
    int p = schedule->p, q = schedule->q, position = schedule->position;
    int k = (int)((i + (q - (n - 1) % q) % q) % q);
    coll_circulant_round round = {
        .to = (int)(((long long)position + schedule->skip[k]) % p),
        .from = (int)(((long long)position - schedule->skip[k] + p) % p),
    };
    round.send = new_segment(schedule->neighbour[k], round.to, q, n, i);
    round.receive = new_segment(schedule->receive, position, q, n, i);
    return round;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/pattern/multiply.h"

#include "lib/pattern/block.h"

/* A run of consecutive positions. */
typedef struct span {
    int start, length;
} span;

/* Returns part I of the run WHOLE, which is cut at multiples of UNIT, a divisor of its length. */
static span part_of(span whole, int unit, int parts, int i) {
    size_t units = (size_t)(whole.length / unit);
    return (span){whole.start + unit * (int)coll_block_start(units, parts, i),
                  unit * (int)coll_block_length(units, parts, i)};
}

/*
 * Returns the largest power of two, at most RADIX, that divides LENGTH and whose multiples can be
 * cuts without an extra stage.
 */
static int unit_of(int length, int radix) {
    int unit = 1, most = 1; /* MOST: positions that the stages after this one can serve */
    while (most * radix < length)
        most *= radix;
    for (int wider = 2; wider <= radix && length % wider == 0; wider *= 2) {
        int units = length / wider;
        if ((units + radix - 1) / radix * wider <= most)
            unit = wider;
    }
    return unit;
}

/*
 * Adds to STAGE the messages between position MEMBER of the run OWN and the run OTHER of the same
 * cut.
 */
static void pair_up(coll_multiply_stage *stage, span own, span other, int member) {
    stage->from[stage->receives++] = other.start + member % other.length;
    for (int to = member; to < other.length; to += own.length)
        stage->to[stage->sends++] = other.start + to;
}

/* Returns the stage of POSITION at one cut of WHOLE; sets *OWN to the part that has POSITION. */
static coll_multiply_stage stage_at(span whole, int radix, int position, span *own) {
    coll_multiply_stage stage = {.depth = 0};
    int unit = unit_of(whole.length, radix), units = whole.length / unit;
    int parts = units < radix ? units : radix;
    for (int i = 0; i < parts; i++) {
        span part = part_of(whole, unit, parts, i);
        if (position >= part.start && position < part.start + part.length)
            *own = part;
    }
    for (int i = 0; i < parts; i++) {
        span part = part_of(whole, unit, parts, i);
        if (part.start != own->start)
            pair_up(&stage, *own, part, position - own->start);
    }
    return stage;
}

int coll_multiply_stages(int p, int radix, int position,
                         coll_multiply_stage stages[COLL_MULTIPLY_STAGES]) {
    span run = {0, p};
    int depth = 0;
    for (; run.length > 1; depth++) {
        span own = run;
        stages[depth] = stage_at(run, radix, position, &own);
        stages[depth].depth = depth;
        run = own;
    }
    for (int i = 0; i < depth / 2; i++) {
        coll_multiply_stage outer = stages[i];
        stages[i] = stages[depth - 1 - i];
        stages[depth - 1 - i] = outer;
    }
    return depth;
}

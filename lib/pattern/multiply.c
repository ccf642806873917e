#include "config.h"

#include "lib/pattern/multiply.h"

#include "lib/pattern/block.h"

/* A run of consecutive positions. */
typedef struct span {
    int start, length;
} span;

static span part_of(span whole, int parts, int i) {
    return (span){whole.start + (int)coll_block_start((size_t)whole.length, parts, i),
                  (int)coll_block_length((size_t)whole.length, parts, i)};
}

/* Position MEMBER of the run OWN and the run OTHER of the same cut: who sends to whom. */
static void pair_up(coll_multiply_stage *stage, span own, span other, int member) {
    stage->from[stage->receives++] = other.start + member % other.length;
    for (int to = member; to < other.length; to += own.length)
        stage->to[stage->sends++] = other.start + to;
}

/* The stage of POSITION at one cut of WHOLE; *OWN becomes its part. */
static coll_multiply_stage stage_at(span whole, int radix, int position, span *own) {
    coll_multiply_stage stage = {.depth = 0};
    int parts = whole.length < radix ? whole.length : radix;
    for (int i = 0; i < parts; i++) {
        span part = part_of(whole, parts, i);
        if (position >= part.start && position < part.start + part.length)
            *own = part;
    }
    for (int i = 0; i < parts; i++) {
        span part = part_of(whole, parts, i);
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

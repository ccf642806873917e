/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs random programs in which each rank describes the same data in its own way: as elements of a
 * basic type, or as fewer elements of a contiguous, strided, resized or indexed one. Ranks also
 * differ in everything else that MPI allows: MPI_IN_PLACE at the root, arguments that other ranks
 * ignore, blocks without elements, names of communicators, the order in which requests are
 * completed. Every rank computes what it must receive, and checks that the rest of its memory has
 * not changed.
 *
 *   descriptions [PROGRAMS [SEED [threads] [all]]]     programs of SEED, SEED + 1, ...
 *
 * threads: runs under MPI_THREAD_MULTIPLE, and some programs are several threads with separate
 * communicators.
 * all: includes calls that MPI allows and libcoll's algorithms support, but in which Open MPI 4.1
 * has errors; see the uses of "everything". Prints "program SEED" when each program begins, so that
 * the last line names a program that hangs.
 */
#include "tests/support/generator.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Open MPI 4.1 may hang if several copies of communicators are made at the same time. With Open MPI
 * 5 the wrapper itself makes copies, so the program may not make any meanwhile (docs/building.md).
 */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
static const bool may_copy = false;
#else
static const bool may_copy = true;
#endif
enum { COPIES = 1 };
enum { STEPS = 40, COMMS = 5, CALLS = 8, REQUESTS = CALLS + COPIES, THREADS = 3 };
enum { MOST_RANKS = 64, MOST_FIELDS = 3, AROUND = 16 };

typedef enum operation {
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE, /* this and the following are reductions */
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    BARRIER,
    OPERATIONS
} operation;

static const char *const names[OPERATIONS] = {"bcast",          "gather",
                                              "gatherv",        "scatter",
                                              "scatterv",       "allgather",
                                              "allgatherv",     "alltoall",
                                              "alltoallv",      "alltoallw",
                                              "reduce",         "allreduce",
                                              "reduce_scatter", "reduce_scatter_block",
                                              "scan",           "exscan",
                                              "barrier"};

/*
 * The kind of elements: the number of their fields, which follow each other in a type's signature.
 */
typedef struct element_kind {
    int fields;
    MPI_Datatype type[MOST_FIELDS];
    int size[MOST_FIELDS];
} element_kind;

enum { KINDS = 6 };
static element_kind kinds[KINDS];

/* The operands of a reduction: each element of TYPE has this many ints or doubles. */
typedef struct operand {
    MPI_Datatype type;
    MPI_Op op;
    bool doubles;
    int numbers;
    void (*fold)(long *into, const long *with, int count); /* into = into op with */
} operand;

enum { OPERANDS = 5 };
static operand operands[OPERANDS];

/* A datatype of PER elements, each of whose fields has its own place. */
typedef struct layout {
    MPI_Datatype type;
    bool derived; /* and must be freed */
    int fields, per;
    const int *size;
    MPI_Aint extent, *at;
} layout;

/* A buffer of blocks with ELEMENTS each, described as COUNTS items of its layout. */
typedef struct side {
    int blocks;
    int elements[MOST_RANKS], counts[MOST_RANKS],
        places[MOST_RANKS]; /* places are in extents, or in bytes */
    layout *layouts;        /* one layout for all blocks, or one for each */
    bool many;
    char *memory, *expected, *buffer; /* EXPECTED is the content that MEMORY must have at the end */
    size_t length;
} side;

/* How a call describes blocks: with one count, with counts, or with types. */
typedef enum form { BY_COUNT, BY_COUNTS, BY_TYPES } form;

typedef struct call {
    operation operation;
    MPI_Comm comm;
    int rank, ranks, root, unit;
    bool blocks;
    uint64_t key; /* all data of the call follow from this key */
    const element_kind *kind;
    const operand *operand;
    bool single;              /* each item of the datatype is one element */
    bool in_place, undefined; /* the received data is undefined */
    side send, receive;
    int counts[MOST_RANKS]; /* counts of MPI_Reduce_scatter */
    MPI_Datatype send_types[MOST_RANKS], receive_types[MOST_RANKS];
} call;

/* The state of one thread. */
typedef struct program {
    pthread_t thread;
    uint64_t seed;
    int step;
    bool makes_comms;
    generator shared, own; /* random numbers: the same on all ranks, and this rank's own */
    MPI_Comm comms[COMMS], copies[COPIES];
    int copied[COPIES]; /* the elements of COMMS that are being copied, known to all ranks; -1 for
                           none */
    MPI_Request requests[REQUESTS];
    bool open[REQUESTS];
    call calls[CALLS];
} program;

static int world_rank, verbose;
static bool everything;
static atomic_int wrong;

static uint64_t mix(uint64_t key, uint64_t with) {
    generator g = {key ^ with * 0x9e3779b97f4a7c15u};
    return draw(&g);
}

static void check(int code, const char *what) {
    if (code != MPI_SUCCESS) {
        printf("%d: %s: error %d\n", world_rank, what, code);
        wrong++;
    }
}

/* --- Operands --- */

static void add(long *into, const long *with, int count) {
    for (int i = 0; i < count; i++)
        into[i] += with[i];
}

static void most(long *into, const long *with, int count) {
    for (int i = 0; i < count; i++)
        into[i] = with[i] > into[i] ? with[i] : into[i];
}

/*
 * Composes pairs as maps x -> a x + b modulo 97, of which the first is applied first. The order
 * matters.
 */
static void compose(long *into, const long *with, int count) {
    for (int i = 0; i < count; i += 2) {
        into[i + 1] = (with[i] * into[i + 1] + with[i + 1]) % 97;
        into[i] = into[i] * with[i] % 97;
    }
}

/* Applies FOLD as MPI does: inout = in op inout. */
static void apply(void (*fold)(long *, const long *, int), const int *in, int *inout, int numbers) {
    for (int i = 0; i < numbers; i += 2) {
        int some = numbers - i < 2 ? numbers - i : 2;
        long first[2], second[2];
        for (int j = 0; j < some; j++) {
            first[j] = in[i + j];
            second[j] = inout[i + j];
        }
        fold(first, second, some);
        for (int j = 0; j < some; j++)
            inout[i + j] = (int)first[j];
    }
}

static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    apply(add, in, inout, *count);
}

static void compose_pairs(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    apply(compose, in, inout, 2 * *count);
}

static void make_operands(void) {
    MPI_Op sum, composition;
    MPI_Datatype pair;
    MPI_Op_create(add_ints, 1, &sum);
    MPI_Op_create(compose_pairs, 0, &composition);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const operand all[OPERANDS] = {
        {MPI_INT, MPI_SUM, false, 1, add},      {MPI_INT, MPI_MAX, false, 1, most},
        {MPI_DOUBLE, MPI_SUM, true, 1, add},    {MPI_INT, sum, false, 1, add},
        {pair, composition, false, 2, compose},
    };
    memcpy(operands, all, sizeof all);
    const element_kind made[KINDS] = {
        {1, {MPI_CHAR}, {1}},   {1, {MPI_SHORT}, {2}},
        {1, {MPI_INT}, {4}},    {1, {MPI_INT64_T}, {8}},
        {1, {MPI_DOUBLE}, {8}}, {3, {MPI_DOUBLE, MPI_INT, MPI_CHAR}, {8, 4, 1}},
    };
    memcpy(kinds, made, sizeof made);
}

static void free_operands(void) {
    MPI_Op_free(&operands[3].op);
    MPI_Op_free(&operands[4].op);
    MPI_Type_free(&operands[4].type);
}

/* --- Descriptions --- */

/* Makes the type of one element, and the places of its fields. */
static MPI_Datatype make_element(generator *g, const element_kind *kind, MPI_Aint at[]) {
    static const MPI_Aint ways[2][MOST_FIELDS] = {{0, 8, 12}, {8, 0, 5}};
    const int lengths[MOST_FIELDS] = {1, 1, 1};
    MPI_Datatype fields, type;
    if (kind->fields == 1) {
        at[0] = 0;
        MPI_Type_dup(kind->type[0], &type);
        return type;
    }
    memcpy(at, ways[below(g, 2)], sizeof ways[0]);
    MPI_Type_create_struct(kind->fields, lengths, at, kind->type, &fields);
    MPI_Type_create_resized(fields, 0, 16 + 8 * below(g, 2), &type);
    MPI_Type_free(&fields);
    return type;
}

static int divisor_of(generator *g, int number) {
    int found = below(g, number) + 1;
    while (number % found)
        found--;
    return found;
}

/*
 * Makes TYPE of PER elements, and writes their places to AT, in elements. With LONG_GAPS many
 * elements may be followed by a gap, which Open MPI's own collectives handle wrongly.
 */
static void make_type(generator *g, MPI_Datatype element, int per, bool long_gaps, int at[],
                      MPI_Datatype *type) {
    MPI_Datatype row;
    MPI_Aint lower, extent;
    int way = below(g, 5), block = divisor_of(g, per), stride = block + below(g, 3);
    int first = below(g, per + 1), shift = below(g, 3), place = -shift;
    for (int i = 0; i < per; i++)
        at[i] = i;
    if (way == 0) {
        MPI_Type_contiguous(per, element, type);
    } else if (way == 1) {
        MPI_Type_vector(per / block, block, stride, element, type);
        for (int i = 0; i < per; i++)
            at[i] = i / block * stride + i % block;
    } else if (way == 2) {
        MPI_Type_contiguous(per, element, &row);
        MPI_Type_get_extent(row, &lower, &extent);
        int gap = 8 * below(g, 3);
        /* Open MPI 4.1 copies more than 64 KiB within a rank wrongly if long items have gaps. */
        if (per > 64 && !long_gaps)
            gap = 0;
        MPI_Type_create_resized(row, 0, extent + gap, type);
        MPI_Type_free(&row);
    } else if (way == 3) { /* the second part is before the first one, below zero */
        int lengths[] = {first, per - first}, places[] = {per - first + 1 - shift, -shift};
        MPI_Type_indexed(2, lengths, places, element, type);
        for (int i = 0; i < per; i++)
            at[i] = i < first ? places[0] + i : places[1] + i - first;
    } else {
        for (int i = 0; i < per; i++, place += 1 + (below(g, 4) == 0))
            at[i] = place;
        MPI_Type_create_indexed_block(per, 1, at, element, type);
    }
}

static void describe(generator *g, const element_kind *kind, int per, bool long_gaps,
                     layout *made) {
    MPI_Aint fields[MOST_FIELDS], lower, extent;
    int *at = malloc((size_t)per * sizeof *at);
    *made = (layout){.fields = kind->fields, .per = per, .size = kind->size};
    made->at = malloc((size_t)(per * kind->fields) * sizeof *made->at);
    if (per == 1 && kind->fields == 1 && below(g, 4)) {
        at[0] = 0;
        made->type = kind->type[0];
        fields[0] = 0;
        extent = kind->size[0];
    } else {
        MPI_Datatype element = make_element(g, kind, fields);
        MPI_Type_get_extent(element, &lower, &extent);
        make_type(g, element, per, long_gaps, at, &made->type);
        MPI_Type_commit(&made->type);
        MPI_Type_free(&element);
        made->derived = true;
    }
    for (int i = 0; i < per * kind->fields; i++)
        made->at[i] = at[i / kind->fields] * extent + fields[i % kind->fields];
    MPI_Type_get_extent(made->type, &lower, &made->extent);
    free(at);
}

/* Describes an operand without changes, because reductions have the same type on all ranks. */
static void describe_operand(const operand *what, layout *made) {
    static const int sizes[] = {sizeof(int), sizeof(double)};
    *made = (layout){
        .type = what->type, .fields = 1, .per = what->numbers, .size = &sizes[what->doubles]};
    made->at = malloc((size_t)what->numbers * sizeof *made->at);
    for (int i = 0; i < what->numbers; i++)
        made->at[i] = i * *made->size;
    made->extent = what->numbers * *made->size;
}

static void free_layout(layout *l) {
    if (l->derived)
        MPI_Type_free(&l->type);
    free(l->at);
}

static const layout *layout_of(const side *s, int block) {
    return s->layouts ? &s->layouts[s->many ? block : 0] : NULL;
}

/* Returns the place of a field of an element of BLOCK, relative to the buffer. */
static MPI_Aint place_of(const side *s, int block, int element, int field) {
    const layout *l = layout_of(s, block);
    MPI_Aint begin = s->places[block] * (s->many ? 1 : l->extent);
    return begin + element / l->per * l->extent + l->at[element % l->per * l->fields + field];
}

/* Allocates memory for all described data and some around it, with random content. */
static void make_memory(generator *g, side *s) {
    MPI_Aint low = 0, high = 0;
    for (int b = 0; b < s->blocks; b++)
        for (int i = 0; i < s->elements[b]; i++)
            for (int f = 0; f < layout_of(s, b)->fields; f++) {
                MPI_Aint at = place_of(s, b, i, f), end = at + layout_of(s, b)->size[f];
                low = at < low ? at : low;
                high = end > high ? end : high;
            }
    low = -((-low + 7) / 8 * 8);
    s->length = (size_t)(high - low) + 2 * AROUND;
    s->memory = malloc(s->length);
    s->expected = malloc(s->length);
    s->buffer = s->memory + AROUND - low;
    for (size_t i = 0; i < s->length; i++)
        s->memory[i] = (char)draw(g);
    memcpy(s->expected, s->memory, s->length);
}

/* Places blocks one after the other, or with gaps between them and in another order. */
static void place_blocks(generator *g, form how, side *s) {
    int first = how == BY_COUNT ? 0 : below(g, s->blocks), place = 0;
    for (int i = 0; i < s->blocks; i++) {
        int b = (first + i) % s->blocks;
        const layout *l = layout_of(s, b);
        s->counts[b] = s->elements[b] / l->per;
        s->places[b] = place + (how == BY_TYPES ? 64 : 0);
        int gap = how == BY_COUNT ? 0 : below(g, 3);
        MPI_Aint bytes = s->counts[b] * l->extent + 64 + 8 * gap; /* some types begin below zero */
        place += how == BY_TYPES ? (int)((bytes + 7) / 8 * 8) : s->counts[b] + gap;
    }
}

static int greatest_divisor(int one, int other) {
    return other ? greatest_divisor(other, one % other) : one;
}

/* Makes the layouts of S, whose blocks have ELEMENTS, all of them multiples of UNIT. */
static void make_side(program *p, call *c, form how, int blocks, const int elements[], side *s) {
    int common = 0;
    *s = (side){.blocks = blocks, .many = how == BY_TYPES};
    memcpy(s->elements, elements, (size_t)blocks * sizeof *elements);
    for (int b = 0; b < blocks; b++)
        common = greatest_divisor(common, elements[b]);
    s->layouts = calloc((size_t)blocks, sizeof *s->layouts);
    for (int b = 0; b < (s->many ? blocks : 1); b++) {
        int whole = s->many ? elements[b] : common;
        if (c->operand)
            describe_operand(c->operand, &s->layouts[b]);
        else
            describe(&p->own, c->kind, whole && !c->single ? divisor_of(&p->own, whole) : 1,
                     everything && c->operation != ALLTOALLW, &s->layouts[b]);
    }
    place_blocks(&p->own, how, s);
    make_memory(&p->own, s);
}

static void free_side(side *s) {
    for (int b = 0; s->layouts && b < (s->many ? s->blocks : 1); b++)
        free_layout(&s->layouts[b]);
    free(s->layouts);
    free(s->memory);
    free(s->expected);
    *s = (side){.blocks = 0};
}

/* --- Data --- */

/* Writes the data that FROM sends to TO to block B in MEMORY. */
static void write_block(const call *c, const side *s, int b, int from, int to, char *memory) {
    const layout *l = layout_of(s, b);
    MPI_Aint origin = s->buffer - s->memory;
    for (int i = 0; i < s->elements[b]; i++)
        for (int f = 0; f < l->fields; f++) {
            uint64_t value = mix(mix(c->key, (uint64_t)(from * MOST_RANKS + to)),
                                 (uint64_t)(i * MOST_FIELDS + f));
            memcpy(memory + origin + place_of(s, b, i, f), &value, (size_t)l->size[f]);
        }
}

/* Returns the number at INDEX of RANK's input of a reduction. */
static long brought(const call *c, int rank, int index) {
    return (long)(mix(mix(c->key, (uint64_t)rank), (uint64_t)index) % 9) + 1;
}

/* Writes to block B of MEMORY the reduced inputs of ranks FIRST to LAST, from number SKIP on. */
static void write_reduced(const call *c, const side *s, int b, int skip, int first, int last,
                          char *memory) {
    int numbers = s->elements[b];
    long *sum = malloc((size_t)(numbers + 1) * 2 * sizeof *sum), *other = sum + numbers + 1;
    for (int rank = first; rank <= last; rank++) {
        long *now = rank == first ? sum : other;
        for (int i = 0; i < numbers; i++)
            now[i] = brought(c, rank, skip + i);
        if (rank > first)
            c->operand->fold(sum, other, numbers);
    }
    for (int i = 0; i < numbers; i++) {
        char *at = memory + (s->buffer - s->memory) + place_of(s, b, i, 0);
        if (c->operand->doubles)
            memcpy(at, &(double){(double)sum[i]}, sizeof(double));
        else
            memcpy(at, &(int){(int)sum[i]}, sizeof(int));
    }
    free(sum);
}

/* Copies EXPECTED to MEMORY, as its content before a call. */
static void begin_with(side *s) {
    memcpy(s->memory, s->expected, s->length);
}

/* --- Calls --- */

static bool has_root(operation o) {
    return o == BCAST || o == GATHER || o == GATHERV || o == SCATTER || o == SCATTERV ||
           o == REDUCE;
}

static form form_of(operation o) {
    if (o == ALLTOALLW)
        return BY_TYPES;
    return o == GATHERV || o == SCATTERV || o == ALLGATHERV || o == ALLTOALLV || o == REDUCE_SCATTER
               ? BY_COUNTS
               : BY_COUNT;
}

/* Returns how many elements FROM sends to TO: one of a few lengths, some of them 0. */
static int amount(const call *c, int from, int to) {
    uint64_t which = c->key;
    if (c->operation == GATHERV || c->operation == ALLGATHERV)
        which = mix(which, (uint64_t)from);
    else if (c->operation == SCATTERV || c->operation == REDUCE_SCATTER)
        which = mix(which, (uint64_t)to);
    else if (form_of(c->operation) != BY_COUNT)
        which = mix(which, (uint64_t)(from * MOST_RANKS + to));
    generator g = {which};
    static const int ranges[] = {1, 3, 40, 40, 300, 1500};
    int numbers = c->operand ? c->operand->numbers : 1;
    return numbers * c->unit * below(&g, ranges[below(&g, sizeof ranges / sizeof *ranges)]);
}

/* Prepares the data that the call moves: the blocks that this rank sends and receives. */
static void prepare_moved(program *p, call *c) {
    form how = form_of(c->operation);
    bool at_root = c->rank == c->root, by_rank = c->operation >= ALLTOALL, scattered, gathered;
    scattered = c->operation == SCATTER || c->operation == SCATTERV;
    gathered = c->operation == GATHER || c->operation == GATHERV;
    int to[MOST_RANKS], from[MOST_RANKS];
    for (int i = 0; i < c->ranks; i++) {
        to[i] = amount(c, c->rank, i);
        from[i] = amount(c, i, c->rank);
    }
    if (scattered ? at_root : by_rank)
        make_side(p, c, how, c->ranks, to, &c->send);
    else if (!scattered)
        make_side(p, c, BY_COUNT, 1, &to[c->rank], &c->send);
    if (gathered ? at_root : !scattered)
        make_side(p, c, how, c->ranks, from, &c->receive);
    else if (scattered)
        make_side(p, c, BY_COUNT, 1, &from[c->rank], &c->receive);

    for (int b = 0; b < c->send.blocks; b++)
        write_block(c, &c->send, b, c->rank, scattered || by_rank ? b : 0, c->send.expected);
    if (c->send.blocks)
        begin_with(&c->send);
    /*
     * In place, the data that a rank would send to itself, or to others, is in the receive buffer.
     */
    for (int b = 0; c->in_place && !scattered && b < c->receive.blocks; b++)
        if (by_rank || b == c->rank)
            write_block(c, &c->receive, b, c->rank, by_rank ? b : 0, c->receive.memory);
    if (c->in_place && scattered)
        return; /* this rank receives nothing */
    for (int b = 0; b < c->receive.blocks; b++)
        write_block(c, &c->receive, b, scattered ? c->root : b, scattered || by_rank ? c->rank : 0,
                    c->receive.expected);
}

static void prepare_bcast(program *p, call *c) {
    int elements = amount(c, c->root, c->rank);
    make_side(p, c, BY_COUNT, 1, &elements, &c->receive);
    write_block(c, &c->receive, 0, c->root, 0, c->receive.expected);
    if (c->rank == c->root)
        begin_with(&c->receive);
}

static void prepare_reduced(program *p, call *c) {
    bool scatters = c->operation == REDUCE_SCATTER || c->operation == REDUCE_SCATTER_BLOCK;
    int total = 0, before = 0, own = amount(c, 0, c->rank);
    for (int i = 0; i < c->ranks && scatters; i++) {
        before += i < c->rank ? amount(c, 0, i) : 0;
        total += amount(c, 0, i);
    }
    total = scatters ? total : own;
    make_side(p, c, BY_COUNT, 1, &total, &c->send);
    write_reduced(c, &c->send, 0, 0, c->rank, c->rank, c->send.expected);
    begin_with(&c->send);
    if (c->operation == REDUCE && c->rank != c->root)
        return;
    /* In place the operands are in the result buffer, the rest of which is undefined afterwards. */
    make_side(p, c, BY_COUNT, 1, c->in_place ? &total : &own, &c->receive);
    if (c->in_place)
        write_reduced(c, &c->receive, 0, 0, c->rank, c->rank, c->receive.memory);
    c->receive.elements[0] = own;
    int last = c->operation == SCAN ? c->rank : c->operation == EXSCAN ? c->rank - 1 : c->ranks - 1;
    c->undefined = last < 0;
    if (!c->undefined)
        write_reduced(c, &c->receive, 0, before, 0, last, c->receive.expected);
    if (c->in_place && scatters) /* only the result is compared */
        c->receive.length = AROUND + (size_t)(own * *c->receive.layouts[0].size);
}

/* Arguments that this rank ignores may be anything. */
static const layout nothing = {.type = MPI_DATATYPE_NULL};

static const layout *shown(const side *s) {
    return s->layouts ? s->layouts : &nothing;
}

static void *sent_from(const call *c) {
    return c->in_place ? MPI_IN_PLACE : c->send.buffer;
}

/* Calls MPI_Ismall if there is a request to start, otherwise MPI_Big. */
#define CALL(small, big, ...)                                                                      \
    (request ? MPI_I##small(__VA_ARGS__, request) : MPI_##big(__VA_ARGS__))

static int start_moved(call *c, MPI_Request *request) {
    const side *s = &c->send, *r = &c->receive;
    MPI_Datatype send = shown(s)->type, receive = shown(r)->type;
    void *from = sent_from(c), *to = r->buffer;
    bool scattered = c->operation == SCATTER || c->operation == SCATTERV;
    if (c->in_place && scattered) {
        from = s->buffer;
        to = MPI_IN_PLACE;
    }
    for (int i = 0; i < c->ranks; i++) {
        c->send_types[i] = s->many ? s->layouts[i].type : send;
        c->receive_types[i] = r->many ? r->layouts[i].type : receive;
    }
    switch (c->operation) {
    case GATHER:
        return CALL(gather, Gather, from, s->counts[0], send, to, r->counts[0], receive, c->root,
                    c->comm);
    case GATHERV:
        return CALL(gatherv, Gatherv, from, s->counts[0], send, to, r->counts, r->places, receive,
                    c->root, c->comm);
    case SCATTER:
        return CALL(scatter, Scatter, from, s->counts[0], send, to, r->counts[0], receive, c->root,
                    c->comm);
    case SCATTERV:
        return CALL(scatterv, Scatterv, from, s->counts, s->places, send, to, r->counts[0], receive,
                    c->root, c->comm);
    case ALLGATHER:
        return CALL(allgather, Allgather, from, s->counts[0], send, to, r->counts[0], receive,
                    c->comm);
    case ALLGATHERV:
        return CALL(allgatherv, Allgatherv, from, s->counts[0], send, to, r->counts, r->places,
                    receive, c->comm);
    case ALLTOALL:
        return CALL(alltoall, Alltoall, from, s->counts[0], send, to, r->counts[0], receive,
                    c->comm);
    case ALLTOALLV:
        return CALL(alltoallv, Alltoallv, from, s->counts, s->places, send, to, r->counts,
                    r->places, receive, c->comm);
    default:
        return CALL(alltoallw, Alltoallw, from, s->counts, s->places, c->send_types, to, r->counts,
                    r->places, c->receive_types, c->comm);
    }
}

static int start_reduced(call *c, MPI_Request *request) {
    void *from = sent_from(c), *to = c->receive.buffer;
    MPI_Datatype type = c->operand->type;
    MPI_Op op = c->operand->op;
    int count = amount(c, 0, c->rank) / c->operand->numbers;
    for (int i = 0; i < c->ranks; i++)
        c->counts[i] = amount(c, 0, i) / c->operand->numbers;
    switch (c->operation) {
    case REDUCE:
        return CALL(reduce, Reduce, from, to, count, type, op, c->root, c->comm);
    case ALLREDUCE:
        return CALL(allreduce, Allreduce, from, to, count, type, op, c->comm);
    case REDUCE_SCATTER:
        return CALL(reduce_scatter, Reduce_scatter, from, to, c->counts, type, op, c->comm);
    case REDUCE_SCATTER_BLOCK:
        return CALL(reduce_scatter_block, Reduce_scatter_block, from, to, count, type, op, c->comm);
    case SCAN:
        return CALL(scan, Scan, from, to, count, type, op, c->comm);
    default:
        return CALL(exscan, Exscan, from, to, count, type, op, c->comm);
    }
}

static int start(call *c, MPI_Request *request) {
    const side *r = &c->receive;
    if (c->operation == BARRIER)
        return request ? MPI_Ibarrier(c->comm, request) : MPI_Barrier(c->comm);
    if (c->operation == BCAST)
        return CALL(bcast, Bcast, r->buffer, r->counts[0], shown(r)->type, c->root, c->comm);
    return c->operation < REDUCE ? start_moved(c, request) : start_reduced(c, request);
}

/* Draws whether the call is in place: only at the root, on this rank alone, or on all ranks. */
static bool draw_in_place(program *p, const call *c) {
    bool all = below(&p->shared, 4) == 0, mine = below(&p->own, 2);
    switch (c->operation) {
    case BCAST:
    case ALLTOALLV: /* in place, its counts must be the same in both directions */
    case ALLTOALLW:
    case BARRIER:
        return false;
    default:
        return has_root(c->operation) ? mine && c->rank == c->root : all;
    }
}

/*
 * Returns whether libcoll runs a nonblocking call with the algorithms that tests/cli/component.sh
 * names. It leaves calls to Open MPI that are as short as those with which Open MPI copies a
 * communicator.
 */
static bool is_libcolls(const call *c) {
    bool short_ones = c->operation == BCAST || c->operation == REDUCE || c->operation == ALLREDUCE;
    bool scans = c->operation == SCAN || c->operation == EXSCAN;
    int bytes = 0;
    if (c->operation == ALLTOALLW)
        return false;
    if (c->operand && c->operand->fold == compose && !scans) /* rings combine in another order */
        return false;
    if (short_ones && c->operand)
        bytes = amount(c, 0, 0) * (int)(c->operand->doubles ? sizeof(double) : sizeof(int));
    else
        for (int i = 0; i < c->kind->fields; i++)
            bytes += amount(c, 0, 0) * c->kind->size[i];
    return !short_ones || bytes > 8;
}

/* Prepares a call. COPIED says that COMM is being copied, BLOCKS that the call must be blocking. */
static void prepare(program *p, MPI_Comm comm, bool copied, bool blocks, call *c) {
    *c = (call){.operation = (operation)below(&p->shared, OPERATIONS),
                .comm = comm,
                .unit = between(&p->shared, 1, 6),
                .key = draw(&p->shared)};
    int kind = below(&p->shared, KINDS), reduced = below(&p->shared, OPERANDS);
    uint64_t root = draw(&p->shared);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &c->rank);
        MPI_Comm_size(comm, &c->ranks);
        c->root = (int)(root % (uint64_t)c->ranks);
    }
    if (c->operation == ALLTOALLW && c->ranks == 1) /* Open MPI 4.1 ignores displacements then */
        c->operation = ALLTOALLV;
    c->kind = &kinds[kind];
    c->operand = c->operation >= REDUCE && c->operation != BARRIER ? &operands[reduced] : NULL;
    /*
     * Open MPI 4.1 confuses the calls that copy a communicator with the program's nonblocking ones.
     */
    c->blocks = blocks || (copied && !(everything && is_libcolls(c)));
    /*
     * Open MPI 4.1 chooses the algorithm of a blocking allgatherv by the size of the local
     * datatype.
     */
    c->single = c->operation == ALLGATHERV && c->blocks && !everything;
    c->in_place = draw_in_place(p, c);
    if (comm == MPI_COMM_NULL || c->operation == BARRIER)
        return;
    if (c->operation == BCAST)
        prepare_bcast(p, c);
    else if (c->operand)
        prepare_reduced(p, c);
    else
        prepare_moved(p, c);
}

/* Checks the memory after a call. */
static void conclude(const program *p, call *c) {
    bool sent = !c->send.memory || memcmp(c->send.memory, c->send.expected, c->send.length) == 0;
    bool received = !c->receive.memory || c->undefined ||
                    memcmp(c->receive.memory, c->receive.expected, c->receive.length) == 0;
    if (!sent || !received) {
        printf("%d: seed %llu, %s with root %d of %d ranks: %s\n", world_rank,
               (unsigned long long)p->seed, names[c->operation], c->root, c->ranks,
               received ? "what it sends is changed" : "what it receives is wrong");
        wrong++;
    }
    free_side(&c->send);
    free_side(&c->receive);
}

/* --- Requests --- */

static void take_completed(program *p) {
    for (int i = 0; i < REQUESTS; i++)
        if (p->open[i] && p->requests[i] == MPI_REQUEST_NULL) {
            p->open[i] = false;
            if (i < CALLS)
                conclude(p, &p->calls[i]);
        }
}

/* Completes some of the requests in one of MPI's ways. */
static void complete(program *p, int way) {
    int which = below(&p->own, REQUESTS), flag, indices[REQUESTS];
    MPI_Status statuses[REQUESTS];
    int code = MPI_SUCCESS;
    if (way == 0)
        code = MPI_Wait(&p->requests[which], statuses);
    else if (way == 1)
        code = MPI_Waitall(REQUESTS, p->requests, MPI_STATUSES_IGNORE);
    else if (way == 2)
        code = MPI_Waitany(REQUESTS, p->requests, &which, statuses);
    else if (way == 3)
        code = MPI_Waitsome(REQUESTS, p->requests, &flag, indices, statuses);
    else if (way == 4)
        code = MPI_Test(&p->requests[which], &flag, statuses);
    else if (way == 5)
        code = MPI_Testall(REQUESTS, p->requests, &flag, statuses);
    else if (way == 6)
        code = MPI_Testsome(REQUESTS, p->requests, &flag, indices, statuses);
    check(code, "completion");
    take_completed(p);
}

static void wait_for(program *p, int i) {
    check(MPI_Wait(&p->requests[i], MPI_STATUS_IGNORE), "MPI_Wait");
    take_completed(p);
}

/* --- Communicators --- */

/* Sets a name on some ranks only. */
static void name(program *p, MPI_Comm comm) {
    static const char *const some[] = {"libcoll", "a name", ""};
    if (comm != MPI_COMM_NULL && below(&p->own, 3) == 0)
        MPI_Comm_set_name(comm, some[below(&p->own, 3)]);
}

static MPI_Comm make_by_group(MPI_Comm parent, int tag) {
    MPI_Group group, half;
    MPI_Comm made = MPI_COMM_NULL;
    int ranks, place;
    MPI_Comm_size(parent, &ranks);
    MPI_Comm_rank(parent, &place);
    MPI_Comm_group(parent, &group);
    MPI_Group_range_incl(group, 1, (int[1][3]){{0, ranks - 1, 2}}, &half);
    if (place % 2 == 0)
        check(MPI_Comm_create_group(parent, half, tag, &made), "MPI_Comm_create_group");
    MPI_Group_free(&half);
    MPI_Group_free(&group);
    return made;
}

static void replace(program *p, int at, MPI_Comm by) {
    complete(p, 1); /* nonblocking collectives of a communicator end before it does */
    if (p->comms[at] != MPI_COMM_NULL)
        check(MPI_Comm_free(&p->comms[at]), "MPI_Comm_free");
    p->comms[at] = by;
    name(p, by);
}

static void make_comm(program *p) {
    int parent = below(&p->shared, COMMS), at = 1 + below(&p->shared, COMMS - 1);
    int way = below(&p->shared, 3), tag = below(&p->shared, 100);
    generator salted = {draw(&p->shared) ^ (uint64_t)world_rank};
    int color = below(&salted, 3), key = below(&salted, 100);
    MPI_Comm from = p->comms[parent], made = MPI_COMM_NULL;
    complete(p, 1); /* Open MPI 4.1 may hang if it makes one while it copies another */
    if (from != MPI_COMM_NULL && way == 0)
        check(MPI_Comm_dup(from, &made), "MPI_Comm_dup");
    else if (from != MPI_COMM_NULL && way == 1)
        made = make_by_group(from, tag);
    else if (from != MPI_COMM_NULL)
        check(MPI_Comm_split(from, color ? color : MPI_UNDEFINED, key, &made), "MPI_Comm_split");
    replace(p, at, made);
}

/* Starts a copy of a communicator, or completes one that was started before. */
static void copy_comm(program *p) {
    int parent = below(&p->shared, COMMS), at = 1 + below(&p->shared, COMMS - 1);
    int i = below(&p->shared, COPIES);
    bool begun = p->copied[i] >= 0;
    p->copied[i] = begun ? -1 : parent;
    if (begun) {
        wait_for(p, CALLS + i);
        replace(p, at, p->copies[i]);
        p->copies[i] = MPI_COMM_NULL;
    } else if (p->comms[parent] != MPI_COMM_NULL && may_copy) {
        p->open[CALLS + i] = true;
        check(MPI_Comm_idup(p->comms[parent], &p->copies[i], &p->requests[CALLS + i]),
              "MPI_Comm_idup");
    }
}

static bool is_copied(const program *p, int comm) {
    for (int i = 0; i < COPIES; i++)
        if (p->copied[i] == comm)
            return true;
    return false;
}

/* --- Programs --- */

static void take_step(program *p) {
    int what = below(&p->shared, 12), at = below(&p->shared, COMMS);
    bool blocks = below(&p->shared, 2);
    int i = below(&p->own, CALLS);
    if (p->makes_comms && what == 0)
        make_comm(p);
    else if (p->makes_comms && what == 1)
        copy_comm(p);
    call now;
    prepare(p, p->comms[at], is_copied(p, at), blocks, &now);
    if (now.comm == MPI_COMM_NULL)
        return;
    if (verbose)
        fprintf(stderr, "%d: step %d, %s%s on %d of %d\n", world_rank, p->step,
                now.blocks ? "" : "i", names[now.operation], at, now.ranks);
    if (now.blocks) {
        check(start(&now, NULL), names[now.operation]);
        conclude(p, &now);
        return;
    }
    wait_for(p, i);
    p->calls[i] = now;
    p->open[i] = true;
    check(start(&p->calls[i], &p->requests[i]), names[now.operation]);
}

static void *run(void *given) {
    program *p = given;
    for (p->step = 0; p->step < STEPS; p->step++) {
        take_step(p);
        complete(p, below(&p->own, 20));
    }
    complete(p, 1);
    return NULL;
}

static void begin(program *p, uint64_t seed, int thread) {
    *p = (program){.seed = seed,
                   .shared = {mix(seed, (uint64_t)thread)},
                   .own = {mix(mix(seed, (uint64_t)thread), (uint64_t)world_rank + 1)}};
    for (int i = 0; i < COMMS; i++)
        p->comms[i] = MPI_COMM_NULL;
    for (int i = 0; i < COPIES; i++) {
        p->copies[i] = MPI_COMM_NULL;
        p->copied[i] = -1;
    }
    for (int i = 0; i < REQUESTS; i++)
        p->requests[i] = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &p->comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, (int)((seed + (uint64_t)world_rank) % 2), world_rank,
                   &p->comms[1]);
    name(p, p->comms[0]);
    name(p, p->comms[1]);
}

static void end(program *p) {
    for (int i = 0; i < COMMS; i++)
        if (p->comms[i] != MPI_COMM_NULL)
            check(MPI_Comm_free(&p->comms[i]), "MPI_Comm_free");
    for (int i = 0; i < COPIES; i++)
        if (p->copies[i] != MPI_COMM_NULL)
            check(MPI_Comm_free(&p->copies[i]), "MPI_Comm_free");
}

/*
 * Runs a program. Programs with threads get their communicators beforehand, because Open MPI makes
 * only one at a time.
 */
static void run_program(uint64_t seed, bool may_thread) {
    static program all[THREADS];
    generator g = {seed};
    int threads = may_thread && below(&g, 2) ? THREADS : 1;
    for (int i = 0; i < threads; i++)
        begin(&all[i], seed, i);
    if (threads == 1) {
        all[0].makes_comms = true;
        run(&all[0]);
    } else {
        for (int i = 0; i < threads; i++)
            if (pthread_create(&all[i].thread, NULL, run, &all[i]))
                abort();
        for (int i = 0; i < threads; i++)
            pthread_join(all[i].thread, NULL);
    }
    for (int i = 0; i < threads; i++)
        end(&all[i]);
}

int main(int argc, char **argv) {
    int programs = argc > 1 ? atoi(argv[1]) : 20, provided = MPI_THREAD_SINGLE, mine, sum = 0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool threads = false;
    for (int i = 3; i < argc; i++) {
        threads = threads || strcmp(argv[i], "threads") == 0;
        everything = everything || strcmp(argv[i], "all") == 0;
    }
    verbose = getenv("DESCRIPTIONS_VERBOSE") != NULL;
    if (threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    make_operands();
    for (int i = 0; i < programs; i++) {
        if (world_rank == 0) {
            printf("program %llu\n", (unsigned long long)first + (unsigned long long)i);
            fflush(stdout);
        }
        run_program(first + (uint64_t)i, provided == MPI_THREAD_MULTIPLE);
    }
    free_operands();
    mine = wrong;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%d wrong\n", sum);
    MPI_Finalize();
    return sum != 0;
}

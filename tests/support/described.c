/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/described.h"

#include "tests/support/datatypes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The largest extent of data with its gaps. */
enum { MOST_SPAN = 16 << 20 };

void describe_fill(generator *g, unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t word = draw(g);
        memcpy(bytes + i, &word, count - i < sizeof word ? count - i : sizeof word);
    }
}

/* --- Datatypes --- */

/* Describes BYTES as elements of a predefined type, often bytes, or as one element. */
static MPI_Count describe_plainly(generator *g, size_t bytes, described *d) {
    static const MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_SHORT, MPI_INT64_T, MPI_DOUBLE};
    bool as_bytes = below(g, 2) == 0, as_one = below(g, 3) == 0;
    d->type = types[below(g, sizeof types / sizeof *types)];
    if (as_bytes || bytes % datatype_size(d->type) != 0)
        d->type = MPI_BYTE;
    d->derived = as_one && !as_bytes;
    if (!d->derived)
        return (MPI_Count)(bytes / datatype_size(d->type));
    MPI_Type_contiguous((int)(bytes / datatype_size(d->type)), d->type, &d->type);
    return 1;
}

/* Makes a type of elements of INNER followed by bytes. */
static MPI_Datatype with_bytes(generator *g, MPI_Datatype inner, size_t elements, size_t bytes) {
    area a = area_of(inner, (MPI_Count)elements);
    int lengths[] = {(int)elements, (int)bytes};
    MPI_Aint places[] = {0, a.lower + (MPI_Aint)a.span + below(g, 9)};
    MPI_Datatype types[] = {inner, MPI_BYTE}, type;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    return type;
}

/*
 * Describes BYTES as elements of a random type, or as one element of such a type and the remaining
 * bytes.
 */
static MPI_Count describe_wildly(generator *g, size_t bytes, described *d) {
    MPI_Datatype inner = datatype_draw(g, between(g, 1, 3));
    size_t size = datatype_size(inner), left = size ? bytes % size : bytes;
    bool as_one = below(g, 2) == 0;
    if (bytes < size || size == 0) {
        MPI_Type_free(&inner);
        return describe_plainly(g, bytes, d);
    }
    d->derived = true;
    d->type = inner;
    if (left == 0 && !as_one)
        return (MPI_Count)(bytes / size);
    if (left)
        d->type = with_bytes(g, inner, bytes / size, left);
    else
        MPI_Type_contiguous((int)(bytes / size), inner, &d->type);
    MPI_Type_free(&inner);
    return 1;
}

/* Describes no bytes: no elements, or elements of an empty type. */
static MPI_Count describe_nothing(generator *g, described *d) {
    MPI_Count count = below(g, 3);
    d->type = datatype_draw(g, 1);
    d->derived = true;
    return datatype_size(d->type) ? 0 : count;
}

/* --- Memory --- */

/* Returns the memory that all blocks occupy. */
static area area_of_blocks(const described *d) {
    area all = {0};
    MPI_Aint extent = datatype_extent(d->type), upper = 0;
    for (int i = 0; i < d->blocks; i++) {
        area a = area_of(d->type, d->counts[i]);
        MPI_Aint lower = a.lower + d->places[i] * extent;
        if (a.size == 0)
            continue;
        if (all.size == 0 || lower < all.lower)
            all.lower = lower;
        if (all.size == 0 || lower + (MPI_Aint)a.span > upper)
            upper = lower + (MPI_Aint)a.span;
        all.size += a.size;
    }
    all.span = (size_t)(upper - all.lower);
    return all;
}

/*
 * Allocates the exact memory, for tools that watch its ends, or memory surrounded by bytes that are
 * compared.
 */
static void make_memory(generator *g, described *d) {
    area a = area_of_blocks(d);
    size_t around = below(g, 2) ? (size_t)below(g, 80) : 0;
    d->length = a.span + 2 * around;
    d->memory = malloc(d->length ? d->length : 1);
    describe_fill(g, d->memory, d->length);
    d->buffer = a.size || below(g, 2) ? area_buffer(&a, d->memory + around) : NULL;
}

/* Returns whether no byte is described twice, so that all written bytes can be read again. */
static bool is_disjoint(described *d) {
    size_t longest = 0, total = 0, found = 0;
    generator any = {0};
    for (int i = 0; i < d->blocks; i++) {
        size_t bytes = described_bytes(d, i);
        longest = bytes > longest ? bytes : longest;
        total += bytes;
    }
    make_memory(&any, d);
    unsigned char *ones = malloc(longest + 1);
    memset(ones, 1, longest);
    memset(d->memory, 0, d->length);
    for (int i = 0; i < d->blocks; i++)
        described_write(d, i, ones, d->memory);
    for (size_t i = 0; i < d->length; i++)
        found += d->memory[i];
    free(ones);
    free(d->memory);
    return found == total;
}

static bool is_good(described *d, bool to_write) {
    if (d->derived)
        MPI_Type_commit(&d->type);
    return area_of_blocks(d).span <= MOST_SPAN && (!to_write || is_disjoint(d));
}

static void forget_type(described *d) {
    if (d->derived)
        MPI_Type_free(&d->type);
}

static void place_in_a_row(described *d, MPI_Count count) {
    for (int i = 0; i < d->blocks; i++) {
        d->counts[i] = count;
        d->places[i] = count * i;
    }
}

described describe_blocks(generator *types, generator *memory, int blocks, size_t bytes,
                          bool to_write) {
    described d = {.blocks = blocks};
    bool wild = below(types, 2) == 0;
    MPI_Count count = bytes == 0 && wild ? describe_nothing(types, &d)
                      : wild             ? describe_wildly(types, bytes, &d)
                                         : describe_plainly(types, bytes, &d);
    place_in_a_row(&d, count);
    if (!is_good(&d, to_write)) {
        forget_type(&d);
        place_in_a_row(&d, describe_plainly(types, bytes, &d));
        is_good(&d, false);
    }
    make_memory(memory, &d);
    return d;
}

/* Places blocks in any order, with gaps between them. */
static void scatter(generator *g, described *d) {
    MPI_Aint next = -below(g, 6);
    int first = below(g, d->blocks), step = below(g, 2) ? 1 : d->blocks - 1;
    for (int i = 0; i < d->blocks; i++) {
        int block = (first + i * step) % d->blocks;
        d->places[block] = next;
        next += (MPI_Aint)d->counts[block] + below(g, 3);
    }
}

described describe_uneven(generator *alike, generator *memory, int blocks, size_t bytes) {
    described d = {.blocks = blocks, .derived = true, .type = datatype_draw(alike, 2)};
    size_t size = datatype_size(d.type), most = size ? bytes / size : 4;
    for (int i = 0; i < blocks; i++) {
        size_t range = below(alike, 2) && most > 4 ? 4 : most;
        d.counts[i] = below(alike, 3) ? (MPI_Count)(draw(alike) % (range + 1)) : 0;
    }
    scatter(memory, &d);
    if (!is_good(&d, true)) {
        forget_type(&d);
        MPI_Type_contiguous((int)size, MPI_BYTE, &d.type);
        is_good(&d, false);
    }
    make_memory(memory, &d);
    return d;
}

void described_free(described *d) {
    forget_type(d);
    free(d->memory);
}

/* --- Data --- */

size_t described_bytes(const described *d, int block) {
    return (size_t)d->counts[block] * datatype_size(d->type);
}

/* Returns BLOCK's buffer argument in a copy of D's memory. */
static void *block_in(const described *d, int block, unsigned char *copy) {
    intptr_t place = (intptr_t)d->buffer - (intptr_t)d->memory;
    return (void *)((intptr_t)copy + place + d->places[block] * datatype_extent(d->type));
}

void described_read(const described *d, int block, unsigned char *bytes) {
    int size = (int)described_bytes(d, block), position = 0;
    if (size)
        MPI_Pack(block_in(d, block, d->memory), (int)d->counts[block], d->type, bytes, size,
                 &position, MPI_COMM_SELF);
}

void described_write(const described *d, int block, const unsigned char *bytes,
                     unsigned char *copy) {
    int size = (int)described_bytes(d, block), position = 0;
    if (size)
        MPI_Unpack(bytes, size, &position, block_in(d, block, copy), (int)d->counts[block], d->type,
                   MPI_COMM_SELF);
}

unsigned char *described_copy(const described *d) {
    return memcpy(malloc(d->length + 1), d->memory, d->length);
}

bool described_is(const described *d, unsigned char *copy) {
    bool same = memcmp(d->memory, copy, d->length) == 0;
    free(copy);
    return same;
}

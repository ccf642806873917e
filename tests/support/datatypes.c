/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/datatypes.h"

#include <stdbool.h>
#include <stdint.h>

size_t datatype_size(MPI_Datatype type) {
    MPI_Count size;
    MPI_Type_size_x(type, &size);
    return (size_t)size;
}

MPI_Aint datatype_extent(MPI_Datatype type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    return extent;
}

area area_of(MPI_Datatype type, MPI_Count count) {
    MPI_Aint true_lower, true_extent, last = (MPI_Aint)(count - 1) * datatype_extent(type);
    size_t size = datatype_size(type);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    if (count == 0 || size == 0)
        return (area){0};
    return (area){.lower = true_lower + (last < 0 ? last : 0),
                  .span = (size_t)(true_extent + (last < 0 ? -last : last)),
                  .size = (size_t)count * size};
}

void *area_buffer(const area *a, unsigned char *bytes) {
    return (void *)((uintptr_t)bytes - (uintptr_t)a->lower);
}

enum {
    DUP,
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    INDEXED,
    HINDEXED,
    INDEXED_BLOCK,
    HINDEXED_BLOCK,
    STRUCT,
    SUBARRAY,
    DARRAY,
    RESIZED
};

enum { MOST_BLOCKS = 6, MOST_DIMENSIONS = 4 };

/*
 * Open MPI 5.0 rounds the distances between blocks of complex numbers to multiples of their size.
 * Tests that are built for the MPI ABI may run with it.
 */
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5 ||                                       \
    defined MPI_ABI_VERSION && MPI_ABI_VERSION > 0
#define COMPLEX MPI_LONG
#else
#define COMPLEX MPI_C_DOUBLE_COMPLEX
#endif

/* Long double is left out, because libraries may copy only the ten bytes of its value. */
MPI_Datatype datatype_leaf(generator *g) {
    static const MPI_Datatype leaves[] = {MPI_BYTE, MPI_SHORT,     MPI_INT,       MPI_DOUBLE,
                                          COMPLEX,  MPI_SHORT_INT, MPI_DOUBLE_INT};
    MPI_Datatype type;
    int pick = between(g, 0, 8);
    if (pick == 7)
        MPI_Type_create_f90_integer(9, &type);
    else if (pick == 8)
        MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
    else
        type = leaves[pick];
    MPI_Datatype copy;
    MPI_Type_dup(type, &copy);
    return copy;
}

static MPI_Datatype random_vector(generator *g, int kind, MPI_Datatype inner) {
    int count = between(g, 0, 5), length = between(g, 0, 4);
    int stride = kind == VECTOR ? between(g, -6, 6) : between(g, -100, 100);
    if (stride == -1 && (kind == HVECTOR || datatype_extent(inner) == 1))
        stride = -2; /* Open MPI treats a stride of -1 byte as if none were given */

    MPI_Datatype type;
    if (kind == VECTOR)
        MPI_Type_vector(count, length, stride, inner, &type);
    else
        MPI_Type_create_hvector(count, length, stride, inner, &type);
    return type;
}

/* Makes a type of blocks at any places, of adjacent blocks, or of blocks at equal distances. */
static MPI_Datatype random_list(generator *g, int kind, const MPI_Datatype *inner) {
    int n = between(g, 0, MOST_BLOCKS), style = between(g, 0, 2), step = between(g, -9, 9);
    int lengths[MOST_BLOCKS], places[MOST_BLOCKS], length = between(g, 0, 3), next = 0;
    MPI_Aint addresses[MOST_BLOCKS], address = 0;
    MPI_Datatype types[MOST_BLOCKS];
    /* Open MPI computes a wrong extent of a struct if only some of its members have data. */
    bool mixed = kind == STRUCT && datatype_size(inner[0]) && datatype_size(inner[1]);
    for (int i = 0; i < n; i++) {
        types[i] = inner[mixed ? between(g, 0, 1) : 0];
        lengths[i] = kind == INDEXED_BLOCK || kind == HINDEXED_BLOCK ? length : between(g, 0, 3);
        places[i] = style == 0 ? between(g, -9, 9) : style == 1 ? next : i * step;
        addresses[i] = style == 0 ? between(g, -99, 99) : style == 1 ? address : i * step * 4;
        next += lengths[i];
        address += lengths[i] * datatype_extent(types[i]);
    }
    MPI_Datatype type;
    if (kind == INDEXED)
        MPI_Type_indexed(n, lengths, places, *inner, &type);
    else if (kind == HINDEXED)
        MPI_Type_create_hindexed(n, lengths, addresses, *inner, &type);
    else if (kind == INDEXED_BLOCK)
        MPI_Type_create_indexed_block(n, length, places, *inner, &type);
    else if (kind == HINDEXED_BLOCK)
        MPI_Type_create_hindexed_block(n, length, addresses, *inner, &type);
    else
        MPI_Type_create_struct(n, lengths, addresses, types, &type);
    return type;
}

static MPI_Datatype random_subarray(generator *g, MPI_Datatype inner) {
    int n = between(g, 1, MOST_DIMENSIONS);
    int sizes[MOST_DIMENSIONS], subsizes[MOST_DIMENSIONS], starts[MOST_DIMENSIONS];
    for (int i = 0; i < n; i++) {
        sizes[i] = between(g, 1, 4);
        subsizes[i] = between(g, 0, 2) ? between(g, 1, sizes[i]) : sizes[i];
        starts[i] = between(g, 0, sizes[i] - subsizes[i]);
    }
    MPI_Datatype type;
    int order = between(g, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_subarray(n, sizes, subsizes, starts, order, inner, &type);
    return type;
}

static MPI_Datatype random_darray(generator *g, MPI_Datatype inner) {
    int n = between(g, 1, 3), processes = 1;
    int sizes[3], distributions[3], arguments[3], sharers[3];
    for (int i = 0; i < n; i++) {
        sizes[i] = between(g, 1, 7);
        sharers[i] = between(g, 1, 3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        switch (between(g, 0, 2)) {
        case 0:
            distributions[i] = MPI_DISTRIBUTE_NONE;
            sharers[i] = 1;
            break;
        case 1:
            distributions[i] = MPI_DISTRIBUTE_BLOCK;
            if (between(g, 0, 1))
                arguments[i] = (sizes[i] + sharers[i] - 1) / sharers[i] + between(g, 0, 2);
            break;
        default:
            distributions[i] = MPI_DISTRIBUTE_CYCLIC;
            if (between(g, 0, 1))
                arguments[i] = between(g, 1, 3);
        }
        processes *= sharers[i];
    }
    MPI_Datatype type;
    if (datatype_size(inner) == 0) { /* Open MPI makes no darray of an empty type */
        MPI_Type_dup(inner, &type);
        return type;
    }
    int order = between(g, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_darray(processes, between(g, 0, processes - 1), n, sizes, distributions,
                           arguments, sharers, order, inner, &type);
    return type;
}

static MPI_Datatype random_resized(generator *g, MPI_Datatype inner) {
    MPI_Aint lower, extent;
    MPI_Datatype type;
    MPI_Type_get_extent(inner, &lower, &extent);
    MPI_Aint changed = between(g, 0, 1) ? extent + between(g, 0, 9) : between(g, 0, 60);
    MPI_Type_create_resized(inner, lower + between(g, -9, 9), changed, &type);
    return type;
}

MPI_Datatype datatype_construct(generator *g, int constructor, const MPI_Datatype inner[2]) {
    MPI_Datatype type;
    switch (constructor) {
    case DUP:
        MPI_Type_dup(*inner, &type);
        return type;
    case CONTIGUOUS:
        MPI_Type_contiguous(between(g, 0, 5), *inner, &type);
        return type;
    case VECTOR:
    case HVECTOR:
        return random_vector(g, constructor, *inner);
    case SUBARRAY:
        return random_subarray(g, *inner);
    case DARRAY:
        return random_darray(g, *inner);
    case RESIZED:
        return random_resized(g, *inner);
    default:
        return random_list(g, constructor, inner);
    }
}

/* Returns whether a few elements of TYPE are small enough for tests. */
static bool is_small(MPI_Datatype type) {
    enum { ELEMENTS = 4, MOST_BYTES = 1 << 20 };
    area a = area_of(type, ELEMENTS);
    return a.span <= MOST_BYTES && datatype_size(type) <= MOST_BYTES / ELEMENTS;
}

MPI_Datatype datatype_draw(generator *g, int depth) {
    if (depth == 0)
        return datatype_leaf(g);
    MPI_Datatype inner[2] = {datatype_draw(g, depth - 1)};
    inner[1] = datatype_draw(g, between(g, 0, depth - 1));
    MPI_Datatype type = datatype_construct(g, between(g, 0, DATATYPE_CONSTRUCTORS - 1), inner);
    if (!is_small(type)) {
        MPI_Type_free(&type);
        MPI_Type_dup(inner[0], &type);
    }
    MPI_Type_free(&inner[0]);
    MPI_Type_free(&inner[1]);
    return type;
}

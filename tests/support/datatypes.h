/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes random datatypes, and computes the memory that data of any datatype occupies. */
#ifndef COLL_TESTS_SUPPORT_DATATYPES_H
#define COLL_TESTS_SUPPORT_DATATYPES_H

#include "tests/support/generator.h"

#include <mpi.h>
#include <stddef.h>

/* Return the bytes of data in an element of TYPE, and its extent. */
size_t datatype_size(MPI_Datatype type);
MPI_Aint datatype_extent(MPI_Datatype type);

/* The exact memory that some elements of a type occupy. */
typedef struct area {
    MPI_Aint lower; /* the start of the memory, relative to the buffer argument */
    size_t span;
    size_t size; /* bytes of data */
} area;

area area_of(MPI_Datatype type, MPI_Count count);

/* Returns the buffer argument for an area whose memory is at BYTES. */
void *area_buffer(const area *a, unsigned char *bytes);

enum { DATATYPE_CONSTRUCTORS = 12 };

/*
 * Return uncommitted types, which the caller frees. The first returns one without a constructor,
 * the second one with CONSTRUCTOR around INNER.
 */
MPI_Datatype datatype_leaf(generator *g);
MPI_Datatype datatype_construct(generator *g, int constructor, const MPI_Datatype inner[2]);

/*
 * Returns a type with up to DEPTH nested constructors, of which a few elements have less than 1 MB.
 * Its lower bound may be negative, and its elements may overlap.
 */
MPI_Datatype datatype_draw(generator *g, int depth);

#endif

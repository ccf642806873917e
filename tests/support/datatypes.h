/* Random datatypes, and the memory that data of any datatype touches. */
#ifndef COLL_TESTS_SUPPORT_DATATYPES_H
#define COLL_TESTS_SUPPORT_DATATYPES_H

#include "tests/support/generator.h"

#include <mpi.h>
#include <stddef.h>

/* The memory that some elements of a type touch, and no byte more. */
typedef struct area {
    MPI_Aint lower; /* of the memory, from the buffer argument */
    size_t span;
    size_t size; /* data bytes */
} area;

area area_of(MPI_Datatype type, MPI_Count count);

/* The buffer argument for an area whose memory is at BYTES. */
void *area_buffer(const area *a, unsigned char *bytes);

enum { DATATYPE_CONSTRUCTORS = 12 };

/* Uncommitted types, which the caller frees: without a constructor; one constructor above INNER. */
MPI_Datatype datatype_leaf(generator *g);
MPI_Datatype datatype_construct(generator *g, int constructor, const MPI_Datatype inner[2]);

/* A type of up to DEPTH constructors above each other: a few elements are less than 1 MB. Its lower
 * bound may be negative, its elements may overlap. */
MPI_Datatype datatype_draw(generator *g, int depth);

#endif

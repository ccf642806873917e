/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that a rank describes in its own random way: blocks of one datatype, in memory of which
 * every byte is known, including the bytes in gaps and around it.
 */
#ifndef COLL_TESTS_SUPPORT_DESCRIBED_H
#define COLL_TESTS_SUPPORT_DESCRIBED_H

#include "tests/support/generator.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { DESCRIBED_MOST = 64 };

typedef struct described {
    MPI_Datatype type;
    bool derived; /* and must be freed */
    int blocks;
    MPI_Count counts[DESCRIBED_MOST]; /* elements of each block */
    MPI_Aint places[DESCRIBED_MOST];  /* where each block begins, in extents of the type */
    unsigned char *memory;            /* all of it, filled with random bytes */
    size_t length;
    void *buffer; /* the argument of a call */
} described;

/*
 * Makes BLOCKS of BYTES each, one after the other. TYPES draws the datatype; MEMORY draws the
 * content of memory and its alignment. If TO_WRITE, no byte is described twice.
 */
described describe_blocks(generator *types, generator *memory, int blocks, size_t bytes,
                          bool to_write);

/*
 * Makes blocks to be written, of different lengths up to BYTES, at random places. ALIKE draws the
 * lengths, MEMORY the places.
 */
described describe_uneven(generator *alike, generator *memory, int blocks, size_t bytes);
void described_free(described *d);

size_t described_bytes(const described *d, int block);

/* Copies a block's data to BYTES, or from BYTES to its place in a copy of D's memory. */
void described_read(const described *d, int block, unsigned char *bytes);
void described_write(const described *d, int block, const unsigned char *bytes,
                     unsigned char *copy);

/* Returns a copy of D's memory; and compares D's memory with such a copy, which it frees. */
unsigned char *described_copy(const described *d);
bool described_is(const described *d, unsigned char *copy);

/* Fills BYTES with random numbers. */
void describe_fill(generator *g, unsigned char *bytes, size_t count);

#endif

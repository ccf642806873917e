/*
 * Data that a rank describes in its own random way: blocks of one datatype, in memory of which
 * every byte is known, those in gaps and around it too.
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
    bool derived; /* and to be freed */
    int blocks;
    MPI_Count counts[DESCRIBED_MOST]; /* elements of each block */
    MPI_Aint places[DESCRIBED_MOST];  /* where it begins, in extents of the type */
    unsigned char *memory;            /* all of it, filled at random */
    size_t length;
    void *buffer; /* the argument of a call */
} described;

/*
 * So many BLOCKS of BYTES each, one after the other. TYPES draws the datatype, MEMORY what is in
 * memory and how it is aligned. TO_WRITE: no byte is described twice.
 */
described describe_blocks(generator *types, generator *memory, int blocks, size_t bytes,
                          bool to_write);

/*
 * The same to be written, of differing lengths up to BYTES, at random places. The lengths follow
 * from ALIKE, the places from MEMORY.
 */
described describe_uneven(generator *alike, generator *memory, int blocks, size_t bytes);
void described_free(described *d);

size_t described_bytes(const described *d, int block);

/* Copies a block's data to BYTES, or from BYTES to where it belongs in a copy of D's memory. */
void described_read(const described *d, int block, unsigned char *bytes);
void described_write(const described *d, int block, const unsigned char *bytes,
                     unsigned char *copy);

/* A copy of D's memory; and whether D's memory is still, or now, as in a copy, which is freed. */
unsigned char *described_copy(const described *d);
bool described_is(const described *d, unsigned char *copy);

/* Fills BYTES at random. */
void describe_fill(generator *g, unsigned char *bytes, size_t count);

#endif

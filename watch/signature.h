/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes and operations in a form that is comparable between ranks. A derived datatype is
 * represented by its size and, if it contains a single basic type, by that type.
 */
#ifndef COLL_WATCH_SIGNATURE_H
#define COLL_WATCH_SIGNATURE_H

#include "watch/record.h"

#include <mpi.h>

/* Queries the sizes of the basic types. The sizes of Fortran's types depend on how the MPI library
 * was built. */
void watch_signature_begin(void);

/* Returns the signature of COUNT elements of TYPE. */
watch_signature watch_signature_of(MPI_Datatype type, int64_t count);

/* Drops what is cached about TYPE, which is about to be freed. */
void watch_signature_forget(MPI_Datatype type);

/* Returns true if no correct program may pass both A and B as the same data of a collective. */
bool watch_signature_differs(const watch_signature *a, const watch_signature *b);

/*
 * Returns whether the size in bytes is known and comparable. The size of packed data is not
 * comparable, since packing may add bytes.
 */
bool watch_signature_has_size(const watch_signature *signature);

/*
 * Returns a number that identifies the kind and size of the basic type, or 0 if there is no data,
 * or if the type is unknown or compatible with every other type.
 */
uint32_t watch_signature_sort(const watch_signature *signature);

/* Writes "4 MPI_DOUBLE" or "96 bytes" to TEXT, of SIZE bytes. */
void watch_signature_print(const watch_signature *signature, char *text, int size);

/* Returns the index of OP in the table of operations, or 0 for a user-defined operation. */
uint8_t watch_op_of(MPI_Op op);
const char *watch_op_name(uint8_t op);

#endif

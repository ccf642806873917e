/*
 * Types and operations as all ranks know them. Types of the program's own count by their size and,
 * where they hold one basic type alone, by that.
 */
#ifndef COLL_WATCH_SIGNATURE_H
#define COLL_WATCH_SIGNATURE_H

#include "watch/record.h"

#include <mpi.h>

/* Asks for the sizes of Fortran's types, which depend on how the MPI library was built. */
void watch_signature_begin(void);

/* COUNT elements of TYPE. */
watch_signature watch_signature_of(MPI_Datatype type, int64_t count);

/* TYPE is about to go. */
void watch_signature_forget(MPI_Datatype type);

/* Whether no program may use the two as the same data of a collective. */
bool watch_signature_differs(const watch_signature *a, const watch_signature *b);

/* Whether its bytes are known. Packed data may take more of them than what it was made of. */
bool watch_signature_has_size(const watch_signature *signature);

/* A number that differs with what sort of type it is; 0: none that may be told from others. */
uint32_t watch_signature_sort(const watch_signature *signature);

/* Writes "4 MPI_DOUBLE" or "96 bytes". */
void watch_signature_print(const watch_signature *signature, char *text, int size);

/* The place of OP in the table of operations: 0: one of the program's own. */
uint8_t watch_op_of(MPI_Op op);
const char *watch_op_name(uint8_t op);

#endif

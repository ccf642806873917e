/*
 * Predefined types and operations as numbers that mean the same on every rank: handles don't, and
 * don't go over the wire. An operand code stands for a pair that MPI defines (MPI 3.1, section
 * 5.9.2); for others, users' operations and derived types there is none.
 */
#ifndef COLL_CDCP_OPERANDS_H
#define COLL_CDCP_OPERANDS_H

#include <mpi.h>
#include <stddef.h>

/* The code of OP on TYPE, or -1. */
int coll_operands_code(MPI_Datatype type, MPI_Op op);

MPI_Datatype coll_operands_type(int code);
MPI_Op coll_operands_op(int code);

/* "MPI_SUM", "MPI_DOUBLE" */
const char *coll_operands_op_name(int code);
const char *coll_operands_type_name(int code);

/* Bytes from an element to the next; values go over the wire as they lie in memory. */
size_t coll_operands_extent(int code);

#endif

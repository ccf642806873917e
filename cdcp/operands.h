/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for predefined types and operations, with the same meaning on every rank. Handles have no
 * such meaning and can't be sent. An operand code represents a pair of an operation and a type for
 * which MPI defines this operation (MPI 3.1, section 5.9.2). Other pairs, user-defined operations
 * and derived types have no code.
 */
#ifndef COLL_CDCP_OPERANDS_H
#define COLL_CDCP_OPERANDS_H

#include <mpi.h>
#include <stddef.h>

/* Returns the code of OP on TYPE, or -1 if there is none. */
int coll_operands_code(MPI_Datatype type, MPI_Op op);

MPI_Datatype coll_operands_type(int code);
MPI_Op coll_operands_op(int code);

/* Return names such as "MPI_SUM" and "MPI_DOUBLE". */
const char *coll_operands_op_name(int code);
const char *coll_operands_type_name(int code);

/*
 * Returns the distance in bytes from one element to the next. Values are sent with the gaps that
 * they have in memory.
 */
size_t coll_operands_extent(int code);

#endif

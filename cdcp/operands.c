/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/operands.h"

#include <stdbool.h>

/* Kinds of operations, and the kinds that MPI defines for each class of types. */
enum {
    ORDER = 1,      /* MPI_MAX, MPI_MIN */
    ARITHMETIC = 2, /* MPI_SUM, MPI_PROD */
    LOGIC = 4,      /* MPI_LAND, MPI_LOR, MPI_LXOR */
    BITS = 8,       /* MPI_BAND, MPI_BOR, MPI_BXOR */
    WHERE = 16,     /* MPI_MAXLOC, MPI_MINLOC */
    C_INTEGER = ORDER | ARITHMETIC | LOGIC | BITS,
    INTEGER = ORDER | ARITHMETIC | BITS,
    REAL = ORDER | ARITHMETIC
};

typedef struct operation {
    MPI_Op handle;
    const char *name;
    int kind;
} operation;

typedef struct element {
    MPI_Datatype handle;
    const char *name;
    int kinds;
} element;

#define ENTRY(handle, kinds)                                                                       \
    { handle, #handle, kinds }

static const operation operations[] = {
    ENTRY(MPI_MAX, ORDER),       ENTRY(MPI_MIN, ORDER),    ENTRY(MPI_SUM, ARITHMETIC),
    ENTRY(MPI_PROD, ARITHMETIC), ENTRY(MPI_LAND, LOGIC),   ENTRY(MPI_LOR, LOGIC),
    ENTRY(MPI_LXOR, LOGIC),      ENTRY(MPI_BAND, BITS),    ENTRY(MPI_BOR, BITS),
    ENTRY(MPI_BXOR, BITS),       ENTRY(MPI_MAXLOC, WHERE), ENTRY(MPI_MINLOC, WHERE),
};

/*
 * The most used types come first. Optional Fortran types are included if the MPI library has them.
 */
static const element elements[] = {
    ENTRY(MPI_DOUBLE, REAL),
    ENTRY(MPI_INT, C_INTEGER),
    ENTRY(MPI_FLOAT, REAL),
    ENTRY(MPI_LONG, C_INTEGER),
    ENTRY(MPI_DOUBLE_PRECISION, REAL),
    ENTRY(MPI_INTEGER, INTEGER),
    ENTRY(MPI_REAL, REAL),
    ENTRY(MPI_LOGICAL, LOGIC),
    ENTRY(MPI_COMPLEX, ARITHMETIC),
    ENTRY(MPI_DOUBLE_COMPLEX, ARITHMETIC),
    ENTRY(MPI_UNSIGNED, C_INTEGER),
    ENTRY(MPI_UNSIGNED_LONG, C_INTEGER),
    ENTRY(MPI_LONG_LONG, C_INTEGER),
    ENTRY(MPI_UNSIGNED_LONG_LONG, C_INTEGER),
    ENTRY(MPI_SIGNED_CHAR, C_INTEGER),
    ENTRY(MPI_UNSIGNED_CHAR, C_INTEGER),
    ENTRY(MPI_SHORT, C_INTEGER),
    ENTRY(MPI_UNSIGNED_SHORT, C_INTEGER),
    ENTRY(MPI_INT8_T, C_INTEGER),
    ENTRY(MPI_INT16_T, C_INTEGER),
    ENTRY(MPI_INT32_T, C_INTEGER),
    ENTRY(MPI_INT64_T, C_INTEGER),
    ENTRY(MPI_UINT8_T, C_INTEGER),
    ENTRY(MPI_UINT16_T, C_INTEGER),
    ENTRY(MPI_UINT32_T, C_INTEGER),
    ENTRY(MPI_UINT64_T, C_INTEGER),
    ENTRY(MPI_AINT, INTEGER),
    ENTRY(MPI_OFFSET, INTEGER),
    ENTRY(MPI_COUNT, INTEGER),
    ENTRY(MPI_BYTE, BITS),
    ENTRY(MPI_C_BOOL, LOGIC),
    ENTRY(MPI_CXX_BOOL, LOGIC),
    ENTRY(MPI_LONG_DOUBLE, REAL),
    ENTRY(MPI_C_FLOAT_COMPLEX, ARITHMETIC),
    ENTRY(MPI_C_DOUBLE_COMPLEX, ARITHMETIC),
    ENTRY(MPI_C_LONG_DOUBLE_COMPLEX, ARITHMETIC),
    ENTRY(MPI_CXX_FLOAT_COMPLEX, ARITHMETIC),
    ENTRY(MPI_CXX_DOUBLE_COMPLEX, ARITHMETIC),
    ENTRY(MPI_CXX_LONG_DOUBLE_COMPLEX, ARITHMETIC),
    ENTRY(MPI_DOUBLE_INT, WHERE),
    ENTRY(MPI_FLOAT_INT, WHERE),
    ENTRY(MPI_2INT, WHERE),
    ENTRY(MPI_LONG_INT, WHERE),
    ENTRY(MPI_SHORT_INT, WHERE),
    ENTRY(MPI_LONG_DOUBLE_INT, WHERE),
    ENTRY(MPI_2REAL, WHERE),
    ENTRY(MPI_2DOUBLE_PRECISION, WHERE),
    ENTRY(MPI_2INTEGER, WHERE),
#ifdef MPI_INTEGER1
    ENTRY(MPI_INTEGER1, INTEGER),
#endif
#ifdef MPI_INTEGER2
    ENTRY(MPI_INTEGER2, INTEGER),
#endif
#ifdef MPI_INTEGER4
    ENTRY(MPI_INTEGER4, INTEGER),
#endif
#ifdef MPI_INTEGER8
    ENTRY(MPI_INTEGER8, INTEGER),
#endif
#ifdef MPI_REAL4
    ENTRY(MPI_REAL4, REAL),
#endif
#ifdef MPI_REAL8
    ENTRY(MPI_REAL8, REAL),
#endif
#ifdef MPI_REAL16
    ENTRY(MPI_REAL16, REAL),
#endif
#ifdef MPI_COMPLEX8
    ENTRY(MPI_COMPLEX8, ARITHMETIC),
#endif
#ifdef MPI_COMPLEX16
    ENTRY(MPI_COMPLEX16, ARITHMETIC),
#endif
};

#undef ENTRY

enum {
    OPERATIONS = sizeof operations / sizeof *operations,
    ELEMENTS = sizeof elements / sizeof *elements
};

int coll_operands_code(MPI_Datatype type, MPI_Op op) {
    int e = 0, o = 0;
    while (e < ELEMENTS && elements[e].handle != type)
        e++;
    while (o < OPERATIONS && operations[o].handle != op)
        o++;
    bool defined = e < ELEMENTS && o < OPERATIONS && type != MPI_DATATYPE_NULL &&
                   (elements[e].kinds & operations[o].kind);
    return defined && coll_operands_extent(e * OPERATIONS + o) > 0 ? e * OPERATIONS + o : -1;
}

MPI_Datatype coll_operands_type(int code) {
    return elements[code / OPERATIONS].handle;
}

MPI_Op coll_operands_op(int code) {
    return operations[code % OPERATIONS].handle;
}

const char *coll_operands_op_name(int code) {
    return operations[code % OPERATIONS].name;
}

const char *coll_operands_type_name(int code) {
    return elements[code / OPERATIONS].name;
}

/* Returns 0 for a type that the MPI library declares but doesn't support. */
size_t coll_operands_extent(int code) {
    MPI_Aint lower, extent;
    int size = 0;
    if (PMPI_Type_size(coll_operands_type(code), &size) != MPI_SUCCESS || size <= 0 ||
        PMPI_Type_get_extent(coll_operands_type(code), &lower, &extent) != MPI_SUCCESS)
        return 0;
    return (size_t)extent;
}

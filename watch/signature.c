/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/signature.h"

#include "lib/base/envelope.h"
#include "watch/communicators.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Types of the same kind and size are interchangeable, such as long and int64_t, or Fortran's and
 * C's types.
 */
typedef enum kind { MIXED, ANY, INTEGER, FLOAT, COMPLEX, LOGICAL, PAIR } kind;

#define TYPE(name, kind, size)                                                                     \
    { name, #name, kind, size }
static struct basic {
    MPI_Datatype type;
    const char *name;
    kind kind;
    int size; /* the usual size; watch_signature_begin queries the actual one */
} basics[] = {
    {MPI_DATATYPE_NULL, "bytes", MIXED, 1},
    TYPE(MPI_DOUBLE, FLOAT, 8),
    TYPE(MPI_INT, INTEGER, 4),
    TYPE(MPI_FLOAT, FLOAT, 4),
    TYPE(MPI_BYTE, ANY, 1),
    TYPE(MPI_CHAR, INTEGER, 1),
    TYPE(MPI_LONG, INTEGER, sizeof(long)),
    TYPE(MPI_INT64_T, INTEGER, 8),
    TYPE(MPI_DOUBLE_PRECISION, FLOAT, 8),
    TYPE(MPI_INTEGER, INTEGER, 4),
    TYPE(MPI_REAL, FLOAT, 4),
    TYPE(MPI_UNSIGNED, INTEGER, 4),
    TYPE(MPI_UNSIGNED_LONG, INTEGER, sizeof(long)),
    TYPE(MPI_UINT64_T, INTEGER, 8),
    TYPE(MPI_INT32_T, INTEGER, 4),
    TYPE(MPI_UINT32_T, INTEGER, 4),
    TYPE(MPI_LONG_LONG, INTEGER, 8),
    TYPE(MPI_UNSIGNED_LONG_LONG, INTEGER, 8),
    TYPE(MPI_SHORT, INTEGER, 2),
    TYPE(MPI_UNSIGNED_SHORT, INTEGER, 2),
    TYPE(MPI_INT16_T, INTEGER, 2),
    TYPE(MPI_UINT16_T, INTEGER, 2),
    TYPE(MPI_INT8_T, INTEGER, 1),
    TYPE(MPI_UINT8_T, INTEGER, 1),
    TYPE(MPI_SIGNED_CHAR, INTEGER, 1),
    TYPE(MPI_UNSIGNED_CHAR, INTEGER, 1),
    TYPE(MPI_AINT, INTEGER, sizeof(MPI_Aint)),
    TYPE(MPI_COUNT, INTEGER, sizeof(MPI_Count)),
    TYPE(MPI_OFFSET, INTEGER, sizeof(MPI_Offset)),
    TYPE(MPI_LONG_DOUBLE, FLOAT, sizeof(long double)),
    TYPE(MPI_C_DOUBLE_COMPLEX, COMPLEX, 16),
    TYPE(MPI_C_FLOAT_COMPLEX, COMPLEX, 8),
    TYPE(MPI_COMPLEX, COMPLEX, 8),
    TYPE(MPI_DOUBLE_COMPLEX, COMPLEX, 16),
    TYPE(MPI_C_BOOL, LOGICAL, 1),
    TYPE(MPI_LOGICAL, LOGICAL, 4),
    TYPE(MPI_CHARACTER, INTEGER, 1),
    TYPE(MPI_WCHAR, INTEGER, 4),
    TYPE(MPI_2INT, PAIR, 8),
    TYPE(MPI_DOUBLE_INT, PAIR, 12),
    TYPE(MPI_FLOAT_INT, PAIR, 8),
    TYPE(MPI_LONG_INT, PAIR, 12),
    TYPE(MPI_PACKED, ANY, 1),
};
enum { BASICS = sizeof basics / sizeof *basics };

#define OP(name)                                                                                   \
    { name, #name }
static const struct {
    MPI_Op op;
    const char *name;
} ops[] = {
    {MPI_OP_NULL, "an operation of the program"},
    OP(MPI_SUM),
    OP(MPI_MAX),
    OP(MPI_MIN),
    OP(MPI_PROD),
    OP(MPI_LAND),
    OP(MPI_LOR),
    OP(MPI_LXOR),
    OP(MPI_BAND),
    OP(MPI_BOR),
    OP(MPI_BXOR),
    OP(MPI_MAXLOC),
    OP(MPI_MINLOC),
    OP(MPI_REPLACE),
    OP(MPI_NO_OP),
};
enum { OPS = sizeof ops / sizeof *ops };

/* Cached properties of a datatype: the size of an element in bytes, and the basic type. */
typedef struct known_type {
    MPI_Datatype type; /* written last; readers compare it before and after reading the rest */
    int64_t size;
    uint8_t basic;
} known_type;

enum { KNOWN = 64 };
static known_type known[KNOWN];

void watch_signature_begin(void) {
    for (int i = 1; i < BASICS; i++)
        if (basics[i].type != MPI_DATATYPE_NULL)
            PMPI_Type_size(basics[i].type, &basics[i].size);
}

static uint8_t index_of_basic_type(MPI_Datatype type) {
    for (uint8_t i = 1; i < BASICS; i++)
        if (basics[i].type == type)
            return i;
    return 0;
}

/*
 * Returns the index of the only basic type in TYPE, or 0 if there are several, it is not in the
 * table, or TYPE has large counts. Doesn't free TYPE.
 */
static uint8_t only_basic_type(MPI_Datatype type) {
    coll_envelope envelope;
    if (coll_envelope_get(type, &envelope) != MPI_SUCCESS || envelope.large_counts > 0)
        return 0;
    if (envelope.combiner == MPI_COMBINER_NAMED)
        return index_of_basic_type(type);
    const int integers = (int)envelope.integers, addresses = (int)envelope.addresses,
              types = (int)envelope.types;
    int *numbers = calloc((size_t)integers + 1, sizeof *numbers);
    MPI_Aint *places = calloc((size_t)addresses + 1, sizeof *places);
    MPI_Datatype *inner = calloc((size_t)types + 1, sizeof *inner);
    uint8_t found = 0;
    bool got = numbers && places && inner && types > 0 &&
               PMPI_Type_get_contents(type, integers, addresses, types, numbers, places, inner) ==
                   MPI_SUCCESS;
    for (int i = 0; got && i < types; i++) {
        uint8_t one = only_basic_type(inner[i]);
        found = i == 0 || one == found ? one : 0;
        if (coll_envelope_get(inner[i], &envelope) == MPI_SUCCESS &&
            envelope.combiner != MPI_COMBINER_NAMED)
            PMPI_Type_free(&inner[i]);
    }
    free(numbers);
    free(places);
    free(inner);
    return found;
}

static known_type *place_of(MPI_Datatype type) {
    return &known[watch_handle_hash((uintptr_t)type) % KNOWN];
}

static known_type properties_of(MPI_Datatype type) {
    known_type *place = place_of(type), seen = {.type = type};
    if (__atomic_load_n(&place->type, __ATOMIC_ACQUIRE) == type) {
        seen = *place;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&place->type, __ATOMIC_RELAXED) == type)
            return seen;
    }
    int size = 0;
    seen = (known_type){.type = type};
    if (PMPI_Type_size(type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED)
        seen.size = size;
    seen.basic = only_basic_type(type);
    __atomic_store_n(&place->type, (MPI_Datatype)0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    place->size = seen.size;
    place->basic = seen.basic;
    __atomic_store_n(&place->type, type, __ATOMIC_RELEASE);
    return seen;
}

watch_signature watch_signature_of(MPI_Datatype type, int64_t count) {
    if (!type || type == MPI_DATATYPE_NULL || count < 0)
        return (watch_signature){0};
    known_type seen = properties_of(type);
    return (watch_signature){
        .bytes = (uint64_t)(seen.size * count), .known = 1, .basic = seen.basic};
}

void watch_signature_forget(MPI_Datatype type) {
    if (type)
        __atomic_store_n(&place_of(type)->type, (MPI_Datatype)0, __ATOMIC_RELEASE);
}

/* Another rank's watcher may have sent any index. */
static const struct basic *basic_of(const watch_signature *signature) {
    return &basics[signature->basic < BASICS ? signature->basic : 0];
}

uint32_t watch_signature_sort(const watch_signature *signature) {
    const struct basic *basic = basic_of(signature);
    bool plain = signature->known && signature->bytes && basic->kind > ANY;
    return plain ? (uint32_t)basic->kind << 8 | (uint32_t)basic->size : 0;
}

bool watch_signature_has_size(const watch_signature *signature) {
    return signature->known && basic_of(signature)->type != MPI_PACKED;
}

bool watch_signature_differs(const watch_signature *a, const watch_signature *b) {
    if (!watch_signature_has_size(a) || !watch_signature_has_size(b))
        return false;
    uint32_t one = watch_signature_sort(a), other = watch_signature_sort(b);
    return a->bytes != b->bytes || (one && other && one != other);
}

void watch_signature_print(const watch_signature *signature, char *text, int size) {
    uint64_t count = signature->bytes;
    const struct basic *basic = basic_of(signature);
    snprintf(text, (size_t)size, "%" PRIu64 " %s", count / (uint64_t)basic->size, basic->name);
}

uint8_t watch_op_of(MPI_Op op) {
    for (uint8_t i = 1; i < OPS; i++)
        if (ops[i].op == op)
            return i;
    return 0;
}

const char *watch_op_name(uint8_t op) {
    return ops[op < OPS ? op : 0].name;
}

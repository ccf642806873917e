/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/reduction.h"

#include <stdint.h>
#include <string.h>

/* PIECE: bytes that are combined at a time when scratch memory is needed, at least one element. */
enum { PIECE = 16 << 10, ALIGNMENT = 64 };

int coll_reduction_open(coll_reduction *reduction, MPI_Datatype type, MPI_Op op) {
    MPI_Count size, lower, extent, true_lower, true_extent;
    int commutes, code = PMPI_Op_commutative(op, &commutes);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_size_x(type, &size);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_get_extent_x(type, &lower, &extent);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent);
    if (code != MPI_SUCCESS)
        return code;
    *reduction = (coll_reduction){.op = op,
                                  .type = type,
                                  .element = (size_t)size,
                                  .extent = (MPI_Aint)extent,
                                  .lower = (MPI_Aint)true_lower,
                                  .bytes = (MPI_Aint)true_extent,
                                  .ordered = !commutes};
    return MPI_SUCCESS;
}

/* Returns whether elements have no gaps. Even then, packed data may have another order than memory:
 * that of the type map. */
static bool is_packed(const coll_reduction *reduction) {
    return reduction->lower == 0 && (size_t)reduction->extent == reduction->element &&
           (size_t)reduction->bytes == reduction->element;
}

/*
 * Returns how many elements are combined at a time when scratch memory is needed. There the
 * elements are reduction->extent apart.
 */
static size_t elements_at_once(const coll_reduction *reduction) {
    MPI_Aint extent = reduction->extent;
    return extent < reduction->bytes || extent > PIECE / 2 ? 1 : (size_t)(PIECE / extent);
}

/* Returns the bytes of scratch memory for the elements that are combined at a time. */
static size_t piece_bytes(const coll_reduction *reduction) {
    size_t bytes = (elements_at_once(reduction) - 1) * (size_t)reduction->extent +
                   (size_t)reduction->bytes + ALIGNMENT;
    return bytes / ALIGNMENT * ALIGNMENT;
}

size_t coll_reduction_spare(const coll_reduction *reduction) {
    return 2 * piece_bytes(reduction);
}

/* INTO = FROM op INTO */
static int apply_op(const coll_reduction *reduction, const void *from, void *into,
                    size_t elements) {
    return PMPI_Reduce_local(from, into, (int)elements, reduction->type, reduction->op);
}

/*
 * Combines elements that have the packed layout in memory. USER is the operand in the data or in
 * OTHERS.
 */
static int combine_packed(const coll_reduction *reduction, const coll_operands *o, char *user,
                          char *spare) {
    size_t elements = o->length / reduction->element;
    int code;
    if (o->bytes_first && !o->to_bytes)
        return apply_op(reduction, o->bytes, user, elements);
    if (o->bytes_first) {
        memcpy(spare, user, o->length);
        code = apply_op(reduction, o->bytes, spare, elements);
        memcpy(o->bytes, spare, o->length);
        return code;
    }
    code = apply_op(reduction, user, o->bytes, elements);
    if (!o->to_bytes)
        memcpy(user, o->bytes, o->length);
    return code;
}

/* Describes COUNT elements of DATA's type whose first byte is at MEMORY. */
static coll_data spare_data(const coll_reduction *reduction, const coll_data *data, char *memory,
                            size_t count) {
    MPI_Aint offset = (MPI_Aint)((intptr_t)memory - reduction->lower - (intptr_t)data->buffer);
    return coll_data_shifted(data, offset, (MPI_Count)count, count * reduction->element);
}

/*
 * Combines elements whose layout in memory differs from the packed layout: unpacks the packed
 * operands into SPARE first.
 */
static int combine_laid_out(const coll_reduction *reduction, const coll_operands *o, char *user,
                            char *spare) {
    size_t elements = o->length / reduction->element;
    coll_data laid = spare_data(reduction, o->data, spare, elements);
    coll_data_write(&laid, 0, o->length, o->bytes);
    if (!o->others && o->bytes_first && !o->to_bytes)
        return apply_op(reduction, laid.buffer, user, elements);
    if (!o->others && !o->bytes_first) {
        int code = apply_op(reduction, user, laid.buffer, elements);
        coll_data_pack(&laid, 0, o->length, o->bytes);
        if (!o->to_bytes)
            coll_data_write(o->data, o->from, o->length, o->bytes);
        return code;
    }
    coll_data other = spare_data(reduction, o->data, spare + piece_bytes(reduction), elements);
    if (!o->others)
        coll_data_pack(o->data, o->from, o->length, o->bytes);
    coll_data_write(&other, 0, o->length, o->others ? user : o->bytes);
    const coll_data *first = o->bytes_first ? &laid : &other,
                    *second = o->bytes_first ? &other : &laid;
    int code = apply_op(reduction, first->buffer, second->buffer, elements);
    coll_data_pack(second, 0, o->length, o->to_bytes ? o->bytes : user);
    return code;
}

int coll_reduction_combine(const coll_reduction *reduction, const coll_operands *operands,
                           char *spare) {
    bool packed = is_packed(reduction) && coll_data_in_place(operands->data);
    bool whole = packed && !(operands->bytes_first && operands->to_bytes);
    /*
     * Data of a type with gaps is contiguous only if it is a single element. Such data has no map,
     * which several elements would need, so combine one element at a time.
     */
    bool alone = !packed && coll_data_in_place(operands->data);
    size_t most = whole   ? operands->length
                  : alone ? reduction->element
                          : elements_at_once(reduction) * reduction->element;
    coll_operands piece = *operands;
    int code = MPI_SUCCESS;
    for (size_t left = operands->length; left > 0 && code == MPI_SUCCESS; left -= piece.length) {
        piece.length = left < most ? left : most;
        char *user =
            piece.others
                ? piece.others + piece.from
                : (char *)((intptr_t)piece.data->buffer +
                           (MPI_Aint)(piece.from / reduction->element) * reduction->extent);
        code = packed ? combine_packed(reduction, &piece, user, spare)
                      : combine_laid_out(reduction, &piece, user, spare);
        piece.from += piece.length;
        piece.bytes += piece.length;
    }
    return code;
}

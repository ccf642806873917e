/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/data.h"

#include "lib/base/envelope.h"
#include "lib/base/error.h"

#include <stdint.h>
#include <string.h>

/* Sets *BYTES to COUNT times SIZE; MPI_ERR_COUNT on overflow. */
static int multiply_size(MPI_Count count, MPI_Count size, size_t *bytes) {
    ptrdiff_t product;
    if (__builtin_mul_overflow(count, size, &product))
        return coll_error(MPI_ERR_COUNT,
                          "%lld elements of %lld bytes are more than any memory holds",
                          (long long)count, (long long)size);
    *bytes = (size_t)product;
    return MPI_SUCCESS;
}

/*
 * Sets *IS_PLAIN to whether TYPE is predefined and without gaps, the common case, which needs no
 * map. Sets *SIZE to the bytes of a predefined type.
 */
static int check_plain(MPI_Datatype type, MPI_Count *size, bool *is_plain) {
    coll_envelope envelope;
    int code = coll_envelope_get(type, &envelope);
    if (code != MPI_SUCCESS)
        return code;
    *is_plain = false;
    if (envelope.combiner != MPI_COMBINER_NAMED)
        return MPI_SUCCESS;
    MPI_Count lower, extent;
    code = PMPI_Type_size_x(type, size);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_get_extent_x(type, &lower, &extent);
    if (code == MPI_SUCCESS)
        *is_plain = lower == 0 && extent == *size && *size > 0;
    return code;
}

int coll_data_open(coll_data *data, void *buffer, MPI_Count count, MPI_Datatype type) {
    *data = (coll_data){.buffer = buffer, .count = count, .type = type};
    MPI_Count size;
    bool is_plain;
    int code = check_plain(type, &size, &is_plain);
    if (code != MPI_SUCCESS)
        return code;
    if (is_plain && !buffer && count > 0)
        return coll_error(MPI_ERR_BUFFER, "%lld elements at a null address", (long long)count);
    if (is_plain) {
        data->plain_bytes = size;
        data->base = buffer;
        return multiply_size(count, size, &data->bytes);
    }

    code = coll_typemap_create(type, &data->map);
    if (code != MPI_SUCCESS)
        return code;
    code = multiply_size(count, coll_typemap_size(data->map), &data->bytes);
    if (code != MPI_SUCCESS) {
        coll_typemap_free(&data->map);
        return code;
    }
    MPI_Aint offset;
    if (coll_typemap_contiguous(data->map, count, &offset)) {
        data->base = (char *)((intptr_t)buffer + offset);
        coll_typemap_free(&data->map);
    }
    return MPI_SUCCESS;
}

coll_data coll_data_shifted(const coll_data *data, MPI_Aint offset, MPI_Count count, size_t bytes) {
    coll_data shifted = *data;
    shifted.bytes = bytes;
    shifted.count = count;
    shifted.buffer = (char *)((intptr_t)data->buffer + offset);
    if (!data->map)
        shifted.base = (char *)((intptr_t)data->base + offset);
    return shifted;
}

void coll_data_pack(const coll_data *data, size_t from, size_t length, void *bytes) {
    if (data->map)
        coll_typemap_pack(data->map, data->buffer, data->count, from, length, bytes);
    else
        memcpy(bytes, data->base + from, length);
}

void coll_data_write(const coll_data *data, size_t from, size_t length, const void *bytes) {
    if (data->map)
        coll_data_store(data, from, length, bytes);
    else
        memcpy(data->base + from, bytes, length);
}

void coll_data_copy(const coll_data *into, const coll_data *from) {
    char segment[16 << 10];
    size_t most = coll_data_in_place(from) ? from->bytes : sizeof segment;
    for (size_t at = 0; at < from->bytes; at += most) {
        size_t length = from->bytes - at < most ? from->bytes - at : most;
        coll_data_write(into, at, length, coll_data_read(from, at, length, segment));
    }
}

void *coll_data_read(const coll_data *data, size_t from, size_t length, void *segment) {
    if (!data->map)
        return data->base + from;
    coll_data_pack(data, from, length, segment);
    return segment;
}

void *coll_data_target(const coll_data *data, size_t from, void *segment) {
    return data->map ? segment : data->base + from;
}

void coll_data_store(const coll_data *data, size_t from, size_t length, const void *segment) {
    if (data->map)
        coll_typemap_unpack(data->map, data->buffer, data->count, from, length, segment);
}

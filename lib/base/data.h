/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user's (buffer, count, datatype) as a sequence of bytes: contiguous data is read and written in
 * place, other data is packed and unpacked in segments of bounded memory.
 */
#ifndef COLL_LIB_BASE_DATA_H
#define COLL_LIB_BASE_DATA_H

#include "lib/base/typemap.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_data {
    size_t bytes;
    /* bytes of an element if the type is predefined and without gaps, else 0 */
    MPI_Count plain_bytes;
    char *base;   /* the first byte if the data is contiguous, else NULL */
    void *buffer; /* the user's description: buffer, count and type */
    MPI_Count count;
    MPI_Datatype type;
    coll_typemap *map; /* NULL if the data is contiguous */
} coll_data;

/*
 * Describes the data; BUFFER stays the user's. Errors: MPI_ERR_COUNT if no memory could hold the
 * data, MPI_ERR_BUFFER if BUFFER is NULL, COUNT is not 0 and TYPE is predefined without gaps;
 * MPI_ERR_TYPE, MPI_ERR_NO_MEM.
 */
int coll_data_open(coll_data *data, void *buffer, MPI_Count count, MPI_Datatype type);

/*
 * Returns BUFFER without its const, because the same types describe data to read and data to write.
 * The result must only be read. The only place where libcoll drops a const.
 */
static inline void *coll_data_read_only(const void *buffer) {
    return (void *)(uintptr_t)buffer;
}

/* Describes BYTES contiguous bytes at BASE. DATA need not be closed. */
static inline void coll_data_open_bytes(coll_data *data, void *base, size_t bytes) {
    *data = (coll_data){.bytes = bytes, .base = base};
}

static inline void coll_data_close(coll_data *data) {
    if (data->map)
        coll_typemap_free(&data->map);
}

/*
 * Returns the first COUNT elements of DATA, BYTES in all, as if the buffer began OFFSET bytes
 * later. The result borrows from DATA; do not close it.
 */
coll_data coll_data_shifted(const coll_data *data, MPI_Aint offset, MPI_Count count, size_t bytes);

/* Copies the data's bytes [FROM, FROM + LENGTH) to BYTES. */
void coll_data_pack(const coll_data *data, size_t from, size_t length, void *bytes);

/* Writes LENGTH bytes from BYTES to the data, beginning with its byte FROM. */
void coll_data_write(const coll_data *data, size_t from, size_t length, const void *bytes);

/* Copies all bytes of FROM to the beginning of INTO, which has at least as many bytes. */
void coll_data_copy(const coll_data *into, const coll_data *from);

/* Returns whether the data is contiguous and needs no segment memory. */
static inline bool coll_data_in_place(const coll_data *data) {
    return !data->map;
}

/*
 * Returns memory that holds bytes [FROM, FROM + LENGTH): the user's own, or SEGMENT after packing
 * the bytes there. SEGMENT may be NULL for contiguous data.
 */
void *coll_data_read(const coll_data *data, size_t from, size_t length, void *segment);

/*
 * Returns memory into which bytes from FROM on can be received: the user's own, or SEGMENT. Follow
 * the receive with coll_data_store.
 */
void *coll_data_target(const coll_data *data, size_t from, void *segment);

/*
 * Moves received bytes to the user's buffer: unpacks SEGMENT, or does nothing for contiguous data.
 */
void coll_data_store(const coll_data *data, size_t from, size_t length, const void *segment);

#endif

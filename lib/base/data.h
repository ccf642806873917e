/*
 * A user's (buffer, count, datatype) as a run of bytes: contiguous data is read and written in
 * place, anything else passes through segments of bounded memory.
 */
#ifndef COLL_LIB_BASE_DATA_H
#define COLL_LIB_BASE_DATA_H

#include "lib/base/typemap.h"

#include <mpi.h>
#include <stddef.h>

typedef struct coll_data {
    size_t bytes;
    MPI_Count plain_bytes; /* of an element of a predefined type without gaps, else 0 */
    char *base;            /* the first byte, where the data is contiguous; else NULL */
    void *buffer;          /* as its user described it, with the next two */
    MPI_Count count;
    MPI_Datatype type;
    coll_typemap *map; /* NULL where the data is contiguous */
} coll_data;

/* Describes the data; BUFFER stays the user's. Errors: MPI_ERR_COUNT where no memory could hold
 * it, MPI_ERR_TYPE, MPI_ERR_NO_MEM. */
int coll_data_open(coll_data *data, void *buffer, MPI_Count count, MPI_Datatype type);

/* BYTES one after the other at BASE; need not be closed. */
static inline void coll_data_open_bytes(coll_data *data, void *base, size_t bytes) {
    *data = (coll_data){.bytes = bytes, .base = base};
}

static inline void coll_data_close(coll_data *data) {
    if (data->map)
        coll_typemap_free(&data->map);
}

/*
 * The first COUNT elements of DATA, which are BYTES long, OFFSET bytes further on in memory. It
 * borrows from DATA and is not to be closed.
 */
coll_data coll_data_shifted(const coll_data *data, MPI_Aint offset, MPI_Count count, size_t bytes);

/* Puts LENGTH bytes at BYTES where the data has those from FROM on. */
void coll_data_write(const coll_data *data, size_t from, size_t length, const void *bytes);

/* Copies all bytes of FROM to INTO, which has as many. */
void coll_data_copy(const coll_data *into, const coll_data *from);

/* True when bytes move in place, so that no segment memory is needed. */
static inline bool coll_data_in_place(const coll_data *data) {
    return !data->map;
}

/*
 * Memory that holds bytes [FROM, FROM + LENGTH): the user's own, or SEGMENT after packing them
 * there. SEGMENT may be NULL for contiguous data.
 */
void *coll_data_read(const coll_data *data, size_t from, size_t length, void *segment);

/* Memory into which bytes [FROM, ...) can be received: the user's own, or SEGMENT. */
void *coll_data_target(const coll_data *data, size_t from, void *segment);

/* Puts received bytes where they belong: unpacks SEGMENT, nothing for contiguous data. */
void coll_data_store(const coll_data *data, size_t from, size_t length, const void *segment);

#endif

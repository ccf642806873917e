/*
 * A chunk of a broadcast under way: numbered, so that one of an earlier try is known when it comes
 * late, and with a checksum from where it began, so that it is known when it comes damaged.
 */
#ifndef COLL_LIB_CONFIRM_PARCEL_H
#define COLL_LIB_CONFIRM_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a parcel begins with; the payload follows. The checksum is over all the rest. */
typedef struct coll_parcel {
    uint32_t sequence; /* which broadcast of the communicator */
    uint32_t epoch;    /* which try of it */
    uint64_t index;    /* which chunk, or COLL_PARCEL_END */
    uint32_t length;   /* bytes of payload */
    uint32_t checksum;
} coll_parcel;

/* The index of the parcel, without payload, that says that no more of its epoch follow. */
#define COLL_PARCEL_END UINT64_MAX

static inline char *coll_parcel_payload(coll_parcel *parcel) {
    return (char *)(parcel + 1);
}

static inline size_t coll_parcel_bytes(const coll_parcel *parcel) {
    return sizeof *parcel + parcel->length;
}

/* Fills in the checksum. */
void coll_parcel_seal(coll_parcel *parcel);

/* Whether PARCEL, in memory for CAPACITY bytes of payload, is as it was sealed. */
bool coll_parcel_intact(coll_parcel *parcel, size_t capacity);

#endif

/*
 * Bytes on their way from one process to others. One function says what is in a parcel: called on a
 * parcel that is packed it puts that in, called on one that is unpacked it takes the same out.
 */
#ifndef COLL_LIB_BASE_PARCEL_H
#define COLL_LIB_BASE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: an empty one, to be packed. */
typedef struct coll_parcel {
    char *bytes;   /* when it is packed in memory of its own, which coll_parcel_free frees */
    size_t length; /* of what was put in, or taken out */
    size_t room;
    bool unpacked;
    bool failed; /* memory was short: what was moved since is nothing */
} coll_parcel;

/* One to be unpacked, which lies in BYTES. */
static inline coll_parcel coll_parcel_open(char *bytes) {
    return (coll_parcel){.bytes = bytes, .unpacked = true};
}

void coll_parcel_move(coll_parcel *parcel, void *data, size_t bytes);

/* A text of less than SIZE bytes. */
void coll_parcel_move_text(coll_parcel *parcel, char *text, size_t size);

/* So many bytes, for which unpacking makes memory: *DATA is then to be freed, or NULL. */
void coll_parcel_move_array(coll_parcel *parcel, void **data, size_t bytes);

/* One that was packed. */
void coll_parcel_free(coll_parcel *parcel);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serialisation of messages. One function describes the contents of a message and serves both
 * directions: applied to a buffer that is being packed, it appends the values; applied to one that
 * is being unpacked, it reads them back.
 */
#ifndef COLL_LIB_BASE_PACK_BUFFER_H
#define COLL_LIB_BASE_PACK_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialized: an empty buffer, to be packed. */
typedef struct coll_pack_buffer {
    char *
        bytes; /* the message; if packed, memory of the buffer, which coll_pack_buffer_free frees */
    size_t length; /* bytes packed or unpacked so far */
    size_t room;
    bool unpacked;
    bool failed; /* out of memory: all values moved since then are lost */
} coll_pack_buffer;

/* Returns a buffer that unpacks the message at BYTES. */
static inline coll_pack_buffer coll_pack_buffer_open(char *bytes) {
    return (coll_pack_buffer){.bytes = bytes, .unpacked = true};
}

/*
 * If PACK is being packed, appends the BYTES bytes at DATA to it. If PACK is being unpacked, reads
 * its next BYTES bytes into DATA.
 */
void coll_pack_buffer_move(coll_pack_buffer *pack, void *data, size_t bytes);

/* Moves a string of less than SIZE bytes. */
void coll_pack_buffer_move_text(coll_pack_buffer *pack, char *text, size_t size);

/*
 * Moves an array of BYTES. When unpacking, allocates *DATA, which the caller frees; NULL if BYTES
 * is 0 or memory is short.
 */
void coll_pack_buffer_move_array(coll_pack_buffer *pack, void **data, size_t bytes);

/* Frees a buffer that was packed. */
void coll_pack_buffer_free(coll_pack_buffer *pack);

#endif

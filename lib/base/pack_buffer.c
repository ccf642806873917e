#include "config.h"

#include "lib/base/pack_buffer.h"

#include "lib/base/reserve_alloc.h"

#include <stdlib.h>
#include <string.h>

/* extra bytes of each allocation */
enum { SLACK = 1 << 10 };

static bool make_room(coll_pack_buffer *parcel, size_t bytes) {
    if (bytes <= parcel->room - parcel->length)
        return true;
    size_t room = 2 * parcel->room + bytes + SLACK;
    char *more = coll_reserve_alloc(room);
    if (!more)
        return false;
    if (parcel->length > 0)
        memcpy(more, parcel->bytes, parcel->length);
    coll_reserve_free(parcel->bytes);
    parcel->bytes = more;
    parcel->room = room;
    return true;
}

void coll_pack_buffer_move(coll_pack_buffer *parcel, void *data, size_t bytes) {
    if (!parcel->unpacked && !make_room(parcel, bytes))
        parcel->failed = true;
    if (parcel->failed || bytes == 0)
        return;
    char *place = parcel->bytes + parcel->length;
    memcpy(parcel->unpacked ? data : place, parcel->unpacked ? place : data, bytes);
    parcel->length += bytes;
}

void coll_pack_buffer_move_text(coll_pack_buffer *parcel, char *text, size_t size) {
    const char *source = parcel->unpacked ? parcel->bytes + parcel->length : text;
    if (!parcel->failed)
        coll_pack_buffer_move(parcel, text, strnlen(source, size - 1) + 1);
}

void coll_pack_buffer_move_array(coll_pack_buffer *parcel, void **data, size_t bytes) {
    if (parcel->unpacked)
        *data = !parcel->failed && bytes ? malloc(bytes) : NULL;
    if (parcel->unpacked && bytes && !*data)
        parcel->failed = true;
    coll_pack_buffer_move(parcel, *data, bytes);
}

void coll_pack_buffer_free(coll_pack_buffer *parcel) {
    coll_reserve_free(parcel->bytes);
    *parcel = (coll_pack_buffer){.bytes = NULL};
}

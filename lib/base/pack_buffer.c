/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/pack_buffer.h"

#include "lib/base/reserve_alloc.h"

#include <stdlib.h>
#include <string.h>

/* extra bytes of each allocation */
enum { SLACK = 1 << 10 };

static bool make_room(coll_pack_buffer *pack, size_t bytes) {
    if (bytes <= pack->room - pack->length)
        return true;
    size_t room = 2 * pack->room + bytes + SLACK;
    char *more = coll_reserve_alloc(room);
    if (!more)
        return false;
    if (pack->length > 0)
        memcpy(more, pack->bytes, pack->length);
    coll_reserve_free(pack->bytes);
    pack->bytes = more;
    pack->room = room;
    return true;
}

void coll_pack_buffer_move(coll_pack_buffer *pack, void *data, size_t bytes) {
    if (!pack->unpacked && !make_room(pack, bytes))
        pack->failed = true;
    if (pack->failed || bytes == 0)
        return;
    char *place = pack->bytes + pack->length;
    memcpy(pack->unpacked ? data : place, pack->unpacked ? place : data, bytes);
    pack->length += bytes;
}

void coll_pack_buffer_move_text(coll_pack_buffer *pack, char *text, size_t size) {
    const char *source = pack->unpacked ? pack->bytes + pack->length : text;
    if (!pack->failed)
        coll_pack_buffer_move(pack, text, strnlen(source, size - 1) + 1);
}

void coll_pack_buffer_move_array(coll_pack_buffer *pack, void **data, size_t bytes) {
    if (pack->unpacked)
        *data = !pack->failed && bytes ? malloc(bytes) : NULL;
    if (pack->unpacked && bytes && !*data)
        pack->failed = true;
    coll_pack_buffer_move(pack, *data, bytes);
}

void coll_pack_buffer_free(coll_pack_buffer *pack) {
    coll_reserve_free(pack->bytes);
    *pack = (coll_pack_buffer){.bytes = NULL};
}

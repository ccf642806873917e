/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/iov_tree.h"

#include "lib/base/reserve_alloc.h"

#include <string.h>

typedef coll_distance distance;
typedef coll_iov run;
typedef coll_iov_list list;

size_t coll_iov_size(const run *r) {
    return r->count * r->bytes;
}

run coll_iov_repeated(const run *inner, size_t count, distance stride) {
    if (count == 0 || inner->count == 0)
        return (run){0};
    if (count == 1)
        return *inner;

    run outer = *inner;
    if (inner->count == 1) {
        outer.count = count;
        outer.stride = stride;
    } else if (stride == inner->count * inner->stride) {
        outer.count = inner->count * count;
    } else {
        outer = (run){.stride = stride,
                      .count = count,
                      .bytes = coll_iov_size(inner),
                      .parts = inner,
                      .part_count = 1};
    }
    if (!outer.parts && outer.stride == outer.bytes) {
        outer.bytes *= outer.count;
        outer.count = 1;
    }
    return outer;
}

bool coll_iov_too_large(const run *item, size_t count) {
    return coll_iov_size(item) > 0 && count > (size_t)PTRDIFF_MAX / coll_iov_size(item);
}

list *coll_iov_list_new(size_t capacity) {
    if (capacity > (SIZE_MAX - sizeof(list)) / sizeof(run))
        return NULL;
    list *l = coll_reserve_alloc(sizeof *l + capacity * sizeof(run));
    if (l)
        l->length = 0;
    return l;
}

/* Extends LAST by NEXT if the two together are one run; returns whether they are. */
static bool merge_into(run *last, const run *next) {
    bool both_single = last->count == 1 && next->count == 1;
    if (both_single && !last->parts && !next->parts && last->at + last->bytes == next->at) {
        last->bytes += next->bytes;
        return true;
    }
    if (last->parts != next->parts || last->bytes != next->bytes)
        return false;
    distance step = next->at - (last->at + (last->count - 1) * last->stride);
    if ((last->count > 1 && last->stride != step) || (next->count > 1 && next->stride != step))
        return false;
    last->count += next->count;
    last->stride = step;
    return true;
}

void coll_iov_list_append(list *l, run next) {
    if (next.count == 0)
        return;
    if (l->length > 0) {
        run *last = &l->runs[l->length - 1];
        if (merge_into(last, &next))
            return;
        next.before = last->before + coll_iov_size(last);
    } else {
        next.before = 0;
    }
    l->runs[l->length++] = next;
}

/* Shrinks L to its length, adds it to OWNER's lists and returns its runs. */
static const run *add_to_owner(list **owner, list *l) {
    l = coll_reserve_shrink(l, sizeof *l + l->length * sizeof(run));
    l->next = *owner;
    *owner = l;
    return l->runs;
}

run coll_iov_list_finish(list **owner, list *l) {
    if (l->length < 2) {
        run only = l->length ? l->runs[0] : (run){0};
        coll_reserve_free(l);
        return only;
    }
    const run *last = &l->runs[l->length - 1];
    run all = {.count = 1, .bytes = last->before + coll_iov_size(last), .part_count = l->length};
    all.parts = add_to_owner(owner, l);
    return all;
}

const run *coll_iov_keep(list **owner, const run *item, run *spare) {
    if (item->count <= 1) {
        *spare = *item;
        return spare;
    }
    list *l = coll_iov_list_new(1);
    if (!l)
        return NULL;
    coll_iov_list_append(l, *item);
    return add_to_owner(owner, l);
}

void coll_iov_lists_free(list **owner) {
    while (*owner) {
        list *next = (*owner)->next;
        coll_reserve_free(*owner);
        *owner = next;
    }
}

/* --- Moving bytes --- */

/* The contiguous side of a copy: the address of its next byte, and the direction. */
typedef struct stream {
    distance packed;
    bool packing;
} stream;

/* Copies COUNT blocks of BYTES each, whose starts are TO_STRIDE and FROM_STRIDE apart. */
static inline void copy_blocks(distance to, distance to_stride, distance from, distance from_stride,
                               size_t bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        memcpy((char *)(to + i * to_stride), (const char *)(from + i * from_stride), bytes);
}

/*
 * Calls copy_blocks, specialized for common small sizes, for which a call of memcpy would be slow.
 */
static void copy_blocks_of(distance to, distance to_stride, distance from, distance from_stride,
                           size_t bytes, size_t count) {
#define CASE_SIZE(size)                                                                            \
    case size:                                                                                     \
        copy_blocks(to, to_stride, from, from_stride, size, count);                                \
        break
    switch (bytes) {
        CASE_SIZE(1);
        CASE_SIZE(2);
        CASE_SIZE(4);
        CASE_SIZE(8);
        CASE_SIZE(12);
        CASE_SIZE(16);
        CASE_SIZE(24);
    default:
        copy_blocks(to, to_stride, from, from_stride, bytes, count);
    }
#undef CASE_SIZE
}

static void move_blocks(stream *s, distance at, distance stride, size_t bytes, size_t count) {
    if (s->packing)
        copy_blocks_of(s->packed, bytes, at, stride, bytes, count);
    else
        copy_blocks_of(at, stride, s->packed, bytes, bytes, count);
    s->packed += bytes * count;
}

/* Copies COUNT whole items of R, the first of which is at AT. */
static void move_items(stream *s, const run *r, distance at, size_t count) {
    if (!r->parts) {
        move_blocks(s, at, r->stride, r->bytes, count);
        return;
    }
    for (size_t i = 0; i < count; i++, at += r->stride)
        for (size_t p = 0; p < r->part_count; p++)
            move_items(s, &r->parts[p], at + r->parts[p].at, r->parts[p].count);
}

/* Returns the part of R's item that contains data byte FROM. */
static const run *find_part(const run *r, size_t from) {
    size_t low = 0, high = r->part_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->parts[middle].before <= from)
            low = middle;
        else
            high = middle;
    }
    return &r->parts[low];
}

static void move_range(stream *s, const run *r, distance start, size_t from, size_t length);

/* Copies data bytes [FROM, FROM + LENGTH) of the item of R at AT. */
static void move_within(stream *s, const run *r, distance at, size_t from, size_t length) {
    if (length == 0)
        return;
    if (!r->parts) {
        move_blocks(s, at + from, 0, length, 1);
        return;
    }
    const run *part = find_part(r, from);
    from -= part->before;
    for (; length > 0; part++) {
        size_t left = coll_iov_size(part) - from;
        size_t now = left < length ? left : length;
        move_range(s, part, at, from, now);
        length -= now;
        from = 0;
    }
}

/* Copies data bytes [FROM, FROM + LENGTH) of R, whose enclosing item is at START. */
static void move_range(stream *s, const run *r, distance start, size_t from, size_t length) {
    distance at = start + r->at;
    if (from == 0 && length == coll_iov_size(r)) {
        move_items(s, r, at, r->count);
        return;
    }
    at += from / r->bytes * r->stride;
    size_t skip = from % r->bytes;
    if (skip > 0) {
        size_t left = r->bytes - skip;
        size_t now = left < length ? left : length;
        move_within(s, r, at, skip, now);
        length -= now;
        at += r->stride;
    }
    size_t whole = length / r->bytes;
    move_items(s, r, at, whole);
    move_within(s, r, at + whole * r->stride, 0, length % r->bytes);
}

void coll_iov_pack(const run *r, const void *buffer, size_t from, size_t length, void *packed) {
    stream s = {.packed = (distance)packed, .packing = true};
    if (length > 0)
        move_range(&s, r, (distance)buffer, from, length);
}

void coll_iov_unpack(const run *r, void *buffer, size_t from, size_t length, const void *packed) {
    stream s = {.packed = (distance)packed, .packing = false};
    if (length > 0)
        move_range(&s, r, (distance)buffer, from, length);
}

/*
 * A datatype becomes a tree of runs. A run is COUNT equal items, STRIDE bytes apart; an item is a
 * block of bytes or a list of runs in type-map order. Every MPI constructor is a repetition, a list
 * or both, so these two suffice; what turns out to be regular or contiguous is merged as the tree
 * is built, so that an array of doubles, however it was described, ends as one block.
 *
 * Distances are unsigned and wrap around: negative ones, and absolute addresses counted from
 * MPI_BOTTOM, then need no care. They become addresses only where bytes are copied.
 */
#include "config.h"

#include "lib/typemap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t distance;

typedef struct run {
    distance at;             /* of the first item, from where the enclosing item starts */
    distance stride;         /* from one item to the next */
    size_t count;            /* items; 0 only for a type without data */
    size_t bytes;            /* data bytes of one item */
    size_t before;           /* data bytes of the runs before this one in its list */
    const struct run *parts; /* the item's list of runs, or NULL where it is a block */
    size_t part_count;
} run;

/* Lists live as long as the map, which owns them through this chain; runs only point into it. */
typedef struct list {
    struct list *next;
    size_t length;
    run runs[];
} list;

struct coll_typemap {
    run element;
    MPI_Aint extent;
    list *lists;
};

static size_t run_size(const run *r) {
    return r->count * r->bytes;
}

/* --- Building runs -----------------------------------------------------------------------------
 */

/* COUNT copies of INNER, STRIDE apart. The result may refer to INNER, which must then outlive it.
 */
static run repeated(const run *inner, size_t count, distance stride) {
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
                      .bytes = run_size(inner),
                      .parts = inner,
                      .part_count = 1};
    }
    if (!outer.parts && outer.stride == outer.bytes) {
        outer.bytes *= outer.count;
        outer.count = 1;
    }
    return outer;
}

/* No object is larger than PTRDIFF_MAX, but a type can claim to be. */
static bool too_large(const run *item, size_t count) {
    return run_size(item) > 0 && count > (size_t)PTRDIFF_MAX / run_size(item);
}

static list *list_new(size_t capacity) {
    if (capacity > (SIZE_MAX - sizeof(list)) / sizeof(run))
        return NULL;
    list *l = malloc(sizeof *l + capacity * sizeof(run));
    if (l)
        l->length = 0;
    return l;
}

/* Extends LAST by NEXT where both together are one run. */
static bool merge(run *last, const run *next) {
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

static void list_append(list *l, run next) {
    if (next.count == 0)
        return;
    if (l->length > 0) {
        run *last = &l->runs[l->length - 1];
        if (merge(last, &next))
            return;
        next.before = last->before + run_size(last);
    } else {
        next.before = 0;
    }
    l->runs[l->length++] = next;
}

/* Gives L to MAP, cut to what it holds. */
static const run *list_keep(coll_typemap *map, list *l) {
    list *cut = realloc(l, sizeof *l + l->length * sizeof(run));
    if (cut)
        l = cut;
    l->next = map->lists;
    map->lists = l;
    return l->runs;
}

/* The run that stands for all of L, which is consumed. */
static run list_finish(coll_typemap *map, list *l) {
    if (l->length < 2) {
        run only = l->length ? l->runs[0] : (run){0};
        free(l);
        return only;
    }
    const run *last = &l->runs[l->length - 1];
    run all = {.count = 1, .bytes = last->before + run_size(last), .part_count = l->length};
    all.parts = list_keep(map, l);
    return all;
}

/* Copies ITEM into MAP if repeated() could refer to it, else into SPARE; NULL without memory. */
static const run *keep(coll_typemap *map, const run *item, run *spare) {
    if (item->count <= 1) {
        *spare = *item;
        return spare;
    }
    list *l = list_new(1);
    if (!l)
        return NULL;
    list_append(l, *item);
    return list_keep(map, l);
}

/* Makes SHAPE COUNT copies of itself, STRIDE apart. */
static int repeat(coll_typemap *map, run *shape, size_t count, distance stride) {
    if (too_large(shape, count))
        return MPI_ERR_TYPE;
    run spare;
    const run *item = keep(map, shape, &spare);
    if (!item)
        return MPI_ERR_NO_MEM;
    *shape = repeated(item, count, stride);
    return MPI_SUCCESS;
}

/* --- Decoding MPI's constructors ---------------------------------------------------------------
 */

/* What a type was made from: the arguments of its constructor, as MPI_Type_get_contents has them.
 */
typedef struct contents {
    int combiner;
    int integer_count, address_count, type_count;
    int *integers;
    MPI_Aint *addresses;
    MPI_Datatype *types;
} contents;

static bool predefined(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* MPI hands out new references to derived types only; predefined ones must not be freed. */
static int type_release(MPI_Datatype *type) {
    int integers, addresses, types, combiner;
    int error = PMPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
    if (error != MPI_SUCCESS || predefined(combiner))
        return error;
    return PMPI_Type_free(type);
}

static int contents_free(contents *c) {
    int error = MPI_SUCCESS;
    for (int i = 0; i < c->type_count; i++) {
        int failed = type_release(&c->types[i]);
        error = error == MPI_SUCCESS ? failed : error;
    }
    free(c->integers);
    free(c->addresses);
    free(c->types);
    return error;
}

/* Reads what TYPE, whose envelope is in C, was made from; contents_free undoes it. */
static int contents_read(MPI_Datatype type, contents *c) {
    c->integers = calloc((size_t)c->integer_count + 1, sizeof *c->integers);
    c->addresses = calloc((size_t)c->address_count + 1, sizeof *c->addresses);
    c->types = calloc((size_t)c->type_count + 1, sizeof(MPI_Datatype));
    int error = MPI_ERR_NO_MEM;
    if (c->integers && c->addresses && c->types)
        error = PMPI_Type_get_contents(type, c->integer_count, c->address_count, c->type_count,
                                       c->integers, c->addresses, c->types);
    if (error != MPI_SUCCESS) {
        c->type_count = 0;
        contents_free(c);
    }
    return error;
}

/* A type as one item, and the distance between several in a row. */
typedef struct base {
    run shape;
    distance extent;
} base;

static int decode(coll_typemap *map, MPI_Datatype type, run *shape);

static int decode_base(coll_typemap *map, MPI_Datatype type, base *b) {
    MPI_Aint lower, extent;
    int error = PMPI_Type_get_extent(type, &lower, &extent);
    if (error != MPI_SUCCESS)
        return error;
    b->extent = (distance)extent;
    return decode(map, type, &b->shape);
}

/*
 * A predefined type is one block, but for those of MPI_MINLOC: a value, perhaps a gap, and an int
 * that ends the type.
 */
static int decode_predefined(coll_typemap *map, MPI_Datatype type, run *shape) {
    MPI_Aint lower, extent;
    int size;
    int error = PMPI_Type_get_true_extent(type, &lower, &extent);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_size(type, &size);
    if (error != MPI_SUCCESS)
        return error;
    if (size < 0 || size > extent || (size < extent && (size_t)size <= sizeof(int)))
        return MPI_ERR_TYPE;

    list *l = list_new(2);
    if (!l)
        return MPI_ERR_NO_MEM;
    if (size > 0) {
        size_t last = size == extent ? 0 : sizeof(int);
        distance at = (distance)lower, end = at + (distance)extent;
        list_append(l, (run){.at = at, .count = 1, .bytes = (size_t)size - last});
        if (last > 0)
            list_append(l, (run){.at = end - last, .count = 1, .bytes = last});
    }
    *shape = list_finish(map, l);
    return MPI_SUCCESS;
}

/* COUNT blocks, STRIDE bytes apart, of LENGTH elements each. */
static int decode_vector(coll_typemap *map, int count, int length, distance stride, base *b) {
    int error = repeat(map, &b->shape, (size_t)length, b->extent);
    return error == MPI_SUCCESS ? repeat(map, &b->shape, (size_t)count, stride) : error;
}

/* A block of an indexed type or of a struct: so many elements at a distance. */
typedef struct block {
    size_t length;
    distance at;
} block;

static block nth_block(const contents *c, distance extent, int i) {
    const int *integers = c->integers;
    int n = integers[0];
    switch (c->combiner) {
    case MPI_COMBINER_INDEXED:
        return (block){(size_t)integers[1 + i], (distance)integers[1 + n + i] * extent};
    case MPI_COMBINER_INDEXED_BLOCK:
        return (block){(size_t)integers[1], (distance)integers[2 + i] * extent};
    case MPI_COMBINER_HINDEXED_BLOCK:
        return (block){(size_t)integers[1], (distance)c->addresses[i]};
    default: /* MPI_COMBINER_HINDEXED and MPI_COMBINER_STRUCT keep them alike */
        return (block){(size_t)integers[1 + i], (distance)c->addresses[i]};
    }
}

/* The indexed types and structs. Equal neighbours among a struct's types are decoded once. */
static int decode_list(coll_typemap *map, const contents *c, run *shape) {
    int n = c->integers[0];
    list *l = list_new((size_t)n);
    if (!l)
        return MPI_ERR_NO_MEM;

    base b = {.extent = 0};
    run spare;
    const run *item = NULL;
    MPI_Datatype decoded = MPI_DATATYPE_NULL;
    size_t total = 0;
    int error = MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        MPI_Datatype type = c->types[c->combiner == MPI_COMBINER_STRUCT ? i : 0];
        if (type != decoded) {
            error = decode_base(map, type, &b);
            if (error != MPI_SUCCESS)
                goto free_list;
            item = keep(map, &b.shape, &spare);
            error = item ? MPI_SUCCESS : MPI_ERR_NO_MEM;
            if (error != MPI_SUCCESS)
                goto free_list;
            decoded = type;
        }
        block here = nth_block(c, b.extent, i);
        error = too_large(item, here.length) ? MPI_ERR_TYPE : MPI_SUCCESS;
        if (error != MPI_SUCCESS)
            goto free_list;
        run next = repeated(item, here.length, b.extent);
        next.at += here.at;
        error = run_size(&next) > (size_t)PTRDIFF_MAX - total ? MPI_ERR_TYPE : MPI_SUCCESS;
        if (error != MPI_SUCCESS)
            goto free_list;
        total += run_size(&next);
        list_append(l, next);
    }
    *shape = list_finish(map, l);
    return MPI_SUCCESS;

free_list:
    free(l);
    return error;
}

/* The dimension of an array that varies as the Ith fastest. */
static int nth_fastest(int order, int dimensions, int i) {
    return order == MPI_ORDER_C ? dimensions - 1 - i : i;
}

static int decode_subarray(coll_typemap *map, const contents *c, base *b) {
    int dimensions = c->integers[0];
    const int *sizes = c->integers + 1, *subsizes = sizes + dimensions;
    const int *starts = subsizes + dimensions;
    int order = starts[dimensions];

    distance stride = b->extent;
    for (int i = 0; i < dimensions; i++) {
        int d = nth_fastest(order, dimensions, i);
        int error = repeat(map, &b->shape, (size_t)subsizes[d], stride);
        if (error != MPI_SUCCESS)
            return error;
        b->shape.at += (distance)starts[d] * stride;
        stride *= (distance)sizes[d];
    }
    return MPI_SUCCESS;
}

/* How one dimension of a distributed array is dealt out: blocks in turn to each of the processes.
 */
typedef struct deal {
    size_t size;    /* indices in all */
    size_t block;   /* consecutive indices dealt at once */
    size_t sharers; /* processes along this dimension */
    size_t place;   /* ours among them */
} deal;

static size_t dealt_block(int distribution, int argument, size_t size, size_t sharers) {
    if (distribution == MPI_DISTRIBUTE_NONE)
        return size;
    if (argument != MPI_DISTRIBUTE_DFLT_DARG)
        return (size_t)argument;
    return distribution == MPI_DISTRIBUTE_BLOCK ? (size + sharers - 1) / sharers : 1;
}

/* Makes SHAPE our share of one dimension: whole blocks at regular distances, then the rest of one.
 */
static int decode_deal(coll_typemap *map, const deal *d, distance stride, run *shape) {
    size_t first = d->place * d->block, cycle = d->sharers * d->block;
    size_t whole = first + d->block <= d->size ? (d->size - first - d->block) / cycle + 1 : 0;
    size_t next = first + whole * cycle;
    run rest = *shape;

    int error = repeat(map, shape, d->block, stride);
    if (error == MPI_SUCCESS)
        error = repeat(map, shape, whole, cycle * stride);
    if (error == MPI_SUCCESS)
        error = repeat(map, &rest, next < d->size ? d->size - next : 0, stride);
    list *l = error == MPI_SUCCESS ? list_new(2) : NULL;
    if (!l)
        return error == MPI_SUCCESS ? MPI_ERR_NO_MEM : error;

    shape->at += first * stride;
    rest.at += next * stride;
    list_append(l, *shape);
    list_append(l, rest);
    *shape = list_finish(map, l);
    return MPI_SUCCESS;
}

static int decode_darray(coll_typemap *map, const contents *c, base *b) {
    size_t processes = (size_t)c->integers[0], rank = (size_t)c->integers[1];
    int dimensions = c->integers[2];
    const int *sizes = c->integers + 3, *distributions = sizes + dimensions;
    const int *arguments = distributions + dimensions, *sharers = arguments + dimensions;
    int order = sharers[dimensions];

    deal *deals = calloc((size_t)dimensions, sizeof *deals);
    if (!deals)
        return MPI_ERR_NO_MEM;
    /* Ranks are laid over the grid of processes in C order, whatever that of the array. */
    for (int d = 0; d < dimensions; d++) {
        deal *here = &deals[d];
        here->size = (size_t)sizes[d];
        here->sharers = (size_t)sharers[d];
        here->block = dealt_block(distributions[d], arguments[d], here->size, here->sharers);
        processes /= here->sharers;
        here->place = rank / processes;
        rank %= processes;
    }

    int error = MPI_SUCCESS;
    distance stride = b->extent;
    for (int i = 0; i < dimensions && error == MPI_SUCCESS; i++) {
        const deal *here = &deals[nth_fastest(order, dimensions, i)];
        error = decode_deal(map, here, stride, &b->shape);
        stride *= here->size;
    }
    free(deals);
    return error;
}

/* The constructors that have one element type; SHAPE is theirs afterwards. */
static int decode_single(coll_typemap *map, const contents *c, run *shape) {
    base b;
    int error = decode_base(map, c->types[0], &b);
    if (error != MPI_SUCCESS)
        return error;

    const int *integers = c->integers;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        break;
    case MPI_COMBINER_CONTIGUOUS:
        error = repeat(map, &b.shape, (size_t)integers[0], b.extent);
        break;
    case MPI_COMBINER_VECTOR:
        error = decode_vector(map, integers[0], integers[1], (distance)integers[2] * b.extent, &b);
        break;
    case MPI_COMBINER_HVECTOR:
        error = decode_vector(map, integers[0], integers[1], (distance)c->addresses[0], &b);
        break;
    case MPI_COMBINER_SUBARRAY:
        error = decode_subarray(map, c, &b);
        break;
    case MPI_COMBINER_DARRAY:
        error = decode_darray(map, c, &b);
        break;
    default:
        error = MPI_ERR_TYPE;
    }
    *shape = b.shape;
    return error;
}

static int decode_contents(coll_typemap *map, const contents *c, run *shape) {
    switch (c->combiner) {
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return decode_list(map, c, shape);
    default:
        return c->type_count == 1 ? decode_single(map, c, shape) : MPI_ERR_TYPE;
    }
}

static int decode(coll_typemap *map, MPI_Datatype type, run *shape) {
    contents c = {0};
    int error = PMPI_Type_get_envelope(type, &c.integer_count, &c.address_count, &c.type_count,
                                       &c.combiner);
    if (error != MPI_SUCCESS)
        return error;
    if (predefined(c.combiner))
        return decode_predefined(map, type, shape);

    error = contents_read(type, &c);
    if (error != MPI_SUCCESS)
        return error;
    error = decode_contents(map, &c, shape);
    int failed = contents_free(&c);
    return error == MPI_SUCCESS ? failed : error;
}

int coll_typemap_create(MPI_Datatype type, coll_typemap **map) {
    if (type == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
    coll_typemap *made = calloc(1, sizeof *made);
    if (!made)
        return MPI_ERR_NO_MEM;

    base element;
    int error = decode_base(made, type, &element);
    if (error != MPI_SUCCESS) {
        coll_typemap_free(&made);
        return error;
    }
    made->element = element.shape;
    made->extent = (MPI_Aint)element.extent;
    *map = made;
    return MPI_SUCCESS;
}

void coll_typemap_free(coll_typemap **map) {
    if (!*map)
        return;
    for (list *l = (*map)->lists; l;) {
        list *next = l->next;
        free(l);
        l = next;
    }
    free(*map);
    *map = NULL;
}

/* --- What the map tells ------------------------------------------------------------------------
 */

MPI_Count coll_typemap_size(const coll_typemap *map) {
    return (MPI_Count)run_size(&map->element);
}

MPI_Aint coll_typemap_extent(const coll_typemap *map) {
    return map->extent;
}

static run elements(const coll_typemap *map, MPI_Count count) {
    return repeated(&map->element, (size_t)count, (distance)map->extent);
}

bool coll_typemap_contiguous(const coll_typemap *map, MPI_Count count, MPI_Aint *offset) {
    run all = elements(map, count);
    if (all.count > 1 || all.parts)
        return false;
    *offset = (MPI_Aint)all.at;
    return true;
}

/* --- Moving bytes ------------------------------------------------------------------------------
 */

/* The contiguous side of a copy: where its next byte goes or comes from. */
typedef struct stream {
    distance packed;
    bool packing;
} stream;

/* Copies COUNT blocks of BYTES, which are TO_STRIDE and FROM_STRIDE apart. */
static inline void copy_blocks(distance to, distance to_stride, distance from, distance from_stride,
                               size_t bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        memcpy((char *)(to + i * to_stride), (const char *)(from + i * from_stride), bytes);
}

/* copy_blocks, compiled once more for every common small size, where calling memcpy would cost. */
static void copy(distance to, distance to_stride, distance from, distance from_stride, size_t bytes,
                 size_t count) {
    switch (bytes) {
    case 1:
        copy_blocks(to, to_stride, from, from_stride, 1, count);
        break;
    case 2:
        copy_blocks(to, to_stride, from, from_stride, 2, count);
        break;
    case 4:
        copy_blocks(to, to_stride, from, from_stride, 4, count);
        break;
    case 8:
        copy_blocks(to, to_stride, from, from_stride, 8, count);
        break;
    case 12:
        copy_blocks(to, to_stride, from, from_stride, 12, count);
        break;
    case 16:
        copy_blocks(to, to_stride, from, from_stride, 16, count);
        break;
    case 24:
        copy_blocks(to, to_stride, from, from_stride, 24, count);
        break;
    default:
        copy_blocks(to, to_stride, from, from_stride, bytes, count);
    }
}

static void move_blocks(stream *s, distance at, distance stride, size_t bytes, size_t count) {
    if (s->packing)
        copy(s->packed, bytes, at, stride, bytes, count);
    else
        copy(at, stride, s->packed, bytes, bytes, count);
    s->packed += bytes * count;
}

/* Moves COUNT whole items of R, the first of which is at AT. */
static void move_items(stream *s, const run *r, distance at, size_t count) {
    if (!r->parts) {
        move_blocks(s, at, r->stride, r->bytes, count);
        return;
    }
    for (size_t i = 0; i < count; i++, at += r->stride)
        for (size_t p = 0; p < r->part_count; p++)
            move_items(s, &r->parts[p], at + r->parts[p].at, r->parts[p].count);
}

/* The part of R's item that holds data byte FROM. */
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

/* Moves data bytes [FROM, FROM + LENGTH) of the one item of R that is at AT. */
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
        size_t left = run_size(part) - from;
        size_t now = left < length ? left : length;
        move_range(s, part, at, from, now);
        length -= now;
        from = 0;
    }
}

/* Moves data bytes [FROM, FROM + LENGTH) of R, whose enclosing item is at START. */
static void move_range(stream *s, const run *r, distance start, size_t from, size_t length) {
    distance at = start + r->at;
    if (from == 0 && length == run_size(r)) {
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

void coll_typemap_pack(const coll_typemap *map, const void *buffer, MPI_Count count, size_t from,
                       size_t length, void *packed) {
    if (length == 0)
        return;
    run all = elements(map, count);
    stream s = {.packed = (distance)packed, .packing = true};
    move_range(&s, &all, (distance)buffer, from, length);
}

void coll_typemap_unpack(const coll_typemap *map, void *buffer, MPI_Count count, size_t from,
                         size_t length, const void *packed) {
    if (length == 0)
        return;
    run all = elements(map, count);
    stream s = {.packed = (distance)packed, .packing = false};
    move_range(&s, &all, (distance)buffer, from, length);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts a datatype to runs (lib/base/iov_tree.h): every MPI constructor is a repetition, a list
 * or both.
 */
#include "config.h"

#include "lib/base/typemap.h"

#include "lib/base/envelope.h"
#include "lib/base/iov_tree.h"
#include "lib/base/reserve_alloc.h"

#include <stdint.h>

typedef coll_distance distance;
typedef coll_iov run;
typedef coll_iov_list list;

struct coll_typemap {
    run element;
    MPI_Aint extent;
    list *lists; /* the lists that ELEMENT points to */
};

/* Replaces SHAPE by COUNT copies of itself, STRIDE bytes apart. */
static int repeat_shape(coll_typemap *map, run *shape, size_t count, distance stride) {
    if (coll_iov_too_large(shape, count))
        return MPI_ERR_TYPE;
    run spare;
    const run *item = coll_iov_keep(&map->lists, shape, &spare);
    if (!item)
        return MPI_ERR_NO_MEM;
    *shape = coll_iov_repeated(item, count, stride);
    return MPI_SUCCESS;
}

/* How a type was constructed: its constructor and the constructor's arguments. */
typedef struct contents {
    coll_envelope count; /* of each kind */
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *large_counts;
    MPI_Datatype *types;
} contents;

static bool is_predefined(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/*
 * Frees a type returned by MPI_Type_get_contents, which creates new references only to derived
 * types; predefined ones must not be freed.
 */
static int type_release(MPI_Datatype *type) {
    coll_envelope envelope;
    int error = coll_envelope_get(*type, &envelope);
    if (error != MPI_SUCCESS || is_predefined(envelope.combiner))
        return error;
    return PMPI_Type_free(type);
}

static int contents_free(contents *c) {
    int error = MPI_SUCCESS;
    for (MPI_Count i = 0; i < c->count.types; i++) {
        int failed = type_release(&c->types[i]);
        error = error == MPI_SUCCESS ? failed : error;
    }
    coll_reserve_free(c->integers);
    coll_reserve_free(c->addresses);
    coll_reserve_free(c->large_counts);
    coll_reserve_free(c->types);
    return error;
}

static int contents_query(MPI_Datatype type, contents *c) {
#ifdef HAVE_MPI_ALLREDUCE_C
    return PMPI_Type_get_contents_c(type, c->count.integers, c->count.addresses,
                                    c->count.large_counts, c->count.types, c->integers,
                                    c->addresses, c->large_counts, c->types);
#else
    return PMPI_Type_get_contents(type, (int)c->count.integers, (int)c->count.addresses,
                                  (int)c->count.types, c->integers, c->addresses, c->types);
#endif
}

static void *allocate_list(MPI_Count count, size_t size) {
    return coll_reserve_calloc((size_t)count + 1, size);
}

/* Reads the arguments of TYPE's constructor; C->count says how many there are. Free them with
 * contents_free. */
static int contents_read(MPI_Datatype type, contents *c) {
    c->integers = allocate_list(c->count.integers, sizeof *c->integers);
    c->addresses = allocate_list(c->count.addresses, sizeof *c->addresses);
    c->large_counts = allocate_list(c->count.large_counts, sizeof *c->large_counts);
    c->types = allocate_list(c->count.types, sizeof(MPI_Datatype));
    int error = MPI_ERR_NO_MEM;
    if (c->integers && c->addresses && c->large_counts && c->types)
        error = contents_query(type, c);
    if (error != MPI_SUCCESS) {
        c->count.types = 0;
        contents_free(c);
    }
    return error;
}

/*
 * Returns the Ith of a constructor's numbers: its integers, then its addresses. A constructor with
 * large counts has its counts and distances in a third array. The numbers of this array come first,
 * except in a subarray or darray, where the integers before the sizes come first.
 */
static MPI_Count number(const contents *c, MPI_Count i) {
    const int combiner = c->count.combiner;
    const MPI_Count before = combiner == MPI_COMBINER_SUBARRAY ? 1
                             : combiner == MPI_COMBINER_DARRAY ? 3
                                                               : 0;
    if (i < before)
        return c->integers[i];
    if (i < before + c->count.large_counts)
        return c->large_counts[i - before];
    i -= c->count.large_counts;
    return i < c->count.integers ? c->integers[i] : c->addresses[i - c->count.integers];
}

/*
 * Open MPI 6.0.0rc2 returns its own constants from MPI_Type_get_contents even with the MPI ABI,
 * which has other constants.
 */
#ifdef COLL_MPI_ABI
enum { ORDER_C = 0, DISTRIBUTE_BLOCK = 0, DISTRIBUTE_NONE = 2, DISTRIBUTE_DFLT_DARG = -1 };
#else
enum {
    ORDER_C = MPI_ORDER_C,
    DISTRIBUTE_BLOCK = MPI_DISTRIBUTE_BLOCK,
    DISTRIBUTE_NONE = MPI_DISTRIBUTE_NONE,
    DISTRIBUTE_DFLT_DARG = MPI_DISTRIBUTE_DFLT_DARG
};
#endif

/* A type's shape, and the distance between consecutive elements. */
typedef struct base {
    run shape;
    distance extent;
} base;

static int decode_type(coll_typemap *map, MPI_Datatype type, run *shape);

static int decode_base(coll_typemap *map, MPI_Datatype type, base *b) {
    MPI_Aint lower, extent;
    int error = PMPI_Type_get_extent(type, &lower, &extent);
    if (error != MPI_SUCCESS)
        return error;
    b->extent = (distance)extent;
    return decode_type(map, type, &b->shape);
}

/*
 * Decodes a predefined type. It is one block, except for the types of MPI_MINLOC: a value, perhaps
 * a gap, and an int at the end.
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

    *shape = (run){.at = (distance)lower, .count = size > 0, .bytes = (size_t)size};
    if (size == extent)
        return MPI_SUCCESS;

    list *l = coll_iov_list_new(2);
    if (!l)
        return MPI_ERR_NO_MEM;
    run index = {.at = (distance)(lower + extent) - sizeof(int), .count = 1, .bytes = sizeof(int)};
    shape->bytes -= sizeof(int);
    coll_iov_list_append(l, *shape);
    coll_iov_list_append(l, index);
    *shape = coll_iov_list_finish(&map->lists, l);
    return MPI_SUCCESS;
}

/* Decodes COUNT blocks of LENGTH elements each, STRIDE bytes apart. */
static int decode_vector(coll_typemap *map, MPI_Count count, MPI_Count length, distance stride,
                         base *b) {
    int error = repeat_shape(map, &b->shape, (size_t)length, b->extent);
    return error == MPI_SUCCESS ? repeat_shape(map, &b->shape, (size_t)count, stride) : error;
}

/* A block of an indexed type or a struct: LENGTH elements at distance AT. */
typedef struct block {
    size_t length;
    distance at;
} block;

static block nth_block(const contents *c, distance extent, MPI_Count i) {
    const int combiner = c->count.combiner;
    const bool equal =
        combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const bool in_bytes =
        combiner != MPI_COMBINER_INDEXED && combiner != MPI_COMBINER_INDEXED_BLOCK;
    const MPI_Count lengths = equal ? 1 : number(c, 0);
    return (block){(size_t)number(c, equal ? 1 : 1 + i),
                   (distance)number(c, 1 + lengths + i) * (in_bytes ? 1 : extent)};
}

/* Appends the blocks of C to L. Decodes equal consecutive types of a struct only once. */
static int append_blocks(coll_typemap *map, const contents *c, list *l) {
    base b = {.extent = 0};
    run spare;
    const run *item = NULL;
    size_t total = 0;
    const MPI_Count blocks = number(c, 0);
    for (MPI_Count i = 0; i < blocks; i++) {
        bool is_struct = c->count.combiner == MPI_COMBINER_STRUCT;
        if (i == 0 || (is_struct && c->types[i] != c->types[i - 1])) {
            int error = decode_base(map, c->types[i], &b);
            if (error != MPI_SUCCESS)
                return error;
            item = coll_iov_keep(&map->lists, &b.shape, &spare);
            if (!item)
                return MPI_ERR_NO_MEM;
        }
        block here = nth_block(c, b.extent, i);
        if (coll_iov_too_large(item, here.length))
            return MPI_ERR_TYPE;
        run next = coll_iov_repeated(item, here.length, b.extent);
        if (coll_iov_size(&next) > (size_t)PTRDIFF_MAX - total)
            return MPI_ERR_TYPE;
        next.at += here.at;
        total += coll_iov_size(&next);
        coll_iov_list_append(l, next);
    }
    return MPI_SUCCESS;
}

/* Decodes an indexed type or a struct. */
static int decode_list(coll_typemap *map, const contents *c, run *shape) {
    list *l = coll_iov_list_new((size_t)number(c, 0));
    if (!l)
        return MPI_ERR_NO_MEM;
    int error = append_blocks(map, c, l);
    if (error != MPI_SUCCESS) {
        coll_reserve_free(l);
        return error;
    }
    *shape = coll_iov_list_finish(&map->lists, l);
    return MPI_SUCCESS;
}

/* Returns the dimension of an array that varies Ith fastest. */
static int nth_fastest(int order, int dimensions, int i) {
    return order == MPI_ORDER_C || order == ORDER_C ? dimensions - 1 - i : i;
}

static int decode_subarray(coll_typemap *map, const contents *c, base *b) {
    const int dimensions = (int)number(c, 0), sizes = 1, subsizes = sizes + dimensions,
              starts = subsizes + dimensions, order = (int)number(c, starts + dimensions);

    distance stride = b->extent;
    for (int i = 0; i < dimensions; i++) {
        int d = nth_fastest(order, dimensions, i);
        int error = repeat_shape(map, &b->shape, (size_t)number(c, subsizes + d), stride);
        if (error != MPI_SUCCESS)
            return error;
        b->shape.at += (distance)number(c, starts + d) * stride;
        stride *= (distance)number(c, sizes + d);
    }
    return MPI_SUCCESS;
}

/*
 * The distribution of one dimension of a distributed array: blocks are dealt to the processes in
 * turn.
 */
typedef struct deal {
    size_t size;    /* number of indices */
    size_t block;   /* consecutive indices in a block */
    size_t sharers; /* processes along this dimension */
    size_t place;   /* this process's position among them */
} deal;

static size_t dealt_block(int distribution, int argument, size_t size, size_t sharers) {
    if (distribution == MPI_DISTRIBUTE_NONE || distribution == DISTRIBUTE_NONE)
        return size;
    if (argument != MPI_DISTRIBUTE_DFLT_DARG && argument != DISTRIBUTE_DFLT_DARG)
        return (size_t)argument;
    return distribution == MPI_DISTRIBUTE_BLOCK || distribution == DISTRIBUTE_BLOCK
               ? (size + sharers - 1) / sharers
               : 1;
}

/*
 * Replaces SHAPE by this process's share of a dimension: whole blocks at regular distances, then
 * possibly part of a block.
 */
static int decode_deal(coll_typemap *map, const deal *d, distance stride, run *shape) {
    size_t first = d->place * d->block, cycle = d->sharers * d->block;
    size_t whole = first + d->block <= d->size ? (d->size - first - d->block) / cycle + 1 : 0;
    size_t next = first + whole * cycle;
    run rest = *shape;

    int error = repeat_shape(map, shape, d->block, stride);
    if (error == MPI_SUCCESS)
        error = repeat_shape(map, shape, whole, cycle * stride);
    if (error == MPI_SUCCESS)
        error = repeat_shape(map, &rest, next < d->size ? d->size - next : 0, stride);
    list *l = error == MPI_SUCCESS ? coll_iov_list_new(2) : NULL;
    if (!l)
        return error == MPI_SUCCESS ? MPI_ERR_NO_MEM : error;

    shape->at += first * stride;
    rest.at += next * stride;
    coll_iov_list_append(l, *shape);
    coll_iov_list_append(l, rest);
    *shape = coll_iov_list_finish(&map->lists, l);
    return MPI_SUCCESS;
}

static int decode_darray(coll_typemap *map, const contents *c, base *b) {
    size_t processes = (size_t)number(c, 0), rank = (size_t)number(c, 1);
    const int dimensions = (int)number(c, 2), sizes = 3, distributions = sizes + dimensions,
              arguments = distributions + dimensions, sharers = arguments + dimensions,
              order = (int)number(c, sharers + dimensions);

    deal *deals = coll_reserve_calloc((size_t)dimensions, sizeof *deals);
    if (!deals)
        return MPI_ERR_NO_MEM;
    /* The process grid is in C order, whatever the order of the array. */
    for (int d = 0; d < dimensions; d++) {
        deal *here = &deals[d];
        here->size = (size_t)number(c, sizes + d);
        here->sharers = (size_t)number(c, sharers + d);
        here->block = dealt_block((int)number(c, distributions + d), (int)number(c, arguments + d),
                                  here->size, here->sharers);
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
    coll_reserve_free(deals);
    return error;
}

/* Decodes a type constructed from one element type. */
static int decode_single(coll_typemap *map, const contents *c, run *shape) {
    base b;
    int error = decode_base(map, c->types[0], &b);
    if (error != MPI_SUCCESS)
        return error;

    switch (c->count.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        break;
    case MPI_COMBINER_CONTIGUOUS:
        error = repeat_shape(map, &b.shape, (size_t)number(c, 0), b.extent);
        break;
    case MPI_COMBINER_VECTOR:
        error =
            decode_vector(map, number(c, 0), number(c, 1), (distance)number(c, 2) * b.extent, &b);
        break;
    case MPI_COMBINER_HVECTOR:
        error = decode_vector(map, number(c, 0), number(c, 1), (distance)number(c, 2), &b);
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
    switch (c->count.combiner) {
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return decode_list(map, c, shape);
    default:
        return c->count.types == 1 ? decode_single(map, c, shape) : MPI_ERR_TYPE;
    }
}

static int decode_type(coll_typemap *map, MPI_Datatype type, run *shape) {
    contents c = {0};
    int error = coll_envelope_get(type, &c.count);
    if (error != MPI_SUCCESS)
        return error;
    if (is_predefined(c.count.combiner))
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
    coll_typemap *made = coll_reserve_calloc(1, sizeof *made);
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
    coll_iov_lists_free(&(*map)->lists);
    coll_reserve_free(*map);
    *map = NULL;
}

MPI_Count coll_typemap_size(const coll_typemap *map) {
    return (MPI_Count)coll_iov_size(&map->element);
}

static run all_elements(const coll_typemap *map, MPI_Count count) {
    return coll_iov_repeated(&map->element, (size_t)count, (distance)map->extent);
}

bool coll_typemap_contiguous(const coll_typemap *map, MPI_Count count, MPI_Aint *offset) {
    run all = all_elements(map, count);
    if (all.count > 1 || all.parts)
        return false;
    *offset = (MPI_Aint)all.at;
    return true;
}

void coll_typemap_pack(const coll_typemap *map, const void *buffer, MPI_Count count, size_t from,
                       size_t length, void *packed) {
    run all = all_elements(map, count);
    coll_iov_pack(&all, buffer, from, length, packed);
}

void coll_typemap_unpack(const coll_typemap *map, void *buffer, MPI_Count count, size_t from,
                         size_t length, const void *packed) {
    run all = all_elements(map, count);
    coll_iov_unpack(&all, buffer, from, length, packed);
}

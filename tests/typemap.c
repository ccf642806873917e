/*
 * lib/typemap against MPI_Pack and MPI_Unpack: every predefined type, every constructor, thousands
 * of random nests of them; and what those two cannot do, by hand-written expectations.
 */
#include "config.h"

#include "lib/typemap.h"
#include "tests/harness.h"

#ifdef HAVE_MALLINFO2
#include <malloc.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Random numbers, the same everywhere --- */

typedef struct dice {
    uint64_t state;
} dice;

/* splitmix64 */
static uint64_t roll(dice *d) {
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* LOW to HIGH, both possible. */
static int between(dice *d, int low, int high) {
    return low + (int)(roll(d) % (uint64_t)(high - low + 1));
}

/* --- One type against MPI_Pack --- */

enum { MOST_BYTES = 1 << 20, POISON = 0xa5 };

/* The memory that COUNT elements of a type touch, and no byte more: sanitizers guard its ends. */
typedef struct area {
    MPI_Aint lower; /* of the memory, from the buffer argument */
    size_t span;
    int size; /* data bytes */
} area;

/* False when the area is too large to test. */
static bool area_of(MPI_Datatype type, int count, area *a) {
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Count size;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Type_size_x(type, &size);
    *a = (area){0};
    if (count == 0 || size == 0)
        return true;
    MPI_Aint last = (count - 1) * extent;
    a->lower = true_lower + (last < 0 ? last : 0);
    a->span = (size_t)(true_extent + (last < 0 ? -last : last));
    if (a->span > MOST_BYTES || size > MOST_BYTES / count)
        return false;
    a->size = (int)size * count;
    return true;
}

/* Memory of exactly SIZE bytes. */
static unsigned char *memory(size_t size) {
    unsigned char *bytes = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(bytes);
    return bytes;
}

/* The buffer argument for an area whose memory is at BYTES. */
static void *buffer_for(const area *a, unsigned char *bytes) {
    return (void *)((uintptr_t)bytes - (uintptr_t)a->lower);
}

static void mpi_pack(const area *a, unsigned char *bytes, int count, MPI_Datatype type,
                     unsigned char *packed) {
    int position = 0;
    if (a->size > 0)
        MPI_Pack(buffer_for(a, bytes), count, type, packed, a->size, &position, MPI_COMM_SELF);
    ck_assert_int_eq(position, a->size);
}

/* Packs at PLACES, for every packed byte, its distance from the area's lower end. */
static void find_places(const area *a, int count, MPI_Datatype type, uint32_t *places) {
    unsigned char *bytes = memory(a->span), *packed = memory((size_t)a->size);
    memset(places, 0, (size_t)a->size * sizeof *places);
    for (int shift = 0; shift < 24; shift += 8) {
        for (size_t i = 0; i < a->span; i++)
            bytes[i] = (unsigned char)(i >> shift);
        mpi_pack(a, bytes, count, type, packed);
        for (int i = 0; i < a->size; i++)
            places[i] |= (uint32_t)packed[i] << shift;
    }
    free(packed);
    free(bytes);
}

static bool one_run(const uint32_t *places, int size) {
    for (int i = 1; i < size; i++)
        if (places[i] != places[i - 1] + 1)
            return false;
    return true;
}

/* The next of consecutive random ranges: small, large or everything that is left. */
static size_t next_length(dice *d, size_t left) {
    static const int most[] = {1, 20, 300, 5000, MOST_BYTES};
    size_t length = (size_t)between(d, 0, most[between(d, 0, 4)]);
    return length < left ? length : left;
}

static void pack_in_ranges(dice *d, const coll_typemap *map, const void *buffer, int count,
                           size_t size, unsigned char *packed) {
    for (size_t from = 0, length; from < size; from += length) {
        length = next_length(d, size - from);
        unsigned char *exact = memory(length);
        coll_typemap_pack(map, buffer, count, from, length, exact);
        memcpy(packed + from, exact, length);
        free(exact);
    }
}

static void unpack_in_ranges(dice *d, const coll_typemap *map, void *buffer, int count, size_t size,
                             const unsigned char *packed) {
    for (size_t from = 0, length; from < size; from += length) {
        length = next_length(d, size - from);
        unsigned char *exact = memory(length);
        memcpy(exact, packed + from, length);
        coll_typemap_unpack(map, buffer, count, from, length, exact);
        free(exact);
    }
}

static void check_contiguous(const coll_typemap *map, const area *a, int count,
                             const uint32_t *places, const char *what) {
    MPI_Aint offset = 12345;
    bool contiguous = coll_typemap_contiguous(map, count, &offset);
    ck_assert_msg(contiguous == one_run(places, a->size), "%s: contiguous says %d", what,
                  contiguous);
    MPI_Aint expected = !contiguous ? 12345 : a->size ? a->lower + (MPI_Aint)places[0] : 0;
    ck_assert_msg(offset == expected, "%s: offset is %ld, not %ld", what, (long)offset,
                  (long)expected);
}

/* Takes TYPE, frees it, and checks everything about COUNT elements of it. */
static void check_type(dice *d, MPI_Datatype *type, bool predefined, int count, const char *what) {
    area a;
    if (!predefined)
        MPI_Type_commit(type);
    ck_assert_msg(area_of(*type, count, &a), "%s: too large to test", what);
    size_t size = (size_t)a.size;
    unsigned char *source = memory(a.span), *theirs = memory(a.span), *ours = memory(a.span);
    unsigned char *packed = memory(size), *mine = memory(size);
    uint32_t *places = (uint32_t *)memory(size * sizeof *places);

    for (size_t i = 0; i < a.span; i++)
        source[i] = (unsigned char)roll(d);
    memset(theirs, POISON, a.span);
    memset(ours, POISON, a.span);
    mpi_pack(&a, source, count, *type, packed);
    int position = 0;
    if (size > 0)
        MPI_Unpack(packed, a.size, &position, buffer_for(&a, theirs), count, *type, MPI_COMM_SELF);
    find_places(&a, count, *type, places);

    MPI_Count element;
    MPI_Aint lower, extent;
    MPI_Type_size_x(*type, &element);
    MPI_Type_get_extent(*type, &lower, &extent);
    coll_typemap *map = NULL;
    ck_assert_msg(coll_typemap_create(*type, &map) == MPI_SUCCESS, "%s: no map", what);
    if (!predefined)
        MPI_Type_free(type);
    ck_assert_msg(coll_typemap_size(map) == element, "%s: size %lld, not %lld", what,
                  (long long)coll_typemap_size(map), (long long)element);
    ck_assert_msg(coll_typemap_extent(map) == extent, "%s: extent", what);
    check_contiguous(map, &a, count, places, what);

    coll_typemap_pack(map, buffer_for(&a, source), count, 0, size, mine);
    ck_assert_msg(memcmp(mine, packed, size) == 0, "%s: packs otherwise than MPI_Pack", what);
    memset(mine, POISON, size);
    pack_in_ranges(d, map, buffer_for(&a, source), count, size, mine);
    ck_assert_msg(memcmp(mine, packed, size) == 0, "%s: packs ranges otherwise", what);

    coll_typemap_unpack(map, buffer_for(&a, ours), count, 0, size, packed);
    ck_assert_msg(memcmp(ours, theirs, a.span) == 0, "%s: unpacks otherwise", what);
    memset(ours, POISON, a.span);
    unpack_in_ranges(d, map, buffer_for(&a, ours), count, size, packed);
    ck_assert_msg(memcmp(ours, theirs, a.span) == 0, "%s: unpacks ranges otherwise", what);

    coll_typemap_free(&map);
    ck_assert_ptr_null(map);
    free(places);
    free(mine);
    free(packed);
    free(ours);
    free(theirs);
    free(source);
}

/* --- Predefined types --- */

static void check_predefined(MPI_Datatype type) {
    char name[MPI_MAX_OBJECT_NAME] = "a predefined type that does not exist here";
    int length;
    if (type == MPI_DATATYPE_NULL)
        return;
    MPI_Type_get_name(type, name, &length);
    dice d = {1};
    for (int count = 0; count <= 3; count++)
        check_type(&d, &type, true, count, name);
}

START_TEST(predefined_types) {
    const MPI_Datatype types[] = {
        MPI_CHAR,
        MPI_SIGNED_CHAR,
        MPI_UNSIGNED_CHAR,
        MPI_BYTE,
        MPI_WCHAR,
        MPI_SHORT,
        MPI_UNSIGNED_SHORT,
        MPI_INT,
        MPI_UNSIGNED,
        MPI_LONG,
        MPI_UNSIGNED_LONG,
        MPI_LONG_LONG,
        MPI_UNSIGNED_LONG_LONG,
        MPI_FLOAT,
        MPI_DOUBLE,
        MPI_LONG_DOUBLE,
        MPI_PACKED,
        MPI_INT8_T,
        MPI_INT16_T,
        MPI_INT32_T,
        MPI_INT64_T,
        MPI_UINT8_T,
        MPI_UINT16_T,
        MPI_UINT32_T,
        MPI_UINT64_T,
        MPI_AINT,
        MPI_OFFSET,
        MPI_COUNT,
        MPI_C_BOOL,
        MPI_C_FLOAT_COMPLEX,
        MPI_C_DOUBLE_COMPLEX,
        MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_SHORT_INT,
        MPI_2INT,
        MPI_LONG_INT,
        MPI_FLOAT_INT,
        MPI_DOUBLE_INT,
        MPI_LONG_DOUBLE_INT,
        MPI_CHARACTER,
        MPI_LOGICAL,
        MPI_INTEGER,
        MPI_REAL,
        MPI_DOUBLE_PRECISION,
        MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX,
        MPI_2INTEGER,
        MPI_2REAL,
        MPI_2DOUBLE_PRECISION,
        MPI_INTEGER1,
        MPI_INTEGER2,
        MPI_INTEGER4,
        MPI_INTEGER8,
        MPI_REAL4,
        MPI_REAL8,
        MPI_COMPLEX8,
        MPI_COMPLEX16,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        check_predefined(types[i]);

    MPI_Datatype type;
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
    check_predefined(type);
    MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &type);
    check_predefined(type);
    MPI_Type_create_f90_integer(9, &type);
    check_predefined(type);
}
END_TEST

/* --- Constructors, alone and nested --- */

enum {
    DUP,
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    INDEXED,
    HINDEXED,
    INDEXED_BLOCK,
    HINDEXED_BLOCK,
    STRUCT,
    SUBARRAY,
    DARRAY,
    RESIZED,
    CONSTRUCTORS
};

enum { MOST_BLOCKS = 6, MOST_DIMENSIONS = 4 };

static MPI_Datatype random_leaf(dice *d) {
    static const MPI_Datatype leaves[] = {MPI_BYTE,        MPI_SHORT,     MPI_INT,       MPI_DOUBLE,
                                          MPI_LONG_DOUBLE, MPI_SHORT_INT, MPI_DOUBLE_INT};
    MPI_Datatype type;
    int pick = between(d, 0, 8);
    if (pick == 7)
        MPI_Type_create_f90_integer(9, &type);
    else if (pick == 8)
        MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
    else
        type = leaves[pick];
    MPI_Datatype copy;
    MPI_Type_dup(type, &copy);
    return copy;
}

static MPI_Datatype random_vector(dice *d, int kind, MPI_Datatype inner) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(inner, &lower, &extent);
    int count = between(d, 0, 5), length = between(d, 0, 4);
    int stride = kind == VECTOR ? between(d, -6, 6) : between(d, -100, 100);
    if (stride == -1 && (kind == HVECTOR || extent == 1))
        stride = -2; /* Open MPI takes a stride of -1 byte to mean none given */

    MPI_Datatype type;
    if (kind == VECTOR)
        MPI_Type_vector(count, length, stride, inner, &type);
    else
        MPI_Type_create_hvector(count, length, stride, inner, &type);
    return type;
}

static bool empty(MPI_Datatype type) {
    MPI_Count size;
    MPI_Type_size_x(type, &size);
    return size == 0;
}

/* Blocks that lie anywhere, that are adjacent, or that are equally far from each other. */
static MPI_Datatype random_list(dice *d, int kind, const MPI_Datatype *inner) {
    int n = between(d, 0, MOST_BLOCKS), style = between(d, 0, 2), step = between(d, -9, 9);
    int lengths[MOST_BLOCKS], places[MOST_BLOCKS], length = between(d, 0, 3), next = 0;
    MPI_Aint addresses[MOST_BLOCKS], address = 0;
    MPI_Datatype types[MOST_BLOCKS];
    /* Open MPI gets the extent of a struct wrong where only some of its members have data. */
    bool mixed = kind == STRUCT && !empty(inner[0]) && !empty(inner[1]);
    for (int i = 0; i < n; i++) {
        MPI_Aint lower, extent;
        types[i] = inner[mixed ? between(d, 0, 1) : 0];
        lengths[i] = kind == INDEXED_BLOCK || kind == HINDEXED_BLOCK ? length : between(d, 0, 3);
        places[i] = style == 0 ? between(d, -9, 9) : style == 1 ? next : i * step;
        addresses[i] = style == 0 ? between(d, -99, 99) : style == 1 ? address : i * step * 4;
        MPI_Type_get_extent(types[i], &lower, &extent);
        next += lengths[i];
        address += lengths[i] * extent;
    }
    MPI_Datatype type;
    if (kind == INDEXED)
        MPI_Type_indexed(n, lengths, places, *inner, &type);
    else if (kind == HINDEXED)
        MPI_Type_create_hindexed(n, lengths, addresses, *inner, &type);
    else if (kind == INDEXED_BLOCK)
        MPI_Type_create_indexed_block(n, length, places, *inner, &type);
    else if (kind == HINDEXED_BLOCK)
        MPI_Type_create_hindexed_block(n, length, addresses, *inner, &type);
    else
        MPI_Type_create_struct(n, lengths, addresses, types, &type);
    return type;
}

static MPI_Datatype random_subarray(dice *d, MPI_Datatype inner) {
    int n = between(d, 1, MOST_DIMENSIONS);
    int sizes[MOST_DIMENSIONS], subsizes[MOST_DIMENSIONS], starts[MOST_DIMENSIONS];
    for (int i = 0; i < n; i++) {
        sizes[i] = between(d, 1, 4);
        subsizes[i] = between(d, 0, 2) ? between(d, 1, sizes[i]) : sizes[i];
        starts[i] = between(d, 0, sizes[i] - subsizes[i]);
    }
    MPI_Datatype type;
    int order = between(d, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_subarray(n, sizes, subsizes, starts, order, inner, &type);
    return type;
}

static MPI_Datatype random_darray(dice *d, MPI_Datatype inner) {
    int n = between(d, 1, 3), processes = 1;
    int sizes[3], distributions[3], arguments[3], sharers[3];
    for (int i = 0; i < n; i++) {
        sizes[i] = between(d, 1, 7);
        sharers[i] = between(d, 1, 3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        switch (between(d, 0, 2)) {
        case 0:
            distributions[i] = MPI_DISTRIBUTE_NONE;
            sharers[i] = 1;
            break;
        case 1:
            distributions[i] = MPI_DISTRIBUTE_BLOCK;
            if (between(d, 0, 1))
                arguments[i] = (sizes[i] + sharers[i] - 1) / sharers[i] + between(d, 0, 2);
            break;
        default:
            distributions[i] = MPI_DISTRIBUTE_CYCLIC;
            if (between(d, 0, 1))
                arguments[i] = between(d, 1, 3);
        }
        processes *= sharers[i];
    }
    MPI_Datatype type;
    if (empty(inner)) { /* Open MPI makes no darray of it */
        MPI_Type_dup(inner, &type);
        return type;
    }
    int order = between(d, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_darray(processes, between(d, 0, processes - 1), n, sizes, distributions,
                           arguments, sharers, order, inner, &type);
    return type;
}

static MPI_Datatype random_resized(dice *d, MPI_Datatype inner) {
    MPI_Aint lower, extent;
    MPI_Datatype type;
    MPI_Type_get_extent(inner, &lower, &extent);
    MPI_Aint changed = between(d, 0, 1) ? extent + between(d, 0, 9) : between(d, 0, 60);
    MPI_Type_create_resized(inner, lower + between(d, -9, 9), changed, &type);
    return type;
}

static MPI_Datatype construct(dice *d, int kind, const MPI_Datatype *inner) {
    MPI_Datatype type;
    switch (kind) {
    case DUP:
        MPI_Type_dup(*inner, &type);
        return type;
    case CONTIGUOUS:
        MPI_Type_contiguous(between(d, 0, 5), *inner, &type);
        return type;
    case VECTOR:
    case HVECTOR:
        return random_vector(d, kind, *inner);
    case SUBARRAY:
        return random_subarray(d, *inner);
    case DARRAY:
        return random_darray(d, *inner);
    case RESIZED:
        return random_resized(d, *inner);
    default:
        return random_list(d, kind, inner);
    }
}

/* A type of up to DEPTH constructors above each other; small enough to test a few elements of. */
static MPI_Datatype random_type(dice *d, int depth) {
    if (depth == 0)
        return random_leaf(d);
    MPI_Datatype inner[2] = {random_type(d, depth - 1), random_type(d, between(d, 0, depth - 1))};
    MPI_Datatype type = construct(d, between(d, 0, CONSTRUCTORS - 1), inner);
    area a;
    if (!area_of(type, 4, &a)) {
        MPI_Type_free(&type);
        MPI_Type_dup(inner[0], &type);
    }
    MPI_Type_free(&inner[0]);
    MPI_Type_free(&inner[1]);
    return type;
}

START_TEST(each_constructor) {
    for (int kind = 0; kind < CONSTRUCTORS; kind++) {
        for (uint64_t seed = 0; seed < 100; seed++) {
            char what[64];
            snprintf(what, sizeof what, "constructor %d, seed %d", kind, (int)seed);
            dice d = {seed};
            MPI_Datatype inner[2] = {random_leaf(&d), random_leaf(&d)};
            MPI_Datatype type = construct(&d, kind, inner);
            MPI_Type_free(&inner[0]);
            MPI_Type_free(&inner[1]);
            check_type(&d, &type, false, between(&d, 0, 4), what);
        }
    }
}
END_TEST

START_TEST(random_nests) {
    for (uint64_t seed = 1000; seed < 5000; seed++) {
        char what[64];
        snprintf(what, sizeof what, "random nest, seed %d", (int)seed);
        dice d = {seed};
        MPI_Datatype type = random_type(&d, between(&d, 1, 4));
        check_type(&d, &type, false, between(&d, 0, 4), what);
    }
}
END_TEST

/* --- What MPI_Pack cannot tell --- */

/* A map of TYPE, which is freed. */
static coll_typemap *map_of(MPI_Datatype *type) {
    coll_typemap *map = NULL;
    MPI_Type_commit(type);
    ck_assert_int_eq(coll_typemap_create(*type, &map), MPI_SUCCESS);
    MPI_Type_free(type);
    return map;
}

START_TEST(bad_types) {
    coll_typemap *map = NULL;
    ck_assert_int_eq(coll_typemap_create(MPI_DATATYPE_NULL, &map), MPI_ERR_TYPE);
    ck_assert_ptr_null(map);

    MPI_Datatype type, inner; /* 2^30 times 2^30 times 8 bytes, of stride 0 */
    MPI_Type_create_hvector(1 << 30, 1, 0, MPI_DOUBLE, &inner);
    MPI_Type_create_hvector(1 << 30, 1, 0, inner, &type);
    ck_assert_int_eq(coll_typemap_create(type, &map), MPI_ERR_TYPE);
    ck_assert_ptr_null(map);
    MPI_Type_free(&inner);
    MPI_Type_free(&type);

    MPI_Type_create_hvector(1 << 29, 1, 0, MPI_DOUBLE, &inner); /* 2^62 bytes, twice */
    MPI_Type_create_hvector(1 << 30, 1, 0, inner, &type);
    MPI_Type_free(&inner);
    MPI_Aint at[] = {0, 3};
    MPI_Datatype twice;
    MPI_Type_create_hindexed_block(2, 1, at, type, &twice);
    ck_assert_int_eq(coll_typemap_create(twice, &map), MPI_ERR_TYPE);
    ck_assert_ptr_null(map);
    ck_assert_int_eq(coll_typemap_create(type, &map), MPI_SUCCESS);
    ck_assert_int_eq(coll_typemap_size(map), (MPI_Count)1 << 62);
    MPI_Type_free(&twice);
    MPI_Type_free(&type);
    coll_typemap_free(&map);
    coll_typemap_free(&map);
}
END_TEST

static void check_run(MPI_Datatype type, MPI_Count count, bool expected, MPI_Aint where) {
    coll_typemap *map = map_of(&type);
    MPI_Aint offset = -7;
    ck_assert_int_eq(coll_typemap_contiguous(map, count, &offset), expected);
    ck_assert_int_eq(offset, expected ? where : -7);
    coll_typemap_free(&map);
}

START_TEST(contiguous_or_not) {
    MPI_Datatype type;
    MPI_Type_vector(1000, 7, 7, MPI_DOUBLE, &type);
    check_run(type, (MPI_Count)1 << 40, true, 0);

    MPI_Type_vector(1000, 7, 8, MPI_DOUBLE, &type);
    check_run(type, 1, false, 0);

    MPI_Type_vector(2, 1, -1, MPI_INT, &type); /* adjacent, but backwards */
    check_run(type, 1, false, 0);

    MPI_Aint at[] = {-16, -12, -8};
    MPI_Type_create_hindexed_block(3, 1, at, MPI_INT, &type);
    check_run(type, 1, true, -16);
    MPI_Type_create_hindexed_block(3, 1, at, MPI_INT, &type);
    check_run(type, 2, true, -16);

    MPI_Type_create_resized(MPI_INT, 0, 8, &type); /* a gap between elements, none within */
    check_run(type, 0, true, 0);
    MPI_Type_create_resized(MPI_INT, 0, 8, &type);
    check_run(type, 1, true, 0);
    MPI_Type_create_resized(MPI_INT, 0, 8, &type);
    check_run(type, 2, false, 0);

    MPI_Type_create_hvector(2, 1, 0, MPI_INT, &type); /* the same bytes twice */
    check_run(type, 1, false, 0);
}
END_TEST

/* Columns 1 and 2 of a matrix of 3 rows and 4 columns of bytes, by rows and by columns. */
START_TEST(order_within_arrays) {
    const char *matrix = "abcd"
                         "efgh"
                         "ijkl";
    int sizes[] = {3, 4}, subsizes[] = {3, 2}, starts[] = {0, 1};
    MPI_Datatype type;
    char packed[7] = "";
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_CHAR, &type);
    coll_typemap *map = map_of(&type);
    coll_typemap_pack(map, matrix, 1, 0, 6, packed);
    ck_assert_str_eq(packed, "bcfgjk");
    coll_typemap_free(&map);

    int turned[] = {4, 3}, part[] = {2, 3}, from[] = {1, 0};
    MPI_Type_create_subarray(2, turned, part, from, MPI_ORDER_FORTRAN, MPI_CHAR, &type);
    map = map_of(&type);
    coll_typemap_pack(map, matrix, 1, 0, 6, packed);
    ck_assert_str_eq(packed, "bcfgjk");
    coll_typemap_free(&map);

    MPI_Type_create_hvector(6, 1, -1, MPI_CHAR, &type); /* one byte backwards, each step */
    map = map_of(&type);
    coll_typemap_pack(map, matrix + 6, 1, 0, 6, packed);
    ck_assert_str_eq(packed, "gfedcb");
    coll_typemap_free(&map);
}
END_TEST

/* Two shares of 11 indices dealt to 2 processes by threes: 0 1 2 . . . 6 7 8 . . and the others. */
START_TEST(dealt_arrays) {
    const char *indices = "0123456789X";
    const char *shares[] = {"012678", "3459X"};
    for (int rank = 0; rank < 2; rank++) {
        int size = 11, distribution = MPI_DISTRIBUTE_CYCLIC, block = 3, processes = 2;
        MPI_Datatype type;
        MPI_Type_create_darray(2, rank, 1, &size, &distribution, &block, &processes, MPI_ORDER_C,
                               MPI_CHAR, &type);
        coll_typemap *map = map_of(&type);
        char packed[12] = "";
        ck_assert_int_eq(coll_typemap_size(map), strlen(shares[rank]));
        coll_typemap_pack(map, indices, 1, 0, strlen(shares[rank]), packed);
        ck_assert_str_eq(packed, shares[rank]);
        coll_typemap_free(&map);
    }
}
END_TEST

START_TEST(absolute_addresses) {
    int first = 1, second = 2, copies[2] = {0};
    MPI_Aint at[2];
    MPI_Get_address(&first, &at[0]);
    MPI_Get_address(&second, &at[1]);
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &type);
    coll_typemap *map = map_of(&type);

    coll_typemap_pack(map, MPI_BOTTOM, 1, 0, sizeof copies, copies);
    ck_assert_int_eq(copies[0], 1);
    ck_assert_int_eq(copies[1], 2);
    copies[0] = 30;
    copies[1] = 40;
    coll_typemap_unpack(map, MPI_BOTTOM, 1, 2, sizeof copies - 2, (char *)copies + 2);
    ck_assert_int_eq(first, 1);
    ck_assert_int_eq(second, 40);
    coll_typemap_free(&map);
}
END_TEST

/* Elements of more than 8 GB that read "abcdefgh" again and again, then "Z" once. */
START_TEST(huge_elements) {
    const char bytes[] = "abcdefghZ";
    const MPI_Count repeated = (MPI_Count)8 << 30, element = repeated + 1;
    MPI_Datatype many, type;
    MPI_Type_create_hvector(1 << 30, 1, 0, MPI_DOUBLE, &many);
    MPI_Aint at[] = {0, 8};
    int lengths[] = {1, 1};
    MPI_Datatype types[] = {many, MPI_CHAR};
    MPI_Type_create_struct(2, lengths, at, types, &type);
    MPI_Type_free(&many);
    MPI_Type_create_resized(type, 0, 0, &many);
    MPI_Type_free(&type);
    coll_typemap *map = map_of(&many);
    ck_assert_int_eq(coll_typemap_size(map), element);

    char packed[13] = "";
    size_t third = (size_t)element * 2;
    coll_typemap_pack(map, bytes, 1000, third - 6, 12, packed);
    ck_assert_str_eq(packed, "defghZabcdef");
    coll_typemap_pack(map, bytes, 1000, third + ((size_t)5 << 30) + 3, 12, packed);
    ck_assert_str_eq(packed, "defghabcdefg");
    coll_typemap_pack(map, bytes, 1000, (size_t)element * 1000 - 12, 12, packed);
    ck_assert_str_eq(packed, "fghabcdefghZ");
    coll_typemap_free(&map);
}
END_TEST

/* Each level adds a byte after a gap, so that no two levels merge. */
START_TEST(deep_nest) {
    enum { DEPTH = 300 };
    MPI_Datatype type, next;
    MPI_Type_dup(MPI_CHAR, &type);
    for (int level = 1; level <= DEPTH; level++) {
        int lengths[] = {1, 1};
        MPI_Aint at[] = {0, level * level};
        MPI_Datatype types[] = {type, MPI_CHAR};
        MPI_Type_create_struct(2, lengths, at, types, &next);
        MPI_Type_free(&type);
        type = next;
    }
    dice d = {2};
    check_type(&d, &type, false, 2, "a deep nest");
}
END_TEST

START_TEST(long_index_list) {
    enum { BLOCKS = 50000 };
    int *lengths = (int *)memory(BLOCKS * sizeof(int)), *at = (int *)memory(BLOCKS * sizeof(int));
    dice d = {3};
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = between(&d, 0, 4);
        at[i] = i * 5;
    }
    MPI_Datatype type;
    MPI_Type_indexed(BLOCKS, lengths, at, MPI_SHORT, &type);
    check_type(&d, &type, false, 1, "a long index list");
    free(at);
    free(lengths);
}
END_TEST

#ifdef HAVE_MALLINFO2
/* Maps a struct of derived types and lets go of everything. */
static void map_and_free(void) {
    MPI_Datatype inner, type;
    MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
    int lengths[] = {2, 1};
    MPI_Aint at[] = {0, 99};
    MPI_Datatype types[] = {inner, inner};
    MPI_Type_create_struct(2, lengths, at, types, &type);
    MPI_Type_free(&inner);
    coll_typemap *map = map_of(&type);
    coll_typemap_free(&map);
}

/* The types that MPI hands out for decoding are hundreds of bytes each. */
START_TEST(nothing_is_held) {
    enum { ROUNDS = 2000 };
    for (int i = 0; i < ROUNDS; i++)
        map_and_free();
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < ROUNDS; i++)
        map_and_free();
    ck_assert_uint_lt(mallinfo2().uordblks, before + 30 * ROUNDS);
}
END_TEST
#endif

static Suite *typemap_suite(void) {
    Suite *suite = suite_create("typemap");
    TCase *against_mpi = tcase_create("against MPI_Pack");
    tcase_add_test(against_mpi, predefined_types);
    tcase_add_test(against_mpi, each_constructor);
    tcase_add_test(against_mpi, random_nests);
    tcase_add_test(against_mpi, deep_nest);
    tcase_add_test(against_mpi, long_index_list);
    suite_add_tcase(suite, against_mpi);

    TCase *by_hand = tcase_create("by hand");
    tcase_add_test(by_hand, bad_types);
    tcase_add_test(by_hand, contiguous_or_not);
    tcase_add_test(by_hand, order_within_arrays);
    tcase_add_test(by_hand, dealt_arrays);
    tcase_add_test(by_hand, absolute_addresses);
    tcase_add_test(by_hand, huge_elements);
#ifdef HAVE_MALLINFO2
    tcase_add_test(by_hand, nothing_is_held);
#endif
    suite_add_tcase(suite, by_hand);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1", typemap_suite);
}

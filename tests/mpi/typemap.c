/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares lib/base/typemap with MPI_Pack and MPI_Unpack: every predefined type, every constructor,
 * and thousands of random nested types. Compares cases that MPI_Pack does not support with values
 * computed by hand.
 */
#include "config.h"

#include "lib/base/data.h"
#include "lib/base/typemap.h"
#include "tests/support/datatypes.h"
#include "tests/support/harness.h"

#ifdef HAVE_MALLINFO2
#include <malloc.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- One type against MPI_Pack --- */

enum { MOST_BYTES = 1 << 20, POISON = 0xa5 };

/* Allocates exactly SIZE bytes. */
static unsigned char *memory(size_t size) {
    unsigned char *bytes = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(bytes);
    return bytes;
}

static void mpi_pack(const area *a, unsigned char *bytes, int count, MPI_Datatype type,
                     unsigned char *packed) {
    int position = 0;
    if (a->size > 0)
        MPI_Pack(area_buffer(a, bytes), count, type, packed, (int)a->size, &position,
                 MPI_COMM_SELF);
    ck_assert_uint_eq(position, a->size);
}

/* Writes to PLACES, for every packed byte, its distance from the area's lower end. */
static void find_places(const area *a, int count, MPI_Datatype type, uint32_t *places) {
    unsigned char *bytes = memory(a->span), *packed = memory(a->size);
    memset(places, 0, a->size * sizeof *places);
    for (int shift = 0; shift < 24; shift += 8) {
        for (size_t i = 0; i < a->span; i++)
            bytes[i] = (unsigned char)(i >> shift);
        mpi_pack(a, bytes, count, type, packed);
        for (size_t i = 0; i < a->size; i++)
            places[i] |= (uint32_t)packed[i] << shift;
    }
    free(packed);
    free(bytes);
}

static bool one_run(const uint32_t *places, size_t size) {
    for (size_t i = 1; i < size; i++)
        if (places[i] != places[i - 1] + 1)
            return false;
    return true;
}

/*
 * Returns the length of the next of consecutive random ranges: small, large, or all that is left.
 */
static size_t next_length(generator *g, size_t left) {
    static const int most[] = {1, 20, 300, 5000, MOST_BYTES};
    size_t length = (size_t)between(g, 0, most[between(g, 0, 4)]);
    return length < left ? length : left;
}

static void pack_in_ranges(generator *g, const coll_typemap *map, const void *buffer, int count,
                           size_t size, unsigned char *packed) {
    for (size_t from = 0, length; from < size; from += length) {
        length = next_length(g, size - from);
        unsigned char *exact = memory(length);
        coll_typemap_pack(map, buffer, count, from, length, exact);
        memcpy(packed + from, exact, length);
        free(exact);
    }
}

static void unpack_in_ranges(generator *g, const coll_typemap *map, void *buffer, int count,
                             size_t size, const unsigned char *packed) {
    for (size_t from = 0, length; from < size; from += length) {
        length = next_length(g, size - from);
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

/* Checks everything about COUNT elements of TYPE, and frees TYPE. */
static void check_type(generator *g, MPI_Datatype *type, bool predefined, int count,
                       const char *what) {
    if (!predefined)
        MPI_Type_commit(type);
    area a = area_of(*type, count);
    size_t size = a.size;
    unsigned char *source = memory(a.span), *theirs = memory(a.span), *ours = memory(a.span);
    unsigned char *packed = memory(size), *mine = memory(size);
    uint32_t *places = (uint32_t *)memory(size * sizeof *places);

    for (size_t i = 0; i < a.span; i++)
        source[i] = (unsigned char)draw(g);
    memset(theirs, POISON, a.span);
    memset(ours, POISON, a.span);
    mpi_pack(&a, source, count, *type, packed);
    int position = 0;
    if (size > 0)
        MPI_Unpack(packed, (int)size, &position, area_buffer(&a, theirs), count, *type,
                   MPI_COMM_SELF);
    find_places(&a, count, *type, places);

    MPI_Count element;
    MPI_Type_size_x(*type, &element);
    coll_typemap *map = NULL;
    ck_assert_msg(coll_typemap_create(*type, &map) == MPI_SUCCESS, "%s: no map", what);
    if (!predefined)
        MPI_Type_free(type);
    ck_assert_msg(coll_typemap_size(map) == element, "%s: size %lld, not %lld", what,
                  (long long)coll_typemap_size(map), (long long)element);
    check_contiguous(map, &a, count, places, what);

    coll_typemap_pack(map, area_buffer(&a, source), count, 0, size, mine);
    ck_assert_msg(memcmp(mine, packed, size) == 0, "%s: packs otherwise than MPI_Pack", what);
    memset(mine, POISON, size);
    pack_in_ranges(g, map, area_buffer(&a, source), count, size, mine);
    ck_assert_msg(memcmp(mine, packed, size) == 0, "%s: packs ranges otherwise", what);

    coll_typemap_unpack(map, area_buffer(&a, ours), count, 0, size, packed);
    ck_assert_msg(memcmp(ours, theirs, a.span) == 0, "%s: unpacks otherwise", what);
    memset(ours, POISON, a.span);
    unpack_in_ranges(g, map, area_buffer(&a, ours), count, size, packed);
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
    generator g = {1};
    for (int count = 0; count <= 3; count++)
        check_type(&g, &type, true, count, name);
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

START_TEST(each_constructor) {
    for (int kind = 0; kind < DATATYPE_CONSTRUCTORS; kind++) {
        for (uint64_t seed = 0; seed < 100; seed++) {
            char what[64];
            snprintf(what, sizeof what, "constructor %d, seed %d", kind, (int)seed);
            generator g = {seed};
            MPI_Datatype inner[2] = {datatype_leaf(&g), datatype_leaf(&g)};
            MPI_Datatype type = datatype_construct(&g, kind, inner);
            MPI_Type_free(&inner[0]);
            MPI_Type_free(&inner[1]);
            check_type(&g, &type, false, between(&g, 0, 4), what);
        }
    }
}
END_TEST

START_TEST(random_nests) {
    for (uint64_t seed = 1000; seed < 5000; seed++) {
        char what[64];
        snprintf(what, sizeof what, "random nest, seed %d", (int)seed);
        generator g = {seed};
        MPI_Datatype type = datatype_draw(&g, between(&g, 1, 4));
        check_type(&g, &type, false, between(&g, 0, 4), what);
    }
}
END_TEST

#ifdef HAVE_MPI_ALLREDUCE_C
static bool is_derived(MPI_Datatype type) {
    MPI_Count count;
    int combiner;
    MPI_Type_get_envelope_c(type, &count, &count, &count, &count, &combiner);
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_INTEGER;
}

/* Returns TYPE as the constructors with large counts make it, with such types in it. */
static MPI_Datatype enlarge(MPI_Datatype type) {
    enum { MOST = 100 };
    int n, addresses, types, combiner, i[MOST];
    MPI_Aint a[MOST];
    MPI_Count c[MOST], at[MOST];
    MPI_Datatype t[MOST], made;
    MPI_Type_get_envelope(type, &n, &addresses, &types, &combiner);
    ck_assert(n <= MOST && addresses <= MOST && types <= MOST);
    if (!is_derived(type))
        return type;
    MPI_Type_get_contents(type, n, addresses, types, i, a, t);
    for (int k = 0; k < n; k++)
        c[k] = i[k];
    for (int k = 0; k < addresses; k++)
        at[k] = a[k];
    for (int k = 0; k < types; k++) {
        MPI_Datatype inner = t[k];
        t[k] = enlarge(inner);
        if (t[k] != inner)
            MPI_Type_free(&inner);
    }
    const int order = n > 0 ? i[n - 1] : 0;
    switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        MPI_Type_contiguous_c(c[0], *t, &made);
        break;
    case MPI_COMBINER_VECTOR:
        MPI_Type_vector_c(c[0], c[1], c[2], *t, &made);
        break;
    case MPI_COMBINER_HVECTOR:
        MPI_Type_create_hvector_c(c[0], c[1], at[0], *t, &made);
        break;
    case MPI_COMBINER_INDEXED:
        MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], *t, &made);
        break;
    case MPI_COMBINER_HINDEXED:
        MPI_Type_create_hindexed_c(c[0], c + 1, at, *t, &made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, *t, &made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block_c(c[0], c[1], at, *t, &made);
        break;
    case MPI_COMBINER_STRUCT:
        MPI_Type_create_struct_c(c[0], c + 1, at, t, &made);
        break;
    case MPI_COMBINER_SUBARRAY:
        MPI_Type_create_subarray_c(i[0], c + 1, c + 1 + i[0], c + 1 + 2 * i[0], order, *t, &made);
        break;
    case MPI_COMBINER_DARRAY:
        MPI_Type_create_darray_c(i[0], i[1], i[2], c + 3, i + 3 + i[2], i + 3 + 2 * i[2],
                                 i + 3 + 3 * i[2], order, *t, &made);
        break;
    case MPI_COMBINER_RESIZED:
        MPI_Type_create_resized_c(*t, at[0], at[1], &made);
        break;
    default:
        MPI_Type_dup(*t, &made);
    }
    for (int k = 0; k < types; k++)
        if (is_derived(t[k]))
            MPI_Type_free(&t[k]);
    return made;
}

START_TEST(large_counts) {
    for (uint64_t seed = 0; seed < 2000; seed++) {
        char what[64];
        snprintf(what, sizeof what, "large counts, seed %d", (int)seed);
        generator g = {seed};
        MPI_Datatype type = datatype_draw(&g, between(&g, 1, 4)), large = enlarge(type);
        MPI_Type_free(&type);
        check_type(&g, &large, false, between(&g, 0, 4), what);
    }
}
END_TEST
#endif

/* --- What MPI_Pack cannot tell --- */

/* Returns a map of TYPE, and frees TYPE. */
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

    MPI_Type_create_resized(MPI_INT, 0, 8,
                            &type); /* a gap between elements, but not within an element */
    check_run(type, 0, true, 0);
    MPI_Type_create_resized(MPI_INT, 0, 8, &type);
    check_run(type, 1, true, 0);
    MPI_Type_create_resized(MPI_INT, 0, 8, &type);
    check_run(type, 2, false, 0);

    MPI_Type_create_hvector(2, 1, 0, MPI_INT, &type); /* the same bytes twice */
    check_run(type, 1, false, 0);
}
END_TEST

/*
 * Describes columns 1 and 2 of a matrix of 3 rows and 4 columns of bytes, by rows and by columns.
 */
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

    MPI_Type_create_hvector(6, 1, -1, MPI_CHAR, &type); /* one byte backwards with each element */
    map = map_of(&type);
    coll_typemap_pack(map, matrix + 6, 1, 0, 6, packed);
    ck_assert_str_eq(packed, "gfedcb");
    coll_typemap_free(&map);
}
END_TEST

/*
 * Describes the shares of 2 processes of 11 indices, distributed in blocks of three: 0 1 2 . . . 6
 * 7 8 . . and the others.
 */
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

/* The error leaves nothing to close. */
START_TEST(more_than_any_memory) {
    MPI_Datatype type;
    coll_data data;
    char byte;
    MPI_Type_vector(2, 1, 2, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    const int code = coll_data_open(&data, &byte, PTRDIFF_MAX, type);
    ck_assert_int_eq(harness_class(code), MPI_ERR_COUNT);
    ck_assert_ptr_null(data.map);
    MPI_Type_free(&type);
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

/* Elements of more than 8 GB that contain "abcdefgh" repeatedly, then "Z" once. */
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
    generator g = {2};
    check_type(&g, &type, false, 2, "a deep nest");
}
END_TEST

START_TEST(long_index_list) {
    enum { BLOCKS = 50000 };
    int *lengths = (int *)memory(BLOCKS * sizeof(int)), *at = (int *)memory(BLOCKS * sizeof(int));
    generator g = {3};
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = between(&g, 0, 4);
        at[i] = i * 5;
    }
    MPI_Datatype type;
    MPI_Type_indexed(BLOCKS, lengths, at, MPI_SHORT, &type);
    check_type(&g, &type, false, 1, "a long index list");
    free(at);
    free(lengths);
}
END_TEST

#ifdef HAVE_MALLINFO2
/* Maps a struct of derived types and frees everything. */
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

/*
 * The types that MPI returns for decoding have hundreds of bytes each and must be freed. MPICH 4.2
 * itself keeps 64 of each kind that is committed.
 */
START_TEST(nothing_is_held) {
    enum { ROUNDS = 2000 };
    for (int i = 0; i < ROUNDS; i++)
        map_and_free();
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < ROUNDS; i++)
        map_and_free();
    ck_assert_uint_lt(mallinfo2().uordblks, before + 100 * ROUNDS);
}
END_TEST
#endif

static Suite *typemap_suite(void) {
    Suite *suite = suite_create("typemap");
    TCase *against_mpi = tcase_create("against MPI_Pack");
    tcase_add_test(against_mpi, predefined_types);
    tcase_add_test(against_mpi, each_constructor);
    tcase_add_test(against_mpi, random_nests);
#ifdef HAVE_MPI_ALLREDUCE_C
    tcase_add_test(against_mpi, large_counts);
#endif
    tcase_add_test(against_mpi, deep_nest);
    tcase_add_test(against_mpi, long_index_list);
    suite_add_tcase(suite, against_mpi);

    TCase *by_hand = tcase_create("by hand");
    tcase_add_test(by_hand, bad_types);
    tcase_add_test(by_hand, contiguous_or_not);
    tcase_add_test(by_hand, order_within_arrays);
    tcase_add_test(by_hand, dealt_arrays);
    tcase_add_test(by_hand, more_than_any_memory);
    tcase_add_test(by_hand, absolute_addresses);
    tcase_add_test(by_hand, huge_elements);
#ifdef HAVE_MALLINFO2
    tcase_add_test(by_hand, nothing_is_held);
#else
    harness_skip("what is held, which this C library doesn't tell");
#endif
    suite_add_tcase(suite, by_hand);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1", typemap_suite);
}

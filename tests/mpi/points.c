/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reading points: every format at every rank count, and every error in a file. */
#include "config.h"

#include "kmeans/points/npy.h"
#include "kmeans/points/points.h"
#include "tests/support/harness.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif

static char directory[] = "/tmp/coll-points-XXXXXX";

static int my_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void make_directory(void) {
    bool good = my_rank() != 0 || mkdtemp(directory);
    harness_assert(good, "mkdtemp");
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void remove_directory(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0)
        rmdir(directory);
    strcpy(directory + sizeof directory - 7, "XXXXXX");
}

/* Returns "DIRECTORY/NAME", which the caller frees. */
static char *path_of(const char *name) {
    size_t size = sizeof directory + strlen(name) + 1;
    char *path = malloc(size);
    ck_assert_ptr_nonnull(path);
    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

static void remove_file(const char *name) {
    char *path = path_of(name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0)
        unlink(path);
    free(path);
}

static uint8_t feature(uint64_t row, uint64_t column) {
    return (uint8_t)(row * 7 + column * 31 + row * column % 11);
}

enum kind { NPY, NPY_FLOAT, BVECS, FVECS, IDX, IDX_GZ, TEXT, TEXT_OPEN, TEXT_CRLF, KINDS };

/* The names are in byte order. */
static const char *const names[KINDS] = {"a.npy", "b.npy", "c.bvecs", "d.fvecs", "e.idx",
                                         "f.gz",  "g.txt", "h.txt",   "i.txt"};

static void put_feature(FILE *file, enum kind kind, uint8_t value) {
    float number = value;
    if (kind == NPY_FLOAT || kind == FVECS)
        fwrite(&number, sizeof number, 1, file);
    else if (kind == NPY || kind == BVECS)
        fputc(value, file);
    else
        fprintf(file, kind == TEXT_CRLF ? "\t%03d " : " %d", value);
}

/* Writes IDX of three dimensions, rows x dim x 1, on rank 0. */
static void write_idx(const char *path, bool gzipped, uint64_t first, uint64_t rows, size_t dim) {
    const uint32_t lengths[] = {(uint32_t)rows, (uint32_t)dim, 1};
    gzFile file = gzopen(path, gzipped ? "wb" : "wbT");
    ck_assert_ptr_nonnull(file);
    gzwrite(file, "\0\0\x08\x03", 4);
    for (int i = 0; i < 3; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            gzputc(file, (int)(lengths[i] >> shift & 0xff));
    for (uint64_t row = first; row < first + rows; row++)
        for (size_t column = 0; column < dim; column++)
            gzputc(file, feature(row, column));
    ck_assert_int_eq(gzclose(file), Z_OK);
}

/* Writes ROWS rows from row FIRST on, on rank 0. */
static void write_points(enum kind kind, uint64_t first, uint64_t rows, size_t dim) {
    char *path = path_of(names[kind]);
    MPI_Barrier(MPI_COMM_WORLD);
    bool idx = kind == IDX || kind == IDX_GZ;
    if (idx && my_rank() == 0)
        write_idx(path, kind == IDX_GZ, first, rows, dim);
    FILE *file = !idx && my_rank() == 0 ? fopen(path, "wb") : NULL;
    harness_assert(idx || my_rank() != 0 || file, "%s can be written", path);
    for (uint64_t row = first; file && row < first + rows; row++) {
        int32_t width = (int32_t)dim;
        char header[NPY_HEADER_SIZE];
        if (row == first && (kind == NPY || kind == NPY_FLOAT)) {
            npy_format_header(kind == NPY ? NPY_UINT8 : NPY_FLOAT32, 2, rows, dim, header);
            fwrite(header, sizeof header, 1, file);
        }
        if (kind == BVECS || kind == FVECS)
            fwrite(&width, sizeof width, 1, file);
        if (kind >= TEXT)
            fprintf(file, "picture%" PRIu64 " %" PRIu64 " 12", row, row * 3);
        for (size_t column = 0; column < dim; column++)
            put_feature(file, kind, feature(row, column));
        if (kind >= TEXT && !(kind == TEXT_OPEN && row == first + rows - 1))
            fputs(kind == TEXT_CRLF ? "\r\n" : "\n", file);
    }
    if (file)
        fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
    free(path);
}

/* Returns whether POINTS are this rank's share of rows 0 to TOTAL - 1. */
static bool is_share(const km_points *points, uint64_t total, size_t dim) {
    int ranks;
    uint64_t first, rows;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    km_share(total, my_rank(), ranks, &first, &rows);
    if (points->total != total || points->dim != dim || points->first != first ||
        points->rows != rows)
        return false;
    for (uint64_t row = 0; row < rows; row++)
        for (size_t column = 0; column < dim; column++)
            if (points->data[row * dim + column] != feature(first + row, column))
                return false;
    return true;
}

/* Reads one file of each kind. The larger ones have more than one block of text. */
START_TEST(one_file) {
    static const struct {
        uint64_t rows;
        size_t dim;
    } sizes[] = {{1, 1}, {3, 5}, {7, 129}, {100, 16}, {1201, 512}};
    make_directory();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        km_points points;
        app_problem problem = {""};
        char *path = path_of(names[_i]);
        write_points((enum kind)_i, 0, sizes[i].rows, sizes[i].dim);
        bool good =
            km_points_read((const char *const[]){path}, 1, MPI_COMM_WORLD, &points, &problem);
        harness_assert(good, "%s: %s", names[_i], problem.text);
        harness_assert(is_share(&points, sizes[i].rows, sizes[i].dim), "%s, %zu features",
                       names[_i], sizes[i].dim);
        km_points_free(&points);
        free(path);
        remove_file(names[_i]);
    }
    remove_directory();
}
END_TEST

/* Files of all kinds together are one set of points, the same in any order and as a directory. */
START_TEST(many_files) {
    enum { DIM = 33 };
    char *paths[KINDS];
    uint64_t total = 0;
    km_points points;
    app_problem problem = {""};
    make_directory();
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t rows = 1 + 13 * (uint64_t)kind;
        paths[kind] = path_of(names[kind]);
        write_points((enum kind)kind, total, rows, DIM);
        total += rows;
    }
    for (int order = 0; order <= KINDS; order++) {
        const char *given[KINDS] = {directory};
        for (int kind = 0; order < KINDS && kind < KINDS; kind++)
            given[kind] = paths[(kind * (KINDS - 1) + order) % KINDS];
        bool good =
            km_points_read(given, order < KINDS ? KINDS : 1, MPI_COMM_WORLD, &points, &problem);
        harness_assert(good, "%s", problem.text);
        harness_assert(is_share(&points, total, DIM), "all kinds of files");
        km_points_free(&points);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        remove_file(names[kind]);
        free(paths[kind]);
    }
    remove_directory();
}
END_TEST

#define HEADER(text) "\x93NUMPY\x01\x00\x76\x00" text

/* Bad files: the content that rank 0 writes under a name, and the expected part of the problem. */
static const struct bad {
    const char *name;
    size_t bytes;
    const char *content;
    const char *says;
} bad_files[] = {
#define BAD(name, content, says)                                                                   \
    { name, sizeof(content) - 1, content, says }
    BAD("x.txt", "", "is empty"),
    BAD("x.txt", "\n", "x.txt:1: has 0 fields"),
    BAD("x.txt", "p 1 2\n", "x.txt:1: has 3 fields"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 3\n", "x.txt:2: has 1 features after its 3 ids"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 3 4 5 6\n", "x.txt:2: has 4 features after its 3 ids"),
    BAD("x.txt", "p 1 2 3 4\n\np 1 2 3 4\n", "x.txt:2: has 0 fields"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 3 4\np 1\n", "x.txt:3: has 2 fields"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 3 nan\n", "x.txt:2: feature 2 is 'nan'"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 256 4\n", "x.txt:2: feature 1 is '256'"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 -1 4\n", "x.txt:2: feature 1 is '-1'"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 1.5 4\n", "x.txt:2: feature 1 is '1.5'"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 +3 4\n", "x.txt:2: feature 1 is '+3'"),
    BAD("x.txt", "p 1 2 3 99999999999999999999999999999999\n",
        "x.txt:1: feature 2 is '99999999999999999999...'"),
    BAD("x.txt", "p 1 2 3 000000000000000000000000000000000099\n", "x.txt:1: feature 2 is '000"),
    BAD("x.txt", "p 1 2 3 \x01\x02\n", "x.txt:1: feature 2 is '\?\?'"),
    BAD("x.txt", "p 1 2 3 4\np 1 2 3 5\np 1 2 x 4\np y 2 3 z\n", "x.txt:3: feature 1 is 'x'"),
    BAD("x.fbin", "\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00",
        "its first 8 bytes promise 2 rows of 1 features, 8 bytes, but 4 follow"),
    BAD("x.fbin", "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\xc0\x7f",
        "x.fbin, byte 8: row 0, column 0 (counted from 0) is nan"),
    BAD("x.i8bin", "\x01\x00\x00\x00\xff\xff\xff\xff", "has 4294967295 features a row"),
    BAD("x.u8bin", "\x01\x00\x00", "ends early, at byte 3"),
    BAD("x.npz", "PK\x03\x04", "is an archive of arrays; save one of them as .npy"),
    BAD("x.npy", "", "is not a .npy file"),
    BAD("x.npy", "hello", "is not a .npy file"),
    BAD("x.dat", "\x93NUMPY\x01", "cut off"),
    BAD("x.npy", HEADER("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }"), "cut off"),
    BAD("x.bvecs", "", "is empty"),
    BAD("x.bvecs", "\x01\x00", "ends early"),
    BAD("x.bvecs", "\x00\x00\x00\x00", "has 0 features"),
    BAD("x.bvecs", "\xff\xff\xff\xff\x01", "has -1 features"),
    BAD("x.bvecs", "\x02\x00\x00\x00\x01", "truncated"),
    BAD("x.bvecs", "\x02\x00\x00\x00\x01\x02\x01\x00\x00\x00\x01\x02",
        "row 1 (counted from 0) has 1 features where row 0 has 2"),
    BAD("x.bvecs", "\xff\xff\xff\x7f\x01", "truncated"),
    BAD("x.fvecs", "\x01\x00\x00\x00\x00\x00\xc0\x7f", "row 0, column 0 (counted from 0) is nan"),
    BAD("x.fvecs", "\x01\x00\x00\x00\x00\x00\x80\x3f\x01\x00\x00\x00\x00\x00\x80\xbf",
        "row 1, column 0 (counted from 0) is -1"),
    BAD("x.fvecs", "\x01\x00\x00\x00\x00\x00\x00\x3f", "is 0.5"),
    BAD("x.fvecs", "\x01\x00\x00\x00\x00\x00\x80\x43", "is 256"),
    BAD("x.fvecs", "\x01\x00\x00\x00\x00\x00\x80\x7f", "is inf"),
    BAD("x.idx", "\0\0\x08", "x.idx:1: has 1 fields"),
    BAD("x.idx", "\0\0\x08\x02\0\0", "ends early"),
    BAD("x.idx", "\0\0\x0d\x02\0\0\0\x01\0\0\0\x01\0\0\0\0", "is an IDX file of type 0x0d"),
    BAD("x.idx", "\0\0\x08\x01\0\0\0\x02\x01\x02", "of 1 dimensions; points have 2 to 8"),
    BAD("x.idx", "\0\0\x08\xff\0\0\0\x02\x01\x02", "of 255 dimensions"),
    BAD("x.idx", "\0\0\x08\x02\0\0\0\x02\0\0\0\x02\x01\x02\x03",
        "promises 4 bytes of features, it"),
    BAD("x.idx", "\0\0\x08\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03", "it holds 3"),
    BAD("x.idx", "\0\0\x08\x02\0\0\0\0\0\0\0\x02", "is empty"),
    BAD("x.idx", "\0\0\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x01",
        "past 2^32"),
    BAD("x.idx", "\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", "promises"),
    BAD("x.gz", "\x1f\x8b", "x.gz: is cut off"),
    BAD("x.gz", "\x1f\x8b\x08\0\0\0\0\0\0\0zzzz", "x.gz: "),
#undef BAD
};

static void write_file(const char *name, const void *content, size_t bytes) {
    char *path = path_of(name);
    FILE *file = my_rank() == 0 ? fopen(path, "wb") : NULL;
    harness_assert(my_rank() != 0 || file, "%s can be written", path);
    if (file) {
        fwrite(content, 1, bytes, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(path);
}

/* Asserts that reading the files fails with the same text on all ranks, which contains SAYS. */
static void assert_fails(const char *const *paths, size_t count, const char *says) {
    km_points points;
    app_problem problem = {""}, root = {""};
    bool good = km_points_read(paths, count, MPI_COMM_WORLD, &points, &problem);
    if (good)
        km_points_free(&points);
    harness_assert(!good, "accepted instead of \"%s\"", says);
    root = problem;
    MPI_Bcast(root.text, sizeof root.text, MPI_CHAR, 0, MPI_COMM_WORLD);
    harness_assert(strcmp(root.text, problem.text) == 0, "another text elsewhere");
    harness_assert(strstr(problem.text, says) && !strchr(problem.text, '\n'),
                   "\"%s\" instead of \"%s\"", problem.text, says);
    harness_assert(points.data == NULL, "nothing is left to be freed");
}

/*
 * Errors in a gzipped IDX file of 7 x 5 are found when it is unpacked. If it is cut anywhere, it is
 * truncated.
 */
START_TEST(bad_gz) {
    enum { DIM = 5, ROWS = 7 };
    unsigned char bytes[256];
    long size = 0;
    make_directory();
    char *path = path_of(names[IDX_GZ]);
    write_points(IDX_GZ, 0, ROWS, DIM);
    if (my_rank() == 0) {
        FILE *file = fopen(path, "rb");
        size = (long)fread(bytes, 1, sizeof bytes, file);
        fclose(file);
    }
    MPI_Bcast(&size, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (long cut = size - 1; cut > 2; cut -= 5) {
        write_file(names[IDX_GZ], bytes, (size_t)cut);
        assert_fails((const char *const[]){path}, 1, "f.gz: ");
    }
    bytes[size] = 'x';
    write_file(names[IDX_GZ], bytes, (size_t)size + 1);
    assert_fails((const char *const[]){path}, 1, "f.gz: holds other bytes after its gzipped data");
    bytes[size - 6] ^= 1; /* a byte of the checksum */
    write_file(names[IDX_GZ], bytes, (size_t)size);
    assert_fails((const char *const[]){path}, 1, "f.gz: incorrect data check");
    remove_file(names[IDX_GZ]);
    free(path);
    remove_directory();
}
END_TEST

START_TEST(bad_file) {
    const struct bad *bad = &bad_files[_i];
    make_directory();
    char *path = path_of(bad->name);
    write_file(bad->name, bad->content, bad->bytes);
    assert_fails((const char *const[]){path}, 1, bad->says);
    remove_file(bad->name);
    free(path);
    remove_directory();
}
END_TEST

/* Complete .npy headers with false contents, followed by DATA bytes. */
static const struct bad_npy {
    npy_type type;
    int dimensions;
    uint64_t rows, columns;
    size_t data;
    const char *says;
} bad_arrays[] = {
    {NPY_UINT8, 2, 3, 4, 11, "truncated: its header promises 12 bytes of features, it holds 11"},
    {NPY_UINT8, 2, INT64_MAX / 512, 256, 5, "truncated"},
    {NPY_UINT8, 2, 3, 4, 13, "is too long: its header promises 12 bytes of features, it holds 13"},
    {NPY_UINT8, 2, INT64_MAX, 2, 5, "2^63"},
    {NPY_UINT8, 1, 4, 1, 4, "has one dimension"},
    {NPY_UINT8, 2, 4, 0, 0, "has 0 features a row"},
    {NPY_UINT8, 2, 1, 65794, 65794, "has 65794 features a row; 1 to 65793 are allowed"},
    {NPY_FLOAT64, 2, 1, 1, 7, "truncated: its header promises 8 bytes of features, it holds 7"},
    {NPY_INT32, 2, 1, 1, 4, "elements are int32; save them as uint8"},
    {NPY_UINT32, 2, 1, 1, 4, "elements are uint32; save them as uint8"},
};

START_TEST(bad_array) {
    const struct bad_npy *bad = &bad_arrays[_i];
    char *bytes = calloc(1, NPY_HEADER_SIZE + bad->data);
    ck_assert_ptr_nonnull(bytes);
    npy_format_header(bad->type, bad->dimensions, bad->rows, bad->columns, bytes);
    make_directory();
    char *path = path_of("x.npy");
    write_file("x.npy", bytes, NPY_HEADER_SIZE + bad->data);
    assert_fails((const char *const[]){path}, 1, bad->says);
    remove_file("x.npy");
    free(path);
    free(bytes);
    remove_directory();
}
END_TEST

/* Loads the points of one file, or dataset of a file, on all ranks. */
static bool load_file(const char *path, km_points *points, app_problem *problem) {
    return km_points_load((const char *const[]){path}, 1, NULL, true, MPI_COMM_WORLD, points,
                          problem);
}

/* Overwrites a feature in a file of floats from write_points with VALUE, on rank 0. */
static void put_real(const char *path, size_t dim, size_t row, size_t column, float value) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0) {
        FILE *file = fopen(path, "r+b");
        fseek(file, NPY_HEADER_SIZE + (long)((row * dim + column) * sizeof value), SEEK_SET);
        fwrite(&value, sizeof value, 1, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/*
 * Returns whether POINTS are the rows of write_points as real numbers, except VALUE in one place.
 */
static bool are_reals(const km_points *points, size_t row, size_t column, float value) {
    const float *features = (const float *)points->data;
    for (size_t i = 0; points->real.used && i < points->rows * points->dim; i++) {
        uint64_t at = points->first + i / points->dim, in = i % points->dim;
        if (km_real_feature(&points->real, in, features[i]) !=
            (at == row && in == column ? value : (float)feature(at, in)))
            return false;
    }
    return points->real.used;
}

/* If real features are allowed, one that is not a byte makes all features real, on all ranks. */
START_TEST(reals) {
    enum { ROWS = 401, DIM = 40 };
    make_directory();
    write_points(NPY_FLOAT, 0, ROWS, DIM);
    write_points(NPY, 0, ROWS, DIM);
    char *path = path_of(names[NPY_FLOAT]), *bytes = path_of(names[NPY]);
    km_points points;
    app_problem problem = {""};
    bool good = load_file(path, &points, &problem);
    harness_assert(good && !points.real.used && is_share(&points, ROWS, DIM), "whole numbers");
    km_points_free(&points);

    put_real(path, DIM, 399, 17, -0.25f);
    good = km_points_load((const char *const[]){path}, 1, NULL, true, MPI_COMM_WORLD, &points,
                          &problem);
    harness_assert(good && points.total == ROWS && are_reals(&points, 399, 17, -0.25f), "reals");
    km_points_free(&points);

    good = km_points_load((const char *const[]){path, bytes}, 2, NULL, true, MPI_COMM_WORLD,
                          &points, &problem);
    harness_assert(good && points.real.used && points.total == 2 * ROWS, "bytes beside reals");
    km_points_free(&points);
    put_real(path, DIM, 399, 17, NAN);
    problem = (app_problem){""};
    good = km_points_load((const char *const[]){path}, 1, NULL, true, MPI_COMM_WORLD, &points,
                          &problem);
    harness_assert(!good && strstr(problem.text, "is nan; features are finite"), "NaN");
    MPI_Barrier(MPI_COMM_WORLD);
    remove_file(names[NPY_FLOAT]);
    remove_file(names[NPY]);
    free(path);
    free(bytes);
    remove_directory();
}
END_TEST

/* Files of other elements, and how a value is written there. */
static void put_half(FILE *file, double value) {
    int exponent;
    double mantissa = frexp(fabs(value), &exponent); /* 0.5 to 1 */
    uint16_t half = 0;
    if (value != 0)
        half = (uint16_t)((exponent + 14) << 10 | (int)((2 * mantissa - 1) * 1024));
    if (value < 0)
        half |= 0x8000;
    fwrite(&half, sizeof half, 1, file);
}

static void put_float(FILE *file, double value) {
    float number = (float)value;
    fwrite(&number, sizeof number, 1, file);
}

static void put_double(FILE *file, double value) {
    fwrite(&value, sizeof value, 1, file);
}

static void put_byte(FILE *file, double value) {
    fputc((int)value & 0xff, file);
}

static const struct other {
    const char *name;
    npy_type type; /* of .npy */
    void (*put)(FILE *file, double value);
    double lowest, step; /* of the values */
} others[] = {
    {"a.npy", NPY_FLOAT16, put_half, -20, 0.25}, {"b.npy", NPY_FLOAT64, put_double, -1e3, 0.5},
    {"c.npy", NPY_INT8, put_byte, -128, 1},      {"d.fbin", NPY_FLOAT32, put_float, -3, 0.125},
    {"e.i8bin", NPY_INT8, put_byte, -100, 1},    {"f.u8bin", NPY_UINT8, put_byte, 0, 1},
    {"g.npy", NPY_FLOAT16, put_half, 0, 1},      {"h.fbin", NPY_FLOAT32, put_float, 5, 1},
};
enum { OTHER_ROWS = 37, OTHER_DIM = 3 };

static double other_value(const struct other *other, uint64_t row, uint64_t column) {
    return other->lowest + other->step * (double)((row * 5 + column * 3) % 200);
}

static void write_other(const struct other *other, const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0) {
        char header[NPY_HEADER_SIZE];
        const uint32_t lengths[] = {OTHER_ROWS, OTHER_DIM};
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        npy_format_header(other->type, 2, OTHER_ROWS, OTHER_DIM, header);
        if (strstr(path, ".npy"))
            fwrite(header, sizeof header, 1, file);
        else
            fwrite(lengths, sizeof lengths, 1, file);
        for (uint64_t row = 0; row < OTHER_ROWS; row++)
            for (uint64_t column = 0; column < OTHER_DIM; column++)
                other->put(file, other_value(other, row, column));
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every type of element is read: as bytes if all values are, else as real numbers. */
START_TEST(other_elements) {
    const struct other *other = &others[_i];
    make_directory();
    char *path = path_of(other->name);
    write_other(other, path);
    km_points points;
    app_problem problem = {""};
    bool good = load_file(path, &points, &problem);
    harness_assert(good && points.total == OTHER_ROWS && points.dim == OTHER_DIM, "%s",
                   problem.text);
    harness_assert(points.real.used == (other->lowest < 0), "%s: bytes or not", other->name);
    bool same = true;
    for (size_t i = 0; i < points.rows * OTHER_DIM; i++) {
        double value = points.real.used ? (double)km_real_feature(&points.real, i % OTHER_DIM,
                                                                  ((const float *)points.data)[i])
                                        : points.data[i];
        same = same && value == other_value(other, points.first + i / OTHER_DIM, i % OTHER_DIM);
    }
    harness_assert(same, "%s: other values", other->name);
    km_points_free(&points);
    remove_file(other->name);
    free(path);
    remove_directory();
}
END_TEST

#ifdef HAVE_HDF5
static const struct hdf5_kind {
    enum { HDF5_U8, HDF5_I8, HDF5_F32, HDF5_F64_BIG, HDF5_F16 } type;
    bool packed;         /* in compressed chunks */
    double lowest, step; /* of the values */
} hdf5_kinds[] = {{HDF5_U8, false, 0, 1},      {HDF5_U8, true, 3, 1},
                  {HDF5_I8, true, -100, 1},    {HDF5_F32, false, -20, 0.25},
                  {HDF5_F32, true, -20, 0.25}, {HDF5_F64_BIG, true, -1e3, 0.5},
                  {HDF5_F64_BIG, false, 0, 1}, {HDF5_F16, false, -20, 0.25}};
enum { HDF5_ROWS = 403, HDF5_DIM = 7 };

static double hdf5_value(const struct hdf5_kind *kind, uint64_t row, uint64_t column) {
    return kind->lowest + kind->step * (double)((row * 5 + column * 3) % 200);
}

/* Returns the type in the file; the caller closes it. */
static hid_t hdf5_type(const struct hdf5_kind *kind) {
    hid_t type = H5Tcopy(kind->type == HDF5_U8    ? H5T_STD_U8LE
                         : kind->type == HDF5_I8  ? H5T_STD_I8LE
                         : kind->type == HDF5_F32 ? H5T_IEEE_F32LE
                         : kind->type == HDF5_F16 ? H5T_IEEE_F32LE
                                                  : H5T_IEEE_F64BE);
    if (kind->type == HDF5_F16) {
        ck_assert_int_ge(H5Tset_fields(type, 15, 10, 5, 0, 10), 0);
        ck_assert_int_ge(H5Tset_ebias(type, 15), 0);
        ck_assert_int_ge(H5Tset_size(type, 2), 0);
    }
    return type;
}

static void write_dataset(hid_t file, const char *name, hid_t type, int dimensions, bool packed,
                          const double *values) {
    const hsize_t lengths[] = {HDF5_ROWS, HDF5_DIM}, chunk[] = {50, HDF5_DIM};
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(dimensions, lengths, NULL);
    if (packed) {
        ck_assert_int_ge(H5Pset_chunk(create, dimensions, chunk), 0);
        ck_assert_int_ge(H5Pset_deflate(create, 5), 0);
    }
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                     0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(create);
}

/* Writes the datasets /train of KIND, /line of one dimension, and /ints of large integers. */
static void write_hdf5(const struct hdf5_kind *kind, const char *path) {
    static double values[HDF5_ROWS * HDF5_DIM];
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            values[i] = hdf5_value(kind, i / HDF5_DIM, i % HDF5_DIM);
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t type = hdf5_type(kind);
        write_dataset(file, "train", type, 2, kind->packed, values);
        write_dataset(file, "line", type, 1, false, values);
        write_dataset(file, "ints", H5T_STD_I32LE, 2, false, values);
        H5Tclose(type);
        ck_assert_int_ge(H5Fclose(file), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Returns PATH and ENDING, which the caller frees. */
static char *with_ending(const char *path, const char *ending) {
    size_t size = strlen(path) + strlen(ending) + 1;
    char *both = malloc(size);
    ck_assert_ptr_nonnull(both);
    snprintf(both, size, "%s%s", path, ending);
    return both;
}

/* Datasets of all types are read, by each rank its rows, also next to another file. */
START_TEST(hdf5) {
    const struct hdf5_kind *kind = &hdf5_kinds[_i];
    make_directory();
    char *file = path_of("a.h5"), *path = with_ending(file, ":/train");
    write_hdf5(kind, file);
    for (size_t files = 1; files <= 2; files++) {
        km_points points;
        app_problem problem = {""};
        bool good = km_points_load((const char *const[]){path, path}, files, NULL, true,
                                   MPI_COMM_WORLD, &points, &problem);
        harness_assert(good && points.total == files * HDF5_ROWS && points.dim == HDF5_DIM, "%s",
                       problem.text);
        harness_assert(points.real.used == (kind->lowest < 0), "bytes or not");
        bool same = true;
        for (size_t i = 0; i < points.rows * HDF5_DIM; i++) {
            uint64_t row = (points.first + i / HDF5_DIM) % HDF5_ROWS;
            double value = points.data[i];
            if (points.real.used)
                value = (double)km_real_feature(&points.real, i % HDF5_DIM,
                                                ((const float *)points.data)[i]);
            same = same && value == hdf5_value(kind, row, i % HDF5_DIM);
        }
        harness_assert(same, "set %d: other values", _i);
        km_points_free(&points);
    }
    remove_file("a.h5");
    free(path);
    free(file);
    remove_directory();
}
END_TEST

/* Points that are compressed twice, together by more than 4096 times. */
START_TEST(hdf5_in_little_space) {
    enum { ROWS = 1 << 22, DIM = 16 };
    make_directory();
    char *file = path_of("a.h5"), *path = with_ending(file, ":/train");
    if (my_rank() == 0) {
        const hsize_t lengths[] = {ROWS, DIM}, chunk[] = {ROWS / 2, DIM};
        unsigned char *values = calloc(ROWS, DIM);
        hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, lengths, NULL);
        ck_assert_int_ge(H5Pset_chunk(create, 2, chunk), 0);
        ck_assert_int_ge(H5Pset_deflate(create, 9), 0);
        ck_assert_int_ge(H5Pset_deflate(create, 9), 0);
        hid_t whole = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t dataset =
            H5Dcreate2(whole, "train", H5T_STD_U8LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
        ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                         0);
        H5Dclose(dataset);
        H5Sclose(space);
        H5Pclose(create);
        ck_assert_int_ge(H5Fclose(whole), 0);
        free(values);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    km_points points;
    app_problem problem = {""};
    bool good = load_file(path, &points, &problem);
    harness_assert(good && points.total == ROWS && points.dim == DIM, "%s", problem.text);
    km_points_free(&points);
    remove_file("a.h5");
    free(path);
    free(file);
    remove_directory();
}
END_TEST

static const struct {
    const char *ending, *text; /* what follows the file's path, and what the error says */
    double value;              /* of row 399, column 5 of /train; 0: unchanged */
    size_t size;               /* the file is cut to this size; 0: not */
} bad_hdf5s[] = {
    {"", "a.h5: is an HDF5 file; name one of its datasets, such as ", 0, 0},
    {"", "a.h5:/train", 0, 0},
    {":/test", "a.h5:/test: there is no such dataset; the file has ", 0, 0},
    {":/line", "a.h5:/line: has 1 dimensions; points are a dataset of rows x features", 0, 0},
    {":/ints", "a.h5:/ints: elements are integers of 4 bytes; save them as uint8", 0, 0},
    {":/train", "a.h5:/train: row 399, column 5 (counted from 0) is nan; features", NAN, 0},
    {":/train", "a.h5:/train: can't be opened as HDF5: truncated file: ", 0, 5000},
    {":/train", "a.h5:/train: can't be opened as HDF5: ", 0, 20},
    {".h5:/train", "a.h5.h5: can't be opened: No such file", 0, 0},
};

/* Errors in and about a file are one line, the same at all ranks, also if one rank finds them. */
START_TEST(bad_hdf5) {
    make_directory();
    char *file = path_of("a.h5"), *path = with_ending(file, bad_hdf5s[_i].ending);
    write_hdf5(&hdf5_kinds[3], file);
    if (my_rank() == 0 && bad_hdf5s[_i].size)
        ck_assert_int_eq(truncate(file, (off_t)bad_hdf5s[_i].size), 0);
    if (my_rank() == 0 && bad_hdf5s[_i].value != 0) {
        const hsize_t at[] = {399, 5}, one[] = {1, 1};
        hid_t open = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t dataset = H5Dopen2(open, "train", H5P_DEFAULT), space = H5Dget_space(dataset);
        hid_t memory = H5Screate_simple(2, one, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL);
        ck_assert_int_ge(
            H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &bad_hdf5s[_i].value),
            0);
        H5Sclose(memory);
        H5Sclose(space);
        H5Dclose(dataset);
        H5Fclose(open);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    km_points points;
    app_problem problem = {""};
    bool good = load_file(path, &points, &problem);
    harness_assert(!good && strstr(problem.text, bad_hdf5s[_i].text) && !strchr(problem.text, '\n'),
                   "not '%s': '%s'", bad_hdf5s[_i].text, problem.text);
    remove_file("a.h5");
    free(path);
    free(file);
    remove_directory();
}
END_TEST
#else
START_TEST(no_hdf5) {
    make_directory();
    write_points(NPY, 0, 5, 4);
    char *path = path_of(names[NPY]), *file = path_of("a.h5");
    if (my_rank() == 0)
        ck_assert_int_eq(rename(path, file), 0);
    assert_fails((const char *const[]){file}, 1,
                 "a.h5: this build has no libhdf5; install libhdf5-dev, configure and make again");
    remove_file("a.h5");
    free(file);
    free(path);
    remove_directory();
}
END_TEST
#endif

/* A dataset is named of a file that isn't HDF5. */
START_TEST(dataset_of_npy) {
    make_directory();
    write_points(NPY, 0, 5, 4);
    char *npy = path_of(names[NPY]), path[4096];
    snprintf(path, sizeof path, "%s:/train", npy);
    assert_fails((const char *const[]){path}, 1, "is no HDF5 file; leave out :/train");
    remove_file(names[NPY]);
    free(npy);
    remove_directory();
}
END_TEST

/*
 * A bad value far into a file of floats, found by another rank than 0, is reported with its place.
 */
START_TEST(bad_float_far_away) {
    enum { ROWS = 4001, DIM = 40 };
    make_directory();
    write_points(NPY_FLOAT, 0, ROWS, DIM);
    char *path = path_of(names[NPY_FLOAT]);
    put_real(path, DIM, 3999, 17, 300);
    assert_fails((const char *const[]){path}, 1, "row 3999, column 17 (counted from 0) is 300");
    remove_file(names[NPY_FLOAT]);
    free(path);
    remove_directory();
}
END_TEST

/* The reported line of a bad feature is its line in the file, even in a text of several blocks. */
START_TEST(bad_line_far_away) {
    enum { ROWS = 1300, DIM = 512 };
    make_directory();
    write_points(TEXT, 0, ROWS, DIM);
    char *path = path_of(names[TEXT]);
    if (my_rank() == 0) {
        FILE *file = fopen(path, "ab");
        fputs("p 1 2 3\n", file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    assert_fails((const char *const[]){path}, 1,
                 "g.txt:1301: has 1 features after its 3 ids where the first line has 512");
    remove_file(names[TEXT]);
    free(path);
    remove_directory();
}
END_TEST

START_TEST(bad_paths) {
    make_directory();
    char *missing = path_of("missing.npy"), *npy = path_of(names[NPY]),
         *text = path_of(names[TEXT]);
    assert_fails((const char *const[]){missing}, 1, "missing.npy: can't be opened: No such file");
    assert_fails((const char *const[]){directory}, 1, "is a directory without files");
    assert_fails((const char *const[]){"/dev/null"}, 1, "is not a regular file");
    write_points(NPY, 0, 5, 4);
    write_points(TEXT, 0, 5, 3);
    assert_fails((const char *const[]){npy, missing}, 2, "missing.npy: can't be opened");
    assert_fails((const char *const[]){npy, text}, 2, "g.txt: has 3 features a row where ");
    remove_file(names[NPY]);
    remove_file(names[TEXT]);
    free(text);
    free(npy);
    free(missing);
    remove_directory();
}
END_TEST

START_TEST(shares_are_even) {
    static const uint64_t totals[] = {0, 1, 7, 8, 9, 1000003, UINT64_C(1) << 50};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        for (int ranks = 1; ranks < 14; ranks++) {
            uint64_t next = 0, first, count;
            for (int rank = 0; rank < ranks; rank++) {
                km_share(totals[i], rank, ranks, &first, &count);
                ck_assert(first == next && count - totals[i] / (uint64_t)ranks <= 1);
                next += count;
            }
            ck_assert(next == totals[i]);
        }
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("points");
    TCase *cases = tcase_create("points");
    tcase_add_loop_test(cases, one_file, 0, KINDS);
    tcase_add_test(cases, many_files);
    tcase_add_loop_test(cases, bad_file, 0, sizeof bad_files / sizeof *bad_files);
    tcase_add_test(cases, bad_gz);
    tcase_add_loop_test(cases, bad_array, 0, sizeof bad_arrays / sizeof *bad_arrays);
    tcase_add_test(cases, reals);
    tcase_add_loop_test(cases, other_elements, 0, sizeof others / sizeof *others);
#ifdef HAVE_HDF5
    tcase_add_loop_test(cases, hdf5, 0, sizeof hdf5_kinds / sizeof *hdf5_kinds);
    if (H5_VERSION_GE(1, 10, 5))
        tcase_add_test(cases, hdf5_in_little_space);
    tcase_add_loop_test(cases, bad_hdf5, 0, sizeof bad_hdf5s / sizeof *bad_hdf5s);
#else
    tcase_add_test(cases, no_hdf5);
#endif
    tcase_add_test(cases, dataset_of_npy);
    tcase_add_test(cases, bad_float_far_away);
    tcase_add_test(cases, bad_line_far_away);
    tcase_add_test(cases, bad_paths);
    tcase_add_test(cases, shares_are_even);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 8", suite);
}

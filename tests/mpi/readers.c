/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that mutated files give data, or one line that names the file: images, points, labels and
 * rows for the SVM. The sanitizers detect the other errors.
 */
#include "config.h"

#include "kmeans/points/npy.h"
#include "tests/fuzz/reading.h"
#include "tests/support/harness.h"
#include "tests/support/mutate.h"

#include <check.h>
#include <mpi.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif
#ifdef HAVE_JPEG
#include <jpeglib.h>
#endif

enum { MOST = 4096 };

/* A valid file, and the reader of files with its name. */
typedef struct seed {
    const file_reader *reader;
    unsigned char bytes[MOST];
    size_t size;
} seed;

static void set_bytes(seed *whole, const void *bytes, size_t size) {
    memcpy(whole->bytes, bytes, size);
    whole->size = size;
}

static void gzip(seed *whole, seed *plain) {
    z_stream stream = {.next_in = plain->bytes,
                       .avail_in = (uInt)plain->size,
                       .next_out = whole->bytes,
                       .avail_out = MOST};
    enum { GZIP_WINDOW = 15 + 16 };
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    whole->size = stream.total_out;
    deflateEnd(&stream);
}

static void make_png(seed *whole) {
    uint8_t pixels[16 * 12];
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = 16, .height = 12, .format = PNG_FORMAT_GRAY};
    png_alloc_size_t size = MOST;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i);
    ck_assert(png_image_write_to_memory(&png, whole->bytes, &size, 0, pixels, 0, NULL));
    whole->size = size;
}

#ifdef HAVE_JPEG
static void make_jpeg(seed *whole) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    uint8_t row[16 * 3];
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = jpeg.image_height = 16;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < 16; y++) {
        for (size_t i = 0; i < sizeof row; i++)
            row[i] = (uint8_t)(i * (size_t)y);
        jpeg_write_scanlines(&jpeg, &(JSAMPROW){row}, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    ck_assert_uint_le(size, MOST);
    set_bytes(whole, bytes, size);
    free(bytes);
}
#endif

#ifdef HAVE_HDF5
/* Makes a file with the dataset /x, compressed, of the latest format, which is the shortest. */
static void make_hdf5(seed *whole) {
    const hsize_t lengths[] = {6, 2}, chunk[] = {4, 2};
    const float features[] = {1.5F, 2, 3, 4, 5, 6, 7, 8, -9, 10, 11, 12};
    char path[] = "readers-test-XXXXXX";
    const int made = mkstemp(path);
    ck_assert_int_ge(made, 0);
    close(made);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE);
    ck_assert_int_ge(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
    ck_assert_int_ge(H5Pset_chunk(create, 2, chunk), 0);
    ck_assert_int_ge(H5Pset_deflate(create, 9), 0);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(2, lengths, NULL);
    const hid_t dataset =
        H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, features),
                     0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(create);
    H5Pclose(access);
    ck_assert_int_ge(H5Fclose(file), 0);
    FILE *written = fopen(path, "rb");
    ck_assert_ptr_nonnull(written);
    whole->size = fread(whole->bytes, 1, MOST, written);
    ck_assert_msg(whole->size > 0 && whole->size < MOST, "%zu bytes", whole->size);
    fclose(written);
    unlink(path);
}
#endif

/*
 * Cuts off, removes, repeats or changes bytes of a file. Half of all changes are at its beginning.
 */
static size_t damage(unsigned char bytes[2 * MOST], size_t size, generator *g) {
    static const unsigned char telling[] = {0, 1, 0x7f, 0x80, 0xff, '9', '-', ' ', '\n', ':', '\''};
    for (int changes = 1 + below(g, 4); changes && size; changes--) {
        size_t reach = draw(g) % 2 && size > 24 ? 24 : size;
        size_t at = draw(g) % reach, run = 1 + draw(g) % 16;
        if (run > size - at)
            run = size - at;
        int way = below(g, 10);
        size = mutate_run(bytes, size, at, run, way);
        if (way >= MUTATE_WAYS + 2)
            bytes[at] = telling[draw(g) % sizeof telling];
        else if (way >= MUTATE_WAYS)
            bytes[at] ^= (unsigned char)(1 << draw(g) % 8);
    }
    return size;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static void try_mutations(const seed *whole, const char *folder) {
    enum { ROUNDS = 400 };
    char path[64];
    generator g = {.state = 1};
    int good = 0, bad = 0;
    app_problem problem = {""};
    snprintf(path, sizeof path, "%s/%s", folder, whole->reader->name);
    write_file(path, whole->bytes, whole->size);
    ck_assert_msg(whole->reader->read(path, &problem), "%s: %s", whole->reader->name, problem.text);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char bytes[2 * MOST];
        memcpy(bytes, whole->bytes, whole->size);
        write_file(path, bytes, damage(bytes, whole->size, &g));
        problem.text[0] = '\0';
        if (whole->reader->read(path, &problem)) {
            good++;
            continue;
        }
        bad++;
        ck_assert_msg(problem_names(&problem, whole->reader->name), "round %d of %s: '%s'", round,
                      whole->reader->name, problem.text);
    }
    ck_assert_msg(good > 0 && bad > ROUNDS / 10, "%s: %d good, %d bad", whole->reader->name, good,
                  bad);
    unlink(path);
}

static const unsigned char idx_points[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0,  0,
                                           0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12};
static const unsigned char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 5, 1, 2, 3, 4, 5};
static const unsigned char bvecs[] = {2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 3, 4};
static const unsigned char bin[] = {2, 0, 0, 0, 2, 0, 0, 0, 1, 2, 3, 4};
static const unsigned char fbin[] = {2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x43};
static const unsigned char fvecs[] = {1, 0, 0, 0, 0, 0, 0x80, 0x3f, 1, 0, 0, 0, 0, 0, 0, 0x43};

enum { SEEDS = 17 };
static seed seeds[SEEDS];

/* Returns the seed of the reader with this name. */
static seed *find(const char *name) {
    size_t i = 0;
    while (strcmp(readers[i].name, name) != 0)
        i++;
    ck_assert_uint_lt(i, SEEDS);
    seeds[i].reader = &readers[i];
    return &seeds[i];
}

static void make_seeds(void) {
    static const char text[] = "p 1 2 3 4\nq 5 6 7 8\n", labels[] = "1\n-2\n300\n";
    set_bytes(find("i.idx"), idx_points, sizeof idx_points);
    set_bytes(find("p.idx"), idx_points, sizeof idx_points);
    gzip(find("i.gz"), find("i.idx"));
    gzip(find("p.gz"), find("p.idx"));
    make_png(find("i.png"));
    npy_format_header(NPY_UINT8, 2, 3, 4, (char *)find("p.npy")->bytes);
    find("p.npy")->size = NPY_HEADER_SIZE + 12;
    set_bytes(find("p.bvecs"), bvecs, sizeof bvecs);
    set_bytes(find("p.fvecs"), fvecs, sizeof fvecs);
    set_bytes(find("p.fbin"), fbin, sizeof fbin);
    set_bytes(find("p.i8bin"), bin, sizeof bin);
    set_bytes(find("p.u8bin"), bin, sizeof bin);
    set_bytes(find("p.txt"), text, sizeof text - 1);
    set_bytes(find("l.idx"), idx_labels, sizeof idx_labels);
    set_bytes(find("l.txt"), labels, sizeof labels - 1);
#ifdef HAVE_LINEAR
    static const char rows[] = "1 1:0.5 7:2e-3\n-1 2:1\n";
    set_bytes(find("r.svm"), rows, sizeof rows - 1);
#endif
#ifdef HAVE_HDF5
    make_hdf5(find("p.h5"));
#endif
#ifdef HAVE_JPEG
    make_jpeg(find("i.jpg"));
#endif
}

START_TEST(mutated_files_are_read_or_refused) {
    char folder[] = "readers-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_seeds();
    ck_assert_ptr_eq(seeds[_i].reader, &readers[_i]);
    try_mutations(&seeds[_i], folder);
    rmdir(folder);
}
END_TEST

/*
 * Reads the next file of an archive made by ar, which has a header of 60 bytes and an even number
 * of bytes.
 */
static bool next_file(FILE *archive, unsigned char bytes[2 * MOST], size_t *size) {
    char header[60], *length = header + 48;
    if (fread(header, 1, sizeof header, archive) != sizeof header)
        return false;
    *size = strtoul(length, NULL, 10);
    ck_assert_uint_lt(*size, 2 * MOST);
    return fread(bytes, 1, *size + *size % 2, archive) == *size + *size % 2;
}

/* Reads the files that scripts/fuzz has kept, in an archive for each reader. */
START_TEST(corpus_is_read_or_refused) {
    const file_reader *reader = &readers[_i];
    char folder[] = "readers-test-XXXXXX", made[64], path[4096], magic[8];
    unsigned char bytes[2 * MOST];
    const char *source = getenv("srcdir");
    size_t size;
    int files = 0;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s.ar", source ? source : "..", reader->name);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(made, sizeof made, "%s/%s", folder, reader->name);
    FILE *archive = fopen(path, "rb");
    ck_assert_msg(archive && fread(magic, 1, sizeof magic, archive) == sizeof magic,
                  "%s can't be read", path);
    for (; next_file(archive, bytes, &size); files++) {
        app_problem problem = {""};
        write_file(made, bytes, size);
        if (!reader->read(made, &problem))
            ck_assert_msg(problem_names(&problem, reader->name), "%s, file %d: '%s'", path,
                          files + 1, problem.text);
    }
    ck_assert_msg(feof(archive) && files > 0, "%s, file %d: can't be read", path, files + 1);
    fclose(archive);
    unlink(made);
    rmdir(folder);
}
END_TEST

static Suite *suite(void) {
    Suite *made = suite_create("readers");
    TCase *cases = tcase_create("readers");
    int count = 0;
    while (readers[count].name)
        count++;
    tcase_add_loop_test(cases, mutated_files_are_read_or_refused, 0, count);
    tcase_add_loop_test(cases, corpus_is_read_or_refused, 0, count);
#ifndef HAVE_JPEG
    harness_skip("JPEG, for want of its library");
#endif
#ifndef HAVE_LINEAR
    harness_skip("rows for the SVM, for want of liblinear");
#endif
    suite_add_tcase(made, cases);
    return made;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1", suite);
}

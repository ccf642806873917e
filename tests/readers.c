/*
 * Mutated files end in data or in one line that names the file: images, points, labels and rows for
 * the SVM. The sanitizers look for the rest.
 */
#include "config.h"

#include "kmeans/images.h"
#include "kmeans/labels.h"
#include "kmeans/npy.h"
#include "kmeans/points.h"
#include "kmeans/svm.h"
#include "tests/harness.h"

#include <check.h>
#include <mpi.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_JPEG
#include <jpeglib.h>
#endif

enum { MOST = 4096 };

/* A file that is whole, and what reads files of its name. */
typedef struct seed {
    const char *name;
    bool (*read)(const char *path, struct problem *problem);
    unsigned char bytes[MOST];
    size_t size;
} seed;

static bool read_images(const char *path, struct problem *problem) {
    struct image image;
    next_state state = NEXT_FAILED;
    image_set *set = images_open(&path, 1, problem);
    if (!set)
        return false;
    while ((state = images_next(set, &image, problem)) == NEXT_READ)
        ck_assert(image.width > 0 && image.pixels[image.width * image.height - 1] <= 255);
    images_close(set);
    return state == NEXT_NONE;
}

static bool read_points(const char *path, struct problem *problem) {
    km_points points;
    if (!km_points_read(&path, 1, MPI_COMM_SELF, &points, problem))
        return false;
    ck_assert_uint_eq(points.rows, points.total);
    km_points_free(&points);
    return true;
}

static bool read_labels(const char *path, struct problem *problem) {
    struct labels labels;
    if (!labels_read(path, &labels, problem))
        return false;
    ck_assert_uint_gt(labels.count, 0);
    free(labels.values);
    return true;
}

static bool read_rows(const char *path, struct problem *problem) {
    svm_rows *rows = svm_read(path, problem);
    if (!rows)
        return false;
    ck_assert_uint_gt(svm_count(rows), 0);
    svm_free(rows);
    return true;
}

static void set_bytes(seed *whole, const void *bytes, size_t size) {
    memcpy(whole->bytes, bytes, size);
    whole->size = size;
}

static void gzip(seed *whole, const seed *plain) {
    z_stream stream = {.next_in = (Bytef *)plain->bytes,
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

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Cuts, drops, repeats or changes bytes of a file; half of all changes are in its head. */
static size_t mutate(unsigned char bytes[2 * MOST], size_t size, uint32_t *state) {
    static const unsigned char telling[] = {0, 1, 0x7f, 0x80, 0xff, '9', '-', ' ', '\n', ':', '\''};
    for (uint32_t changes = 1 + draw(state) % 4; changes && size; changes--) {
        size_t reach = draw(state) % 2 && size > 24 ? 24 : size;
        size_t at = draw(state) % reach, run = 1 + draw(state) % 16;
        if (run > size - at)
            run = size - at;
        switch (draw(state) % 10) {
        case 0:
            size = at;
            break;
        case 1:
            memmove(bytes + at, bytes + at + run, size - at - run);
            size -= run;
            break;
        case 2:
            memmove(bytes + at + run, bytes + at, size - at);
            size += run;
            break;
        case 3:
        case 4:
            bytes[at] ^= (unsigned char)(1 << draw(state) % 8);
            break;
        default:
            bytes[at] = telling[draw(state) % sizeof telling];
        }
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
    uint32_t state = 1;
    int good = 0, bad = 0;
    struct problem problem = {""};
    snprintf(path, sizeof path, "%s/%s", folder, whole->name);
    write_file(path, whole->bytes, whole->size);
    ck_assert_msg(whole->read(path, &problem), "%s: %s", whole->name, problem.text);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char bytes[2 * MOST];
        memcpy(bytes, whole->bytes, whole->size);
        write_file(path, bytes, mutate(bytes, whole->size, &state));
        problem.text[0] = '\0';
        if (whole->read(path, &problem)) {
            good++;
            continue;
        }
        bad++;
        ck_assert_msg(strstr(problem.text, whole->name) && !strchr(problem.text, '\n'),
                      "round %d of %s: '%s'", round, whole->name, problem.text);
    }
    ck_assert_msg(good > 0 && bad > ROUNDS / 10, "%s: %d good, %d bad", whole->name, good, bad);
    unlink(path);
}

static const unsigned char idx_points[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0,  0,
                                           0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12};
static const unsigned char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 5, 1, 2, 3, 4, 5};
static const unsigned char bvecs[] = {2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 3, 4};
static const unsigned char fvecs[] = {1, 0, 0, 0, 0, 0, 0x80, 0x3f, 1, 0, 0, 0, 0, 0, 0, 0x43};

static seed seeds[] = {
    {.name = "i.idx", .read = read_images},   {.name = "i.gz", .read = read_images},
    {.name = "i.png", .read = read_images},   {.name = "p.npy", .read = read_points},
    {.name = "p.bvecs", .read = read_points}, {.name = "p.fvecs", .read = read_points},
    {.name = "p.idx", .read = read_points},   {.name = "p.gz", .read = read_points},
    {.name = "p.txt", .read = read_points},   {.name = "l.idx", .read = read_labels},
    {.name = "l.txt", .read = read_labels},
#ifdef HAVE_LINEAR
    {.name = "r.svm", .read = read_rows},
#endif
#ifdef HAVE_JPEG
    {.name = "i.jpg", .read = read_images},
#endif
};
enum { SEEDS = sizeof seeds / sizeof *seeds };

/* The seed of that name, which is there. */
static seed *find(const char *name) {
    seed *at = seeds;
    while (strcmp(at->name, name))
        at++;
    return at;
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
    set_bytes(find("p.txt"), text, sizeof text - 1);
    set_bytes(find("l.idx"), idx_labels, sizeof idx_labels);
    set_bytes(find("l.txt"), labels, sizeof labels - 1);
#ifdef HAVE_LINEAR
    static const char rows[] = "1 1:0.5 7:2e-3\n-1 2:1\n";
    set_bytes(find("r.svm"), rows, sizeof rows - 1);
#endif
#ifdef HAVE_JPEG
    make_jpeg(find("i.jpg"));
#endif
}

START_TEST(mutated_files_are_read_or_refused) {
    char folder[] = "readers-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_seeds();
    try_mutations(&seeds[_i], folder);
    rmdir(folder);
}
END_TEST

static Suite *suite(void) {
    Suite *readers = suite_create("readers");
    TCase *cases = tcase_create("readers");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, mutated_files_are_read_or_refused, 0, SEEDS);
    suite_add_tcase(readers, cases);
    return readers;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1", suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests image sets: valid IDX, PNG and JPEG files are read, and invalid ones are named. */
#include "config.h"

#include "kmeans/words/images.h"
#include "kmeans/words/patches.h"
#include "tests/support/harness.h"

#include <check.h>
#include <dirent.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_JPEG
#include <jpeglib.h>
#endif

static char folder[] = "images-test-XXXXXX";

static const char *file_in_folder(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Makes an empty folder for each test. */
static void make_folder(void) {
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void) {
    DIR *directory = opendir(folder);
    struct dirent *entry;
    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            remove(file_in_folder(entry->d_name));
    closedir(directory);
    rmdir(folder);
}

static void write_file(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(file_in_folder(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static void write_gz(const char *name, const void *bytes, size_t size) {
    gzFile file = gzopen(file_in_folder(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(gzwrite(file, bytes, (unsigned)size), (int)size);
    ck_assert_int_eq(gzclose(file), Z_OK);
}

static void write_png(const char *name, uint32_t format, uint32_t width, uint32_t height,
                      const void *pixels) {
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = format};
    ck_assert(png_image_write_to_file(&png, file_in_folder(name), 0, pixels, 0, NULL));
}

/* Two images of 3 x 2 pixels with the greys 1 to 12. */
static const unsigned char two_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                                           0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void expect_image(image_set *set, size_t width, size_t height, const void *pixels) {
    struct image image;
    app_problem problem = {""};
    ck_assert_msg(images_next(set, &image, &problem) == NEXT_READ, "%s", problem.text);
    ck_assert_uint_eq(image.width, width);
    ck_assert_uint_eq(image.height, height);
    ck_assert_mem_eq(image.pixels, pixels, width * height);
}

static void expect_end(image_set *set) {
    struct image image;
    app_problem problem = {""};
    ck_assert_int_eq(images_next(set, &image, &problem), NEXT_NONE);
    ck_assert_int_eq(images_next(set, &image, &problem), NEXT_NONE);
}

static image_set *open_one(const char *name) {
    app_problem problem = {""};
    char path[256];
    /* The string of the path may change after opening. */
    strcpy(path, file_in_folder(name));
    image_set *set = images_open(&(const char *){path}, 1, &problem);
    ck_assert_msg(set != NULL, "%s", problem.text);
    memset(path, 0, sizeof path);
    return set;
}

/*
 * Reads all images of a file. GOOD of them are valid; then follows a problem with the file's name
 * and WORDS.
 */
static void expect_refused(const char *name, int good, const char *words) {
    app_problem problem = {""};
    struct image image;
    next_state state;
    image_set *set = open_one(name);
    int count = 0;
    while ((state = images_next(set, &image, &problem)) == NEXT_READ)
        count++;
    images_close(set);
    ck_assert_msg(state == NEXT_FAILED || state == NEXT_BAD, "%s passed", name);
    ck_assert_msg(strstr(problem.text, words) != NULL, "'%s' lacks '%s'", problem.text, words);
    ck_assert_msg(strstr(problem.text, name) != NULL, "'%s' lacks '%s'", problem.text, name);
    ck_assert_ptr_null(strchr(problem.text, '\n'));
    if (good >= 0)
        ck_assert_int_eq(count, good);
}

START_TEST(idx_is_read_plain_and_gzipped) {
    write_file("plain", two_images, sizeof two_images);
    write_gz("packed.gz", two_images, sizeof two_images);
    static const char *const names[] = {"plain", "packed.gz"};
    for (int i = 0; i < 2; i++) {
        image_set *set = open_one(names[i]);
        expect_image(set, 3, 2, two_images + 16);
        expect_image(set, 3, 2, two_images + 22);
        expect_end(set);
        images_close(set);
    }
}
END_TEST

START_TEST(files_follow_one_another) {
    char first[256], last[256];
    unsigned char none[16];
    memcpy(none, two_images, 16);
    none[7] = 0;
    write_file("none", none, sizeof none);
    write_file("two", two_images, sizeof two_images);
    strcpy(first, file_in_folder("two"));
    strcpy(last, file_in_folder("none"));
    const char *paths[] = {last, first, last, first};
    app_problem problem = {""};
    image_set *set = images_open(paths, 4, &problem);
    ck_assert_ptr_nonnull(set);
    for (int round = 0; round < 2; round++) {
        expect_image(set, 3, 2, two_images + 16);
        ck_assert_str_eq(images_file(set), first);
        expect_image(set, 3, 2, two_images + 22);
    }
    expect_end(set);
    images_close(set);
}
END_TEST

START_TEST(every_cut_of_idx_is_refused) {
    for (size_t size = 4; size < sizeof two_images; size++) {
        write_file("cut", two_images, size);
        expect_refused("cut", size < 22 ? 0 : 1,
                       size < 16   ? "cut off within its header"
                       : size < 22 ? "cut off within image 1 of 2"
                                   : "cut off within image 2 of 2");
    }
    write_file("cut", two_images, 0);
    expect_refused("cut", 0, "empty");
}
END_TEST

START_TEST(every_cut_of_gzip_is_refused) {
    unsigned char packed[256];
    write_gz("packed", two_images, sizeof two_images);
    FILE *file = fopen(file_in_folder("packed"), "rb");
    ck_assert_ptr_nonnull(file);
    size_t whole = fread(packed, 1, sizeof packed, file);
    fclose(file);
    ck_assert_uint_gt(whole, 20);
    ck_assert_uint_lt(whole, sizeof packed);
    for (size_t size = 2; size < whole; size++) {
        app_problem problem = {""};
        struct image image;
        next_state state;
        write_file("cut", packed, size);
        image_set *set = open_one("cut");
        while ((state = images_next(set, &image, &problem)) == NEXT_READ)
            ;
        images_close(set);
        ck_assert_msg(state == NEXT_FAILED && strstr(problem.text, "cut"), "%zu of %zu: %s", size,
                      whole, problem.text);
    }
    packed[whole] = 'x';
    write_file("longer", packed, whole + 1);
    expect_refused("longer", 2, "longer: holds other bytes after its gzipped data");
    packed[whole - 6] ^= 1; /* a byte of the checksum */
    write_file("spoilt", packed, whole);
    expect_refused("spoilt", -1, "spoilt: incorrect data check");
}
END_TEST

START_TEST(hostile_idx_is_refused) {
    unsigned char bytes[sizeof two_images + 1];
    memcpy(bytes, two_images, sizeof two_images);
    bytes[sizeof two_images] = 0;
    write_file("longer", bytes, sizeof bytes);
    expect_refused("longer", 2, "holds more than its header promises");
    bytes[3] = 1;
    write_file("labels", bytes, sizeof bytes);
    expect_refused("labels", 0, "1 dimensions");
    bytes[3] = 3;
    bytes[2] = 0x0d;
    write_file("floats", bytes, sizeof bytes);
    expect_refused("floats", 0, "type 0x0d");
    bytes[2] = 8;
    memset(bytes + 8, 0xff, 8);
    write_file("huge", bytes, sizeof bytes);
    expect_refused("huge", 0, "4294967295 x 4294967295");
    memset(bytes + 8, 0, 8);
    write_file("flat", bytes, sizeof bytes);
    expect_refused("flat", 0, "0 x 0");
    memset(bytes + 4, 0xff, 4);
    bytes[11] = bytes[15] = 1;
    write_file("many", bytes, sizeof bytes);
    expect_refused("many", 13, "cut off within image 14 of 4294967295");
    write_file("text", "hello, world", 12);
    expect_refused("text", 0, "neither an IDX");
    write_gz("text.gz", "hello, world", 12);
    expect_refused("text.gz", 0, "not an IDX file (magic 0x68656c6c)");
}
END_TEST

START_TEST(png_is_read_as_grey) {
    static const uint8_t grey[] = {0, 50, 100, 150, 200, 255};
    static const uint8_t colour[] = {0, 0, 0, 255, 255, 255, 77, 77, 77};
    static const uint8_t colour_grey[] = {0, 255, 77};
    static const uint8_t primaries[] = {255, 0, 0, 0, 255, 0, 0, 0, 255};
    static const uint8_t clear[] = {255, 255, 200, 0}; /* grey, alpha */
    static const uint8_t clear_grey[] = {255, 0};
    app_problem problem = {""};
    struct image image;
    write_png("grey.png", PNG_FORMAT_GRAY, 3, 2, grey);
    write_png("colour.png", PNG_FORMAT_RGB, 1, 3, colour);
    write_png("primaries.png", PNG_FORMAT_RGB, 3, 1, primaries);
    write_png("clear.png", PNG_FORMAT_GA, 2, 1, clear);
    image_set *set = open_one("grey.png");
    expect_image(set, 3, 2, grey);
    expect_end(set);
    images_close(set);
    set = open_one("colour.png");
    expect_image(set, 1, 3, colour_grey);
    images_close(set);
    set = open_one("clear.png");
    expect_image(set, 2, 1, clear_grey);
    images_close(set);
    set = open_one("primaries.png");
    ck_assert_int_eq(images_next(set, &image, &problem), NEXT_READ);
    ck_assert_int_gt(image.pixels[1], image.pixels[0]); /* green is brighter than red */
    ck_assert_int_gt(image.pixels[0], image.pixels[2]); /* and red than blue */
    images_close(set);
}
END_TEST

START_TEST(directories_give_their_png_in_order) {
    static const char *const names[] = {"b.png", "a.PNG", "c.png"};
    uint8_t greys[] = {20, 10, 30};
    app_problem problem = {""};
    for (int i = 0; i < 3; i++)
        write_png(names[i], PNG_FORMAT_GRAY, 1, 1, &greys[i]);
    write_file("notes.txt", "no image", 8);
    write_file(".hidden.png", "no image", 8);
    image_set *set = images_open(&(const char *){folder}, 1, &problem);
    ck_assert_ptr_nonnull(set);
    expect_image(set, 1, 1, (const uint8_t[]){10});
    expect_image(set, 1, 1, (const uint8_t[]){20});
    expect_image(set, 1, 1, (const uint8_t[]){30});
    expect_end(set);
    images_close(set);
}
END_TEST

START_TEST(hostile_png_is_refused) {
    static const uint8_t grey[64] = {1, 2, 3};
    uint8_t bytes[512];
    write_png("whole.png", PNG_FORMAT_GRAY, 8, 8, grey);
    FILE *file = fopen(file_in_folder("whole.png"), "rb");
    ck_assert_ptr_nonnull(file);
    size_t whole = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ck_assert_uint_gt(whole, 60);
    /* The whole chunk of pixels is needed. A missing end chunk does no harm. */
    for (size_t size = 8; size < 50; size++) {
        write_file("cut.png", bytes, size);
        expect_refused("cut.png", 0, "cut.png: ");
    }
    static const uint8_t huge[] = {0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff};
    memcpy(bytes + 16, huge, sizeof huge);
    write_file("huge.png", bytes, whole);
    expect_refused("huge.png", 0, "huge.png: ");
}
END_TEST

START_TEST(missing_paths_are_named) {
    app_problem problem = {""}, other = {""};
    ck_assert_ptr_null(images_open(&(const char *){"nowhere/at-all"}, 1, &problem));
    ck_assert_str_eq(problem.text, "nowhere/at-all: No such file or directory");
    ck_assert_ptr_null(images_open(&(const char *){folder}, 1, &other));
    ck_assert_ptr_nonnull(strstr(other.text, "holds no PNG or JPEG files"));
}
END_TEST

START_TEST(no_paths_give_no_images) {
    app_problem problem = {""};
    image_set *set = images_open(NULL, 0, &problem);
    ck_assert_ptr_nonnull(set);
    ck_assert_str_eq(images_file(set), "");
    expect_end(set);
    images_close(set);
    images_close(NULL);
}
END_TEST

/* Opens the patches of one image, 5 pixels wide and 4 high, whose pixel (x, y) is 10 y + x. */
static patch_stream *open_patches(uint64_t limit, uint64_t patch, uint64_t stride) {
    app_problem problem = {""};
    uint8_t pixels[20];
    for (int i = 0; i < 20; i++)
        pixels[i] = (uint8_t)(10 * (i / 5) + i % 5);
    write_png("grid.png", PNG_FORMAT_GRAY, 5, 4, pixels);
    const char *path = file_in_folder("grid.png");
    patch_choice choice = {.paths = {&path, 1}, .limit = limit, .patch = patch, .stride = stride};
    patch_stream *stream = patches_open(&choice, &problem);
    ck_assert_msg(stream != NULL, "%s", problem.text);
    return stream;
}

START_TEST(patches_go_by_row_and_column) {
    static const struct {
        uint64_t patch, stride;
        int count;
        uint8_t first[12]; /* the first pixel of each patch */
    } cases[] = {
        {2, 1, 12, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}},
        {2, 2, 4, {0, 2, 20, 22}},
        {3, 1, 6, {0, 1, 2, 10, 11, 12}},
        {3, 2, 2, {0, 2}},
        {4, 1, 2, {0, 1}},
        {4, 4, 1, {0}},
        {1, UINT32_MAX, 1, {0}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        app_problem problem = {""};
        uint8_t pixels[16];
        size_t patch = cases[c].patch;
        patch_stream *stream = open_patches(UINT64_MAX, patch, cases[c].stride);
        for (int i = 0; i < cases[c].count; i++) {
            ck_assert_int_eq(patches_next(stream, pixels, &problem), NEXT_READ);
            for (size_t p = 0; p < patch * patch; p++)
                ck_assert_uint_eq(pixels[p], cases[c].first[i] + 10 * (p / patch) + p % patch);
        }
        ck_assert_int_eq(patches_next(stream, pixels, &problem), NEXT_NONE);
        ck_assert_uint_eq(patches_images(stream), 1);
        patches_close(stream);
    }
}
END_TEST

START_TEST(patches_larger_than_the_image_are_refused) {
    app_problem problem = {""};
    uint8_t pixels[25];
    patch_stream *stream = open_patches(UINT64_MAX, 5, 1);
    ck_assert_int_eq(patches_next(stream, pixels, &problem), NEXT_FAILED);
    ck_assert_ptr_nonnull(strstr(problem.text, "5 x 4 pixels; give a --patch of 4 at most"));
    patches_close(stream);
}
END_TEST

#ifdef HAVE_JPEG
/* Writes WIDTH x HEIGHT pixels of one COLOUR with 1, 3 or 4 components. */
static void write_jpeg(const char *name, unsigned width, unsigned height, const uint8_t *colour,
                       int components) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    uint8_t row[64 * 4];
    FILE *file = fopen(file_in_folder(name), "wb");
    ck_assert_ptr_nonnull(file);
    for (unsigned i = 0; i < width * (unsigned)components; i++)
        row[i] = colour[i % (unsigned)components];
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (unsigned y = 0; y < height; y++)
        jpeg_write_scanlines(&jpeg, &(JSAMPROW){row}, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

START_TEST(jpeg_is_read_as_grey) {
    uint8_t grey[40 * 30];
    write_jpeg("a.jpg", 40, 30, &(const uint8_t){90}, 1);
    memset(grey, 90, sizeof grey);
    image_set *set = open_one("a.jpg");
    expect_image(set, 40, 30, grey);
    expect_end(set);
    images_close(set);
    write_jpeg("b.JPEG", 16, 16, (const uint8_t[]){255, 0, 0}, 3);
    memset(grey, 76, sizeof grey);
    set = open_one("b.JPEG");
    expect_image(set, 16, 16, grey);
    images_close(set);
}
END_TEST

START_TEST(damaged_jpeg_is_refused) {
    static const unsigned char no_jpeg[] = {0xff, 0xd8, 0xff, 0, 0, 0, 0, 0};
    unsigned char bytes[4096];
    write_jpeg("a.jpg", 40, 30, &(const uint8_t){90}, 1);
    FILE *file = fopen(file_in_folder("a.jpg"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t cut = 3; cut + 2 < size; cut += 7) {
        write_file("cut.jpg", bytes, cut);
        expect_refused("cut.jpg", 0, "can't be decoded: ");
    }
    write_file("no.jpg", no_jpeg, sizeof no_jpeg);
    expect_refused("no.jpg", 0, "can't be decoded: ");
    write_jpeg("cmyk.jpg", 8, 8, (const uint8_t[]){1, 2, 3, 4}, 4);
    expect_refused("cmyk.jpg", 0, "can't be decoded: ");
}
END_TEST
#endif

/*
 * After a file that cannot be decoded the next one can be read. Skipping images does not decode
 * them.
 */
START_TEST(bad_images_can_be_passed) {
    char path[256];
    struct image image;
    app_problem problem = {""};
    write_file("a.png", "no image", 8);
    write_png("b.png", PNG_FORMAT_GRAY, 3, 2, two_images + 16);
    write_file("c.png", "\x89PNG\r\n\x1a\n", 8);
    write_file("d.jpg", "", 0);
    strcpy(path, folder);
    image_set *set = images_open(&(const char *){path}, 1, &problem);
    ck_assert_ptr_nonnull(set);
    ck_assert_int_eq(images_next(set, &image, &problem), NEXT_BAD);
    expect_image(set, 3, 2, two_images + 16);
    ck_assert_int_eq(images_next(set, &image, &problem), NEXT_BAD);
    ck_assert_int_eq(images_next(set, &image, &problem), NEXT_BAD);
    expect_end(set);
    images_close(set);
    set = images_open(&(const char *){path}, 1, &problem);
    ck_assert_ptr_nonnull(set);
    ck_assert_int_eq(images_skip(set, &problem), NEXT_READ);
    expect_image(set, 3, 2, two_images + 16);
    ck_assert_int_eq(images_skip(set, &problem), NEXT_READ);
    ck_assert_int_eq(images_skip(set, &problem), NEXT_READ);
    ck_assert_int_eq(images_skip(set, &problem), NEXT_NONE);
    images_close(set);
}
END_TEST

START_TEST(images_of_idx_are_passed) {
    app_problem problem = {""};
    write_file("two", two_images, sizeof two_images);
    image_set *set = open_one("two");
    ck_assert_int_eq(images_skip(set, &problem), NEXT_READ);
    expect_image(set, 3, 2, two_images + 22);
    ck_assert_int_eq(images_skip(set, &problem), NEXT_NONE);
    images_close(set);
}
END_TEST

START_TEST(limit_counts_images) {
    app_problem problem = {""};
    uint8_t pixels[4];
    int count = 0;
    write_file("two", two_images, sizeof two_images);
    const char *path = file_in_folder("two");
    patch_choice choice = {.paths = {&path, 1}, .limit = 1, .patch = 2, .stride = 1};
    patch_stream *stream = patches_open(&choice, &problem);
    ck_assert_ptr_nonnull(stream);
    while (patches_next(stream, pixels, &problem) == NEXT_READ)
        count++;
    ck_assert_int_eq(count, 2);
    ck_assert_uint_eq(patches_images(stream), 1);
    patches_close(stream);
    patches_close(NULL);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("images");
    TCase *tests = tcase_create("images");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, idx_is_read_plain_and_gzipped);
    tcase_add_test(tests, files_follow_one_another);
    tcase_add_test(tests, every_cut_of_idx_is_refused);
    tcase_add_test(tests, every_cut_of_gzip_is_refused);
    tcase_add_test(tests, hostile_idx_is_refused);
    tcase_add_test(tests, png_is_read_as_grey);
    tcase_add_test(tests, directories_give_their_png_in_order);
    tcase_add_test(tests, hostile_png_is_refused);
    tcase_add_test(tests, missing_paths_are_named);
    tcase_add_test(tests, no_paths_give_no_images);
    tcase_add_test(tests, patches_go_by_row_and_column);
    tcase_add_test(tests, patches_larger_than_the_image_are_refused);
    tcase_add_test(tests, limit_counts_images);
    tcase_add_test(tests, bad_images_can_be_passed);
    tcase_add_test(tests, images_of_idx_are_passed);
#ifdef HAVE_JPEG
    tcase_add_test(tests, jpeg_is_read_as_grey);
    tcase_add_test(tests, damaged_jpeg_is_refused);
#else
    harness_skip("JPEG, for want of its library");
#endif
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

/* JPEG through libjpeg, as 8-bit grey: the luminance, or what libjpeg makes of other colours. */
#include "config.h"

#include "kmeans/image_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const unsigned char first[8]) {
    return !memcmp(first, "\xff\xd8\xff", 3);
}

#ifdef HAVE_JPEG

#include <jpeglib.h>
#include <setjmp.h>

struct reader {
    FILE *file;
    const char *path;
    uint8_t *pixels; /* NULL until the one image is read */
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    const char *why; /* what failed, or NULL where libjpeg has a text for it */
    jmp_buf failed;  /* where errors go */
};

static void *open_reader(const char *path, struct problem *problem) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        problem_set(problem, "out of memory");
        return NULL;
    }
    reader->path = path;
    reader->file = fopen(path, "rb");
    if (!reader->file) {
        problem_set(problem, "%s: %s", path, strerror(errno));
        free(reader);
        return NULL;
    }
    return reader;
}

static void fail(j_common_ptr jpeg) {
    struct reader *reader = jpeg->client_data;
    longjmp(reader->failed, 1);
}

/* libjpeg goes on after damage, with grey where pixels are missing; here that is an error, too. */
static void warn(j_common_ptr jpeg, int level) {
    if (level < 0)
        fail(jpeg);
}

static _Noreturn void refuse(struct reader *reader, const char *why) {
    reader->why = why;
    longjmp(reader->failed, 1);
}

/* Leaves by longjmp when the image can't be decoded. */
static void decode(struct reader *reader) {
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, reader->file);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_GRAYSCALE;
    if (jpeg->image_height > IMAGE_PIXELS_MOST / jpeg->image_width)
        refuse(reader, "has too many pixels");
    jpeg_start_decompress(jpeg);
    size_t width = jpeg->output_width;
    reader->pixels = malloc(width * jpeg->output_height);
    if (!reader->pixels)
        refuse(reader, "out of memory");
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = reader->pixels + jpeg->output_scanline * width;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
}

static next_state read_next(void *opened, struct image *image, struct problem *problem) {
    struct reader *reader = opened;
    char text[JMSG_LENGTH_MAX];
    if (reader->pixels)
        return NEXT_NONE;
    reader->jpeg.client_data = reader;
    reader->jpeg.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = fail;
    reader->errors.emit_message = warn;
    if (setjmp(reader->failed)) {
        reader->errors.format_message((j_common_ptr)&reader->jpeg, text);
        problem_set(problem, "%s: can't be decoded: %s", reader->path,
                    reader->why ? reader->why : text);
        jpeg_destroy_decompress(&reader->jpeg);
        return NEXT_BAD;
    }
    decode(reader);
    *image = (struct image){reader->jpeg.output_width, reader->jpeg.output_height, reader->pixels};
    jpeg_destroy_decompress(&reader->jpeg);
    return NEXT_READ;
}

static void close_reader(void *opened) {
    struct reader *reader = opened;
    fclose(reader->file);
    free(reader->pixels);
    free(reader);
}

#else

static void *open_reader(const char *path, struct problem *problem) {
    problem_set(problem,
                "%s: is a JPEG file, which this build can't read; install libjpeg62-turbo-dev, "
                "configure and make again",
                path);
    return NULL;
}

static next_state read_next(void *opened, struct image *image, struct problem *problem) {
    (void)opened, (void)image, (void)problem;
    return NEXT_NONE;
}

static void close_reader(void *opened) {
    (void)opened;
}

#endif

const image_format image_format_jpeg = {
    .single = true,
    .recognise = recognise,
    .open = open_reader,
    .next = read_next,
    .close = close_reader,
};

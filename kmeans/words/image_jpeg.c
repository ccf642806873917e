/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JPEG with libjpeg, as 8-bit grey: the luminance, or libjpeg's conversion of other colour spaces.
 */
#include "config.h"

#include "kmeans/words/image_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const unsigned char first[8]) {
    return !memcmp(first, "\xff\xd8\xff", 3);
}

#ifdef HAVE_JPEG

#include <jpeglib.h>
#include <setjmp.h>

typedef struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    const char *why; /* what failed; NULL if libjpeg has a text for it */
    jmp_buf failed;  /* target of longjmp after errors */
} decoder;

static void handle_error(j_common_ptr jpeg) {
    decoder *this = jpeg->client_data;
    longjmp(this->failed, 1);
}

/* libjpeg only warns about damage and makes missing pixels grey; here damage is an error. */
static void handle_message(j_common_ptr jpeg, int level) {
    if (level < 0)
        handle_error(jpeg);
}

static _Noreturn void refuse(decoder *this, const char *why) {
    this->why = why;
    longjmp(this->failed, 1);
}

/* Decodes the image; calls longjmp if that fails. */
static void decode_jpeg(decoder *this, FILE *file, struct image *image) {
    struct jpeg_decompress_struct *jpeg = &this->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, file);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_GRAYSCALE;
    if (jpeg->image_height > IMAGE_PIXELS_MOST / jpeg->image_width)
        refuse(this, "has too many pixels");
    jpeg_start_decompress(jpeg);
    image->width = jpeg->output_width;
    image->height = jpeg->output_height;
    image->pixels = malloc(image->width * image->height);
    if (!image->pixels)
        refuse(this, "out of memory");
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = image->pixels + jpeg->output_scanline * image->width;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
}

static bool decode(FILE *file, const char *path, struct image *image, app_problem *problem) {
    decoder this = {.jpeg.client_data = &this};
    char text[JMSG_LENGTH_MAX];
    this.jpeg.err = jpeg_std_error(&this.errors);
    this.errors.error_exit = handle_error;
    this.errors.emit_message = handle_message;
    if (setjmp(this.failed)) {
        this.errors.format_message((j_common_ptr) & this.jpeg, text);
        app_refuse(problem, "%s: can't be decoded: %s", path, this.why ? this.why : text);
        jpeg_destroy_decompress(&this.jpeg);
        return false;
    }
    decode_jpeg(&this, file, image);
    jpeg_destroy_decompress(&this.jpeg);
    return true;
}

const image_format image_format_jpeg = {.recognise = recognise, .decode = decode};

#else

const image_format image_format_jpeg = {
    .recognise = recognise,
    .refusal = "is a JPEG file, which this build can't read; install libjpeg62-turbo-dev, "
               "configure and make again",
};

#endif

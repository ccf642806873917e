/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PNG with libpng's simplified interface: any colour type becomes 8-bit grey by its luminance;
 * transparent pixels are shown on black.
 */
#include "kmeans/words/image_format.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const unsigned char first[8]) {
    return !memcmp(first, "\x89PNG\r\n\x1a\n", 8);
}

static bool decode_png(FILE *file, const char *path, png_image *png, struct image *image,
                       app_problem *problem) {
    if (!png_image_begin_read_from_stdio(png, file))
        return app_refuse(problem, "%s: %s", path, png->message);
    if (png->height > IMAGE_PIXELS_MOST / png->width)
        return app_refuse(problem, "%s: %u x %u pixels are too many", path, png->width,
                          png->height);
    png->format = PNG_FORMAT_GRAY;
    *image = (struct image){png->width, png->height, malloc(PNG_IMAGE_SIZE(*png))};
    if (!image->pixels)
        return app_refuse(problem, "out of memory");
    if (!png_image_finish_read(png, &(png_color){0, 0, 0}, image->pixels, 0, NULL) ||
        PNG_IMAGE_FAILED(*png))
        return app_refuse(problem, "%s: %s", path, png->message);
    return true;
}

static bool decode(FILE *file, const char *path, struct image *image, app_problem *problem) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    bool good = decode_png(file, path, &png, image, problem);
    png_image_free(&png);
    return good;
}

const image_format image_format_png = {.recognise = recognise, .decode = decode};

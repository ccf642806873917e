/* PNG through libpng's simplified interface: any colour type becomes 8-bit grey by its luminance;
 * what is transparent shows black. */
#include "kmeans/words/image_single.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const unsigned char first[8]) {
    return !memcmp(first, "\x89PNG\r\n\x1a\n", 8);
}

static bool decode_png(image_single *reader, png_image *png, app_problem *problem) {
    if (!png_image_begin_read_from_stdio(png, reader->file))
        return app_refuse(problem, "%s: %s", reader->path, png->message);
    if (png->height > IMAGE_PIXELS_MOST / png->width)
        return app_refuse(problem, "%s: %u x %u pixels are too many", reader->path, png->width,
                          png->height);
    png->format = PNG_FORMAT_GRAY;
    reader->pixels = malloc(PNG_IMAGE_SIZE(*png));
    if (!reader->pixels)
        return app_refuse(problem, "out of memory");
    if (!png_image_finish_read(png, &(png_color){0, 0, 0}, reader->pixels, 0, NULL) ||
        PNG_IMAGE_FAILED(*png))
        return app_refuse(problem, "%s: %s", reader->path, png->message);
    return true;
}

static bool decode(image_single *reader, struct image *image, app_problem *problem) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    bool good = decode_png(reader, &png, problem);
    image->width = png.width;
    image->height = png.height;
    png_image_free(&png);
    return good;
}

static next_state read_next(void *opened, struct image *image, app_problem *problem) {
    return image_single_next(opened, decode, image, problem);
}

const image_format image_format_png = {
    .single = true,
    .recognise = recognise,
    .open = image_single_open,
    .next = read_next,
    .close = image_single_close,
};

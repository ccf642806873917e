/* PNG through libpng's simplified interface: any colour type becomes 8-bit grey by its luminance;
 * what is transparent shows black. */
#include "kmeans/image_format.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    FILE *file;
    const char *path;
    uint8_t *pixels; /* NULL until the one image is read */
};

static bool recognise(const unsigned char first[8]) {
    return !memcmp(first, "\x89PNG\r\n\x1a\n", 8);
}

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

static bool decode(struct reader *reader, png_image *png, struct problem *problem) {
    if (!png_image_begin_read_from_stdio(png, reader->file))
        return problem_set(problem, "%s: %s", reader->path, png->message);
    if (png->height > IMAGE_PIXELS_MOST / png->width)
        return problem_set(problem, "%s: %u x %u pixels are too many", reader->path, png->width,
                           png->height);
    png->format = PNG_FORMAT_GRAY;
    reader->pixels = malloc(PNG_IMAGE_SIZE(*png));
    if (!reader->pixels)
        return problem_set(problem, "out of memory");
    if (!png_image_finish_read(png, &(png_color){0, 0, 0}, reader->pixels, 0, NULL) ||
        PNG_IMAGE_FAILED(*png))
        return problem_set(problem, "%s: %s", reader->path, png->message);
    return true;
}

static next_state read_next(void *opened, struct image *image, struct problem *problem) {
    struct reader *reader = opened;
    if (reader->pixels)
        return NEXT_NONE;
    png_image png = {.version = PNG_IMAGE_VERSION};
    bool good = decode(reader, &png, problem);
    image->width = png.width;
    image->height = png.height;
    image->pixels = reader->pixels;
    png_image_free(&png);
    return good ? NEXT_READ : NEXT_BAD;
}

static void close_reader(void *opened) {
    struct reader *reader = opened;
    fclose(reader->file);
    free(reader->pixels);
    free(reader);
}

const image_format image_format_png = {
    .single = true,
    .recognise = recognise,
    .open = open_reader,
    .next = read_next,
    .close = close_reader,
};

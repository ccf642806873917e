#include "kmeans/words/canvas.h"

#include <stdlib.h>
#include <string.h>

/* The ten digits, 5 x 7: a byte a row, its bit 4 at the left. */
static const uint8_t digit_rows[10][CANVAS_DIGIT_HEIGHT] = {
    {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}, {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}, {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}, {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}, {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}, {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
};
enum { DIGIT_COLUMNS = 5 };

bool canvas_begin(struct canvas *canvas, size_t width, size_t height, uint8_t grey,
                  app_problem *problem) {
    if (!width || !height || height > CANVAS_PIXELS_MOST / width)
        return app_refuse(problem, "a picture of %zu x %zu pixels is too large", width, height);
    canvas->pixels = malloc(width * height);
    if (!canvas->pixels)
        return app_refuse(problem, "out of memory");
    canvas->width = width;
    canvas->height = height;
    memset(canvas->pixels, grey, width * height);
    return true;
}

void canvas_fill(struct canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                 uint8_t grey) {
    for (size_t row = y; row < y + height; row++)
        memset(canvas->pixels + row * canvas->width + x, grey, width);
}

void canvas_patch(struct canvas *canvas, size_t x, size_t y, const uint8_t *pixels, size_t patch,
                  size_t scale) {
    for (size_t row = 0; row < patch; row++)
        for (size_t column = 0; column < patch; column++)
            canvas_fill(canvas, x + column * scale, y + row * scale, scale, scale,
                        pixels[row * patch + column]);
}

static void draw_digit(struct canvas *canvas, size_t x, size_t y, const uint8_t *rows, size_t scale,
                       uint8_t grey) {
    for (size_t row = 0; row < CANVAS_DIGIT_HEIGHT; row++)
        for (size_t column = 0; column < DIGIT_COLUMNS; column++)
            if (rows[row] >> (DIGIT_COLUMNS - 1 - column) & 1)
                canvas_fill(canvas, x + column * scale, y + row * scale, scale, scale, grey);
}

void canvas_number(struct canvas *canvas, size_t x, size_t y, uint64_t number, size_t scale,
                   uint8_t grey) {
    do {
        x -= CANVAS_DIGIT_WIDTH * scale;
        draw_digit(canvas, x, y, digit_rows[number % 10], scale, grey);
        number /= 10;
    } while (number);
}

size_t canvas_digits(uint64_t number) {
    size_t digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

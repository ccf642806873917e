/* A picture in memory: grey pixels to draw patches and numbers on, and to write as PNG. */
#ifndef COLL_KMEANS_WORDS_CANVAS_H
#define COLL_KMEANS_WORDS_CANVAS_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CANVAS_PIXELS_MOST = 1 << 28,
    CANVAS_DIGIT_WIDTH = 6, /* of a digit with the gap after it, times the text's scale */
    CANVAS_DIGIT_HEIGHT = 7
};

struct canvas {
    size_t width, height;
    uint8_t *pixels;
};

/* Makes a canvas of one grey; refuses more than CANVAS_PIXELS_MOST. free() its pixels. */
bool canvas_begin(struct canvas *canvas, size_t width, size_t height, uint8_t grey,
                  app_problem *problem);

/* Fills a rectangle that lies within the canvas. */
void canvas_fill(struct canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                 uint8_t grey);

/* Draws a PATCH x PATCH picture, each pixel as a square of SCALE; it must lie within the canvas. */
void canvas_patch(struct canvas *canvas, size_t x, size_t y, const uint8_t *pixels, size_t patch,
                  size_t scale);

/* Draws NUMBER in decimal digits that end at x; it must lie within the canvas. */
void canvas_number(struct canvas *canvas, size_t x, size_t y, uint64_t number, size_t scale,
                   uint8_t grey);

/* How many digits NUMBER has. */
size_t canvas_digits(uint64_t number);

#endif

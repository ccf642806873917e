/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures in memory on which rectangles and short texts are drawn, to be written as PNG files. */
#ifndef COLL_APP_CANVAS_H
#define COLL_APP_CANVAS_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum { APP_LETTER_WIDTH = 6, APP_LETTER_HEIGHT = 7, APP_LINE_HEIGHT = 12 }; /* at scale 1 */

typedef struct app_canvas {
    size_t width, height;
    bool colour;           /* 3 bytes for each pixel: red, green, blue; else one of grey */
    unsigned char *pixels; /* row by row, the first at the top */
} app_canvas;

/*
 * Creates a canvas, filled with INK: 0xRRGGBB if COLOUR, else a grey from 0 to 255. WIDTH and
 * HEIGHT must be at least 1. The caller frees the pixels.
 */
bool app_canvas_open(app_canvas *canvas, size_t width, size_t height, bool colour, unsigned ink,
                     app_problem *problem);

/* Fills a rectangle, which must be within the canvas. */
void app_canvas_fill(app_canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                     unsigned ink);

/* Returns the width of TEXT, drawn at SCALE. */
size_t app_canvas_text_width(const char *text, size_t scale);

/*
 * Draws TEXT with its upper left corner at (X, Y). Each pixel of a letter becomes SCALE x SCALE
 * pixels. Digits, letters and ",.:-+/()" are drawn; other characters are blanks. The text must be
 * within the canvas. Letters are SCALE * APP_LETTER_HEIGHT pixels high; some, like g, reach 2 *
 * SCALE pixels lower.
 */
void app_canvas_text(app_canvas *canvas, size_t x, size_t y, const char *text, size_t scale,
                     unsigned ink);

#endif

/* Pictures: PNGs pixel by pixel, and those that other programs draw, gnuplot and graphviz. */
#ifndef COLL_APP_DRAWER_H
#define COLL_APP_DRAWER_H

#include "app/problem.h"

#include <stddef.h>
#include <stdio.h>

/* COMMAND reads what is to be drawn and writes the picture, each by standard streams. */
typedef struct app_drawer {
    const char *program, *command;
    const char *package; /* Debian's */
    bool png;            /* what it writes, to be checked to its last chunk */
} app_drawer;

extern const app_drawer app_gnuplot; /* draws PNGs */

/* Whether there is such a program; else the problem says how PATH could be drawn. */
bool app_drawer_check(const app_drawer *drawer, const char *path, app_problem *problem);

/*
 * Draws the picture PATH, which is replaced as a whole or not at all: WRITE writes what is to be
 * drawn, from what CONTEXT points to.
 */
bool app_draw(const app_drawer *drawer, const char *path,
              void (*write)(FILE *stream, const void *context), const void *context,
              app_problem *problem);

/* Writes WIDTH x HEIGHT pixels, row by row, a byte each or three where they have COLOUR. */
bool app_png_write(const char *path, bool colour, size_t width, size_t height,
                   const unsigned char *pixels, app_problem *problem);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: PNG files written pixel by pixel, and pictures drawn by gnuplot or graphviz. */
#ifndef COLL_APP_DRAWER_H
#define COLL_APP_DRAWER_H

#include "app/problem.h"

#include <stddef.h>
#include <stdio.h>

/* A program that draws: COMMAND reads a description from stdin and writes the picture to stdout. */
typedef struct app_drawer {
    const char *program, *command;
    const char *package; /* name of its Debian package */
    bool png;            /* it writes PNG, which is then checked to be complete */
} app_drawer;

extern const app_drawer app_gnuplot;

/*
 * Returns whether the program is installed; if not, the problem says what to install to draw PATH.
 */
bool app_drawer_check(const app_drawer *drawer, const char *path, app_problem *problem);

/*
 * Draws a picture into the file at PATH; an existing file is replaced only if the drawing succeeds.
 * WRITE writes the description to STREAM, using CONTEXT.
 */
bool app_draw(const app_drawer *drawer, const char *path,
              void (*write)(FILE *stream, const void *context), const void *context,
              app_problem *problem);

/*
 * Writes WIDTH x HEIGHT pixels, row by row, as a PNG file to PATH: one byte a pixel, or three with
 * COLOUR.
 */
bool app_png_write(const char *path, bool colour, size_t width, size_t height,
                   const unsigned char *pixels, app_problem *problem);

#endif

/* Pictures (PNG) written pixel by pixel. */
#ifndef COLL_APP_PNG_H
#define COLL_APP_PNG_H

#include "app/problem.h"

#include <stddef.h>

/* Writes WIDTH x HEIGHT pixels, row by row, a byte each or three where they have COLOUR. */
bool app_png_write(const char *path, bool colour, size_t width, size_t height,
                   const unsigned char *pixels, app_problem *problem);

#endif

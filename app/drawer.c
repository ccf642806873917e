/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/drawer.h"

#include "app/output.h"

#include <errno.h>
#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

const app_drawer app_gnuplot = {"gnuplot", "gnuplot", "gnuplot-nox", true};

bool app_drawer_check(const app_drawer *drawer, const char *path, app_problem *problem) {
    char command[64];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", drawer->program);
    return !system(command) ||
           app_refuse(problem, "%s: can't be drawn: %s not found; install the Debian package %s",
                      path, drawer->program, drawer->package);
}

/*
 * Starts the program. The file name is passed through the environment, so that no character of it
 * has a special meaning to the shell.
 */
static FILE *start_drawer(const app_drawer *drawer, const app_output *output,
                          app_problem *problem) {
    char command[64];
    signal(SIGPIPE, SIG_IGN); /* if the program ends early, the incomplete picture shows it */
    snprintf(command, sizeof command, "%s >\"$PICTURE\"", drawer->command);
    FILE *stream = setenv("PICTURE", app_output_name(output), 1) ? NULL : popen(command, "w");
    if (!stream)
        app_refuse(problem, "%s: can't start %s: %s", output->path, drawer->program,
                   strerror(errno));
    return stream;
}

/*
 * Returns whether the file ends with a PNG's last chunk. Returns true if the path is written to
 * directly (a pipe, a device, standard output), as this can't be checked.
 */
static bool is_complete_png(const app_output *output) {
    char end[8] = "";
    if (!output->temporary)
        return true;
    FILE *file = fopen(output->temporary, "rb");
    bool good = file && !fseek(file, -8, SEEK_END) && fread(end, 1, 8, file) == 8;
    if (file)
        fclose(file);
    return good && !memcmp(end, "IEND", 4);
}

static bool finish_drawing(const app_drawer *drawer, FILE *stream, const app_output *output,
                           app_problem *problem) {
    bool good = pclose(stream) == 0 && (!drawer->png || is_complete_png(output));
    return good || app_refuse(problem, "%s: %s could not draw it", output->path, drawer->program);
}

bool app_draw(const app_drawer *drawer, const char *path,
              void (*write)(FILE *stream, const void *context), const void *context,
              app_problem *problem) {
    app_output picture;
    if (!app_drawer_check(drawer, path, problem) || !app_output_open(&picture, path, problem))
        return false;
    FILE *stream = start_drawer(drawer, &picture, problem);
    if (stream)
        write(stream, context);
    bool good = stream && finish_drawing(drawer, stream, &picture, problem) &&
                app_output_commit(&picture, problem);
    app_output_discard(&picture);
    return good;
}

bool app_png_write(const char *path, bool colour, size_t width, size_t height,
                   const unsigned char *pixels, app_problem *problem) {
    app_output output;
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};
    if (!app_output_open(&output, path, problem))
        return false;
    errno = 0;
    bool good = png_image_write_to_stdio(&png, output.file, 0, pixels, 0, NULL);
    if (!good)
        errno ? app_output_failed(&output, problem)
              : app_refuse(problem, "%s: can't be written: %s", path, png.message);
    good = good && app_output_commit(&output, problem);
    app_output_discard(&output);
    return good;
}

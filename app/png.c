#include "app/png.h"

#include "app/output.h"

#include <errno.h>
#include <png.h>

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

#include "kmeans/words/image_single.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *image_single_open(const char *path, app_problem *problem) {
    image_single *reader = calloc(1, sizeof *reader);
    if (!reader) {
        app_refuse(problem, "out of memory");
        return NULL;
    }
    reader->path = path;
    reader->file = fopen(path, "rb");
    if (!reader->file) {
        app_refuse(problem, "%s: %s", path, strerror(errno));
        free(reader);
        return NULL;
    }
    return reader;
}

next_state image_single_next(image_single *reader, image_decode *decode, struct image *image,
                             app_problem *problem) {
    if (reader->pixels)
        return NEXT_NONE;
    if (!decode(reader, image, problem))
        return NEXT_BAD;
    image->pixels = reader->pixels;
    return NEXT_READ;
}

void image_single_close(void *opened) {
    image_single *reader = opened;
    fclose(reader->file);
    free(reader->pixels);
    free(reader);
}

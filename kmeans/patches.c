#include "config.h"

#include "kmeans/patches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char fashion_mnist[] = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";

struct patch_stream {
    image_set *set;
    uint64_t limit, images;
    size_t patch, stride;
    struct image image;
    size_t x, y; /* of the next patch in the image */
};

static image_set *open_images(const patch_choice *choice, struct problem *problem) {
    if (choice->paths.count)
        return images_open(choice->paths.words, choice->paths.count, problem);
    if (!access(fashion_mnist, F_OK))
        return images_open(&(const char *){fashion_mnist}, 1, problem);
    problem_set(problem,
                "%s is missing: install the Debian package dataset-fashion-mnist, or give --images",
                fashion_mnist);
    return NULL;
}

patch_stream *patches_open(const patch_choice *choice, struct problem *problem) {
    patch_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        problem_set(problem, "out of memory");
        return NULL;
    }
    stream->limit = choice->limit;
    stream->patch = choice->patch;
    stream->stride = choice->stride;
    stream->set = open_images(choice, problem);
    if (stream->set)
        return stream;
    free(stream);
    return NULL;
}

static next_state next_image(patch_stream *stream, struct problem *problem) {
    if (stream->images == stream->limit)
        return NEXT_NONE;
    next_state state = images_next(stream->set, &stream->image, problem);
    if (state != NEXT_READ)
        return state;
    stream->images++;
    stream->x = stream->y = 0;
    size_t smaller =
        stream->image.width < stream->image.height ? stream->image.width : stream->image.height;
    if (stream->patch <= smaller)
        return NEXT_READ;
    problem_set(problem, "%s: has an image of %zu x %zu pixels; give a --patch of %zu at most",
                images_file(stream->set), stream->image.width, stream->image.height, smaller);
    return NEXT_FAILED;
}

/* Whether a patch that begins at START ends within LENGTH pixels; no sum that could overflow. */
static bool fits(const patch_stream *stream, size_t start, size_t length) {
    return start <= length - stream->patch;
}

next_state patches_next(patch_stream *stream, uint8_t *pixels, struct problem *problem) {
    bool finished = !stream->images || !fits(stream, stream->y, stream->image.height);
    if (finished) {
        next_state state = next_image(stream, problem);
        if (state != NEXT_READ)
            return state;
    }
    const uint8_t *from = stream->image.pixels + stream->y * stream->image.width + stream->x;
    for (size_t row = 0; row < stream->patch; row++)
        memcpy(pixels + row * stream->patch, from + row * stream->image.width, stream->patch);
    stream->x += stream->stride;
    if (!fits(stream, stream->x, stream->image.width)) {
        stream->x = 0;
        stream->y += stream->stride;
    }
    return NEXT_READ;
}

uint64_t patches_images(const patch_stream *stream) {
    return stream->images;
}

void patches_close(patch_stream *stream) {
    if (!stream)
        return;
    images_close(stream->set);
    free(stream);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/words/patches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const fashion_mnist =
    "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";

struct patch_stream {
    image_set *set;
    uint64_t limit, images, bad;
    bool skip_bad;
    size_t patch, stride;
    struct image image;
    size_t x, y; /* of the next patch in the image; if none is left, a patch at Y does not fit */
};

app_file_use patches_files(const patch_choice *choice) {
    const app_words *given = &choice->paths;
    return given->count
               ? (app_file_use){APP_FILE_READ, "--images", given->words, given->count, images_reads}
               : (app_file_use){APP_FILE_READ, "Fashion-MNIST", &fashion_mnist, 1, NULL};
}

static image_set *open_images(const patch_choice *choice, app_problem *problem) {
    if (choice->paths.count)
        return images_open(choice->paths.words, choice->paths.count, problem);
    if (!access(fashion_mnist, F_OK))
        return images_open(&fashion_mnist, 1, problem);
    app_refuse(problem,
               "%s is missing: install the Debian package dataset-fashion-mnist, or give --images",
               fashion_mnist);
    return NULL;
}

patch_stream *patches_open(const patch_choice *choice, app_problem *problem) {
    patch_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        app_refuse(problem, "out of memory");
        return NULL;
    }
    stream->limit = choice->limit;
    stream->patch = choice->patch;
    stream->stride = choice->stride;
    stream->skip_bad = choice->skip_bad;
    stream->set = open_images(choice, problem);
    if (stream->set)
        return stream;
    free(stream);
    return NULL;
}

static bool is_large_enough(const patch_stream *stream, app_problem *problem) {
    size_t width = stream->image.width, height = stream->image.height;
    size_t smaller = width < height ? width : height;
    return stream->patch <= smaller ||
           app_refuse(problem,
                      "%s: has an image of %zu x %zu pixels; give a --patch of %zu at most",
                      images_file(stream->set), width, height, smaller);
}

next_state patches_image(patch_stream *stream, app_problem *problem) {
    stream->image = (struct image){0};
    if (stream->images == stream->limit)
        return NEXT_NONE;
    next_state state = images_next(stream->set, &stream->image, problem);
    if (state == NEXT_NONE || state == NEXT_FAILED)
        return state;
    stream->images++;
    stream->x = stream->y = 0;
    if (state == NEXT_READ)
        return is_large_enough(stream, problem) ? NEXT_READ : NEXT_FAILED;
    stream->image = (struct image){0};
    if (!stream->skip_bad)
        return NEXT_FAILED;
    stream->bad++;
    fprintf(stderr, "coll-words: left out: %s\n", problem->text);
    problem->text[0] = '\0';
    return NEXT_BAD;
}

next_state patches_skip_image(patch_stream *stream, app_problem *problem) {
    stream->image = (struct image){0};
    if (stream->images == stream->limit)
        return NEXT_NONE;
    next_state state = images_skip(stream->set, problem);
    stream->images += state == NEXT_READ;
    return state;
}

/*
 * Returns whether a patch that begins at START ends within LENGTH pixels; avoids sums that could
 * overflow.
 */
static bool patch_fits(const patch_stream *stream, size_t start, size_t length) {
    return stream->patch <= length && start <= length - stream->patch;
}

bool patches_cut(patch_stream *stream, uint8_t *pixels, patch_place *place) {
    const struct image *image = &stream->image;
    if (!patch_fits(stream, stream->y, image->height))
        return false;
    const uint8_t *from = image->pixels + stream->y * image->width + stream->x;
    for (size_t row = 0; row < stream->patch; row++)
        memcpy(pixels + row * stream->patch, from + row * image->width, stream->patch);
    if (place)
        *place = (patch_place){stream->x, stream->y, image->width, image->height};
    stream->x += stream->stride;
    if (!patch_fits(stream, stream->x, image->width)) {
        stream->x = 0;
        stream->y += stream->stride;
    }
    return true;
}

next_state patches_next(patch_stream *stream, uint8_t *pixels, app_problem *problem) {
    while (!patches_cut(stream, pixels, NULL)) {
        next_state state = patches_image(stream, problem);
        if (state == NEXT_NONE || state == NEXT_FAILED)
            return state;
    }
    return NEXT_READ;
}

uint64_t patches_images(const patch_stream *stream) {
    return stream->images;
}

uint64_t patches_bad(const patch_stream *stream) {
    return stream->bad;
}

bool patches_limited(const patch_stream *stream) {
    return stream->images == stream->limit;
}

void patches_close(patch_stream *stream) {
    if (!stream)
        return;
    images_close(stream->set);
    free(stream);
}

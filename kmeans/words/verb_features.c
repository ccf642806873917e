/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-words features: images -> dense patches -> HOG vectors, a row of bytes each. */
#include "config.h"

#include "app/clocks.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "kmeans/points/npy.h"
#include "kmeans/words/hog.h"
#include "kmeans/words/words.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: coll-words features [OPTIONS] --output FILE.npy\n"
    "\n"
    "Describes square patches on a regular grid of every image with histograms of\n"
    "oriented gradients, by default of 4 x 4 cells and 32 orientations: 512 bytes. The\n"
    "rows of FILE are ordered by image, row and column of the patches. The defaults give\n"
    "540,000 vectors from the 60,000 images of Fashion-MNIST.\n";

/*
 * Reads patches until the batch is full or none are left; returns NEXT_NONE if the batch stays
 * empty.
 */
static next_state batch_fill(struct batch *batch, patch_stream *stream, app_problem *problem) {
    next_state state = NEXT_READ;
    for (batch->count = 0; batch->count < batch->room; batch->count++) {
        state = patches_next(stream, batch_next(batch), problem);
        if (state != NEXT_READ)
            break;
    }
    return state == NEXT_NONE && batch->count ? NEXT_READ : state;
}

static void show_progress(double begun, uint64_t vectors, const patch_stream *stream) {
    if (app_progress_due())
        app_progress("%" PRIu64 " vectors from %" PRIu64 " images, %.0f a second", vectors,
                     patches_images(stream), (double)vectors / (app_seconds() - begun));
}

static bool write_header(FILE *file, uint64_t vectors, size_t size) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(NPY_UINT8, 2, vectors, size, header);
    return fwrite(header, sizeof header, 1, file) == 1;
}

/* Writes header and vectors; writes the header again at the end, with the number of vectors. */
static bool write_features(const app_output *output, patch_stream *stream, struct batch *batch,
                           int threads, uint64_t *vectors, app_problem *problem) {
    double begun = app_seconds();
    size_t size = hog_size(batch->shape);
    next_state state;
    *vectors = 0;
    /* The output can't be a pipe because the header is written twice. */
    if (fseeko(output->file, 0, SEEK_SET) || !write_header(output->file, 0, size))
        return app_output_failed(output, problem);
    while ((state = batch_fill(batch, stream, problem)) == NEXT_READ) {
        batch_describe(batch, threads);
        if (fwrite(batch->features, size, batch->count, output->file) != batch->count) {
            app_output_failed(output, problem);
            state = NEXT_FAILED;
            break;
        }
        *vectors += batch->count;
        show_progress(begun, *vectors, stream);
    }
    app_progress_hide();
    if (state == NEXT_FAILED)
        return false;
    if (!*vectors)
        return app_refuse(problem, "no images to describe");
    if (fseeko(output->file, 0, SEEK_SET) || !write_header(output->file, *vectors, size))
        return app_output_failed(output, problem);
    return true;
}

static bool compute_features(const patch_choice *choice, hog_shape shape, int threads,
                             const char *path, app_problem *problem) {
    struct batch batch = {0};
    app_output output = {0};
    uint64_t vectors;
    bool good = false;
    double begun = app_seconds();
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--output", &path, 1, NULL},
                                  patches_files(choice)};
    if (!app_files_check(files, 2, problem))
        return false;
    patch_stream *stream = patches_open(choice, problem);
    if (!stream || !batch_begin(&batch, shape, choice->patch, problem) ||
        !app_output_open(&output, path, problem))
        goto release;
    good = write_features(&output, stream, &batch, threads, &vectors, problem) &&
           app_output_commit(&output, problem);
    if (good)
        printf("%s: %" PRIu64 " vectors of %zu bytes from %" PRIu64 " images, patches of %" PRIu64
               " pixels every %" PRIu64 ", in %.1f s\n",
               path, vectors, hog_size(shape), patches_images(stream) - patches_bad(stream),
               choice->patch, choice->stride, app_seconds() - begun);
    if (good && patches_bad(stream))
        printf("%" PRIu64 " images left out\n", patches_bad(stream));
release:
    app_output_discard(&output);
    batch_end(&batch);
    patches_close(stream);
    return good;
}

bool verb_features(int argc, char **argv, app_problem *problem) {
    enum { THREADS_MOST = 1024 };
    patch_choice choice = default_patches;
    hog_shape shape = default_shape;
    int threads = omp_get_max_threads();
    const char *path = NULL;
    const app_option options[] = {
        PATCH_OPTIONS(&choice),
        HOG_OPTIONS(&shape),
        APP_PROGRESS_OPTION,
        {"threads", "T", "OpenMP threads", .integer = &threads, .least = 1, .most = THREADS_MOST},
        {"output", "FILE.npy", "the vectors, uint8, a row each", .text = &path, .required = true},
    };
    const app_command command = {"coll-words features", usage, NULL, APP_TABLE(options)};
    bool good = app_parse(&command, argc, argv, problem) &&
                verb_check_shape(shape, choice.patch, problem) &&
                compute_features(&choice, shape, threads, path, problem);
    app_words_free(&choice.paths);
    return good;
}

/* coll-words features: images -> dense patches -> HOG vectors, n x 512 bytes. */
#include "config.h"

#include "kmeans/hog.h"
#include "kmeans/npy.h"
#include "kmeans/options.h"
#include "kmeans/output.h"
#include "kmeans/words.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage[] =
    "Usage: coll-words features [OPTIONS] --output FILE.npy\n"
    "\n"
    "Describes square patches on a regular grid of every image by histograms of\n"
    "oriented gradients: 4 x 4 cells of 32 orientations, 512 bytes. The rows of FILE\n"
    "follow image, row and column of the patches. The defaults give 540,000 vectors\n"
    "from the 60,000 images of Fashion-MNIST.\n";

/* Patches described together: a few MB of them, or one. */
enum { BATCH_PATCHES = 4096, BATCH_PIXELS = 1 << 22 };

struct batch {
    uint8_t *pixels;   /* patches one after another */
    uint8_t *features; /* HOG_SIZE bytes of each */
    size_t room, count;
};

struct progress {
    bool shown;
    double begun, last;
};

static bool batch_begin(struct batch *batch, size_t patch, struct problem *problem) {
    batch->room = BATCH_PIXELS / (patch * patch);
    if (batch->room > BATCH_PATCHES)
        batch->room = BATCH_PATCHES;
    batch->pixels = malloc(batch->room * patch * patch);
    batch->features = malloc(batch->room * HOG_SIZE);
    if (batch->pixels && batch->features)
        return true;
    return problem_set(problem, "out of memory");
}

/* Reads patches until the batch is full or none are left; NEXT_NONE when it stays empty. */
static next_state batch_fill(struct batch *batch, patch_stream *stream, size_t patch,
                             struct problem *problem) {
    next_state state = NEXT_READ;
    for (batch->count = 0; batch->count < batch->room; batch->count++) {
        state = patches_next(stream, batch->pixels + batch->count * patch * patch, problem);
        if (state != NEXT_READ)
            break;
    }
    return state == NEXT_NONE && batch->count ? NEXT_READ : state;
}

static void batch_describe(struct batch *batch, size_t patch, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < batch->count; i++)
        hog_describe(batch->pixels + i * patch * patch, patch, batch->features + i * HOG_SIZE);
}

static void progress_show(struct progress *progress, uint64_t vectors, const patch_stream *stream) {
    double now = omp_get_wtime();
    if (!progress->shown || now - progress->last < 0.2)
        return;
    progress->last = now;
    fprintf(stderr, "\r%" PRIu64 " vectors from %" PRIu64 " images, %.0f a second ", vectors,
            patches_images(stream), (double)vectors / (now - progress->begun));
}

static void progress_end(const struct progress *progress) {
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
}

static bool write_header(FILE *file, uint64_t vectors) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(NPY_UINT8, 2, vectors, HOG_SIZE, header);
    return fwrite(header, sizeof header, 1, file) == 1;
}

/* Writes header and vectors; the header first without and then with the number that it counts. */
static bool write_features(const struct output *output, patch_stream *stream, struct batch *batch,
                           size_t patch, int threads, uint64_t *vectors, struct problem *problem) {
    struct progress progress = {isatty(STDERR_FILENO), omp_get_wtime(), 0};
    next_state state;
    *vectors = 0;
    if (!write_header(output->file, 0))
        return output_failed(output, problem);
    while ((state = batch_fill(batch, stream, patch, problem)) == NEXT_READ) {
        batch_describe(batch, patch, threads);
        if (fwrite(batch->features, HOG_SIZE, batch->count, output->file) != batch->count) {
            output_failed(output, problem);
            state = NEXT_FAILED;
            break;
        }
        *vectors += batch->count;
        progress_show(&progress, *vectors, stream);
    }
    progress_end(&progress);
    if (state == NEXT_FAILED)
        return false;
    if (!*vectors)
        return problem_set(problem, "no images to describe");
    if (fseeko(output->file, 0, SEEK_SET) || !write_header(output->file, *vectors))
        return output_failed(output, problem);
    return true;
}

static bool run(const patch_choice *choice, int threads, const char *path,
                struct problem *problem) {
    struct batch batch = {0};
    struct output output = {0};
    uint64_t vectors;
    bool good = false;
    double begun = omp_get_wtime();
    patch_stream *stream = patches_open(choice, problem);
    if (!stream || !batch_begin(&batch, choice->patch, problem) ||
        !output_open(&output, path, problem))
        goto release;
    good = write_features(&output, stream, &batch, choice->patch, threads, &vectors, problem) &&
           output_commit(&output, problem);
    if (good)
        printf("%s: %" PRIu64 " vectors of %d bytes from %" PRIu64 " images, patches of %" PRIu64
               " pixels every %" PRIu64 ", in %.1f s\n",
               path, vectors, HOG_SIZE, patches_images(stream), choice->patch, choice->stride,
               omp_get_wtime() - begun);
release:
    output_discard(&output);
    free(batch.features);
    free(batch.pixels);
    patches_close(stream);
    return good;
}

int verb_features(int argc, char **argv) {
    enum { OPTIONS = PATCH_OPTIONS + 2, THREADS_MOST = 1024 };
    patch_choice choice;
    uint64_t threads = (uint64_t)omp_get_max_threads();
    const char *path = NULL;
    struct problem problem;
    option_row options[OPTIONS] = {
        [PATCH_OPTIONS] = {"threads", "T", "OpenMP threads", OPTION_INTEGER, false, &threads, 1,
                           THREADS_MOST},
        {"output", "FILE.npy", "the vectors, uint8, n x 512", OPTION_TEXT, true, &path, 0, 0},
    };
    options_of_patches(&choice, options);
    options_state state = options_parse(argc, argv, usage, options, OPTIONS, &problem);
    bool good = state == OPTIONS_HELP ||
                (state == OPTIONS_GOOD && run(&choice, (int)threads, path, &problem));
    free(choice.paths.words);
    return good ? EXIT_SUCCESS : verb_failed(&problem);
}

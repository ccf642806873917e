/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-words encode: images -> histograms of visual words, over MPI. In each round, every rank
 * processes one block of images: it describes the patches, assigns these to the nearest words, and
 * counts the words (bags.h). Rank 0 writes the lines in the order of the images, so the file is the
 * same for any number of ranks and threads.
 */
#include "config.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "kmeans/assign/assign.h"
#include "kmeans/assign/threads.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/npy.h"
#include "kmeans/words/bags.h"
#include "kmeans/words/hog.h"
#include "kmeans/words/labels.h"
#include "kmeans/words/words.h"

#include <coll.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: [mpirun -n RANKS] coll-words encode [OPTIONS] --centroids FILE.npy\n"
    "                                           --output FILE\n"
    "\n"
    "Counts in every image the visual words to which its patches are nearest, in the whole\n"
    "image and in the cells of a spatial pyramid, and writes the histograms as LIBSVM's\n"
    "text: a line for each image, with its label and the values that are not 0. Give the\n"
    "same --patch, --cells and --bins as for the features that were clustered; --stride may\n"
    "differ. The file is the same for any number of ranks and threads.\n";

/* The options. */
typedef struct encode_choice {
    patch_choice patches;
    hog_shape shape;
    uint64_t levels; /* levels of the pyramid */
    bag_norm norm;
    int threads;           /* threads of each rank */
    const char *centroids; /* path of the words: .npy, uint8 or float32 */
    const char *labels;    /* path of the labels (labels.h); NULL: 0 for all images */
    const char *output;    /* path of the LIBSVM text */
} encode_choice;

enum { BLOCK = 64, TAG = 1 }; /* images that a rank encodes at once */

typedef struct encoder {
    const encode_choice *choice;
    MPI_Comm comm;
    int rank, ranks;
    patch_stream *stream;
    struct labels labels;
    uint8_t *rows; /* the words: bytes, or planes if they are fixed-point (fixed_point.h) */
    bool fixed_point;
    km_projection *projection;
    km_centroids *words; /* packed */
    struct batch batch;
    /* The next three arrays have an element for each patch in the batch. */
    patch_place *places;
    size_t *images; /* number in the block of the patch's image */
    uint32_t *nearest;
    struct bags bags;
    struct text text; /* lines of the block */
} encoder;

/* Reads K words, rows of SIZE float32 features, from TABLE, and stores them in ROWS as planes of
 * fixed-point numbers (kmeans/points/fixed_point.h). */
static bool read_fixed_point(struct table *table, uint64_t k, size_t size, uint8_t *rows,
                             app_problem *problem) {
    float *row = malloc(size * sizeof *row);
    bool good = row || app_refuse(problem, "out of memory");
    for (uint64_t j = 0; good && j < k; j++) {
        good = table_read(table, row, problem);
        for (size_t i = 0; good && i < size; i++)
            good = km_planes_set_checked(rows, k * size, j * size + i, (double)row[i], table->path,
                                         problem);
    }
    free(row);
    return good;
}

/* Reads and checks the words at rank 0; sets *K to their number. */
static uint8_t *read_words(const encode_choice *choice, uint64_t *k, bool *fixed_point,
                           app_problem *problem) {
    struct table table = {0};
    uint8_t *rows = NULL;
    size_t size = hog_size(choice->shape);
    if (!table_open(&table, choice->centroids, 2, NPY_UINT8, NPY_FLOAT32, problem))
        goto close_table;
    *k = table.header.shape[0];
    *fixed_point = table.header.type == NPY_FLOAT32;
    if (table.header.shape[1] != size)
        app_refuse(problem,
                   "%s has %" PRIu64 " columns where %" PRIu64 " x %" PRIu64 " cells of %" PRIu64
                   " bins make %zu; give --cells and --bins as for the features",
                   choice->centroids, table.header.shape[1], choice->shape.cells,
                   choice->shape.cells, choice->shape.bins, size);
    else if (bags_bins(*k, choice->levels) > INT32_MAX)
        app_refuse(problem,
                   "%s: its %" PRIu64 " words and %" PRIu64
                   " levels make more bins than LIBSVM's text can number",
                   choice->centroids, *k, choice->levels);
    else if (!(rows = malloc(*k * size * (*fixed_point ? KM_PLANES : 1))))
        app_refuse(problem, "out of memory: %" PRIu64 " words of %zu bytes", *k, size);
    else if (*fixed_point)
        read_fixed_point(&table, *k, size, rows, problem);
    else if (fread(rows, size, *k, table.file) != *k)
        app_refuse(problem, "%s: was cut off while it was read", choice->centroids);
close_table:
    table_close(&table);
    return rows;
}

/* Packs the words for the kernel. */
static void pack_words(encoder *this, const km_kernel *kernel, size_t k, app_problem *problem) {
    size_t size = hog_size(this->choice->shape);
    int threads = this->choice->threads;
    if (km_centroids_create(this->rows, k, size, false, kernel, threads, &this->words) ||
        (this->fixed_point && km_centroids_use_fixed_point(this->words, this->rows, threads)) ||
        km_projection_create(this->rows, k, size, &this->projection) ||
        (this->projection &&
         km_centroids_prune(this->words, this->rows, this->projection, threads)))
        app_refuse(problem, "out of memory: %zu words of %zu bytes", k, size);
}

/* Sends the words to all ranks. */
static bool share_words(encoder *this, app_problem *problem) {
    size_t size = hog_size(this->choice->shape);
    char text[256];
    uint64_t told[2], k = 0;
    const km_kernel *kernel = km_kernel_best(text, sizeof text);
    if (!kernel)
        app_refuse(problem, "%s", text);
    else if (this->rank == 0)
        this->rows = read_words(this->choice, &k, &this->fixed_point, problem);
    if (!app_agree(problem, this->comm))
        return false;
    told[0] = k;
    told[1] = this->fixed_point;
    app_mpi(problem, MPI_Bcast(told, 2, MPI_UINT64_T, 0, this->comm));
    k = told[0];
    this->fixed_point = told[1];
    size_t bytes = k * size * (this->fixed_point ? KM_PLANES : 1);
    if (this->rank > 0 && !(this->rows = malloc(bytes + 1)))
        app_refuse(problem, "out of memory: %" PRIu64 " words of %zu bytes", k, size);
    if (!app_agree(problem, this->comm))
        return false;
    this->bags.words = k;
    if (app_mpi(problem, COLL_Bcast(this->rows, (MPI_Count)bytes, MPI_UINT8_T, 0, this->comm)))
        pack_words(this, kernel, k, problem);
    return app_agree(problem, this->comm);
}

/*
 * Opens the images and labels, and allocates the memory with which each rank encodes its own
 * images.
 */
static bool open_images(encoder *this, app_problem *problem) {
    const encode_choice *choice = this->choice;
    this->bags.levels = choice->levels;
    this->bags.norm = choice->norm;
    this->stream = patches_open(&choice->patches, problem);
    if (!this->stream || (choice->labels && !labels_read(choice->labels, &this->labels, problem)) ||
        !batch_begin(&this->batch, choice->shape, choice->patches.patch, problem))
        return false;
    this->places = calloc(this->batch.room, sizeof *this->places);
    this->images = calloc(this->batch.room, sizeof *this->images);
    this->nearest = calloc(this->batch.room, sizeof *this->nearest);
    return (this->places && this->images && this->nearest) || app_refuse(problem, "out of memory");
}

static void free_encoder(encoder *this) {
    free(this->text.bytes);
    free(this->bags.uses);
    free(this->nearest);
    free(this->images);
    free(this->places);
    batch_end(&this->batch);
    km_centroids_free(this->words);
    km_projection_free(this->projection);
    free(this->rows);
    free(this->labels.values);
    patches_close(this->stream);
}

/* Counts the patches of the batch and empties it. */
static bool count_batch(encoder *this, app_problem *problem) {
    struct batch *batch = &this->batch;
    int threads = this->choice->threads;
    if (!batch->count)
        return true;
    batch_describe(batch, threads);
    if (km_assign(batch->features, batch->count, hog_size(batch->shape), this->words, threads,
                  this->nearest, NULL))
        return app_refuse(problem, "out of memory");
    for (size_t i = 0; i < batch->count; i++)
        if (!bags_add(&this->bags, this->images[i], &this->places[i], batch->patch,
                      this->nearest[i], problem))
            return false;
    batch->count = 0;
    return true;
}

static bool add_image(encoder *this, size_t image, app_problem *problem) {
    struct batch *batch = &this->batch;
    while (patches_cut(this->stream, batch_next(batch), &this->places[batch->count])) {
        this->images[batch->count++] = image;
        if (batch->count == batch->room && !count_batch(this, problem))
            return false;
    }
    return true;
}

static bool label_of(const encoder *this, uint64_t image, int32_t *label, app_problem *problem) {
    *label = 0;
    if (!this->choice->labels)
        return true;
    if (image >= this->labels.count)
        return app_refuse(problem, "%s: has %zu labels, but there are more images",
                          this->choice->labels, this->labels.count);
    *label = this->labels.values[image];
    return true;
}

/* Skips images until image FIRST is next or the stream ends. */
static bool skip_to(encoder *this, uint64_t first, app_problem *problem) {
    next_state state = NEXT_READ;
    while (state == NEXT_READ && patches_images(this->stream) < first)
        state = patches_skip_image(this->stream, problem);
    return state != NEXT_FAILED;
}

/* Encodes the block of images from number FIRST on into the text; sets *IMAGES to their number. */
static bool encode_block(encoder *this, uint64_t first, size_t *images, app_problem *problem) {
    int32_t labels[BLOCK];
    bool kept[BLOCK];
    this->text.size = 0;
    *images = 0;
    if (!skip_to(this, first, problem))
        return false;
    while (*images < BLOCK && patches_images(this->stream) == first + *images) {
        next_state state = patches_image(this->stream, problem);
        if (state == NEXT_NONE)
            break;
        if (state == NEXT_FAILED || !label_of(this, first + *images, &labels[*images], problem))
            return false;
        kept[*images] = state == NEXT_READ;
        if (kept[*images] && !add_image(this, *images, problem))
            return false;
        ++*images;
    }
    return count_batch(this, problem) &&
           bags_write(&this->bags, labels, kept, *images, &this->text, problem) &&
           (this->text.size <= INT_MAX ||
            app_refuse(problem, "%d images make more than 2 GB of text", BLOCK));
}

/*
 * Writes the blocks of all ranks in the order of the ranks; the text of rank 0 has room for each of
 * the blocks. A failure to write is reported in the next round.
 */
static bool write_round(encoder *this, const app_output *output, app_problem *problem) {
    struct text *text = &this->text;
    if (this->rank > 0)
        return app_mpi(problem,
                       MPI_Send(text->bytes, (int)text->size, MPI_CHAR, 0, TAG, this->comm));
    for (int rank = 0;;) {
        MPI_Status status;
        int size, room = text->room < INT_MAX ? (int)text->room : INT_MAX;
        if (text->size && fwrite(text->bytes, text->size, 1, output->file) != 1)
            app_output_failed(output, problem);
        if (++rank == this->ranks)
            return !problem->text[0];
        if (!app_mpi(problem,
                     MPI_Recv(text->bytes, room, MPI_CHAR, rank, TAG, this->comm, &status)) ||
            !app_mpi(problem, MPI_Get_count(&status, MPI_CHAR, &size)))
            return false;
        text->size = (size_t)size;
    }
}

/* Prints progress at rank 0 after ROUNDS rounds, which began at time BEGUN. */
static void show_progress(const encoder *this, uint64_t rounds, double begun) {
    const uint64_t images = rounds * (uint64_t)this->ranks * BLOCK;
    if (this->rank == 0 && app_progress_due())
        app_progress("%" PRIu64 " images, %.0f a second", images,
                     (double)images / (app_seconds() - begun));
}

/* Encodes a block for each rank in each round, until no rank finds more images. */
static bool encode_rounds(encoder *this, const app_output *output, app_problem *problem) {
    const double begun = app_seconds();
    for (uint64_t round = 0;; round++) {
        size_t images = 0;
        if (round)
            show_progress(this, round, begun);
        uint64_t first = (round * (uint64_t)this->ranks + (uint64_t)this->rank) * BLOCK;
        if (!problem->text[0])
            encode_block(this, first, &images, problem);
        uint64_t most[] = {images, this->text.size}; /* maxima over all ranks */
        app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX, this->comm));
        if (this->rank == 0 && !problem->text[0])
            text_reserve(&this->text, most[1], problem);
        if (!app_agree(problem, this->comm))
            return false;
        if (!most[0]) {
            app_progress_hide();
            return true;
        }
        write_round(this, output, problem);
    }
}

/*
 * Checks at rank 0 that there are more images than the BAD ones that were left out, and as many
 * labels as images (or more labels if --limit was reached).
 */
static bool check_count(const encoder *this, uint64_t bad, app_problem *problem) {
    uint64_t images = patches_images(this->stream);
    if (images == bad)
        return app_refuse(problem, "no images to encode");
    return !this->choice->labels || images == this->labels.count || patches_limited(this->stream) ||
           app_refuse(problem, "%s: has %zu labels for %" PRIu64 " images", this->choice->labels,
                      this->labels.count, images);
}

static void print_summary(const encoder *this, uint64_t bad, double seconds) {
    const encode_choice *choice = this->choice;
    printf("%s: %" PRIu64 " images as histograms of %" PRIu64 " bins, %" PRIu64
           " words and %" PRIu64 " level%s, in %.1f s\n",
           choice->output, patches_images(this->stream) - bad,
           bags_bins(this->bags.words, choice->levels), this->bags.words, choice->levels,
           choice->levels == 1 ? "" : "s", seconds);
    if (bad)
        printf("%" PRIu64 " images left out\n", bad);
}

static void check_files(const encode_choice *choice, app_problem *problem) {
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--output", &choice->output, 1, NULL},
                                  {APP_FILE_READ, "--centroids", &choice->centroids, 1, NULL},
                                  {APP_FILE_READ, "--labels", &choice->labels, 1, NULL},
                                  patches_files(&choice->patches)};
    app_files_check(files, sizeof files / sizeof *files, problem);
}

/* Completes the file. */
static void finish_output(encoder *this, app_output *output, double begun, app_problem *problem) {
    uint64_t mine = patches_bad(this->stream), bad = 0;
    bool first = this->rank == 0;
    app_mpi(problem, MPI_Reduce(&mine, &bad, 1, MPI_UINT64_T, MPI_SUM, 0, this->comm));
    if (first && !problem->text[0] && check_count(this, bad, problem))
        app_output_commit(output, problem);
    if (app_agree(problem, this->comm) && first)
        print_summary(this, bad, app_seconds() - begun);
}

/* Encodes all images; on return all ranks have the same problem, if any. */
static void encode_images(encode_choice *choice, MPI_Comm comm, app_problem *problem) {
    encoder this = {
        .choice = choice, .comm = comm, .rank = app_rank(comm), .ranks = app_ranks(comm)};
    app_output output = {0};
    double begun = app_seconds();
    if (!choice->threads && !km_default_threads(comm, &choice->threads, problem))
        return;
    if (this.rank == 0)
        check_files(choice, problem);
    if (!app_agree(problem, comm))
        return;
    if (open_images(&this, problem) && this.rank == 0)
        app_output_open(&output, choice->output, problem);
    if (app_agree(problem, comm) && share_words(&this, problem) &&
        encode_rounds(&this, &output, problem))
        finish_output(&this, &output, begun, problem);
    app_output_discard(&output);
    free_encoder(&this);
}

bool verb_encode(int argc, char **argv, app_problem *problem) {
    enum { THREADS_MOST = 1024 };
    encode_choice choice = {.patches = default_patches, .shape = default_shape, .levels = 2};
    int norm = BAG_HELLINGER;
    const app_option options[] = {
        PATCH_OPTIONS(&choice.patches),
        HOG_OPTIONS(&choice.shape),
        {"pyramid", "L", "levels of the spatial pyramid: 1 is the whole image alone",
         .size = &choice.levels, .least = 1, .most = BAGS_LEVELS_MOST},
        {"norm", "NORM",
         "values are the counts, or the counts scaled to sum 1 (l1) or to length 1 (l2), or the "
         "square roots of l1 (hellinger):",
         .choice = &norm, .nth = bags_norm_name},
        {"labels", "FILE",
         "the images' classes: IDX (plain or .gz), or an integer on each line (default 0 for all)",
         .text = &choice.labels},
        APP_PROGRESS_OPTION,
        {"threads", "T", "OpenMP threads of each rank; 0: its processors",
         .integer = &choice.threads, .most = THREADS_MOST},
        {"centroids", "FILE.npy", "the words, uint8 or float32", .text = &choice.centroids,
         .required = true},
        {"output", "FILE", "the histograms", .text = &choice.output, .required = true},
    };
    const app_command command = {"coll-words encode", usage, NULL, APP_TABLE(options)};
    if (app_parse(&command, argc, argv, problem))
        verb_check_shape(choice.shape, choice.patches.patch, problem);
    choice.norm = (bag_norm)norm;
    /* All ranks have the same options, so it is enough that rank 0 reports errors in them. */
    MPI_Comm comm = app_begin(NULL, NULL, "coll-words", problem);
    encode_images(&choice, comm, problem);
    app_agree_or_end(comm, "coll-words", problem);
    app_end(&comm);
    app_words_free(&choice.patches.paths);
    return true;
}

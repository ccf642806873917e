/* coll-words encode: images -> histograms of visual words, over MPI. */
#include "config.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/options.h"
#include "kmeans/assign/threads.h"
#include "kmeans/words/encode.h"
#include "kmeans/words/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: [mpirun -n RANKS] coll-words encode [OPTIONS] --centroids FILE.npy\n"
    "                                           --output FILE\n"
    "\n"
    "Counts, in every image, the visual words that its patches are nearest to, in the\n"
    "whole image and in the cells of a spatial pyramid, and writes the histograms as\n"
    "LIBSVM's text: a line for each image, its label and the values that are not 0. Give\n"
    "--patch, --cells and --bins as for the features that were clustered; --stride may\n"
    "differ. The file is the same for any number of ranks and threads.\n";

static bool encode(encode_choice *choice, MPI_Comm comm, app_problem *problem) {
    encode_result result;
    double begun = app_seconds();
    if (!choice->threads && !km_default_threads(comm, &choice->threads, problem))
        return false;
    if (!encode_images(choice, comm, &result, problem))
        return false;
    if (app_rank(comm) > 0)
        return true;
    printf("%s: %" PRIu64 " images as histograms of %" PRIu64 " bins, %" PRIu64
           " words and %" PRIu64 " level%s, in %.1f s\n",
           choice->output, result.images, result.bins, result.words, choice->levels,
           choice->levels == 1 ? "" : "s", app_seconds() - begun);
    if (result.bad)
        printf("%" PRIu64 " images left out\n", result.bad);
    return true;
}

bool verb_encode(int argc, char **argv, app_problem *problem) {
    enum { THREADS_MOST = 1024 };
    encode_choice choice = {.patches = all_patches, .shape = usual_shape, .levels = 2};
    int norm = BAG_HELLINGER;
    const app_option options[] = {
        PATCH_OPTIONS(&choice.patches),
        HOG_OPTIONS(&choice.shape),
        {"pyramid", "L", "levels of the spatial pyramid: 1 is the whole image alone",
         .size = &choice.levels, .least = 1, .most = BAGS_LEVELS_MOST},
        {"norm", "NORM",
         "values are counts, or these of sum 1 (l1), of length 1 (l2), or the roots of those of "
         "sum 1 (hellinger):",
         .choice = &norm, .nth = bags_norm_name},
        {"labels", "FILE",
         "the images' classes: IDX (plain or .gz), or an integer on each line (default 0 for all)",
         .text = &choice.labels},
        {"threads", "T", "OpenMP threads of each rank; 0: its processors",
         .integer = &choice.threads, .most = THREADS_MOST},
        {"centroids", "FILE.npy", "the words, uint8", .text = &choice.centroids, .required = true},
        {"output", "FILE", "the histograms", .text = &choice.output, .required = true},
    };
    const app_command command = {"coll-words encode", usage, NULL, APP_TABLE(options)};
    if (app_parse(&command, argc, argv, problem))
        verb_check_shape(choice.shape, choice.patches.patch, problem);
    choice.norm = (bag_norm)norm;
    /* All ranks have the same options: where these are wrong, rank 0 says so. */
    MPI_Comm comm = app_begin(NULL, NULL, "coll-words", problem);
    encode(&choice, comm, problem);
    app_agree_or_end(comm, "coll-words", problem);
    app_end(&comm);
    app_words_free(&choice.patches.paths);
    return true;
}

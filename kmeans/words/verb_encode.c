/* coll-words encode: images -> histograms of visual words, over MPI. */
#include "config.h"

#include "app/cli.h"
#include "app/options.h"
#include "kmeans/assign/threads.h"
#include "kmeans/words/encode.h"
#include "kmeans/words/words.h"

#include <inttypes.h>
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

static bool encode(encode_choice *choice, MPI_Comm comm, struct problem *problem) {
    encode_result result;
    int rank;
    double begun = MPI_Wtime();
    MPI_Comm_rank(comm, &rank);
    if (!choice->threads && !km_default_threads(comm, &choice->threads, problem))
        return false;
    if (!encode_images(choice, comm, &result, problem))
        return false;
    if (rank > 0)
        return true;
    printf("%s: %" PRIu64 " images as histograms of %" PRIu64 " bins, %" PRIu64
           " words and %" PRIu64 " level%s, in %.1f s\n",
           choice->output, result.images, result.bins, result.words, choice->levels,
           choice->levels == 1 ? "" : "s", MPI_Wtime() - begun);
    if (result.bad)
        printf("%" PRIu64 " images left out\n", result.bad);
    return true;
}

/* All ranks have the same options: where these are wrong, rank 0 says so. */
static int run_mpi(encode_choice *choice, bool parsed, struct problem *problem) {
    MPI_Comm comm = cli_begin(NULL, NULL, "coll-words", parsed ? "" : problem->text);
    bool good = encode(choice, comm, problem);
    cli_agree(comm, "coll-words", good ? "" : problem->text);
    return cli_end(&comm);
}

int verb_encode(int argc, char **argv) {
    enum { OWN = PATCH_OPTIONS + HOG_OPTIONS, OPTIONS = OWN + 6, THREADS_MOST = 1024 };
    encode_choice choice = {.levels = 2};
    const char *norm = "hellinger";
    uint64_t threads = 0;
    struct problem problem = {""};
    option_row options[OPTIONS] = {
        [OWN] = {"pyramid", "L", "levels of the spatial pyramid: 1 is the whole image alone",
                 OPTION_INTEGER, false, &choice.levels, 1, BAGS_LEVELS_MOST},
        {"norm", "NORM",
         "counts, l1 (sum 1), l2 (length 1), or hellinger (roots of\nthose of sum 1; the default)",
         OPTION_TEXT, false, &norm, 0, 0},
        {"labels", "FILE",
         "the images' classes: IDX (plain or .gz), or an integer on\neach line (0 for all)",
         OPTION_TEXT, false, &choice.labels, 0, 0},
        {"threads", "T", "OpenMP threads of each rank; 0: its processors", OPTION_INTEGER, false,
         &threads, 0, THREADS_MOST},
        {"centroids", "FILE.npy", "the words, uint8", OPTION_TEXT, true, &choice.centroids, 0, 0},
        {"output", "FILE", "the histograms", OPTION_TEXT, true, &choice.output, 0, 0},
    };
    options_of_patches(&choice.patches, options);
    options_of_hog(&choice.shape, options + PATCH_OPTIONS);
    options_state state = options_parse(argc, argv, usage, options, OPTIONS, &problem);
    int status = EXIT_SUCCESS;
    choice.threads = (int)threads;
    if (state != OPTIONS_HELP)
        status = run_mpi(&choice,
                         state == OPTIONS_GOOD && bags_norm(norm, &choice.norm, &problem) &&
                             options_check_hog(choice.shape, choice.patches.patch, &problem),
                         &problem);
    free(choice.patches.paths.words);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-words: from images to visual words. Dispatches to the verbs, each of which has its own file.
 */
#include "config.h"

#include "app/output.h"
#include "kmeans/words/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    verb_run *run;
    const char *summary;
} verbs[] = {
    {"features", verb_features, "describe the dense patches of images by 512 bytes each"},
    {"encode", verb_encode, "count the visual words of images: histograms, over MPI"},
    {"train", verb_train, "train a linear SVM on histograms"},
    {"test", verb_test, "classify histograms, and print the accuracy"},
    {"curve", verb_curve, "accuracy against the size of the vocabulary, as table and picture"},
    {"sheet", verb_sheet, "draw the most used visual words as a sheet of their patches"},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

const patch_choice default_patches = {.limit = UINT64_MAX, .patch = 16, .stride = 6};
const hog_shape default_shape = {.cells = 4, .bins = 32};

bool verb_check_shape(hog_shape shape, uint64_t patch, app_problem *problem) {
    return shape.cells <= patch ||
           app_refuse(problem,
                      "--cells %" PRIu64 ": a patch of %" PRIu64 " pixels has %" PRIu64 " at most",
                      shape.cells, patch, patch);
}

static int print_help(void) {
    printf("Usage: coll-words VERB [OPTIONS]\n"
           "\n"
           "From images to features, and from clustered features to visual words.\n"
           "\n");
    for (int i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i].name, verbs[i].summary);
    printf("\n"
           "coll-words VERB --help explains a verb; coll-words --version prints the version.\n");
    return EXIT_SUCCESS;
}

static int fail_listing_verbs(const char *what) {
    fprintf(stderr, "coll-words: %s; the verbs are", what);
    for (int i = 0; i < VERBS; i++)
        fprintf(stderr, "%s %s", i ? "," : "", verbs[i].name);
    fprintf(stderr, "\n");
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    char unknown[128];
    if (argc < 2)
        return fail_listing_verbs("no verb given");
    if (!strcmp(argv[1], "--help"))
        return print_help();
    if (!strcmp(argv[1], "--version"))
        return printf("coll-words (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION) < 0;
    for (int i = 0; i < VERBS; i++)
        if (!strcmp(argv[1], verbs[i].name)) {
            app_problem problem = {""};
            if (verbs[i].run(argc - 1, argv + 1, &problem) && app_output_flush_stdout(&problem))
                return EXIT_SUCCESS;
            fprintf(stderr, "coll-words: %s\n", problem.text);
            return EXIT_FAILURE;
        }
    snprintf(unknown, sizeof unknown, "unknown verb '%s'", argv[1]);
    return fail_listing_verbs(unknown);
}

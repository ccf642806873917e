/* coll-words train: histograms -> a linear SVM. */
#include "config.h"

#include "app/cli.h"
#include "app/files.h"
#include "app/options.h"
#include "kmeans/words/svm.h"
#include "kmeans/words/words.h"

#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: coll-words train [OPTIONS] --input FILE --model FILE\n"
    "\n"
    "Trains a linear support vector machine, one class against the rest, by liblinear.\n"
    "Input and model are what liblinear's own programs read and write.\n";

static bool run(const char *input, double cost, const char *path, struct problem *problem) {
    double begun = cli_seconds();
    const file_use files[] = {{FILE_WRITTEN, "--model", &path, 1, NULL},
                              {FILE_READ, "--input", &input, 1, NULL}};
    if (!files_check(files, 2, problem))
        return false;
    svm_rows *rows = svm_read(input, problem);
    bool good = rows && svm_train(rows, cost, path, problem);
    if (good)
        printf("%s: trained on %zu rows in %.1f s\n", path, svm_count(rows), cli_seconds() - begun);
    svm_free(rows);
    return good;
}

int verb_train(int argc, char **argv) {
    const char *input = NULL, *path = NULL;
    double cost = 1;
    struct problem problem;
    option_row options[] = {
        {"input", "FILE", "the histograms, LIBSVM's text", OPTION_TEXT, true, &input, 0, 0},
        {"cost", "C", "weight of the loss of each row", OPTION_NUMBER, false, &cost, 0, 1000000000},
        {"model", "FILE", "the trained SVM", OPTION_TEXT, true, &path, 0, 0},
    };
    options_state state =
        options_parse(argc, argv, usage, options, sizeof options / sizeof *options, &problem);
    bool good =
        state == OPTIONS_HELP || (state == OPTIONS_GOOD && run(input, cost, path, &problem));
    return good ? EXIT_SUCCESS : verb_failed(&problem);
}

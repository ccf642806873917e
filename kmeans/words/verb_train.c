/* coll-words train: histograms -> a linear SVM. */
#include "config.h"

#include "app/clocks.h"
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

static bool run(const char *input, double cost, const char *path, app_problem *problem) {
    double begun = app_seconds();
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--model", &path, 1, NULL},
                                  {APP_FILE_READ, "--input", &input, 1, NULL}};
    if (!app_files_check(files, 2, problem))
        return false;
    svm_rows *rows = svm_read(input, problem);
    bool good = rows && svm_train(rows, cost, path, problem);
    if (good)
        printf("%s: trained on %zu rows in %.1f s\n", path, svm_count(rows), app_seconds() - begun);
    svm_free(rows);
    return good;
}

bool verb_train(int argc, char **argv, app_problem *problem) {
    const char *input = NULL, *path = NULL;
    double cost = 1;
    const app_option options[] = {
        {"input", "FILE", "the histograms, LIBSVM's text", .text = &input, .required = true},
        {"cost", "C", "weight of the loss of each row", .number = &cost, .most = 1e9,
         .above = true},
        {"model", "FILE", "the trained SVM", .text = &path, .required = true},
    };
    const app_command command = {"coll-words train", usage, NULL, APP_TABLE(options)};
    return app_parse(&command, argc, argv, problem) && run(input, cost, path, problem);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-words train: histograms -> a linear SVM. */
#include "config.h"

#include "app/clocks.h"
#include "app/files.h"
#include "app/options.h"
#include "app/progress.h"
#include "kmeans/words/svm.h"
#include "kmeans/words/words.h"

#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: coll-words train [OPTIONS] --input FILE --model FILE\n"
    "\n"
    "Trains a linear support vector machine, one class against the rest, with liblinear.\n"
    "Input and model have the formats of liblinear's own programs.\n"
    "\n"
    "Of several costs it takes the one with which most of the rows kept back from training are\n"
    "classified correctly, the first of equally good ones, and then trains on all rows. So the\n"
    "choice doesn't depend on the rows that are tested later.\n";

enum { MOST_COSTS = 32, USUAL_KEPT_OF = 5 };

struct request {
    const char *input, *model;
    double costs[MOST_COSTS];
    size_t count;
    uint64_t kept_of; /* one row in this many is for validation; 0: none */
};

static bool take_cost(const char *text, void *context, app_problem *problem) {
    struct request *request = context;
    const double most = 1e9;
    double cost;
    if (!app_parse_number(text, &cost) || !(cost > 0 && cost <= most))
        return app_refuse(problem, "--cost %s: a number above 0, up to %g, is needed", text, most);
    if (request->count == MOST_COSTS)
        return app_refuse(problem, "--cost: %d costs at most", MOST_COSTS);
    request->costs[request->count++] = cost;
    return true;
}

/* Copies the best cost to the front. */
static bool choose_cost(struct request *request, svm_rows *rows, app_problem *problem) {
    size_t kept, correct, most = 0, best = 0;
    for (size_t i = 0; i < request->count; i++) {
        if (!svm_validate(rows, request->costs[i], request->kept_of, &kept, &correct, problem))
            return false;
        printf("cost %g: %zu of %zu rows kept back are right, %.2f%%\n", request->costs[i], correct,
               kept, 100 * (double)correct / (double)kept);
        if (i == 0 || correct > most) {
            most = correct;
            best = i;
        }
    }
    request->costs[0] = request->costs[best];
    return true;
}

static bool run_training(struct request *request, app_problem *problem) {
    double begun = app_seconds();
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--model", &request->model, 1, NULL},
                                  {APP_FILE_READ, "--input", &request->input, 1, NULL}};
    if (!app_files_check(files, 2, problem))
        return false;
    if (request->count > 1 && !request->kept_of)
        request->kept_of = USUAL_KEPT_OF;
    svm_rows *rows = svm_read(request->input, problem);
    bool good = rows && (!request->kept_of || choose_cost(request, rows, problem)) &&
                svm_train(rows, request->costs[0], request->model, problem);
    if (good)
        printf("%s: trained on %zu rows with cost %g in %.1f s\n", request->model, svm_count(rows),
               request->costs[0], app_seconds() - begun);
    svm_free(rows);
    return good;
}

bool verb_train(int argc, char **argv, app_problem *problem) {
    struct request request = {0};
    const app_option options[] = {
        {"input", "FILE", "the histograms, LIBSVM's text", .text = &request.input,
         .required = true},
        {"cost", "C,...", "weight of the loss of each row; the best of several", .take = take_cost,
         .context = &request, .separators = ",", .fallback = "1"},
        {"kept-of", "N",
         "keep one row of N back, and print how many of these are classified correctly (default "
         "with several costs: 5)",
         .size = &request.kept_of, .least = 2, .most = INT32_MAX},
        {"model", "FILE", "the trained SVM", .text = &request.model, .required = true},
        APP_PROGRESS_OPTION,
    };
    const app_command command = {"coll-words train", usage, NULL, APP_TABLE(options)};
    return app_parse(&command, argc, argv, problem) && run_training(&request, problem);
}

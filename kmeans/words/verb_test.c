/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-words test: histograms and an SVM -> accuracy. */
#include "config.h"

#include "app/files.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "kmeans/words/svm.h"
#include "kmeans/words/words.h"

#include <stdlib.h>

static const char usage[] =
    "Usage: coll-words test [OPTIONS] --input FILE --model FILE\n"
    "\n"
    "Classifies histograms that were not trained on, and prints how many are classified\n"
    "correctly, for each class and in all.\n";

struct request {
    const char *input, *model, *json;
    uint64_t words, seed;
};

static void print_result(const svm_result *result) {
    printf("%12s %10s %10s %9s\n", "class", "rows", "correct", "percent");
    for (size_t i = 0; i < result->count; i++) {
        const svm_class *found = &result->classes[i];
        bool unknown = i + 1 == result->count;
        if (!found->rows)
            continue;
        if (unknown)
            printf("%12s", "unknown");
        else
            printf("%12d", found->label);
        printf(" %10zu %10zu %9.2f\n", found->rows, found->correct,
               100 * (double)found->correct / (double)found->rows);
    }
    printf("accuracy: %zu of %zu, %.2f%%\n", result->correct, result->rows,
           100 * (double)result->correct / (double)result->rows);
}

static bool write_json(const struct request *request, const svm_result *result,
                       app_problem *problem) {
    app_output output = {0};
    if (!app_output_open(&output, request->json, problem))
        return false;
    app_json(output.file, app_json_integer("words", (int64_t)request->words),
             app_json_integer("seed", (int64_t)request->seed),
             app_json_integer("rows", (int64_t)result->rows),
             app_json_integer("correct", (int64_t)result->correct),
             app_json_number("percent", 100 * (double)result->correct / (double)result->rows));
    bool good = app_output_commit(&output, problem);
    app_output_discard(&output);
    return good;
}

static bool run_test(const struct request *request, app_problem *problem) {
    svm_result result = {0};
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--json", &request->json, 1, NULL},
                                  {APP_FILE_READ, "--input", &request->input, 1, NULL},
                                  {APP_FILE_READ, "--model", &request->model, 1, NULL}};
    if (!app_files_check(files, 3, problem))
        return false;
    svm_rows *rows = svm_read(request->input, problem);
    bool good = rows && svm_test(rows, request->model, &result, problem) &&
                (!request->json || write_json(request, &result, problem));
    if (good)
        print_result(&result);
    free(result.classes);
    svm_free(rows);
    return good;
}

bool verb_test(int argc, char **argv, app_problem *problem) {
    struct request request = {0};
    const app_option options[] = {
        {"input", "FILE", "the histograms, LIBSVM's text", .text = &request.input,
         .required = true},
        {"model", "FILE", "the trained SVM", .text = &request.model, .required = true},
        {"json", "FILE", "write the accuracy here, as \"curve\" reads it", .text = &request.json},
        {"words", "K", "how many words the histograms count, for the JSON", .size = &request.words,
         .most = INT32_MAX},
        {"seed", "S", "what they were clustered with, for the JSON", .size = &request.seed},
    };
    const app_command command = {"coll-words test", usage, NULL, APP_TABLE(options)};
    return app_parse(&command, argc, argv, problem) && run_test(&request, problem);
}

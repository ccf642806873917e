/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear support vector machines with liblinear (Fan et al., 2008), one class against the rest, on
 * LIBSVM's text: a label and index:value pairs on each line. Without liblinear all functions here
 * fail and name the missing package.
 */
#ifndef COLL_KMEANS_WORDS_SVM_H
#define COLL_KMEANS_WORDS_SVM_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

typedef struct svm_rows svm_rows;

/* Reads the file at PATH. Returns NULL and a problem on failure. Free the rows with svm_free. */
svm_rows *svm_read(const char *path, app_problem *problem);

size_t svm_count(const svm_rows *rows);

void svm_free(svm_rows *rows);

/*
 * Trains an L2-regularised SVM with squared hinge loss, where COST is the weight of each row's
 * loss, and writes the SVM to the file MODEL in liblinear's own format. The same rows give the same
 * model.
 */
bool svm_train(svm_rows *rows, double cost, const char *model, app_problem *problem);

/*
 * Trains on all rows except for about one in KEPT_OF, chosen at random but always in the same way,
 * and classifies the rows left out: *CORRECT of *KEPT are classified correctly. This allows
 * choosing a cost without the test data.
 */
bool svm_validate(svm_rows *rows, double cost, uint64_t kept_of, size_t *kept, size_t *correct,
                  app_problem *problem);

/* How the rows of one class were classified. */
typedef struct svm_class {
    int label;
    size_t rows, correct;
} svm_class;

typedef struct svm_result {
    size_t rows, correct;
    svm_class *classes; /* in the model's order; the last is for all rows whose class the model
                           doesn't know */
    size_t count;
} svm_result;

/* Classifies the rows with the model in the file MODEL. The caller frees RESULT->classes. */
bool svm_test(svm_rows *rows, const char *model, svm_result *result, app_problem *problem);

#endif

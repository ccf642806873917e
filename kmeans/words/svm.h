/*
 * Linear support vector machines by liblinear (Fan et al., 2008), one class against the rest, on
 * LIBSVM's text: a label and index:value pairs on each line. Without liblinear everything here
 * fails, and says which package is missing.
 */
#ifndef COLL_KMEANS_WORDS_SVM_H
#define COLL_KMEANS_WORDS_SVM_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

typedef struct svm_rows svm_rows;

/* Reads the file at PATH; NULL and a problem on failure. Free it with svm_free. */
svm_rows *svm_read(const char *path, app_problem *problem);

size_t svm_count(const svm_rows *rows);

void svm_free(svm_rows *rows);

/*
 * Trains an L2-regularised SVM of squared hinge loss, where COST weighs the loss of each row, and
 * writes it to the file MODEL, as liblinear's own programs read it. The same rows give the same
 * model.
 */
bool svm_train(svm_rows *rows, double cost, const char *model, app_problem *problem);

/*
 * Trains on all but one row of KEPT_OF, which are chosen at random, always the same ones, and
 * classifies those: *CORRECT of *KEPT come out right. So a cost is chosen without looking at what
 * will be tested.
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
    svm_class *classes; /* in the model's order, and last those that it doesn't know, as one */
    size_t count;
} svm_result;

/* Classifies the rows by the file MODEL. The caller frees RESULT->classes. */
bool svm_test(svm_rows *rows, const char *model, svm_result *result, app_problem *problem);

#endif

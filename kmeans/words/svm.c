/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/words/svm.h"

#ifdef HAVE_LINEAR

#include "app/output.h"
#include "app/progress.h"
#include "kmeans/points/memory.h"
#include "kmeans/points/random.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct svm_rows {
    const char *path;
    struct feature_node
        *nodes; /* of all rows; each row ends with room for a bias and an end mark */
    size_t used, room;
    size_t *starts; /* index of each row's first node */
    double *labels;
    size_t count, rows_room;
    int features; /* highest index of a feature */
};

static bool append_node(svm_rows *rows, int index, double value, app_problem *problem) {
    if (!km_grow(&rows->nodes, rows->used, &rows->room, sizeof *rows->nodes))
        return app_refuse(problem, "%s: out of memory", rows->path);
    rows->nodes[rows->used++] = (struct feature_node){index, value};
    return true;
}

static bool append_row(svm_rows *rows, double label, app_problem *problem) {
    size_t room = rows->rows_room;
    if (!km_grow(&rows->starts, rows->count, &room, sizeof *rows->starts) ||
        !km_grow(&rows->labels, rows->count, &rows->rows_room, sizeof *rows->labels))
        return app_refuse(problem, "%s: out of memory", rows->path);
    rows->starts[rows->count] = rows->used;
    rows->labels[rows->count++] = label;
    return true;
}

static bool parse_line(svm_rows *rows, char *line, app_problem *problem) {
    char *end;
    long before = 0;
    double label = strtod(line, &end);
    if (end == line || !(fabs(label) <= INT32_MAX) || label != trunc(label))
        return app_refuse(problem, "%s:%zu: begins with no label, a whole number", rows->path,
                          rows->count + 1);
    if (!append_row(rows, label, problem))
        return false;
    for (char *at = end; *(at += strspn(at, " \t\r\n")); at = end) {
        long index = strtol(at, &end, 10);
        double value = *end == ':' ? strtod(at = end + 1, &end) : NAN;
        if (end == at || !isfinite(value) || index <= before || index >= INT_MAX ||
            !strchr(" \t\r\n", *end))
            return app_refuse(problem,
                              "%s:%zu: is no line of LIBSVM's text: a label, and index:value with "
                              "ascending indices from 1",
                              rows->path, rows->count);
        if (!append_node(rows, (int)index, value, problem))
            return false;
        before = index;
    }
    if (before > rows->features)
        rows->features = (int)before;
    return append_node(rows, -1, 0, problem) && append_node(rows, -1, 0, problem);
}

svm_rows *svm_read(const char *path, app_problem *problem) {
    char *line = NULL;
    size_t size = 0;
    svm_rows *rows = calloc(1, sizeof *rows);
    FILE *file = fopen(path, "r");
    bool good = rows && file;
    if (!rows)
        app_refuse(problem, "out of memory");
    else if (!file)
        app_refuse(problem, "%s: %s", path, strerror(errno));
    else
        rows->path = path;
    while (good && getline(&line, &size, file) >= 0) {
        good = parse_line(rows, line, problem);
        if (app_progress_due())
            app_progress("%s: %zu rows read", path, rows->count);
    }
    if (good && !feof(file))
        good = app_refuse(problem, "%s: %s", path, strerror(errno));
    app_progress_hide();
    if (good && !rows->count)
        good = app_refuse(problem, "%s: is empty", path);
    free(line);
    if (file)
        fclose(file);
    if (good)
        return rows;
    svm_free(rows);
    return NULL;
}

size_t svm_count(const svm_rows *rows) {
    return rows->count;
}

void svm_free(svm_rows *rows) {
    if (!rows)
        return;
    free(rows->nodes);
    free(rows->starts);
    free(rows->labels);
    free(rows);
}

/*
 * Ends ROW after index FEATURES, and appends BIAS as one more feature unless it is negative.
 * Returns the nodes of ROW.
 */
static struct feature_node *end_row(svm_rows *rows, size_t row, int features, double bias) {
    struct feature_node *nodes = rows->nodes + rows->starts[row], *at = nodes;
    while (at->index != -1 && at->index <= features)
        at++;
    if (bias >= 0)
        *at++ = (struct feature_node){features + 1, bias};
    at->index = -1;
    return nodes;
}

static size_t count_classes(const svm_rows *rows, app_problem *problem) {
    enum { MOST = 100000 };
    double *seen = malloc(MOST * sizeof *seen);
    size_t count = 0;
    for (size_t row = 0; seen && row < rows->count && count < MOST; row++) {
        size_t at = 0;
        while (at < count && seen[at] != rows->labels[row])
            at++;
        if (at == count)
            seen[count++] = rows->labels[row];
    }
    if (!seen)
        app_refuse(problem, "out of memory");
    free(seen);
    return count;
}

/* The progress of fit_model; global because liblinear passes no context to its print function. */
static struct {
    double cost;
    size_t classes, done;
} fitting;

/* Receives what liblinear prints while it trains: dots, and a line for each finished class. */
static void show_progress(const char *text) {
    fitting.done += strstr(text, "optimization finished") != NULL;
    if (app_progress_due())
        app_progress("cost %g: trained for %zu of %zu classes", fitting.cost, fitting.done,
                     fitting.classes);
}

/* Returns the number of weights of a model; two classes have a single vector. */
static long long count_weights(size_t classes, int features) {
    return (long long)(classes == 2 ? 1 : classes) * features;
}

/*
 * Checks that the weights of CLASSES classes would fit in memory; liblinear does not check malloc,
 * and counts the weights as int.
 */
static bool check_memory(const svm_rows *rows, size_t classes, app_problem *problem) {
    size_t bytes;
    if (classes == 1)
        return app_refuse(problem, "%s: all %zu rows are of one class", rows->path, rows->count);
    if (count_weights(classes, rows->features + 1) > INT_MAX)
        return app_refuse(problem,
                          "%s: indices up to %d and %zu classes are too many for liblinear",
                          rows->path, rows->features, classes);
    void *trial = NULL;
    if (!__builtin_mul_overflow((size_t)rows->features + 1, classes * sizeof(double), &bytes))
        trial = malloc(bytes);
    free(trial);
    return trial || app_refuse(problem, "%s: out of memory: indices up to %d and %zu classes",
                               rows->path, rows->features, classes);
}

static bool write_model(const struct model *model, const char *path, app_problem *problem) {
    app_output output = {0};
    if (!app_output_open(&output, path, problem))
        return false;
    bool good =
        (!save_model(app_output_name(&output), model) || app_output_failed(&output, problem)) &&
        app_output_commit(&output, problem);
    app_output_discard(&output);
    return good;
}

/*
 * Returns whether ROW is left out of training. On average one row in KEPT_OF is left out, chosen at
 * random; no row if KEPT_OF is 0.
 */
static bool is_kept(size_t row, uint64_t kept_of) {
    enum { SEED = 1, STREAM = 1 };
    return kept_of && km_random_below(SEED, STREAM, row, kept_of) == 0;
}

/* Trains on the rows that are not left out. Returns NULL and a problem on failure. */
static struct model *fit_model(svm_rows *rows, double cost, uint64_t kept_of,
                               app_problem *problem) {
    struct parameter parameter = {
        .solver_type = L2R_L2LOSS_SVC_DUAL, .eps = 0.1, .C = cost, .p = 0.1};
    struct problem task = {.n = rows->features + 1, .bias = 1};
    struct model *model = NULL;
    if (rows->count > INT_MAX) {
        app_refuse(problem, "%s: %zu rows are too many", rows->path, rows->count);
        return NULL;
    }
    const size_t classes = count_classes(rows, problem);
    if (!classes || !check_memory(rows, classes, problem))
        return NULL;
    task.x = calloc(rows->count, sizeof *task.x);
    task.y = calloc(rows->count, sizeof *task.y);
    if (!task.x || !task.y) {
        app_refuse(problem, "out of memory");
        goto free_task;
    }
    for (size_t row = 0; row < rows->count; row++)
        if (!is_kept(row, kept_of)) {
            task.x[task.l] = end_row(rows, row, rows->features, task.bias);
            task.y[task.l++] = rows->labels[row];
        }
    fitting.cost = cost;
    fitting.done = 0;
    fitting.classes = classes == 2 ? 1 : classes; /* two classes need a single vector */
    set_print_string_function(show_progress);
    srand(1); /* liblinear permutes the rows with rand() */
    model = train(&task, &parameter);
    app_progress_hide();
free_task:
    free(task.y);
    free(task.x);
    return model;
}

bool svm_train(svm_rows *rows, double cost, const char *path, app_problem *problem) {
    struct model *model = fit_model(rows, cost, 0, problem);
    bool good = model && write_model(model, path, problem);
    if (model)
        free_and_destroy_model(&model);
    return good;
}

bool svm_validate(svm_rows *rows, double cost, uint64_t kept_of, size_t *kept, size_t *correct,
                  app_problem *problem) {
    *kept = *correct = 0;
    for (size_t row = 0; row < rows->count; row++)
        *kept += is_kept(row, kept_of);
    if (!*kept || *kept == rows->count)
        return app_refuse(problem, "%s: %zu rows are too few to keep one of %" PRIu64 " back",
                          rows->path, rows->count, kept_of);
    struct model *model = fit_model(rows, cost, kept_of, problem);
    if (!model)
        return false;
    for (size_t row = 0; row < rows->count; row++)
        if (is_kept(row, kept_of)) {
            struct feature_node *nodes = end_row(rows, row, model->nr_feature, model->bias);
            *correct += predict(model, nodes) == rows->labels[row];
        }
    free_and_destroy_model(&model);
    return true;
}

/*
 * Checks that the model has classes, and that the file is large enough for the weights that its
 * header promises (each takes at least 2 bytes). liblinear checks neither.
 */
static bool check_model(const char *path, app_problem *problem) {
    char line[256];
    long long classes = 0, features = 0;
    bool labelled = false;
    FILE *file = fopen(path, "r");
    if (!file)
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file) && strcmp(line, "w\n")) {
        sscanf(line, "nr_class %lld", &classes);
        sscanf(line, "nr_feature %lld", &features);
        labelled = labelled || !strncmp(line, "label ", strlen("label "));
    }
    long long begin = ftello(file);
    bool sized = !fseeko(file, 0, SEEK_END);
    long long bytes = ftello(file) - begin;
    fclose(file);
    if (!sized || classes < 2 || classes > INT_MAX || features < 1 || features >= INT_MAX ||
        count_weights((size_t)classes, (int)features + 1) > INT_MAX ||
        count_weights((size_t)classes, (int)features) > bytes / 2)
        return app_refuse(problem, "%s: is no model of liblinear, or cut off", path);
    return labelled ||
           app_refuse(problem, "%s: has no classes; a model of regression can't be tested", path);
}

static bool allocate_classes(const struct model *model, svm_result *result, app_problem *problem) {
    *result = (svm_result){.count = (size_t)model->nr_class + 1};
    result->classes = calloc(result->count, sizeof *result->classes);
    if (!result->classes)
        return app_refuse(problem, "out of memory");
    for (int i = 0; i < model->nr_class; i++)
        result->classes[i].label = model->label[i];
    return true;
}

static void count_row(svm_result *result, double label, double predicted) {
    size_t at = 0;
    while (at + 1 < result->count && result->classes[at].label != label)
        at++;
    result->classes[at].rows++;
    result->rows++;
    if (label == predicted) {
        result->classes[at].correct++;
        result->correct++;
    }
}

bool svm_test(svm_rows *rows, const char *path, svm_result *result, app_problem *problem) {
    if (!check_model(path, problem))
        return false;
    struct model *model = load_model(path);
    if (!model)
        return app_refuse(problem, "%s: is no model of liblinear", path);
    bool good = allocate_classes(model, result, problem);
    for (size_t row = 0; good && row < rows->count; row++) {
        struct feature_node *nodes = end_row(rows, row, model->nr_feature, model->bias);
        count_row(result, rows->labels[row], predict(model, nodes));
    }
    free_and_destroy_model(&model);
    return good;
}

#else

static const char missing[] =
    "this build has no liblinear; install liblinear-dev, configure and make again";

svm_rows *svm_read(const char *path, app_problem *problem) {
    (void)path;
    app_refuse(problem, "%s", missing);
    return NULL;
}

size_t svm_count(const svm_rows *rows) {
    (void)rows;
    return 0;
}

void svm_free(svm_rows *rows) {
    (void)rows;
}

bool svm_train(svm_rows *rows, double cost, const char *model, app_problem *problem) {
    (void)rows, (void)cost, (void)model;
    return app_refuse(problem, "%s", missing);
}

bool svm_validate(svm_rows *rows, double cost, uint64_t kept_of, size_t *kept, size_t *correct,
                  app_problem *problem) {
    (void)rows, (void)cost, (void)kept_of, (void)kept, (void)correct;
    return app_refuse(problem, "%s", missing);
}

bool svm_test(svm_rows *rows, const char *model, svm_result *result, app_problem *problem) {
    (void)rows, (void)model, (void)result;
    return app_refuse(problem, "%s", missing);
}

#endif

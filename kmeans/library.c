/* SPDX-License-Identifier: BSD-3-Clause */
/* libcoll_kmeans: K-means of rows in memory (include/coll_kmeans.h). */
#include "config.h"

#include "app/checksum.h"
#include "app/progress.h"
#include "kmeans/assign/threads.h"
#include "kmeans/kmeans.h"
#include "kmeans/nearest.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/memory.h"
#include "kmeans/points/weights.h"

#include <coll_kmeans.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * One call. The ranks agree on its problem, which only some of them may have, before any rank waits
 * for another.
 */
typedef struct call {
    const COLL_Kmeans_points *given;
    MPI_Comm comm; /* a duplicate that returns errors */
    int threads;
    bool wrong; /* PROBLEM is about a wrong argument */
    app_problem problem;
    km_points points;
    const km_kernel *kernel;
} call;

/* Returns feature I, counted over all of this rank's rows. */
static inline double feature_of(const COLL_Kmeans_points *given, size_t i) {
    switch (given->type) {
    case COLL_KMEANS_UINT8:
        return ((const uint8_t *)given->data)[i];
    case COLL_KMEANS_FLOAT32:
        return (double)((const float *)given->data)[i];
    default:
        return ((const double *)given->data)[i];
    }
}

/* Sets the problem of a wrong argument, unless there is a problem already. */
__attribute__((format(printf, 2, 3))) static void refuse(call *run, const char *format, ...) {
    va_list arguments;
    char text[512];
    if (run->problem.text[0])
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    run->wrong = true;
    app_refuse(&run->problem, "%s", text);
}

static bool agree(call *run) {
    return app_agree(&run->problem, run->comm);
}

static bool is_number_of_clusters(size_t k) {
    return k >= 1 && k <= INT32_MAX;
}

/*
 * Extends CHECKSUM by K CENTROIDS of DIM features, unless they are NULL. The arguments need not be
 * checked yet.
 */
static uint32_t add_centroids(uint32_t checksum, const double *centroids, size_t k, size_t dim) {
    const bool given = centroids && is_number_of_clusters(k) && dim <= KM_MAX_DIM;
    checksum = app_checksum(checksum, &given, sizeof given);
    return given ? app_checksum(checksum, centroids, k * dim * sizeof *centroids) : checksum;
}

/* Returns the checksum of all settings of a fit, except k, that must be the same on all ranks. */
static uint32_t checksum_settings(const COLL_Kmeans_settings *settings, size_t dim) {
    const int flags[] = {settings->iterations, settings->cosine != 0};
    uint32_t checksum = app_checksum(0, flags, sizeof flags);
    checksum = app_checksum(checksum, &settings->tolerance, sizeof settings->tolerance);
    checksum = app_checksum(checksum, &settings->seed, sizeof settings->seed);
    if (!settings->centroids && settings->start)
        checksum = app_checksum(checksum, settings->start, strlen(settings->start));
    return add_centroids(checksum, settings->centroids, settings->k, dim);
}

/* Returns the checksum of all members of MODEL that must be the same on all ranks. */
static uint32_t checksum_model(const COLL_Kmeans_model *model) {
    const bool flags[] = {model->cosine != 0, model->offsets};
    uint32_t checksum = app_checksum(0, flags, sizeof flags);
    if (model->offsets && model->dim <= KM_MAX_DIM) {
        checksum = app_checksum(checksum, model->offsets, model->dim * sizeof *model->offsets);
        checksum = app_checksum(checksum, &model->scale, sizeof model->scale);
    }
    return add_centroids(checksum, model->centroids, model->k, model->dim);
}

/*
 * Checks that all ranks have the same number of features, the same number of clusters K, and the
 * same CHECKSUM of all else that must be the same.
 */
static bool compare_ranks(call *run, size_t k, uint32_t checksum) {
    const double dim = (double)run->given->dim, clusters = (double)k, others = checksum;
    double most[] = {dim, -dim, clusters, -clusters, others, -others};
    if (!app_agree_most(&run->problem, most, sizeof most / sizeof *most, run->comm))
        return false;
    if (most[0] != -most[1])
        refuse(run, "points have %.0f features on one rank and %.0f on another", -most[1], most[0]);
    else if (most[2] != -most[3])
        refuse(run, "%.0f clusters on one rank and %.0f on another", -most[3], most[2]);
    else if (most[4] != -most[5])
        refuse(run, "settings or centroids are not the same on all ranks");
    return !run->problem.text[0];
}

/*
 * Opens a call with GIVEN points and K clusters of DIM features. CHECKSUM is that of all else that
 * must be the same on all ranks.
 */
static bool begin(call *run, const COLL_Kmeans_points *given, size_t k, size_t dim,
                  uint32_t checksum, int threads, MPI_Comm comm) {
    char text[256];
    *run = (call){.given = given, .comm = MPI_COMM_NULL, .threads = threads};
    app_progress_off = true;
    if (!app_mpi(&run->problem, MPI_Comm_dup(comm, &run->comm)) ||
        !app_mpi(&run->problem, MPI_Comm_set_errhandler(run->comm, MPI_ERRORS_RETURN)))
        return false;
    run->kernel = km_kernel_best(text, sizeof text);
    if (!run->kernel)
        refuse(run, "%s", text);
    if (given->dim < 1 || given->dim > KM_MAX_DIM)
        refuse(run, "points have %zu features; 1 to %d are allowed", given->dim, KM_MAX_DIM);
    if (given->dim != dim)
        refuse(run, "points have %zu features, the centroids have %zu", given->dim, dim);
    if (given->type > COLL_KMEANS_FLOAT64)
        refuse(run, "type %d of points is unknown", (int)given->type);
    if (!is_number_of_clusters(k))
        refuse(run, "%zu clusters; 1 to %d are allowed", k, INT32_MAX);
    if (threads < 0 || threads > 1024)
        refuse(run, "%d threads; 1 to 1024 are allowed", threads);
    int fair;
    bool good =
        compare_ranks(run, k, checksum) && km_default_threads(run->comm, &fair, &run->problem);
    if (good && !threads)
        run->threads = fair;
    return good;
}

/* Closes the call, and returns its error code, which is the same on all ranks. */
static int end(call *run, char *problem, size_t size) {
    int code = MPI_SUCCESS, wrong = run->wrong;
    if (run->problem.text[0]) {
        code = MPI_ERR_OTHER;
        if (run->comm != MPI_COMM_NULL &&
            MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, run->comm) == MPI_SUCCESS &&
            wrong)
            code = MPI_ERR_ARG;
        snprintf(problem, size, "%s", run->problem.text);
    }
    km_points_free(&run->points);
    if (run->comm != MPI_COMM_NULL)
        MPI_Comm_free(&run->comm);
    return code;
}

/* Sets the weights of the points, if any rank has some. */
static bool take_weights(call *run) {
    const double *weights = run->given->weights;
    const size_t rows = run->given->rows;
    double any[] = {weights && rows, rows && !weights}; /* weights; weights that are positive */
    for (size_t i = 0; weights && i < rows; i++) {
        if (!km_is_weight(weights[i]))
            refuse(run, "weight %zu (counted from 0) is %g; weights are finite numbers from 0 on",
                   i, weights[i]);
        any[1] = fmax(any[1], weights[i] > 0);
    }
    if (!app_agree_most(&run->problem, any, 2, run->comm))
        return false;
    run->wrong = any[0] && !any[1]; /* refused below */
    return !any[0] ||
           km_points_set_weights(&run->points, weights, "weights", run->comm, &run->problem);
}

/*
 * Counts the rows of all ranks and the rows of lower ranks, and sets the weights of this rank's
 * rows.
 */
static bool count_rows(call *run) {
    uint64_t rows = run->given->rows, before = 0;
    run->points = (km_points){.rows = run->given->rows, .dim = run->given->dim, .total = rows};
    app_mpi(&run->problem, MPI_Exscan(&rows, &before, 1, MPI_UINT64_T, MPI_SUM, run->comm));
    run->points.first = app_rank(run->comm) ? before : 0;
    if (!app_agree_sum(&run->problem, &run->points.total, 1, run->comm))
        return false;
    if (run->points.total > (uint64_t)INT64_MAX / (255 * 255) / run->points.dim)
        refuse(run, "%" PRIu64 " points of %zu features are too many", run->points.total,
               run->points.dim);
    return !run->problem.text[0] && take_weights(run);
}

/* Returns whether all features of this rank are whole numbers from 0 to 255. */
static bool are_bytes(const COLL_Kmeans_points *given) {
    if (given->type == COLL_KMEANS_UINT8)
        return true;
    for (size_t i = 0; i < given->rows * given->dim; i++) {
        double value = feature_of(given, i);
        if (!(value >= 0 && value <= 255 && value == trunc(value)))
            return false;
    }
    return true;
}

/* Sets *BYTES to whether the features of all ranks are whole numbers from 0 to 255. */
static bool agree_on_bytes(call *run, bool *bytes) {
    double other = !are_bytes(run->given);
    if (!app_agree_most(&run->problem, &other, 1, run->comm))
        return false;
    *bytes = other == 0;
    return true;
}

/*
 * Returns the first column of row ROW whose feature is not finite as float32; the number of columns
 * if there is none.
 */
static size_t find_infinite(const COLL_Kmeans_points *given, size_t row) {
    size_t column = 0;
    while (column < given->dim &&
           fabs(feature_of(given, row * given->dim + column)) <= (double)FLT_MAX)
        column++;
    return column;
}

/* Returns whether COUNT features are finite. */
static bool are_finite(const float *feature, size_t count) {
    int wrong = 0;
#pragma omp simd reduction(+ : wrong)
    for (size_t i = 0; i < count; i++)
        wrong += !(fabsf(feature[i]) <= FLT_MAX);
    return wrong == 0;
}

static void check_finite(call *run) {
    const COLL_Kmeans_points *given = run->given;
    const size_t dim = given->dim;
    const float *floats = given->type == COLL_KMEANS_FLOAT32 ? given->data : NULL;
    size_t first = given->rows;
#pragma omp parallel for num_threads(run->threads) reduction(min : first)
    for (size_t row = 0; row < given->rows; row++)
        if (row < first && !(floats && are_finite(floats + row * dim, dim)) &&
            find_infinite(given, row) < dim)
            first = row;
    if (first == given->rows)
        return;
    const size_t column = find_infinite(given, first);
    refuse(run,
           "point %zu, feature %zu (counted from 0) is %g; features must be finite, not NaN or "
           "infinity, and at most %g",
           first, column, feature_of(given, first * dim + column), (double)FLT_MAX);
}

/*
 * Uses the rows as bytes, since all features are whole numbers from 0 to 255. Copies the rows
 * unless their type is uint8.
 */
static bool use_bytes(call *run) {
    const COLL_Kmeans_points *given = run->given;
    km_points *points = &run->points;
    size_t features = given->rows * given->dim;
    if (given->type == COLL_KMEANS_UINT8) {
        points->data = (uint8_t *)(uintptr_t)given->data; /* is only read */
    } else if (km_point_storage_create(&points->storage, features, NULL, &run->problem)) {
        points->data = points->storage.data;
        for (size_t i = 0; i < features; i++)
            points->data[i] = (uint8_t)feature_of(given, i);
    }
    return agree(run);
}

/* Allocates memory for the rows as float32, after checking that they are finite. */
static bool allocate_floats(call *run) {
    km_points *points = &run->points;
    check_finite(run);
    if (!run->problem.text[0])
        km_point_storage_create(&points->storage, points->rows * points->dim * sizeof(float), NULL,
                                &run->problem);
    points->data = points->storage.data;
    points->real.used = true;
    return agree(run);
}

/* Scales row ROW of the copy to length 1. */
static void scale_to_unit(call *run, size_t row) {
    if (!km_real_scale_to_unit((float *)run->points.data + row * run->points.dim, run->points.dim))
        refuse(run, "point %zu (counted from 0) is 0 and has no direction, as cosine needs", row);
}

/* Copies the rows to float32, rounded, and for COSINE scaled to length 1. */
static void copy_floats(call *run, bool cosine) {
    float *feature = (float *)run->points.data;
#pragma omp parallel for num_threads(run->threads)
    for (size_t i = 0; i < run->points.rows * run->points.dim; i++)
        feature[i] = (float)feature_of(run->given, i);
    for (size_t row = 0; cosine && row < run->points.rows; row++)
        scale_to_unit(run, row);
}

/* Stores the rows as float32. */
static bool use_floats(call *run, bool cosine) {
    const COLL_Kmeans_points *given = run->given;
    const bool copied = cosine || given->type == COLL_KMEANS_UINT8;
    km_features from = {.floats = NULL};
    if (given->type == COLL_KMEANS_FLOAT64)
        from.exact = given->data;
    else
        from.floats = given->data;
    if (!allocate_floats(run))
        return false;
    if (copied)
        copy_floats(run, cosine);
    if (!agree(run) || !km_real_center(&run->points, copied ? NULL : &from, run->threads, run->comm,
                                       &run->problem))
        return false;
    run->points.real.unit = cosine;
    return true;
}

/* Returns whether SETTINGS allow that points whose features are bytes are clustered as bytes. */
static bool allow_bytes(const COLL_Kmeans_settings *settings, size_t dim) {
    for (size_t i = 0; settings->centroids && i < settings->k * dim; i++)
        if (!(settings->centroids[i] >= 0 && settings->centroids[i] <= 255))
            return false;
    return !settings->cosine;
}

/* Gives the points of a fit the form in which they are clustered. */
static bool take_points(call *run, const COLL_Kmeans_settings *settings) {
    bool bytes = false;
    if (!count_rows(run))
        return false;
    if (allow_bytes(settings, run->points.dim) && !agree_on_bytes(run, &bytes))
        return false;
    if (!bytes)
        return use_floats(run, settings->cosine);
    if (!use_bytes(run))
        return false;
    return run->points.dim <= KM_FIXED_POINT_MAX_DIM
               ? km_points_use_fixed_point(&run->points, &run->problem)
               : km_points_use_reals(&run->points, NULL, run->comm, &run->problem);
}

/* --- The model --- */

/*
 * The scale of a model whose points are bytes: with this scale, float32 holds fixed-point centroids
 * exactly.
 */
static const double BYTE_SCALE = 1 << KM_FRACTION_BITS;

/*
 * Converts CENTROIDS, which are in the user's values, to the form that the points need. The caller
 * frees *STORED.
 */
static bool store_centroids(call *run, const double *centroids, size_t k, uint8_t **stored) {
    const km_points *points = &run->points;
    *stored = malloc(km_centroids_bytes(points, k));
    if (!*stored)
        app_refuse(&run->problem, "out of memory");
    for (size_t i = 0; !run->problem.text[0] && i < k * points->dim; i++)
        if (!km_init_store(points, k, "centroids", i, centroids[i], *stored, &run->problem))
            run->wrong = true;
    return agree(run);
}

/* Sets MODEL from the stored form of its centroids. */
static void set_model(const km_points *points, size_t k, const uint8_t *stored,
                      COLL_Kmeans_model *model) {
    size_t dim = points->dim;
    model->k = k;
    model->dim = dim;
    model->scale = points->real.used ? points->real.scale : BYTE_SCALE;
    for (size_t d = 0; d < dim; d++)
        model->offsets[d] = points->real.used ? points->real.offsets[d] : 0;
    const float *kept = (const float *)stored;
    const km_planes planes = {stored, k, dim};
    for (size_t i = 0; i < k * dim; i++)
        model->centroids[i] = points->real.used
                                  ? (double)kept[i] / model->scale + model->offsets[i % dim]
                                  : km_planes_feature(&planes, i);
}

/*
 * Returns whether all centroids can be fixed-point: multiples of 2^-16 from 0 to 255, of at most
 * KM_FIXED_POINT_MAX_DIM features.
 */
static bool are_fixed_point(const COLL_Kmeans_model *model) {
    if (model->dim > KM_FIXED_POINT_MAX_DIM)
        return false;
    for (size_t i = 0; i < model->k * model->dim; i++)
        if (!km_is_fixed_point(model->centroids[i]))
            return false;
    return true;
}

/* Returns feature I of all rows, one after the other; if COSINE, of the rows scaled to length 1. */
static double value_of(const call *run, bool cosine, size_t i) {
    return cosine ? (double)((const float *)run->points.data)[i] : feature_of(run->given, i);
}

/*
 * Sets the offsets, each the middle of the range of MODEL's centroids in its column, and a scale
 * with which squared distances of points and centroids fit float32.
 */
static bool derive_form(call *run, const COLL_Kmeans_model *model) {
    km_points *points = &run->points;
    const size_t dim = points->dim;
    double *offsets = points->real.offsets, largest = 0;
    int exponent;
    for (size_t d = 0; d < dim; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = d; i < model->k * dim; i += dim) {
            low = fmin(low, model->centroids[i]);
            high = fmax(high, model->centroids[i]);
        }
        offsets[d] = low / 2 + high / 2;
        largest = fmax(largest, high - offsets[d]);
    }
    for (size_t i = 0; i < points->rows * dim; i++)
        largest = fmax(largest, fabs(value_of(run, model->cosine, i) - offsets[i % dim]));
    bool good = app_agree_most(&run->problem, &largest, 1, run->comm);
    frexp(largest, &exponent);
    points->real.scale = ldexp(1, 24 - exponent);
    return good;
}

/*
 * Stores the points with the scale and the offsets of MODEL. If MODEL has no offsets, derives both
 * from the centroids and the points (derive_form).
 */
static bool store_points(call *run, const COLL_Kmeans_model *model) {
    km_points *points = &run->points;
    km_real *real = &points->real;
    size_t dim = points->dim;
    *real = (km_real){.used = true,
                      .unit = model->cosine,
                      .total = km_points_weight(points),
                      .scale = model->scale,
                      .offsets = calloc(dim, sizeof *real->offsets),
                      .units = calloc(dim, sizeof *real->units)};
    if (!real->offsets || !real->units)
        app_refuse(&run->problem, "out of memory");
    else if (model->offsets)
        memcpy(real->offsets, model->offsets, dim * sizeof *real->offsets);
    if (model->cosine)
        copy_floats(run, true);
    if (!agree(run) || (!model->offsets && !derive_form(run, model)))
        return false;
    float *feature = (float *)points->data;
    for (size_t i = 0; !run->problem.text[0] && i < points->rows * dim; i++) {
        double value = value_of(run, model->cosine, i);
        double kept = km_real_store(real, i % dim, value);
        if (!(fabs(kept) <= KM_LARGEST_REAL))
            refuse(run,
                   "point %zu, feature %zu (counted from 0) is %g, too far from the centroids for "
                   "float32",
                   i / dim, i % dim, value);
        feature[i] = (float)kept;
    }
    return agree(run);
}

/*
 * Gives the points of a prediction and the centroids of MODEL the same form. *STORED becomes the
 * centroids in this form.
 */
static bool take_model(call *run, const COLL_Kmeans_model *model, uint8_t **stored) {
    bool bytes = false;
    for (size_t i = 0; i < model->k * model->dim; i++)
        if (!isfinite(model->centroids[i]))
            refuse(run, "centroid %zu has a feature of %g; features must be finite", i / model->dim,
                   model->centroids[i]);
    if (!agree(run) || !count_rows(run))
        return false;
    if (!model->cosine && are_fixed_point(model) && !agree_on_bytes(run, &bytes))
        return false;
    if (bytes ? !use_bytes(run) || !km_points_use_fixed_point(&run->points, &run->problem)
              : !allocate_floats(run) || !store_points(run, model))
        return false;
    return store_centroids(run, model->centroids, model->k, stored);
}

/* --- The calls --- */

/* Opens a call with MODEL, and gives points and centroids the same form, like take_model. */
static bool begin_prediction(call *run, const COLL_Kmeans_points *points,
                             const COLL_Kmeans_model *model, int threads, MPI_Comm comm,
                             uint8_t **stored) {
    return begin(run, points, model->k, model->dim, checksum_model(model), threads, comm) &&
           take_model(run, model, stored);
}

static void ignore_step(const km_step *step, void *context) {
    (void)step, (void)context;
}

static void ignore_progress(int64_t iteration, double done, void *context) {
    (void)iteration, (void)done, (void)context;
}

static bool cluster(call *run, const km_settings *settings, km_result *result) {
    const km_observer silent = {.step = ignore_step, .progress = ignore_progress};
    return km_cluster(&run->points, settings, &silent, run->comm, result, &run->problem);
}

static km_settings settings_of(const call *run, size_t k) {
    return (km_settings){.k = k,
                         .threads = run->threads,
                         .kernel = run->kernel,
                         .tolerance = -1,
                         .moved = -1,
                         .gain = -1,
                         .seconds = -1};
}

/*
 * Sets *VARIANCE to the mean of the variances of all features: the objective of a single cluster is
 * the sum of all variances times the number of points, or times the sum of their weights. For
 * cosine the result is larger, because the centroid is the mean scaled to length 1.
 */
static bool find_variance(call *run, double *variance) {
    const km_points *points = &run->points;
    km_settings settings = settings_of(run, 1);
    km_result result;
    settings.iterations = 1;
    if (!cluster(run, &settings, &result))
        return false;
    double each = km_points_objective(points, result.objective) /
                  ldexp((double)km_points_weight(points), -points->weight_bits);
    if (points->real.unit) /* 2 - 2 m for a mean of length m; the variance is 1 - m^2 */
        each -= each * each / 4;
    *variance = each / (double)points->dim;
    km_result_free(&result);
    return true;
}

static void check_settings(call *run, const COLL_Kmeans_settings *given, km_settings *settings) {
    app_problem problem = {""};
    settings->iterations = given->iterations;
    settings->seed = given->seed;
    if (given->iterations < 1)
        refuse(run, "%d iterations; at least 1 is needed", given->iterations);
    if (!(given->tolerance <= DBL_MAX))
        refuse(run, "a tolerance of %g; finite numbers are allowed", given->tolerance);
    if (given->centroids)
        return;
    if (!given->start)
        refuse(run, "neither a method of choosing initial centroids nor centroids are given");
    else if (!km_init_parse(given->start, &settings->start, &problem))
        refuse(run, "%s", problem.text);
    else if (settings->start.method == &km_init_file)
        refuse(run, "start %s: read the file and pass the centroids instead", given->start);
}

/* Clusters the points, which take_points has prepared. */
static bool fit(call *run, const COLL_Kmeans_settings *given, km_settings *settings,
                km_result *result) {
    double variance;
    uint8_t *stored = NULL;
    if (given->k > run->points.total) {
        refuse(run, "%zu clusters, but only %" PRIu64 " points", given->k, run->points.total);
        return false;
    }
    bool good = true;
    if (given->tolerance > 0) {
        good = find_variance(run, &variance);
        settings->total_shift2 = given->tolerance * variance;
    }
    if (good && given->centroids) {
        good = store_centroids(run, given->centroids, given->k, &stored);
        settings->start.rows = stored;
    }
    good = good && cluster(run, settings, result);
    free(stored);
    return good;
}

int COLL_Kmeans_fit(const COLL_Kmeans_points *points, const COLL_Kmeans_settings *settings,
                    MPI_Comm comm, COLL_Kmeans_model *model, int32_t *labels, double *inertia,
                    int *iterations, char *problem, size_t size) {
    call run;
    km_result result = {.centroids = NULL};
    if (begin(&run, points, settings->k, points->dim, checksum_settings(settings, points->dim),
              settings->threads, comm)) {
        km_settings used = settings_of(&run, settings->k);
        check_settings(&run, settings, &used);
        if (agree(&run) && take_points(&run, settings) && fit(&run, settings, &used, &result)) {
            set_model(&run.points, settings->k, result.centroids, model);
            model->cosine = settings->cosine;
            memcpy(labels, result.nearest, points->rows * sizeof *labels);
            *inertia = km_points_objective(&run.points, result.objective);
            *iterations = (int)result.iterations;
        }
    }
    km_result_free(&result);
    return end(&run, problem, size);
}

int COLL_Kmeans_predict(const COLL_Kmeans_points *points, const COLL_Kmeans_model *model,
                        int threads, MPI_Comm comm, int32_t *labels, double *inertia, char *problem,
                        size_t size) {
    call run;
    uint8_t *stored = NULL;
    km_result result = {.centroids = NULL};
    if (begin_prediction(&run, points, model, threads, comm, &stored)) {
        km_settings settings = settings_of(&run, model->k);
        settings.start.rows = stored;
        if (cluster(&run, &settings, &result)) {
            memcpy(labels, result.nearest, points->rows * sizeof *labels);
            *inertia = km_points_objective(&run.points, result.objective);
        }
    }
    km_result_free(&result);
    free(stored);
    return end(&run, problem, size);
}

int COLL_Kmeans_transform(const COLL_Kmeans_points *points, const COLL_Kmeans_model *model,
                          int threads, MPI_Comm comm, double *distances, char *problem,
                          size_t size) {
    call run;
    uint8_t *stored = NULL;
    if (begin_prediction(&run, points, model, threads, comm, &stored)) {
#pragma omp parallel for num_threads(run.threads)
        for (size_t i = 0; i < points->rows; i++)
            km_find_distances(&run.points, i, stored, model->k, distances + i * model->k);
    }
    free(stored);
    return end(&run, problem, size);
}

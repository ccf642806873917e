/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests libcoll_kmeans: rows in memory of all types, spread unevenly over the ranks; and errors. */
#include "tests/support/harness.h"

#include <coll_kmeans.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 90, DIM = 3, K = 3 };

static double values[ROWS * DIM];

/* A model with the memory that it needs, and what a fit returns. */
typedef struct fitted {
    double centroids[K * DIM], offsets[DIM], inertia;
    COLL_Kmeans_model model;
    int32_t labels[ROWS];
    int iterations;
} fitted;

/* Fills VALUES with three groups: whole numbers from 0 to 255 if WHOLE, else numbers around 0. */
static void make_values(bool whole) {
    for (int i = 0; i < ROWS * DIM; i++) {
        int group = i / DIM % 3;
        values[i] = 40 + group * 70 + i * 7 % 11 + (whole ? 0 : 0.125 * (i % 5) - 120);
    }
}

/* Copies COUNT rows from row FIRST on, as elements of TYPE; the caller frees them. */
static void *rows_as(COLL_Kmeans_type type, size_t first, size_t count) {
    const double *from = values + first * DIM;
    void *rows = malloc(count * DIM * sizeof(double) + 1);
    ck_assert_ptr_nonnull(rows);
    for (size_t i = 0; i < count * DIM; i++)
        if (type == COLL_KMEANS_UINT8)
            ((uint8_t *)rows)[i] = (uint8_t)from[i];
        else if (type == COLL_KMEANS_FLOAT32)
            ((float *)rows)[i] = (float)from[i];
        else
            ((double *)rows)[i] = from[i];
    return rows;
}

/* LABELS have room for all rows of POINTS. */
static int fit_labels(const COLL_Kmeans_points *points, size_t k, MPI_Comm comm, fitted *result,
                      int32_t *labels, char *problem, size_t size) {
    const COLL_Kmeans_settings settings = {
        .k = k, .start = "k-means++", .seed = 5, .iterations = 20, .tolerance = 0, .threads = 1};
    result->model = (COLL_Kmeans_model){.centroids = result->centroids, .offsets = result->offsets};
    return COLL_Kmeans_fit(points, &settings, comm, &result->model, labels, &result->inertia,
                           &result->iterations, problem, size);
}

static int fit(const COLL_Kmeans_points *points, size_t k, MPI_Comm comm, fitted *result,
               char *problem, size_t size) {
    return fit_labels(points, k, comm, result, result->labels, problem, size);
}

/* Fits WHOLE on this rank ALONE and PART on all ranks TOGETHER. Asserts that the results are the
 * same bits; PART begins at row FIRST. */
static void fit_twice(const COLL_Kmeans_points *whole, const COLL_Kmeans_points *part, size_t first,
                      fitted *alone, fitted *together) {
    char problem[256] = "";
    int code = fit(whole, K, MPI_COMM_SELF, alone, problem, sizeof problem);
    harness_assert(code == MPI_SUCCESS, "alone: %s", problem);
    code = fit(part, K, MPI_COMM_WORLD, together, problem, sizeof problem);
    harness_assert(code == MPI_SUCCESS, "together: %s", problem);
    const size_t labels = part->rows * sizeof *alone->labels;
    harness_assert(!memcmp(alone->centroids, together->centroids, sizeof alone->centroids) &&
                       !memcmp(alone->offsets, together->offsets, sizeof alone->offsets) &&
                       !memcmp(alone->labels + first, together->labels, labels) &&
                       alone->inertia == together->inertia &&
                       alone->iterations == together->iterations,
                   "another result on several ranks");
}

/* The first rank has no rows if there are more; the last has most. */
static void share(size_t *first, size_t *count) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *first = rank ? (size_t)(rank - 1) * 5 : 0;
    *count = rank == ranks - 1 ? ROWS - *first : rank ? 5 : 0;
}

static const struct {
    COLL_Kmeans_type type;
    bool whole;
} kinds[] = {{COLL_KMEANS_UINT8, true},
             {COLL_KMEANS_FLOAT32, true},
             {COLL_KMEANS_FLOAT32, false},
             {COLL_KMEANS_FLOAT64, false}};

START_TEST(same_for_any_share) {
    COLL_Kmeans_type type = kinds[_i].type;
    size_t first, count;
    char problem[256] = "";
    make_values(kinds[_i].whole);
    share(&first, &count);
    void *all = rows_as(type, 0, ROWS), *mine = rows_as(type, first, count);
    /* A rank without rows may say any type. */
    const COLL_Kmeans_type any =
        type == COLL_KMEANS_FLOAT64 ? COLL_KMEANS_FLOAT32 : COLL_KMEANS_FLOAT64;
    const COLL_Kmeans_points whole = {all, ROWS, DIM, type, NULL},
                             part = {mine, count, DIM, count ? type : any, NULL};
    fitted alone, together;
    fit_twice(&whole, &part, first, &alone, &together);
    bool same = true;
    for (int i = 0; i < ROWS; i++)
        same = same && (alone.labels[i] == alone.labels[i % 3]) &&
               alone.labels[0] != alone.labels[1] && alone.labels[1] != alone.labels[2];
    harness_assert(same, "the groups aren't found");

    int32_t labels[ROWS];
    double inertia, distances[ROWS * K], sum = 0;
    int code = COLL_Kmeans_predict(&part, &together.model, 2, MPI_COMM_WORLD, labels, &inertia,
                                   problem, sizeof problem);
    same = code == MPI_SUCCESS && inertia == together.inertia &&
           !memcmp(labels, together.labels, count * sizeof *labels);
    harness_assert(same, "another prediction: %s", problem);
    code = COLL_Kmeans_transform(&whole, &alone.model, 2, MPI_COMM_SELF, distances, problem,
                                 sizeof problem);
    harness_assert(code == MPI_SUCCESS, "distances: %s", problem);
    for (int i = 0; i < ROWS; i++)
        sum += distances[i * K + alone.labels[i]] * distances[i * K + alone.labels[i]];
    harness_assert(fabs(sum - inertia) < 1e-6 * inertia, "distances");
    free(mine);
    free(all);
}
END_TEST

/* Without offsets a prediction derives them, so that centroids far from 0 differ as others do. */
START_TEST(far_centroids) {
    const double far = _i ? 1e9 : 0;
    int rank;
    char problem[256] = "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* The points of rank 0 are not alone in deciding the scale. */
    const double points[] = {far + 0.5, far + 9, far + 11, far + (rank ? 1e6 : 6)};
    double centroids[] = {far, far + 10}, distances[8], inertia;
    const int32_t nearest[] = {0, 1, 1, 1};
    int32_t labels[4];
    const COLL_Kmeans_points given = {points, 4, 1, COLL_KMEANS_FLOAT64, NULL};
    const COLL_Kmeans_model model = {.k = 2, .dim = 1, .centroids = centroids};
    int code = COLL_Kmeans_predict(&given, &model, 1, MPI_COMM_WORLD, labels, &inertia, problem,
                                   sizeof problem);
    harness_assert(code == MPI_SUCCESS && !memcmp(labels, nearest, sizeof labels), "labels: %s",
                   problem);
    code = COLL_Kmeans_transform(&given, &model, 1, MPI_COMM_WORLD, distances, problem,
                                 sizeof problem);
    harness_assert(code == MPI_SUCCESS, "distances: %s", problem);
    for (int i = 0; i < 8; i++) {
        const double expected = fabs(points[i / 2] - centroids[i % 2]);
        harness_assert(fabs(distances[i] - expected) <= 1e-6 * expected, "distance %d: %g", i,
                       distances[i]);
    }
}
END_TEST

/* Returns the weight of a row: 0 to 3, and 0 for rows that would be clusters of their own. */
static double weight_of(size_t row) {
    return row == 7 ? 0 : (double)(row * 5 % 4);
}

/*
 * Rows that weigh 0 to 3 are clustered like rows that are there 0 to 3 times, with the same draws,
 * and with the same bits on all ranks.
 */
START_TEST(weights_are_repetitions) {
    COLL_Kmeans_type type = kinds[_i].type;
    size_t first, count, repeated = 0,
                         element = type == COLL_KMEANS_UINT8     ? 1
                                   : type == COLL_KMEANS_FLOAT32 ? sizeof(float)
                                                                 : sizeof(double);
    double weights[ROWS];
    char problem[256] = "";
    make_values(kinds[_i].whole);
    values[7 * DIM] = 250;
    share(&first, &count);
    char *all = rows_as(type, 0, ROWS), *mine = rows_as(type, first, count);
    char *copies = malloc(3 * ROWS * DIM * element);
    ck_assert_ptr_nonnull(copies);
    for (size_t row = 0; row < ROWS; row++) {
        weights[row] = weight_of(row);
        for (int copy = 0; copy < (int)weights[row]; copy++)
            memcpy(copies + repeated++ * DIM * element, all + row * DIM * element, DIM * element);
    }
    const COLL_Kmeans_points whole = {all, ROWS, DIM, type, weights},
                             part = {mine, count, DIM, type, count ? weights + first : NULL},
                             many = {copies, repeated, DIM, type, NULL};
    fitted alone, together, other;
    int32_t *labels = malloc(repeated * sizeof *labels);
    ck_assert(labels && repeated > ROWS && repeated <= 3 * ROWS);
    fit_twice(&whole, &part, first, &alone, &together);
    int code = fit_labels(&many, K, MPI_COMM_SELF, &other, labels, problem, sizeof problem);
    harness_assert(code == MPI_SUCCESS, "repeated: %s", problem);
    bool same = alone.iterations == other.iterations &&
                fabs(alone.inertia - other.inertia) <= 1e-6 * other.inertia;
    for (size_t i = 0; i < K * DIM; i++)
        same = same && fabs(alone.centroids[i] - other.centroids[i]) <= 1e-5;
    for (size_t row = 0, at = 0; row < ROWS; row++)
        for (int copy = 0; copy < (int)weights[row]; copy++)
            same = same && labels[at++] == alone.labels[row];
    harness_assert(same, "repeated rows give another result: inertia %g and %g", alone.inertia,
                   other.inertia);

    /* A prediction with fractional weights, which are rounded. */
    for (size_t row = 0; row < ROWS; row++)
        weights[row] *= 1e-3;
    double inertia;
    code = COLL_Kmeans_predict(&part, &together.model, 2, MPI_COMM_WORLD, together.labels, &inertia,
                               problem, sizeof problem);
    same = code == MPI_SUCCESS && fabs(inertia - alone.inertia * 1e-3) <= 1e-6 * inertia &&
           !memcmp(alone.labels + first, together.labels, count * sizeof *alone.labels);
    harness_assert(same, "another prediction: %s", problem);
    free(labels);
    free(copies);
    free(mine);
    free(all);
}
END_TEST

START_TEST(errors_are_everywhere) {
    int rank, ranks;
    char problem[256] = "";
    fitted result;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_values(false);
    if (rank == ranks - 1)
        values[4] = NAN;
    COLL_Kmeans_points points = {values, ROWS, DIM, COLL_KMEANS_FLOAT64, NULL};
    int code = fit(&points, K, MPI_COMM_WORLD, &result, problem, sizeof problem);
    harness_assert(code == MPI_ERR_ARG && strstr(problem, "point 1, feature 1 (counted from 0) is"),
                   "NaN: %d, %s", code, problem);
    make_values(false);
    points.dim = rank ? DIM : DIM - 1;
    code = fit(&points, K, MPI_COMM_WORLD, &result, problem, sizeof problem);
    harness_assert(ranks == 1 || (code == MPI_ERR_ARG && strstr(problem, "points have 2 features")),
                   "features: %d, %s", code, problem);
    points = (COLL_Kmeans_points){values, rank ? 0 : 2, DIM, COLL_KMEANS_FLOAT64, NULL};
    code = fit(&points, K, MPI_COMM_WORLD, &result, problem, sizeof problem);
    harness_assert(code == MPI_ERR_ARG && !strcmp(problem, "3 clusters, but only 2 points"),
                   "k: %d, %s", code, problem);
    double weights[ROWS] = {0};
    points = (COLL_Kmeans_points){values, ROWS, DIM, COLL_KMEANS_FLOAT64, weights};
    code = fit(&points, K, MPI_COMM_WORLD, &result, problem, sizeof problem);
    harness_assert(code == MPI_ERR_ARG && strstr(problem, "weights: all are 0"),
                   "no weight: %d, %s", code, problem);
    weights[3] = rank == ranks - 1 ? -1 : 1;
    code = fit(&points, K, MPI_COMM_WORLD, &result, problem, sizeof problem);
    harness_assert(code == MPI_ERR_ARG && strstr(problem, "weight 3 (counted from 0) is -1"),
                   "a negative weight: %d, %s", code, problem);
    points = (COLL_Kmeans_points){values, rank ? 0 : 2, DIM, COLL_KMEANS_FLOAT64, NULL};
    char small[8];
    code = fit(&points, K, MPI_COMM_WORLD, &result, small, sizeof small);
    harness_assert(code == MPI_ERR_ARG && strlen(small) == 7, "a short text");
}
END_TEST

/* Ranks that disagree about a setting or a centroid get an error; none waits for another. */
/* The tolerance is a share of the variance, 1 - m^2 for rows whose mean has length m, and not of
 * the squared distance from the mean scaled to length 1, 2 - 2 m. Here m is sqrt(1 / 3). */
START_TEST(tolerance_with_cosine) {
    static const double axes[] = {3, 0, 0, 0, 2, 0, 0, 0, 1};
    const double shift2 = 2 - 2 / sqrt(3), variance = (1 - 1.0 / 3) / DIM;
    const COLL_Kmeans_points points = {axes, 3, DIM, COLL_KMEANS_FLOAT64, NULL};
    for (int more = 0; more < 2; more++) {
        const COLL_Kmeans_settings settings = {.k = 1,
                                               .centroids = axes,
                                               .iterations = 20,
                                               .tolerance = (more ? 1.1 : 0.9) * shift2 / variance,
                                               .threads = 1,
                                               .cosine = 1};
        char problem[256] = "";
        fitted result;
        result.model =
            (COLL_Kmeans_model){.centroids = result.centroids, .offsets = result.offsets};
        int code = COLL_Kmeans_fit(&points, &settings, MPI_COMM_WORLD, &result.model, result.labels,
                                   &result.inertia, &result.iterations, problem, sizeof problem);
        harness_assert(code == MPI_SUCCESS && result.iterations == (more ? 1 : 2),
                       "%d iterations: %d, %s", result.iterations, code, problem);
    }
}
END_TEST

START_TEST(starts_that_are_refused) {
    static const struct {
        const char *start, *problem;
    } cases[] = {
        {NULL, "neither a method"}, {"file:a.npy", "start file:a.npy:"}, {"x", "--start x"}};
    make_values(false);
    const COLL_Kmeans_points points = {values, ROWS, DIM, COLL_KMEANS_FLOAT64, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const COLL_Kmeans_settings settings = {.k = K, .start = cases[i].start, .iterations = 1};
        char problem[256] = "";
        fitted result;
        int code = COLL_Kmeans_fit(&points, &settings, MPI_COMM_WORLD, &result.model, result.labels,
                                   &result.inertia, &result.iterations, problem, sizeof problem);
        harness_assert(code == MPI_ERR_ARG && strstr(problem, cases[i].problem), "%zu: %d, %s", i,
                       code, problem);
    }
}
END_TEST

START_TEST(ranks_disagree) {
    int rank, ranks, iterations;
    char problem[256] = "";
    fitted result;
    double first[K * DIM], inertia;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_values(true);
    memcpy(first, values, sizeof first);
    result.model = (COLL_Kmeans_model){.centroids = result.centroids, .offsets = result.offsets};
    const COLL_Kmeans_points points = {values, ROWS, DIM, COLL_KMEANS_FLOAT64, NULL};
    const COLL_Kmeans_settings usual = {
        .k = K, .centroids = first, .iterations = 20, .tolerance = 0, .threads = 1};
    COLL_Kmeans_settings others[] = {usual, usual, usual, usual, usual, usual};
    if (rank == ranks - 1 && ranks > 1) {
        others[1].k--;
        others[2].iterations = 1;
        others[3].cosine = 1;
        others[4].start = "random", others[4].centroids = NULL;
        others[5].tolerance = 1;
    }
    for (int i = 0; i < 6; i++) {
        int code = COLL_Kmeans_fit(&points, &others[i], MPI_COMM_WORLD, &result.model,
                                   result.labels, &inertia, &iterations, problem, sizeof problem);
        const char *says = i == 1 ? "2 clusters on one rank and 3 on another"
                                  : "settings or centroids are not the same on all ranks";
        harness_assert(i == 0 || ranks == 1 ? code == MPI_SUCCESS
                                            : code == MPI_ERR_ARG && !strcmp(problem, says),
                       "fit %d: %d, %s", i, code, problem);
        if (i == 0)
            memcpy(first, result.centroids, sizeof first);
    }
    first[1] += rank == 0 ? 0.3 : 0; /* is a fixed-point number on some ranks only */
    const COLL_Kmeans_model model = {.k = K, .dim = DIM, .centroids = first};
    int code = COLL_Kmeans_predict(&points, &model, 1, MPI_COMM_WORLD, result.labels, &inertia,
                                   problem, sizeof problem);
    harness_assert(ranks == 1 ? code == MPI_SUCCESS
                              : code == MPI_ERR_ARG && strstr(problem, "not the same on all ranks"),
                   "predict: %d, %s", code, problem);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("kmeans_library");
    TCase *cases = tcase_create("kmeans_library");
    tcase_add_loop_test(cases, same_for_any_share, 0, sizeof kinds / sizeof *kinds);
    tcase_add_loop_test(cases, weights_are_repetitions, 0, sizeof kinds / sizeof *kinds);
    tcase_add_loop_test(cases, far_centroids, 0, 2);
    tcase_add_test(cases, errors_are_everywhere);
    tcase_add_test(cases, starts_that_are_refused);
    tcase_add_test(cases, tolerance_with_cosine);
    tcase_add_test(cases, ranks_disagree);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 5", suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that a run resumed from any checkpoint, with any number of ranks, gives the same bits as
 * without interruption, and that a checkpoint that is damaged or belongs to other points is refused
 * by name.
 */
#include "config.h"

#include "kmeans/checkpoint.h"
#include "tests/support/harness.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 5000, DIM = 11, K = 30, ITERATIONS = 6, COPIES = 64, SEED = 3 };

/* What is clustered: bytes, bytes with float centroids, real features. */
enum kind { BYTES, FINE, REALS, KINDS };
static enum kind kind;

static char directory[] = "/tmp/coll-checkpoint-XXXXXX";
static char path[sizeof directory + 16];
static int rank;

/* The bytes of a file, on rank 0. */
typedef struct copy {
    char *bytes;
    size_t size;
} copy;

static void setup(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    harness_assert(rank != 0 || mkdtemp(directory), "mkdtemp");
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/checkpoint", directory);
}

static void teardown(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    bool empty = rank != 0 || (unlink(path), rmdir(directory) == 0);
    harness_assert(empty, "only the checkpoint was left");
}

/* Returns the path of NAME in the directory, valid until the next call. */
static const char *beside(const char *name) {
    static char text[sizeof directory + 64];
    snprintf(text, sizeof text, "%s/%s", directory, name);
    return text;
}

static copy read_copy(void) {
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about))
        return (copy){NULL, 0};
    copy made = {malloc((size_t)about.st_size), (size_t)about.st_size};
    if (!made.bytes || fread(made.bytes, 1, made.size, file) != made.size)
        made.size = 0;
    fclose(file);
    return made;
}

static void write_copy(const copy *made, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file && fwrite(made->bytes, 1, size, file) != size)
        abort();
    if (file)
        fclose(file);
}

/* Copies every other checkpoint that it sees. */
struct watch {
    copy copies[COPIES];
    int count;
    bool wanted;
    char noted[256];
};

static void look(struct watch *watch) {
    copy now = watch->wanted && watch->count < COPIES ? read_copy() : (copy){NULL, 0};
    copy *last = watch->count ? &watch->copies[watch->count - 1] : NULL;
    if (now.size &&
        (!last || last->size != now.size || memcmp(last->bytes, now.bytes, now.size) != 0))
        watch->copies[watch->count++] = now;
    else
        free(now.bytes);
}

static void watch_step(const km_step *step, void *context) {
    (void)step;
    look(context);
}

static void watch_progress(int64_t iteration, double done, void *context) {
    (void)iteration, (void)done;
    look(context);
}

static void watch_note(const char *text, void *context) {
    struct watch *watch = context;
    snprintf(watch->noted, sizeof watch->noted, "%s", text);
}

static void make_points(km_points *points, MPI_Comm comm) {
    app_problem problem = {""};
    *points = km_points_share(ROWS, DIM, comm);
    size_t cells = points->rows * DIM;
    float *reals = malloc((cells + 1) * sizeof *reals);
    points->data = malloc(cells + 1);
    ck_assert(points->data && reals);
    for (size_t i = 0; i < cells; i++) {
        uint64_t cell = (points->first + i / DIM) % 3001 * DIM + i % DIM;
        points->data[i] = (uint8_t)(cell * cell * UINT64_C(0x9e3779b97f4a7c15) >> 56);
        reals[i] = (float)points->data[i] / 3 - 20;
    }
    ck_assert(kind != FINE || km_points_use_fixed_point(points, &problem));
    if (kind != REALS) {
        free(reals);
        return;
    }
    free(points->data);
    points->data = (uint8_t *)reals;
    ck_assert(km_real_center(points, NULL, 1, comm, &problem));
}

static km_settings settings_of_test(void) {
    static char text[256];
    return (km_settings){.k = K,
                         .iterations = ITERATIONS,
                         .tolerance = -1,
                         .moved = -1,
                         .gain = -1,
                         .seconds = -1,
                         .seed = SEED,
                         .threads = 1,
                         .kernel = km_kernel_best(text, sizeof text),
                         .checkpoint = directory,
                         .every_seconds = 0};
}

static bool cluster(const km_points *points, const km_settings *settings, struct watch *watch,
                    MPI_Comm comm, km_result *result, app_problem *problem) {
    km_observer observer = {
        .step = watch_step, .progress = watch_progress, .note = watch_note, .context = watch};
    return km_cluster(points, settings, &observer, comm, result, problem);
}

/* Gathers the clusters of all points at rank 0 of COMM. */
static uint32_t *gather(const km_points *points, const km_result *result, MPI_Comm comm) {
    int ranks, counts[64], places[64];
    uint32_t *all = calloc(ROWS, sizeof *all);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < ranks; i++) {
        uint64_t first, count;
        km_share(ROWS, i, ranks, &first, &count);
        counts[i] = (int)count;
        places[i] = (int)first;
    }
    MPI_Gatherv(result->nearest, (int)points->rows, MPI_UINT32_T, all, counts, places, MPI_UINT32_T,
                0, comm);
    return all;
}

/* Resumes from a copy on the first RANKS ranks. Returns true if the result is the expected one. */
static bool resumes(const copy *from, int ranks, const km_result *expected,
                    const uint32_t *clusters) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return true;
    km_points points;
    km_result result;
    struct watch watch = {.noted = "", .wanted = false};
    app_problem problem = {""};
    km_settings settings = settings_of_test();
    settings.resume = true;
    if (rank == 0)
        write_copy(from, from->size);
    make_points(&points, comm);
    bool good = cluster(&points, &settings, &watch, comm, &result, &problem);
    if (!good)
        fprintf(stderr, "%s\n", problem.text);
    if (good) {
        uint32_t *found = gather(&points, &result, comm);
        good = memcmp(result.centroids, expected->centroids, km_centroids_bytes(&points, K)) == 0 &&
               result.objective == expected->objective &&
               result.iterations == expected->iterations && result.stop == expected->stop &&
               (rank > 0 || memcmp(found, clusters, ROWS * sizeof *found) == 0) &&
               (rank > 0 || strstr(watch.noted, "resumed after iteration"));
        free(found);
        km_result_free(&result);
    }
    km_real_free(&points.real);
    free(points.data);
    MPI_Comm_free(&comm);
    return good;
}

START_TEST(same_bits_from_any_checkpoint) {
    int ranks;
    km_points points;
    km_result expected;
    kind = (enum kind)_i;
    struct watch watch = {.noted = "", .wanted = rank == 0};
    app_problem problem = {""};
    km_settings settings = settings_of_test();
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_points(&points, MPI_COMM_WORLD);
    bool good = cluster(&points, &settings, &watch, MPI_COMM_WORLD, &expected, &problem);
    harness_assert(good, "%s", problem.text);
    uint32_t *clusters = gather(&points, &expected, MPI_COMM_WORLD);
    MPI_Bcast(&watch.count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    harness_assert(watch.count >= ITERATIONS, "%d checkpoints in %d iterations; %s", watch.count,
                   (int)expected.iterations, watch.noted);
    for (int i = 0; i < watch.count; i++)
        for (int fewer = 1; fewer <= ranks; fewer += ranks > 3 ? 2 : 1) {
            good = resumes(&watch.copies[i], fewer, &expected, clusters);
            harness_assert(good, "checkpoint %d of %d, resumed on %d ranks", i, watch.count, fewer);
        }
    kind = BYTES;
    for (int i = 0; rank == 0 && i < watch.count; i++)
        free(watch.copies[i].bytes);
    free(clusters);
    km_real_free(&points.real);
    free(points.data);
    km_result_free(&expected);
}
END_TEST

/* Runs with SETTINGS and resumes. The problem must contain SAYS, or be empty if that is NULL. */
static void try(const km_points *points, const km_settings *settings, const char *says) {
    km_result result;
    struct watch watch = {.noted = "", .wanted = false};
    app_problem problem = {""};
    bool good = cluster(points, settings, &watch, MPI_COMM_WORLD, &result, &problem);
    if (good)
        km_result_free(&result);
    harness_assert(says ? !good && strstr(problem.text, says) : good, "\"%s\" instead of \"%s\"",
                   problem.text, says ? says : "");
}

START_TEST(bad_checkpoints) {
    km_points points;
    km_settings settings = settings_of_test(), other;
    copy whole = {NULL, 0};
    make_points(&points, MPI_COMM_WORLD);
    settings.iterations = 2;
    settings.resume = true; /* there is no checkpoint yet, which gives a note */
    try(&points, &settings, NULL);
    try(&points, &settings, NULL);
    other = settings;
    other.resume = false;
    try(&points, &other, "has a checkpoint");
    other = settings;
    other.k++;
    try(&points, &other, "/checkpoint: is of --k 30, not 31");
    other = settings;
    other.seed++;
    try(&points, &other, "/checkpoint: is of --seed 3, not 4");
    km_points fine = points;
    ck_assert(km_points_use_fixed_point(&fine, &(app_problem){""}));
    try(&fine, &settings, "/checkpoint: is of --centroids-as bytes, not float");
    if (points.rows)
        points.data[points.rows * DIM - 1] ^= 1;
    try(&points, &settings, "/checkpoint: is of other points");
    if (points.rows)
        points.data[points.rows * DIM - 1] ^= 1;

    if (rank == 0)
        whole = read_copy();
    kind = REALS;
    km_points reals;
    make_points(&reals, MPI_COMM_WORLD);
    kind = BYTES;
    other = settings;
    other.resume = false;
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    try(&reals, &other, NULL);
    reals.real.unit = true; /* the same rows, by cosine */
    try(&reals, &settings, "/checkpoint: is of other points, weights or --metric");
    km_real_free(&reals.real);
    free(reals.data);
    unsigned long size = whole.size;
    MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    for (size_t cut = 0; cut < size; cut += cut < 300 ? 37 : 5003) {
        if (rank == 0)
            write_copy(&whole, cut);
        try(&points, &settings, cut < 200 ? "/checkpoint: is no whole" : "/checkpoint: is ");
    }
    for (size_t at = 0; at < size; at += at < 300 ? 23 : 5003) {
        if (rank == 0) {
            whole.bytes[at] ^= 4;
            write_copy(&whole, size);
            whole.bytes[at] ^= 4;
        }
        try(&points, &settings,
            at < 8 ? "/checkpoint: is no checkpoint" : "/checkpoint: is damaged");
    }
    if (rank == 0)
        write_copy(&whole, size);
    try(&points, &settings, NULL);
    free(whole.bytes);
    km_real_free(&points.real);
    free(points.data);
}
END_TEST

START_TEST(one_run_at_a_time) {
    km_checkpoint first, second;
    bool found = true;
    app_problem problem = {""};
    bool good = km_checkpoint_open(&first, directory, &found, MPI_COMM_WORLD, &problem);
    harness_assert(good && !found, "%s", problem.text);
    good = km_checkpoint_open(&second, directory, &found, MPI_COMM_WORLD, &problem);
    harness_assert(!good && strstr(problem.text, "in use by another run"), "%s", problem.text);
    km_checkpoint_close(&second);
    km_checkpoint_close(&first);
    problem.text[0] = '\0';
    good = km_checkpoint_open(&first, "/nowhere/at/all", &found, MPI_COMM_WORLD, &problem);
    harness_assert(!good && strstr(problem.text, "/nowhere/at/all: can't be made"), "%s",
                   problem.text);
    km_checkpoint_close(&first);
}
END_TEST

/* Only files with the names and the content of checkpoints are removed from the directory. */
START_TEST(others_files_stay) {
    static const struct {
        const char *name, *content;
        bool stays;
    } files[] = {
        {"checkpoint.txt", "a note", true},
        {"checkpoint.backup", "collkm3", true},
        {"checkpoint.XyZ123", "", true},
        {".checkpoint.coll-a", "collkm3", true},
        {".checkpoint.coll-secret", "a note", true},
        {".checkpoint.coll-Xy0Z12", "a note, too", true},
        {".checkpoint.coll-abcdef", "collkm3", false},
        {".checkpoint.coll-ABC123", "", false},
    };
    enum { FILES = sizeof files / sizeof *files };
    km_checkpoint checkpoint;
    bool found, good = true;
    app_problem problem = {""};
    for (int i = 0; rank == 0 && i < FILES; i++) {
        FILE *file = fopen(beside(files[i].name), "w");
        good = good && file && fputs(files[i].content, file) >= 0 &&
               (!*files[i].content || fputc('\0', file) == '\0');
        if (file)
            fclose(file);
    }
    harness_assert(good, "files are made");
    good = km_checkpoint_open(&checkpoint, directory, &found, MPI_COMM_WORLD, &problem);
    harness_assert(good && !found, "%s", problem.text);
    km_checkpoint_close(&checkpoint);
    for (int i = 0; i < FILES; i++) {
        good = rank > 0 || (unlink(beside(files[i].name)) == 0) == files[i].stays;
        harness_assert(good, "%s %s", files[i].name, files[i].stays ? "is gone" : "is left");
    }
}
END_TEST

/*
 * Fingerprints are the same for any distribution over ranks, and differ for any other bit or order.
 */
START_TEST(fingerprints) {
    km_points points, alone;
    uint64_t found = 0, other = 0;
    app_problem problem = {""};
    make_points(&points, MPI_COMM_WORLD);
    make_points(&alone, MPI_COMM_SELF);
    ck_assert(km_fingerprint(&points, 2, MPI_COMM_WORLD, &found, &problem));
    ck_assert(km_fingerprint(&alone, 1, MPI_COMM_SELF, &other, &problem));
    ck_assert(found == other);
    alone.data[77] ^= 128;
    ck_assert(km_fingerprint(&alone, 1, MPI_COMM_SELF, &other, &problem));
    ck_assert(found != other);
    alone.data[77] ^= 128;
    for (size_t i = 0; i < DIM; i++) {
        uint8_t swap = alone.data[i];
        alone.data[i] = alone.data[100 * DIM + i];
        alone.data[100 * DIM + i] = swap;
    }
    ck_assert(km_fingerprint(&alone, 1, MPI_COMM_SELF, &other, &problem));
    ck_assert(found != other);
    km_real_free(&alone.real);
    free(alone.data);
    km_real_free(&points.real);
    free(points.data);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("checkpoint");
    TCase *cases = tcase_create("checkpoint");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, same_bits_from_any_checkpoint, 0, KINDS);
    tcase_add_test(cases, bad_checkpoints);
    tcase_add_test(cases, one_run_at_a_time);
    tcase_add_test(cases, others_files_stay);
    tcase_add_test(cases, fingerprints);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 3 4", suite);
}

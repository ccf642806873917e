/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/words/exemplars.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool exemplars_open(struct exemplars *these, const char *features_path, const char *centroids_path,
                    const char *assign_path, app_problem *problem) {
    struct table *features = &these->features, *centroids = &these->centroids;
    if (!table_open(features, features_path, 2, NPY_UINT8, NPY_UINT8, problem) ||
        !table_open(centroids, centroids_path, 2, NPY_UINT8, NPY_UINT8, problem) ||
        !table_open(&these->assign, assign_path, 1, NPY_INT32, NPY_UINT32, problem))
        return false;
    these->rows = features->header.shape[0];
    these->width = features->header.shape[1];
    if (centroids->header.shape[1] != these->width)
        return app_refuse(problem, "%s has %" PRIu64 " columns where %s has %" PRIu64,
                          centroids->path, centroids->header.shape[1], features->path,
                          these->width);
    if (these->assign.header.shape[0] != these->rows)
        return app_refuse(problem, "%s has %" PRIu64 " rows where %s has %" PRIu64,
                          these->assign.path, these->assign.header.shape[0], features->path,
                          these->rows);
    return true;
}

static bool read_assignment(struct exemplars *these, uint64_t row, uint32_t *centroid,
                            app_problem *problem) {
    uint64_t centroids = these->centroids.header.shape[0];
    if (!table_read(&these->assign, centroid, problem))
        return false;
    /* A negative int32 is large here. */
    if (*centroid < centroids)
        return true;
    return app_refuse(
        problem, "%s: row %" PRIu64 " is assigned to %" PRId64 ", but %s has %" PRIu64 " centroids",
        these->assign.path, row,
        these->assign.header.type == NPY_INT32 ? (int64_t)(int32_t)*centroid : (int64_t)*centroid,
        these->centroids.path, centroids);
}

static int compare_uses(const void *a, const void *b) {
    const struct word *one = a, *other = b;
    if (one->uses != other->uses)
        return one->uses > other->uses ? -1 : 1;
    return (one->centroid > other->centroid) - (one->centroid < other->centroid);
}

bool exemplars_rank(struct exemplars *these, uint64_t words, app_problem *problem) {
    uint64_t centroids = these->centroids.header.shape[0];
    these->words = calloc(centroids, sizeof *these->words);
    if (!these->words)
        return app_refuse(problem, "out of memory");
    for (uint64_t row = 0; row < these->rows; row++) {
        uint32_t centroid;
        if (!read_assignment(these, row, &centroid, problem))
            return false;
        these->words[centroid].uses++;
    }
    for (uint64_t centroid = 0; centroid < centroids; centroid++)
        these->words[centroid].centroid = centroid;
    qsort(these->words, centroids, sizeof *these->words, compare_uses);
    while (these->count < centroids && these->count < words && these->words[these->count].uses)
        these->count++;
    return true;
}

static bool allocate_words(struct exemplars *these, app_problem *problem) {
    for (size_t i = 0; i < these->count; i++) {
        struct word *word = &these->words[i];
        word->nearest = calloc(these->per_word, sizeof *word->nearest);
        word->patches = calloc(these->per_word, these->patch * these->patch);
        if (!word->nearest || !word->patches)
            return app_refuse(problem, "out of memory");
    }
    these->centers = calloc(these->count, these->width);
    return these->centers || app_refuse(problem, "out of memory");
}

static bool read_centers(struct exemplars *these, app_problem *problem) {
    for (size_t i = 0; i < these->count; i++)
        if (!table_seek(&these->centroids, these->words[i].centroid, problem) ||
            !table_read(&these->centroids, these->centers + i * these->width, problem))
            return false;
    return true;
}

static uint64_t distance_of(const uint8_t *a, const uint8_t *b, uint64_t width) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < width; i++) {
        int difference = a[i] - b[i];
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

/*
 * Inserts CANDIDATE into the list of the nearest rows of WORD, unless the list is full of rows that
 * are at least as near. If the list is full, its last row is dropped. Rows come in order, so that
 * of several equally near rows the first stays first.
 */
static void insert_if_near(struct word *word, size_t per_word, struct near candidate) {
    size_t place = word->found;
    while (place && word->nearest[place - 1].distance > candidate.distance)
        place--;
    if (place == per_word)
        return;
    word->found += word->found < per_word;
    for (size_t i = word->found - 1; i > place; i--)
        word->nearest[i] = word->nearest[i - 1];
    word->nearest[place] = candidate;
}

/*
 * Reads all features, and inserts the rows of selected words into the words' lists. PLACES maps
 * each centroid to the index of its word, or, if the word is not selected, to the number of
 * selected words.
 */
static bool scan_features(struct exemplars *these, const size_t *places, uint8_t *features,
                          app_problem *problem) {
    if (!table_seek(&these->assign, 0, problem))
        return false;
    for (uint64_t row = 0; row < these->rows; row++) {
        uint32_t centroid;
        if (!table_read(&these->features, features, problem) ||
            !read_assignment(these, row, &centroid, problem))
            return false;
        size_t place = places[centroid];
        if (place == these->count)
            continue;
        const uint8_t *center = these->centers + place * these->width;
        insert_if_near(&these->words[place], these->per_word,
                       (struct near){row, distance_of(features, center, these->width)});
    }
    return true;
}

static bool find_nearest(struct exemplars *these, app_problem *problem) {
    uint64_t centroids = these->centroids.header.shape[0];
    size_t *places = malloc(centroids * sizeof *places);
    uint8_t *features = malloc(these->width);
    bool good = false;
    if (!places || !features) {
        app_refuse(problem, "out of memory");
        goto release;
    }
    for (uint64_t centroid = 0; centroid < centroids; centroid++)
        places[centroid] = these->count;
    for (size_t i = 0; i < these->count; i++)
        places[these->words[i].centroid] = i;
    good = scan_features(these, places, features, problem);
release:
    free(features);
    free(places);
    return good;
}

/* A patch to be cut: its row and its destination. */
struct cut {
    uint64_t row;
    uint8_t *to;
};

static int compare_rows(const void *a, const void *b) {
    const struct cut *one = a, *other = b;
    return (one->row > other->row) - (one->row < other->row);
}

/*
 * Reads all patches of the images, which must be as many as the rows of features, and copies the
 * patches of CUTS, which are sorted by row, to their destinations.
 */
static bool scan_patches(const struct exemplars *these, patch_stream *stream,
                         const struct cut *cuts, size_t count, uint8_t *pixels,
                         app_problem *problem) {
    size_t size = these->patch * these->patch;
    uint64_t row = 0;
    next_state state;
    while ((state = patches_next(stream, pixels, problem)) == NEXT_READ && row < these->rows) {
        for (; count && cuts->row == row; cuts++, count--)
            memcpy(cuts->to, pixels, size);
        row++;
    }
    if (state == NEXT_FAILED)
        return false;
    if (state == NEXT_NONE && row == these->rows)
        return true;
    return app_refuse(problem,
                      "%s has %" PRIu64 " rows but the images have %s%" PRIu64
                      " patches; give the --images, --limit, --patch and --stride of the features",
                      these->features.path, these->rows, state == NEXT_READ ? "more than " : "",
                      row);
}

static bool cut_patches(struct exemplars *these, const patch_choice *choice, app_problem *problem) {
    size_t size = these->patch * these->patch, count = 0;
    struct cut *cuts = calloc(these->count * these->per_word, sizeof *cuts);
    uint8_t *pixels = malloc(size);
    patch_stream *stream = NULL;
    bool good = false;
    if (!cuts || !pixels) {
        app_refuse(problem, "out of memory");
        goto release;
    }
    for (struct word *word = these->words; word < these->words + these->count; word++)
        for (size_t i = 0; i < word->found; i++)
            cuts[count++] = (struct cut){word->nearest[i].row, word->patches + i * size};
    qsort(cuts, count, sizeof *cuts, compare_rows);
    stream = patches_open(choice, problem);
    good = stream && scan_patches(these, stream, cuts, count, pixels, problem);
release:
    patches_close(stream);
    free(pixels);
    free(cuts);
    return good;
}

bool exemplars_find(struct exemplars *these, size_t per_word, const patch_choice *choice,
                    app_problem *problem) {
    these->per_word = per_word;
    these->patch = choice->patch;
    return allocate_words(these, problem) && read_centers(these, problem) &&
           find_nearest(these, problem) && cut_patches(these, choice, problem);
}

void exemplars_close(struct exemplars *these) {
    for (size_t i = 0; i < these->count; i++) {
        free(these->words[i].nearest);
        free(these->words[i].patches);
    }
    free(these->words);
    free(these->centers);
    table_close(&these->features);
    table_close(&these->centroids);
    table_close(&these->assign);
}

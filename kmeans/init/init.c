/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/init/init.h"

#include "app/checksum.h"
#include "app/options.h"
#include "kmeans/points/fixed_point.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const km_init_method *const methods[] = {
    &km_init_random, &km_init_plus_plus, &km_init_parallel, &km_init_afkmc2, &km_init_file,
};
enum { METHODS = sizeof methods / sizeof *methods };

static const km_init_method *find_method(const char *name, size_t length) {
    for (size_t i = 0; i < METHODS; i++)
        if (strlen(methods[i]->name) == length && strncmp(methods[i]->name, name, length) == 0)
            return methods[i];
    return NULL;
}

/* Returns where to store a parameter of the method; NULL if the method has no such parameter. */
static uint64_t *find_parameter(km_init *start, const char *name) {
    if (start->method == &km_init_parallel && strcmp(name, "rounds") == 0)
        return &start->rounds;
    if (start->method == &km_init_parallel && strcmp(name, "memory") == 0)
        return &start->memory;
    if (start->method == &km_init_afkmc2 && strcmp(name, "chain") == 0)
        return &start->chain;
    return NULL;
}

/* Parses "name=value,...", modifying TEXT; WHOLE is for messages. */
static bool parse_parameters(const char *whole, char *text, km_init *start, app_problem *problem) {
    char *rest = text;
    for (char *word; (word = strsep(&rest, ","));) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        uint64_t *into = find_parameter(start, word);
        if (!into)
            return app_refuse(problem, "--start %s: %s has no parameter \"%s\"", whole,
                              start->method->name, word);
        uint64_t most = into == &start->memory ? UINT64_C(1) << 40 : 1000000;
        if (!value || !app_parse_size(value, into) || *into < 1 || *into > most)
            return app_refuse(problem, "--start %s: %s=N is needed, N from 1 to %" PRIu64, whole,
                              word, most);
    }
    return true;
}

bool km_init_parse(const char *text, km_init *start, app_problem *problem) {
    size_t length = strcspn(text, ":");
    const char *rest = text[length] ? text + length + 1 : NULL;
    *start = (km_init){.method = find_method(text, length),
                       .rounds = 5,
                       .memory = UINT64_C(256) << 20,
                       .chain = 200};
    if (!start->method)
        return app_refuse(
            problem, "--start %s: random, k-means++, k-means||, afk-mc2 or file:PATH is needed",
            text);
    if (start->method == &km_init_file) {
        start->path = rest;
        return (rest && *rest) || app_refuse(problem, "--start file:PATH needs a path");
    }
    if (!rest)
        return true;
    char *parameters = strdup(rest);
    if (!parameters)
        return app_refuse(problem, "out of memory");
    bool good = parse_parameters(text, parameters, start, problem);
    free(parameters);
    return good;
}

/* Computes the checksum of the file that PATH names and of the dataset's name, if PATH has one. */
static bool checksum_file(const char *path, uint32_t *checksum, app_problem *problem) {
    char bytes[1 << 14], *name = km_points_file(path);
    size_t count;
    const char *dataset = name ? path + strlen(name) : "";
    FILE *file = name ? fopen(name, "rb") : NULL;
    free(name);
    if (!file)
        return app_refuse(problem, "%s: can't be opened: %s", path, strerror(errno));
    *checksum = 0;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        *checksum = app_checksum(*checksum, bytes, count);
    bool good = !ferror(file) || app_refuse(problem, "%s: can't be read", path);
    fclose(file);
    if (*dataset)
        *checksum = app_checksum(*checksum, dataset, strlen(dataset));
    return good;
}

bool km_init_name(const km_init *start, char name[KM_INIT_NAME_SIZE], app_problem *problem) {
    const km_init_method *method = start->method ? start->method : &km_init_random;
    uint32_t checksum;
    if (method == &km_init_parallel)
        snprintf(name, KM_INIT_NAME_SIZE, "%s:rounds=%" PRIu64 ",memory=%" PRIu64, method->name,
                 start->rounds, start->memory);
    else if (method == &km_init_afkmc2)
        snprintf(name, KM_INIT_NAME_SIZE, "%s:chain=%" PRIu64, method->name, start->chain);
    else if (method != &km_init_file)
        snprintf(name, KM_INIT_NAME_SIZE, "%s", method->name);
    else if (checksum_file(start->path, &checksum, problem))
        snprintf(name, KM_INIT_NAME_SIZE, "file (checksum %08" PRIx32 ")", checksum);
    else
        return false;
    return true;
}

bool km_init_is_given(const km_init *start) {
    return start->rows || start->method == &km_init_file;
}

bool km_init_store(const km_points *points, size_t k, const char *source, size_t i, double value,
                   uint8_t *centroids, app_problem *problem) {
    size_t dim = points->dim;
    if (points->fixed_point)
        return km_planes_set_checked(centroids, k * dim, i, value, source, problem);
    double kept = km_real_store(&points->real, i % dim, value);
    if (!(fabs(kept) <= KM_LARGEST_REAL))
        return app_refuse(problem,
                          "%s: row %zu, column %zu (counted from 0) is %g, too far from the points "
                          "for float32; start nearer to them",
                          source, i / dim, i % dim, value);
    ((float *)centroids)[i] = (float)kept;
    return true;
}

bool km_init_choose(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    const km_init_method *method = seeding->start->method;
    const km_points *points = seeding->points;
    bool good = true;
    for (size_t j = 0; points->fixed_point && app_rank(seeding->comm) == 0 && j < seeding->k; j++)
        km_planes_clear_fractions(centroids, seeding->k, points->dim, j);
    if (seeding->start->rows)
        memcpy(centroids, seeding->start->rows, km_centroids_bytes(points, seeding->k));
    else
        good = (method ? method : &km_init_random)->choose(seeding, centroids, problem);
    /* Rows that are not chosen among the points may have any length. */
    for (size_t j = 0; good && points->real.unit && app_rank(seeding->comm) == 0 && j < seeding->k;
         j++)
        km_real_normalise(&points->real, (float *)centroids + j * points->dim, points->dim);
    return good;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initialisation: chooses the initial centroids. Each method has its own file here; adding one
 * takes that file and a line of the table in init.c. The result depends only on the seed and the
 * points: it has the same bits for any number of ranks and threads.
 */
#ifndef COLL_KMEANS_INIT_INIT_H
#define COLL_KMEANS_INIT_INIT_H

#include "kmeans/assign/kernel.h"
#include "kmeans/points/points.h"

enum { KM_INIT_NAME_SIZE = 64 };

typedef struct km_init_method km_init_method;

/* The initialisation that the user asked for (--start); METHOD is NULL for random. */
typedef struct km_init {
    const km_init_method *method;
    const uint8_t *rows; /* the centroids themselves, significant at rank 0; or NULL */
    const char *path;    /* path of a file of centroids */
    uint64_t rounds;     /* rounds of k-means|| */
    uint64_t memory;     /* approximate bytes for the candidates of k-means|| */
    uint64_t chain;      /* steps of a Markov chain of AFK-MC2 */
} km_init;

/* The input of a method. */
typedef struct km_seeding {
    const km_points *points;
    size_t k;
    const km_init *start;
    uint64_t seed;
    int threads;
    const km_kernel *kernel;
    MPI_Comm comm;
} km_seeding;

struct km_init_method {
    const char *name;
    /*
     * Chooses k CENTROIDS, significant at rank 0; of fixed-point centroids (fixed_point.h) only the
     * first plane. Collective; on false all ranks have the same problem.
     */
    bool (*choose)(const km_seeding *seeding, uint8_t *centroids, app_problem *problem);
};

extern const km_init_method km_init_random;
extern const km_init_method km_init_plus_plus;
extern const km_init_method km_init_parallel;
extern const km_init_method km_init_afkmc2;
extern const km_init_method km_init_file;

/* Parses METHOD[:parameter=value,...] or file:PATH. TEXT must outlive START. */
bool km_init_parse(const char *text, km_init *start, app_problem *problem);

/*
 * Writes a NAME that differs whenever the result may: with the method's parameters, and with a
 * file's checksum rather than its path. Reads the file; not collective.
 */
bool km_init_name(const km_init *start, char name[KM_INIT_NAME_SIZE], app_problem *problem);

/* Returns whether the centroids are rows or a file, not chosen among the points. */
bool km_init_is_given(const km_init *start);

/*
 * Stores VALUE as feature I, counted over all rows, of K CENTROIDS of POINTS. The points have real
 * features or fixed-point centroids. Reports a problem with SOURCE, where VALUE is from, if it is
 * out of range: for bytes 0 to 255, else a distance from the points whose square fits float32.
 */
bool km_init_store(const km_points *points, size_t k, const char *source, size_t i, double value,
                   uint8_t *centroids, app_problem *problem);

bool km_init_choose(const km_seeding *seeding, uint8_t *centroids, app_problem *problem);

#endif

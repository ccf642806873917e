/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initialisation: chooses the initial centroids. Each method has its own file here; a new method
 * needs a file, a declaration below, and a line of the table in init.c. The result has the same
 * bits for any number of ranks and threads.
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
    const uint8_t *rows; /* the centroids: allocated on all ranks, significant at rank 0; NULL if
                            METHOD chooses them */
    const char *path;    /* path of a file of centroids */
    uint64_t rounds;     /* rounds of k-means|| */
    uint64_t memory;     /* approximate bytes for the candidates of k-means|| */
    uint64_t chain;      /* candidates of a Markov chain of AFK-MC2 */
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
     * Chooses k CENTROIDS, significant at rank 0. The fractions of fixed-point centroids
     * (fixed_point.h) are 0 on entry, so setting the first plane is enough. Collective; on false
     * all ranks have the same problem.
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
 * Writes a description of the method to NAME: its name and parameters or, for a file, the checksum
 * of the contents and of the name of an HDF5 dataset instead of the path. Reads the file; not
 * collective.
 */
bool km_init_name(const km_init *start, char name[KM_INIT_NAME_SIZE], app_problem *problem);

/*
 * Returns whether the centroids are given, as rows or as a file, and not chosen among the points.
 */
bool km_init_is_given(const km_init *start);

/*
 * Stores VALUE as feature I, counted over all rows, of K CENTROIDS of POINTS. The points must have
 * real features or fixed-point centroids. Reports a problem that names SOURCE if VALUE is out of
 * range: if it is not from 0 to 255 for fixed-point centroids, or if it is so far from the points
 * that squared distances of real features would not fit float32.
 */
bool km_init_store(const km_points *points, size_t k, const char *source, size_t i, double value,
                   uint8_t *centroids, app_problem *problem);

bool km_init_choose(const km_seeding *seeding, uint8_t *centroids, app_problem *problem);

#endif

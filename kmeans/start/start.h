/*
 * The initial centroids. One method per file, start_*.c; adding one costs that file and a line of
 * the table in start.c. All depend on the seed and the points alone: the same bits for any number
 * of ranks and threads.
 */
#ifndef COLL_KMEANS_START_START_H
#define COLL_KMEANS_START_START_H

#include "kmeans/assign/kernel.h"
#include "kmeans/points/points.h"

enum { KM_START_SIZE = 64 };

typedef struct km_start_method km_start_method;

/* What the user asked for; METHOD is NULL for random. */
typedef struct km_start {
    const km_start_method *method;
    const uint8_t *rows; /* the centroids themselves, which count at rank 0, or NULL */
    const char *path;    /* of a file of centroids */
    uint64_t rounds;     /* of k-means|| */
    uint64_t memory;     /* bytes of candidates of k-means||, roughly */
    uint64_t chain;      /* steps of a Markov chain of AFK-MC2 */
} km_start;

/* What a method works with. */
typedef struct km_seeding {
    const km_points *points;
    size_t k;
    const km_start *start;
    uint64_t seed;
    int threads;
    const km_kernel *kernel;
    MPI_Comm comm;
} km_seeding;

struct km_start_method {
    const char *name;
    /*
     * Chooses k CENTROIDS, which count at rank 0, of bytes or real features; of fine ones (fine.h)
     * the first plane is enough.
     * Collective; on false all have the same problem.
     */
    bool (*choose)(const km_seeding *seeding, uint8_t *centroids, app_problem *problem);
};

extern const km_start_method km_start_random;
extern const km_start_method km_start_plus_plus;
extern const km_start_method km_start_parallel;
extern const km_start_method km_start_chain;
extern const km_start_method km_start_file;

/* Reads METHOD[:parameter=value,...] or file:PATH; TEXT must stay good. */
bool km_start_parse(const char *text, km_start *start, app_problem *problem);

/*
 * The start in words that differ where its result may: with parameters, and a file's checksum
 * rather than its name. Reads the file; not collective.
 */
bool km_start_describe(const km_start *start, char name[KM_START_SIZE], app_problem *problem);

bool km_start_choose(const km_seeding *seeding, uint8_t *centroids, app_problem *problem);

#endif

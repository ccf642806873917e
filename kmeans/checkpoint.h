/*
 * Checkpoints: what a clustering needs to go on after a crash, in one file DIRECTORY/checkpoint of
 * rank 0's host. A new one replaces the last under its name only when it is whole and on disk, so
 * that at any moment there is a good one. It holds nothing of ranks and threads: any number of them
 * can go on from it.
 *
 * The file is a header (what it belongs to, the last iteration's figures), the centroids, the
 * cluster of each point, and the CRC32C of all that; the header has its own, too.
 */
#ifndef COLL_KMEANS_CHECKPOINT_H
#define COLL_KMEANS_CHECKPOINT_H

#include "kmeans/kmeans.h"

/*
 * In a state's nearest, a point that has still to be assigned in the iteration at hand; the other
 * bits are its cluster in the iteration before, or, where there was none, the rest of
 * KM_NO_CLUSTER.
 */
#define KM_PENDING (UINT32_C(1) << 31)
#define KM_NO_CLUSTER UINT32_MAX

/*
 * Where a clustering stands: all that is needed to go on, besides the points. STEP was the last
 * iteration, of number 0 where there was none; the next one is on its way.
 */
typedef struct km_state {
    km_step step;
    uint64_t moved;     /* of the points that this rank has assigned since then, how many moved */
    uint8_t *centroids; /* k rows; those of rank 0 count */
    uint32_t *nearest;  /* of each of this rank's points */
} km_state;

/*
 * A number that depends on every bit and the order of the points, not on how they are spread over
 * ranks: the sum, modulo 2^64, of a mixture of each row's CRC32C and place. Collective; on false
 * all ranks have the same problem.
 */
bool km_fingerprint(const km_points *points, int threads, MPI_Comm comm, uint64_t *fingerprint,
                    app_problem *problem);

/* What a checkpoint belongs to: the same clustering, whatever else the command line says. */
typedef struct km_identity {
    uint64_t total, dim;
    uint64_t fingerprint; /* of the points */
    uint64_t k;
    uint64_t bytes; /* of the centroids, which tell their type */
    uint64_t seed;
    char start[KM_START_SIZE]; /* how the centroids were chosen, in words */
} km_identity;

typedef struct km_checkpoint {
    const char *directory;
    char *path;
    int lock; /* the directory, locked; -1 but at rank 0 */
} km_checkpoint;

/* The file in DIRECTORY, to be freed; NULL without memory. */
char *km_checkpoint_path(const char *directory);

/*
 * Takes DIRECTORY, made where it is missing, for this run alone. *FOUND, on all ranks, is whether
 * it has a checkpoint. Collective; on false all ranks have the same problem. The caller ends it
 * with km_checkpoint_close, after a failure too.
 */
bool km_checkpoint_open(km_checkpoint *checkpoint, const char *directory, bool *found,
                        MPI_Comm comm, app_problem *problem);

void km_checkpoint_close(km_checkpoint *checkpoint);

/* Writes STATE. Collective; on false all ranks have the same problem and the last one stays. */
bool km_checkpoint_write(const km_checkpoint *checkpoint, const km_identity *identity,
                         const km_points *points, const km_state *state, MPI_Comm comm,
                         app_problem *problem);

/*
 * Reads the checkpoint into STATE, whose arrays are the caller's. A checkpoint that is damaged or
 * of another clustering than IDENTITY is a problem that says so. Collective; on false all ranks
 * have the same problem and the arrays hold nothing of use.
 */
bool km_checkpoint_read(const km_checkpoint *checkpoint, const km_identity *identity,
                        const km_points *points, km_state *state, MPI_Comm comm,
                        app_problem *problem);

#endif

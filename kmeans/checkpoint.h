/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: what a clustering needs to continue after a crash, in one file DIRECTORY/checkpoint
 * on rank 0's host. A new checkpoint replaces the last one only when it is complete and on disk, so
 * once there is a valid checkpoint, there always is one. A checkpoint doesn't depend on ranks and
 * threads: a run with any number of them can continue from it.
 *
 * The file consists of a header (the identity of the clustering, figures of the last iteration),
 * the centroids, the cluster of each point, and the CRC32C of all that; the header has a checksum,
 * too.
 */
#ifndef COLL_KMEANS_CHECKPOINT_H
#define COLL_KMEANS_CHECKPOINT_H

#include "kmeans/kmeans.h"

/*
 * In a state's NEAREST, marks a point that has still to be assigned in the current iteration. The
 * other bits are its cluster in the previous iteration; if there was no previous iteration, they
 * are the bits of KM_NO_CLUSTER.
 */
#define KM_PENDING (UINT32_C(1) << 31)
#define KM_NO_CLUSTER UINT32_MAX

/*
 * The state of a clustering: all that is needed to continue, except the points. STEP is the last
 * complete iteration, number 0 if there was none; the next iteration is under way.
 */
typedef struct km_state {
    km_step step;
    uint64_t moved; /* the number of points that moved, among the points that this rank has assigned
                       in the current iteration */
    uint8_t *centroids; /* k rows; significant at rank 0 */
    uint32_t *nearest;  /* cluster of each of this rank's points */
} km_state;

/*
 * Computes a number that depends on every bit and the order of the points, but not on how the
 * points are spread over ranks: the sum modulo 2^64 of a hash of each row's CRC32C and index, of
 * each weight, of the scale and offsets of real features, and of whether rows are scaled to length
 * 1. Collective; on false all ranks have the same problem.
 */
bool km_fingerprint(const km_points *points, int threads, MPI_Comm comm, uint64_t *fingerprint,
                    app_problem *problem);

/* The identity of a clustering: a checkpoint only fits a run for which all of this is the same. */
typedef struct km_identity {
    uint64_t total, dim;
    uint64_t fingerprint; /* fingerprint of the points */
    uint64_t k;
    uint64_t bytes; /* bytes of the centroids, which imply their type */
    uint64_t seed;
    char start[KM_INIT_NAME_SIZE]; /* name of the start (km_init_name) */
} km_identity;

typedef struct km_checkpoint {
    const char *directory;
    char *path;
    int lock; /* descriptor of the locked directory; -1 except at rank 0 */
} km_checkpoint;

/* Returns the path of the checkpoint in DIRECTORY, to be freed; NULL if memory is short. */
char *km_checkpoint_path(const char *directory);

/*
 * Locks DIRECTORY for this run, creating it if it is missing, and removes unfinished checkpoints
 * from it. *FOUND says on all ranks whether DIRECTORY has a checkpoint. Collective; on false all
 * ranks have the same problem. Call km_checkpoint_close in the end, also after a failure.
 */
bool km_checkpoint_open(km_checkpoint *checkpoint, const char *directory, bool *found,
                        MPI_Comm comm, app_problem *problem);

void km_checkpoint_close(km_checkpoint *checkpoint);

/*
 * Writes STATE. Collective; on false all ranks have the same problem and the last checkpoint stays.
 */
bool km_checkpoint_write(const km_checkpoint *checkpoint, const km_identity *identity,
                         const km_points *points, const km_state *state, MPI_Comm comm,
                         app_problem *problem);

/*
 * Reads the checkpoint into STATE, whose arrays the caller has allocated. Reports a problem if the
 * checkpoint is damaged or of another clustering than IDENTITY. Collective; on false all ranks have
 * the same problem and the arrays are undefined.
 */
bool km_checkpoint_read(const km_checkpoint *checkpoint, const km_identity *identity,
                        const km_points *points, km_state *state, MPI_Comm comm,
                        app_problem *problem);

#endif

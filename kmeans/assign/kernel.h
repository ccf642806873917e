/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inner loops of the assignment, one per instruction set: what they compute, and how points and
 * centroids are laid out in memory for them.
 *
 * A kernel compares the scores of centroids c for a point x,
 *
 *     score = |c|^2 - 2 x.(c - 128) = |x - c|^2 + sum x (256 - x).
 *
 * Scores are ordered like distances because the last sum depends on the point alone. c - 128 is a
 * signed byte, as needed by instructions that multiply unsigned by signed bytes. Each dimension
 * adds between 0 and 256 * 255 to the score. With up to 65,793 dimensions, the score is therefore
 * below 2^32 - 1, and sums that wrap around modulo 2^32 give it exactly.
 *
 * For float32 features (quantised.h), only pack, pack_centroids and multiply are used.
 */
#ifndef COLL_KMEANS_ASSIGN_KERNEL_H
#define COLL_KMEANS_ASSIGN_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Greater than any score: the initial value of a search for the least score. */
#define KM_NO_SCORE UINT32_MAX

/* A point and a centroid, by their numbers in their panels. */
typedef struct km_pair {
    uint16_t point, centroid;
} km_pair;

enum { KM_SPARE = 16 };

/*
 * Every KM_LANE dimensions of a quantised row (quantised.h) are two lanes: dimensions 0, 1, 4, 5,
 * 8, 9, 12 and 13, and the other eight. KM_LANE_SUM is the lane_sum of the kernels that limit it.
 */
enum { KM_LANE = 16, KM_LANE_SUM = 258 };

/*
 * A panel of points (or centroids) interleaves a fixed number of them: the first GROUP dimensions
 * of each, then the next GROUP dimensions of each, and so on; missing dimensions are zero.
 */
typedef struct km_kernel {
    const char *name;
    const char *instruction; /* the instruction that does the work, for messages */
    size_t points;           /* in a panel of points */
    size_t centroids;        /* in a panel of centroids */
    size_t group;            /* consecutive dimensions of one row */
    size_t element;          /* bytes of a packed dimension: 1 or 2; packed centroids are signed */

    /* The next three serve float32 features. */
    const struct km_kernel *quantised; /* the kernel for float32, which need not have the functions
                                          that only bytes need; NULL: this kernel */
    int range;    /* codes of points are from -RANGE to RANGE; packed bytes are RANGE + 1 higher */
    int lane_sum; /* the most that the absolute codes of a centroid in a lane may add up to; 0: no
                     limit */

    /* Returns true if this processor and its operating system can run the kernel. */
    bool (*supported)(void);

    /*
     * Fills PANEL, 64-byte aligned, with N rows of DIM bytes, 1 <= N <= points, and with zeros for
     * missing points. Sets corrections[i] to the sum of x (x - 256). The score of a centroid for
     * point i plus corrections[i] is their squared distance. A kernel for float32 alone may leave
     * CORRECTIONS unset.
     */
    void (*pack)(const uint8_t *rows, size_t n, size_t dim, void *panel, uint32_t *corrections);

    /*
     * Fills PANEL with N rows of centroids, 1 <= N <= centroids, and NORMS with their |c|^2.
     * Missing centroids become zeros with the norm KM_NO_SCORE, so that they are never nearest.
     */
    void (*pack_centroids)(const struct km_kernel *kernel, const uint8_t *rows, size_t n,
                           size_t dim, void *panel, uint32_t *norms);

    /*
     * Compares all points of one panel with all centroids of another. Lowers best[i], the least
     * score of point i so far, and sets nearest[i] to the number of the centroid that has it; FIRST
     * is the number of the panel's first centroid. CORRECTIONS come from pack, NORMS are |c|^2.
     * GROUPS is the number of groups of dimensions in a row.
     */
    void (*tile)(const void *points, const uint32_t *corrections, const void *centroids,
                 const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                 uint32_t *nearest);

    /*
     * The next three serve pruning (pruning.h). Computes the products of a tile: SUMS[j * points +
     * i] becomes x.(c - 128) for point i and centroid j of the panels.
     */
    void (*multiply)(const void *points, const void *centroids, size_t groups, int32_t *sums);

    /*
     * Lists the pairs, centroid after centroid, whose product plus STARTS[centroid] is at least
     * FLOORS[point], and returns their number. PAIRS has room for all pairs and KM_SPARE more. If
     * PAIRS is NULL, returns a number other than 0 if there is such a pair, and else 0.
     */
    size_t (*find_candidates)(const void *points, const void *centroids, const int32_t *starts,
                              size_t groups, const int32_t *floors, km_pair *pairs);

    /*
     * Computes the products x.(c - 128) of N pairs of points and centroids, rows of DIM bytes.
     * PRODUCTS has room for N and KM_SPARE more.
     */
    void (*multiply_rows)(const uint8_t *const *points, const uint8_t *const *centroids, size_t dim,
                          size_t n, int32_t *products);

    /*
     * Serves to time the peak of a core: runs the instruction on registers alone, a few times in
     * each of ROUNDS rounds. Returns the number of multiplications and additions made.
     */
    double (*burn)(size_t rounds);
} km_kernel;

/* Sets the functions of a kernel for bytes, whose file gives them the names of the members. */
#define KM_KERNEL_FUNCTIONS                                                                        \
    .supported = supported, .pack = pack, .pack_centroids = km_pack_centroids, .tile = tile,       \
    .multiply = multiply, .find_candidates = find_candidates, .multiply_rows = multiply_rows,      \
    .burn = burn

/* Returns the kernels of this processor family, fastest first, ended by NULL. */
const km_kernel *const *km_kernel_list(void);

/*
 * Returns the fastest supported kernel, or the one that the environment variable COLL_KMEANS_KERNEL
 * names. If no kernel of that name runs here, returns NULL and writes one line about this to
 * PROBLEM, which has SIZE bytes.
 */
const km_kernel *km_kernel_best(char *problem, size_t size);

/* The pack_centroids of every kernel. */
void km_pack_centroids(const km_kernel *kernel, const uint8_t *rows, size_t n, size_t dim,
                       void *panel, uint32_t *norms);

/* The kernels of the other files. Only kernel.c uses them; all other files call km_kernel_list. */
extern const km_kernel km_kernel_vnni;
extern const km_kernel km_kernel_avx_vnni;
extern const km_kernel km_kernel_avx2;
extern const km_kernel km_kernel_i8mm;
extern const km_kernel km_kernel_dotprod;
extern const km_kernel km_kernel_scalar;

/* The kernels for float32 of km_kernel_avx2 and km_kernel_scalar. */
extern const km_kernel km_kernel_avx2_narrow;
extern const km_kernel km_kernel_scalar_panel;

#endif

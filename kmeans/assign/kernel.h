/*
 * The inner loops of the assignment, one per instruction set: what they compute, and how points and
 * centroids lie in memory for them.
 *
 * A kernel compares the score of centroids c for a point x,
 *
 *     score = |c|^2 - 2 x.(c - 128) = |x - c|^2 + sum x (256 - x),
 *
 * which orders them as the distance does, for the last sum belongs to the point alone. c - 128 is a
 * signed byte, as instructions that multiply unsigned by signed bytes want it. Each dimension adds
 * between 0 and 256 * 255 to the score, so that up to 65,793 dimensions it is below 2^32 - 1, and
 * sums that wrap around modulo 2^32 give it exactly.
 *
 * One kernel is for real features instead, float32 (assign_openblas.c): its scores are the bits of
 * the distances, and its corrections those of |x|^2.
 */
#ifndef COLL_KMEANS_ASSIGN_KERNEL_H
#define COLL_KMEANS_ASSIGN_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Greater than any score: where the search for the least one starts. */
#define KM_NO_SCORE UINT32_MAX

/* A point and a centroid, by their numbers in their panels. */
typedef struct km_pair {
    uint16_t point, centroid;
} km_pair;

enum { KM_SPARE = 16 };

/*
 * A panel of points (or centroids) holds a fixed number of them side by side: first the leading
 * GROUP dimensions of each, then the next GROUP of each, and so on; missing dimensions are zero.
 */
typedef struct km_kernel {
    const char *name;
    const char *instruction; /* the one that does the work, for people */
    size_t points;           /* in a panel of points */
    size_t centroids;        /* in a panel of centroids */
    size_t group;            /* dimensions that lie together */
    size_t element;          /* bytes of a packed dimension: 1 or 2, a centroid's are signed */
    bool real;               /* rows are float32, and a panel is rows one after the other */
    size_t scratch;          /* bytes that a tile needs to work in */

    /* True when this processor and its operating system can run the kernel. */
    bool (*supported)(void);

    /*
     * Fills PANEL, 64-byte aligned, with N rows of DIM bytes, 1 <= N <= points, and zeros for
     * missing points. corrections[i] becomes sum x (x - 256), which turns a score of point i into
     * the distance.
     */
    void (*pack)(const uint8_t *rows, size_t n, size_t dim, void *panel, uint32_t *corrections);

    /*
     * Fills PANEL with N rows of centroids, 1 <= N <= centroids, and NORMS with their |c|^2; where
     * one is missing with zeros and a norm that never wins.
     */
    void (*pack_centroids)(const struct km_kernel *kernel, const uint8_t *rows, size_t n,
                           size_t dim, void *panel, uint32_t *norms);

    /*
     * Lowers best[i], the least score of point i so far, and sets nearest[i] to the number of the
     * centroid that did it, FIRST being the first one's in the panel; corrections are the points',
     * norms are |c|^2. GROUPS is the length of both panels, SCRATCH is memory to work in.
     */
    void (*tile)(const void *points, const uint32_t *corrections, const void *centroids,
                 const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                 uint32_t *nearest, void *scratch);

    /*
     * What sketches need (sieve.h); the kernel for reals has none of these three. The products of a
     * tile: SUMS[j * points + i] becomes x.(c - 128) for point i and centroid j of the panels.
     */
    void (*multiply)(const void *points, const void *centroids, size_t groups, int32_t *sums);

    /*
     * Lists the pairs, centroid after centroid, whose product and STARTS[centroid] are at least
     * FLOORS[point]; returns how many. There is room for all and KM_SPARE more. Where PAIRS is NULL
     * it may return any number but 0 if there is one.
     */
    size_t (*sift)(const void *points, const void *centroids, const int32_t *starts, size_t groups,
                   const int32_t *floors, km_pair *pairs);

    /*
     * The products x.(c - 128) of N points and as many centroids, rows of DIM bytes. There is room
     * for N and KM_SPARE more.
     */
    void (*multiply_rows)(const uint8_t *const *points, const uint8_t *const *centroids, size_t dim,
                          size_t n, int32_t *products);

    /*
     * Runs the instruction, ROUNDS times a few, on registers alone: the most that a core can do.
     * Returns the number of multiplications and additions made. NULL in the kernel for reals.
     */
    double (*burn)(size_t rounds);
} km_kernel;

/* The functions of a kernel for bytes, where its file has given them the names of the members. */
#define KM_KERNEL_FUNCTIONS                                                                        \
    .supported = supported, .pack = pack, .pack_centroids = km_pack_centroids, .tile = tile,       \
    .multiply = multiply, .sift = sift, .multiply_rows = multiply_rows, .burn = burn

/* The kernels of this processor family, fastest first, ended by NULL. */
const km_kernel *const *km_kernel_list(void);

/*
 * The fastest supported kernel, or the one that the environment variable COLL_KMEANS_KERNEL names.
 * NULL when it names none that runs here; PROBLEM then holds one line saying so.
 */
const km_kernel *km_kernel_best(char *problem, size_t size);

/* The pack_centroids of every kernel for unsigned bytes. */
void km_pack_centroids(const km_kernel *kernel, const uint8_t *rows, size_t n, size_t dim,
                       void *panel, uint32_t *norms);

/* The kernel for real features; NULL where it was built without OpenBLAS. */
const km_kernel *km_kernel_real(void);

/*
 * True when the OpenBLAS of km_kernel_real does not use all of this processor; ADVICE then holds
 * one line on how to make it.
 */
bool km_kernel_real_advice(char *advice, size_t size);

/*
 * What OPENBLAS_CORETYPE should be instead of CHOSEN for OpenBLAS, which may be too old to know the
 * processor, to use all of it: one that has AVX-512 (F, BW, DQ and VL), or AVX2 with FMA, or
 * neither. NULL where the choice is good.
 */
const char *km_better_core_type(const char *chosen, bool avx512, bool avx2);

/* Where kernel.c finds the kernels; everybody else asks km_kernel_list. */
extern const km_kernel km_kernel_vnni;
extern const km_kernel km_kernel_avx_vnni;
extern const km_kernel km_kernel_avx2;
extern const km_kernel km_kernel_i8mm;
extern const km_kernel km_kernel_dotprod;
extern const km_kernel km_kernel_scalar;

/* The processor for which OpenBLAS, where there is one, chose its instructions; or NULL. */
const char *km_core_type(void);

#endif

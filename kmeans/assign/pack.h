/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lays bytes out in a kernel's panels. The functions are inline, so that they are compiled for the
 * constants of each kernel.
 */
#ifndef COLL_KMEANS_ASSIGN_PACK_H
#define COLL_KMEANS_ASSIGN_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the correction of a row: sum x (x - 256). */
static inline uint32_t km_correction(const uint8_t *row, size_t dim) {
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t d = 0; d < dim; d++)
        sum += row[d] * (row[d] - UINT32_C(256));
    return sum;
}

/*
 * Fills PANEL, which holds POINTS points, with N rows of DIM bytes in groups of GROUP dimensions,
 * and with zeros for missing points and dimensions.
 */
__attribute__((always_inline)) static inline void
km_lay_out(const uint8_t *rows, size_t n, size_t dim, size_t points, size_t group, uint8_t *panel) {
    size_t whole = dim / group * group, step = points * group;
    if (n < points || whole < dim)
        memset(panel, 0, (dim + group - 1) / group * step);
    for (size_t i = 0; i < n; i++, rows += dim) {
        uint8_t *to = panel + i * group;
        for (size_t d = 0; d < whole; d += group, to += step)
            memcpy(to, rows + d, group);
        memcpy(to, rows + whole, dim - whole);
    }
}

/* Does the same, and sets CORRECTIONS[i] to the correction of row i, or 0 if it is missing. */
__attribute__((always_inline)) static inline void km_pack_bytes(const uint8_t *rows, size_t n,
                                                                size_t dim, size_t points,
                                                                size_t group, uint8_t *panel,
                                                                uint32_t *corrections) {
    km_lay_out(rows, n, dim, points, group, panel);
    memset(corrections, 0, points * sizeof *corrections);
    for (size_t i = 0; i < n; i++)
        corrections[i] = km_correction(rows + i * dim, dim);
}

/*
 * Returns N rows of BYTES bytes as one block: the rows themselves if they are contiguous, else a
 * copy in ROOM, which has space for all of them.
 */
static inline const uint8_t *km_gather(const uint8_t *const *rows, size_t n, size_t bytes,
                                       uint8_t *room) {
    size_t i = 1;
    while (i < n && rows[i] == rows[0] + i * bytes)
        i++;
    if (i == n)
        return rows[0];
    for (i = 0; i < n; i++)
        memcpy(room + i * bytes, rows[i], bytes);
    return room;
}

#endif

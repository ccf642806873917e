/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/weights.h"

#include "kmeans/points/format.h"
#include "kmeans/points/npy.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The sum of all weights times the mantissas of float32 distances must fit 63 bits. */
enum { SUM_BITS = 38 };

bool km_is_weight(double weight) {
    return weight >= 0 && weight <= DBL_MAX;
}

/* --- Conversion to integers --- */

/* Returns the largest allowed sum of weights: weighted squared distances must fit 63 bits. */
static double largest_sum(const km_points *points) {
    return fmin((double)(UINT64_C(1) << SUM_BITS),
                (double)INT64_MAX / (255 * 255) / (double)points->dim);
}

/* The range of the weights of all ranks' points. */
typedef struct weights_range {
    double largest;
    bool whole; /* all are whole numbers */
    double sum; /* at least the sum, in units of 2^-shift; the same for any number of ranks */
    int shift;
} weights_range;

/* Sums up the weights as integers, rounded up, so that the order of addition has no influence. */
static bool bound_sum(const km_points *points, const double *weights, weights_range *range,
                      MPI_Comm comm, app_problem *problem) {
    int size, count;
    frexp(range->largest, &size);
    frexp((double)points->total, &count);
    range->shift = (62 - count < 52 ? 62 - count : 52) - size;
    uint64_t sum = 0;
    for (size_t i = 0; i < points->rows; i++)
        sum += (uint64_t)ceil(ldexp(weights ? weights[i] : 1, range->shift));
    range->sum = 0;
    if (!app_agree_sum(problem, &sum, 1, comm))
        return false;
    range->sum = (double)sum;
    return true;
}

static bool find_range(const km_points *points, const double *weights, const char *name,
                       weights_range *range, MPI_Comm comm, app_problem *problem) {
    double most[] = {points->rows && !weights, 0}; /* the largest; and 1 if any has a fraction */
    for (size_t i = 0; weights && i < points->rows; i++) {
        most[0] = fmax(most[0], weights[i]);
        most[1] = fmax(most[1], weights[i] != trunc(weights[i]));
    }
    if (!app_agree_most(problem, most, 2, comm))
        return false;
    *range = (weights_range){.largest = most[0], .whole = most[1] == 0};
    if (range->largest == 0)
        return app_refuse(problem, "%s: all are 0; at least one must be positive", name);
    return bound_sum(points, weights, range, comm, problem);
}

/*
 * Returns how many fractional bits the integer weights have. The number is negative if they are
 * rounded to multiples of a power of two above 1, because their sum is too large.
 */
static int choose_bits(const km_points *points, const weights_range *range) {
    const double most = largest_sum(points);
    int bits;
    if (range->whole && ldexp(range->sum, -range->shift) <= most)
        return 0;
    frexp(most / 2 / range->sum, &bits); /* the other half is for rounding up */
    return bits - 1 + range->shift;
}

bool km_points_set_weights(km_points *points, const double *weights, const char *name,
                           MPI_Comm comm, app_problem *problem) {
    weights_range range;
    if (!find_range(points, weights, name, &range, comm, problem))
        return false;
    const int bits = choose_bits(points, &range);
    uint64_t sum = 0;
    points->weights = malloc((points->rows + 1) * sizeof *points->weights);
    if (!points->weights)
        app_refuse(problem, "out of memory");
    for (size_t i = 0; points->weights && i < points->rows; i++) {
        points->weights[i] = (uint64_t)rint(ldexp(weights ? weights[i] : 1, bits));
        sum += points->weights[i];
    }
    if (!app_agree_sum(problem, &sum, 1, comm))
        return false;
    points->weight = sum;
    points->weight_bits = bits;
    if (points->real.used)
        km_real_set_total(&points->real, sum, points->dim);
    else if (points->fixed_point)
        points->real.total = sum;
    return true;
}

/* --- Reading --- */

/* Reads the header at PATH and checks that it promises a weight for each point. */
static bool read_header(const char *path, const km_points *points, npy_header *header,
                        app_problem *problem) {
    struct stat about;
    bool good = false;
    unsigned char *head = malloc(NPY_HEADER_LONGEST);
    int file = km_open(path, problem);
    if (file < 0)
        goto free_head;
    if (!head || fstat(file, &about)) {
        app_refuse(problem, "%s: %s", path, head ? strerror(errno) : "out of memory");
        goto close_file;
    }
    size_t count = about.st_size < NPY_HEADER_LONGEST ? (size_t)about.st_size : NPY_HEADER_LONGEST;
    if (!km_read_at(file, path, 0, head, count, problem) ||
        !npy_parse_header(path, head, count, header, problem))
        goto close_file;
    uint64_t held = (uint64_t)about.st_size - header->offset;
    if (header->shape[1] != 1)
        app_refuse(problem,
                   "%s: has %" PRIu64 " columns; weights are an array of one dimension, a number "
                   "for each point",
                   path, header->shape[1]);
    else if (header->shape[0] != points->total)
        app_refuse(problem,
                   "%s: has %" PRIu64 " weights, and there are %" PRIu64
                   " points; a weight for each point is needed",
                   path, header->shape[0], points->total);
    else if (held != npy_data_size(header))
        app_refuse(problem,
                   "%s: %s: its header promises %" PRIu64 " bytes of weights, it holds %" PRIu64
                   "; save it again",
                   path, held < npy_data_size(header) ? "truncated" : "is too long",
                   npy_data_size(header), held);
    else
        good = true;
close_file:
    close(file);
free_head:
    free(head);
    return good;
}

/* Reads the weights of this rank's points. */
static bool read_values(const char *path, const npy_header *header, const km_points *points,
                        double *weights, app_problem *problem) {
    enum { BUFFER = 1 << 16 };
    unsigned char buffer[BUFFER];
    const size_t size = npy_type_size(header->type), most = BUFFER / size;
    int file = km_open(path, problem);
    if (file < 0)
        return false;
    bool good = true;
    for (size_t done = 0; good && done < points->rows;) {
        size_t count = points->rows - done < most ? points->rows - done : most;
        uint64_t row = points->first + done, offset = header->offset + row * size;
        good = km_read_at(file, path, offset, buffer, count * size, problem);
        for (size_t i = 0; good && i < count; i++) {
            weights[done + i] = npy_value(header->type, buffer, i);
            if (!km_is_weight(weights[done + i]))
                good = app_refuse(problem,
                                  "%s, byte %" PRIu64 ": row %" PRIu64
                                  " (counted from 0) is %g; weights are finite numbers from 0 on",
                                  path, offset + i * size, row + i, weights[done + i]);
        }
        done += count;
    }
    close(file);
    return good;
}

bool km_points_read_weights(km_points *points, const char *path, MPI_Comm comm,
                            app_problem *problem) {
    npy_header header = {.type = NPY_UINT8};
    if (app_rank(comm) == 0)
        read_header(path, points, &header, problem);
    if (!app_agree(problem, comm))
        return false;
    app_mpi(problem, MPI_Bcast(&header, sizeof header, MPI_BYTE, 0, comm));
    double *weights = malloc((points->rows + 1) * sizeof *weights);
    if (!weights)
        app_refuse(problem, "out of memory");
    else if (!problem->text[0])
        read_values(path, &header, points, weights, problem);
    bool good =
        app_agree(problem, comm) && km_points_set_weights(points, weights, path, comm, problem);
    free(weights);
    return good;
}

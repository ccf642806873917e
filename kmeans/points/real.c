#include "config.h"

#include "kmeans/points/real.h"

#include <math.h>
#include <string.h>

enum { BITS = 62 };

/* The power of two by which LARGEST becomes just less than 2^BITS. */
static double scale_of(double largest) {
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1, BITS - exponent);
}

double km_real_distance_scale(double largest, uint64_t total, size_t dim) {
    return scale_of(4 * largest * (double)total * largest * (double)dim);
}

bool km_real_scale(const float *features, size_t count, uint64_t total, size_t dim, MPI_Comm comm,
                   km_real *real, app_problem *problem) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)features[i]));
    bool good = app_agree_most(problem, &largest, 1, comm);
    *real = (km_real){true, scale_of(largest * (double)total),
                      km_real_distance_scale(largest, total, dim)};
    return good;
}

float km_real_mean(const km_real *real, int64_t sum, uint64_t count) {
    return (float)((double)sum / (double)count / real->feature);
}

uint32_t km_real_bits(double distance2) {
    float value = (float)distance2;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t km_real_units(const km_real *real, uint32_t distance2) {
    float value;
    if (!real->distance)
        return distance2;
    memcpy(&value, &distance2, sizeof value);
    return (uint64_t)((double)value * real->distance);
}

double km_real_objective(const km_real *real, uint64_t units) {
    return real->distance ? (double)units / real->distance : (double)units;
}

double km_real_distance2(const float *a, const float *b, size_t dim) {
    enum { SUMS = 4 }; /* at once, as an addition has to wait for the one before */
    double sums[SUMS] = {0};
    size_t i = 0;
    for (; i + SUMS <= dim; i += SUMS)
        for (size_t j = 0; j < SUMS; j++) {
            double way = (double)a[i + j] - (double)b[i + j];
            sums[j] += way * way;
        }
    for (; i < dim; i++)
        sums[0] += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

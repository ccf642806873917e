#include "kmeans/assign/sieve.h"

#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

struct km_sieve {
    km_packed of;
    const km_sketch *sketch; /* or NULL */
    size_t panels;
    size_t groups, panel_bytes; /* of sketches */
    const unsigned char *data;
    const uint32_t *sketch_norms;
    unsigned char *own_data; /* of these two, what is not the caller's */
    uint32_t *own_norms;
    int32_t *halves;    /* of sketch_norms */
    float *slacks;      /* the largest e in each block of panels */
    float out_of_reach; /* farther than any two sketches are from each other */
    float stretch;      /* of the sketch */
    unsigned char *axes;
    int32_t axes_sums[KM_AXES + 1];
    size_t axes_groups, axes_panels, axes_panel_bytes;
};

static const uint8_t *row(const km_sieve *sieve, size_t centroid) {
    return sieve->of.rows + centroid * sieve->of.dim;
}

static size_t panel_bytes(const km_kernel *kernel, size_t groups, size_t rows) {
    return groups * kernel->group * kernel->element * rows;
}

/* Packs the axes as if they were centroids, which their products with a panel of points are of. */
static bool pack_axes(km_sieve *sieve) {
    const km_kernel *kernel = sieve->of.kernel;
    size_t step = kernel->centroids, dim = sieve->of.dim;
    uint32_t norms[KM_TILE_CENTROIDS]; /* which nobody needs */
    sieve->axes_groups = km_quotient_up(dim, kernel->group);
    sieve->axes_panels = km_quotient_up(KM_AXES + 1, step);
    sieve->axes_panel_bytes = panel_bytes(kernel, sieve->axes_groups, step);
    sieve->axes = km_allocate(sieve->axes_panels, sieve->axes_panel_bytes);
    for (size_t j = 0; sieve->axes && j < KM_AXES + 1; j += step)
        kernel->pack_centroids(kernel, sieve->sketch->axes + j * dim,
                               KM_AXES + 1 - j < step ? KM_AXES + 1 - j : step, dim,
                               sieve->axes + j / step * sieve->axes_panel_bytes, norms);
    for (size_t j = 0; j < KM_AXES + 1; j++)
        for (size_t d = 0; d < dim; d++)
            sieve->axes_sums[j] += sieve->sketch->axes[j * dim + d] - 128;
    return sieve->axes;
}

/* The products of a panel of points with the axes, axis after axis. */
enum { AXIS_SUMS = (KM_AXES + 1 + KM_TILE_CENTROIDS) * KM_TILE_POINTS };
static void multiply_axes(const km_sieve *sieve, const void *panel, int32_t sums[AXIS_SUMS]) {
    const km_kernel *kernel = sieve->of.kernel;
    for (size_t i = 0; i < sieve->axes_panels; i++)
        kernel->multiply(panel, sieve->axes + i * sieve->axes_panel_bytes, sieve->axes_groups,
                         sums + i * kernel->points * kernel->centroids);
}

/* What a thread makes the sketches of centroids in. */
typedef struct press {
    unsigned char *panel; /* the rows of a panel of points, packed */
    int32_t *sums;        /* their products with the axes */
    int32_t *finer;       /* the same of fine centroids' second plane */
    uint8_t *bytes;       /* the block's sketches, and room for a panel's at their end */
    float *errors;        /* of a panel */
} press;

static void press_free(press *space) {
    free(space->panel);
    free(space->sums);
    free(space->finer);
    free(space->bytes);
    free(space->errors);
}

static bool press_create(press *space, const km_sieve *sieve) {
    const km_kernel *kernel = sieve->of.kernel;
    size_t rows = sieve->of.block * kernel->centroids;
    space->panel = km_allocate(1, panel_bytes(kernel, sieve->axes_groups, kernel->points));
    space->sums = km_allocate(AXIS_SUMS, sizeof *space->sums);
    space->finer = km_allocate(AXIS_SUMS, sizeof *space->finer);
    space->bytes = km_allocate(rows + kernel->points, KM_SKETCH);
    space->errors = km_allocate(kernel->points, sizeof *space->errors);
    if (space->panel && space->sums && space->finer && space->bytes && space->errors)
        return true;
    press_free(space);
    return false;
}

/* Adds to the sums of N centroids from number FIRST on what their second plane does, rounded. */
static void add_fine_sums(const km_sieve *sieve, const press *space, size_t first, size_t n) {
    const km_kernel *kernel = sieve->of.kernel;
    uint32_t corrections[KM_TILE_POINTS]; /* which nobody needs */
    kernel->pack(km_plane_row(&sieve->of.fine->planes, 1, first), n, sieve->of.dim, space->panel,
                 corrections);
    multiply_axes(sieve, space->panel, space->finer);
    for (size_t j = 0; j < KM_AXES + 1; j++)
        for (size_t i = j * kernel->points; i < (j + 1) * kernel->points; i++)
            space->sums[i] += (space->finer[i] - 128 * sieve->axes_sums[j] + 128) >> 8;
}

/* How far the sketch of fine centroid J is off, besides, for what add_fine_sums leaves out. */
static float fine_error(const km_sieve *sieve, size_t j) {
    float half = 0.5F * sieve->sketch->scale, all = half * sqrtf(KM_AXES);
    return all * 1.0001F + sieve->stretch * sieve->of.fine->errors[1][j] * 1.0001F;
}

/* |x - mean|^2 of a panel of rows of bytes, from their products with the axes. */
static void find_ways(const km_sieve *sieve, const int32_t *sums, const uint32_t *corrections,
                      float *ways2) {
    size_t points = sieve->of.kernel->points;
    for (size_t i = 0; i < points; i++)
        ways2[i] = km_sketch_way2(sieve->sketch, corrections[i], sums[KM_AXES * points + i]);
}

/* The same of N fine centroids from number FIRST on, by their first two planes. */
static void find_fine_ways(const km_sieve *sieve, size_t first, size_t n, float *ways2) {
    const uint8_t *mean = sieve->sketch->axes + KM_AXES * sieve->of.dim;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *h = km_plane_row(&sieve->of.fine->planes, 0, first + i);
        const uint8_t *a = km_plane_row(&sieve->of.fine->planes, 1, first + i);
        uint64_t sum = 0;
        for (size_t d = 0; d < sieve->of.dim; d++) {
            int32_t way = (h[d] - mean[d]) * 256 + a[d] - 128;
            sum += (uint32_t)way * (uint32_t)way;
        }
        ways2[i] = (float)sum / (1 << 16);
    }
}

/* The sketches of a panel of N centroids from number FIRST on. Returns their largest e. */
static float sketch_panel(const km_sieve *sieve, const press *space, size_t first, size_t n,
                          uint8_t *bytes) {
    const km_kernel *kernel = sieve->of.kernel;
    uint32_t corrections[KM_TILE_POINTS];
    float slack = 0, ways2[KM_TILE_POINTS];
    kernel->pack(row(sieve, first), n, sieve->of.dim, space->panel, corrections);
    multiply_axes(sieve, space->panel, space->sums);
    find_ways(sieve, space->sums, corrections, ways2);
    if (sieve->of.fine) {
        add_fine_sums(sieve, space, first, n);
        find_fine_ways(sieve, first, n, ways2);
    }
    km_sketch_round(sieve->sketch, space->sums, ways2, kernel->points, bytes, space->errors);
    for (size_t i = 0; i < n; i++) {
        float fine = sieve->of.fine ? fine_error(sieve, first + i) : 0;
        slack = fmaxf(slack, space->errors[i] + fine);
    }
    return slack;
}

/* The sketches of a block of centroids, which are N from number FIRST on. */
static void sketch_block(km_sieve *sieve, const press *space, size_t first, size_t n) {
    const km_kernel *kernel = sieve->of.kernel;
    size_t step = kernel->centroids;
    float *slack = &sieve->slacks[first / step / sieve->of.block];
    *slack = 0;
    for (size_t i = 0; i < n; i += kernel->points) {
        size_t here = n - i < kernel->points ? n - i : kernel->points;
        *slack = fmaxf(*slack,
                       sketch_panel(sieve, space, first + i, here, space->bytes + i * KM_SKETCH));
    }
    for (size_t j = 0; j < n; j += step)
        kernel->pack_centroids(kernel, space->bytes + j * KM_SKETCH, n - j < step ? n - j : step,
                               KM_SKETCH, sieve->own_data + (first + j) / step * sieve->panel_bytes,
                               sieve->own_norms + first + j);
}

static int sketch_all(km_sieve *sieve, int threads) {
    size_t rows = sieve->of.block * sieve->of.kernel->centroids, k = sieve->of.k;
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        press space;
        if (!press_create(&space, sieve))
            error = ENOMEM;
#pragma omp for schedule(static)
        for (size_t first = 0; first < k; first += rows)
            if (!error)
                sketch_block(sieve, &space, first, k - first < rows ? k - first : rows);
        if (!error)
            press_free(&space);
    }
    return error;
}

/* Sketches by a sketch. */
static int make_sketches(km_sieve *sieve, const km_sketch *sketch, int threads) {
    const km_kernel *kernel = sieve->of.kernel;
    sieve->sketch = sketch;
    sieve->stretch = sketch->stretch;
    sieve->out_of_reach = 1 << 14;
    sieve->groups = km_quotient_up(KM_SKETCH, kernel->group);
    sieve->panel_bytes = panel_bytes(kernel, sieve->groups, kernel->centroids);
    sieve->own_data = km_allocate(sieve->panels, sieve->panel_bytes);
    sieve->own_norms = km_allocate(sieve->panels, kernel->centroids * sizeof *sieve->own_norms);
    sieve->data = sieve->own_data;
    sieve->sketch_norms = sieve->own_norms;
    return sieve->own_data && sieve->own_norms && pack_axes(sieve) ? sketch_all(sieve, threads)
                                                                   : ENOMEM;
}

/* Fine centroids rounded to bytes as sketches of themselves. */
static void take_rounded(km_sieve *sieve) {
    const km_packed *of = &sieve->of;
    size_t rows = of->block * of->kernel->centroids;
    sieve->stretch = 1;
    sieve->out_of_reach = 256 * sqrtf((float)of->dim);
    sieve->groups = km_quotient_up(of->dim, of->kernel->group);
    sieve->panel_bytes = panel_bytes(of->kernel, sieve->groups, of->kernel->centroids);
    sieve->data = of->data;
    sieve->sketch_norms = of->norms;
    for (size_t block = 0; block * rows < of->k; block++) {
        sieve->slacks[block] = 0;
        for (size_t j = block * rows; j < of->k && j < (block + 1) * rows; j++)
            sieve->slacks[block] = fmaxf(sieve->slacks[block], of->fine->errors[0][j]);
    }
}

int km_sieve_create(const km_packed *of, const km_sketch *sketch, int threads, km_sieve **sieve) {
    km_sieve *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->of = *of;
    made->panels = km_quotient_up(of->k, of->kernel->centroids);
    made->halves = km_allocate(made->panels, of->kernel->centroids * sizeof *made->halves);
    made->slacks = km_allocate(km_quotient_up(made->panels, of->block), sizeof *made->slacks);
    int error = made->halves && made->slacks ? 0 : ENOMEM;
    if (!error && sketch)
        error = make_sketches(made, sketch, threads);
    else if (!error)
        take_rounded(made);
    if (error) {
        km_sieve_free(made);
        return error;
    }
    /* One that is missing has the greatest norm. */
    for (size_t j = 0; j < made->panels * of->kernel->centroids; j++)
        made->halves[j] = (int32_t)(made->sketch_norms[j] / 2);
    *sieve = made;
    return 0;
}

void km_sieve_free(km_sieve *sieve) {
    if (!sieve)
        return;
    free(sieve->own_data);
    free(sieve->own_norms);
    free(sieve->halves);
    free(sieve->slacks);
    free(sieve->axes);
    free(sieve);
}

/* How far the best centroid of point I is, or a little more. */
static float distance_of(const km_sifted *points, size_t i) {
    if (points->fine_best)
        return points->fine_best[i] == UINT64_MAX
                   ? INFINITY
                   : sqrtf((float)points->fine_best[i]) / (1 << KM_FINE_BITS) * 1.000001F;
    return points->best[i] == KM_NO_SCORE
               ? INFINITY
               : sqrtf((float)(points->best[i] + points->corrections[i])) * 1.000001F;
}

/*
 * The least x.c - |c|^2 / 2, for the sketch x of point I and those c, whose e is at most SLACK,
 * whose rows may be at DISTANCE or nearer: |x - c|^2 = |c|^2 - 2 x.c + the correction of x. A
 * little less, for the sake of rounding.
 */
static int32_t floor_of(const km_sieve *sieve, const km_sifted *points, size_t i, float distance,
                        float slack) {
    float error = points->errors ? points->errors[i] : 0;
    double far = fminf(sieve->stretch * distance * 1.0001F + error + slack, sieve->out_of_reach);
    return (int32_t)(((double)(int32_t)points->sketch_corrections[i] - far * far) / 2) - 4;
}

void km_sieve_take(const km_sieve *sieve, const void *panel, size_t n, const km_sketches *kept,
                   const km_sifted *points) {
    int32_t sums[AXIS_SUMS];
    float ways2[KM_TILE_POINTS];
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    multiply_axes(sieve, panel, sums);
    find_ways(sieve, sums, points->corrections, ways2);
    km_sketch_round(sieve->sketch, sums, ways2, sieve->of.kernel->points, bytes, points->errors);
    sieve->of.kernel->pack(bytes, n, KM_SKETCH, points->sketches, points->sketch_corrections);
    if (!kept)
        return;
    memcpy(kept->bytes, bytes, n * KM_SKETCH);
    memcpy(kept->errors, points->errors, n * sizeof *kept->errors);
    memcpy(kept->corrections, points->corrections, n * sizeof *kept->corrections);
}

bool km_sieve_recall(const km_sieve *sieve, const km_sketches *kept, size_t n,
                     const km_sifted *points) {
    for (size_t i = 0; i < n; i++)
        if (kept->errors[i] < 0)
            return false;
    memcpy(points->errors, kept->errors, n * sizeof *kept->errors);
    memcpy(points->corrections, kept->corrections, n * sizeof *kept->corrections);
    sieve->of.kernel->pack(kept->bytes, n, KM_SKETCH, points->sketches, points->sketch_corrections);
    return true;
}

void km_sieve_sweep(const km_sieve *sieve, size_t start, size_t end, const km_sifted *points) {
    const km_kernel *kernel = sieve->of.kernel;
    for (size_t panel = start; panel < end; panel++) {
        size_t first = panel * kernel->centroids;
        kernel->tile(points->sketches, points->sketch_corrections,
                     sieve->data + panel * sieve->panel_bytes, sieve->sketch_norms + first,
                     sieve->groups, (uint32_t)first, points->best, points->nearest, NULL);
    }
}

void km_sieve_guess(const km_sieve *sieve, const uint32_t *guess, size_t n,
                    const km_sifted *points) {
    for (size_t i = 0; i < n; i++) {
        km_pair *pair = points->room->pairs;
        int32_t *product = points->room->products;
        points->best[i] = KM_NO_SCORE;
        if (points->fine_best)
            points->fine_best[i] = UINT64_MAX;
        if (guess[i] >= sieve->of.k)
            continue;
        if (points->fine_best) {
            points->fine_best[i] = km_planes_distance2(&sieve->of.fine->planes, guess[i],
                                                       points->rows + i * sieve->of.dim) +
                                   1;
            continue;
        }
        *pair = (km_pair){(uint16_t)i, 0};
        sieve->of.kernel->multiply_pairs(points->rows, row(sieve, guess[i]), sieve->of.dim, pair, 1,
                                         product);
        points->best[i] = sieve->of.norms[guess[i]] - 2 * (uint32_t)*product + 1;
    }
}

/* The pairs of a tile that are compared, and what with. */
typedef struct contest {
    const km_sieve *sieve;
    const km_sifted *points;
    size_t first; /* number of the first centroid */
    float slack;
    float *distances; /* of each point's best centroid (distance_of) */
    int32_t *floors;
} contest;

/* After centroid J has become the best of point I. */
static void win(const contest *this, size_t i, size_t j) {
    this->points->nearest[i] = (uint32_t)j;
    this->distances[i] = distance_of(this->points, i);
    this->floors[i] = floor_of(this->sieve, this->points, i, this->distances[i], this->slack);
}

/* Compares N pairs in full. A better best raises its floor. */
static void compare(const contest *this, size_t n) {
    const km_packed *of = &this->sieve->of;
    const km_sifted *points = this->points;
    const km_pair *pairs = points->room->pairs;
    int32_t *products = points->room->products;
    of->kernel->multiply_pairs(points->rows, row(this->sieve, this->first), of->dim, pairs, n,
                               products);
    for (size_t l = 0; l < n; l++) {
        size_t i = pairs[l].point, j = this->first + pairs[l].centroid;
        uint32_t score = of->norms[j] - 2 * (uint32_t)products[l];
        if (score >= points->best[i])
            continue;
        points->best[i] = score;
        win(this, i, j);
    }
}

/* Whether a centroid of a point may be nearest, that is at most E from one at DISTANCE2. */
static bool may_win(const contest *this, size_t i, float distance2, float e) {
    float most = this->distances[i] + e;
    return distance2 <= most * most * 1.00001F + 0.001F;
}

/* The products of N pairs with the digits of plane PLANE; of the first plane less 128. */
static void multiply_plane(const contest *this, size_t plane, size_t n) {
    const km_packed *of = &this->sieve->of;
    km_tile_room *room = this->points->room;
    of->kernel->multiply_pairs(this->points->rows,
                               km_plane_row(&of->fine->planes, plane, this->first), of->dim,
                               room->pairs, n, room->products);
}

/* Leaves the pairs that the first plane allows, and |x|^2 - 2 x.h of each. Returns how many. */
static size_t sift_first(const contest *this, size_t n) {
    const km_sifted *points = this->points;
    km_tile_room *room = points->room;
    size_t left = 0;
    multiply_plane(this, 0, n);
    for (size_t l = 0; l < n; l++) {
        const km_pair pair = room->pairs[l];
        size_t i = pair.point, j = this->first + pair.centroid;
        uint32_t norm = this->sieve->of.norms[j];
        uint32_t distance2 = norm - 2 * (uint32_t)room->products[l] + points->corrections[i];
        room->pairs[left] = pair;
        room->first[left] = (int64_t)distance2 - norm;
        left += may_win(this, i, (float)distance2, this->sieve->of.fine->errors[0][j]);
    }
    return left;
}

/* The same with the second plane, and x.a of each. */
static size_t sift_second(const contest *this, size_t n) {
    const km_fine *fine = this->sieve->of.fine;
    km_tile_room *room = this->points->room;
    size_t left = 0;
    multiply_plane(this, 1, n);
    for (size_t l = 0; l < n; l++) {
        const km_pair pair = room->pairs[l];
        size_t i = pair.point, j = this->first + pair.centroid;
        int64_t distance2 = room->first[l] * (1 << 16) - (int64_t)room->products[l] * (1 << 9) +
                            (int64_t)fine->norms[1][j];
        room->pairs[left] = pair;
        room->first[left] = room->first[l];
        room->second[left] = room->products[l];
        left += may_win(this, i, (float)distance2 / (1 << 16), fine->errors[1][j]);
    }
    return left;
}

/* Compares N pairs with fine centroids: plane by plane, as long as they may win; then exactly. */
static void compare_fine(const contest *this, size_t n) {
    const km_sifted *points = this->points;
    km_tile_room *room = points->room;
    n = sift_first(this, n);
    n = sift_second(this, n);
    multiply_plane(this, 2, n);
    for (size_t l = 0; l < n; l++) {
        size_t i = room->pairs[l].point, j = this->first + room->pairs[l].centroid;
        int64_t product = (int64_t)room->second[l] * (1 << 8) + room->products[l];
        uint64_t distance2 = ((uint64_t)room->first[l] << 32) - ((uint64_t)product << 17) +
                             this->sieve->of.fine->norms[2][j];
        if (distance2 >= points->fine_best[i])
            continue;
        points->fine_best[i] = distance2;
        win(this, i, j);
    }
}

size_t km_sieve_sift(const km_sieve *sieve, size_t start, size_t end, size_t n, size_t next,
                     const km_sifted *points) {
    const km_kernel *kernel = sieve->of.kernel;
    float distances[KM_TILE_POINTS];
    int32_t floors[KM_TILE_POINTS];
    contest this = {sieve, points, 0, sieve->slacks[start / sieve->of.block], distances, floors};
    size_t compared = 0, dim = sieve->of.dim, fetched = n * dim,
           share = km_quotient_up(next * dim, end - start);
    for (size_t i = 0; i < kernel->points; i++) {
        distances[i] = i < n ? distance_of(points, i) : 0;
        floors[i] = i < n ? floor_of(sieve, points, i, distances[i], this.slack) : INT32_MAX;
    }
    for (size_t panel = start; panel < end; panel++) {
        size_t wanted = fetched + share;
        this.first = panel * kernel->centroids;
        size_t found =
            kernel->sift(points->sketches, sieve->data + panel * sieve->panel_bytes,
                         sieve->halves + this.first, sieve->groups, floors, points->room->pairs);
        if (found)
            (points->fine_best ? compare_fine : compare)(&this, found);
        compared += found;
        for (; fetched < wanted; fetched += CACHE_LINE)
            __builtin_prefetch(points->rows + fetched);
    }
    return compared;
}

void km_sieve_fetch(const km_sieve *sieve, size_t start, size_t part, size_t parts) {
    size_t k = sieve->of.k, first = start * sieve->of.kernel->centroids,
           n = sieve->of.block * sieve->of.kernel->centroids;
    if (first >= k)
        return;
    n = k - first < n ? k - first : n;
    const uint8_t *end = row(sieve, first + n * (part + 1) / parts);
    for (const uint8_t *line = row(sieve, first + n * part / parts); line < end; line += CACHE_LINE)
        __builtin_prefetch(line, 0, 2);
}

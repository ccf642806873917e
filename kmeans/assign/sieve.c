#include "kmeans/assign/sieve.h"

#include "kmeans/assign/order.h"
#include "kmeans/assign/pack.h"
#include "kmeans/points/fine.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHE_LINE = 64,
    LOOKED_AT = 8,     /* a first guess looks at one panel in LOOKED_AT ... */
    LOOKED_AROUND = 8, /* ... and a better one at LOOKED_AROUND panels on both sides of it */
    DENSE = 4,         /* a tile is dense if more than one in DENSE of its pairs is left */
    TRIED_EVERY = 4,   /* one block in TRIED_EVERY is tested at all levels; the others skip ... */
    USUAL = 7,         /* ... a level that leaves USUAL / 8 of its tiles or more to the next one */
};

struct km_sieve {
    km_packed of;
    size_t panels;
    size_t sketches; /* number of levels with sketches, the coarsest first; the level of rows
                        follows */
    km_mesh mesh[KM_MESHES];
    bool rows_usable; /* the level of rows may be used: all its floors fit 32 bits */
    uint32_t *order;  /* the centroids' numbers in the order of the levels */
    uint32_t *places; /* the inverse permutation */
};

/* Packs the rows in the order of the sieve. */
static int pack_rows(const km_sieve *sieve, int threads) {
    const km_packed *of = &sieve->of;
    const km_kernel *kernel = of->kernel;
    size_t bytes = sieve->mesh[sieve->sketches].panel_bytes;
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        uint8_t *rows = km_allocate(kernel->centroids, of->dim);
        uint32_t norms[KM_TILE_CENTROIDS]; /* unused */
        error = rows ? 0 : ENOMEM;
#pragma omp for schedule(static)
        for (size_t panel = 0; panel < sieve->panels; panel++) {
            size_t first = panel * kernel->centroids, n = of->k - first;
            n = n < kernel->centroids ? n : kernel->centroids;
            for (size_t j = 0; rows && j < n; j++)
                memcpy(rows + j * of->dim, of->rows + sieve->order[first + j] * of->dim, of->dim);
            if (rows)
                kernel->pack_centroids(kernel, rows, n, of->dim, of->data + panel * bytes, norms);
        }
        free(rows);
    }
    return error;
}

/* Makes the levels with sketches, all in the order that km_order finds for the coarsest ones. */
static int make_meshes(km_sieve *sieve, const km_sketch *sketch, int threads) {
    const km_sketch *levels[KM_LEVELS];
    int error = 0;
    sieve->sketches = km_sketch_levels(sketch, levels);
    for (size_t l = 0; !error && l < sieve->sketches; l++)
        error = km_mesh_sketch(&sieve->mesh[l], &sieve->of, levels[l], threads);
    if (!error)
        error = km_order(sieve->mesh[0].bytes, sieve->of.k, levels[0]->numbers,
                         sieve->of.kernel->centroids, sieve->order);
    for (size_t l = 0; !error && l < sieve->sketches; l++)
        error = km_mesh_pack(&sieve->mesh[l], sieve->order);
    return error;
}

static bool allocate_order(km_sieve *sieve) {
    sieve->order = km_allocate(sieve->of.k, sizeof *sieve->order);
    sieve->places = km_allocate(sieve->of.k, sizeof *sieve->places);
    for (size_t j = 0; sieve->order && j < sieve->of.k; j++)
        sieve->order[j] = (uint32_t)j;
    return sieve->order && sieve->places;
}

int km_sieve_create(const km_packed *of, const km_sketch *sketch, int threads, km_sieve **sieve) {
    km_sieve *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->of = *of;
    made->panels = km_quotient_up(of->k, of->kernel->centroids);
    made->rows_usable = of->dim <= KM_FINE_MAX_DIM;
    int error = allocate_order(made) ? 0 : ENOMEM;
    if (!error && sketch)
        error = make_meshes(made, sketch, threads);
    if (!error)
        error = km_mesh_rows(&made->mesh[made->sketches], &made->of, made->order);
    if (!error && sketch)
        error = pack_rows(made, threads);
    for (size_t at = 0; !error && at < of->k; at++)
        made->places[made->order[at]] = (uint32_t)at;
    if (error)
        km_sieve_free(made);
    else
        *sieve = made;
    return error;
}

void km_sieve_free(km_sieve *sieve) {
    if (!sieve)
        return;
    for (size_t l = 0; l < KM_MESHES; l++)
        km_mesh_free(&sieve->mesh[l]);
    free(sieve->order);
    free(sieve->places);
    free(sieve);
}

const uint32_t *km_sieve_places(const km_sieve *sieve) {
    return sieve->places;
}

size_t km_sieve_sketches(const km_sieve *sieve) {
    return sieve->sketches;
}

size_t km_sieve_numbers(const km_sieve *sieve, size_t l) {
    return sieve->mesh[l].sketch->numbers;
}

/* Packs the points' rows unless that has been done. */
static void pack_points(const km_sieve *sieve, const km_sifted *points) {
    const km_packed *of = &sieve->of;
    if (!*points->packed)
        of->kernel->pack(km_gather(points->rows, points->n, of->dim, points->gathered), points->n,
                         of->dim, points->meshes[sieve->sketches].panel, points->corrections);
    *points->packed = true;
}

static void pack_sketches(const km_sieve *sieve, size_t l, const uint8_t *bytes,
                          const km_sifted *points) {
    sieve->of.kernel->pack(bytes, points->n, sieve->mesh[l].sketch->numbers,
                           points->meshes[l].panel, points->meshes[l].corrections);
}

static bool are_all_cached(const km_sketches *kept, const size_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (kept->errors[0][numbers[i]] < 0)
            return false;
    return true;
}

static void load_sketches(const km_sieve *sieve, const size_t *numbers, const km_sketches *kept,
                          const km_sifted *points) {
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    for (size_t l = 0; l < sieve->sketches; l++) {
        size_t size = sieve->mesh[l].sketch->numbers;
        for (size_t i = 0; i < points->n; i++) {
            memcpy(bytes + i * size, kept->bytes[l] + numbers[i] * size, size);
            points->meshes[l].errors[i] = kept->errors[l][numbers[i]];
            points->corrections[i] = kept->corrections[numbers[i]];
        }
        pack_sketches(sieve, l, bytes, points);
    }
}

void km_sieve_take(const km_sieve *sieve, const size_t *numbers, const km_sketches *kept,
                   const km_sifted *points) {
    if (kept && are_all_cached(kept, numbers, points->n)) {
        load_sketches(sieve, numbers, kept, points);
        return;
    }
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    pack_points(sieve, points);
    for (size_t l = 0; l < sieve->sketches; l++) {
        size_t size = sieve->mesh[l].sketch->numbers;
        float *errors = points->meshes[l].errors;
        km_mesh_take(&sieve->mesh[l], points->meshes[sieve->sketches].panel, points->corrections,
                     bytes, errors);
        pack_sketches(sieve, l, bytes, points);
        for (size_t i = 0; kept && i < points->n; i++) {
            memcpy(kept->bytes[l] + numbers[i] * size, bytes + i * size, size);
            kept->errors[l][numbers[i]] = errors[i];
            kept->corrections[numbers[i]] = points->corrections[i];
        }
    }
}

/*
 * Finds the range of panels that hold the nearest so far of N points, with LOOKED_AROUND more on
 * both sides.
 */
static void find_around(const km_sieve *sieve, const uint32_t *nearest, size_t n, size_t *start,
                        size_t *end) {
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t panel = sieve->places[nearest[i]] / sieve->of.kernel->centroids;
        least = panel < least ? panel : least;
        most = panel > most ? panel : most;
    }
    *start = least < LOOKED_AROUND ? 0 : least - LOOKED_AROUND;
    *end = sieve->panels - most <= LOOKED_AROUND ? sieve->panels : most + LOOKED_AROUND;
}

void km_sieve_look(const km_sieve *sieve, bool near, const km_sifted *points) {
    const km_kernel *kernel = sieve->of.kernel;
    size_t l = sieve->sketches - 1, start = 0, end = sieve->panels, step = near ? 1 : LOOKED_AT;
    const km_mesh *mesh = &sieve->mesh[l];
    if (near)
        find_around(sieve, points->nearest, points->n, &start, &end);
    for (size_t panel = start; panel < end; panel += step) {
        size_t first = panel * kernel->centroids;
        kernel->tile(points->meshes[l].panel, points->meshes[l].corrections,
                     mesh->data + panel * mesh->panel_bytes, mesh->norms + first, mesh->groups,
                     (uint32_t)first, points->best, points->nearest, NULL);
    }
    for (size_t i = 0; i < points->n; i++)
        points->nearest[i] = sieve->order[points->nearest[i]];
}

/* Returns the distance of point I's best centroid, or a little more. */
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
 * Returns the least x.c - |c|^2 / 2 that a centroid at DISTANCE or nearer can have at level L, x
 * being the sketch of point I and c that of the centroid, whose error e is at most SLACK. It
 * follows from
 * x - c|^2 = |c|^2 - 2 x.c + the correction of x. The result is a little less, to be safe from
 * rounding.
 */
static int32_t floor_of(const km_sieve *sieve, const km_sifted *points, size_t l, size_t i,
                        float distance, float slack) {
    const km_mesh *mesh = &sieve->mesh[l];
    float error = points->meshes[l].errors ? points->meshes[l].errors[i] : 0;
    double far = fminf(mesh->stretch * distance * 1.0001F + error + slack, mesh->out_of_reach);
    return (int32_t)(((double)(int32_t)points->meshes[l].corrections[i] - far * far) / 2) - 4;
}

/* Sets the floors of point I to what its best centroid implies. */
static void set_floors(const km_sieve *sieve, const km_sifted *points, size_t i) {
    points->distances[i] = distance_of(points, i);
    for (size_t l = 0; l < sieve->sketches + sieve->rows_usable; l++)
        points->meshes[l].floors[i] =
            floor_of(sieve, points, l, i, points->distances[i], sieve->mesh[l].slack);
}

/* Computes the scores of the points' guesses; leaves points whose guess is no centroid's number. */
static void score_guesses(const km_sieve *sieve, const uint32_t *guess, const km_sifted *points) {
    km_tile_room *room = points->room;
    size_t n = points->n;
    for (size_t i = 0; i < n; i++) {
        size_t j = guess[i] < sieve->of.k ? guess[i] : 0;
        room->points[i] = points->rows[i];
        room->centroids[i] = sieve->of.rows + j * sieve->of.dim;
    }
    sieve->of.kernel->multiply_rows(room->points, room->centroids, sieve->of.dim, n,
                                    room->products);
    for (size_t i = 0; i < n; i++)
        if (guess[i] < sieve->of.k)
            points->best[i] = sieve->of.norms[guess[i]] - 2 * (uint32_t)room->products[i];
}

void km_sieve_guess(const km_sieve *sieve, const uint32_t *guess, const km_sifted *points) {
    size_t n = points->n;
    for (size_t i = 0; i < n; i++) {
        points->nearest[i] = guess[i];
        points->best[i] = KM_NO_SCORE;
        if (points->fine_best)
            points->fine_best[i] =
                guess[i] < sieve->of.k
                    ? km_planes_distance2(&sieve->of.fine->planes, guess[i], points->rows[i])
                    : UINT64_MAX;
    }
    if (!points->fine_best)
        score_guesses(sieve, guess, points);
    for (size_t i = 0; i < n; i++)
        set_floors(sieve, points, i);
    for (size_t i = n; i < sieve->of.kernel->points; i++)
        for (size_t l = 0; l < KM_MESHES; l++)
            points->meshes[l].floors[i] = INT32_MAX;
}

/* The tile whose pairs are being compared. */
typedef struct tile_search {
    const km_sieve *sieve;
    const km_sifted *points;
    size_t first; /* the place of the first centroid in the sieve's order */
} tile_search;

/* Returns the number of a pair's centroid. */
static size_t centroid_of(const tile_search *this, km_pair pair) {
    return this->sieve->order[this->first + pair.centroid];
}

/* Makes centroid J the nearest of point I. NEARER is false if it replaces an equally near one. */
static void set_nearest(const tile_search *this, size_t i, size_t j, bool nearer) {
    this->points->nearest[i] = (uint32_t)j;
    if (nearer)
        set_floors(this->sieve, this->points, i);
}

/*
 * Computes the products of N pairs: rows of points with ROWS of centroids or of one of their
 * planes.
 */
static void multiply_pairs(const tile_search *this, const uint8_t *rows, size_t n) {
    const km_packed *of = &this->sieve->of;
    km_tile_room *room = this->points->room;
    for (size_t l = 0; l < n; l++) {
        room->points[l] = this->points->rows[room->pairs[l].point];
        room->centroids[l] = rows + centroid_of(this, room->pairs[l]) * of->dim;
    }
    of->kernel->multiply_rows(room->points, room->centroids, of->dim, n, room->products);
}

/* Compares N pairs in full. A smaller score raises the point's floors. */
static void compare_bytes(const tile_search *this, size_t n) {
    const km_packed *of = &this->sieve->of;
    const km_sifted *points = this->points;
    multiply_pairs(this, of->rows, n);
    for (size_t l = 0; l < n; l++) {
        size_t i = points->room->pairs[l].point, j = centroid_of(this, points->room->pairs[l]);
        uint32_t score = of->norms[j] - 2 * (uint32_t)points->room->products[l];
        if (score > points->best[i] || (score == points->best[i] && j >= points->nearest[i]))
            continue;
        bool nearer = score < points->best[i];
        points->best[i] = score;
        set_nearest(this, i, j, nearer);
    }
}

/*
 * Returns whether a centroid may be nearest to point I if it is at most E away from a place whose
 * squared distance from the point is DISTANCE2.
 */
static bool may_be_nearest(const tile_search *this, size_t i, float distance2, float e) {
    float most = this->points->distances[i] + e;
    return distance2 <= most * most * 1.00001F + 0.001F;
}

/* Computes the products of N pairs with the digits of plane PLANE, each less 128. */
static void multiply_plane(const tile_search *this, size_t plane, size_t n) {
    multiply_pairs(this, km_plane_row(&this->sieve->of.fine->planes, plane, 0), n);
}

/*
 * Keeps the pairs that the first plane doesn't rule out, with |x|^2 - 2 x.h of each. Returns their
 * number.
 */
static size_t sift_first(const tile_search *this, size_t n) {
    const km_sifted *points = this->points;
    km_tile_room *room = points->room;
    size_t left = 0;
    multiply_plane(this, 0, n);
    for (size_t l = 0; l < n; l++) {
        const km_pair pair = room->pairs[l];
        size_t i = pair.point, j = centroid_of(this, pair);
        uint32_t norm = this->sieve->of.norms[j];
        uint32_t distance2 = norm - 2 * (uint32_t)room->products[l] + points->corrections[i];
        room->pairs[left] = pair;
        room->first[left] = (int64_t)distance2 - norm;
        left += may_be_nearest(this, i, (float)distance2, this->sieve->of.fine->errors[0][j]);
    }
    return left;
}

/* Does the same with the second plane, and stores x.a of each pair left. */
static size_t sift_second(const tile_search *this, size_t n) {
    const km_fine *fine = this->sieve->of.fine;
    km_tile_room *room = this->points->room;
    size_t left = 0;
    multiply_plane(this, 1, n);
    for (size_t l = 0; l < n; l++) {
        const km_pair pair = room->pairs[l];
        size_t i = pair.point, j = centroid_of(this, pair);
        int64_t distance2 = room->first[l] * (1 << 16) - (int64_t)room->products[l] * (1 << 9) +
                            (int64_t)fine->norms[1][j];
        room->pairs[left] = pair;
        room->first[left] = room->first[l];
        room->second[left] = room->products[l];
        left += may_be_nearest(this, i, (float)distance2 / (1 << 16), fine->errors[1][j]);
    }
    return left;
}

/*
 * Compares N pairs with fine centroids, plane by plane until they are ruled out, and then exactly.
 */
static void compare_fine(const tile_search *this, size_t n) {
    const km_sifted *points = this->points;
    km_tile_room *room = points->room;
    n = sift_first(this, n);
    n = sift_second(this, n);
    multiply_plane(this, 2, n);
    for (size_t l = 0; l < n; l++) {
        size_t i = room->pairs[l].point, j = centroid_of(this, room->pairs[l]);
        int64_t product = (int64_t)room->second[l] * (1 << 8) + room->products[l];
        uint64_t distance2 = ((uint64_t)room->first[l] << 32) - ((uint64_t)product << 17) +
                             this->sieve->of.fine->norms[2][j];
        uint64_t best = points->fine_best[i];
        if (distance2 > best || (distance2 == best && j >= points->nearest[i]))
            continue;
        points->fine_best[i] = distance2;
        set_nearest(this, i, j, distance2 < best);
    }
}

size_t km_sieve_first(const km_sieve *sieve, size_t turn, const km_tally *tally) {
    size_t l = 0;
    if (turn % TRIED_EVERY == 1)
        return 0;
    if (turn == 0 && sieve->sketches > 1) /* most of the first block's centroids are near, so coarse
                                             sketches rule out little */
        return 1;
    while (l < sieve->sketches && tally->tiles[l] && tally->left[l] * 8 >= tally->tiles[l] * USUAL)
        l++;
    return l;
}

/* Lists the pairs of a tile that level L doesn't rule out, unless PAIRS is NULL (kernel.h). */
static size_t sift_mesh(const tile_search *this, size_t panel, size_t l, km_pair *pairs) {
    const km_mesh *mesh = &this->sieve->mesh[l];
    const km_sifted *points = this->points;
    return this->sieve->of.kernel->sift(
        points->meshes[l].panel, mesh->data + panel * mesh->panel_bytes, mesh->starts + this->first,
        mesh->groups, points->meshes[l].floors, pairs);
}

/* Lists the pairs of a tile that have to be compared, after the levels from number L on. */
static size_t sift_tile(const tile_search *this, size_t panel, size_t l) {
    const km_sieve *sieve = this->sieve;
    const km_kernel *kernel = sieve->of.kernel;
    km_tally *tally = this->points->tally;
    km_pair *pairs = this->points->room->pairs;
    for (; l < sieve->sketches; l++) {
        bool last = l + 1 == sieve->sketches;
        size_t found = sift_mesh(this, panel, l, last ? pairs : NULL);
        tally->tiles[l]++;
        if (!found ||
            (last && (!sieve->rows_usable || found * DENSE <= kernel->points * kernel->centroids)))
            return found;
        tally->left[l]++;
    }
    pack_points(sieve, this->points);
    return sift_mesh(this, panel, l, pairs);
}

void km_sieve_sift(const km_sieve *sieve, size_t start, size_t end, size_t from,
                   const km_sifted *points) {
    tile_search this = {.sieve = sieve, .points = points};
    for (size_t panel = start; panel < end; panel++) {
        this.first = panel * sieve->of.kernel->centroids;
        size_t found = sift_tile(&this, panel, from);
        if (found)
            (points->fine_best ? compare_fine : compare_bytes)(&this, found);
    }
}

void km_sieve_fetch(const km_sieve *sieve, size_t start, size_t part, size_t parts) {
    size_t k = sieve->of.k, dim = sieve->of.dim, first = start * sieve->of.kernel->centroids,
           n = sieve->of.block * sieve->of.kernel->centroids;
    if (first >= k)
        return;
    n = k - first < n ? k - first : n;
    for (size_t at = first + n * part / parts; at < first + n * (part + 1) / parts; at++)
        for (size_t d = 0; d < dim; d += CACHE_LINE)
            __builtin_prefetch(sieve->of.rows + sieve->order[at] * dim + d, 0, 2);
}

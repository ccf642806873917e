/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/order.h"

#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <string.h>

enum {
    SAMPLE = 32, /* the most rows from which a direction is found */
    ROUNDS = 4,  /* iterations that find a direction */
};

/* A row, and its position along the direction in which its part is split. */
typedef struct item {
    float key;
    uint32_t number;
} item;

typedef struct rows {
    const uint8_t *bytes;
    size_t size;
} rows;

static const uint8_t *row_of(const rows *all, const item *of) {
    return all->bytes + of->number * all->size;
}

/* Copies a sample of the N items' rows, less their mean, to CENTERED. Returns their number. */
static size_t center_sample(const rows *all, const item *items, size_t n,
                            float centered[SAMPLE][KM_ORDER_SIZE]) {
    size_t count = n < SAMPLE ? n : SAMPLE;
    float mean[KM_ORDER_SIZE] = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < all->size; d++) {
            centered[i][d] = row_of(all, &items[i * n / count])[d];
            mean[d] += centered[i][d] / (float)count;
        }
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < all->size; d++)
            centered[i][d] -= mean[d];
    return count;
}

/*
 * Finds roughly the direction in which the items' rows vary most, by power iteration; its length is
 * arbitrary.
 */
static void find_direction(const rows *all, const item *items, size_t n, float *direction) {
    float centered[SAMPLE][KM_ORDER_SIZE], most = 0;
    size_t count = center_sample(all, items, n, centered), size = all->size;
    memset(direction, 0, size * sizeof *direction);
    for (size_t i = 0; i < count; i++) {
        float length2 = km_dot(centered[i], centered[i], size);
        if (length2 > most)
            memcpy(direction, centered[i], size * sizeof *direction);
        most = length2 > most ? length2 : most;
    }
    for (int round = 0; round < ROUNDS && most > 0; round++) {
        float next[KM_ORDER_SIZE] = {0};
        for (size_t i = 0; i < count; i++) {
            /* Without the division, the direction would grow. */
            float image = km_dot(centered[i], direction, size) / most;
            km_add_multiple(next, image, centered[i], size);
        }
        memcpy(direction, next, size * sizeof *direction);
        most = km_dot(direction, direction, size) > 0 ? most : 0;
    }
}

static void swap(item *a, item *b) {
    item other = *a;
    *a = *b;
    *b = other;
}

/*
 * Splits N >= 2 items so that no key of the first part is above a key of the rest (Hoare). Returns
 * the length of the first part.
 */
static size_t partition(item *items, size_t n) {
    float pivot = items[(n - 1) / 2].key;
    size_t low = 0, high = n - 1;
    for (;; swap(&items[low++], &items[high--])) {
        while (items[low].key < pivot)
            low++;
        while (items[high].key > pivot)
            high--;
        if (low >= high)
            return high + 1;
    }
}

/* Reorders N items so that the first SMALLEST of them have the smallest keys. */
static void select_smallest(item *items, size_t n, size_t smallest) {
    while (n > 1) {
        size_t first = partition(items, n);
        if (smallest <= first) {
            n = first;
            continue;
        }
        items += first;
        n -= first;
        smallest -= first;
    }
}

static void split_into_leaves(const rows *all, item *items, size_t n, size_t leaf) {
    while (n > leaf) {
        float direction[KM_ORDER_SIZE], place[KM_ORDER_SIZE];
        size_t half = km_quotient_up(n / 2, leaf) * leaf;
        find_direction(all, items, n, direction);
        for (size_t i = 0; i < n; i++) {
            const uint8_t *row = row_of(all, &items[i]);
            for (size_t d = 0; d < all->size; d++)
                place[d] = row[d];
            items[i].key = km_dot(place, direction, all->size);
        }
        select_smallest(items, n, half);
        split_into_leaves(all, items, half, leaf);
        items += half;
        n -= half;
    }
}

int km_order(const uint8_t *bytes, size_t n, size_t size, size_t leaf, uint32_t *order) {
    const rows all = {bytes, size};
    item *items = km_allocate(n, sizeof *items);
    if (!items)
        return ENOMEM;
    for (size_t i = 0; i < n; i++)
        items[i] = (item){0, (uint32_t)i};
    split_into_leaves(&all, items, n, leaf);
    for (size_t i = 0; i < n; i++)
        order[i] = items[i].number;
    free(items);
    return 0;
}

#include "kmeans/assign/order.h"

#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <string.h>

enum {
    SAMPLE = 32, /* rows at most that a direction is found from */
    ROUNDS = 4,  /* of the iteration that finds it */
};

/* A row, and how far it is along the direction that its part is halved across. */
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

/* Some of the N items' rows, less their mean. Returns how many. */
static size_t center(const rows *all, const item *items, size_t n,
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

/* The way that the items' rows vary most, roughly, by the power iteration; of any length. */
static void find_direction(const rows *all, const item *items, size_t n, float *direction) {
    float centered[SAMPLE][KM_ORDER_SIZE], most = 0;
    size_t count = center(all, items, n, centered), size = all->size;
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
            float image = km_dot(centered[i], direction, size) / most; /* lest it grow */
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

/* Splits N items, two or more, so that no key of the first is above one of the rest (Hoare). */
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

/* Brings the SMALLEST of N items, by their keys, to the front. */
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

static void halve(const rows *all, item *items, size_t n, size_t leaf) {
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
        halve(all, items, half, leaf);
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
    halve(&all, items, n, leaf);
    for (size_t i = 0; i < n; i++)
        order[i] = items[i].number;
    free(items);
    return 0;
}

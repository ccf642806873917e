#include "config.h"

#include "cdcp/forest.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(coll_forest *forest, int capacity) {
    coll_forest_node *nodes = realloc(forest->nodes, (size_t)capacity * sizeof *nodes);
    if (nodes)
        forest->nodes = nodes;
    char *values = realloc(forest->values, (size_t)capacity * forest->stride);
    if (values)
        forest->values = values;
    if (!nodes || !values)
        return false;
    for (int i = forest->capacity; i < capacity; i++)
        nodes[i].slot = (size_t)i;
    forest->capacity = capacity;
    return true;
}

bool coll_forest_begin(coll_forest *forest, int leaves, size_t bytes, int capacity) {
    const size_t unit = alignof(max_align_t);
    size_t stride = bytes ? (bytes + unit - 1) / unit * unit : unit;
    forest->leaves = leaves;
    forest->bytes = bytes;
    forest->count = 0;
    if (forest->stride >= stride && forest->capacity >= capacity)
        return true;
    forest->stride = stride;
    forest->capacity = 0; /* the slots are numbered again */
    return reserve(forest, capacity > 0 ? capacity : 1);
}

void coll_forest_free(coll_forest *forest) {
    free(forest->nodes);
    free(forest->values);
    *forest = (coll_forest){0};
}

static char *value_of(const coll_forest *forest, int index) {
    return forest->values + forest->nodes[index].slot * forest->stride;
}

const void *coll_forest_value(const coll_forest *forest, int index) {
    return value_of(forest, index);
}

/* Returns the index at which a node that begins at FIRST belongs. */
static int position_of(const coll_forest *forest, int first) {
    int low = 0, high = forest->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (forest->nodes[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_node(coll_forest *forest, int at, int first, int height, const void *value) {
    coll_forest_node unused = forest->nodes[forest->count];
    memmove(&forest->nodes[at + 1], &forest->nodes[at],
            (size_t)(forest->count++ - at) * sizeof *forest->nodes);
    forest->nodes[at] = (coll_forest_node){first, height, unused.slot};
    if (forest->bytes)
        memcpy(value_of(forest, at), value, forest->bytes);
}

static void remove_node(coll_forest *forest, int at) {
    coll_forest_node gone = forest->nodes[at];
    memmove(&forest->nodes[at], &forest->nodes[at + 1],
            (size_t)(--forest->count - at) * sizeof *forest->nodes);
    forest->nodes[forest->count] = gone;
}

static bool is_right(const coll_forest_node *node) {
    return (node->first >> node->height) & 1;
}

/*
 * Returns whether NODE has no right sibling because the leaves end. It then represents its parent
 * unchanged.
 */
static bool lacks_sibling(const coll_forest *forest, const coll_forest_node *node) {
    long long sibling = node->first + (1LL << node->height);
    return !is_right(node) && sibling >= forest->leaves && (1LL << node->height) < forest->leaves;
}

static bool are_halves(const coll_forest *forest, int left, int right) {
    if (left < 0 || right >= forest->count)
        return false;
    const coll_forest_node *a = &forest->nodes[left], *b = &forest->nodes[right];
    return a->height == b->height && !is_right(a) && b->first == a->first + (1 << a->height);
}

/*
 * Combines the node at AT with its other half, and so on upwards, as long as the other half is
 * present.
 */
static int combine_halves(coll_forest *forest, int at, coll_forest_combine *combine,
                          void *context) {
    for (;;) {
        coll_forest_node *node = &forest->nodes[at];
        if (lacks_sibling(forest, node)) {
            node->height++;
            continue;
        }
        int left = is_right(node) ? at - 1 : at;
        if (!are_halves(forest, left, left + 1))
            return 0;
        int error = combine(value_of(forest, left), value_of(forest, left + 1), context);
        if (error)
            return error;
        remove_node(forest, left + 1);
        forest->nodes[left].height++;
        at = left;
    }
}

bool coll_forest_add(coll_forest *forest, int first, int height, const void *value,
                     coll_forest_combine *combine, void *context, int *error) {
    *error = 0;
    if (forest->count == forest->capacity && !reserve(forest, 2 * forest->capacity))
        return false;
    int at = position_of(forest, first);
    insert_node(forest, at, first, height, value);
    *error = combine_halves(forest, at, combine, context);
    return true;
}

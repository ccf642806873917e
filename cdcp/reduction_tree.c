/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/reduction_tree.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static bool reserve_nodes(coll_reduction_tree *tree, int capacity) {
    coll_reduction_tree_node *nodes = realloc(tree->nodes, (size_t)capacity * sizeof *nodes);
    if (nodes)
        tree->nodes = nodes;
    char *values = realloc(tree->values, (size_t)capacity * tree->stride);
    if (values)
        tree->values = values;
    if (!nodes || !values)
        return false;
    for (int i = tree->capacity; i < capacity; i++)
        nodes[i].slot = (size_t)i;
    tree->capacity = capacity;
    return true;
}

bool coll_reduction_tree_begin(coll_reduction_tree *tree, int leaves, size_t bytes, int capacity) {
    const size_t unit = alignof(max_align_t);
    size_t stride = bytes ? (bytes + unit - 1) / unit * unit : unit;
    tree->leaves = leaves;
    tree->bytes = bytes;
    tree->count = 0;
    if (tree->stride >= stride && tree->capacity >= capacity)
        return true;
    tree->stride = stride;
    tree->capacity = 0; /* the slots are numbered again */
    return reserve_nodes(tree, capacity > 0 ? capacity : 1);
}

void coll_reduction_tree_free(coll_reduction_tree *tree) {
    free(tree->nodes);
    free(tree->values);
    *tree = (coll_reduction_tree){0};
}

static char *value_of(const coll_reduction_tree *tree, int index) {
    return tree->values + tree->nodes[index].slot * tree->stride;
}

const void *coll_reduction_tree_value(const coll_reduction_tree *tree, int index) {
    return value_of(tree, index);
}

/* Returns the index at which a node that begins at FIRST belongs. */
static int position_of(const coll_reduction_tree *tree, int first) {
    int low = 0, high = tree->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (tree->nodes[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_node(coll_reduction_tree *tree, int at, int first, int height,
                        const void *value) {
    coll_reduction_tree_node unused = tree->nodes[tree->count];
    memmove(&tree->nodes[at + 1], &tree->nodes[at],
            (size_t)(tree->count++ - at) * sizeof *tree->nodes);
    tree->nodes[at] = (coll_reduction_tree_node){first, height, unused.slot};
    if (tree->bytes)
        memcpy(value_of(tree, at), value, tree->bytes);
}

static void remove_node(coll_reduction_tree *tree, int at) {
    coll_reduction_tree_node gone = tree->nodes[at];
    memmove(&tree->nodes[at], &tree->nodes[at + 1],
            (size_t)(--tree->count - at) * sizeof *tree->nodes);
    tree->nodes[tree->count] = gone;
}

static bool is_right(const coll_reduction_tree_node *node) {
    return (node->first >> node->height) & 1;
}

/*
 * Returns whether NODE has no right sibling because the leaves end. It then represents its parent
 * unchanged.
 */
static bool lacks_sibling(const coll_reduction_tree *tree, const coll_reduction_tree_node *node) {
    long long sibling = node->first + (1LL << node->height);
    return !is_right(node) && sibling >= tree->leaves && (1LL << node->height) < tree->leaves;
}

static bool are_halves(const coll_reduction_tree *tree, int left, int right) {
    if (left < 0 || right >= tree->count)
        return false;
    const coll_reduction_tree_node *a = &tree->nodes[left], *b = &tree->nodes[right];
    return a->height == b->height && !is_right(a) && b->first == a->first + (1 << a->height);
}

/*
 * Combines the node at AT with its sibling, then their parent with its sibling, and so on, as long
 * as the sibling is present.
 */
static int combine_halves(coll_reduction_tree *tree, int at, coll_reduction_tree_combine *combine,
                          void *context) {
    for (;;) {
        coll_reduction_tree_node *node = &tree->nodes[at];
        if (lacks_sibling(tree, node)) {
            node->height++;
            continue;
        }
        int left = is_right(node) ? at - 1 : at;
        if (!are_halves(tree, left, left + 1))
            return 0;
        int error = combine(value_of(tree, left), value_of(tree, left + 1), context);
        if (error)
            return error;
        remove_node(tree, left + 1);
        tree->nodes[left].height++;
        at = left;
    }
}

bool coll_reduction_tree_add(coll_reduction_tree *tree, int first, int height, const void *value,
                             coll_reduction_tree_combine *combine, void *context, int *error) {
    *error = 0;
    if (tree->count == tree->capacity && !reserve_nodes(tree, 2 * tree->capacity))
        return false;
    int at = position_of(tree, first);
    insert_node(tree, at, first, height, value);
    *error = combine_halves(tree, at, combine, context);
    return true;
}

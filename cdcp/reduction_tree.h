/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction along one fixed tree, whatever the order in which its values arrive. Pure: the
 * caller's function combines values.
 *
 * Leaf i is the value of rank i of n. The node of height h that begins at leaf first, a multiple of
 * 2^h, represents the leaves first .. first + 2^h - 1 (those below n) and combines its two halves.
 * The tree depends on n alone. A coll_reduction_tree holds the nodes that can be computed from the
 * values that have arrived; two halves become one node as soon as both are present. Its nodes can
 * be sent and added to another coll_reduction_tree: the result has the same bits, whatever the
 * number of intermediate stations. A run of c > 1 consecutive ranks needs at most 2 log2(c) nodes.
 * A run needs only one node if it has exactly the leaves of this node, as when every DCP serves the
 * same power of two of consecutive ranks; then the fixed order costs nothing. If ranks are
 * distributed over the hosts round-robin, each rank of a DCP remains a separate node of the tree.
 */
#ifndef COLL_CDCP_REDUCTION_TREE_H
#define COLL_CDCP_REDUCTION_TREE_H

#include <stdbool.h>
#include <stddef.h>

/* Combines WITH, the right half, into INTO, the left one. Returns 0, or an error code. */
typedef int coll_reduction_tree_combine(void *into, const void *with, void *context);

typedef struct coll_reduction_tree_node {
    int first, height;
    size_t slot; /* index of its value in VALUES */
} coll_reduction_tree_node;

typedef struct coll_reduction_tree {
    int leaves;
    size_t bytes, stride; /* bytes of a value; distance of slots, aligned for any type */
    int count, capacity;  /* nodes */
    coll_reduction_tree_node
        *nodes;   /* in ascending order; the nodes beyond COUNT have the unused slots */
    char *values; /* slots */
} coll_reduction_tree;

/*
 * Empties TREE, which is all zeros or was used before, for LEAVES values of BYTES each. Allocates
 * memory for CAPACITY nodes at first. Returns false if memory is short. Free TREE with
 * coll_reduction_tree_free.
 */
bool coll_reduction_tree_begin(coll_reduction_tree *tree, int leaves, size_t bytes, int capacity);
void coll_reduction_tree_free(coll_reduction_tree *tree);

/*
 * Adds a node and copies its value, which may have any alignment. The node must not overlap
 * existing ones. Sets *ERROR to the error that COMBINE returned, or 0. Returns false if memory is
 * short.
 */
bool coll_reduction_tree_add(coll_reduction_tree *tree, int first, int height, const void *value,
                             coll_reduction_tree_combine *combine, void *context, int *error);

/*
 * Returns the value of the node at INDEX. When one node represents all leaves, the value at index 0
 * is the result.
 */
const void *coll_reduction_tree_value(const coll_reduction_tree *tree, int index);

#endif

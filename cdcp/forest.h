/*
 * A reduction along one fixed tree, whatever the order in which its parts arrive. Pure: values are
 * combined by the caller's function.
 *
 * Leaf i is the value of rank i of n. The node of height h above leaf first, a multiple of 2^h,
 * stands for the leaves first .. first + 2^h - 1 (those below n) and combines its two halves. The
 * tree depends on n alone. A forest holds the nodes that can be had from what has arrived; two
 * halves become one node as soon as both are there. A forest can be sent on and added to another
 * one: the result is the same to the bit, whatever the number of stops on the way. A run of c
 * consecutive ranks is at most 2 log2(c) nodes; one, where it is itself a node, as with DCPs that
 * serve equal powers of two: then the fixed order costs nothing. Ranks dealt out over the nodes one
 * by one stay as many nodes as they are.
 */
#ifndef COLL_CDCP_FOREST_H
#define COLL_CDCP_FOREST_H

#include <stdbool.h>
#include <stddef.h>

/* Combines WITH, the right half, into INTO, the left one. Non-zero: an error. */
typedef int coll_forest_combine(void *into, const void *with, void *context);

typedef struct coll_forest_node {
    int first, height;
    size_t slot; /* where its value lies */
} coll_forest_node;

typedef struct coll_forest {
    int leaves;
    size_t bytes, stride;    /* of a value; from one slot to the next, aligned for any type */
    int count, capacity;     /* nodes */
    coll_forest_node *nodes; /* in ascending order; those beyond count keep the unused slots */
    char *values;            /* slots */
} coll_forest;

/*
 * Empties FOREST, which is all zeros or was used before, for LEAVES values of BYTES each, with room
 * for CAPACITY nodes to begin with. False without memory. Ends with coll_forest_free.
 */
bool coll_forest_begin(coll_forest *forest, int leaves, size_t bytes, int capacity);
void coll_forest_free(coll_forest *forest);

/*
 * Adds a node with its value (copied, of any alignment). It must not overlap what is there. Sets
 * *ERROR to what COMBINE returned, 0 for none. False without memory.
 */
bool coll_forest_add(coll_forest *forest, int first, int height, const void *value,
                     coll_forest_combine *combine, void *context, int *error);

/* The value of the node at INDEX; where one node stands for all leaves, number 0 is the result. */
const void *coll_forest_value(const coll_forest *forest, int index);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs: the memory layout of a datatype as a tree, and copying any range of its bytes. A run is
 * COUNT equal items, STRIDE bytes apart. An item is a block of bytes or a list of runs in the order
 * of the data. Building the tree merges regular and contiguous parts, so that an array of doubles
 * becomes one block however it was described. Pure: no MPI.
 *
 * Distances are unsigned and wrap around, so that negative distances and absolute addresses
 * (distances from NULL) need no special case. They become addresses only when bytes are copied.
 */
#ifndef COLL_LIB_BASE_IOV_TREE_H
#define COLL_LIB_BASE_IOV_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t coll_distance;

typedef struct coll_iov {
    /* distance of the first item from the start of the enclosing item */
    coll_distance at;
    coll_distance stride;         /* from one item to the next */
    size_t count;                 /* items; 0 only if there is no data */
    size_t bytes;                 /* data bytes of one item */
    size_t before;                /* data bytes of the runs before this one in its list */
    const struct coll_iov *parts; /* the item's list of runs; NULL if the item is a block */
    size_t part_count;
} coll_iov;

/*
 * A list of runs in the order of the data. The lists of a tree are chained to their OWNER, which
 * frees them with coll_iov_lists_free; runs only point to lists.
 */
typedef struct coll_iov_list {
    struct coll_iov_list *next;
    size_t length;
    coll_iov runs[];
} coll_iov_list;

/* Returns the data bytes of all items of RUN. */
size_t coll_iov_size(const coll_iov *run);

/*
 * Returns COUNT copies of INNER, STRIDE bytes apart. The result may point to INNER, which must then
 * outlive the result.
 */
coll_iov coll_iov_repeated(const coll_iov *inner, size_t count, coll_distance stride);

/*
 * Returns whether COUNT copies of ITEM exceed PTRDIFF_MAX bytes. No object in memory is that large,
 * but a datatype can be.
 */
bool coll_iov_too_large(const coll_iov *item, size_t count);

/*
 * Copies ITEM for coll_iov_repeated: into a list of OWNER if the result of coll_iov_repeated may
 * point to ITEM, else into SPARE. Returns the copy, or NULL if out of memory.
 */
const coll_iov *coll_iov_keep(coll_iov_list **owner, const coll_iov *item, coll_iov *spare);

/*
 * Returns an empty list for up to CAPACITY runs, or NULL if out of memory. Pass it to
 * coll_iov_list_finish or to coll_reserve_free.
 */
coll_iov_list *coll_iov_list_new(size_t capacity);

/* Appends NEXT to LIST, or merges NEXT with the last run if NEXT continues that run. */
void coll_iov_list_append(coll_iov_list *list, coll_iov next);

/* Returns one run that represents all of LIST. Adds LIST to the lists of OWNER or, if the result
 * need not point to LIST, frees LIST. */
coll_iov coll_iov_list_finish(coll_iov_list **owner, coll_iov_list *list);

/* Frees all lists of OWNER. */
void coll_iov_lists_free(coll_iov_list **owner);

/*
 * Copy data bytes [FROM, FROM + LENGTH) of RUN, whose distances are relative to BUFFER, to or from
 * PACKED. The range must lie within the run.
 */
void coll_iov_pack(const coll_iov *run, const void *buffer, size_t from, size_t length,
                   void *packed);
void coll_iov_unpack(const coll_iov *run, void *buffer, size_t from, size_t length,
                     const void *packed);

#endif

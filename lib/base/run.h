/*
 * Runs: where bytes lie, as a tree, and moving any range of them. A run is COUNT equal items,
 * STRIDE bytes apart; an item is a block of bytes or a list of runs in the order of the data. What
 * turns out to be regular or contiguous is merged as the tree is built, so that an array of
 * doubles, however it was described, ends as one block. Pure: no MPI.
 *
 * Distances are unsigned and wrap around: negative ones, and absolute addresses counted from NULL,
 * then need no care. They become addresses only where bytes are copied.
 */
#ifndef COLL_LIB_BASE_RUN_H
#define COLL_LIB_BASE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t coll_distance;

typedef struct coll_run {
    coll_distance at;             /* of the first item, from where the enclosing item starts */
    coll_distance stride;         /* from one item to the next */
    size_t count;                 /* items; 0 only where there is no data */
    size_t bytes;                 /* data bytes of one item */
    size_t before;                /* data bytes of the runs before this one in its list */
    const struct coll_run *parts; /* the item's list of runs, or NULL where it is a block */
    size_t part_count;
} coll_run;

/*
 * Runs in order. A tree's lists are chained to their OWNER and live until coll_run_lists_free of
 * it; runs only point into them.
 */
typedef struct coll_run_list {
    struct coll_run_list *next;
    size_t length;
    coll_run runs[];
} coll_run_list;

/* Data bytes of all items. */
size_t coll_run_size(const coll_run *run);

/* COUNT copies of INNER, STRIDE apart. The result may point to INNER, which must then stay. */
coll_run coll_run_repeated(const coll_run *inner, size_t count, coll_distance stride);

/* True where COUNT copies exceed PTRDIFF_MAX bytes: no object does, but a description can. */
bool coll_run_too_large(const coll_run *item, size_t count);

/*
 * A copy of ITEM to give to coll_run_repeated: in OWNER where the result would point to it, else in
 * SPARE. NULL without memory.
 */
const coll_run *coll_run_keep(coll_run_list **owner, const coll_run *item, coll_run *spare);

/* An empty list with room for CAPACITY runs, or NULL. Goes to coll_run_list_finish or
 * coll_spare_free. */
coll_run_list *coll_run_list_new(size_t capacity);

/* Appends NEXT; the list grows by one run, or by none where NEXT continues the last one. */
void coll_run_list_append(coll_run_list *list, coll_run next);

/* The run that stands for all of LIST, which OWNER takes. */
coll_run coll_run_list_finish(coll_run_list **owner, coll_run_list *list);

void coll_run_lists_free(coll_run_list **owner);

/*
 * Copies data bytes [FROM, FROM + LENGTH) of RUN, whose distances count from BUFFER, to or from
 * PACKED. The range must lie within the run.
 */
void coll_run_pack(const coll_run *run, const void *buffer, size_t from, size_t length,
                   void *packed);
void coll_run_unpack(const coll_run *run, void *buffer, size_t from, size_t length,
                     const void *packed);

#endif

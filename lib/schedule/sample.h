/*
 * Some rounds of a plan, evenly chosen from the first to the last, as a plan of its own: to play a
 * part of a plan that is too long. No MPI.
 */
#ifndef COLL_LIB_SCHEDULE_SAMPLE_H
#define COLL_LIB_SCHEDULE_SAMPLE_H

#include "lib/schedule/plan.h"

/* The memory that a sample of plans of SIZE needs. */
size_t coll_sample_bytes(const coll_plan_size *size);

/* So many ROUNDS of the plan ALL, fewer than it has, in so much MEMORY, aligned for any type. */
coll_plan *coll_sample_open(const coll_plan *all, uint64_t rounds, void *memory);

#endif

/*
 * Estimates what a call takes, for those who choose: from a few small plays of its plans (price.h),
 * however long the call is and however many ranks it has.
 *
 * 1. A call that takes few events is played.
 * 2. Of a longer one the first rounds of all plans are played, and it goes on at the pace of the
 *    last of these.
 * 3. Where even these are too much, a part of the ranks is played, evenly chosen from the line. How
 *    long a rank is busy is known however many there are. What the ranks wait besides is asked of
 *    the part, of half of it and of a quarter: if it doubles with the ranks it goes on as a line,
 *    else it grows by as much with each doubling.
 * 4. No call takes less than its busiest rank or link is busy.
 */
#ifndef COLL_LIB_SCHEDULE_ESTIMATE_H
#define COLL_LIB_SCHEDULE_ESTIMATE_H

#include "lib/algorithm/algorithm.h"

/*
 * Returns the seconds that ALGORITHM's plan takes for SHAPE, also where with these VALUES it is
 * none and does the same with more. Where that is more than the shape's `enough`, any number from
 * that on may be returned. It is the same number on every rank, whatever memory that has: none is
 * allocated, unless the shape says how many events it may take. INFINITY: there is no memory.
 */
double coll_estimate(const coll_algorithm *algorithm, const coll_shape *shape,
                     const coll_values *values);

#endif

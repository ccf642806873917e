/*
 * What a plan takes, for those who choose: the pricer's word from a few plays that are small,
 * however long the call is and however many ranks it has.
 *
 * - A long call is played at two shorter lengths, with segments as long as in the whole, and goes
 *   on at the pace from one to the other.
 * - Of plans in step, whose ranks all have as many rounds, some rounds are played, and go on at
 *   their pace.
 * - Of many ranks a part is played: one in so many of the line, half of those and a quarter. For
 *   how long a rank's processor and links are busy follows from its own plan, however many there
 *   are. What it waits besides, as added from each to the next, is taken for the sum of a part that
 *   grows with the ranks and of one that grows with their logarithm.
 */
#ifndef COLL_LIB_SCHEDULE_QUOTE_H
#define COLL_LIB_SCHEDULE_QUOTE_H

#include "lib/algorithm/algorithm.h"

/*
 * Seconds that ALGORITHM's plan takes for SHAPE, also where with these values it is none and does
 * the same with more; at least what is enough where it takes as long; INFINITY: even a few ranks
 * take too many messages. It is the same number on every rank, whatever memory that has: it
 * allocates none.
 */
double coll_quote(const coll_algorithm *algorithm, const coll_shape *shape,
                  const coll_values *values);

#endif

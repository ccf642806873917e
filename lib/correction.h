/*
 * What running the algorithms has shown of the cost model's errors: corrections, which a profile
 * keeps, and what they make of a prediction. The model knows a network in general, but not what,
 * say, waking up many ranks on few cores or a link's burst allowance does to one algorithm. Pure.
 */
#ifndef COLL_LIB_CORRECTION_H
#define COLL_LIB_CORRECTION_H

#include "coll.h"

typedef COLL_Correction coll_correction;

/* What is wrong with CORRECTION, in a few static words; NULL where it is good. */
const char *coll_correction_fault(const coll_correction *correction);

/*
 * The factor for a prediction about ALGORITHM of OPERATION, with BYTES on RANKS that are at most
 * LEVEL apart, from the COUNT corrections of ALL; 1 where none is about these. Between sizes and
 * between numbers of ranks its logarithm is interpolated by theirs; below the smallest size and
 * beyond the numbers of ranks it stays what it is at the nearest; above the largest size it goes to
 * 1 within a factor of 8, since there the network's rate decides, which the model knows.
 */
double coll_correction_factor(const coll_correction all[], int count, const char *operation,
                              const char *algorithm, COLL_Level level, int ranks, double bytes);

#endif

/*
 * What one rank of a call has to do, whatever the others do: for how long its processor and its
 * links are busy. It follows from the rank's own plan, of which some rounds tell where there are
 * many.
 */
#ifndef COLL_LIB_SCHEDULE_LABOUR_H
#define COLL_LIB_SCHEDULE_LABOUR_H

#include "lib/schedule/price.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_labour {
    int64_t processor, out, in; /* ns: the links out of its host and into it */
    int64_t events;             /* about so many has a play of it */
} coll_labour;

/*
 * That of the rank at POSITION of LINE, whose position is set, in CALL: algorithm, shape, values
 * and whole, and memory to find out in. False: there is no room for that.
 */
bool coll_labour_find(const coll_price_call *call, coll_line *line, int position,
                      coll_labour *labour);

#endif

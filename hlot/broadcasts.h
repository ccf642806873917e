/* Broadcasts over sites, for the table of broadcasts. */
#ifndef COLL_HLOT_BROADCASTS_H
#define COLL_HLOT_BROADCASTS_H

#include "lib/bcast/bcast.h"

extern const coll_bcast_algorithm hlot_bcast_flat;
extern const coll_bcast_algorithm hlot_bcast_hlot;

#endif

/*
 * Who keeps an allreduce waiting: a DCP whose ranks have waited for longer than COLL_TIMEOUT asks
 * the other DCPs of the communicator which of their ranks they miss, and names them to its own
 * ranks and, through the other DCPs, to all. A rank that comes after all, before its DCP has heard,
 * may still get the sum: the others have the error then, and it alone goes on.
 */
#ifndef COLL_CDCP_LATE_H
#define COLL_CDCP_LATE_H

#include "cdcp/reduction.h"

/* Asks or reports where REDUCTION has waited too long by now, the date NOW. */
int coll_late_look(coll_desk *desk, coll_reduction *reduction, double now);

/* A question from DCP SOURCE; TEAM is NULL where none of its ranks has come here yet. */
int coll_late_asked(coll_desk *desk, const coll_team *team, const coll_wire_header *header,
                    int source);

/* The answer of DCP SOURCE, with the ranks it names. */
int coll_late_answered(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                       const int32_t named[], int source);

/* Another DCP has found who is late, in TEXT. */
int coll_late_told(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                   const char *text);

#endif

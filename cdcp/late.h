/*
 * Finds the ranks that keep a call of a collective waiting; all ranks report the same ones:
 *
 * 1. A DCP whose ranks have waited for longer than COLL_TIMEOUT asks the other DCPs of the
 *    communicator which of their ranks they miss.
 * 2. A DCP that misses some says so, and holds the call: whoever comes from now on, it sends
 *    no values, so that no DCP can complete what another one reports. It gives the same answer to
 *    all who ask.
 * 3. If ranks are missing, the DCP that asked names them to the other DCPs. Each reports
 *    to its ranks: at once to those that wait, to the others as they come.
 *
 * A call that isn't late costs nothing more. Mismatched calls fail on all ranks too: the
 * failure goes where the values would have gone (cdcp/dcp_call.h).
 */
#ifndef COLL_CDCP_LATE_H
#define COLL_CDCP_LATE_H

#include "cdcp/dcp_call.h"

/* Asks or reports where REDUCTION has waited too long by now, the date NOW. */
int coll_late_look(coll_desk *desk, coll_dcp_call *call, double now);

/* Holds call SEQUENCE of TEAM, which is ready, if ranks of this DCP are missing. */
int coll_late_hold(coll_desk *desk, coll_team *team, uint32_t sequence);

/*
 * Answers a question of DCP SOURCE. A TEAM whose members aren't known yet misses all: the caller
 * holds when they are.
 */
int coll_late_asked(coll_desk *desk, coll_team *team, const coll_wire_header *header, int source);

/* The answer of DCP SOURCE, with the ranks it names. */
int coll_late_answered(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                       const int32_t named[], int source);

/* Another DCP has found who is late, in TEXT. */
int coll_late_told(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                   const char *text);

#endif

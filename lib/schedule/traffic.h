/*
 * How many bytes a call's plans send over the links of hosts, racks and sites, which is known
 * without playing them.
 */
#ifndef COLL_LIB_SCHEDULE_TRAFFIC_H
#define COLL_LIB_SCHEDULE_TRAFFIC_H

#include "lib/schedule/plan.h"

typedef enum coll_link { COLL_LINK_HOST, COLL_LINK_RACK, COLL_LINK_SITE, COLL_LINKS } coll_link;

typedef struct coll_traffic {
    double busiest[COLL_LINKS]; /* bytes out of the busiest one, or into it where that is more */
    double seconds; /* that the slowest of these takes: no call of these plans ends sooner */
} coll_traffic;

/*
 * Told of about so many ROUNDS of all ranks together, chosen evenly where there are more, or of
 * some of the ranks where rounds are long; in BYTES of MEMORY, aligned for any type. False: these
 * don't do.
 */
bool coll_traffic_count(const coll_algorithm *algorithm, const coll_shape *shape,
                        const coll_values *values, uint64_t rounds, void *memory, size_t bytes,
                        coll_traffic *traffic);

/* The same of very many rounds, in memory of its own. MPI_ERR_NO_MEM. */
int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic);

#endif

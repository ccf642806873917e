/*
 * What the plans of a call have to do, which is known without playing them: how many bytes all
 * ranks send over the links of hosts, racks and sites, and how long a rank, or a link, is busy at
 * least.
 */
#ifndef COLL_LIB_SCHEDULE_TRAFFIC_H
#define COLL_LIB_SCHEDULE_TRAFFIC_H

#include "lib/schedule/network.h"
#include "lib/schedule/plan.h"

#include <stdint.h>

typedef enum coll_link { COLL_LINK_HOST, COLL_LINK_RACK, COLL_LINK_SITE, COLL_LINKS } coll_link;
enum { COLL_LINK_OUT, COLL_LINK_IN, COLL_LINK_WAYS };

typedef struct coll_traffic {
    double busiest[COLL_LINKS]; /* bytes out of the busiest one, or into it where that is more */
    double seconds;  /* that the slowest of these takes: no call of these plans ends sooner */
    double labour;   /* s: of the busiest rank that was looked at, its processor or its messages on
                        its host's link: the call does not end sooner either */
    double events;   /* about so many has a play of all ranks */
    uint64_t rounds; /* of the longest plan that was looked at */
    bool exact;      /* all of all plans was looked at */
} coll_traffic;

/* The plans of all ranks of a call, one of them at a time. */
typedef struct coll_survey {
    const coll_planner *planner;
    const coll_shape *shape;
    const coll_values *values;
    coll_line *line;
    coll_part part;
    coll_blocks even;
    coll_plan_size size; /* of all plans */
    coll_network network;
    void *own;
    coll_step *steps;
    double *bytes; /* over each link out and in: of hosts, racks and sites */
    double *busy;  /* ns: of each host's link out and in */
} coll_survey;

/*
 * Opens a survey of SHAPE's call in *LEFT bytes of memory at *ROOM, and cuts off what it takes. If
 * the shape's topology is a part of a WHOLE, else NULL, its links are those of the whole. Returns
 * false if these bytes don't do.
 */
bool coll_survey_open(coll_survey *survey, const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, const coll_topo *whole, char **room, size_t *left);

/* Returns what the first ROUNDS rounds of all plans have to do. It looks at so many RANKS and about
 * so many STEPS of them, evenly chosen, and concludes from these. */
coll_traffic coll_survey_count(coll_survey *survey, uint64_t rounds, int ranks, int64_t steps);

/* The same of all rounds, looking at as many as takes a few seconds. MPI_ERR_NO_MEM. */
int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic);

#endif

/*
 * What a call's plans have to do, which is known without playing them: for how long a rank's
 * processor and its links are busy, whatever the others do, and how many bytes all send over the
 * links of hosts, racks and sites. Of long plans some rounds tell it.
 */
#ifndef COLL_LIB_SCHEDULE_TRAFFIC_H
#define COLL_LIB_SCHEDULE_TRAFFIC_H

#include "lib/schedule/fold.h"
#include "lib/schedule/network.h"
#include "lib/schedule/plan.h"

#include <stdint.h>

typedef enum coll_link { COLL_LINK_HOST, COLL_LINK_RACK, COLL_LINK_SITE, COLL_LINKS } coll_link;
enum { COLL_LINK_OUT, COLL_LINK_IN, COLL_LINK_WAYS };

typedef struct coll_traffic {
    double busiest[COLL_LINKS]; /* bytes out of the busiest one, or into it where that is more */
    double seconds; /* that the slowest of these takes: no call of these plans ends sooner */
} coll_traffic;

typedef struct coll_labour {
    int64_t processor, out, in; /* ns: the links out of its host and into it, which have rested */
    int64_t events;             /* about so many has a play of it */
    uint64_t rounds;            /* of its plan */
} coll_labour;

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
    void *own, *shared;
    coll_step *steps;
    bool counts;
    double *bytes[COLL_LINKS][COLL_LINK_WAYS]; /* where it does: of each host, rack and site */
    uint64_t listed;                           /* steps that were asked for, */
    uint64_t work;                             /* and about what that took, in steps */
    char *room;
    size_t left; /* bytes of it */
} coll_survey;

/*
 * Opens a survey of SHAPE's call in BYTES of MEMORY, aligned for any type, which are its own until
 * nobody needs it any more. If the shape's topology is a part of a WHOLE, else NULL, its links are
 * those of the whole. False: these bytes don't do.
 */
bool coll_survey_open(coll_survey *survey, const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, const coll_topo *whole, void *memory,
                      size_t bytes);

/* What the rank at POSITION has to do, told of MOST rounds of its plan at most. */
coll_labour coll_survey_ask(coll_survey *survey, int position, uint64_t most);

/* Who stands for all in the call. False: there is no room to find out, so nobody does. */
bool coll_survey_fold(coll_survey *survey, coll_fold *fold);

/*
 * What the links carry, told of about so many ROUNDS of all ranks together, or of those that FOLD
 * plays: chosen evenly where there are more, or of some of the ranks where rounds are long. False:
 * there is no room for that.
 */
bool coll_survey_count(coll_survey *survey, const coll_fold *fold, uint64_t rounds,
                       coll_traffic *traffic);

/* The same of very many rounds, in memory of its own. MPI_ERR_NO_MEM. */
int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic);

#endif

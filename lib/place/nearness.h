/*
 * Parts what one node has measured to others at about the same time into near and far: those in its
 * rack, and those in other racks. Pure.
 *
 * Only times of one row are compared. How long a round trip takes besides the network depends on
 * who measures and on what else its processor does at the time, alike for the whole row. Whatever
 * disturbs one makes it longer, never shorter: so the near ones are those below the first gap.
 */
#ifndef COLL_LIB_PLACE_NEARNESS_H
#define COLL_LIB_PLACE_NEARNESS_H

/* From near to far. */
typedef enum coll_nearness {
    COLL_NEAR, /* in the same rack */
    COLL_FAR,  /* in another rack of the site; of an even row: all in one rack or each in another */
    COLL_AWAY  /* at another site */
} coll_nearness;

typedef enum coll_row_kind {
    COLL_ROW_CLEAR,  /* it has near ones and far ones */
    COLL_ROW_EVEN,   /* the times hardly differ within the site */
    COLL_ROW_UNCLEAR /* they do, but without a gap */
} coll_row_kind;

typedef struct coll_row_split {
    coll_row_kind kind;
    double near, far; /* s: medians; of a clear row both, of an even one NEAR */
    double gap;       /* of a clear row: the first far time through the last near one */
} coll_row_split;

/*
 * Parts COUNT round trips, in SECONDS, and says in NEARNESS what each one is. FASTEST is the least
 * time between any two nodes, by which sites are known. SORTED has room for COUNT times.
 */
coll_row_split coll_nearness_find(int count, const double seconds[], double fastest,
                                  double sorted[], coll_nearness nearness[]);

#endif

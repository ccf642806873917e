/*
 * Plays of less than a call, from which its price follows: of a part of its ranks, of fewer bytes,
 * or of some rounds of its plans. Each is played against the links of the whole. What has been
 * found is remembered, since it is asked for more than once.
 */
#ifndef COLL_LIB_SCHEDULE_REHEARSAL_H
#define COLL_LIB_SCHEDULE_REHEARSAL_H

#include "lib/schedule/price.h"
#include "lib/schedule/traffic.h"

/* What is played of a call. */
typedef struct coll_excerpt {
    int ranks;       /* one in so many of the line */
    size_t bytes;    /* of the call */
    uint64_t rounds; /* of each plan, as in coll_price_call; 0: all */
    bool midway;     /* as amid a long call, likewise */
} coll_excerpt;

/* What is known without playing it: how long ranks are busy, so that it does not end sooner, about
 * how many events a play of one of them has, and how many rounds. */
typedef struct coll_outlook {
    int64_t labour, events;
    uint64_t rounds;
    bool in_bursts; /* links pass all of it at once, as they have rested */
} coll_outlook;

/* What has been found of so many ranks and bytes. */
typedef struct coll_finding {
    int ranks;
    size_t bytes;
    bool is_surveyed, is_played;
    coll_outlook outlook;
    coll_price price; /* of all rounds, */
    bool midway;      /* so, or it would be the same */
} coll_finding;

enum { COLL_FINDINGS = 16 };

typedef struct coll_rehearsal {
    /* Set before it is opened. */
    const coll_algorithm *algorithm;
    const coll_shape *whole;
    coll_values values;
    int64_t enough; /* ns: nobody asks how much longer it takes; 0: all do */
    int budget;     /* events of a play */
    int most;       /* ranks of a part */
    bool is_long;   /* plays take as much memory as there is */
    /* Set by opening it. */
    coll_survey survey; /* of all ranks */
    coll_fold fold;     /* of all ranks: those who are played for them */
    int64_t burst;      /* ns by which links get ahead by resting, at most */
    coll_place *places; /* of a part, */
    int *numbers;       /* for numbering these, */
    double *latencies;  /* between their sites */
    char *room;
    size_t left;                       /* bytes of it */
    coll_finding known[COLL_FINDINGS]; /* the latest ones */
    int knows;                         /* so many, with those that it has forgotten */
} coll_rehearsal;

/* The bytes that a part of so many ranks of a call needs, besides what a survey of it does. */
size_t coll_rehearsal_bytes(const coll_shape *whole, int most);

/* Opens it with SURVEYED bytes of memory for the survey of all ranks, behind which there are LEFT
 * bytes for all else, aligned for any type. False: these don't do. */
bool coll_rehearsal_open(coll_rehearsal *r, void *memory, size_t surveyed, size_t left);

/* Of all ranks, told by so many of them that are ASKED: two at least. */
coll_outlook coll_rehearsal_ask(coll_rehearsal *r, int asked);

/* Of so many RANKS and BYTES. False: there is no room to find out. */
bool coll_rehearsal_look(coll_rehearsal *r, int ranks, size_t bytes, coll_outlook *outlook);

/* False: it takes more events or memory than there are. */
bool coll_rehearsal_play(coll_rehearsal *r, const coll_excerpt *excerpt, coll_price *price);

/* Whether a play of so many RANKS, of which this was found, takes more events than it may: they are
 * as a rule fewer than that. */
bool coll_rehearsal_is_hopeless(const coll_rehearsal *r, const coll_outlook *outlook, int ranks);

#endif

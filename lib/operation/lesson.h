/*
 * Which of a few algorithms runs each call while a program finds out whether another one is faster
 * than the one that was chosen. Pure: it follows from how many calls there were and from times that
 * all ranks have agreed on, so that all ranks run the same one.
 *
 * What was chosen runs, and its time is agreed on. Another one, the one with the largest expected
 * gain first, is tried in COLL_LESSON_TRY calls once
 *
 * - these calls, at its worst, and all tries before cost no more than a fiftieth of the time that
 *   calls have taken so far, and
 * - as many calls as there were so far would gain more by it, as expected, than it costs.
 *
 * It is tried once. If it is faster by a fiftieth it runs from then on. What a call takes in a row
 * of its own kind counts: the first one overlaps with calls of another kind where ranks leave those
 * before others do, as a broadcast's root, so it may seem to be short. The shortest time tells,
 * since whatever disturbs a call makes it longer.
 *
 * After a try all ranks agree on its times while COLL_LESSON_PAUSE calls run: by then the agreement
 * has long arrived.
 */
#ifndef COLL_LIB_OPERATION_LESSON_H
#define COLL_LIB_OPERATION_LESSON_H

#include "lib/operation/select.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    COLL_LESSON_TRY = 3,
    COLL_LESSON_PAUSE = 2,
    COLL_LESSON_TIMES = 3 /* that are agreed on at once */
};

typedef struct coll_lesson {
    coll_choices candidates;   /* the first one is what was chosen */
    int64_t time[COLL_LIKELY]; /* of a call by each, agreed on; 0: not known yet */
    bool settled;              /* nothing is left to be tried */
    int best;                  /* what runs but for tries */
    int tried;                 /* now or next; BEST itself: its own time is to be found */
    int64_t calls;             /* so far */
    int64_t from, due; /* the calls with which the try begins, and its agreement is to be there */
    int64_t extra;     /* time that all tries have cost */
    int last;          /* what ran last */
    int64_t own[COLL_LESSON_TIMES]; /* this rank's times: the least of BEST and of TRIED, and all of
                                        TRIED's together */
} coll_lesson;

/* Begins with the first of CANDIDATES. */
void coll_lesson_begin(coll_lesson *lesson, const coll_choices *candidates);

/* Takes over what was known before of all algorithms, 0: nothing. */
void coll_lesson_know(coll_lesson *lesson, const int64_t times[]);

/* Returns which one runs the next call. */
int coll_lesson_turn(const coll_lesson *lesson);

/* Leaves out what is to be tried next. */
void coll_lesson_leave_out(coll_lesson *lesson);

/* The call took TIME, above 0, on this rank. Returns true if the times are to be agreed on now. */
bool coll_lesson_take(coll_lesson *lesson, int64_t time);

/* Whether the agreement on them must be there before the next call. */
bool coll_lesson_due(const coll_lesson *lesson);

/* Goes by the AGREED times, the same on all ranks. */
void coll_lesson_heed(coll_lesson *lesson, const int64_t agreed[]);

#endif

/*
 * Which of a few algorithms runs each call while a program finds out which one is the fastest.
 * Pure: it follows from how many calls there were and from times that all ranks have agreed on, so
 * that all ranks run the same one.
 *
 * The algorithms are numbered by their price: 0 is the cheapest and runs where nothing is known.
 *
 *     round 1   a call of each, but two of the first: what takes thrice as long as the fastest is
 *               out, having cost one call
 *     round 2   the best four: 8 or 9 calls in all, each algorithm's in a row; the shortest time of
 *               each tells, since whatever disturbs a call makes it longer, but that of the first
 *               call in a row doesn't count
 *
 * That first call follows one of another kind, with which it overlaps where ranks leave a call
 * before others do, as a broadcast's root; so it may seem to be short. What counts is what a call
 * takes after one of its own kind, as later all do. In round 1 it also connects ranks that have
 * never met, for all algorithms alike.
 *
 * After each round all ranks agree on its times, while COLL_LESSON_PAUSE calls run the best that is
 * known: by then the agreement has long arrived. All is settled after 19 calls at most. An
 * algorithm must be faster by a fiftieth to come before one of a lower number.
 */
#ifndef COLL_LIB_OPERATION_LESSON_H
#define COLL_LIB_OPERATION_LESSON_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COLL_LESSON_MOST = 5,  /* algorithms */
    COLL_LESSON_TIMES = 6, /* that are agreed on at once */
    COLL_LESSON_PAUSE = 2
};

typedef struct coll_lesson {
    bool settled;
    int best;                        /* so far; once it is settled all calls are its */
    int round;                       /* 0: the others are not known yet */
    int players;                     /* of this round */
    int player[COLL_LESSON_MOST];    /* who they are */
    int row;                         /* calls of each in a row */
    int calls;                       /* of this round, so far */
    int64_t time[COLL_LESSON_TIMES]; /* this rank's, of those that count */
} coll_lesson;

/* Begins with algorithm 0. */
void coll_lesson_begin(coll_lesson *lesson);

/* Whether it is time to say how many others there are, before the next call. */
bool coll_lesson_lonely(const coll_lesson *lesson);

/* COUNT algorithms are there, 1 to COLL_LESSON_MOST. With one alone all is settled. */
void coll_lesson_meet(coll_lesson *lesson, int count);

/* Who runs the next call. */
int coll_lesson_turn(const coll_lesson *lesson);

/* It took TIME, above 0, on this rank. True: the times are to be agreed on now. */
bool coll_lesson_take(coll_lesson *lesson, int64_t time);

/* How many there are of this round. */
int coll_lesson_times(const coll_lesson *lesson);

/* Whether the agreement on them must be there before the next call. */
bool coll_lesson_due(const coll_lesson *lesson);

/* It is: the AGREED times, the same on all ranks. Returns the best one's. */
int64_t coll_lesson_heed(coll_lesson *lesson, const int64_t agreed[]);

#endif

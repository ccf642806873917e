#include "config.h"

#include "lib/operation/lesson.h"

/* Calls of the first algorithm before it meets others, of all in the second round, and who may come
 * there. */
enum { LONELY = 2, SECOND = 9, FINALISTS = 4 };

/* What takes so many times the fastest one's time is out after the first round. */
enum { HOPELESS = 3 };

/* What is faster by less than one in so many is as fast. */
enum { CLEARLY = 50 };

void coll_lesson_begin(coll_lesson *lesson) {
    *lesson = (coll_lesson){.players = 1, .row = 1};
}

bool coll_lesson_lonely(const coll_lesson *lesson) {
    return lesson->round == 0 && lesson->calls == LONELY;
}

void coll_lesson_meet(coll_lesson *lesson, int count) {
    lesson->round = 1;
    lesson->players = count;
    lesson->settled = count == 1;
    for (int i = 0; i < count; i++)
        lesson->player[i] = i;
}

/* The calls of a round. */
static int trials(const coll_lesson *lesson) {
    return lesson->players * lesson->row + (lesson->round < 2 ? LONELY - 1 : 0);
}

/* Whose turn in a round the next call is. */
static int turn(const coll_lesson *lesson) {
    int calls = lesson->calls;
    if (lesson->round < 2)
        return calls < LONELY ? 0 : calls - LONELY + 1;
    return calls / lesson->row;
}

int coll_lesson_turn(const coll_lesson *lesson) {
    if (lesson->settled || lesson->calls >= trials(lesson))
        return lesson->best;
    return lesson->player[turn(lesson)];
}

/* Times of each algorithm. */
static int times(const coll_lesson *lesson) {
    return lesson->round < 2 ? 1 : lesson->row - 1;
}

int coll_lesson_times(const coll_lesson *lesson) {
    return lesson->players * times(lesson);
}

/* Where the time of the next call goes; -1: it doesn't count. */
static int place(const coll_lesson *lesson) {
    if (lesson->calls >= trials(lesson))
        return -1;
    if (lesson->round < 2)
        return lesson->calls == 1 ? -1 : turn(lesson);
    int nth = lesson->calls % lesson->row;
    return nth == 0 ? -1 : turn(lesson) * times(lesson) + nth - 1;
}

bool coll_lesson_take(coll_lesson *lesson, int64_t time) {
    if (lesson->settled)
        return false;
    if (place(lesson) >= 0)
        lesson->time[place(lesson)] = time;
    lesson->calls++;
    return lesson->round > 0 && lesson->calls == trials(lesson);
}

bool coll_lesson_due(const coll_lesson *lesson) {
    return !lesson->settled && lesson->round > 0 &&
           lesson->calls == trials(lesson) + COLL_LESSON_PAUSE;
}

/* The least of the times of the player at I. */
static int64_t least(const coll_lesson *lesson, const int64_t agreed[], int i) {
    const int64_t *own = agreed + i * times(lesson);
    int64_t found = own[0];
    for (int k = 1; k < times(lesson); k++)
        found = own[k] < found ? own[k] : found;
    return found;
}

/* Where the fastest is among the players. */
static int fastest(const coll_lesson *lesson, const int64_t agreed[]) {
    int best = 0;
    for (int i = 1; i < lesson->players; i++) {
        int64_t so_far = least(lesson, agreed, best);
        if (least(lesson, agreed, i) < so_far - so_far / CLEARLY)
            best = i;
    }
    return best;
}

/* Whether the player at I of the first round comes to the second, where the one at BEST does. */
static bool hopes(const coll_lesson *lesson, const int64_t agreed[], int i, int best) {
    int faster = 1;
    for (int k = 0; k < lesson->players; k++)
        faster += k != best && (agreed[k] < agreed[i] || (agreed[k] == agreed[i] && k < i));
    return i == best || (faster < FINALISTS && agreed[i] / HOPELESS < agreed[best]);
}

static void begin_second(coll_lesson *lesson, const int64_t agreed[], int best) {
    int count = 0;
    for (int i = 0; i < lesson->players; i++)
        if (hopes(lesson, agreed, i, best))
            lesson->player[count++] = i;
    lesson->round = 2;
    lesson->players = count;
    lesson->row = SECOND / count;
    lesson->calls = 0;
}

int64_t coll_lesson_heed(coll_lesson *lesson, const int64_t agreed[]) {
    int best = fastest(lesson, agreed);
    int64_t time = least(lesson, agreed, best);
    lesson->best = lesson->player[best];
    if (lesson->round == 1)
        begin_second(lesson, agreed, best);
    else
        lesson->settled = true;
    lesson->settled |= lesson->players == 1;
    return time;
}

#include "config.h"

#include "lib/schedule/estimate.h"

#include "lib/base/comm.h"
#include "lib/schedule/price.h"
#include "lib/schedule/traffic.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>

/* Events of a call that is played, and of a play of less: so many up to RANKS ranks, in proportion
 * above, up to EVENTS_MOST. */
enum { EVENTS = 6000, PART = 4, RANKS = 150, EVENTS_MOST = 32000 };

/* Rounds by which a call begins; and from which its pace is told, besides those of a window. */
enum { BEGIN = 2, BEHIND = 2, PACE_LEAST = 6 };

/* Of a part: fewer tell nothing of more, and plans of more, which look at all places, take long to
 * make. */
enum { RANKS_LEAST = 4, RANKS_MOST = 512 };

/* Memory that is there on all ranks alike, since no allocation may fail on one of them alone. */
enum { RESERVE = 10 << 20, LETTERS = 1 << 13 };
static alignas(max_align_t) char reserve[RESERVE];
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct estimate {
    const coll_algorithm *algorithm;
    const coll_shape *whole;
    const coll_values *values;
    double enough;        /* s; 0: there is no such thing */
    double events;        /* of a call that is played */
    bool allocates;       /* plays do so */
    coll_survey survey;   /* of all ranks, */
    coll_traffic traffic; /* and what it found */
    coll_place *places;   /* of a part of the ranks, */
    int *numbers;         /* for numbering these, */
    double *latencies;    /* and between their sites */
    char *room;
    size_t left; /* bytes of it */
} estimate;

/* --- Some of the ranks --- */

static int half(int ranks) {
    return (ranks + 1) / 2;
}

static const coll_place *place_of(const estimate *e, int i, int count) {
    const coll_topo *whole = e->whole->topo;
    return &whole->places[e->survey.line->order[(int64_t)i * whole->ranks / count]];
}

/* COUNT ranks, evenly chosen from the line, as if there were no others. */
static coll_topo topo_of(const estimate *e, int count) {
    coll_topo part = *e->whole->topo;
    part.ranks = count;
    part.places = e->places;
    for (int i = 0; i < count; i++)
        part.places[i] = *place_of(e, i, count);
    coll_topo_number(&part, e->whole->topo, e->numbers);
    return part;
}

/* The latencies between the sites of PART, by their numbers there; NULL where they aren't known. */
static const double *latencies_of(const estimate *e, const coll_topo *part) {
    const double *latencies = e->whole->latencies;
    int *before = e->numbers;
    for (int i = 0; i < part->ranks; i++)
        before[part->places[i].site] = place_of(e, i, part->ranks)->site;
    for (int i = 0; latencies && i < part->sites * part->sites; i++)
        e->latencies[i] =
            latencies[before[i / part->sites] * e->whole->topo->sites + before[i % part->sites]];
    return latencies ? e->latencies : NULL;
}

/* Some of the ranks, or all. */
typedef struct part {
    coll_shape shape;
    coll_topo topo;
    coll_survey survey;
    char *room; /* left for a play */
    size_t left;
} part;

static bool open_part(const estimate *e, int ranks, part *p) {
    *p = (part){.shape = *e->whole, .room = e->room, .left = e->left};
    if (ranks < e->whole->topo->ranks) {
        p->topo = topo_of(e, ranks);
        p->shape.topo = &p->topo;
        p->shape.latencies = latencies_of(e, &p->topo);
        p->shape.root = p->shape.root == COLL_NO_ROOT ? COLL_NO_ROOT : 0;
    }
    return coll_survey_open(&p->survey, e->algorithm, &p->shape, e->values, e->whole->topo,
                            &p->room, &p->left);
}

/* About what takes as long as a short play. */
static coll_traffic look(coll_survey *survey, uint64_t rounds) {
    enum { ASKED = 4, STEPS = 1 << 12 };
    return coll_survey_count(survey, rounds, ASKED, STEPS);
}

/* --- Plays --- */

/* Plays the first ROUNDS rounds, or all (0). Returns false if that takes more than EVENTS or there
 * is no memory for it, or if they wait for others. */
static bool play(const estimate *e, const part *p, uint64_t rounds, double events,
                 coll_price *price) {
    const bool all = p->shape.topo == e->whole->topo;
    const coll_price_call call = {
        .algorithm = e->algorithm,
        .planner = e->algorithm->planner,
        .shape = &p->shape,
        .values = e->values,
        .whole = e->whole->topo,
        .rounds = rounds,
        .budget = (int)fmin(2 * events, INT_MAX), /* so many were an estimate */
        .enough = all && e->enough > 0 && e->enough < 1e9 ? (int64_t)(e->enough * 1e9) + 1 : 0,
        .letters = e->allocates ? 0 : LETTERS,
        .memory = e->allocates ? NULL : p->room,
        .bytes = p->left};
    return coll_price_play(&call, price) == MPI_SUCCESS && price->time != COLL_PRICE_UNKNOWN;
}

/* What plays of the first rounds tell, in seconds. */
typedef struct told {
    double time, pace;         /* all of them, and one more round */
    double labour, of_a_round; /* for how long the busiest rank is busy in these */
} told;

/* Plays the first ROUNDS rounds of RANKS. */
static bool ask(const estimate *e, int ranks, uint64_t rounds, double events, told *found) {
    part p;
    coll_price price;
    if (!open_part(e, ranks, &p))
        return false;
    const coll_traffic all = look(&p.survey, rounds);
    if (all.events > events || !play(e, &p, rounds, events, &price))
        return false;
    /* A time-out, which comes once, is in one half of the rounds. */
    const int64_t half_of_time =
        price.time < 2 * price.halfway ? price.time - price.halfway : price.halfway;
    const uint64_t played = coll_least(rounds, all.rounds), second = played - played / 2;
    const coll_traffic first = look(&p.survey, played / 2);
    *found = (told){.time = (double)price.time * 1e-9,
                    .pace = (double)half_of_time * 1e-9 / (double)second,
                    .labour = all.labour,
                    .of_a_round = (all.labour - first.labour) / (double)second};
    return true;
}

/* What ALL wait, from what RANKS do, half of them and a quarter. */
static double extend(const double waits[], int ranks, int all) {
    const double doubles = 1.7, too_much = 2.5; /* twice, but for chance */
    const double first = waits[1] - waits[2], second = waits[0] - waits[1];
    double wait = waits[0];
    if (second > doubles * first && second < too_much * first)
        return wait + (first + second) / (ranks - half(half(ranks))) * (all - ranks);
    for (; ranks < all; ranks *= 2)
        wait += fmax(first + second, 0) / 2;
    return wait;
}

/* What all wait in the first ROUNDS rounds, or in a further one (a PACE), which hardly depends on
 * how many they are. */
static bool find_wait(const estimate *e, uint64_t rounds, bool pace, double *wait) {
    const int all = e->whole->topo->ranks;
    const double most = e->events / PART,
                 events = e->traffic.events * (double)rounds / (double)e->traffic.rounds;
    double waits[3];
    told found;
    int ranks = all;
    /* Each sends to others in proportion to them at most. */
    while (events * ranks / all * ranks / all > most || (ranks > RANKS_MOST && !e->allocates))
        ranks = half(ranks);
    for (; !ask(e, ranks, rounds, most, &found); ranks = half(ranks))
        if (ranks <= RANKS_LEAST)
            return false;
    const int played = ranks;
    for (int i = 0;; i++) {
        waits[i] = fmax(pace ? found.pace - found.of_a_round : found.time - found.labour, 0);
        if (i == 2 || played == all || pace)
            break;
        ranks = half(ranks);
        if (!ask(e, ranks, rounds, most, &found))
            return false;
    }
    *wait = played == all || pace ? waits[0] : extend(waits, played, all);
    return true;
}

/* --- Times --- */

/* No call ends sooner than that. */
static double bound_of(const coll_traffic *traffic) {
    return fmax(traffic->seconds, traffic->labour);
}

static bool is_far(const estimate *e) {
    return e->whole->topo->sites > 1;
}

/* By as many of all ranks' rounds as can be played: false where these are too few to tell a pace.
 */
static bool find_by_rounds(const estimate *e, double *time) {
    const double all = (double)e->traffic.rounds, rounds = e->events / 2 * all / e->traffic.events;
    told found;
    if (is_far(e) || rounds < PACE_LEAST ||
        !ask(e, e->whole->topo->ranks, (uint64_t)fmin(rounds, all), e->events, &found))
        return false;
    *time = found.time + found.pace * fmax(all - floor(rounds), 0);
    return true;
}

/* By a part of the ranks: all of their rounds, or how they begin, and their pace. In a few rounds
 * hardly a message crosses to other sites, which is what takes long: then all rounds are better. */
static double find_by_ranks(const estimate *e) {
    const uint64_t all = e->traffic.rounds, few = coll_least(BEGIN, all);
    uint64_t begun = is_far(e) ? all : few,
             rounds = coll_least((uint64_t)e->survey.size.window + BEHIND, all);
    double begin = 0, pace = 0;
    if (!find_wait(e, begun, false, &begin)) {
        begun = is_far(e) ? few : all;
        (void)find_wait(e, begun, false, &begin);
    }
    while (begun < all && rounds > 1 && !find_wait(e, rounds, true, &pace))
        rounds /= 2;
    return bound_of(&e->traffic) + begin + pace * (double)(all - begun);
}

/* Looks at all ranks, or at some where they are many: some tell well how long one is busy, and many
 * what they crowd. */
static void look_closely(estimate *e) {
    enum { STEPS = 1 << 12, PLACES = 40000, LEAST = 16 }; /* plans look at all places */
    const int ranks = e->whole->topo->ranks, asked = PLACES / ranks;
    const coll_traffic closer =
        coll_survey_count(&e->survey, UINT64_MAX, asked > LEAST ? asked : LEAST,
                          (int64_t)(STEPS * (e->events / EVENTS)));
    const double labour = e->traffic.labour;
    e->traffic = closer;
    if (!closer.exact)
        e->traffic.labour = labour;
}

static double find_time(estimate *e) {
    coll_price price;
    double time;
    const double at_least = 0.9; /* what some rounds tell may be too much */
    e->traffic = look(&e->survey, UINT64_MAX);
    if (e->enough > 0 && at_least * e->traffic.labour >= e->enough)
        return at_least * e->traffic.labour;
    look_closely(e);
    if (e->enough > 0 && bound_of(&e->traffic) >= e->enough)
        return bound_of(&e->traffic);
    const part whole = {.shape = *e->whole, .room = e->room, .left = e->left};
    if (e->traffic.events <= e->events && play(e, &whole, 0, e->events, &price))
        return (double)price.time * 1e-9;
    return fmax(find_by_rounds(e, &time) ? time : find_by_ranks(e), bound_of(&e->traffic));
}

static bool open(estimate *e, char *memory, size_t bytes) {
    const coll_topo *topo = e->whole->topo;
    const size_t sites = e->whole->latencies ? (size_t)topo->sites : 0;
    e->room = memory;
    e->left = bytes;
    e->places = coll_comm_room_cut(&e->room, &e->left, (size_t)topo->ranks * sizeof *e->places);
    e->numbers = coll_comm_room_cut(&e->room, &e->left, (size_t)topo->nodes * sizeof(int));
    e->latencies = coll_comm_room_cut(&e->room, &e->left, sites * sites * sizeof(double));
    return e->places && e->numbers && e->latencies &&
           coll_survey_open(&e->survey, e->algorithm, e->whole, e->values, NULL, &e->room,
                            &e->left);
}

/* By a few events, in the memory that is there. */
static double find_shortly(estimate *e) {
    const int ranks = e->whole->topo->ranks;
    e->events = fmin(EVENTS * fmax(ranks, RANKS) / RANKS, EVENTS_MOST);
    pthread_mutex_lock(&reserve_lock);
    const double time = open(e, reserve, RESERVE) ? find_time(e) : INFINITY;
    pthread_mutex_unlock(&reserve_lock);
    return time;
}

/* By as many events as the call says. */
static double find_at_length(estimate *e) {
    enum { BYTES = 1 << 20 };
    e->events = e->whole->events;
    e->allocates = true;
    char *memory = NULL;
    for (size_t bytes = BYTES; (memory = malloc(bytes)); bytes *= 2) {
        const double time = open(e, memory, bytes) ? find_time(e) : INFINITY;
        free(memory);
        if (!isinf(time))
            return time;
    }
    return INFINITY;
}

double coll_estimate(const coll_algorithm *algorithm, const coll_shape *shape,
                     const coll_values *values) {
    estimate e = {
        .algorithm = algorithm, .whole = shape, .values = values, .enough = shape->enough};
    if (shape->topo->ranks == 1 || shape->bytes == 0)
        return 0;
    return shape->events ? find_at_length(&e) : find_shortly(&e);
}

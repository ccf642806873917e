#include "config.h"

#include "lib/schedule/quote.h"

#include "lib/base/comm.h"
#include "lib/schedule/price.h"
#include "lib/schedule/traffic.h"

#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* Events of a play: so many up to so many ranks, in proportion above, but at most. */
enum { EVENTS = 5000, RANKS = 150, EVENTS_MOST = 24000 };
/* So few are played as a whole: a part of them would not crowd the uplinks as all do. */
enum { FEW = 32, EVENTS_OF_FEW = 20000 };
/* A call over several sites takes long, and so may its price: what ranks wait for hardly follows
 * from a part. */
enum { EVENTS_OVER_SITES = 10000 };

/* Of more ranks a part is played: for how a call begins, and for the pace at which it goes on.
 * Fewer than the least tell nothing. */
enum { BEGIN_MOST = 512, BEGIN_LEAST = 6, PACE_MOST = 32, PACE_LEAST = 4 };

/* Memory that is there on all ranks alike, since no allocation may fail on one of them alone. */
enum { RESERVE = 9 << 19, LETTERS = 1 << 12, LETTERS_OF_LONG = 1 << 22 };
static alignas(max_align_t) char reserve[RESERVE], reserve_of_survey[RESERVE];
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;

/* How long ranks are busy, so that no call ends sooner, about how many events a play of one of them
 * has, and how many rounds. */
typedef struct outlook {
    int64_t labour, events;
    uint64_t rounds;
    bool in_bursts; /* links pass all of it at once, as they have rested */
} outlook;

/* What has been found of a call of so many ranks and bytes: it is asked for more than once. */
typedef struct finding {
    int ranks;
    size_t bytes;
    bool is_surveyed, is_played;
    outlook outlook;
    bool midway; /* so it was played, or would have been */
    int64_t time;
    int events;
} finding;

enum { FINDINGS = 16 };

typedef struct quote {
    const coll_algorithm *algorithm;
    const coll_shape *whole;
    bool is_long;       /* many events, and as much memory as there is */
    coll_fold fold;     /* of all ranks */
    coll_values values; /* with the segment that the whole has */
    coll_survey survey; /* of all ranks */
    coll_place *places; /* of those that are played */
    int *numbers;       /* for numbering these */
    double *latencies;  /* between their sites */
    char *room;
    size_t left;              /* bytes of it */
    size_t round, rest;       /* bytes of a round of the whole, and what is left over */
    uint64_t rounds, least;   /* of the whole, and of the shortest call that is played */
    uint64_t shorter, longer; /* calls from which the pace follows; 0: from the whole */
    bool midway;              /* a pace knows no time-outs and no rested links: they come once */
    int64_t burst;            /* by which links get ahead by resting, at most */
    uint64_t in_step;         /* rounds that are played of plans in step; 0: all */
    uint64_t found;           /* rounds of the last plan that was played */
    int64_t enough;           /* nobody asks how much longer it takes; 0: all do */
    int budget;               /* events of a play */
    int events;               /* of the last one */
    finding known[FINDINGS];  /* the latest ones */
    int knows;                /* so many, with those that it has forgotten */
} quote;

/* Whether the plans of all ranks stay in step (plan.h); a round is a segment then. */
static bool goes_in_step(const quote *q) {
    return q->algorithm->planner->in_step;
}

/* --- Findings --- */

/* What has been found of a call of RANKS and BYTES: nothing, where it is new. */
static finding *finding_of(quote *q, int ranks, size_t bytes) {
    for (int i = 0; i < FINDINGS && i < q->knows; i++)
        if (q->known[i].ranks == ranks && q->known[i].bytes == bytes)
            return &q->known[i];
    finding *next = &q->known[q->knows++ % FINDINGS];
    *next = (finding){.ranks = ranks, .bytes = bytes};
    return next;
}

/* --- Plays --- */

/* The place of number I of COUNT ranks, one in so many of the line. */
static const coll_place *place_of(const quote *q, int i, int count) {
    const coll_topo *whole = q->whole->topo;
    return &whole->places[q->survey.line->order[(int64_t)i * whole->ranks / count]];
}

/*
 * COUNT ranks as if there were no others. Where the line comes to a rack again and again, they
 * share its uplink.
 */
static coll_topo part_of(const quote *q, int count) {
    const coll_topo *whole = q->whole->topo;
    coll_topo part = *whole;
    part.ranks = count;
    part.places = q->places;
    for (int i = 0; i < count; i++)
        part.places[i] = *place_of(q, i, count);
    coll_topo_number(&part, whole, q->numbers);
    return part;
}

/* The latencies between the sites of PART, by their numbers there; NULL where they aren't known. */
static const double *latencies_of(const quote *q, const coll_topo *part) {
    const double *latencies = q->whole->latencies;
    int *before = q->numbers;
    for (int i = 0; i < part->ranks; i++)
        before[part->places[i].site] = place_of(q, i, part->ranks)->site;
    for (int i = 0; latencies && i < part->sites * part->sites; i++)
        q->latencies[i] =
            latencies[before[i / part->sites] * q->whole->topo->sites + before[i % part->sites]];
    return latencies ? q->latencies : NULL;
}

/* A call of so many RANKS and BYTES; PART is of these ranks, if they aren't all. */
static coll_shape shape_of(const quote *q, int ranks, size_t bytes, coll_topo *part) {
    coll_shape shape = *q->whole;
    shape.bytes = bytes;
    if (ranks < shape.topo->ranks) {
        *part = part_of(q, ranks);
        shape.topo = part;
        shape.latencies = latencies_of(q, part);
        shape.root = shape.root == COLL_NO_ROOT ? COLL_NO_ROOT : 0;
    }
    return shape;
}

static bool is_enough(const quote *q, int64_t time) {
    return q->enough && time >= q->enough;
}

/* False: it takes more events or memory than there are. */
static bool play_anew(quote *q, int ranks, size_t bytes, coll_price *price) {
    coll_topo part;
    const coll_shape shape = shape_of(q, ranks, bytes, &part);
    const coll_price_call call = {.algorithm = q->algorithm,
                                  .planner = q->algorithm->planner,
                                  .shape = &shape,
                                  .values = &q->values,
                                  .whole = q->whole->topo,
                                  .fold = ranks == q->whole->topo->ranks ? &q->fold : NULL,
                                  .midway = q->midway,
                                  .rounds = q->in_step,
                                  .budget = q->budget,
                                  .enough = q->enough,
                                  .letters = q->is_long ? LETTERS_OF_LONG : LETTERS,
                                  .memory = q->is_long ? NULL : q->room,
                                  .bytes = q->is_long ? 0 : q->left};
    return coll_price_play(&call, price) == MPI_SUCCESS && price->time != COLL_PRICE_UNKNOWN;
}

/* The same, unless that has been played. */
static bool play(quote *q, int ranks, size_t bytes, int64_t *time) {
    finding *known = finding_of(q, ranks, bytes);
    if (q->in_step || !known->is_played || (q->midway && !known->midway)) {
        coll_price price;
        const bool good = play_anew(q, ranks, bytes, &price);
        q->events = price.events;
        q->found = price.rounds;
        *time = price.time;
        if (!good || q->in_step)
            return good;
        known->is_played = true;
        known->midway = q->midway || (!price.lossy && !q->burst);
        known->time = price.time;
        known->events = price.events;
    }
    q->events = known->events;
    *time = known->time;
    return true;
}

static size_t bytes_of(const quote *q, uint64_t rounds) {
    return (size_t)rounds * q->round + q->rest;
}

/* --- What ranks are busy with --- */

/* So many ranks tell it: the first, one amid the line and others. */
enum { ASKED = 4 };

/* Told by so many ranks of some rounds. The first may be a root, which has more to do. */
static outlook outlook_of(coll_survey *survey, int asked) {
    enum { ROUNDS = 128, ROUNDS_LEAST = 16, STEPS = 1 << 12 };
    const int rounds = STEPS / (survey->size.steps + 1), ranks = survey->shape->topo->ranks;
    outlook all = {.in_bursts = true};
    for (int i = 0; i < asked; i++) {
        const int64_t position = (int64_t)i * ranks / asked;
        const coll_labour one = coll_survey_ask(survey, (int)position,
                                                rounds > ROUNDS         ? ROUNDS
                                                : rounds < ROUNDS_LEAST ? ROUNDS_LEAST
                                                                        : (uint64_t)rounds);
        const int64_t busy[] = {one.processor, one.out, one.in};
        for (int k = 0; k < 3; k++)
            all.labour = busy[k] > all.labour ? busy[k] : all.labour;
        all.in_bursts = all.in_bursts && one.out == 0 && one.in == 0;
        all.rounds = one.rounds;
        all.events += i == 0 ? one.events : (ranks - 1) * one.events / (asked - 1);
    }
    all.events /= ranks;
    return all;
}

/* Of a call of so many RANKS and BYTES. False: there is no room to find out. */
static bool find_outlook(quote *q, int ranks, size_t bytes, outlook *found) {
    coll_topo part;
    coll_survey survey;
    const coll_shape shape = shape_of(q, ranks, bytes, &part);
    const bool is_whole = ranks == q->whole->topo->ranks && bytes == q->whole->bytes;
    if (!is_whole && !coll_survey_open(&survey, q->algorithm, &shape, &q->values, q->whole->topo,
                                       q->room, q->left))
        return false;
    *found = outlook_of(is_whole ? &q->survey : &survey, ASKED);
    return true;
}

/* The same, unless that has been found. */
static bool outlook_for(quote *q, int ranks, size_t bytes, outlook *found) {
    finding *known = finding_of(q, ranks, bytes);
    if (!known->is_surveyed)
        known->is_surveyed = find_outlook(q, ranks, bytes, &known->outlook);
    *found = known->outlook;
    return known->is_surveyed;
}

/* Whether the whole is more than links pass at once, so that its pace is that of a stream. */
static bool outlasts_bursts(quote *q) {
    outlook found;
    return !outlook_for(q, q->whole->topo->ranks, q->whole->bytes, &found) || !found.in_bursts;
}

/* COLL_PRICE_UNKNOWN: there is no room to find out. */
static int64_t labour_for(quote *q, int ranks, size_t bytes) {
    outlook found;
    return outlook_for(q, ranks, bytes, &found) ? found.labour : COLL_PRICE_UNKNOWN;
}

/* --- How long a call takes --- */

/* What a call of RANKS takes until the shortest one ends. */
static bool begin(quote *q, int ranks, int64_t *time) {
    return play(q, ranks, bytes_of(q, q->least), time);
}

static int64_t labour_to_begin(quote *q, int ranks) {
    return labour_for(q, ranks, bytes_of(q, q->least));
}

/* What the whole takes then. */
static bool go_on(quote *q, int ranks, int64_t *time) {
    int64_t shorter, shortest;
    if (!begin(q, ranks, &shortest) ||
        !play(q, ranks, q->longer ? bytes_of(q, q->longer) : q->whole->bytes, time))
        return false;
    *time -= shortest;
    if (!q->longer)
        return true;
    if (!play(q, ranks, bytes_of(q, q->shorter), &shorter))
        return false;
    *time = coll_price_sum(*time, *time + shortest - shorter, q->longer - q->shorter,
                           q->rounds - q->longer);
    return true;
}

static int64_t labour_to_go_on(quote *q, int ranks) {
    int64_t begun = labour_to_begin(q, ranks), whole = labour_for(q, ranks, q->whole->bytes);
    if (begun == COLL_PRICE_UNKNOWN || whole == COLL_PRICE_UNKNOWN)
        return COLL_PRICE_UNKNOWN;
    return whole > begun ? whole - begun : 0;
}

/* --- Lengths --- */

static coll_plan_size size_of(const quote *q, size_t bytes) {
    coll_shape shape = *q->whole;
    shape.bytes = bytes;
    coll_blocks even;
    const coll_part part = coll_price_part(&shape, &q->values, q->survey.line, true, &even);
    return q->algorithm->planner->size(&part);
}

/* Keeps the segments as long as they are in the whole, where a parameter says how long. */
static void keep_segment(quote *q) {
    const coll_param *params = q->algorithm->params;
    size_t segment = size_of(q, q->whole->bytes).segment;
    for (int i = 0; params[i].name; i++)
        if (strcmp(params[i].name, "segment") == 0)
            q->values.at[i] = segment;
}

/* Whether the segments of the shortest call are as long as SEGMENT, or shorter by SLACK at most. */
static bool has_segments(const quote *q, size_t segment, size_t slack) {
    const size_t own = size_of(q, bytes_of(q, q->least)).segment;
    return own <= segment && segment - own <= slack;
}

/*
 * Looks how short a call may be that has the segments of the whole: as long, or else nearly so,
 * where they are shares of the whole.
 */
static void cut(quote *q) {
    enum { FEWEST = 2, NEARLY = 16 };
    keep_segment(q);
    coll_plan_size size = size_of(q, q->whole->bytes);
    const size_t slack = size.segment / NEARLY;
    q->round = size.segment * (goes_in_step(q) ? 1 : (size_t)size.segments);
    if (q->round == 0)
        q->round = q->whole->bytes;
    q->rounds = q->whole->bytes / q->round;
    q->rest = q->whole->bytes % q->round;
    for (q->least = FEWEST; q->least < q->rounds; q->least *= 2)
        if (has_segments(q, size.segment, goes_in_step(q) ? slack : 0))
            return;
    for (q->least = FEWEST; q->least < q->rounds; q->least += 1 + q->least / 8)
        if (has_segments(q, size.segment, slack))
            return;
    q->least = q->rounds;
}

/* From which calls the pace follows, if a round takes so many EVENTS. */
static void fold(quote *q, double events) {
    enum { FEWEST = 20, FEWEST_IN_STEP = 6 };
    const uint64_t fewest = goes_in_step(q) ? FEWEST_IN_STEP : FEWEST;
    uint64_t most = 2 * (uint64_t)size_of(q, q->whole->bytes).window + q->least,
             rounds = (uint64_t)(q->budget / 2 / (events + 1));
    rounds = rounds > fewest ? rounds : fewest;
    if (rounds >= q->rounds)
        return;
    q->longer = rounds < most ? rounds : most;
    if (q->longer < 2 * q->least)
        q->longer = 2 * q->least;
    q->shorter = q->longer / 2;
    if (q->longer >= q->rounds)
        q->longer = 0;
}

/* --- Ranks --- */

static int half(int ranks) {
    return (ranks + 1) / 2;
}

static size_t bytes_of_latencies(const coll_shape *call) {
    const size_t sites = call->latencies ? (size_t)call->topo->sites : 0;
    return sites * sites * sizeof(double);
}

/* Makes room for a part of the ranks; false: there is none. */
static bool make_room(quote *q) {
    const size_t ranks = q->is_long ? (size_t)q->whole->topo->ranks : BEGIN_MOST;
    q->places = coll_comm_room_cut(&q->room, &q->left, ranks * sizeof *q->places);
    q->numbers =
        coll_comm_room_cut(&q->room, &q->left, (size_t)q->whole->topo->nodes * sizeof(int));
    q->latencies = coll_comm_room_cut(&q->room, &q->left, bytes_of_latencies(q->whole));
    return q->places && q->numbers && q->latencies;
}

/* Looks at all ranks, in BYTES of MEMORY that are its own; false: there is no room. */
static bool open_survey(quote *q, void *memory, size_t bytes) {
    if (!coll_survey_open(&q->survey, q->algorithm, q->whole, &q->values, NULL, memory, bytes))
        return false;
    q->burst = coll_network_burst(&q->survey.network);
    return make_room(q);
}

/* What was told of some ranks, of half of them and of a quarter: how long they wait. */
typedef struct told {
    int ranks[3];
    int64_t time[3];
} told;

/*
 * What follows for ALL ranks, who are so many doublings more. A pace hardly grows as a line unless
 * it is one from the start, nor does what plans IN_STEP wait for: what looks like that is chance.
 */
static int64_t extrapolate(const told *of, int doublings, int all, bool pace, bool in_step) {
    const int *ranks = of->ranks;
    const int64_t time = of->time[0];
    int64_t first = of->time[1] - of->time[2], second = time - of->time[1], linear = second - first;
    int more = ranks[0] - ranks[1], less = ranks[1] - ranks[2];
    if (first + second < time / 8)
        return time; /* no more than chance */
    if (linear < first / 4 || (pace && (in_step || second < time / 3)) || more <= less ||
        (linear > first && (in_step || less == 1))) /* two and three ranks tell no line, either */
        /* the logarithm alone */
        return coll_price_sum(time, first + second, 2, (uint64_t)doublings);
    if (linear > first) /* the line alone */
        return coll_price_sum(time, first + second, (uint64_t)(more + less),
                              (uint64_t)(all - ranks[0]));
    int64_t logarithm = coll_price_sum(first, -linear, (uint64_t)(more - less), (uint64_t)less);
    return coll_price_sum(
        coll_price_sum(time, linear, (uint64_t)(more - less), (uint64_t)(all - ranks[0])),
        logarithm, 1, (uint64_t)doublings);
}

/*
 * A price consists of two spans, what a call takes to begin and to go on by the pace: how long the
 * latter is, how long ranks are busy then, and what is played for it at most.
 */
static bool time_of(quote *q, bool pace, int ranks, int64_t *time) {
    return pace ? go_on(q, ranks, time) : begin(q, ranks, time);
}

static int64_t busy_in(quote *q, bool pace, int ranks) {
    return pace ? labour_to_go_on(q, ranks) : labour_to_begin(q, ranks);
}

static size_t bytes_in(const quote *q, bool pace) {
    return !pace ? bytes_of(q, q->least) : q->longer ? bytes_of(q, q->longer) : q->whole->bytes;
}

/* What RANKS wait in their TIME of a span. */
static int64_t waiting(quote *q, bool pace, int ranks, int64_t time) {
    int64_t busy = busy_in(q, pace, ranks);
    return time > busy ? time - busy : 0;
}

/* Whether a play of so many RANKS takes more events than it may: they are as a rule fewer than was
 * found. */
static bool is_too_long(const quote *q, const outlook *found, int ranks) {
    enum { MISJUDGED = 4 };
    return found->events - found->events / MISJUDGED > q->budget / ranks;
}

static bool is_hopeless(quote *q, bool pace, int ranks) {
    outlook found;
    return outlook_for(q, ranks, bytes_in(q, pace), &found) && is_too_long(q, &found, ranks);
}

/*
 * What a part of RANKS, at most, tells of a span of all, and becomes those that it is told of. What
 * a rank is busy is known however many there are: how long it waits is extrapolated.
 */
static bool ask(quote *q, bool pace, int *ranks, int64_t *time) {
    const int all = q->whole->topo->ranks, least = pace ? PACE_LEAST : BEGIN_LEAST;
    int part = all, doublings = 0;
    for (; part > *ranks || is_hopeless(q, pace, part) || !time_of(q, pace, part, time);
         part = half(part), doublings++)
        if (part <= least)
            return false;
    *ranks = part;
    if (part == all || is_enough(q, *time))
        return true;
    if (q->fold.ranks < all) /* what goes round among parts that are alike depends on how many */
        return false;
    int64_t busy = busy_in(q, pace, all);
    if (busy == COLL_PRICE_UNKNOWN)
        return false;
    int events = q->events;
    told parts = {.ranks = {part, half(part), half(half(part))}, .time = {*time}};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && !time_of(q, pace, parts.ranks[i], &parts.time[i]))
            return false;
        parts.time[i] = waiting(q, pace, parts.ranks[i], parts.time[i]);
    }
    q->events = events;
    int64_t waits = extrapolate(&parts, doublings, all, pace, goes_in_step(q));
    *time = coll_price_sum(busy, waits, 1, 1);
    enum { PATIENCE = 1000 }; /* who waits longer than so often its own work has been misjudged */
    return !q->is_long || waits / PATIENCE <= busy;
}

/* Whether some ranks' parts of the data are empty, and with them many of a plan's rounds. */
static bool has_empty_parts(const coll_shape *call) {
    const size_t element = call->element ? call->element : 1;
    return call->sides.data == COLL_SIDE_ONE && call->sides.input != COLL_SIDE_BLOCKS &&
           call->bytes / element < (size_t)call->topo->ranks;
}

/* So many RANKS have parts of the data, or blocks, as long as those of all. */
static size_t bytes_among(const quote *q, int ranks) {
    const coll_shape *call = q->whole;
    return call->sides.data == COLL_SIDE_ONE
               ? (size_t)coll_price_sum(0, (int64_t)call->bytes, (uint64_t)call->topo->ranks,
                                        (uint64_t)ranks)
               : call->bytes;
}

/* Whether all ranks' rounds that are played in step take more events than they may. */
static bool is_hopeless_in_step(quote *q) {
    outlook found;
    const int ranks = q->whole->topo->ranks;
    if (!outlook_for(q, ranks, q->whole->bytes, &found))
        return false;
    if (found.rounds > q->in_step)
        found.events = coll_price_sum(0, found.events, found.rounds, q->in_step);
    return is_too_long(q, &found, q->fold.ranks);
}

/* Some rounds of plans in step, of all ranks or, where these are too many, of *RANKS. */
static bool play_in_step(quote *q, int *ranks, int64_t *time) {
    const int least = q->algorithm->planner->steady ? PACE_MOST : 256;
    *ranks = q->whole->topo->ranks;
    bool good = !is_hopeless_in_step(q) && play(q, *ranks, q->whole->bytes, time);
    while (!good && half(*ranks) >= least) {
        *ranks = half(*ranks);
        good =
            (q->is_long || *ranks <= BEGIN_MOST) && play(q, *ranks, bytes_among(q, *ranks), time);
    }
    return good;
}

/*
 * Plans in step: some of their rounds, and half as many, tell the pace of all. What goes round
 * among the ranks depends on how many they are: a part of them tells the pace alone, and only where
 * there are about as many rounds as ranks. COLL_PRICE_UNKNOWN: nothing tells it so.
 */
static int64_t find_time_in_step(quote *q) {
    const uint64_t all = (uint64_t)q->whole->topo->ranks;
    int ranks;
    int64_t longer, shorter;
    if (!play_in_step(q, &ranks, &longer))
        return COLL_PRICE_UNKNOWN;
    if ((uint64_t)ranks < all && q->found < (uint64_t)ranks / 2)
        return COLL_PRICE_UNKNOWN;
    if (q->found <= q->in_step || is_enough(q, longer))
        return longer;
    const uint64_t played = q->in_step, found = q->found * all / (uint64_t)ranks;
    const int64_t begun = longer;
    q->midway = q->burst > 0 && outlasts_bursts(q);
    bool good = !has_empty_parts(q->whole) &&
                (!q->midway || play(q, ranks, bytes_among(q, ranks), &longer));
    q->in_step /= 2;
    good = good && play(q, ranks, bytes_among(q, ranks), &shorter);
    q->midway = false;
    return good ? coll_price_sum(begun, longer - shorter, played - q->in_step, found - played)
                : COLL_PRICE_UNKNOWN;
}

/* The same with the events that this may take. */
static int64_t find_pace_in_step(quote *q) {
    enum { LEAST = 6, STEADY = 8, MORE = 2 }; /* rounds differ */
    outlook found;
    outlook_for(q, q->whole->topo->ranks, q->whole->bytes, &found);
    const double of_a_round = (double)(found.events + 1) / (double)(found.rounds + 1);
    uint64_t rounds = (uint64_t)(q->budget / (of_a_round * q->fold.ranks));
    q->in_step = rounds > LEAST ? rounds : LEAST;
    if (q->algorithm->planner->steady)
        q->in_step = STEADY;
    q->budget *= MORE;
    int64_t time = find_time_in_step(q);
    q->budget /= MORE;
    q->in_step = 0;
    return time;
}

/* Whether one that plans for all ranks may choose among their rounds: a few miss how long it is to
 * other sites and back, and tell little where a block's differ. */
static bool is_in_step(const quote *q) {
    const coll_planner *planner = q->algorithm->planner;
    const coll_shape *whole = q->whole;
    coll_blocks even;
    const coll_part part = coll_price_part(whole, &q->values, q->survey.line, true, &even);
    if (whole->topo->sites > 1 && !q->is_long)
        return false;
    return planner->in_step || (planner->stays_in_step && planner->stays_in_step(&part) &&
                                (q->is_long || size_of(q, whole->bytes).segment >= whole->bytes));
}

/* Whether the first rounds tell the pace of all: not where they hardly meet what links are shared,
 * where ranks are few, or none of what crosses to other sites. */
static bool is_steady(const quote *q) {
    const coll_topo *topo = q->whole->topo;
    return q->algorithm->planner->steady && !q->is_long && topo->ranks > FEW && topo->sites == 1 &&
           !has_empty_parts(q->whole);
}

/* How many ranks, all or a part of them, a play of BYTES may have: MOST where it is short. */
static int ranks_within(quote *q, size_t bytes, int most) {
    int ranks = q->whole->topo->ranks;
    if (!q->is_long)
        return most;
    for (; ranks > most; ranks = half(ranks)) {
        outlook found;
        const int played = ranks == q->whole->topo->ranks ? q->fold.ranks : ranks;
        if (outlook_for(q, ranks, bytes, &found) && found.events <= q->budget / played)
            break;
    }
    return ranks;
}

/* All ranks, or those who stand for all, where that isn't too much; false: it is. */
static bool play_all(quote *q, const outlook *found, int64_t *time) {
    q->budget *= 2; /* then nothing else is played */
    bool good = !is_too_long(q, found, q->fold.ranks) &&
                play(q, q->whole->topo->ranks, q->whole->bytes, time);
    q->budget /= 2;
    return good;
}

/* By some of the rounds, of a shorter call or of a part of the ranks. */
static int64_t find_time_by_parts(quote *q) {
    int64_t time, rest;
    if (is_in_step(q) || is_steady(q)) {
        time = find_pace_in_step(q);
        if (time != COLL_PRICE_UNKNOWN || has_empty_parts(q->whole))
            return time;
    }
    if (!q->is_long)
        q->fold.ranks = q->whole->topo->ranks;
    cut(q);
    int ranks = ranks_within(q, bytes_of(q, q->least), BEGIN_MOST);
    if (!ask(q, false, &ranks, &time))
        return COLL_PRICE_UNKNOWN;
    if (q->least == q->rounds || is_enough(q, time))
        return time;
    double events = (double)q->events / (double)q->least;
    if (ranks == q->whole->topo->ranks && events * (double)q->rounds < q->budget &&
        play(q, ranks, q->whole->bytes, &time))
        return time;
    enum { SPAN = 40 }; /* rounds that tell a pace */
    int pace = ranks_within(q, bytes_of(q, SPAN < q->rounds ? SPAN : q->rounds), PACE_MOST);
    q->midway = outlasts_bursts(q);
    if (!goes_in_step(q))
        q->budget *= 2; /* so many events are an estimate */
    fold(q, events / ranks * (ranks < pace ? ranks : pace));
    return ask(q, true, &pace, &rest) ? coll_price_sum(time, rest, 1, 1) : COLL_PRICE_UNKNOWN;
}

/* What follows from some rounds may be too much. */
static int64_t least_of(outlook found) {
    enum { MISJUDGED = 16 };
    return found.labour - found.labour / MISJUDGED;
}

/* By a few events, where ranks are many: but as no call takes less than a rank or the busiest link
 * is busy, which those that are left out of plays would have crowded. */
static int64_t find_time_of_many(quote *q) {
    enum { ROUNDS = 1 << 11 };
    coll_traffic traffic;
    int64_t time, least = least_of(outlook_of(&q->survey, 2));
    if (is_enough(q, least))
        return least;
    outlook found;
    outlook_for(q, q->whole->topo->ranks, q->whole->bytes, &found);
    least = least_of(found);
    if (is_enough(q, least))
        return least;
    q->fold = coll_survey_fold(&q->survey);
    if (q->fold.ranks < q->whole->topo->ranks && play_all(q, &found, &time))
        return time;
    if (coll_survey_count(&q->survey, &q->fold, ROUNDS, &traffic) &&
        traffic.seconds * 1e9 > (double)least)
        least = coll_price_sum(0, (int64_t)(traffic.seconds * 1e6), 1, 1000);
    if (is_enough(q, least))
        return least;
    if (!q->algorithm->planner->steady && !goes_in_step(q))
        q->fold.ranks = q->whole->topo->ranks;
    time = find_time_by_parts(q);
    return time == COLL_PRICE_UNKNOWN || time > least ? time : least;
}

/* By a few events, in the memory that is there. */
static int64_t find_shortly(quote *q) {
    const int ranks = q->whole->topo->ranks;
    int64_t events = ranks > RANKS  ? (int64_t)EVENTS * ranks / RANKS
                     : ranks <= FEW ? EVENTS_OF_FEW
                                    : EVENTS;
    if (q->whole->topo->sites > 1 && events < EVENTS_OVER_SITES)
        events = EVENTS_OVER_SITES;
    q->budget = events < EVENTS_MOST ? (int)events : EVENTS_MOST;
    q->room = reserve;
    q->left = RESERVE;
    if (!open_survey(q, reserve_of_survey, RESERVE))
        return COLL_PRICE_UNKNOWN;
    return ranks > FEW ? find_time_of_many(q) : find_time_by_parts(q);
}

/* By as many events as the call says, in memory for two surveys, of all ranks and of a part. */
static int64_t find_at_length(quote *q) {
    enum { BYTES = 1 << 20 };
    const size_t ranks = (size_t)q->whole->topo->ranks,
                 parts = ranks * (sizeof(int) + sizeof(coll_place)) + bytes_of_latencies(q->whole);
    int64_t time = COLL_PRICE_UNKNOWN;
    bool opened = false;
    q->is_long = true;
    q->budget = q->whole->events;
    for (size_t bytes = BYTES; !opened; bytes *= 2) {
        char *memory = malloc(bytes + (q->left = parts + bytes));
        if (!memory)
            break;
        q->room = memory + bytes;
        opened = open_survey(q, memory, bytes);
        if (opened) {
            outlook found;
            outlook_for(q, q->whole->topo->ranks, q->whole->bytes, &found);
            q->fold = coll_survey_fold(&q->survey);
            if (!play_all(q, &found, &time))
                time = find_time_by_parts(q);
        }
        free(memory);
    }
    return time;
}

static int64_t nanoseconds(double seconds) {
    return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1e9) + 1 : 0;
}

double coll_quote(const coll_algorithm *algorithm, const coll_shape *shape,
                  const coll_values *values) {
    int ranks = shape->topo->ranks;
    if (ranks == 1 || shape->bytes == 0)
        return 0;
    quote q = {.algorithm = algorithm,
               .whole = shape,
               .values = *values,
               .fold = {.ranks = ranks},
               .enough = nanoseconds(shape->enough)};
    quote longer = q;
    int64_t time = shape->events ? find_at_length(&longer) : COLL_PRICE_UNKNOWN;
    if (time == COLL_PRICE_UNKNOWN) {
        pthread_mutex_lock(&reserve_lock);
        time = find_shortly(&q);
        pthread_mutex_unlock(&reserve_lock);
    }
    return time == COLL_PRICE_UNKNOWN ? INFINITY : (double)time * 1e-9;
}

#include "config.h"

#include "lib/schedule/quote.h"

#include "lib/schedule/rehearsal.h"
#include "lib/schedule/trend.h"

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
/* On one of several networks (lib/cost/networks.h) a play has so many times fewer events. */
enum { FEWER = 3 };

/* Of more ranks a part is played: for how a call begins, and for the pace at which it goes on.
 * Fewer than the least tell nothing. */
enum { BEGIN_MOST = 512, BEGIN_LEAST = 6, PACE_MOST = 32, PACE_LEAST = 4 };

/* Memory that is there on all ranks alike, since no allocation may fail on one of them alone. */
enum { RESERVE = 9 << 19 };
static alignas(max_align_t) char reserve[2 * RESERVE];
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * How a call is cut: it consists of rounds, of which a shorter one has fewer. The pace of the whole
 * is that from a shorter to a longer call.
 */
typedef struct cut {
    size_t round, rest;       /* bytes of a round, and what is left over */
    uint64_t rounds, least;   /* of the whole, and of the shortest call that is played */
    uint64_t shorter, longer; /* calls from which the pace follows; 0: from the whole */
    bool midway;              /* a pace knows no time-outs and no rested links: they come once */
} cut;

typedef struct quote {
    coll_rehearsal plays;
    cut cut;
} quote;

static const coll_planner *planner_of(const quote *q) {
    return q->plays.algorithm->planner;
}

static const coll_shape *whole_of(const quote *q) {
    return q->plays.whole;
}

static int ranks_of(const quote *q) {
    return whole_of(q)->topo->ranks;
}

/* Whether the plans of all ranks stay in step (plan.h); a round is a segment then. */
static bool goes_in_step(const quote *q) {
    return planner_of(q)->in_step;
}

static bool is_enough(const quote *q, int64_t time) {
    return q->plays.enough && time >= q->plays.enough;
}

/* Of the whole. False: there is no room to find out. */
static bool look_at_all(quote *q, coll_outlook *outlook) {
    return coll_rehearsal_look(&q->plays, ranks_of(q), whole_of(q)->bytes, outlook);
}

/* Whether the whole is more than links pass at once, so that its pace is that of a stream. */
static bool outlasts_bursts(quote *q) {
    coll_outlook all;
    return !look_at_all(q, &all) || !all.in_bursts;
}

/* --- Lengths --- */

static coll_plan_size size_of(const quote *q, size_t bytes) {
    coll_shape shape = *whole_of(q);
    shape.bytes = bytes;
    coll_blocks even;
    const coll_part part =
        coll_price_part(&shape, &q->plays.values, q->plays.survey.line, true, &even);
    return planner_of(q)->size(&part);
}

static size_t bytes_of(const cut *c, uint64_t rounds) {
    return (size_t)rounds * c->round + c->rest;
}

/* Keeps the segments as long as they are in the whole, where a parameter says how long. */
static void keep_segment(quote *q) {
    const coll_param *params = q->plays.algorithm->params;
    size_t segment = size_of(q, whole_of(q)->bytes).segment;
    for (int i = 0; params[i].name; i++)
        if (strcmp(params[i].name, "segment") == 0)
            q->plays.values.at[i] = segment;
}

/* Whether the segments of the shortest call are as long as SEGMENT, or shorter by SLACK at most. */
static bool has_segments(const quote *q, size_t segment, size_t slack) {
    const size_t own = size_of(q, bytes_of(&q->cut, q->cut.least)).segment;
    return own <= segment && segment - own <= slack;
}

/*
 * Looks how short a call may be that has the segments of the whole: as long, or else nearly so,
 * where they are shares of the whole.
 */
static void find_shortest(quote *q) {
    enum { FEWEST = 2, NEARLY = 16 };
    keep_segment(q);
    cut *c = &q->cut;
    const size_t bytes = whole_of(q)->bytes;
    coll_plan_size size = size_of(q, bytes);
    const size_t slack = size.segment / NEARLY;
    c->round = size.segment * (goes_in_step(q) ? 1 : (size_t)size.segments);
    if (c->round == 0)
        c->round = bytes;
    c->rounds = bytes / c->round;
    c->rest = bytes % c->round;
    for (c->least = FEWEST; c->least < c->rounds; c->least *= 2)
        if (has_segments(q, size.segment, goes_in_step(q) ? slack : 0))
            return;
    for (c->least = FEWEST; c->least < c->rounds; c->least += 1 + c->least / 8)
        if (has_segments(q, size.segment, slack))
            return;
    c->least = c->rounds;
}

/* From which calls the pace follows, if a round takes so many EVENTS. */
static void find_paces(quote *q, double events) {
    enum { FEWEST = 20, FEWEST_IN_STEP = 6 };
    cut *c = &q->cut;
    const uint64_t fewest = goes_in_step(q) ? FEWEST_IN_STEP : FEWEST;
    uint64_t most = 2 * (uint64_t)size_of(q, whole_of(q)->bytes).window + c->least,
             rounds = (uint64_t)(q->plays.budget / 2 / (events + 1));
    rounds = rounds > fewest ? rounds : fewest;
    if (rounds >= c->rounds)
        return;
    c->longer = rounds < most ? rounds : most;
    if (c->longer < 2 * c->least)
        c->longer = 2 * c->least;
    c->shorter = c->longer / 2;
    if (c->longer >= c->rounds)
        c->longer = 0;
}

/* --- Spans: what a call takes to begin, until the shortest one ends, and then to go on --- */

typedef enum span { BEGIN, PACE } span;

/* The longest call that is played for it. */
static size_t bytes_in(const quote *q, span which) {
    const cut *c = &q->cut;
    return which == BEGIN ? bytes_of(c, c->least)
           : c->longer    ? bytes_of(c, c->longer)
                          : whole_of(q)->bytes;
}

static bool play(quote *q, int ranks, size_t bytes, coll_price *price) {
    const coll_excerpt excerpt = {.ranks = ranks, .bytes = bytes, .midway = q->cut.midway};
    return coll_rehearsal_play(&q->plays, &excerpt, price);
}

/* What RANKS take for it; *EVENTS, unless NULL: of the longest play. */
static bool time_of(quote *q, span which, int ranks, int64_t *time, int *events) {
    const cut *c = &q->cut;
    coll_price shortest, shorter, longer;
    if (!play(q, ranks, bytes_in(q, BEGIN), &shortest))
        return false;
    longer = shortest;
    if (which == PACE && !play(q, ranks, bytes_in(q, PACE), &longer))
        return false;
    if (events)
        *events = longer.events;
    *time = which == PACE ? longer.time - shortest.time : shortest.time;
    if (which == BEGIN || !c->longer)
        return true;
    if (!play(q, ranks, bytes_of(c, c->shorter), &shorter))
        return false;
    *time = coll_price_sum(*time, longer.time - shorter.time, c->longer - c->shorter,
                           c->rounds - c->longer);
    return true;
}

/* For how long RANKS are busy then; COLL_PRICE_UNKNOWN: there is no room to find out. */
static int64_t labour_of(quote *q, span which, int ranks) {
    coll_outlook begun, whole;
    if (!coll_rehearsal_look(&q->plays, ranks, bytes_in(q, BEGIN), &begun))
        return COLL_PRICE_UNKNOWN;
    if (which == BEGIN)
        return begun.labour;
    if (!coll_rehearsal_look(&q->plays, ranks, whole_of(q)->bytes, &whole))
        return COLL_PRICE_UNKNOWN;
    return whole.labour > begun.labour ? whole.labour - begun.labour : 0;
}

/* What RANKS wait in their TIME of it. */
static int64_t wait_of(quote *q, span which, int ranks, int64_t time) {
    const int64_t busy = labour_of(q, which, ranks);
    return time > busy ? time - busy : 0;
}

static bool is_hopeless(quote *q, span which, int ranks) {
    coll_outlook found;
    return coll_rehearsal_look(&q->plays, ranks, bytes_in(q, which), &found) &&
           coll_rehearsal_is_hopeless(&q->plays, &found, ranks);
}

/* --- Ranks --- */

/* What a part of the ranks told. */
typedef struct told {
    int ranks;
    int64_t time; /* that all take */
    int events;   /* of its longest play */
} told;

/*
 * What a part of MOST ranks tells of a span of all. What a rank is busy is known however many there
 * are: how long it waits is extrapolated.
 */
static bool ask(quote *q, span which, int most, told *found) {
    const int all = ranks_of(q), least = which == PACE ? PACE_LEAST : BEGIN_LEAST;
    int part = all;
    for (; part > most || is_hopeless(q, which, part) ||
           !time_of(q, which, part, &found->time, &found->events);
         part = coll_trend_half(part))
        if (part <= least)
            return false;
    found->ranks = part;
    if (part == all || is_enough(q, found->time))
        return true;
    if (q->plays.fold.ranks <
        all) /* what goes round among parts that are alike depends on how many */
        return false;
    const int64_t busy = labour_of(q, which, all);
    if (busy == COLL_PRICE_UNKNOWN)
        return false;
    coll_trend trend = {.ranks = part, .waits = {wait_of(q, which, part, found->time)}};
    for (int i = 1; i < COLL_TREND_POINTS; i++) {
        int64_t time;
        part = coll_trend_half(part);
        if (!time_of(q, which, part, &time, NULL))
            return false;
        trend.waits[i] = wait_of(q, which, part, time);
    }
    const int64_t waits = coll_trend_at(&trend, all, which == PACE, goes_in_step(q));
    found->time = coll_price_sum(busy, waits, 1, 1);
    enum { PATIENCE = 1000 }; /* who waits longer than so often its own work has been misjudged */
    return !q->plays.is_long || waits / PATIENCE <= busy;
}

/* How many ranks, all or a part of them, a play of BYTES may have: MOST where it is short. */
static int ranks_within(quote *q, size_t bytes, int most) {
    int ranks = ranks_of(q);
    if (!q->plays.is_long)
        return most;
    for (; ranks > most; ranks = coll_trend_half(ranks)) {
        coll_outlook found;
        const int played = ranks == ranks_of(q) ? q->plays.fold.ranks : ranks;
        if (coll_rehearsal_look(&q->plays, ranks, bytes, &found) &&
            found.events <= q->plays.budget / played)
            break;
    }
    return ranks;
}

/* --- Plans in step --- */

/* Whether some ranks' parts of the data are empty, and with them many of a plan's rounds. */
static bool has_empty_parts(const coll_shape *call) {
    const size_t element = call->element ? call->element : 1;
    return call->sides.data == COLL_SIDE_ONE && call->sides.input != COLL_SIDE_BLOCKS &&
           call->bytes / element < (size_t)call->topo->ranks;
}

/* So many RANKS have parts of the data, or blocks, as long as those of all. */
static size_t bytes_among(const quote *q, int ranks) {
    const coll_shape *call = whole_of(q);
    return call->sides.data == COLL_SIDE_ONE
               ? (size_t)coll_price_sum(0, (int64_t)call->bytes, (uint64_t)call->topo->ranks,
                                        (uint64_t)ranks)
               : call->bytes;
}

/* Whether so many ROUNDS of all ranks' plans take more events than they may. */
static bool are_hopeless(quote *q, uint64_t rounds) {
    coll_outlook found;
    if (!look_at_all(q, &found))
        return false;
    if (found.rounds > rounds)
        found.events = coll_price_sum(0, found.events, found.rounds, rounds);
    return coll_rehearsal_is_hopeless(&q->plays, &found, q->plays.fold.ranks);
}

/* Whether so many RANKS, and so a part of them with its share of the bytes, have rounds enough for
 * a part to tell the pace: about as many as they are. */
static bool parts_tell(uint64_t rounds, uint64_t ranks) {
    return rounds >= ranks / 2;
}

/* Some rounds of all ranks or, where these are too many and it tells anything, of a part of them
 * that is written there. */
static bool play_rounds(quote *q, coll_excerpt *some, coll_price *price) {
    const int least = planner_of(q)->steady ? PACE_MOST : 256;
    bool good = !are_hopeless(q, some->rounds) && coll_rehearsal_play(&q->plays, some, price);
    coll_outlook all;
    if (!good && look_at_all(q, &all) && !parts_tell(all.rounds, (uint64_t)ranks_of(q)))
        return false;
    while (!good && coll_trend_half(some->ranks) >= least) {
        some->ranks = coll_trend_half(some->ranks);
        some->bytes = bytes_among(q, some->ranks);
        good = (q->plays.is_long || some->ranks <= BEGIN_MOST) &&
               coll_rehearsal_play(&q->plays, some, price);
    }
    return good;
}

/*
 * Plans in step: some of their ROUNDS, and half as many, tell the pace of all. What goes round
 * among the ranks depends on how many they are: a part of them tells the pace alone, and only where
 * there are about as many rounds as ranks. COLL_PRICE_UNKNOWN: nothing tells it so.
 */
static int64_t extend_rounds(quote *q, uint64_t rounds) {
    const uint64_t all = (uint64_t)ranks_of(q);
    coll_excerpt some = {.ranks = (int)all, .bytes = whole_of(q)->bytes, .rounds = rounds};
    coll_price begun, longer, shorter;
    if (!play_rounds(q, &some, &begun))
        return COLL_PRICE_UNKNOWN;
    const uint64_t ranks = (uint64_t)some.ranks;
    if (ranks < all && !parts_tell(begun.rounds, ranks))
        return COLL_PRICE_UNKNOWN;
    if (begun.rounds <= rounds || is_enough(q, begun.time))
        return begun.time;
    if (has_empty_parts(whole_of(q)))
        return COLL_PRICE_UNKNOWN;
    longer = begun;
    some.midway = q->plays.burst > 0 && outlasts_bursts(q);
    if (some.midway && !coll_rehearsal_play(&q->plays, &some, &longer))
        return COLL_PRICE_UNKNOWN;
    some.rounds = rounds / 2;
    if (!coll_rehearsal_play(&q->plays, &some, &shorter))
        return COLL_PRICE_UNKNOWN;
    return coll_price_sum(begun.time, longer.time - shorter.time, rounds - some.rounds,
                          begun.rounds * all / ranks - rounds);
}

/* The same with as many rounds as the events that this may take allow. */
static int64_t find_time_in_step(quote *q) {
    enum { LEAST = 6, STEADY = 8, MORE = 2 }; /* rounds differ */
    coll_outlook found;
    look_at_all(q, &found);
    const double of_a_round = (double)(found.events + 1) / (double)(found.rounds + 1);
    uint64_t rounds = (uint64_t)(q->plays.budget / (of_a_round * q->plays.fold.ranks));
    rounds = rounds > LEAST ? rounds : LEAST;
    if (planner_of(q)->steady && !q->plays.is_long)
        rounds = STEADY;
    else if (planner_of(q)->steady && rounds / 2 < (uint64_t)size_of(q, whole_of(q)->bytes).window)
        return COLL_PRICE_UNKNOWN; /* in so few they don't wait for each other as later on */
    q->plays.budget *= MORE;
    const int64_t time = extend_rounds(q, rounds);
    q->plays.budget /= MORE;
    return time;
}

/* Whether one that plans for all ranks may choose among their rounds: a few miss how long it is to
 * other sites and back, and tell little where a block's differ. */
static bool is_in_step(const quote *q) {
    const coll_planner *planner = planner_of(q);
    const coll_shape *whole = whole_of(q);
    coll_blocks even;
    const coll_part part =
        coll_price_part(whole, &q->plays.values, q->plays.survey.line, true, &even);
    if (whole->topo->sites > 1 && !q->plays.is_long)
        return false;
    return planner->in_step ||
           (planner->stays_in_step && planner->stays_in_step(&part) &&
            (q->plays.is_long || size_of(q, whole->bytes).segment >= whole->bytes));
}

/* Whether the first rounds tell the pace of all: not where they hardly meet what links are shared,
 * where ranks are few, or, as they are in a short play, none of what crosses to other sites. */
static bool is_steady(const quote *q) {
    const coll_topo *topo = whole_of(q)->topo;
    return planner_of(q)->steady && topo->ranks > FEW && (q->plays.is_long || topo->sites == 1) &&
           !has_empty_parts(whole_of(q));
}

/* --- Prices --- */

/* All ranks, or those who stand for all, where that isn't too much; false: it is. */
static bool play_all(quote *q, const coll_outlook *found, int64_t *time) {
    coll_price price;
    q->plays.budget *= 2; /* then nothing else is played */
    const bool good = !coll_rehearsal_is_hopeless(&q->plays, found, q->plays.fold.ranks) &&
                      play(q, ranks_of(q), whole_of(q)->bytes, &price);
    q->plays.budget /= 2;
    if (good)
        *time = price.time;
    return good;
}

/* By a shorter call, and a part of the ranks. */
static int64_t find_time_by_parts(quote *q) {
    enum { SPAN = 40 }; /* rounds that tell a pace */
    cut *c = &q->cut;
    told begun, rest;
    coll_price price;
    int64_t time;
    if (!q->plays.is_long)
        q->plays.fold.ranks = ranks_of(q);
    find_shortest(q);
    coll_outlook found;
    if (c->least == c->rounds && !q->plays.is_long && look_at_all(q, &found) &&
        play_all(q, &found, &time))
        return time; /* parts of a half, a quarter and an eighth of the ranks would cost as much */
    if (!ask(q, BEGIN, ranks_within(q, bytes_in(q, BEGIN), BEGIN_MOST), &begun))
        return COLL_PRICE_UNKNOWN;
    if (c->least == c->rounds || is_enough(q, begun.time))
        return begun.time;
    const double events = (double)begun.events / (double)c->least;
    if (begun.ranks == ranks_of(q) && events * (double)c->rounds < q->plays.budget &&
        play(q, begun.ranks, whole_of(q)->bytes, &price))
        return price.time;
    const int pace = ranks_within(q, bytes_of(c, SPAN < c->rounds ? SPAN : c->rounds), PACE_MOST);
    c->midway = outlasts_bursts(q);
    if (!goes_in_step(q))
        q->plays.budget *= 2; /* so many events are an estimate */
    find_paces(q, events / begun.ranks * (begun.ranks < pace ? begun.ranks : pace));
    return ask(q, PACE, pace, &rest) ? coll_price_sum(begun.time, rest.time, 1, 1)
                                     : COLL_PRICE_UNKNOWN;
}

/* By less than all of it. */
static int64_t find_time_by_less(quote *q) {
    if (is_in_step(q) || is_steady(q)) {
        const int64_t time = find_time_in_step(q);
        if (time != COLL_PRICE_UNKNOWN || has_empty_parts(whole_of(q)) ||
            (planner_of(q)->steady && q->plays.is_long))
            return time;
    }
    return find_time_by_parts(q);
}

/* What follows from some rounds may be too much. */
static int64_t least_of(coll_outlook found) {
    enum { MISJUDGED = 16 };
    return found.labour - found.labour / MISJUDGED;
}

/* By a few events, where ranks are many: but as no call takes less than a rank or the busiest link
 * is busy, which those that are left out of plays would have crowded. */
static int64_t find_time_of_many(quote *q) {
    enum { ROUNDS = 1 << 11 };
    coll_traffic traffic;
    int64_t time, least = least_of(coll_rehearsal_ask(&q->plays, 2));
    if (is_enough(q, least))
        return least;
    coll_outlook found;
    look_at_all(q, &found);
    least = least_of(found);
    if (is_enough(q, least))
        return least;
    coll_survey *survey = &q->plays.survey;
    (void)coll_survey_fold(survey, &q->plays.fold); /* without the room nothing is folded */
    if (q->plays.fold.ranks < ranks_of(q) && play_all(q, &found, &time))
        return time;
    if (coll_survey_count(survey, &q->plays.fold, ROUNDS, &traffic) &&
        traffic.seconds * 1e9 > (double)least)
        least = coll_price_sum(0, (int64_t)(traffic.seconds * 1e6), 1, 1000);
    if (is_enough(q, least))
        return least;
    if (!planner_of(q)->steady && !goes_in_step(q))
        q->plays.fold.ranks = ranks_of(q);
    time = find_time_by_less(q);
    return time == COLL_PRICE_UNKNOWN || time > least ? time : least;
}

/* By a few events, in the memory that is there. */
static int64_t find_shortly(quote *q) {
    const int ranks = ranks_of(q);
    int64_t events = ranks > RANKS  ? (int64_t)EVENTS * ranks / RANKS
                     : ranks <= FEW ? EVENTS_OF_FEW
                                    : EVENTS;
    if (whole_of(q)->topo->sites > 1 && events < EVENTS_OVER_SITES)
        events = EVENTS_OVER_SITES;
    if (whole_of(q)->network)
        events /= FEWER;
    q->plays.budget = events < EVENTS_MOST ? (int)events : EVENTS_MOST;
    q->plays.most = BEGIN_MOST;
    if (!coll_rehearsal_open(&q->plays, reserve, RESERVE, RESERVE))
        return COLL_PRICE_UNKNOWN;
    return ranks > FEW ? find_time_of_many(q) : find_time_by_less(q);
}

/* By as many events as the call says, in memory for two surveys, of all ranks and of a part. */
static int64_t find_at_length(quote *q) {
    enum { BYTES = 1 << 20 };
    int64_t time = COLL_PRICE_UNKNOWN;
    bool opened = false;
    q->plays.is_long = true;
    q->plays.budget = whole_of(q)->events;
    q->plays.most = ranks_of(q);
    const size_t parts = coll_rehearsal_bytes(whole_of(q), q->plays.most);
    for (size_t bytes = BYTES; !opened; bytes *= 2) {
        char *memory = malloc(2 * bytes + parts);
        if (!memory)
            break;
        opened = coll_rehearsal_open(&q->plays, memory, bytes, bytes + parts) &&
                 coll_survey_fold(&q->plays.survey, &q->plays.fold);
        if (opened) {
            coll_outlook found;
            look_at_all(q, &found);
            if (!play_all(q, &found, &time))
                time = find_time_by_less(q);
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
    if (shape->topo->ranks == 1 || shape->bytes == 0)
        return 0;
    quote q = {.plays = {.algorithm = algorithm,
                         .whole = shape,
                         .values = *values,
                         .enough = nanoseconds(shape->enough)}};
    quote longer = q;
    int64_t time = shape->events ? find_at_length(&longer) : COLL_PRICE_UNKNOWN;
    if (time == COLL_PRICE_UNKNOWN) {
        pthread_mutex_lock(&reserve_lock);
        time = find_shortly(&q);
        pthread_mutex_unlock(&reserve_lock);
    }
    return time == COLL_PRICE_UNKNOWN ? INFINITY : (double)time * 1e-9;
}

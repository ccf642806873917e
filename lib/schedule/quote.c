#include "config.h"

#include "lib/schedule/quote.h"

#include "lib/base/comm.h"
#include "lib/schedule/labour.h"
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

/* Of more ranks a part is played: for how a call begins, and for the pace at which it goes on.
 * Fewer than the least tell nothing. */
enum { BEGIN_MOST = 512, BEGIN_LEAST = 6, PACE_MOST = 32, PACE_LEAST = 4 };

/* Memory that is there on all ranks alike, since no allocation may fail on one of them alone. */
enum { RESERVE = 4 << 20, LETTERS = 1 << 12, LETTERS_OF_LONG = 1 << 22 };
static alignas(max_align_t) char reserve[RESERVE];
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct quote {
    const coll_algorithm *algorithm;
    const coll_shape *whole;
    bool is_long;       /* many events, and as much memory as there is */
    coll_fold fold;     /* of all ranks */
    coll_values values; /* with the segment that the whole has */
    coll_line *line;    /* of all ranks */
    coll_place *places; /* of those that are played */
    int *numbers;       /* for numbering these */
    double *latencies;  /* between their sites */
    char *room;
    size_t left;              /* bytes of it */
    size_t round, rest;       /* bytes of a round of the whole, and what is left over */
    uint64_t rounds, least;   /* of the whole, and of the shortest call that is played */
    uint64_t shorter, longer; /* calls from which the pace follows; 0: from the whole */
    bool lossless;            /* a pace knows no time-outs: they come once */
    uint64_t in_step;         /* rounds that are played of plans in step; 0: all */
    uint64_t found;           /* rounds of the last plan that was played */
    int64_t enough;           /* nobody asks how much longer it takes; 0: all do */
    int budget;               /* events of a play */
    int events;               /* of the last one */
} quote;

/* --- Plays --- */

/* The place of number I of COUNT ranks, one in so many of the line. */
static const coll_place *place_of(const quote *q, int i, int count) {
    const coll_topo *whole = q->whole->topo;
    return &whole->places[q->line->order[(int64_t)i * whole->ranks / count]];
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
static bool play(quote *q, int ranks, size_t bytes, int64_t *time) {
    coll_topo part;
    const coll_shape shape = shape_of(q, ranks, bytes, &part);
    const coll_price_call call = {.algorithm = q->algorithm,
                                  .planner = q->algorithm->planner,
                                  .shape = &shape,
                                  .values = &q->values,
                                  .whole = q->whole->topo,
                                  .fold = ranks == q->whole->topo->ranks ? &q->fold : NULL,
                                  .lossless = q->lossless,
                                  .rounds = q->in_step,
                                  .budget = q->budget,
                                  .enough = q->enough,
                                  .letters = q->is_long ? LETTERS_OF_LONG : LETTERS,
                                  .memory = q->is_long ? NULL : q->room,
                                  .bytes = q->is_long ? 0 : q->left};
    coll_price price;
    int code = coll_price_play(&call, &price);
    q->events = price.events;
    q->found = price.rounds;
    *time = price.time;
    return code == MPI_SUCCESS && price.time != COLL_PRICE_UNKNOWN;
}

static size_t bytes_of(const quote *q, uint64_t rounds) {
    return (size_t)rounds * q->round + q->rest;
}

/* --- What ranks are busy with --- */

/* Of SHAPE's ranks; NULL: there is no room for it. */
static coll_line *line_of(const quote *q, const coll_shape *shape, char **next, size_t *left) {
    const size_t ranks = (size_t)shape->topo->ranks;
    if (shape->topo == q->whole->topo)
        return q->line;
    coll_line *line = coll_comm_room_cut(next, left, sizeof *line + ranks * sizeof(int));
    coll_visit *visits = coll_comm_room_cut(next, left, ranks * sizeof *visits);
    if (visits)
        coll_order_line(shape, visits, line->order);
    return visits ? line : NULL;
}

/* That of the rank at POSITION of SHAPE's line. False: there is no room to find out. */
static bool labour_at(const quote *q, const coll_shape *shape, int position, coll_labour *labour) {
    char *next = q->room;
    size_t left = q->left;
    coll_line *line = line_of(q, shape, &next, &left);
    const coll_price_call call = {.algorithm = q->algorithm,
                                  .shape = shape,
                                  .values = &q->values,
                                  .whole = q->whole->topo,
                                  .memory = next,
                                  .bytes = left};
    return line && coll_labour_find(&call, line, position, labour);
}

/* The first rank's, or that of one amid the line: no call ends sooner. COLL_PRICE_UNKNOWN: there is
 * no room to find out. */
static int64_t labour_for(const quote *q, int ranks, size_t bytes) {
    coll_topo part;
    const coll_shape shape = shape_of(q, ranks, bytes, &part);
    int64_t most = 0;
    for (int amid = 0; amid < 2; amid++) {
        coll_labour one;
        if (!labour_at(q, &shape, amid ? ranks / 2 : 0, &one))
            return COLL_PRICE_UNKNOWN;
        const int64_t busy[] = {one.processor, one.out, one.in};
        for (int i = 0; i < 3; i++)
            most = busy[i] > most ? busy[i] : most;
    }
    return most;
}

/* About so many events has a play of RANKS, told of some of them; INT64_MAX: nobody knows. */
static int64_t events_of(const quote *q, int ranks, size_t bytes) {
    enum { TOLD = 8 };
    coll_topo part;
    const coll_shape shape = shape_of(q, ranks, bytes, &part);
    uint64_t played = ranks == q->whole->topo->ranks ? (uint64_t)q->fold.ranks : (uint64_t)ranks;
    int64_t events = 0;
    for (int i = 0; i < TOLD; i++) {
        coll_labour one;
        if (!labour_at(q, &shape, (int)((2 * i + 1) * (int64_t)ranks / (2 * TOLD)), &one))
            return INT64_MAX;
        events += one.events;
    }
    return coll_price_sum(0, events, TOLD, played);
}

/* --- How long a call takes --- */

/* What a call of RANKS takes until the shortest one ends. */
static bool begin(quote *q, int ranks, int64_t *time) {
    return play(q, ranks, bytes_of(q, q->least), time);
}

static int64_t labour_to_begin(const quote *q, int ranks) {
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

static int64_t labour_to_go_on(const quote *q, int ranks) {
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
    const coll_part part = coll_price_part(&shape, &q->values, q->line, true, &even);
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

/*
 * Looks how short a call may be that has the segments of the whole: as long, or else nearly so,
 * where they are shares of the whole.
 */
static void cut(quote *q) {
    enum { FEWEST = 2, NEARLY = 16 };
    keep_segment(q);
    coll_plan_size size = size_of(q, q->whole->bytes);
    q->round = size.segment * (size_t)size.segments;
    if (q->round == 0)
        q->round = q->whole->bytes;
    q->rounds = q->whole->bytes / q->round;
    q->rest = q->whole->bytes % q->round;
    for (q->least = FEWEST; q->least < q->rounds; q->least *= 2)
        if (size_of(q, bytes_of(q, q->least)).segment == size.segment)
            return;
    for (q->least = FEWEST; q->least < q->rounds; q->least += 1 + q->least / 8) {
        size_t segment = size_of(q, bytes_of(q, q->least)).segment;
        if (segment <= size.segment && size.segment - segment <= size.segment / NEARLY)
            return;
    }
    q->least = q->rounds;
}

/* From which calls the pace follows, if a round takes so many EVENTS. */
static void fold(quote *q, double events) {
    enum { FEWEST = 20 };
    uint64_t most = 2 * (uint64_t)size_of(q, q->whole->bytes).window + q->least,
             rounds = (uint64_t)(q->budget / 2 / (events + 1));
    rounds = rounds > FEWEST ? rounds : FEWEST;
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

/* The ranks' line; false: there is no room for it. */
static bool line_up(quote *q) {
    const coll_topo *topo = q->whole->topo;
    size_t ranks = (size_t)topo->ranks,
           order = coll_comm_room_of(sizeof(coll_line) + ranks * sizeof(int)),
           places = coll_comm_room_of((q->is_long ? ranks : BEGIN_MOST) * sizeof(coll_place)),
           numbers = coll_comm_room_of((size_t)topo->nodes * sizeof(int)),
           latencies = coll_comm_room_of(bytes_of_latencies(q->whole));
    if (order + places + numbers + latencies + ranks * sizeof(coll_visit) > q->left)
        return false;
    q->line = coll_comm_room_take(&q->room, order);
    q->places = coll_comm_room_take(&q->room, places);
    q->numbers = coll_comm_room_take(&q->room, numbers);
    q->latencies = coll_comm_room_take(&q->room, latencies);
    q->left -= order + places + numbers + latencies;
    q->line->position = 0;
    coll_order_line(q->whole, (coll_visit *)q->room, q->line->order);
    return true;
}

/* One of the times that a price consists of, and what a rank is busy then. */
typedef struct span {
    bool (*time_of)(quote *q, int ranks, int64_t *time);
    int64_t (*labour_of)(const quote *q, int ranks);
    int least; /* ranks that have another half of them tried */
} span;
static const span beginning = {begin, labour_to_begin, BEGIN_LEAST},
                  going_on = {go_on, labour_to_go_on, PACE_LEAST};

/* What was told of some ranks, of half of them and of a quarter: how long they wait. */
typedef struct told {
    int ranks[3];
    int64_t time[3];
} told;

/*
 * What follows for ALL ranks, who are so many doublings more. A pace hardly grows as a line unless
 * it is one from the start: what looks like that is chance.
 */
static int64_t extrapolate(const told *of, int doublings, int all, bool pace) {
    const int *ranks = of->ranks;
    const int64_t time = of->time[0];
    int64_t first = of->time[1] - of->time[2], second = time - of->time[1], linear = second - first;
    int more = ranks[0] - ranks[1], less = ranks[1] - ranks[2];
    if (first + second < time / 8)
        return time;                                                       /* no more than chance */
    if (linear < first / 4 || (pace && second < time / 3) || more <= less) /* the logarithm alone */
        return coll_price_sum(time, first + second, 2, (uint64_t)doublings);
    if (linear > first) /* the line alone */
        return coll_price_sum(time, first + second, (uint64_t)(more + less),
                              (uint64_t)(all - ranks[0]));
    int64_t logarithm = coll_price_sum(first, -linear, (uint64_t)(more - less), (uint64_t)less);
    return coll_price_sum(
        coll_price_sum(time, linear, (uint64_t)(more - less), (uint64_t)(all - ranks[0])),
        logarithm, 1, (uint64_t)doublings);
}

static int64_t waiting(const quote *q, const span *of, int ranks, int64_t time) {
    int64_t busy = of->labour_of(q, ranks);
    return time > busy ? time - busy : 0;
}

/*
 * What a part of RANKS, at most, tells of a span of all, and becomes those that it is told of. What
 * a rank is busy is known however many there are: how long it waits is extrapolated.
 */
static bool ask(quote *q, const span *of, int *ranks, int64_t *time) {
    const int all = q->whole->topo->ranks;
    int part = all, doublings = 0;
    for (; part > *ranks || !of->time_of(q, part, time); part = half(part), doublings++)
        if (part <= of->least)
            return false;
    *ranks = part;
    if (part == all || is_enough(q, *time))
        return true;
    if (q->fold.ranks < all) /* what goes round among parts that are alike depends on how many */
        return false;
    int64_t busy = of->labour_of(q, all);
    if (busy == COLL_PRICE_UNKNOWN)
        return false;
    int events = q->events;
    told parts = {.ranks = {part, half(part), half(half(part))}, .time = {*time}};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && !of->time_of(q, parts.ranks[i], &parts.time[i]))
            return false;
        parts.time[i] = waiting(q, of, parts.ranks[i], parts.time[i]);
    }
    q->events = events;
    int64_t waits = extrapolate(&parts, doublings, all, of == &going_on);
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

/* Some rounds of plans in step, of all ranks or, where these are too many, of *RANKS. */
static bool play_in_step(quote *q, int *ranks, int64_t *time) {
    enum { LEAST = 256 };
    *ranks = q->whole->topo->ranks;
    bool good = play(q, *ranks, q->whole->bytes, time);
    while (!good && half(*ranks) >= LEAST) {
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
    uint64_t played = q->in_step, found = q->found * all / (uint64_t)ranks;
    q->in_step /= 2;
    if (has_empty_parts(q->whole) || !play(q, ranks, bytes_among(q, ranks), &shorter))
        return COLL_PRICE_UNKNOWN;
    return coll_price_sum(longer, longer - shorter, played - q->in_step, found - played);
}

/* The same with the events that this may take. */
static int64_t find_pace_in_step(quote *q) {
    enum { EVENTS_A_RANK = 8, LEAST = 6, MORE = 4 }; /* rounds differ */
    uint64_t rounds = (uint64_t)(q->budget / (EVENTS_A_RANK * q->fold.ranks));
    q->in_step = rounds > LEAST ? rounds : LEAST;
    q->budget *= MORE;
    int64_t time = find_time_in_step(q);
    q->budget /= MORE;
    q->in_step = 0;
    return time;
}

/* Whether one that plans for all ranks may choose among their rounds. */
static bool is_in_step(const quote *q) {
    const coll_planner *planner = q->algorithm->planner;
    coll_blocks even;
    const coll_part part = coll_price_part(q->whole, &q->values, q->line, true, &even);
    return planner->in_step ||
           (q->is_long && planner->stays_in_step && planner->stays_in_step(&part));
}

/* How many ranks, all or a part of them, a play of BYTES may have: MOST where it is short. */
static int ranks_within(const quote *q, size_t bytes, int most) {
    int ranks = q->whole->topo->ranks;
    if (!q->is_long)
        return most;
    while (ranks > most && events_of(q, ranks, bytes) > q->budget)
        ranks = half(ranks);
    return ranks;
}

/* All ranks, or those who stand for all, where that isn't too much; false: it is. */
static bool play_all(quote *q, int64_t *time) {
    const int ranks = q->whole->topo->ranks;
    coll_blocks even;
    coll_part part = coll_price_part(q->whole, &q->values, q->line, false, &even);
    if (coll_fold_bytes(&part, q->algorithm->planner) > q->left)
        return false;
    q->fold = coll_fold_find(&part, q->algorithm->planner, q->line, q->room);
    q->line->position = 0;
    if (events_of(q, ranks, q->whole->bytes) > q->budget)
        return false;
    q->budget *= 2; /* so many events are an estimate */
    bool good = play(q, ranks, q->whole->bytes, time);
    q->budget /= 2;
    return good;
}

static int64_t find_time(quote *q) {
    int64_t time, rest;
    if (!line_up(q))
        return COLL_PRICE_UNKNOWN;
    if (q->is_long && play_all(q, &time))
        return time;
    if (is_in_step(q)) {
        time = find_pace_in_step(q);
        if (time != COLL_PRICE_UNKNOWN || has_empty_parts(q->whole))
            return time;
    }
    cut(q);
    int ranks = ranks_within(q, bytes_of(q, q->least), BEGIN_MOST);
    if (!ask(q, &beginning, &ranks, &time))
        return COLL_PRICE_UNKNOWN;
    if (q->least == q->rounds || is_enough(q, time))
        return time;
    double events = (double)q->events / (double)q->least;
    if (ranks == q->whole->topo->ranks && events * (double)q->rounds < q->budget &&
        play(q, ranks, q->whole->bytes, &time))
        return time;
    enum { SPAN = 40 }; /* rounds that tell a pace */
    int pace = ranks_within(q, bytes_of(q, SPAN < q->rounds ? SPAN : q->rounds), PACE_MOST);
    q->lossless = true;
    q->budget *= 2; /* so many events are an estimate */
    fold(q, events / ranks * (ranks < pace ? ranks : pace));
    return ask(q, &going_on, &pace, &rest) ? coll_price_sum(time, rest, 1, 1) : COLL_PRICE_UNKNOWN;
}

/* No call takes less: the bytes of all ranks over the busiest link, which those that are left out
 * of plays would have crowded. */
static int64_t find_least(const quote *q) {
    enum { ROUNDS = 1 << 13 };
    coll_traffic traffic;
    if (q->whole->topo->ranks <= FEW ||
        !coll_traffic_count(q->algorithm, q->whole, &q->values, ROUNDS, reserve, RESERVE, &traffic))
        return 0;
    return coll_price_sum(0, (int64_t)(traffic.seconds * 1e6), 1, 1000);
}

/* By a few events, in the memory that is there. */
static int64_t find_shortly(quote *q) {
    const int ranks = q->whole->topo->ranks;
    int64_t events = ranks > RANKS  ? (int64_t)EVENTS * ranks / RANKS
                     : ranks <= FEW ? EVENTS_OF_FEW
                                    : EVENTS;
    q->budget = events < EVENTS_MOST ? (int)events : EVENTS_MOST;
    pthread_mutex_lock(&reserve_lock);
    int64_t least = find_least(q);
    q->room = reserve;
    q->left = RESERVE;
    int64_t time = is_enough(q, least) ? least : find_time(q);
    pthread_mutex_unlock(&reserve_lock);
    return time == COLL_PRICE_UNKNOWN || time > least ? time : least;
}

/* The most memory that a long quote needs besides its plays. */
static size_t bytes_of_long(const quote *q, coll_line *line, coll_visit visits[]) {
    const coll_planner *planner = q->algorithm->planner;
    const size_t ranks = (size_t)q->whole->topo->ranks;
    enum { ODDS = 1 << 12 };
    coll_blocks even;
    coll_order_line(q->whole, visits, line->order);
    const coll_part part = coll_price_part(q->whole, &q->values, line, true, &even);
    const coll_plan_size size = planner->size(&part);
    return 2 * ranks * (2 * sizeof(int) + sizeof(coll_place) + sizeof(coll_visit)) +
           bytes_of_latencies(q->whole) + size.own_bytes +
           (planner->share ? planner->shared_bytes(&part) : 0) +
           (size_t)size.steps * sizeof(coll_step) + coll_fold_bytes(&part, planner) + ODDS;
}

/* By as many events as the call says. */
static int64_t find_at_length(quote *q) {
    const size_t ranks = (size_t)q->whole->topo->ranks;
    q->is_long = true;
    q->budget = q->whole->events;
    coll_line *line = calloc(1, sizeof *line + ranks * sizeof(int));
    coll_visit *visits = malloc(ranks * sizeof *visits);
    int64_t time = COLL_PRICE_UNKNOWN;
    char *memory = NULL;
    if (line && visits)
        memory = q->room = malloc(q->left = bytes_of_long(q, line, visits));
    if (memory)
        time = find_time(q);
    free(memory);
    free(visits);
    free(line);
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
    if (time == COLL_PRICE_UNKNOWN)
        time = find_shortly(&q);
    return time == COLL_PRICE_UNKNOWN ? INFINITY : (double)time * 1e-9;
}

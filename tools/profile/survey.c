/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/survey.h"

#include "app/clocks.h"
#include "app/progress.h"
#include "app/stats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_TASK = 21, TAG_RESULT };

/* Ranks that wait for a task or a result sleep for this long between tests for it; s. */
static const double NAP = 5e-3;

/*
 * Shares of survey.seconds: PAIRS_SHARE for all single pairs together; CROWD_SHARE for each half of
 * a measurement with concurrent pairs, a relay or converging streams.
 */
static const double PAIRS_SHARE = 0.7, CROWD_SHARE = 0.01;

/* The longest step of a flood sends at most the bytes that its receiver takes in this time; s. */
static const double FLOOD_SECONDS = 0.5;

typedef enum task_kind { PAIR, CROWD, RELAY, CONVERGE, FLOOD, END } task_kind;

/* A measurement at LEVEL, or END, which ends the other ranks' work. */
typedef struct task {
    task_kind kind;
    int level;
    int number;     /* PAIR: the index of the pair; CROWD: the number of pairs; else unused */
    double seconds; /* that the measurement may take */
    double bytes;   /* FLOOD: the most bytes of a step; else unused */
} task;

/* --- Planning --- */

/* Returns the level of messages between two ranks. */
static COLL_Level level_apart(const COLL_Place *one, const COLL_Place *other) {
    if (one->site != other->site)
        return COLL_LEVEL_WIDE;
    if (one->rack != other->rack)
        return COLL_LEVEL_SITE;
    if (one->node != other->node)
        return COLL_LEVEL_RACK;
    return one->numa == other->numa ? COLL_LEVEL_NUMA : COLL_LEVEL_NODE;
}

/*
 * Sets *PAIR to the first two ranks that are not taken and whose messages are of LEVEL, and returns
 * false if there are none. Tries all ranks in turn, beginning with FIRST, and each of them with all
 * other ranks, beginning STRIDE ranks after it.
 */
static bool find_pair(const COLL_Place places[], int ranks, COLL_Level level, int first, int stride,
                      const bool taken[], rank_pair *pair) {
    for (int i = 0; i < ranks; i++) {
        int one = (first + i) % ranks;
        for (int j = 0; j < ranks && !taken[one]; j++) {
            int other = (one + stride + j) % ranks;
            if (other == one || taken[other] || level_apart(&places[one], &places[other]) != level)
                continue;
            *pair = one < other ? (rank_pair){one, other} : (rank_pair){other, one};
            return true;
        }
    }
    return false;
}

/*
 * Chooses at most MOST pairs, spread over the machine. Messages of a pair are of exactly
 * LEVEL, and no rank is in two pairs. Returns the number of pairs, or -1 if memory is short.
 */
static int choose_pairs(const COLL_Place places[], int ranks, COLL_Level level, int most,
                        rank_pair pairs[]) {
    bool *taken = calloc((size_t)ranks, sizeof *taken);
    if (!taken)
        return -1;
    int count = 0;
    for (; count < most; count++) {
        int first = (int)((long long)count * ranks / most);
        if (!find_pair(places, ranks, level, first, 1 + count, taken, &pairs[count]))
            break;
        taken[pairs[count].leader] = taken[pairs[count].other] = true;
    }
    free(taken);
    return count;
}

/* Returns the site, rack or node of PLACE whose outward links streams at LEVEL share. */
static int part_at_level(const COLL_Place *place, COLL_Level level) {
    return level == COLL_LEVEL_WIDE   ? place->site
           : level == COLL_LEVEL_SITE ? place->rack
                                      : place->node;
}

/* The streams chosen so far. A part is a site, rack or node, depending on the level. */
typedef struct chosen_streams {
    int *leave, *enter; /* by part: the number of streams that leave and enter it */
    bool *taken;        /* by rank: it is in a pair, or no partner was found for it */
} chosen_streams;

/*
 * Returns the rank that is not taken and whose part has the fewest STREAMS (CHOSEN->leave or
 * CHOSEN->enter). Among several such parts, prefers the one with the fewest streams in both
 * directions. If LEADER is not -1, messages between the rank and LEADER must be of LEVEL. Returns
 * -1 if there is no such rank.
 */
static int find_least_used(const COLL_Place places[], int ranks, COLL_Level level, int leader,
                           const chosen_streams *chosen, const int streams[]) {
    int least = -1, least_part = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int part = part_at_level(&places[rank], level);
        if (chosen->taken[rank] ||
            (leader >= 0 && level_apart(&places[rank], &places[leader]) != level))
            continue;
        int difference = least < 0 ? -1 : streams[part] - streams[least_part];
        if (difference == 0)
            difference = chosen->leave[part] + chosen->enter[part] - chosen->leave[least_part] -
                         chosen->enter[least_part];
        if (difference < 0) {
            least = rank;
            least_part = part;
        }
    }
    return least;
}

int survey_streams(const COLL_Place places[], int ranks, COLL_Level level, int most,
                   rank_pair pairs[]) {
    size_t size = (size_t)ranks;
    chosen_streams chosen = {.leave = calloc(size, sizeof(int)),
                             .enter = calloc(size, sizeof(int)),
                             .taken = calloc(size, sizeof(bool))};
    int count = -1;
    if (!chosen.leave || !chosen.enter || !chosen.taken)
        goto free;
    count = 0;
    for (int leader; count < most && (leader = find_least_used(places, ranks, level, -1, &chosen,
                                                               chosen.leave)) >= 0;) {
        chosen.taken[leader] = true;
        int other = find_least_used(places, ranks, level, leader, &chosen, chosen.enter);
        if (other < 0)
            continue;
        chosen.taken[other] = true;
        chosen.leave[part_at_level(&places[leader], level)]++;
        chosen.enter[part_at_level(&places[other], level)]++;
        pairs[count++] = (rank_pair){leader, other};
    }
free:
    free(chosen.leave);
    free(chosen.enter);
    free(chosen.taken);
    return count;
}

/* The leader of the level's first pair receives; the first ranks whose messages to it are of LEVEL
 * send, at most CROWD_SENDERS. */
static void plan_senders(const survey *s, COLL_Level level, survey_level *l) {
    l->receiver = l->pair[0].leader;
    for (int rank = 0; rank < s->ranks && l->senders < CROWD_SENDERS; rank++)
        if (rank != l->receiver && level_apart(&s->places[rank], &s->places[l->receiver]) == level)
            l->sender[l->senders++] = rank;
}

int survey_plan(survey *s, int *total) {
    *total = 0;
    s->places = malloc((size_t)s->ranks * sizeof *s->places);
    int code = s->places ? COLL_Places(s->comm, s->places) : MPI_ERR_NO_MEM;
    for (int i = 0; i < COLL_LEVELS && code == MPI_SUCCESS; i++) {
        survey_level *l = &s->level[i];
        COLL_Level level = (COLL_Level)i;
        l->pairs = choose_pairs(s->places, s->ranks, level, SURVEY_PAIRS, l->pair);
        l->crowd = survey_streams(s->places, s->ranks, level, SURVEY_CROWD, l->crowd_pair);
        if (l->pairs < 0 || l->crowd < 0)
            return MPI_ERR_NO_MEM;
        if (l->pairs)
            plan_senders(s, level, l);
        *total += l->pairs;
    }
    return code;
}

void survey_free(survey *s) {
    free(s->places);
    s->places = NULL;
}

/* --- Taking part --- */

static bool is_sender(const survey_level *l, int rank) {
    for (int i = 0; i < l->senders; i++)
        if (l->sender[i] == rank)
            return true;
    return false;
}

/* The result of a measurement, on the rank that measured it. */
typedef union task_result {
    probe_result probe;
    crowd_result crowd;
    double relay;
    double gap[CROWD_SIZES];
    flood_result flood;
} task_result;

/* Returns the rank that has the result of T; if T has one result per pair, the rank with the result
 * of pair number PAIR. */
static int result_rank(const survey_level *l, const task *t, int pair) {
    return t->kind == PAIR    ? l->pair[t->number].leader
           : t->kind == CROWD ? l->crowd_pair[pair].leader
                              : l->receiver;
}

/* Returns the number of results of T. */
static int result_count(const task *t) {
    return t->kind == CROWD ? t->number : 1;
}

static bool takes_part(const survey_level *l, const task *t, int rank) {
    for (int i = 0; t->kind == CROWD && i < t->number; i++)
        if (l->crowd_pair[i].leader == rank || l->crowd_pair[i].other == rank)
            return true;
    if (t->kind == PAIR)
        return l->pair[t->number].leader == rank || l->pair[t->number].other == rank;
    return t->kind != CROWD && (l->receiver == rank || is_sender(l, rank));
}

static int do_pair_task(const survey *s, const rank_pair *pair, double seconds,
                        task_result *result) {
    return s->rank == pair->leader ? probe_measure(pair->other, s->comm, seconds, &result->probe)
                                   : probe_serve(pair->leader, s->comm);
}

static int do_crowd_task(const survey *s, const survey_level *l, const task *t,
                         task_result *result) {
    int i = 0;
    while (l->crowd_pair[i].leader != s->rank && l->crowd_pair[i].other != s->rank)
        i++;
    bool leads = l->crowd_pair[i].leader == s->rank;
    int peer = leads ? l->crowd_pair[i].other : l->crowd_pair[i].leader;
    return crowd_pair(peer, leads, s->comm, t->seconds, &result->crowd);
}

/* The chain goes from the receiver to the senders. */
static int do_relay_task(const survey *s, const survey_level *l, double seconds, double *relay) {
    int members[1 + CROWD_SENDERS] = {l->receiver};
    for (int i = 0; i < l->senders; i++)
        members[i + 1] = l->sender[i];
    return crowd_relay(members, l->senders + 1, s->comm, seconds, relay);
}

/* Does this rank's part of T. Sets *RESULT if this rank has a result. */
static int do_task(const survey *s, const task *t, task_result *result) {
    const survey_level *l = &s->level[t->level];
    switch (t->kind) {
    case PAIR:
        return do_pair_task(s, &l->pair[t->number], t->seconds, result);
    case CROWD:
        return do_crowd_task(s, l, t, result);
    case RELAY:
        return do_relay_task(s, l, t->seconds, &result->relay);
    case CONVERGE:
        return s->rank == l->receiver
                   ? crowd_receive(l->sender, l->senders, s->comm, t->seconds, result->gap)
                   : crowd_send(l->receiver, s->comm);
    default:
        return s->rank == l->receiver
                   ? flood_receive(l->sender, l->senders, s->places[s->rank].host, t->bytes,
                                   s->comm, &result->flood)
                   : flood_send(l->receiver, s->comm);
    }
}

/* Does the tasks that rank 0 sends, until the last one. Called on all other ranks. */
static int do_tasks(const survey *s) {
    for (;;) {
        task t;
        task_result result;
        MPI_Request request;
        int code = MPI_Irecv(&t, (int)sizeof t, MPI_BYTE, 0, TAG_TASK, s->comm, &request);
        if (code == MPI_SUCCESS)
            code = app_wait_asleep(&request, NAP, NAP);
        if (code != MPI_SUCCESS || t.kind == END)
            return code;
        code = do_task(s, &t, &result);
        for (int i = 0; i < result_count(&t) && code == MPI_SUCCESS; i++)
            if (result_rank(&s->level[t.level], &t, i) == s->rank)
                code = MPI_Send(&result, (int)sizeof result, MPI_BYTE, 0, TAG_RESULT, s->comm);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* --- Directing: rank 0 --- */

/* Sends T to all other ranks if its kind is END, else to the other ranks that take part in it. */
static int send_task(const survey *s, const task *t) {
    int code = MPI_SUCCESS;
    for (int rank = 1; rank < s->ranks && code == MPI_SUCCESS; rank++)
        if (t->kind == END || takes_part(&s->level[t->level], t, rank))
            code = MPI_Send(t, (int)sizeof *t, MPI_BYTE, rank, TAG_TASK, s->comm);
    return code;
}

/* Makes the ranks that take part in T do it, and collects its results in RESULTS. */
static int direct_task(const survey *s, const task *t, task_result results[]) {
    static const char *const names[] = {"pairs", "concurrent pairs", "relays", "converging streams",
                                        "floods"};
    const survey_level *l = &s->level[t->level];
    task_result mine;
    app_progress_ahead(t->seconds, "%s: %s", COLL_Level_name(t->level), names[t->kind]);
    int code = send_task(s, t);
    if (code == MPI_SUCCESS && takes_part(l, t, 0))
        code = do_task(s, t, &mine);
    for (int i = 0; i < result_count(t) && code == MPI_SUCCESS; i++) {
        MPI_Request request;
        if (result_rank(l, t, i) == 0) {
            results[i] = mine;
            continue;
        }
        code = MPI_Irecv(&results[i], (int)sizeof *results, MPI_BYTE, result_rank(l, t, i),
                         TAG_RESULT, s->comm, &request);
        if (code == MPI_SUCCESS)
            code = app_wait_asleep(&request, NAP, NAP);
    }
    return code;
}

/*
 * Measures the pairs of LEVEL one after the other, each in about SECONDS. On slow links a pair
 * takes longer. The pairs for which no time is then left are omitted.
 */
static int direct_pairs(survey *s, int level, double seconds, task_result *result) {
    survey_level *l = &s->level[level];
    const double began = MPI_Wtime(), end = began + l->pairs * seconds;
    int done = 0, code = MPI_SUCCESS;
    while (done < l->pairs && code == MPI_SUCCESS) {
        task t = {.kind = PAIR, .level = level, .number = done, .seconds = seconds};
        code = direct_task(s, &t, result);
        l->probe[done++] = result->probe;
        const double now = MPI_Wtime(), of_a_pair = (now - began) / done;
        if (now + of_a_pair > end + seconds / 2)
            break;
    }
    l->pairs = done;
    return code;
}

/* Measures with 1, 2, 4, ... pairs at the same time, and with all. */
static int direct_crowds(survey *s, int level, task_result results[]) {
    survey_level *l = &s->level[level];
    int code = MPI_SUCCESS;
    for (int pairs = 1; l->crowd > 1 && l->crowds < SURVEY_CROWDS && code == MPI_SUCCESS;) {
        task t = {
            .kind = CROWD, .level = level, .number = pairs, .seconds = CROWD_SHARE * s->seconds};
        double messages[SURVEY_CROWD], rate = 0;
        code = direct_task(s, &t, results);
        for (int i = 0; i < pairs; i++) {
            messages[i] = results[i].crowd.message;
            rate += results[i].crowd.rate;
        }
        l->crowd_ranks[l->crowds] = 2 * pairs;
        l->crowd_message[l->crowds] = app_stats_median(messages, pairs);
        l->crowd_rate[l->crowds++] = rate;
        if (pairs == l->crowd)
            break;
        pairs = 2 * pairs < l->crowd ? 2 * pairs : l->crowd;
    }
    return code;
}

/* Takes a measurement of KIND, whose result the level's receiver has, in about SECONDS. */
static int direct_receiver_task(survey *s, int level, task_kind kind, double seconds,
                                task_result *result) {
    survey_level *l = &s->level[level];
    task t = {.kind = kind, .level = level, .seconds = seconds};
    if (kind == FLOOD) /* at the rate at which the receiver took the streams */
        t.bytes = FLOOD_SECONDS * crowd_size[CROWD_SIZES - 1] / l->gap[CROWD_SIZES - 1];
    int code = direct_task(s, &t, result);
    if (kind == RELAY)
        l->relay = result->relay;
    else if (kind == CONVERGE)
        memcpy(l->gap, result->gap, sizeof l->gap);
    else
        l->flood = result->flood;
    return code;
}

static int direct_level(survey *s, int level, double seconds, task_result results[]) {
    survey_level *l = &s->level[level];
    int code = MPI_SUCCESS;
    for (int kind = PAIR; kind < END && l->pairs && code == MPI_SUCCESS; kind++) {
        if (kind == PAIR)
            code = direct_pairs(s, level, seconds, results);
        else if (kind == CROWD)
            code = direct_crowds(s, level, results);
        else if (kind == RELAY && l->senders > 1)
            code = direct_receiver_task(s, level, RELAY, CROWD_SHARE * s->seconds, results);
        else if (kind == CONVERGE && l->senders > 1)
            code = direct_receiver_task(s, level, CONVERGE, 2 * CROWD_SHARE * s->seconds, results);
        else if (kind == FLOOD && l->senders > 1 && level >= COLL_LEVEL_RACK && s->flood)
            /* Each step takes twice as long as the one before, so all steps together take twice as
             * long as the last step. */
            code = direct_receiver_task(s, level, FLOOD, 2 * FLOOD_SECONDS, results);
    }
    return code;
}

static int direct_all(survey *s) {
    task_result *results = malloc(SURVEY_CROWD * sizeof *results);
    int total = 0, code = results ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int level = 0; level < COLL_LEVELS; level++)
        total += s->level[level].pairs;
    for (int level = 0; level < COLL_LEVELS && code == MPI_SUCCESS; level++)
        code = direct_level(s, level, PAIRS_SHARE * s->seconds / total, results);
    free(results);
    app_progress("memory");
    s->copied = code == MPI_SUCCESS && copies_measure(s->copy);
    task end = {.kind = END};
    return code == MPI_SUCCESS ? send_task(s, &end) : code;
}

int survey_run(survey *s) {
    if (s->rank == 0)
        app_progress("rates between hosts");
    int code = COLL_Measure_rates(s->comm, &s->rates);
    if (code != MPI_SUCCESS)
        return code;
    return s->rank == 0 ? direct_all(s) : do_tasks(s);
}

#include "config.h"

#include "tools/profile/survey.h"

#include "app/clocks.h"
#include "app/progress.h"
#include "app/stats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_TASK = 21, TAG_RESULT };

/* Ranks that take no part sleep for so long between looks for their next task; s. */
static const double NAP = 5e-3;

/* Of all seconds, the share of the pairs; that of one concurrent or converging measurement. */
static const double PAIRS_SHARE = 0.7, CROWD_SHARE = 0.01;

/* A flood's longest step takes no more of the slowest link than this; s. */
static const double FLOOD_SECONDS = 0.5;

typedef enum task_kind { PAIR, CROWD, RELAY, CONVERGE, FLOOD, END } task_kind;

/* What comes next at LEVEL: the pair of that NUMBER; so many concurrent pairs; else unused. */
typedef struct task {
    task_kind kind;
    int level, number;
    double seconds; /* or, of a flood, the most bytes */
} task;

/* --- Planning --- */

COLL_Level survey_apart(const COLL_Place *one, const COLL_Place *other) {
    if (one->site != other->site)
        return COLL_LEVEL_WIDE;
    if (one->rack != other->rack)
        return COLL_LEVEL_SITE;
    if (one->node != other->node)
        return COLL_LEVEL_RACK;
    return one->numa == other->numa ? COLL_LEVEL_NUMA : COLL_LEVEL_NODE;
}

/* The first pair of free ranks, looking from rank FIRST on and STRIDE ranks ahead of each. */
static bool find_pair(const COLL_Place places[], int ranks, COLL_Level level, int first, int stride,
                      const bool taken[], rank_pair *pair) {
    for (int i = 0; i < ranks; i++) {
        int one = (first + i) % ranks;
        for (int j = 0; j < ranks && !taken[one]; j++) {
            int other = (one + stride + j) % ranks;
            if (other == one || taken[other] || survey_apart(&places[one], &places[other]) != level)
                continue;
            *pair = one < other ? (rank_pair){one, other} : (rank_pair){other, one};
            return true;
        }
    }
    return false;
}

/*
 * Chooses at most MOST pairs of RANKS that are apart at exactly LEVEL, no rank in two of them, from
 * different parts of the machine. Returns how many there are (0 where no ranks are so apart), or -1
 * without memory.
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

/* The part of LEVEL whose links to the others its ranks share. */
static int part_of(const COLL_Place *place, COLL_Level level) {
    return level == COLL_LEVEL_WIDE   ? place->site
           : level == COLL_LEVEL_SITE ? place->rack
                                      : place->node;
}

/* Of the streams that were chosen, by part and by rank. */
typedef struct chosen_streams {
    int *leave, *enter; /* a part */
    bool *taken;        /* a rank */
} chosen_streams;

/*
 * The free rank, apart at LEVEL from LEADER unless that is -1, whose part has the least of WHAT,
 * and of these the least streams; -1: there is none.
 */
static int find_least(const COLL_Place places[], int ranks, COLL_Level level, int leader,
                      const chosen_streams *chosen, const int what[]) {
    int least = -1, least_part = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int part = part_of(&places[rank], level);
        if (chosen->taken[rank] ||
            (leader >= 0 && survey_apart(&places[rank], &places[leader]) != level))
            continue;
        int more = least < 0 ? -1 : what[part] - what[least_part];
        if (more == 0)
            more = chosen->leave[part] + chosen->enter[part] - chosen->leave[least_part] -
                   chosen->enter[least_part];
        if (more < 0) {
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
    for (int leader; count < most &&
                     (leader = find_least(places, ranks, level, -1, &chosen, chosen.leave)) >= 0;) {
        chosen.taken[leader] = true;
        int other = find_least(places, ranks, level, leader, &chosen, chosen.enter);
        if (other < 0)
            continue;
        chosen.taken[other] = true;
        chosen.leave[part_of(&places[leader], level)]++;
        chosen.enter[part_of(&places[other], level)]++;
        pairs[count++] = (rank_pair){leader, other};
    }
free:
    free(chosen.leave);
    free(chosen.enter);
    free(chosen.taken);
    return count;
}

/* Those who send to the other rank of the level's first pair. */
static void plan_senders(const survey *s, COLL_Level level, survey_level *l) {
    l->receiver = l->pair[0].leader;
    for (int rank = 0; rank < s->ranks && l->senders < CROWD_SENDERS; rank++)
        if (rank != l->receiver && survey_apart(&s->places[rank], &s->places[l->receiver]) == level)
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

static bool sends(const survey_level *l, int rank) {
    for (int i = 0; i < l->senders; i++)
        if (l->sender[i] == rank)
            return true;
    return false;
}

/* A measurement's result on the one rank that has it. */
typedef union finding {
    probe_result probe;
    crowd_result crowd;
    double relay;
    double gap[CROWD_SIZES];
    flood_result flood;
} finding;

/* The rank that has part PART of the findings of T. */
static int finder(const survey_level *l, const task *t, int part) {
    return t->kind == PAIR    ? l->pair[t->number].leader
           : t->kind == CROWD ? l->crowd_pair[part].leader
                              : l->receiver;
}

static int parts(const task *t) {
    return t->kind == CROWD ? t->number : 1;
}

static bool takes_part(const survey_level *l, const task *t, int rank) {
    for (int i = 0; t->kind == CROWD && i < t->number; i++)
        if (l->crowd_pair[i].leader == rank || l->crowd_pair[i].other == rank)
            return true;
    if (t->kind == PAIR)
        return l->pair[t->number].leader == rank || l->pair[t->number].other == rank;
    return t->kind != CROWD && (l->receiver == rank || sends(l, rank));
}

static int take_pair(const survey *s, const rank_pair *pair, double seconds, finding *found) {
    return s->rank == pair->leader ? probe_measure(pair->other, s->comm, seconds, &found->probe)
                                   : probe_serve(pair->leader, s->comm);
}

static int take_crowd(const survey *s, const survey_level *l, const task *t, finding *found) {
    int i = 0;
    while (l->crowd_pair[i].leader != s->rank && l->crowd_pair[i].other != s->rank)
        i++;
    bool leads = l->crowd_pair[i].leader == s->rank;
    int peer = leads ? l->crowd_pair[i].other : l->crowd_pair[i].leader;
    return crowd_pair(peer, leads, s->comm, t->seconds, &found->crowd);
}

/* From the receiver to the senders. */
static int take_relay(const survey *s, const survey_level *l, double seconds, double *relay) {
    int members[1 + CROWD_SENDERS] = {l->receiver};
    for (int i = 0; i < l->senders; i++)
        members[i + 1] = l->sender[i];
    return crowd_relay(members, l->senders + 1, s->comm, seconds, relay);
}

/* This rank's part in T. */
static int take_part(const survey *s, const task *t, finding *found) {
    const survey_level *l = &s->level[t->level];
    switch (t->kind) {
    case PAIR:
        return take_pair(s, &l->pair[t->number], t->seconds, found);
    case CROWD:
        return take_crowd(s, l, t, found);
    case RELAY:
        return take_relay(s, l, t->seconds, &found->relay);
    case CONVERGE:
        return s->rank == l->receiver
                   ? crowd_receive(l->sender, l->senders, s->comm, t->seconds, found->gap)
                   : crowd_send(l->receiver, s->comm);
    default:
        return s->rank == l->receiver
                   ? flood_receive(l->sender, l->senders, s->places[s->rank].host, t->seconds,
                                   s->comm, &found->flood)
                   : flood_send(l->receiver, s->comm);
    }
}

/* The other ranks: take part in what they are told to. */
static int follow(const survey *s) {
    for (;;) {
        task t;
        finding found;
        MPI_Request request;
        int code = MPI_Irecv(&t, (int)sizeof t, MPI_BYTE, 0, TAG_TASK, s->comm, &request);
        if (code == MPI_SUCCESS)
            code = app_wait_asleep(&request, NAP, NAP);
        if (code != MPI_SUCCESS || t.kind == END)
            return code;
        code = take_part(s, &t, &found);
        for (int part = 0; part < parts(&t) && code == MPI_SUCCESS; part++)
            if (finder(&s->level[t.level], &t, part) == s->rank)
                code = MPI_Send(&found, (int)sizeof found, MPI_BYTE, 0, TAG_RESULT, s->comm);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* --- Directing: rank 0 --- */

static int tell(const survey *s, const task *t) {
    int code = MPI_SUCCESS;
    for (int rank = 1; rank < s->ranks && code == MPI_SUCCESS; rank++)
        if (t->kind == END || takes_part(&s->level[t->level], t, rank))
            code = MPI_Send(t, (int)sizeof *t, MPI_BYTE, rank, TAG_TASK, s->comm);
    return code;
}

/* Has T done; its findings, one a part, to FOUND. */
static int direct(const survey *s, const task *t, finding found[]) {
    static const char *const what[] = {"pairs", "concurrent pairs", "relays", "converging streams",
                                       "floods"};
    const survey_level *l = &s->level[t->level];
    finding mine;
    app_progress_ahead(t->seconds, "%s: %s", COLL_Level_name(t->level), what[t->kind]);
    int code = tell(s, t);
    if (code == MPI_SUCCESS && takes_part(l, t, 0))
        code = take_part(s, t, &mine);
    for (int part = 0; part < parts(t) && code == MPI_SUCCESS; part++) {
        MPI_Request request;
        if (finder(l, t, part) == 0) {
            found[part] = mine;
            continue;
        }
        code = MPI_Irecv(&found[part], (int)sizeof *found, MPI_BYTE, finder(l, t, part), TAG_RESULT,
                         s->comm, &request);
        if (code == MPI_SUCCESS)
            code = app_wait_asleep(&request, NAP, NAP);
    }
    return code;
}

static int direct_pairs(survey *s, int level, double seconds, finding *found) {
    survey_level *l = &s->level[level];
    int code = MPI_SUCCESS;
    for (int i = 0; i < l->pairs && code == MPI_SUCCESS; i++) {
        task t = {.kind = PAIR, .level = level, .number = i, .seconds = seconds};
        code = direct(s, &t, found);
        l->probe[i] = found->probe;
    }
    return code;
}

/* With 1, 2, 4, ... pairs, and with all. */
static int direct_crowds(survey *s, int level, finding found[]) {
    survey_level *l = &s->level[level];
    int code = MPI_SUCCESS;
    for (int pairs = 1; l->crowd > 1 && l->crowds < SURVEY_CROWDS && code == MPI_SUCCESS;) {
        task t = {
            .kind = CROWD, .level = level, .number = pairs, .seconds = CROWD_SHARE * s->seconds};
        double messages[SURVEY_CROWD], rate = 0;
        code = direct(s, &t, found);
        for (int i = 0; i < pairs; i++) {
            messages[i] = found[i].crowd.message;
            rate += found[i].crowd.rate;
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

/* What the receiver of the level's streams finds. */
static int direct_receiver(survey *s, int level, task_kind kind, double seconds, finding *found) {
    survey_level *l = &s->level[level];
    task t = {.kind = kind, .level = level, .seconds = seconds};
    int code = direct(s, &t, found);
    if (kind == RELAY)
        l->relay = found->relay;
    else if (kind == CONVERGE)
        memcpy(l->gap, found->gap, sizeof l->gap);
    else
        l->flood = found->flood;
    return code;
}

/* As many bytes as the slowest link bears. */
static double bytes_of_flood(const survey_level *l) {
    return FLOOD_SECONDS * crowd_size[CROWD_SIZES - 1] / l->gap[CROWD_SIZES - 1];
}

static int direct_level(survey *s, int level, double seconds, finding found[]) {
    survey_level *l = &s->level[level];
    int code = MPI_SUCCESS;
    for (int kind = PAIR; kind < END && l->pairs && code == MPI_SUCCESS; kind++) {
        if (kind == PAIR)
            code = direct_pairs(s, level, seconds, found);
        else if (kind == CROWD)
            code = direct_crowds(s, level, found);
        else if (kind == RELAY && l->senders > 1)
            code = direct_receiver(s, level, RELAY, CROWD_SHARE * s->seconds, found);
        else if (kind == CONVERGE && l->senders > 1)
            code = direct_receiver(s, level, CONVERGE, 2 * CROWD_SHARE * s->seconds, found);
        else if (kind == FLOOD && l->senders > 1 && level >= COLL_LEVEL_RACK && s->flood)
            code = direct_receiver(s, level, FLOOD, bytes_of_flood(l), found);
    }
    return code;
}

static int direct_all(survey *s) {
    finding *found = malloc(SURVEY_CROWD * sizeof *found);
    int total = 0, code = found ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int level = 0; level < COLL_LEVELS; level++)
        total += s->level[level].pairs;
    for (int level = 0; level < COLL_LEVELS && code == MPI_SUCCESS; level++)
        code = direct_level(s, level, PAIRS_SHARE * s->seconds / total, found);
    free(found);
    app_progress("memory");
    s->copied = code == MPI_SUCCESS && copies_measure(s->copy);
    task end = {.kind = END};
    return code == MPI_SUCCESS ? tell(s, &end) : code;
}

int survey_run(survey *s) {
    return s->rank == 0 ? direct_all(s) : follow(s);
}

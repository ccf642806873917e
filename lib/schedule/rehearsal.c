#include "config.h"

#include "lib/schedule/rehearsal.h"

#include "lib/base/comm.h"

/* Messages under way, and pairs of ranks. */
enum { LETTERS = 1 << 12, LETTERS_OF_LONG = 1 << 22 };

static bool is_whole(const coll_rehearsal *r, int ranks) {
    return ranks == r->whole->topo->ranks;
}

/* --- Parts of the ranks --- */

/* The place of number I of COUNT ranks, one in so many of the line. */
static const coll_place *place_of(const coll_rehearsal *r, int i, int count) {
    const coll_topo *whole = r->whole->topo;
    return &whole->places[r->survey.line->order[(int64_t)i * whole->ranks / count]];
}

/*
 * COUNT ranks as if there were no others. Where the line comes to a rack again and again, they
 * share its uplink.
 */
static coll_topo part_of(const coll_rehearsal *r, int count) {
    const coll_topo *whole = r->whole->topo;
    coll_topo part = *whole;
    part.ranks = count;
    part.places = r->places;
    for (int i = 0; i < count; i++)
        part.places[i] = *place_of(r, i, count);
    coll_topo_number(&part, whole, r->numbers);
    return part;
}

/* The latencies between the sites of PART, by their numbers there; NULL where they aren't known. */
static const double *latencies_of(const coll_rehearsal *r, const coll_topo *part) {
    const double *latencies = r->whole->latencies;
    int *before = r->numbers;
    for (int i = 0; i < part->ranks; i++)
        before[part->places[i].site] = place_of(r, i, part->ranks)->site;
    for (int i = 0; latencies && i < part->sites * part->sites; i++)
        r->latencies[i] =
            latencies[before[i / part->sites] * r->whole->topo->sites + before[i % part->sites]];
    return latencies ? r->latencies : NULL;
}

/* A call of so many RANKS and BYTES; PART is of these ranks, if they aren't all. */
static coll_shape shape_of(const coll_rehearsal *r, int ranks, size_t bytes, coll_topo *part) {
    coll_shape shape = *r->whole;
    shape.bytes = bytes;
    if (!is_whole(r, ranks)) {
        *part = part_of(r, ranks);
        shape.topo = part;
        shape.latencies = latencies_of(r, part);
        shape.root = shape.root == COLL_NO_ROOT ? COLL_NO_ROOT : 0;
    }
    return shape;
}

/* --- Memory --- */

static size_t bytes_of_latencies(const coll_shape *call) {
    const size_t sites = call->latencies ? (size_t)call->topo->sites : 0;
    return sites * sites * sizeof(double);
}

size_t coll_rehearsal_bytes(const coll_shape *whole, int most) {
    return coll_comm_room_of((size_t)most * sizeof(coll_place)) +
           coll_comm_room_of((size_t)whole->topo->nodes * sizeof(int)) +
           coll_comm_room_of(bytes_of_latencies(whole));
}

bool coll_rehearsal_open(coll_rehearsal *r, void *memory, size_t surveyed, size_t left) {
    const coll_shape *whole = r->whole;
    r->room = (char *)memory + surveyed;
    r->left = left;
    r->fold = (coll_fold){.ranks = whole->topo->ranks};
    if (!coll_survey_open(&r->survey, r->algorithm, whole, &r->values, NULL, memory, surveyed))
        return false;
    r->burst = coll_network_burst(&r->survey.network);
    r->places = coll_comm_room_cut(&r->room, &r->left, (size_t)r->most * sizeof *r->places);
    r->numbers = coll_comm_room_cut(&r->room, &r->left, (size_t)whole->topo->nodes * sizeof(int));
    r->latencies = coll_comm_room_cut(&r->room, &r->left, bytes_of_latencies(whole));
    return r->places && r->numbers && r->latencies;
}

/* What has been found of RANKS and BYTES: nothing, where they are new. */
static coll_finding *finding_of(coll_rehearsal *r, int ranks, size_t bytes) {
    for (int i = 0; i < COLL_FINDINGS && i < r->knows; i++)
        if (r->known[i].ranks == ranks && r->known[i].bytes == bytes)
            return &r->known[i];
    coll_finding *next = &r->known[r->knows++ % COLL_FINDINGS];
    *next = (coll_finding){.ranks = ranks, .bytes = bytes};
    return next;
}

/* --- Outlooks --- */

/* Told by so many ranks of some rounds. The first may be a root, which has more to do. */
static coll_outlook outlook_of(coll_survey *survey, int asked) {
    enum { ROUNDS = 128, ROUNDS_LEAST = 16, STEPS = 1 << 12 };
    const int rounds = STEPS / (survey->size.steps + 1), ranks = survey->shape->topo->ranks;
    coll_outlook all = {.in_bursts = true};
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

coll_outlook coll_rehearsal_ask(coll_rehearsal *r, int asked) {
    return outlook_of(&r->survey, asked);
}

static bool look_anew(coll_rehearsal *r, int ranks, size_t bytes, coll_outlook *outlook) {
    enum { ASKED = 4 };
    coll_topo part;
    coll_survey survey;
    const coll_shape shape = shape_of(r, ranks, bytes, &part);
    const bool is_surveyed = is_whole(r, ranks) && bytes == r->whole->bytes;
    if (!is_surveyed && !coll_survey_open(&survey, r->algorithm, &shape, &r->values, r->whole->topo,
                                          r->room, r->left))
        return false;
    *outlook = outlook_of(is_surveyed ? &r->survey : &survey, ASKED);
    return true;
}

bool coll_rehearsal_look(coll_rehearsal *r, int ranks, size_t bytes, coll_outlook *outlook) {
    coll_finding *known = finding_of(r, ranks, bytes);
    if (!known->is_surveyed)
        known->is_surveyed = look_anew(r, ranks, bytes, &known->outlook);
    *outlook = known->outlook;
    return known->is_surveyed;
}

bool coll_rehearsal_is_hopeless(const coll_rehearsal *r, const coll_outlook *outlook, int ranks) {
    enum { MISJUDGED = 4 };
    return outlook->events - outlook->events / MISJUDGED > r->budget / ranks;
}

/* --- Plays --- */

static bool play_anew(coll_rehearsal *r, const coll_excerpt *excerpt, coll_price *price) {
    coll_topo part;
    const coll_shape shape = shape_of(r, excerpt->ranks, excerpt->bytes, &part);
    const coll_price_call call = {.algorithm = r->algorithm,
                                  .planner = r->algorithm->planner,
                                  .shape = &shape,
                                  .values = &r->values,
                                  .whole = r->whole->topo,
                                  .fold = is_whole(r, excerpt->ranks) ? &r->fold : NULL,
                                  .midway = excerpt->midway,
                                  .rounds = excerpt->rounds,
                                  .budget = r->budget,
                                  .enough = r->enough,
                                  .letters = r->is_long ? LETTERS_OF_LONG : LETTERS,
                                  .memory = r->is_long ? NULL : r->room,
                                  .bytes = r->is_long ? 0 : r->left};
    return coll_price_play(&call, price) == MPI_SUCCESS && price->time != COLL_PRICE_UNKNOWN;
}

bool coll_rehearsal_play(coll_rehearsal *r, const coll_excerpt *excerpt, coll_price *price) {
    if (excerpt->rounds)
        return play_anew(r, excerpt, price);
    coll_finding *known = finding_of(r, excerpt->ranks, excerpt->bytes);
    if (!known->is_played || (excerpt->midway && !known->midway)) {
        if (!play_anew(r, excerpt, price))
            return false;
        known->is_played = true;
        known->midway = excerpt->midway || (!price->lossy && !r->burst);
        known->price = *price;
    }
    *price = known->price;
    return true;
}

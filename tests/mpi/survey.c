/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the measurements of coll-profile on one node: all ranks return, every figure is there and
 * plausible, and bursts stay within their limits. Nothing depends on speed.
 */
#include "config.h"

#include "app/progress.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"
#include "tools/profile/fitted.h"
#include "tools/profile/survey.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int world_rank, world_ranks;

/*
 * Returns whether a curve is finite and not negative at each measured size, and never falls after
 * fitting.
 */
static bool is_possible(const model_curve *curve) {
    bool good = true;
    for (int i = 0; i < curve->points; i++)
        good = good && isfinite(curve->seconds[i]) && curve->seconds[i] >= 0;
    return good && curve->points > 0 && curve->fitted.knots > 0 &&
           COLL_Curve_at(&curve->fitted, 1) <= COLL_Curve_at(&curve->fitted, 1 << 20);
}

static bool has_everything(const survey *s, const model *m) {
    bool good = s->copied;
    for (int i = 0; i < COLL_COPIES; i++)
        good = good && is_possible(&m->copy[i]);
    for (int level = 0; level < COLL_LEVELS; level++) {
        const survey_level *l = &s->level[level];
        const model_level *found = &m->level[level];
        for (int i = 0; l->pairs && i < COLL_PARAMETERS; i++)
            good = good &&
                   (is_possible(&found->curve[i]) || (i == COLL_RECEIVE_GAP && l->senders < 2));
        good = good && (!l->pairs || (found->cost.latency > 0 && found->cost.per_byte > 0));
    }
    return good;
}

/* The uplinks of 2 and of 3 racks of 6 hosts are equally busy in both directions. */
START_TEST(streams_leave_racks_as_they_enter) {
    enum { RACKS = 3, HOSTS = 6, MOST = 32 };
    for (int racks = 2; racks <= RACKS; racks++) {
        COLL_Place places[RACKS * HOSTS];
        int leave[RACKS] = {0}, enter[RACKS] = {0}, ranks = racks * HOSTS;
        rank_pair pairs[MOST];
        for (int rank = 0; rank < ranks; rank++)
            places[rank] = (COLL_Place){.rack = rank / HOSTS, .node = rank};
        int count = survey_streams(places, ranks, COLL_LEVEL_SITE, MOST, pairs);
        harness_assert(count == ranks / 2, "%d pairs", count);
        for (int i = 0; i < count; i++) {
            leave[places[pairs[i].leader].rack]++;
            enter[places[pairs[i].other].rack]++;
        }
        for (int rack = 0; rack < racks; rack++)
            harness_assert(leave[rack] == HOSTS / 2 && enter[rack] == HOSTS / 2,
                           "%d racks: %d leave rack %d, %d enter", racks, leave[rack], rack,
                           enter[rack]);
    }
}
END_TEST

/* Surveys all ranks, with floods if FLOOD. Returns the number of single pairs. */
static int make_survey(survey *s, bool flood) {
    int total = 0;
    *s = (survey){.comm = MPI_COMM_WORLD,
                  .rank = world_rank,
                  .ranks = world_ranks,
                  .seconds = 0.2,
                  .flood = flood};
    int code = survey_plan(s, &total);
    harness_assert(code == MPI_SUCCESS && (total > 0) == (world_ranks > 1), "plan");
    code = total ? survey_run(s) : MPI_SUCCESS;
    harness_assert(code == MPI_SUCCESS, "run");
    return total;
}

START_TEST(surveys_find_every_parameter) {
    static survey s;
    static model m;
    const int total = make_survey(&s, true);
    if (world_rank == 0 && total)
        model_make(&s, 1e9, &m);
    harness_assert(world_rank > 0 || !total || has_everything(&s, &m), "a parameter is missing");
    survey_free(&s);
}
END_TEST

/* The ranks' measurements at the first level with pairs stand for those between racks. */
START_TEST(uplinks_have_the_rate_of_all_hosts) {
    static survey s;
    static model m;
    const int total = make_survey(&s, false);
    int level = 0;
    while (level < COLL_LEVELS && !s.level[level].pairs)
        level++;
    if (world_rank == 0 && total) {
        s.level[COLL_LEVEL_SITE] = s.level[level];
        s.rates = (COLL_Rates){.link = 6e6, .uplinks = 25e6};
        model_make(&s, 1e9, &m);
    }
    const double together = m.level[COLL_LEVEL_SITE].cost.together;
    harness_assert(world_rank > 0 || !total || together == 25e6, "%g", together);
    survey_free(&s);
}
END_TEST

START_TEST(rates_are_measured_between_hosts) {
    for (int racks = 1; racks <= 2; racks++) {
        MPI_Comm comm;
        COLL_Rates rates = {.link = -1}, most;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        pretend_layout(comm, world_ranks, racks);
        int code = COLL_Measure_rates(comm, &rates);
        MPI_Allreduce(&rates, &most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        const bool several = world_ranks > 1, between = racks == 2 && several;
        harness_assert(code == MPI_SUCCESS && (rates.link > 0) == several &&
                           (rates.uplinks > 0) == between && rates.link == most.link &&
                           rates.uplinks == most.uplinks,
                       "%d racks: %g, %g", racks, rates.link, rates.uplinks);
        MPI_Comm_free(&comm);
    }
}
END_TEST

START_TEST(floods_keep_to_their_bounds) {
    static const int senders[] = {1, 2};
    flood_result result = {.steps = 0};
    const double most = 100e3;
    int code = MPI_SUCCESS;
    if (world_ranks < 3)
        return;
    if (world_rank == 0)
        code = flood_receive(senders, 2, "localhost", most, MPI_COMM_WORLD, &result);
    else if (world_rank < 3)
        code = flood_send(0, MPI_COMM_WORLD);
    bool good = code == MPI_SUCCESS && (world_rank > 0 || result.steps > 0);
    for (int i = 0; i < result.steps; i++)
        good = good && result.bytes[i] > 0 && result.bytes[i] < 1.1 * most &&
               result.arrived[i] > 0 && result.arrived[i] <= 1;
    harness_assert(good, "%d steps", result.steps);
}
END_TEST

/* If there is no host of this name, nothing arrives, and the measurement ends. */
START_TEST(floods_that_cannot_arrive_end) {
    static const int senders[] = {1, 2};
    flood_result result = {.steps = 9};
    int code = MPI_SUCCESS;
    if (world_ranks < 3)
        return;
    if (world_rank == 0)
        code = flood_receive(senders, 2, "no-such-host.invalid", 1e6, MPI_COMM_WORLD, &result);
    else if (world_rank < 3)
        code = flood_send(0, MPI_COMM_WORLD);
    harness_assert(code == MPI_SUCCESS && (world_rank > 0 || result.steps == 0), "the end");
}
END_TEST

/*
 * A flood takes about a second, so no progress line is printed before it unless one is due anyway.
 * The ranks pretend to be on hosts of one rack.
 */
START_TEST(floods_are_not_announced) {
    static survey s;
    char line[256] = "";
    if (world_ranks < 3)
        return;
    FILE *said = tmpfile();
    int own = dup(STDERR_FILENO), lines = 0;
    s = (survey){.comm = MPI_COMM_WORLD,
                 .rank = world_rank,
                 .ranks = world_ranks,
                 .seconds = 0.2,
                 .flood = true,
                 .places = calloc((size_t)world_ranks, sizeof *s.places)};
    s.level[COLL_LEVEL_RACK] =
        (survey_level){.pairs = 1, .pair = {{0, 1}}, .senders = 2, .sender = {1, 2}};
    harness_assert(said && own >= 0 && s.places, "set-up");
    s.places[0].host = "localhost";
    fflush(stderr);
    dup2(fileno(said), STDERR_FILENO);
    app_progress_every = 0;
    app_progress("the first line");
    app_progress_every = 1e9;
    int code = survey_run(&s);
    fflush(stderr);
    dup2(own, STDERR_FILENO);
    close(own);
    rewind(said);
    while (fgets(line, sizeof line, said))
        lines++;
    fclose(said);
    harness_assert(code == MPI_SUCCESS && (world_rank > 0 || s.level[COLL_LEVEL_RACK].flood.steps),
                   "no flood");
    harness_assert(lines == 1, "%d lines, last %s", lines, line);
    survey_free(&s);
}
END_TEST

static Suite *surveys(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("survey");
    TCase *tests = tcase_create("survey");
    tcase_add_test(tests, streams_leave_racks_as_they_enter);
    tcase_add_test(tests, surveys_find_every_parameter);
    tcase_add_test(tests, uplinks_have_the_rate_of_all_hosts);
    tcase_add_test(tests, rates_are_measured_between_hosts);
    tcase_add_test(tests, floods_keep_to_their_bounds);
    tcase_add_test(tests, floods_that_cannot_arrive_end);
    tcase_add_test(tests, floods_are_not_announced);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 5", surveys);
}

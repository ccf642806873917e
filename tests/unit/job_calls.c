/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is saved in a job whose calls are made up. */
#include "config.h"

#include "lib/base/error.h"
#include "lib/report/job_calls.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, CALLS = 20, BYTES = 1 << 20, BCAST = 0, BARRIER = 1, ROWS = 2 };
static const int64_t MS = 1000000;

/* What is made up: rank 3 computes for LATE ns before each barrier, and the other ranks, which
 * begin LATER ns later, make a broadcast. */
typedef struct made_up {
    int64_t late, later;
    int last_rank;               /* that takes part in the broadcasts */
    coll_operation barrier_of_0; /* what rank 0 calls instead of a barrier */
    int failed;                  /* the barrier, from 1, that has failed on rank 1; 0: none */
} made_up;

static coll_topo make_topo(void) {
    static const int one_rack[RANKS], one_site[RANKS];
    coll_topo topo = {.ranks = RANKS, .nodes = RANKS};
    topo.places = calloc(RANKS, sizeof *topo.places);
    ck_assert_ptr_nonnull(topo.places);
    for (int rank = 0; rank < RANKS; rank++)
        topo.places[rank].node = rank;
    coll_topo_locate(&topo, one_rack, one_site);
    topo.most_ranks_per_node = topo.cores_per_node = 1;
    return topo;
}

static coll_job_calls *make_calls(const made_up *of) {
    coll_job_calls *all = coll_job_calls_make(RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        coll_recorded_call bcasts[CALLS], barriers[CALLS];
        for (int i = 0; i < CALLS; i++) {
            const int64_t begin = (of->late + 300 * MS) * i + of->later,
                          computed = begin + of->late;
            bcasts[i] = (coll_recorded_call){begin, begin + 100 * MS,     BYTES, 0,
                                             BCAST, COLL_OPERATION_BCAST, false};
            barriers[i] =
                (coll_recorded_call){rank < 3 ? begin + 100 * MS : computed,
                                     computed + 10 * MS,
                                     0,
                                     COLL_NO_ROOT,
                                     BARRIER,
                                     rank == 0 ? of->barrier_of_0 : COLL_OPERATION_BARRIER,
                                     false};
        }
        if (rank == 1 && of->failed > 0) {
            barriers[of->failed - 1].operation = COLL_RECORDED_FAILURE;
            barriers[of->failed - 1].row = -1;
        }
        coll_job_series series = {.comm = 7, .place = rank, .ranks = 3, .first = 5, .count = CALLS};
        if (rank <= of->last_rank)
            ck_assert(coll_job_calls_add(all, rank, 2, &series, bcasts));
        series.comm = 8;
        series.ranks = RANKS;
        ck_assert(coll_job_calls_add(all, rank, 1, &series, barriers));
    }
    return all;
}

/* Sets ROWS to what single calls save, and then to what the job that OF describes saves. */
static bool replay(const made_up *of, coll_report_row rows[ROWS]) {
    coll_topo topo = make_topo();
    coll_job_calls *all = make_calls(of);
    char problem[200];
    memcpy(rows,
           (coll_report_row[]){{.operation = "bcast",
                                .algorithm = "chain",
                                .source = COLL_REPORT_ESTIMATED,
                                .calls = 3 * CALLS,
                                .estimated = 3 * CALLS,
                                .inside = 3 * CALLS * 0.1,
                                .saved = {2, 3, 4}},
                               {.operation = "barrier",
                                .algorithm = "native",
                                .source = COLL_REPORT_NATIVE,
                                .calls = RANKS * CALLS,
                                .estimated = RANKS * CALLS,
                                .inside = RANKS * CALLS * 0.1}},
           ROWS * sizeof *rows);
    coll_error_divert(problem, sizeof problem);
    const bool good = coll_job_calls_replay(all, 60, &topo, coll_profile_builtin(), ROWS, rows);
    coll_error_divert(NULL, 0);
    coll_job_calls_free(all);
    coll_topo_free(&topo);
    return good;
}

/* What three ranks save in broadcasts makes them wait for rank 3 for longer: nothing is saved but
 * the half of what they save if nobody is late. */
START_TEST(moved) {
    coll_report_row rows[ROWS], in_time[ROWS];
    ck_assert(replay(&(made_up){0, 0, 2, COLL_OPERATION_BARRIER, 0}, in_time));
    ck_assert(replay(&(made_up){1000 * MS, 0, 2, COLL_OPERATION_BARRIER, 0}, rows));
    const coll_report_range *bcast = &rows[BCAST].saved, *barrier = &rows[BARRIER].saved;
    const double most = in_time[BCAST].saved.middle;
    ck_assert(most > 0.01 && barrier->middle < -0.01);
    ck_assert_double_eq_tol(bcast->middle + barrier->middle, most / 2, 0.1 * most);
    ck_assert_double_eq_tol(bcast->high - bcast->low, 2, 1e-9);
    ck_assert_double_eq_tol(barrier->high - barrier->low, 0.6 * fabs(barrier->middle), 1e-9);
}
END_TEST

/* If nobody is late, all ranks save what a broadcast does. */
START_TEST(kept) {
    coll_report_row rows[ROWS];
    ck_assert(replay(&(made_up){0, 0, 2, COLL_OPERATION_BARRIER, 0}, rows));
    /* Rank 3 only waits: for as much less as the others' way is shorter. */
    ck_assert(fabs(rows[BARRIER].saved.middle) > 0.01);
    ck_assert(rows[BCAST].saved.middle * rows[BARRIER].saved.middle > 0);
    /* It does not matter when the job began. */
    coll_report_row same[ROWS];
    ck_assert(replay(&(made_up){0, 5000 * MS, 2, COLL_OPERATION_BARRIER, 0}, same));
    ck_assert_double_eq_tol(same[BCAST].saved.middle, rows[BCAST].saved.middle, 1e-6);
}
END_TEST

START_TEST(unknown) {
    coll_report_row rows[ROWS];
    /* Rank 2's broadcasts are not known: the estimate stays. */
    ck_assert(replay(&(made_up){1000 * MS, 0, 1, COLL_OPERATION_BARRIER, 0}, rows));
    ck_assert(rows[BCAST].saved.middle == 3);
    /* The ranks' calls differ. */
    ck_assert(!replay(&(made_up){1000 * MS, 0, 2, COLL_OPERATION_ALLREDUCE, 0}, rows));
    ck_assert(rows[BCAST].saved.middle == 3 && rows[BARRIER].saved.middle == 0);
}
END_TEST

/* The calls after one that failed on a single rank are known. */
START_TEST(failed) {
    coll_report_row rows[ROWS];
    ck_assert(replay(&(made_up){1000 * MS, 0, 2, COLL_OPERATION_BARRIER, CALLS / 2}, rows));
    ck_assert(rows[BARRIER].saved.middle < -0.01);
    /* If the last one has failed, none is known. */
    ck_assert(replay(&(made_up){1000 * MS, 0, 2, COLL_OPERATION_BARRIER, CALLS}, rows));
    ck_assert(rows[BARRIER].saved.middle == 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("job_calls");
    TCase *all = tcase_create("job_calls");
    tcase_add_test(all, moved);
    tcase_add_test(all, kept);
    tcase_add_test(all, unknown);
    tcase_add_test(all, failed);
    suite_add_tcase(suite, all);
    return harness_unit(suite);
}

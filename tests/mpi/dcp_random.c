/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs random programs on dedicated processors: communicators come and go, allreduces of many kinds
 * are posted on all of them, and are completed in an order that every rank chooses for itself,
 * among the MPI library's own. Nothing may be left behind. COLL_TEST_PROGRAMS is the number of
 * programs for each number of DCPs and each transport, COLL_TEST_SEED the first seed,
 * COLL_TEST_STEPS the length of a program.
 */
#include "config.h"

#include "cdcp/dcp.h"
#include "cdcp/request_pool.h"
#include "tests/support/dcp_run.h"
#include "tests/support/generator.h"
#include "tests/support/harness.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMMS = 6, PENDING = 60, MOST_COUNT = 24, VALUE = 8, MOST_RANKS = 64 };
enum { PROGRAMS = 8, STEPS = 200 };

/*
 * One of the program's communicators, null if this rank is not in it; and the application ranks in
 * it.
 */
typedef struct circle {
    MPI_Comm comm;
    int size, members[MOST_RANKS];
} circle;

typedef struct pending {
    coll_dcp_request *request;
    size_t bytes;
    char result[MOST_COUNT * VALUE], expected[MOST_COUNT * VALUE];
} pending;

typedef struct program {
    uint64_t seed;
    generator shared, own; /* random numbers: the same on all ranks, and this rank's own */
    MPI_Comm app;
    int rank;
    circle circles[COMMS];
    pending pending[PENDING];
    int step;
    bool good;
} program;

/* Returns the input of an application rank. All ranks know it, so that results can be computed. */
static uint64_t bits_of(const program *p, int rank, int index) {
    generator g = {p->seed ^ (uint64_t)p->step << 32 ^ (uint64_t)rank << 8 ^ (uint64_t)index};
    return draw(&g);
}

static double number_of(const program *p, int rank, int index) {
    uint64_t bits = bits_of(p, rank, index);
    double scale[] = {1e-6, 1, 1e3, 1e12};
    return ((double)(bits >> 20) / 1e12 - 8) * scale[bits % 4];
}

typedef struct element {
    const program *p;
    const circle *c;
    int index;
} element;

static double number_of_member(int member, void *context) {
    const element *e = context;
    return number_of(e->p, e->c->members[member], e->index);
}

/* The kinds of allreduces, which determine input and result. */
typedef enum kind { SUM_INT64, XOR_UINT64, MAX_DOUBLE, SUM_DOUBLE, MINLOC_2INT, KINDS } kind;

static const struct {
    MPI_Datatype type;
    MPI_Op op;
} kinds[KINDS] = {{MPI_INT64_T, MPI_SUM},
                  {MPI_UINT64_T, MPI_BXOR},
                  {MPI_DOUBLE, MPI_MAX},
                  {MPI_DOUBLE, MPI_SUM},
                  {MPI_2INT, MPI_MINLOC}};

static void bring(const program *p, kind which, int rank, int index, void *value) {
    uint64_t bits = bits_of(p, rank, index);
    double number = number_of(p, rank, index);
    int pair[2] = {(int)(bits % 5), rank};
    if (which == SUM_INT64 || which == XOR_UINT64)
        memcpy(value, &bits, sizeof bits);
    else if (which == MINLOC_2INT)
        memcpy(value, pair, sizeof pair);
    else
        memcpy(value, &number, sizeof number);
}

static void foretell(const program *p, kind which, const circle *c, int index, void *value) {
    if (which == SUM_DOUBLE) {
        double sum = dcp_tree_sum(c->size, number_of_member, &(element){p, c, index});
        memcpy(value, &sum, sizeof sum);
        return;
    }
    bring(p, which, c->members[0], index, value);
    for (int i = 1; i < c->size; i++) {
        char other[VALUE];
        bring(p, which, c->members[i], index, other);
        PMPI_Reduce_local(other, value, 1, kinds[which].type, kinds[which].op);
    }
}

static void check(program *p, bool good, const char *what) {
    if (!good && p->good)
        fprintf(stderr, "seed %" PRIu64 ", application rank %d, step %d: %s\n", p->seed, p->rank,
                p->step, what);
    p->good = p->good && good;
}

static void take_result(program *p, pending *done) {
    check(p, memcmp(done->result, done->expected, done->bytes) == 0, "wrong result");
    done->request = NULL;
}

static void wait_for(program *p, pending *awaited) {
    if (!awaited->request)
        return;
    check(p, dcp_run_wait(&awaited->request) == MPI_SUCCESS, "error of wait");
    take_result(p, awaited);
}

static void test_one(program *p, pending *tested) {
    if (tested->request && coll_dcp_ready(tested->request))
        wait_for(p, tested);
}

static void post(program *p, const circle *c, kind which, int count) {
    pending *slot = &p->pending[below(&p->own, PENDING)];
    char values[MOST_COUNT * VALUE];
    wait_for(p, slot);
    slot->bytes = (size_t)count * VALUE;
    for (int i = 0; i < count; i++) {
        bring(p, which, p->rank, i, values + i * VALUE);
        foretell(p, which, c, i, slot->expected + i * VALUE);
    }
    bool in_place = below(&p->own, 3) == 0;
    if (in_place)
        memcpy(slot->result, values, slot->bytes);
    check(p,
          coll_dcp_post(in_place ? MPI_IN_PLACE : values, slot->result, count, kinds[which].type,
                        kinds[which].op, c->comm, &slot->request) == MPI_SUCCESS,
          "error of post");
    memset(values, 0, sizeof values);
    if (below(&p->own, 4) == 0)
        wait_for(p, slot);
}

/* Compares with the MPI library's results. Its floating-point sums may differ by rounding. */
static void compare_native(program *p, const circle *c, kind which) {
    char value[VALUE], expected[VALUE], result[VALUE];
    if (which == SUM_DOUBLE)
        return;
    bring(p, which, p->rank, 0, value);
    foretell(p, which, c, 0, expected);
    PMPI_Allreduce(value, result, 1, kinds[which].type, kinds[which].op, c->comm);
    check(p, memcmp(result, expected, VALUE) == 0, "another result than the MPI library's");
}

static void enter(program *p, circle *c, MPI_Comm comm) {
    MPI_Group group, all;
    *c = (circle){.comm = comm};
    if (comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(p->app, &all);
    PMPI_Group_size(group, &c->size);
    int own[MOST_RANKS];
    for (int i = 0; i < c->size; i++)
        own[i] = i;
    PMPI_Group_translate_ranks(group, c->size, own, all, c->members);
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
}

/* All ranks draw the same numbers. Ranks that are not in the parent do not take part. */
static void make_comm(program *p) {
    circle *parent = &p->circles[below(&p->shared, COMMS)];
    circle *child = &p->circles[1 + below(&p->shared, COMMS - 1)];
    bool dup = below(&p->shared, 3) == 0;
    int colors = 1 + below(&p->shared, 3);
    uint64_t salt = draw(&p->shared);
    MPI_Comm made = MPI_COMM_NULL;
    generator g = {salt ^ (uint64_t)p->rank};
    if (parent->comm != MPI_COMM_NULL && dup)
        PMPI_Comm_dup(parent->comm, &made);
    else if (parent->comm != MPI_COMM_NULL)
        PMPI_Comm_split(parent->comm, below(&g, colors + 1) ? below(&g, colors) : MPI_UNDEFINED,
                        below(&g, 100), &made);
    check(p, coll_dcp_register(made) == MPI_SUCCESS, "error of register");
    if (child->comm != MPI_COMM_NULL) /* it may have requests that are still pending */
        PMPI_Comm_free(&child->comm);
    enter(p, child, made);
}

static void take_step(program *p) {
    int what = below(&p->shared, 100);
    if (what < 6) {
        make_comm(p);
        return;
    }
    const circle *c = &p->circles[below(&p->shared, COMMS)];
    kind which = (kind)below(&p->shared, KINDS);
    int count = below(&p->shared, MOST_COUNT) + 1;
    if (c->comm != MPI_COMM_NULL &&
        dcp_run_takes(count, kinds[which].type, kinds[which].op, c->comm))
        post(p, c, which, count);
    if (c->comm != MPI_COMM_NULL && what > 90)
        compare_native(p, c, which);
    test_one(p, &p->pending[below(&p->own, PENDING)]);
}

static int length_of_programs(void) {
    const char *given = getenv("COLL_TEST_STEPS");
    return given ? atoi(given) : STEPS;
}

static void run_program(program *p) {
    int steps = length_of_programs();
    for (int i = 0; i < COMMS; i++)
        enter(p, &p->circles[i], i ? MPI_COMM_NULL : p->app);
    for (p->step = 0; p->step < steps; p->step++)
        take_step(p);
    for (int i = 0; i < PENDING; i++)
        wait_for(p, &p->pending[i]);
    for (int i = 1; i < COMMS; i++)
        if (p->circles[i].comm != MPI_COMM_NULL)
            PMPI_Comm_free(&p->circles[i].comm);
}

static int next_request(void) {
    coll_dcp_request *request;
    if (coll_request_take(&request) != MPI_SUCCESS)
        return PENDING;
    int number = coll_request_number(request);
    coll_request_give_back(request);
    return number;
}

/* Runs programs with consecutive seeds from CONTEXT's on, and sets that to the next seed. */
static bool run_programs(MPI_Comm app, void *context) {
    uint64_t *seed = context;
    const char *given = getenv("COLL_TEST_PROGRAMS");
    int programs = given ? atoi(given) : PROGRAMS;
    int number = harness_next_communicator(app);
    program *p = malloc(sizeof *p);
    bool good = true;
    for (int i = 0; i < programs && good; i++, ++*seed) {
        *p = (program){.seed = *seed, .shared = {*seed}, .app = app, .good = true};
        PMPI_Comm_rank(app, &p->rank);
        p->own.state = *seed ^ (uint64_t)p->rank << 40;
        run_program(p);
        check(p, harness_next_communicator(app) == number, "a communicator is left");
        check(p, next_request() < PENDING, "requests are left");
        PMPI_Allreduce(&p->good, &good, 1, MPI_C_BOOL, MPI_LAND, app);
    }
    free(p);
    return good;
}

START_TEST(random_programs) {
    const char *given = getenv("COLL_TEST_SEED");
    uint64_t first = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("COLL_TEST_SEED=%" PRIu64 "\n", first);
    uint64_t seed = first;
    harness_assert(dcp_run_everywhere(ranks > 3 ? ranks - 3 : ranks - 1, 3, run_programs, &seed),
                   "COLL_TEST_SEED=%" PRIu64, first);
    if (rank == 0)
        printf("%" PRIu64 " programs\n", seed - first);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("dcp_random");
    TCase *cases = tcase_create("dcp_random");
    tcase_add_test(cases, random_programs);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "3 6 9 free:3", suite);
}

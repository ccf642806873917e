/*
 * The guard: it moves the data, all ranks agree on who is faster, remember it for a class of sizes
 * and an operation, and leave alone what the user has named. COLL_TEST_SLOW decides who is slow.
 */
#include "config.h"

#include "lib/bcast/bcast.h"
#include "lib/guard.h"
#include "tests/harness.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    MPI_Comm comm;
    coll_comm *state;
    int runs; /* so far, of any algorithm */
} fixture;

/* A fresh communicator whose state is guarded. */
static void open_fixture(fixture *f) {
    *f = (fixture){.runs = 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &f->comm);
    setenv("COLL_GUARD", "1", 1);
    int code = coll_comm_get(f->comm, &f->state);
    unsetenv("COLL_GUARD");
    harness_assert(code == MPI_SUCCESS && f->state->guard, "state");
}

static void close_fixture(fixture *f) {
    unsetenv("COLL_TEST_SLOW");
    MPI_Comm_free(&f->comm);
}

typedef struct counted_call {
    coll_bcast_call call;
    int *runs;
} counted_call;

static int run_counted(const void *call, const coll_algorithm *algorithm,
                       const coll_values *values) {
    const counted_call *counted = call;
    ++*counted->runs;
    return coll_bcast_of(algorithm)->run(&counted->call, values);
}

/* What the guard makes of a chain of BYTES; true where it has moved the data, and moved it right.
 */
static bool guard_chain(fixture *f, int bytes, coll_choice *choice) {
    char data[4096];
    memset(data, f->state->rank == 0 ? 'x' : '-', sizeof data);
    coll_data view;
    bool done = false;
    int code = coll_data_open(&view, data, bytes, MPI_CHAR);
    coll_shape shape = {.operation = "bcast", .bytes = (size_t)bytes, .topo = &f->state->topo};
    counted_call call = {.call = {.comm = f->state, .root = 0, .shape = &shape, .data = &view},
                         .runs = &f->runs};
    *choice = (coll_choice){.algorithm = &coll_bcast_chain.base,
                            .values = coll_values_default(&coll_bcast_chain.base),
                            .why = "least predicted time"};
    if (code == MPI_SUCCESS && f->state->ranks > 1)
        code = coll_guard(f->state, COLL_OPERATION_BCAST, (size_t)bytes, run_counted, &call, choice,
                          &done);
    coll_data_close(&view);
    for (int i = 0; done && i < (int)sizeof data; i++)
        done = data[i] == (i < bytes || f->state->rank == 0 ? 'x' : '-');
    harness_assert(code == MPI_SUCCESS, "guarded call");
    return done;
}

START_TEST(the_slower_one_goes) {
    static const char *const slow[] = {"chain", "native"};
    for (int i = 0; i < 2; i++) {
        fixture f;
        coll_choice choice;
        open_fixture(&f);
        if (f.state->ranks > 1) {
            /* One rank's slowness is everybody's. */
            if (f.state->rank == f.state->ranks - 1)
                setenv("COLL_TEST_SLOW", slow[i], 1);
            bool moved = guard_chain(&f, 1000, &choice);
            const char *left = i == 0 ? "native" : "chain";
            harness_assert(moved, "data");
            harness_assert(strcmp(choice.algorithm->name, left) == 0 && strstr(choice.why, "guard"),
                           "%s is slow: %s is left, %s", slow[i], choice.algorithm->name,
                           choice.why);
        }
        close_fixture(&f);
    }
}
END_TEST

START_TEST(verdicts_are_remembered_for_a_class_of_sizes) {
    fixture f;
    coll_choice choice;
    open_fixture(&f);
    if (f.state->ranks > 1) {
        setenv("COLL_TEST_SLOW", "chain", 1);
        guard_chain(&f, 1024, &choice);
        int first = f.runs;
        bool again = guard_chain(&f, 2047, &choice);
        harness_assert(first > 2 && !again && f.runs == first, "the same class is not measured");
        harness_assert(strcmp(choice.algorithm->name, "native") == 0, "the same class's verdict");
        setenv("COLL_TEST_SLOW", "native", 1);
        again = guard_chain(&f, 2048, &choice);
        harness_assert(again && f.runs == 2 * first, "the next class is measured");
        harness_assert(strcmp(choice.algorithm->name, "chain") == 0, "the next class's verdict");
    }
    close_fixture(&f);
}
END_TEST

START_TEST(it_keeps_out_of_what_is_settled) {
    fixture f;
    coll_choice choice;
    open_fixture(&f);
    if (f.state->ranks > 1) {
        setenv("COLL_TEST_SLOW", "chain", 1);
        f.state->guard = false;
        harness_assert(!guard_chain(&f, 100, &choice), "no guard");
        f.state->guard = true;
        harness_assert(COLL_Set(f.comm, "bcast", "chain") == MPI_SUCCESS, "COLL_Set");
        harness_assert(!guard_chain(&f, 100, &choice), "the user's word");
        harness_assert(strcmp(choice.algorithm->name, "chain") == 0 && f.runs == 0, "the choice");
    }
    close_fixture(&f);
}
END_TEST

static Suite *guards(void) {
    Suite *suite = suite_create("guard");
    TCase *tests = tcase_create("guard");
    tcase_add_test(tests, the_slower_one_goes);
    tcase_add_test(tests, verdicts_are_remembered_for_a_class_of_sizes);
    tcase_add_test(tests, it_keeps_out_of_what_is_settled);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 5 free:2", guards);
}

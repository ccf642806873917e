/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/ran.h"

#include "lib/tuning/state.h"
#include "tests/support/harness.h"
#include "tests/support/layouts.h"

#include <string.h>

bool can_run(MPI_Comm comm, const coll_algorithm *algorithm, size_t bytes, int root) {
    coll_comm *state;
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    coll_shape call = {.bytes = bytes, .root = root, .topo = &coll_state_of(state)->topo};
    return !algorithm->applicable || algorithm->applicable(&call);
}

static coll_operation operation_of(const char *name) {
    coll_operation operation;
    ck_assert_int_eq(coll_find_operation(name, &operation), MPI_SUCCESS);
    return operation;
}

/* Returns libcoll's choice for another call with the same OPERATION, BYTES and ROOT. */
static coll_choice choice_of(MPI_Comm comm, coll_operation operation, size_t bytes, int root) {
    coll_comm *state;
    bool learns;
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    coll_shape call = coll_state_shape(coll_state_of(state), operation, bytes, root);
    return coll_state_choose(coll_state_of(state), &call, &learns);
}

static bool is_asked(coll_choice ran, const coll_spec *asked) {
    return ran.algorithm == asked->algorithm &&
           memcmp(&ran.values, &asked->values, sizeof ran.values) == 0;
}

static bool sends_nothing(MPI_Comm comm, size_t bytes) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks == 1 || bytes == 0;
}

bool ran_as_told(MPI_Comm comm, const char *operation, size_t bytes, int root) {
    coll_comm *state;
    coll_operation which = operation_of(operation);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    const coll_spec *asked = &coll_state_of(state)->specs[which];
    return sends_nothing(comm, bytes) || !asked->algorithm ||
           !can_run(comm, asked->algorithm, bytes, root) ||
           is_asked(choice_of(comm, which, bytes, root), asked);
}

void assert_ran(MPI_Comm comm, const char *operation, size_t bytes, const char *spec) {
    coll_operation which = operation_of(operation);
    coll_spec asked;
    char ran[COLL_SPEC_MAX];
    ck_assert_int_eq(coll_spec_parse(operation, spec, coll_operations[which].table, &asked),
                     MPI_SUCCESS);
    if (sends_nothing(comm, bytes) || !asked.algorithm || !can_run(comm, asked.algorithm, bytes, 0))
        return;
    coll_choice choice = choice_of(comm, which, bytes, 0);
    coll_spec_print(choice.algorithm, &choice.values, ran, sizeof ran);
    ck_assert_msg(is_asked(choice, &asked), "%s of %zu bytes: %s ran in the place of %s", operation,
                  bytes, ran, spec);
}

MPI_Comm dup_for(MPI_Comm comm, const coll_algorithm *algorithm) {
    MPI_Comm copy;
    int ranks;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_size(copy, &ranks);
    if (ranks > 1 && !can_run(copy, algorithm, 1, 0))
        pretend_sites(copy, ranks < 3 ? ranks : 3);
    return copy;
}

/*
 * What coll-bench runs: every operation moves what its check expects, within the room that it asks
 * for, on any number of ranks, one among them.
 */
#include "config.h"

#include "tests/harness.h"
#include "tools/bench/operation.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Behind the room, for those who write beyond it. */
enum { GUARD = 4096, UNTOUCHED = 0xa7 };

static bool is_untouched(const unsigned char *guard) {
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != UNTOUCHED)
            return false;
    return true;
}

static void run_one(const operation *op, contender_run *run, bool nonblocking, size_t bytes,
                    int root) {
    const contender c = {.comm = MPI_COMM_WORLD, .run = run, .nonblocking = nonblocking};
    size_t room = op->room(bytes, ranks);
    unsigned char *buffer = malloc(room + GUARD);
    harness_assert(buffer, "memory");
    memset(buffer + room, UNTOUCHED, GUARD);
    operation_run described = {.buffer = buffer,
                               .bytes = bytes,
                               .rank = rank,
                               .ranks = ranks,
                               .root = root,
                               .uneven = op->uneven,
                               .seed = 7};
    op->fill(&described);
    harness_assert(is_untouched(buffer + room), "%s of %zu bytes is filled beyond its room",
                   op->name, bytes);
    int code = run(&c, &described);
    harness_assert(code == MPI_SUCCESS, "%s: %s", op->name, harness_text(code));
    harness_assert(op->verify(&described), "%s of %zu bytes from root %d", op->name, bytes, root);
    harness_assert(is_untouched(buffer + room), "%s of %zu bytes writes beyond its room", op->name,
                   bytes);
    free(buffer);
}

START_TEST(operations_move_their_data_within_their_room) {
    static const size_t sizes[] = {1, 1000, 65536};
    for (int i = 0; operation_name(i); i++) {
        const operation *op = operation_find(operation_name(i));
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int root = 0; root < ranks; root++) {
                run_one(op, op->ours, false, sizes[s], root);
                run_one(op, op->native, false, sizes[s], root);
                run_one(op, op->native, true, sizes[s], root);
            }
    }
}
END_TEST

/* So that the memory of a size beyond all bounds is refused, and not that of what is left of it. */
START_TEST(room_does_not_overflow) {
    for (int i = 0; operation_name(i); i++) {
        const operation *op = operation_find(operation_name(i));
        for (int shift = 0; shift < 63; shift++) {
            size_t bytes = (size_t)1 << shift;
            ck_assert_uint_ge(op->room(bytes, ranks), bytes);
            ck_assert_uint_le(op->room(bytes, ranks), PTRDIFF_MAX);
        }
    }
}
END_TEST

static Suite *suite(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Suite *made = suite_create("operation");
    TCase *tests = tcase_create("operation");
    tcase_add_test(tests, operations_move_their_data_within_their_room);
    tcase_add_test(tests, room_does_not_overflow);
    suite_add_tcase(made, tests);
    return made;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 5", suite);
}

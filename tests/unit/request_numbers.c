/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the integers of the wrapper's requests, in ranges of addresses that are made up. */
#include "config.h"

#include "cdcp/pmpi/requests.h"
#include "tests/support/harness.h"

enum { BYTES = 1 << 20, MPICH_REQUEST_NULL = 0x2c000000, PERSISTENT_OF_MPICH = 0x6c000000 };
static const uintptr_t served = 0x700000000000;

coll_dcp_range coll_nonblocking_arena;

/* Puts the range of libcoll's requests DISTANCE bytes behind that of dedicated processors. */
static void place(int64_t distance) {
    coll_dcp_arena = (coll_dcp_range){.base = served, .size = BYTES};
    coll_nonblocking_arena = (coll_dcp_range){.base = served + (uintptr_t)distance, .size = BYTES};
}

static void expect_none(MPI_Fint number) {
    ck_assert_ptr_null(coll_requests_numbered(number));
}

START_TEST(numbers_lead_back_to_addresses) {
    place(-BYTES);
    for (uintptr_t at = served - BYTES; at < served + BYTES; at += BYTES / 8) {
        const MPI_Fint number = coll_requests_number((void *)at);
        ck_assert_uint_eq((uintptr_t)coll_requests_numbered(number), at);
    }
    expect_none(COLL_REQUESTS_DCP + BYTES);
    expect_none(COLL_REQUESTS_LIBCOLL + BYTES);
}
END_TEST

/* A number of one kind is no request of the other kind, wherever the other range is. */
START_TEST(other_numbers_are_no_requests) {
    const MPI_Fint others[] = {MPICH_REQUEST_NULL, PERSISTENT_OF_MPICH, 0, INT32_MIN,
                               COLL_REQUESTS_DCP + 2 * BYTES};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        place((int64_t)(uint32_t)others[i] - COLL_REQUESTS_DCP - BYTES / 2);
        expect_none(others[i]);
        place(COLL_REQUESTS_LIBCOLL - (int64_t)(uint32_t)others[i] + BYTES / 2);
        expect_none(others[i]);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("request numbers");
    TCase *tcase = tcase_create("request numbers");
    tcase_add_test(tcase, numbers_lead_back_to_addresses);
    tcase_add_test(tcase, other_numbers_are_no_requests);
    suite_add_tcase(suite, tcase);
    return harness_unit(suite);
}

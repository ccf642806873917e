/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which ranks become dedicated processors, and which ranks each serves. */
#include "cdcp/mapping.h"
#include "cdcp/dcp_model.h"
#include "tests/support/harness.h"

#include <check.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64 };

static bool parses(const char *text, int served, int dcps) {
    coll_mapping_wish wish;
    return coll_mapping_parse(text, &wish) == MPI_SUCCESS && wish.served == served &&
           wish.dcps == dcps;
}

static bool is_malformed(const char *text) {
    coll_mapping_wish wish;
    const char *problem = harness_text(coll_mapping_parse(text, &wish));
    return strstr(problem, text) && strstr(problem, "1:4");
}

START_TEST(wishes) {
    ck_assert(parses("1:4", 4, 0) && parses("1:1", 1, 0) && parses("8", 0, 8));
    const char *bad[] = {"",  "0",  "-1", "1:0", "2:4",   "1:", "1:-4",       "1:4x",
                         "x", " 8", "8 ", "1.5", "1:4:2", "+3", "99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(is_malformed(bad[i]), "%s", bad[i]);
}
END_TEST

/* Maps ranks on nodes of equal size, block by block. */
static coll_mapping map_blocks(const char *text, int nodes, int size) {
    int node_of[MOST_RANKS];
    coll_mapping_wish wish;
    coll_mapping mapping;
    for (int rank = 0; rank < nodes * size; rank++)
        node_of[rank] = rank / size;
    ck_assert_int_eq(coll_mapping_parse(text, &wish), MPI_SUCCESS);
    int code = coll_mapping_make(&wish, nodes * size, node_of, &mapping);
    ck_assert_msg(code == MPI_SUCCESS, "%s", harness_text(code));
    return mapping;
}

static void check_mapping(const char *text, int nodes, int size, const int expected[]) {
    coll_mapping mapping = map_blocks(text, nodes, size);
    for (int rank = 0; rank < nodes * size; rank++)
        ck_assert_msg(mapping.dcp_of[rank] == expected[rank],
                      "%s on %d nodes of %d: rank %d has %d", text, nodes, size, rank,
                      mapping.dcp_of[rank]);
    coll_mapping_free(&mapping);
}

START_TEST(by_hand) {
    check_mapping("1:3", 2, 4, (int[]){3, 3, 3, -1, 7, 7, 7, -1}); /* the paper's figure 4 */
    check_mapping("2", 2, 4, (int[]){3, 3, 3, -1, 7, 7, 7, -1});
    check_mapping("1:4", 1, 10, (int[]){8, 8, 8, 8, 9, 9, 9, 9, -1, -1});
    check_mapping("1", 1, 2, (int[]){1, -1});
    check_mapping("1", 2, 2, (int[]){3, 3, 3, -1});
    check_mapping("2", 4, 2, (int[]){3, 3, 3, -1, 7, 7, 7, -1});
    check_mapping("4", 2, 3, (int[]){1, -1, -1, 4, -1, -1});
    /* Whole nodes serve, but rank 0 is always an application rank. */
    check_mapping("3", 4, 1, (int[]){1, -1, -1, -1});
}
END_TEST

START_TEST(ratio_of_the_paper) {
    int *node_of = calloc(640, sizeof *node_of);
    coll_mapping mapping;
    for (int rank = 0; rank < 640; rank++)
        node_of[rank] = rank / 4;
    ck_assert_int_eq(coll_mapping_make(&(coll_mapping_wish){.served = 4}, 640, node_of, &mapping),
                     MPI_SUCCESS);
    ck_assert_int_eq(mapping.applications, 512);
    ck_assert_int_eq(mapping.dcps, 128);
    coll_mapping_free(&mapping);
    free(node_of);
}
END_TEST

static bool fails(int served, int dcps, int ranks, const char *part) {
    int node_of[MOST_RANKS] = {0};
    coll_mapping mapping;
    coll_mapping_wish wish = {.served = served, .dcps = dcps};
    return strstr(harness_text(coll_mapping_make(&wish, ranks, node_of, &mapping)), part);
}

START_TEST(too_few_ranks) {
    ck_assert(fails(0, 9, 8, "more dedicated processors than ranks (8)"));
    ck_assert(fails(0, 8, 8, "none is left for the application"));
    ck_assert(fails(4, 0, 1, "none is left for the application"));
    ck_assert(fails(0, INT_MAX, 8, "more dedicated processors than ranks (8)"));
}
END_TEST

/* Counts the ranks of a node, and the DCPs among them. */
static void count_node(const coll_mapping *mapping, const int node_of[], int node, int *ranks,
                       int *dcps) {
    *ranks = *dcps = 0;
    for (int rank = 0; rank < mapping->ranks; rank++) {
        if (node_of[rank] != node)
            continue;
        bool serves = mapping->dcp_of[rank] < 0;
        ck_assert_msg(serves || *dcps == 0, "DCPs are the last ranks of their node");
        ++*ranks;
        *dcps += serves;
    }
}

static void check_properties(const coll_mapping *mapping, const int node_of[], int nodes) {
    int load[MOST_RANKS] = {0}, dcps_on[MOST_RANKS], found = 0;
    for (int node = 0; node < nodes; node++) {
        int ranks;
        count_node(mapping, node_of, node, &ranks, &dcps_on[node]);
        double fair = (double)mapping->dcps * ranks / mapping->ranks;
        ck_assert_msg(dcps_on[node] > fair - 1 && dcps_on[node] < fair + 1, "spread evenly");
        found += dcps_on[node];
    }
    ck_assert_int_eq(found, mapping->dcps);
    ck_assert_int_eq(mapping->ranks, mapping->dcps + mapping->applications);
    ck_assert_msg(mapping->dcp_of[0] >= 0, "rank 0 is an application rank");
    for (int rank = 0; rank < mapping->ranks; rank++) {
        int dcp = mapping->dcp_of[rank];
        if (dcp < 0)
            continue;
        ck_assert_msg(mapping->dcp_of[dcp] == -1, "a DCP serves");
        load[dcp]++;
        ck_assert_msg(!dcps_on[node_of[rank]] || node_of[dcp] == node_of[rank], "on its own node");
    }
    int share = (mapping->applications + mapping->dcps - 1) / mapping->dcps;
    for (int rank = 0; rank < mapping->ranks; rank++) {
        int node = node_of[rank], ranks, dcps;
        count_node(mapping, node_of, node, &ranks, &dcps);
        int own = dcps ? (ranks - dcps + dcps - 1) / dcps : 0;
        ck_assert_msg(load[rank] <= share || load[rank] <= own, "no DCP has more than its share");
    }
}

START_TEST(properties) {
    srand(4);
    for (int round = 0; round < 3000; round++) {
        int ranks = 2 + rand() % (MOST_RANKS - 2), most = 1 + rand() % ranks, nodes = 0;
        int node_of[MOST_RANKS];
        for (int rank = 0; rank < ranks; rank++) { /* nodes are numbered by first appearance */
            int node = rand() % most;
            node_of[rank] = node < nodes ? node : nodes++;
        }
        coll_mapping mapping;
        coll_mapping_wish wish = {.dcps = 1 + rand() % (ranks - 1)};
        int code = coll_mapping_make(&wish, ranks, node_of, &mapping);
        ck_assert_msg(code == MPI_SUCCESS, "%s", harness_text(code));
        check_properties(&mapping, node_of, nodes);
        coll_mapping_free(&mapping);
    }
}
END_TEST

/* The paper's machine: 4 us of latency, and 0.5 us of overhead as in its simulation. */
START_TEST(radix_by_the_model) {
    const coll_cost cost = {.latency = 4e-6, .overhead = 0.5e-6};
    ck_assert_int_eq((int)(coll_model_exchange(128, 2, 8, &cost) * 1e7 + 0.5), 350);
    ck_assert_int_eq((int)(coll_model_exchange(128, 4, 8, &cost) * 1e7 + 0.5), 260);
    int radix = coll_model_radix(128, &cost);
    for (int other = 2; other <= 16; other++)
        ck_assert(coll_model_exchange(128, radix, 8, &cost) <=
                  coll_model_exchange(128, other, 8, &cost));
    ck_assert_int_ge(radix, 4);
    ck_assert_int_eq(coll_model_radix(1, &cost), 2);
}
END_TEST

/* The same machine, with four cores on each node; within a node 0.5 us and 4 GB/s. */
static coll_model_job job_of(int applications, int dcps) {
    const coll_cost outer = {.latency = 4e-6, .overhead = 0.5e-6, .per_byte = 1 / 950e6};
    const coll_cost inner = {.latency = 0.5e-6, .overhead = 0.5e-6, .per_byte = 1 / 4e9};
    int nodes = (applications + dcps + 3) / 4;
    return (coll_model_job){.applications = applications,
                            .dcps = dcps,
                            .most_on_node = 4,
                            .to_dcp = dcps < nodes ? outer : inner,
                            .among = outer,
                            .on_node = inner};
}

/* Fewer messages are better with many DCPs and few bytes. */
START_TEST(digits_by_the_model) {
    const coll_model_job job = job_of(384, 128);
    ck_assert_int_eq(coll_model_digits(16, 65536, &job.among), 1);
    ck_assert_int_eq(coll_model_digits(128, 8192, &job.among), 2);
    ck_assert_int_gt(coll_model_digits(128, 8, &job.among), 2);
    ck_assert_int_eq(coll_model_digits(1, 8, &job.among), 1);
    /* 11 and 10 messages in each direction, and 8192 bytes without a 12th and an 11th */
    double sent = 8192 * (11 / 12.0 + 10 / 11.0);
    ck_assert_double_eq_tol(coll_model_blocks_exchange(128, 2, 8192, &job.among),
                            2 * 4e-6 + 2 * (21 * 0.5e-6 + sent / 950e6), 1e-12);
}
END_TEST

/*
 * The limit of blocks is the size at which DCPs take longer than the ranks, which is small if there
 * are few DCPs.
 */
START_TEST(blocks_by_the_model) {
    const coll_model_job near = job_of(48, 16), far = job_of(51, 13), many = job_of(512, 128);
    size_t most = coll_model_blocks(&near, 1);
    ck_assert_uint_eq(most, 8192);
    ck_assert(coll_model_blocks_latency(&near, 1, most) <= coll_model_blocks_native(&near, most));
    ck_assert(coll_model_blocks_latency(&near, 1, 2 * most) >
              coll_model_blocks_native(&near, 2 * most));
    ck_assert_uint_eq(coll_model_blocks(&far, 1), 2048);
    ck_assert_uint_eq(coll_model_blocks(&many, 2), 16384);
    ck_assert_uint_eq(coll_model_blocks_for(16), 512);
    ck_assert_uint_eq(coll_model_blocks_for(2048), COLL_MODEL_BLOCKS_MOST);
}
END_TEST

static Suite *mappings(void) {
    Suite *suite = suite_create("mapping");
    TCase *cases = tcase_create("mapping");
    tcase_add_test(cases, wishes);
    tcase_add_test(cases, by_hand);
    tcase_add_test(cases, ratio_of_the_paper);
    tcase_add_test(cases, too_few_ranks);
    tcase_add_test(cases, properties);
    tcase_add_test(cases, radix_by_the_model);
    tcase_add_test(cases, digits_by_the_model);
    tcase_add_test(cases, blocks_by_the_model);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1", mappings);
}

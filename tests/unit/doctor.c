/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what coll-info doctor concludes from made-up facts and measurements. */
#include "config.h"

#include "tests/support/harness.h"
#include "tools/doctor/judge.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { HOSTS = 6, RANKS = 2 * HOSTS, MOST = HOSTS * HOSTS };

static doctor_facts facts[RANKS];
static int host_of[RANKS], first[HOSTS];
static doctor_pair pairs[MOST];
static doctor_job job;
static doctor_findings found;
static double held_up; /* of the pairs whose values are set */

/* Sets the values of PAIR in both directions. */
static void set_values(doctor_pair *pair, double latency, double rate, double loss) {
    const doctor_half half = {.latency = latency,
                              .rate = rate,
                              .sent = 1000,
                              .resent = 1000 * loss,
                              .held_up = {held_up, held_up}};
    pair->of_a = pair->of_b = half;
    pair->of_a.peer = pair->b;
    pair->of_b.peer = pair->a;
}

/* Makes six equal hosts of two ranks, each on a core of its own, and measures between all of them.
 */
static void set_up(void) {
    memset(facts, 0, sizeof facts);
    doctor_findings_free(&found);
    held_up = 0;
    int count = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        doctor_facts *f = &facts[rank];
        host_of[rank] = rank / 2;
        first[rank / 2] = rank - rank % 2;
        snprintf(f->host, sizeof f->host, "n%d", rank / 2);
        f->cores[0] = 1U << rank % 2;
        for (int nth = 0; nth < DOCTOR_TRIES; nth++) {
            f->speed[nth] = 1e9 + 1e7 * rank;
            f->share[nth] = 0.99;
        }
        f->interface_count = 1;
        f->interfaces[0] = (doctor_interface){
            .name = "eth0", .mtu = 1500, .megabits = 1000, .connections = 5, .running = true};
    }
    for (int a = 0; a < HOSTS; a++)
        for (int b = a + 1; b < HOSTS; b++) {
            pairs[count] = (doctor_pair){.a = a, .b = b};
            set_values(&pairs[count++], 50e-6, 1e8, 0);
        }
    job = (doctor_job){.ranks = RANKS,
                       .hosts = HOSTS,
                       .facts = facts,
                       .host_of = host_of,
                       .first = first,
                       .pairs = pairs,
                       .pair_count = count};
}

/* Sets the values of all pairs of HOST. */
static void set_host(int host, double latency, double rate, double loss) {
    for (int p = 0; p < job.pair_count; p++)
        if (pairs[p].a == host || pairs[p].b == host)
            set_values(&pairs[p], latency, rate, loss);
}

static void expect(doctor_kind kind, int host, bool certain) {
    ck_assert_int_ge(found.count, 1);
    doctor_findings_sort(&found);
    ck_assert_str_eq(doctor_kind_name(found.of[0].kind), doctor_kind_name(kind));
    ck_assert_int_eq(found.of[0].host, host);
    ck_assert_int_eq(found.of[0].certain, certain);
}

static void expect_fact(doctor_kind kind, int host, bool certain) {
    doctor_judge_facts(&job, &found);
    expect(kind, host, certain);
    ck_assert_int_eq(found.count, 1);
}

static void expect_nothing(void) {
    doctor_suspect suspects[DOCTOR_SUSPECTS];
    doctor_judge_facts(&job, &found);
    ck_assert_int_eq(doctor_find_suspects(&job, suspects), 0);
    doctor_judge_suspects(&job, suspects, 0, NULL, &found);
    for (int i = 0; i < found.count; i++)
        ck_abort_msg("said: %s", found.of[i].text);
}

/* Finds the only suspect, and has it tested with the values of bad and good pairs. */
static void confirm(int host, int other, const double bad[DOCTOR_REPEATS][3]) {
    doctor_suspect suspects[DOCTOR_SUSPECTS];
    doctor_pair alone[DOCTOR_EDGES * DOCTOR_REPEATS];
    ck_assert_int_eq(doctor_find_suspects(&job, suspects), 1);
    ck_assert_int_eq(suspects[0].host, host);
    ck_assert_int_eq(suspects[0].other, other);
    ck_assert_int_eq(suspects[0].corner[0], host);
    if (other >= 0)
        ck_assert_int_eq(suspects[0].corner[1], other);
    ck_assert(suspects[0].corner[2] >= 0 && suspects[0].corner[2] != host &&
              suspects[0].corner[2] != suspects[0].corner[1]);
    for (int r = 0; r < DOCTOR_REPEATS; r++)
        for (int edge = 0; edge < DOCTOR_EDGES; edge++) {
            doctor_pair *pair = &alone[r * DOCTOR_EDGES + edge];
            pair->a = 0;
            if (edge == 0 || (edge == 1 && other < 0))
                set_values(pair, bad[r][0], bad[r][1], bad[r][2]);
            else
                set_values(pair, 50e-6, 1e8, 0);
        }
    doctor_judge_suspects(&job, suspects, 1, alone, &found);
}

START_TEST(equal_hosts) {
    expect_nothing();
}
END_TEST

START_TEST(cores) {
    facts[5].cores[0] = facts[4].cores[0];
    expect_fact(DOCTOR_SHARED_CORE, 2, true);
    ck_assert_ptr_nonnull(strstr(found.of[0].text, "host n2: 2 ranks, 4 and 5 among them"));
}
END_TEST

/* The same cause on two hosts explains the consequences on both. */
START_TEST(cores_of_two_hosts) {
    set_host(3, 50e-6, 5e7, 0);
    for (int host = 2; host <= 3; host++) {
        facts[2 * host + 1].cores[0] = facts[2 * host].cores[0];
        for (int nth = 0; nth < DOCTOR_TRIES; nth++)
            facts[2 * host].share[nth] = 0.5;
    }
    expect_fact(DOCTOR_SHARED_CORE, 2, true);
    confirm(3, -1, (const double[][3]){{5e-5, 5e7, 0}, {5e-5, 5e7, 0}, {5e-5, 5e7, 0}});
    ck_assert_int_eq(found.count, 1);
    ck_assert(doctor_finding_is_about(&found.of[0], 3));
}
END_TEST

START_TEST(few_cores) {
    job.ranks = 3;
    job.hosts = 1;
    job.pair_count = 0;
    for (int rank = 0; rank < 3; rank++) {
        host_of[rank] = 0;
        facts[rank].cores[0] = 3;
    }
    expect_fact(DOCTOR_FEW_CORES, 0, true);
}
END_TEST

START_TEST(limits) {
    facts[6].limit = 1.5;
    expect_fact(DOCTOR_LIMIT, 3, true);
    ck_assert_ptr_nonnull(strstr(found.of[0].text, "1.5 processors to 2 ranks"));
    set_up();
    facts[6].limit = 2;
    expect_nothing();
}
END_TEST

/* One of three tries that does not agree makes it uncertain; two make it nothing. */
START_TEST(slow_cores) {
    for (int nth = 0; nth < DOCTOR_TRIES; nth++)
        facts[3].speed[nth] = 6e8;
    expect_fact(DOCTOR_SLOW, 1, true);
    found.count = 0;
    facts[3].speed[1] = 1e9;
    expect_fact(DOCTOR_SLOW, 1, false);
    found.count = 0;
    facts[3].speed[2] = 1e9;
    expect_nothing();
}
END_TEST

START_TEST(busy_hosts) {
    for (int nth = 0; nth < DOCTOR_TRIES; nth++)
        facts[8].share[nth] = 0.5;
    expect_fact(DOCTOR_BUSY, 4, true);
    found.count = 0;
    /* All share cores: so do the ranks of a test on one machine. */
    for (int rank = 0; rank < RANKS; rank++)
        for (int nth = 0; nth < DOCTOR_TRIES; nth++)
            facts[rank].share[nth] = rank == 8 ? 0.1 : 0.4;
    expect_nothing();
}
END_TEST

START_TEST(interfaces) {
    facts[2].interfaces[0].megabits = 100;
    expect_fact(DOCTOR_MEGABITS, 1, true);
    set_up();
    facts[4].interfaces[0].mtu = 9000;
    expect_fact(DOCTOR_MTU, 2, true);
    set_up();
    facts[4].interfaces[0].bridge = true;
    expect_fact(DOCTOR_BRIDGE, 2, true);
    set_up();
    facts[4].interfaces[0].errors = 7;
    expect_fact(DOCTOR_ERRORS, 2, true);
    set_up();
    facts[10].interfaces[0].running = false;
    expect_fact(DOCTOR_DOWN, 5, true);
    set_up();
    strcpy(facts[0].loopback, "127.0.1.1");
    expect_fact(DOCTOR_NAME_LOOPBACK, 0, true);
    set_up();
    /* Half of the hosts: a cluster of two kinds. An interface that MPI does not use: no matter. */
    for (int rank = 0; rank < RANKS / 2; rank++) {
        facts[rank].interfaces[0].mtu = 9000;
        facts[rank].interfaces[0].megabits = 100;
        facts[rank].interfaces[1] = (doctor_interface){.name = "docker0", .bridge = true};
        facts[rank].interface_count = 2;
    }
    expect_nothing();
}
END_TEST

static void keep_two_hosts(void) {
    job.hosts = 2;
    job.ranks = 4;
    job.pair_count = 1;
}

START_TEST(interfaces_of_two_hosts) {
    keep_two_hosts();
    facts[2].interfaces[0].mtu = 9000;
    expect_fact(DOCTOR_MTU, 0, true);
    ck_assert_ptr_nonnull(
        strstr(found.of[0].text, "an MTU of 1500, that of the other hosts is 9000"));
    set_up();
    keep_two_hosts();
    facts[2].interfaces[0].megabits = 100;
    expect_fact(DOCTOR_MEGABITS, 1, true);
    ck_assert_ptr_nonnull(
        strstr(found.of[0].text, "at 100 Mbit/s, that of the other hosts at 1000"));
}
END_TEST

START_TEST(order) {
    static const int random[RANKS] = {0, 1, 0, 2, 1, 2, 2, 0, 1, 0, 2, 1},
                     rack_by_rack[RANKS] = {2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1},
                     one_out_of_place[RANKS] = {2, 2, 2, 2, 0, 0, 1, 0, 0, 1, 1, 1};
    job.rack_of = random;
    expect_fact(DOCTOR_ORDER, -1, true);
    ck_assert_ptr_nonnull(strstr(found.of[0].text, "10 of 11 pairs of consecutive ranks"));
    ck_assert_ptr_nonnull(strstr(found.of[0].text, "rack by rack it would be 2"));
    found.count = 0;
    job.racks_measured = true;
    expect_fact(DOCTOR_ORDER, -1, false);
    found.count = 0;
    job.rack_of = rack_by_rack;
    expect_nothing();
    job.rack_of = one_out_of_place;
    expect_nothing();
    job.rack_of = (const int[RANKS]){0};
    expect_nothing();
}
END_TEST

START_TEST(a_slow_host) {
    set_host(3, 50e-6, 5e7, 0);
    confirm(3, -1, (const double[][3]){{50e-6, 5e7, 0}, {50e-6, 4e7, 0}, {50e-6, 6e7, 0}});
    expect(DOCTOR_RATE, 3, true);
    found.count = 0;
    confirm(3, -1, (const double[][3]){{50e-6, 5e7, 0}, {50e-6, 9e7, 0}, {50e-6, 6e7, 0}});
    expect(DOCTOR_RATE, 3, false);
    found.count = 0;
    confirm(3, -1, (const double[][3]){{50e-6, 5e7, 0}, {50e-6, 9e7, 0}, {50e-6, 9e7, 0}});
    ck_assert_int_eq(found.count, 0);
}
END_TEST

/* A host that loses packets is also slow, and its link at 100 Mbit/s explains a low rate. */
START_TEST(causes) {
    set_host(2, 400e-6, 1e7, 0.02);
    confirm(2, -1, (const double[][3]){{4e-4, 1e7, 0.02}, {4e-4, 1e7, 0.01}, {4e-4, 1e7, 0.03}});
    ck_assert_int_eq(found.count, 1);
    expect(DOCTOR_LOSS, 2, true);
    set_up();
    set_host(2, 50e-6, 1e7, 0);
    facts[4].interfaces[0].megabits = 100;
    doctor_judge_facts(&job, &found);
    confirm(2, -1, (const double[][3]){{5e-5, 1e7, 0}, {5e-5, 1e7, 0}, {5e-5, 1e7, 0}});
    ck_assert_int_eq(found.count, 1);
    expect(DOCTOR_MEGABITS, 2, true);
}
END_TEST

START_TEST(a_delayed_host) {
    set_host(0, 3e-3, 1e8, 0);
    confirm(0, -1, (const double[][3]){{3e-3, 1e8, 0}, {3e-3, 1e8, 0}, {3e-3, 1e8, 0}});
    expect(DOCTOR_LATENCY, 0, true);
}
END_TEST

/* It may be another program that makes a host answer late, but not what makes it lose packets. */
START_TEST(a_host_held_up) {
    set_host(1, 9e-4, 1e8, 0);
    held_up = 0.4; /* of both ranks */
    confirm(1, -1, (const double[][3]){{9e-4, 1e8, 0}, {3e-4, 1e8, 0}, {9e-4, 1e8, 0}});
    expect(DOCTOR_LATENCY, 1, false);
    found.count = 0;
    confirm(1, -1, (const double[][3]){{3e-3, 1e8, 0}, {3e-3, 1e8, 0}, {3e-3, 1e8, 0}});
    expect(DOCTOR_LATENCY, 1, true);
    set_up();
    set_host(1, 5e-5, 1e8, 0.02);
    held_up = 0.4;
    confirm(1, -1, (const double[][3]){{5e-5, 1e8, 0.02}, {5e-5, 1e8, 0.02}, {5e-5, 1e8, 0.02}});
    expect(DOCTOR_LOSS, 1, true);
}
END_TEST

START_TEST(a_bad_link) {
    set_values(&pairs[7], 50e-6, 1e8, 0.03);
    confirm(pairs[7].a, pairs[7].b,
            (const double[][3]){{5e-5, 1e8, 0.03}, {5e-5, 1e8, 0.02}, {5e-5, 1e8, 0.04}});
    expect(DOCTOR_LOSS, pairs[7].a, true);
    ck_assert_ptr_nonnull(strstr(found.of[0].text, "the link between n"));
}
END_TEST

/* Between two hosts only losses stand out: there is nothing to compare latency and rate with. */
START_TEST(two_hosts) {
    doctor_suspect suspects[DOCTOR_SUSPECTS];
    doctor_pair alone[DOCTOR_REPEATS * DOCTOR_EDGES] = {{.a = 0}};
    job.hosts = 2;
    job.ranks = 4;
    job.pair_count = 1;
    set_values(&pairs[0], 1, 1e3, 0);
    expect_nothing();
    set_values(&pairs[0], 1, 1e3, 0.02);
    ck_assert_int_eq(doctor_find_suspects(&job, suspects), 1);
    ck_assert_int_eq(suspects[0].other, 1);
    ck_assert_int_eq(suspects[0].corner[2], -1);
    for (int i = 0; i < DOCTOR_REPEATS * DOCTOR_EDGES; i++)
        set_values(&alone[i], 1, 1e3, 0.02);
    doctor_judge_suspects(&job, suspects, 1, alone, &found);
    ck_assert_int_eq(found.count, 1);
    expect(DOCTOR_LOSS, 0, true);
}
END_TEST

/* Two sites, between which messages take long: no host stands out, nor a link. */
START_TEST(two_sites) {
    for (int p = 0; p < job.pair_count; p++)
        if ((pairs[p].a < HOSTS / 2) != (pairs[p].b < HOSTS / 2))
            set_values(&pairs[p], 10e-3, 2e7, 0);
    expect_nothing();
}
END_TEST

START_TEST(clocks) {
    for (int p = 0; p < job.pair_count; p++)
        if (pairs[p].a == 4 || pairs[p].b == 4)
            pairs[p].of_a.ahead = pairs[p].a == 4 ? -12 : 12;
    doctor_judge_suspects(&job, NULL, 0, NULL, &found);
    expect(DOCTOR_CLOCK, 4, true);
    ck_assert_ptr_nonnull(strstr(found.of[0].text, "12 s ahead"));
}
END_TEST

/* All hosts have one partner or none at a time, and another one in each round. */
START_TEST(partners) {
    for (int hosts = 2; hosts < 40; hosts++)
        for (int host = 0; host < hosts; host++)
            for (int nth = 0; nth < DOCTOR_ROUNDS && nth < hosts - 1 + hosts % 2; nth++) {
                const int partner = doctor_network_partner(host, hosts, nth);
                ck_assert(partner >= 0 && partner < hosts);
                ck_assert_int_eq(doctor_network_partner(partner, hosts, nth), host);
                for (int before = 0; before < nth; before++)
                    ck_assert_int_ne(doctor_network_partner(host, hosts, before), partner);
            }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("doctor");
    TCase *tests = tcase_create("judge");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, equal_hosts);
    tcase_add_test(tests, cores);
    tcase_add_test(tests, cores_of_two_hosts);
    tcase_add_test(tests, few_cores);
    tcase_add_test(tests, limits);
    tcase_add_test(tests, slow_cores);
    tcase_add_test(tests, busy_hosts);
    tcase_add_test(tests, interfaces);
    tcase_add_test(tests, interfaces_of_two_hosts);
    tcase_add_test(tests, order);
    tcase_add_test(tests, a_slow_host);
    tcase_add_test(tests, causes);
    tcase_add_test(tests, a_delayed_host);
    tcase_add_test(tests, a_host_held_up);
    tcase_add_test(tests, a_bad_link);
    tcase_add_test(tests, two_hosts);
    tcase_add_test(tests, two_sites);
    tcase_add_test(tests, clocks);
    tcase_add_test(tests, partners);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the processor time that control groups grant, from made-up trees of both versions. */
#include "config.h"

#include "lib/base/cgroup.h"
#include "tests/support/harness.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/coll-cgroup-XXXXXX";
static char made[32][PATH_MAX]; /* files and folders, which are removed last to first */
static int count;

static const char *below(const char *name) {
    snprintf(made[count], sizeof made[count], "%s/%s", root, name);
    return made[count++];
}

static void folder(const char *name) {
    ck_assert_int_eq(mkdir(below(name), 0700), 0);
}

static void file(const char *name, const char *text) {
    FILE *stream = fopen(below(name), "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

static void set_up(void) {
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    count = 0;
}

static void tear_down(void) {
    while (count)
        remove(made[--count]);
    rmdir(root);
}

static double processors(void) {
    char membership[PATH_MAX];
    snprintf(membership, sizeof membership, "%s/self", root);
    return coll_cgroup_processors(membership, root);
}

START_TEST(version_2_gives_the_least_grant_of_all_around) {
    file("self", "0::/job/step\n");
    folder("job");
    folder("job/step");
    file("job/step/cpu.max", "800000 100000\n");
    ck_assert_double_eq(processors(), 8);
    file("job/cpu.max", "250000 100000\n");
    ck_assert_double_eq(processors(), 2.5);
    file("cpu.max", "max 100000\n");
    ck_assert_double_eq(processors(), 2.5);
}
END_TEST

START_TEST(version_1_reads_the_cpu_controller) {
    file("self", "3:cpuset:/\n2:cpuacct,cpu:/job\n1:memory:/job\n");
    folder("cpu");
    folder("cpu/job");
    file("cpu/job/cpu.cfs_quota_us", "-1\n");
    file("cpu/job/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(processors(), 0);
    file("cpu/cpu.cfs_quota_us", "50000\n");
    file("cpu/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(processors(), 0.5);
}
END_TEST

START_TEST(a_path_from_outside_the_container_is_no_obstacle) {
    file("self", "0::/../host/only\n");
    file("cpu.max", "300000 100000\n");
    ck_assert_double_eq(processors(), 3);
}
END_TEST

START_TEST(nothing_readable_is_no_limit) {
    ck_assert_double_eq(processors(), 0);
    file("self", "rubbish\n1:\n0::\n5:cpu:/\n");
    ck_assert_double_eq(processors(), 0);
    file("cpu.max", "much\n");
    ck_assert_double_eq(processors(), 0);
    folder("cpu");
    file("cpu/cpu.cfs_quota_us", "100000\n");
    file("cpu/cpu.cfs_period_us", "0\n");
    ck_assert_double_eq(processors(), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cgroup");
    TCase *tests = tcase_create("cgroup");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, version_2_gives_the_least_grant_of_all_around);
    tcase_add_test(tests, version_1_reads_the_cpu_controller);
    tcase_add_test(tests, a_path_from_outside_the_container_is_no_obstacle);
    tcase_add_test(tests, nothing_readable_is_no_limit);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

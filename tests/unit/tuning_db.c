/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the tuning database: results are read back, kept together with those of other jobs, and
 * replaced if the file is damaged.
 */
#include "config.h"

#include "lib/tuning/tuning_db.h"
#include "tests/support/harness.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/coll-learnt-XXXXXX";
static char *path;

static void set_up(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    setenv("XDG_CACHE_HOME", directory, 1);
    path = coll_tuning_db_path();
    ck_assert_ptr_nonnull(path);
}

/* The directory may contain nothing but the file. */
static void tear_down(void) {
    char below[64];
    snprintf(below, sizeof below, "%s/libcoll", directory);
    unlink(path);
    free(path);
    ck_assert(rmdir(below) == 0 || errno == ENOENT);
    ck_assert_int_eq(rmdir(directory), 0);
}

static coll_tuning_entry note(int number, const char *algorithm) {
    coll_tuning_entry made = {.placement = 0xfedcba9876543210u,
                              .ranks = 25,
                              .host = "n0",
                              .operation = "bcast",
                              .bytes = (size_t)1 << number % 40,
                              .seconds = 0.25};
    made.placement += (unsigned)number / 40;
    snprintf(made.algorithm, sizeof made.algorithm, "%s", algorithm);
    return made;
}

/* Calls DOES in another process, which knows only the file. */
static bool in_another(bool (*does)(int number), int number) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(does(number) ? EXIT_SUCCESS : EXIT_FAILURE);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool finds(int number) {
    const coll_tuning_entry asked = note(number, "chain"), other = note(number, "chai");
    return coll_tuning_db_find(&asked) == 0.25 && coll_tuning_db_find(&other) == 0;
}

static bool keeps(int number) {
    const coll_tuning_entry made = note(number, "chain");
    return coll_tuning_db_keep(&made, 1, true) == 0;
}

START_TEST(what_was_kept_is_found) {
    ck_assert(!in_another(finds, 3));
    ck_assert(in_another(keeps, 3));
    ck_assert(in_another(finds, 3));
    ck_assert(!in_another(finds, 4));
    ck_assert(!in_another(finds, 43));
}
END_TEST

/* The newest time of each algorithm holds. */
START_TEST(the_newest_holds) {
    coll_tuning_entry older[] = {note(3, "chain"), note(3, "two_tree")};
    older[0].seconds = 0.5;
    ck_assert_int_eq(coll_tuning_db_keep(older, 2, true), 0);
    ck_assert(keeps(4) && keeps(3));
    ck_assert(finds(3) && finds(4));
    ck_assert(in_another(finds, 3) && in_another(finds, 4));
    ck_assert(coll_tuning_db_find(&older[1]) == 0.25);
}
END_TEST

START_TEST(without_a_file_the_process_remembers) {
    const coll_tuning_entry made = note(3, "chain");
    ck_assert_int_eq(coll_tuning_db_keep(&made, 1, false), 0);
    ck_assert(finds(3));
    ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

static bool adds_beside(int number) {
    return !finds(1) && in_another(keeps, 1) && keeps(number);
}

/* The job that adds has read the file before. */
START_TEST(what_another_job_keeps_stays) {
    ck_assert(in_another(adds_beside, 2));
    ck_assert(in_another(finds, 1) && in_another(finds, 2));
}
END_TEST

enum { JOBS = 4, EACH = 50 };

static bool keep_many(int number) {
    bool good = true;
    for (int i = 0; i < EACH; i++)
        good = keeps(number + i) && good;
    return good;
}

/* Each job may overwrite what another has just written, but only with a complete file. */
START_TEST(jobs_that_write_at_once_leave_a_good_file) {
    pid_t child[JOBS];
    bool last = false;
    for (int job = 0; job < JOBS; job++) {
        child[job] = fork();
        if (child[job] == 0)
            _exit(keep_many(job * EACH) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    for (int job = 0; job < JOBS; job++) {
        int status;
        ck_assert(waitpid(child[job], &status, 0) == child[job] && status == 0);
    }
    for (int job = 0; job < JOBS; job++)
        last = last || finds(job * EACH + EACH - 1);
    ck_assert(last);
}
END_TEST

static void write_text(const char *text) {
    char below[64];
    snprintf(below, sizeof below, "%s/libcoll", directory);
    mkdir(below, 0777);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* Captures what FIND prints on stderr. */
static void listen_to(bool (*find)(int number), char *said, size_t size) {
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(file);
    dup2(fileno(file), STDERR_FILENO);
    ck_assert(!find(0));
    ck_assert(!find(1));
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    fclose(file);
}

static const struct {
    const char *text, *problem;
} damaged[] = {
    {"", "it must begin with 'libcoll-learnt 3'"},
    {"libcoll-learnt 4\n", "it must begin with"},
    {"libcoll-learnt 3\n\n# c\nfedc", "line 4: 'fedc' is no placement"},
    {"libcoll-learnt 3\nfedcba987654321g 25 n0 bcast 2 chain 1\n", "is no placement"},
    {"libcoll-learnt 3\nfedcba9876543210 0 n0 bcast 2 chain 1\n", "'0' is no number of ranks"},
    {"libcoll-learnt 3\nfedcba9876543210 25 n0 bcast x chain 1\n", "'x' is no size"},
    {"libcoll-learnt 3\nfedcba9876543210 25 n0 bcast 2 chain", "'' is no time"},
    {"libcoll-learnt 3\nfedcba9876543210 25 n0 bcast 2 chain 1 2\n", "'2' is too much"},
    {"libcoll-learnt 3\nfedcba9876543210 25 n0 bcast-of-many-words 2 chain 1\n", "no operation"},
};

/*
 * A damaged file is reported once, and the job continues without it. The next result makes a good
 * file.
 */
START_TEST(a_damaged_file_is_told_and_replaced) {
    char said[1000];
    write_text(damaged[_i].text);
    listen_to(finds, said, sizeof said);
    ck_assert_msg(strstr(said, damaged[_i].problem) && strstr(said, path), "%s", said);
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
    ck_assert(keeps(5));
    ck_assert(in_another(finds, 5));
}
END_TEST

/* An older file is not used, without a word, and is replaced by the next result. */
START_TEST(a_file_of_an_earlier_version_counts_as_empty) {
    char said[1000];
    write_text("libcoll-learnt 2\nfedcba9876543210 25 n0 bcast 2 chain 1\n");
    listen_to(finds, said, sizeof said);
    ck_assert_str_eq(said, "");
    ck_assert(keeps(5));
    ck_assert(in_another(finds, 5));
}
END_TEST

START_TEST(the_oldest_make_room) {
    enum { MANY = 2000 };
    FILE *file;
    write_text("libcoll-learnt 3\n");
    file = fopen(path, "a");
    for (int i = 0; i < MANY; i++)
        fprintf(file, "%016x 25 n0 bcast 1 chain 0.25\n", i + 1);
    fclose(file);
    ck_assert(keeps(3));
    coll_tuning_entry oldest = {.placement = 1,
                                .operation = "bcast",
                                .algorithm = "chain",
                                .bytes = 1},
                      next = oldest;
    next.placement = 2;
    ck_assert(coll_tuning_db_find(&oldest) == 0 && coll_tuning_db_find(&next) == 0.25 && finds(3));
}
END_TEST

START_TEST(a_place_that_can_not_be_is_an_error) {
    const coll_tuning_entry made = note(3, "chain");
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    ck_assert_int_eq(coll_tuning_db_keep(&made, 1, true), ENOTDIR);
    ck_assert(finds(3));
}
END_TEST

START_TEST(placements_differ_by_hosts_racks_and_order) {
    static char *hosts[] = {"n0", "n1", "n10", "n"}, *others[] = {"n0", "n1", "n2", "n"};
    coll_place places[] = {{.node = 0}, {.node = 1}, {.node = 2}, {.node = 2, .rack = 0}};
    coll_topo topo = {.ranks = 4, .nodes = 3, .places = places, .hosts = hosts};
    uint64_t found[6];
    found[0] = coll_tuning_db_placement(&topo);
    ck_assert(coll_tuning_db_placement(&topo) == found[0]);
    topo.ranks = 3;
    found[1] = coll_tuning_db_placement(&topo);
    topo.ranks = 4;
    topo.hosts = others;
    found[2] = coll_tuning_db_placement(&topo);
    topo.hosts = hosts;
    places[3].rack = 1;
    found[3] = coll_tuning_db_placement(&topo);
    places[3].rack = 0;
    places[3].node = 0;
    found[4] = coll_tuning_db_placement(&topo);
    places[0].node = 2;
    found[5] = coll_tuning_db_placement(&topo);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            ck_assert(found[i] != found[j]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("tuning_db");
    TCase *cases = tcase_create("tuning_db");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, what_was_kept_is_found);
    tcase_add_test(cases, the_newest_holds);
    tcase_add_test(cases, without_a_file_the_process_remembers);
    tcase_add_test(cases, what_another_job_keeps_stays);
    tcase_add_test(cases, jobs_that_write_at_once_leave_a_good_file);
    tcase_add_loop_test(cases, a_damaged_file_is_told_and_replaced, 0,
                        sizeof damaged / sizeof *damaged);
    tcase_add_test(cases, a_file_of_an_earlier_version_counts_as_empty);
    tcase_add_test(cases, the_oldest_make_room);
    tcase_add_test(cases, a_place_that_can_not_be_is_an_error);
    tcase_add_test(cases, placements_differ_by_hosts_racks_and_order);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}

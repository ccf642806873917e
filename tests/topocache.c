/* The file of a measured topology: its name, what the parser reads back, where it cannot be. */
#include "config.h"

#include "lib/place/roundtrip.h"
#include "lib/place/topocache.h"
#include "lib/place/topofile.h"
#include "tests/harness.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *hosts[] = {"n0", "n1", "n2", "n10", "far.cluster.org"};
enum { NODES = sizeof hosts / sizeof *hosts };
static char directory[] = "/tmp/coll-topocache-XXXXXX";

static void set_up(void) {
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    setenv("XDG_CACHE_HOME", directory, 1);
}

/* Nothing but what was written may be there. */
static void tear_down(void) {
    char below[64];
    snprintf(below, sizeof below, "%s/libcoll", directory);
    ck_assert(rmdir(below) == 0 || errno == ENOENT);
    ck_assert_int_eq(rmdir(directory), 0);
}

static void check_places(const char *path, const int racks[], const int sites[]) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    coll_topofile *file = coll_topofile_read(path, problem);
    ck_assert_msg(file != NULL, "%s", problem);
    int rack[NODES], site[NODES];
    for (int i = 0; i < NODES; i++)
        ck_assert_msg(coll_topofile_find(file, hosts[i], &rack[i], &site[i], problem), "%s",
                      problem);
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++) {
            ck_assert_int_eq(rack[i] == rack[j], racks[i] == racks[j]);
            ck_assert_int_eq(site[i] == site[j], sites[i] == sites[j]);
        }
    coll_topofile_free(file);
}

START_TEST(what_was_written_is_read_back) {
    static const int racks[][NODES] = {{0, 0, 0, 0, 0}, {0, 1, 0, 2, 1}, {0, 1, 2, 1, 3}};
    static const int sites[][NODES] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 1, 0, 1, 2}};
    char *path = coll_topocache_path(NODES, hosts);
    ck_assert_ptr_nonnull(path);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(coll_topocache_write(path, NODES, hosts, racks[i], sites[i], "note"), 0);
        check_places(path, racks[i], sites[i]);
    }
    ck_assert_int_eq(unlink(path), 0);
    free(path);
}
END_TEST

START_TEST(the_name_depends_on_the_set_of_hosts) {
    static char *other[] = {"n10", "n2", "n0", "far.cluster.org", "n1"};
    static char *twins[] = {"n1", "n2", "n1"};
    char *path = coll_topocache_path(NODES, hosts), *same = coll_topocache_path(NODES, other),
         *fewer = coll_topocache_path(NODES - 1, hosts);
    ck_assert_str_eq(path, same);
    ck_assert_str_ne(path, fewer);
    ck_assert_int_eq(strncmp(path, directory, strlen(directory)), 0);
    ck_assert_ptr_null(coll_topocache_path(3, twins));
    free(path);
    free(same);
    free(fewer);
}
END_TEST

START_TEST(home_is_the_second_choice) {
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/someone", 1);
    char *path = coll_topocache_path(NODES, hosts);
    static const char start[] = "/home/someone/.cache/libcoll/topology-";
    ck_assert_int_eq(strncmp(path, start, strlen(start)), 0);
    free(path);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    ck_assert_ptr_null(coll_topocache_path(NODES, hosts));
}
END_TEST

START_TEST(a_place_that_cannot_be_is_an_error) {
    static const int zeros[NODES];
    ck_assert_int_eq(
        coll_topocache_write("/dev/null/libcoll/t.conf", NODES, hosts, zeros, zeros, ""), ENOTDIR);
}
END_TEST

/* fsync of this program, the library's calls of it too; what it saw goes here. */
static struct {
    const char *path; /* that may not be there yet */
    int calls;
    bool early, whole;
} synced;

int fsync(int file) {
    struct stat status;
    synced.calls++;
    synced.early = !synced.path || access(synced.path, F_OK) != 0;
    synced.whole = fstat(file, &status) == 0 && status.st_size > 0;
    return 0;
}

/* A crash leaves the old file or the new one: the data comes to the disk before the name does. */
START_TEST(data_is_on_the_disk_before_its_name) {
    static const int zeros[NODES];
    struct stat status;
    char *path = coll_topocache_path(NODES, hosts);
    ck_assert_ptr_nonnull(path);
    synced.path = path;
    synced.calls = 0;
    ck_assert_int_eq(coll_topocache_write(path, NODES, hosts, zeros, zeros, "note"), 0);
    ck_assert_int_eq(synced.calls, 1);
    ck_assert(synced.early && synced.whole);
    ck_assert(stat(path, &status) == 0 && status.st_size > 0);
    ck_assert_int_eq(unlink(path), 0);
    free(path);
}
END_TEST

START_TEST(names_without_an_address_get_no_answer) {
    int port, reserved = coll_roundtrip_reserve(&port);
    ck_assert_int_ge(reserved, 0);
    ck_assert(port > 0 && port < 65536);
    ck_assert(coll_roundtrip("name.invalid", port) < 0);
    ck_assert(coll_roundtrip("localhost", port) < 0);
    close(reserved);
}
END_TEST

int main(void) {
    Suite *all = suite_create("topocache");
    TCase *tests = tcase_create("topocache");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_was_written_is_read_back);
    tcase_add_test(tests, the_name_depends_on_the_set_of_hosts);
    tcase_add_test(tests, home_is_the_second_choice);
    tcase_add_test(tests, a_place_that_cannot_be_is_an_error);
    tcase_add_test(tests, data_is_on_the_disk_before_its_name);
    tcase_add_test(tests, names_without_an_address_get_no_answer);
    suite_add_tcase(all, tests);
    return harness_unit(all);
}

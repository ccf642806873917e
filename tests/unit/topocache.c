/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the file of a measured topology: its name, that the parser reads it back, and places where
 * it cannot be written.
 */
#include "config.h"

#include "lib/topology/addresses.h"
#include "lib/topology/tcp_rtt.h"
#include "lib/topology/topocache.h"
#include "lib/topology/topofile.h"
#include "tests/support/harness.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* The directory may contain nothing else than the written file. */
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

static int write_places(const char *path, int racks[], int sites[]) {
    char note[] = "note";
    return coll_topocache_write(
        path, &(coll_topology_source_state){NODES, hosts, racks, sites, note, NULL});
}

START_TEST(what_was_written_is_read_back) {
    static int racks[][NODES] = {{0, 0, 0, 0, 0}, {0, 1, 0, 2, 1}, {0, 1, 2, 1, 3}};
    static int sites[][NODES] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 1, 0, 1, 2}};
    char *path = coll_topocache_path(COLL_TOPOCACHE_SURE, NODES, hosts);
    ck_assert_ptr_nonnull(path);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(write_places(path, racks[i], sites[i]), 0);
        check_places(path, racks[i], sites[i]);
    }
    ck_assert_int_eq(unlink(path), 0);
    free(path);
}
END_TEST

START_TEST(the_name_depends_on_the_set_of_hosts) {
    static char *other[] = {"n10", "n2", "n0", "far.cluster.org", "n1"};
    static char *twins[] = {"n1", "n2", "n1"};
    char *path = coll_topocache_path(COLL_TOPOCACHE_SURE, NODES, hosts),
         *same = coll_topocache_path(COLL_TOPOCACHE_SURE, NODES, other),
         *fewer = coll_topocache_path(COLL_TOPOCACHE_SURE, NODES - 1, hosts);
    ck_assert_str_eq(path, same);
    ck_assert_str_ne(path, fewer);
    ck_assert_int_eq(strncmp(path, directory, strlen(directory)), 0);
    ck_assert_ptr_null(coll_topocache_path(COLL_TOPOCACHE_SURE, 3, twins));
    free(path);
    free(same);
    free(fewer);
}
END_TEST

START_TEST(home_is_the_second_choice) {
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/someone", 1);
    char *path = coll_topocache_path(COLL_TOPOCACHE_SURE, NODES, hosts);
    static const char start[] = "/home/someone/.cache/libcoll/topology-";
    ck_assert_int_eq(strncmp(path, start, strlen(start)), 0);
    free(path);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    ck_assert_ptr_null(coll_topocache_path(COLL_TOPOCACHE_SURE, NODES, hosts));
}
END_TEST

START_TEST(a_place_that_cannot_be_is_an_error) {
    static int zeros[NODES];
    ck_assert_int_eq(write_places("/dev/null/libcoll/t.conf", zeros, zeros), ENOTDIR);
}
END_TEST

/* Replaces fsync, also for the library's calls, and records what it saw. */
static struct {
    const char *path; /* this file may not exist yet */
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

/* A crash leaves the old file or the new one, because the data is on the disk before the name. */
START_TEST(data_is_on_the_disk_before_its_name) {
    static int zeros[NODES];
    struct stat status;
    char *path = coll_topocache_path(COLL_TOPOCACHE_SURE, NODES, hosts);
    ck_assert_ptr_nonnull(path);
    synced.path = path;
    synced.calls = 0;
    ck_assert_int_eq(write_places(path, zeros, zeros), 0);
    ck_assert_int_eq(synced.calls, 1);
    ck_assert(synced.early && synced.whole);
    ck_assert(stat(path, &status) == 0 && status.st_size > 0);
    ck_assert_int_eq(unlink(path), 0);
    free(path);
}
END_TEST

/* A refused connection is an answer. A full queue lets nothing through, so there is none. */
START_TEST(round_trips_need_an_answer) {
    int port, silent_port, reserved = coll_tcp_rtt_reserve(&port),
                           silent = coll_tcp_rtt_reserve(&silent_port);
    struct sockaddr_in to[3];
    double seconds[3];
    ck_assert(reserved >= 0 && silent >= 0);
    ck_assert(port > 0 && port < 65536);
    ck_assert_int_eq(listen(silent, 0), 0);
    ck_assert(coll_tcp_rtt_find("127.0.0.1", port, &to[0]));
    ck_assert(coll_tcp_rtt_find("127.0.0.1", silent_port, &to[1]));
    to[2] = to[0];
    int waiting = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(waiting, (struct sockaddr *)&to[1], sizeof to[1]), 0);
    coll_tcp_rtts(3, to, 0.2, seconds);
    ck_assert(seconds[0] > 0 && seconds[2] > 0);
    ck_assert(seconds[1] < 0);
    close(waiting);
    close(silent);
    close(reserved);
}
END_TEST

/*
 * Bridges for virtual machines have the same address on all hosts, so a host is reached at another
 * address.
 */
START_TEST(hosts_are_reached_at_an_address_of_their_own) {
    coll_addresses all[3] = {{.count = 2}, {.count = 3}, {.count = 1}};
    for (int host = 0; host < 3; host++)
        for (int i = 0; i < all[host].count; i++) {
            all[host].of[i].address.s_addr = htonl(0x0a000000U + (uint32_t)(host + 256 * i));
            all[host].of[i].mask.s_addr = htonl(0xffffff00U);
        }
    all[0].of[0].address.s_addr = all[1].of[0].address.s_addr = htonl(0xac110001U);
    ck_assert(coll_addresses_keep_unique(3, all));
    ck_assert_int_eq(all[0].count, 1);
    ck_assert_int_eq(all[1].count, 2);
    ck_assert_int_eq(all[2].count, 1);
    ck_assert_uint_eq(ntohl(coll_addresses_choose(&all[0], &all[1]).s_addr), 0x0a000101);
    ck_assert_uint_eq(ntohl(coll_addresses_choose(&all[2], &all[1]).s_addr), 0x0a000101);
    all[1].of[1].address.s_addr = htonl(0x0a000003U);
    ck_assert_uint_eq(ntohl(coll_addresses_choose(&all[2], &all[1]).s_addr), 0x0a000003);
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
    tcase_add_test(tests, round_trips_need_an_answer);
    tcase_add_test(tests, hosts_are_reached_at_an_address_of_their_own);
    suite_add_tcase(all, tests);
    return harness_unit(all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests discovery on made-up machines: the host names are replaced, so that the ranks of one real
 * node are spread over several. hwloc sees a synthetic machine.
 */
#include "config.h"

#include "coll.h"
#include "lib/base/cores.h"
#include "lib/topology/topo.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MOST = 64 };

/* The machine that the replaced functions pretend: the host of each rank of MPI_COMM_WORLD. */
static const char *hosts[RANKS_MOST];

static int world(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int world_size(void) {
    int ranks;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

int PMPI_Get_processor_name(char *name, int *length) {
    strcpy(name, hosts[world()]);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

/* Ranks are placed on the hosts n0, n1, n2, n3 in turn, as with mpirun --map-by node. */
static void spread_over_four(void) {
    static const char *const names[] = {"n0", "n1", "n2", "n3.cluster.org"};
    for (int rank = 0; rank < RANKS_MOST; rank++)
        hosts[rank] = names[rank % 4];
}

static void clear_environment(void) {
    unsetenv("SLURM_TOPOLOGY_ADDR");
    unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    unsetenv("MPI_LOCALNRANKS");
    unsetenv("SLURM_NTASKS_PER_NODE");
    unsetenv("HOME"); /* so that there is no cache */
    unsetenv("XDG_CACHE_HOME");
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    spread_over_four();
}

static coll_state *state_of(MPI_Comm comm) {
    coll_comm *own;
    return coll_comm_get(comm, &own) == MPI_SUCCESS ? coll_state_of(own) : NULL;
}

/* Discovers the topology of a copy of COMM with the topology FILE. */
static int discover(MPI_Comm comm, const char *file, coll_topo *topo) {
    MPI_Comm copy;
    coll_comm *own;
    int ranks[RANKS_MOST];
    PMPI_Comm_dup(comm, &copy);
    setenv("COLL_TOPOLOGY", file, 1);
    int code = coll_comm_get(copy, &own);
    unsetenv("COLL_TOPOLOGY");
    for (int rank = 0; rank < RANKS_MOST; rank++)
        ranks[rank] = rank;
    if (code == MPI_SUCCESS)
        code = coll_topo_part(&coll_state_of(own)->topo, own->ranks, ranks, topo);
    PMPI_Comm_free(&copy);
    return code;
}

static coll_topo create(MPI_Comm comm, const char *file) {
    coll_topo topo = {0};
    int code = discover(comm, file, &topo);
    harness_assert(code == MPI_SUCCESS, "%s", harness_text(code));
    return topo;
}

/* A file with TEXT, whose name is the same on all ranks. Rank 0 makes and removes it. */
static char path[] = "/tmp/coll-topo-XXXXXX";

static void write_file(const char *text) {
    if (world() == 0) {
        strcpy(path + strlen(path) - 6, "XXXXXX");
        int file = mkstemp(path);
        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
        close(file);
    }
}

static void remove_file(void) {
    if (world() == 0)
        unlink(path);
}

static bool places_are(const coll_topo *topo, const coll_place expected[4]) {
    bool good = topo->ranks == world_size();
    for (int rank = 0; good && rank < topo->ranks; rank++)
        good = memcmp(&topo->places[rank], &expected[rank % 4], sizeof *expected) == 0;
    return good;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

START_TEST(nodes_are_numbered_and_named_without_a_file) {
    coll_topo topo = create(MPI_COMM_WORLD, "");
    static const coll_place expected[] = {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 3, 0}};
    int ranks = world_size(), nodes = least(ranks, 4);
    harness_assert(places_are(&topo, expected), "places");
    harness_assert(topo.nodes == nodes && topo.racks == 1 && topo.sites == 1, "counts");
    harness_assert(topo.most_ranks_per_node == (ranks + 3) / 4, "ranks per node");
    for (int node = 0; node < nodes; node++)
        harness_assert(strcmp(topo.hosts[node], hosts[node]) == 0, "%s", topo.hosts[node]);
    coll_topo_free(&topo);
    ck_assert_ptr_null(topo.places);
}
END_TEST

/* Node numbers follow the ranks of the communicator, not of MPI_COMM_WORLD. */
START_TEST(a_reversed_half_is_numbered_by_its_own_ranks) {
    MPI_Comm half;
    int ranks = world_size();
    bool mine = world() % 2 == 0;
    PMPI_Comm_split(MPI_COMM_WORLD, mine, ranks - world(), &half);
    coll_topo topo = {0};
    int code = discover(half, "", &topo);
    harness_assert(code == MPI_SUCCESS, "%s", harness_text(code));
    int size, last = mine ? (ranks - 1) / 2 * 2 : (ranks - 2) / 2 * 2 + 1;
    PMPI_Comm_size(half, &size);
    harness_assert(topo.ranks == size && topo.nodes == least(size, 2), "size");
    harness_assert(strcmp(topo.hosts[0], hosts[last]) == 0, "%s", topo.hosts[0]);
    for (int rank = 0; rank < size; rank++)
        ck_assert_int_eq(topo.places[rank].node, rank % 2);
    coll_topo_free(&topo);
    PMPI_Comm_free(&half);
}
END_TEST

START_TEST(racks_and_sites_come_from_the_file) {
    write_file("SwitchName=z Nodes=n0,n[2]\nSwitchName=core Switches=z\n"
               "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n3\nSwitchName=top Switches=core,b\n");
    coll_topo topo = create(MPI_COMM_WORLD, world() == 0 ? path : "only rank 0 knows it");
    remove_file();
    static const coll_place expected[] = {{0, 0, 0, 0}, {1, 1, 1, 0}, {0, 0, 2, 0}, {0, 2, 3, 0}};
    int ranks = world_size();
    harness_assert(places_are(&topo, expected), "places");
    harness_assert(topo.racks == (ranks > 3 ? 3 : least(ranks, 2)), "racks");
    harness_assert(topo.sites == least(ranks, 2), "sites");
    coll_topo_free(&topo);
}
END_TEST

static bool is_like(const coll_topo *a, const coll_topo *b) {
    bool alike = a->ranks == b->ranks && a->nodes == b->nodes && a->racks == b->racks &&
                 a->sites == b->sites && a->most_ranks_per_node == b->most_ranks_per_node;
    for (int rank = 0; alike && rank < a->ranks; rank++)
        alike = memcmp(&a->places[rank], &b->places[rank], sizeof *a->places) == 0;
    for (int node = 0; alike && node < a->nodes; node++)
        alike = strcmp(a->hosts[node], b->hosts[node]) == 0;
    return alike;
}

/* Makes a communicator of every other rank, the last one first. */
static MPI_Comm reversed_half(void) {
    MPI_Comm half;
    PMPI_Comm_split(MPI_COMM_WORLD, world() % 2, world_size() - world(), &half);
    return half;
}

START_TEST(a_part_is_what_its_ranks_would_discover) {
    MPI_Comm half = reversed_half();
    int ranks[RANKS_MOST], count = 0;
    write_file("SwitchName=z Nodes=n0,n[2]\nSwitchName=core Switches=z\n"
               "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n3\nSwitchName=top Switches=core,b\n");
    PMPI_Bcast(path, (int)sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    coll_topo discovered = create(half, path), whole = create(MPI_COMM_WORLD, path), part = {0};
    remove_file();
    for (int rank = world_size() - 1; rank >= 0; rank--)
        if (rank % 2 == world() % 2)
            ranks[count++] = rank;
    int code = coll_topo_part(&whole, count, ranks, &part);
    harness_assert(code == MPI_SUCCESS && is_like(&part, &discovered), "a half");
    coll_topo_free(&whole);
    coll_topo_free(&discovered);
    coll_topo_free(&part);
    PMPI_Comm_free(&half);
}
END_TEST

/* Makes communicators of some ranks of a known one, with the same and with other settings. */
START_TEST(a_job_is_discovered_once) {
    MPI_Comm half = reversed_half(), again;
    PMPI_Comm_dup(MPI_COMM_WORLD, &again);
    const coll_job_cache *first = state_of(MPI_COMM_WORLD)->common;
    bool good = state_of(half)->common == first && state_of(again)->common == first;
    harness_assert(good, "another time");
    PMPI_Comm_free(&again);
    PMPI_Comm_dup(MPI_COMM_WORLD, &again);
    setenv("COLL_PROFILE", "", 1);
    good = state_of(again)->common != first;
    setenv("COLL_PROFILE", "built-in", 1);
    harness_assert(good, "not with another profile");
    PMPI_Comm_free(&again);
    PMPI_Comm_free(&half);
}
END_TEST

/* If one rank reports something else, all discover again. */
START_TEST(a_change_on_one_rank_is_discovered) {
    MPI_Comm again;
    PMPI_Comm_dup(MPI_COMM_WORLD, &again);
    const coll_job_cache *first = state_of(MPI_COMM_WORLD)->common;
    if (world() == world_size() - 1)
        hosts[world()] = "moved";
    const coll_state *state = state_of(again);
    harness_assert(state->common != first, "not again");
    harness_assert(strcmp(state->topo.hosts[state->topo.nodes - 1], "moved") == 0, "%s",
                   state->topo.hosts[state->topo.nodes - 1]);
    PMPI_Comm_free(&again);
}
END_TEST

static bool fails_with(const char *file, const char *expected) {
    coll_topo topo = {.ranks = -7};
    int code = discover(MPI_COMM_WORLD, file, &topo);
    return harness_class(code) == MPI_ERR_FILE && strstr(harness_text(code), expected) &&
           topo.ranks == -7;
}

START_TEST(all_ranks_get_the_same_error) {
    write_file("SwitchName=a Nodes=m[0-99]\n");
    harness_assert(fails_with(path, "host n0 is in no rack of topology file /tmp/coll-topo-"),
                   "stranger");
    remove_file();
    write_file("SwitchName=a Nodes=n[0\n");
    harness_assert(fails_with(path, "line 1: a bad bracket in the list 'n[0'"), "bracket");
    remove_file();
    harness_assert(
        fails_with("/nonexistent/t", "cannot read topology file /nonexistent/t: No such"),
        "missing");
}
END_TEST

/* The made-up hosts have the same addresses, so they cannot be measured. */
START_TEST(hosts_without_addresses_cannot_be_measured) {
    coll_topo topo = {.ranks = -7};
    int nodes = least(world_size(), 4);
    int code = discover(MPI_COMM_WORLD, "auto:fresh", &topo);
    if (nodes > 1)
        harness_assert(harness_class(code) == MPI_ERR_OTHER && topo.ranks == -7 &&
                           strstr(harness_text(code), "a host has no IPv4 address of its own"),
                       "%s", harness_text(code));
    else
        ck_assert(code == MPI_SUCCESS && topo.racks == 1);
    if (code == MPI_SUCCESS)
        coll_topo_free(&topo);
}
END_TEST

static void set_switches(const char *const addresses[4], const char *pattern) {
    setenv("SLURM_TOPOLOGY_ADDR", addresses[world() % 4], 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", pattern, 1);
}

/* Sets up a copy of MPI_COMM_WORLD without a profile, with hosts in the racks of RACKS, and returns
 * its profile. */
static coll_profile profile_without_source(const char *racks) {
    MPI_Comm copy;
    PMPI_Comm_dup(MPI_COMM_WORLD, &copy);
    write_file(racks);
    setenv("COLL_TOPOLOGY", path, 1);
    setenv("COLL_PROFILE", "", 1);
    const coll_state *state = state_of(copy);
    const coll_profile profile = state ? *state->profile : (coll_profile){.source = ""};
    setenv("COLL_PROFILE", "built-in", 1);
    unsetenv("COLL_TOPOLOGY");
    remove_file();
    PMPI_Comm_free(&copy);
    return profile;
}

/* Returns whether the ranks have the same rates between hosts. */
static bool same_everywhere(const coll_profile *profile) {
    const coll_cost *rack = &profile->level[COLL_LEVEL_RACK],
                    *site = &profile->level[COLL_LEVEL_SITE];
    double own[] = {rack->per_byte, rack->together, site->per_byte, site->together}, least[4],
           most[4];
    PMPI_Allreduce(own, least, 4, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(own, most, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return memcmp(least, most, sizeof most) == 0;
}

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-5 * fabs(b);
}

/* Creates a folder for the cache on rank 0; the other ranks have none. */
static char *make_cache(void) {
    static char folder[] = "/tmp/coll-topo-cache-XXXXXX";
    if (world() != 0)
        return NULL;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    return folder;
}

static void remove_cache(const char *folder) {
    char command[128];
    if (!folder)
        return;
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_CONFIG_HOME");
}

/* Replaces the kept network by TEXT. */
static void damage_cache(const char *folder, const char *text) {
    char command[256];
    if (!folder || world_size() < 3)
        return;
    snprintf(command, sizeof command, "echo '%s' | tee %s/libcoll/network-*.profile >%s/out", text,
             folder, folder);
    ck_assert_int_eq(system(command), 0);
}

static const char two_racks[] = "SwitchName=a Nodes=n0,n2\nSwitchName=b Nodes=n1,n3\n",
                  one_rack[] = "SwitchName=a Nodes=n[0-3]\n";

START_TEST(a_network_without_a_profile_is_measured_and_kept) {
    char *folder = make_cache();
    const char *fresh = "measured when the job began";
    const coll_profile first = profile_without_source(two_racks),
                       second = profile_without_source(two_racks),
                       flat = profile_without_source(one_rack),
                       racks = profile_without_source(two_racks);
    damage_cache(folder, "nothing");
    const coll_profile last = profile_without_source(two_racks);
    remove_cache(folder);
    if (world_size() < 3) {
        harness_assert(strcmp(first.source, "built-in") == 0, "two hosts: %s", first.source);
        return;
    }
    const coll_cost *site = &first.level[COLL_LEVEL_SITE];
    harness_assert(strcmp(first.source, fresh) == 0, "first: %s", first.source);
    harness_assert(first.measured[COLL_LEVEL_RACK] && first.measured[COLL_LEVEL_SITE], "levels");
    harness_assert(isfinite(site->per_byte) && site->per_byte > 0 && site->together > 0, "rates");
    harness_assert(same_everywhere(&first), "rates differ");
    harness_assert(strstr(second.source, "/libcoll/network-"), "second: %s", second.source);
    harness_assert(is_near(second.level[COLL_LEVEL_SITE].together, site->together), "kept");
    harness_assert(strcmp(flat.source, fresh) == 0, "other racks: %s", flat.source);
    harness_assert(flat.measured[COLL_LEVEL_RACK] && !flat.measured[COLL_LEVEL_SITE], "one rack");
    harness_assert(strcmp(racks.source, fresh) == 0, "racks again: %s", racks.source);
    harness_assert(strcmp(last.source, fresh) == 0, "damaged: %s", last.source);
}
END_TEST

START_TEST(racks_and_sites_come_from_slurm) {
    static const char *const tree[] = {"top.s1.n0", "top.s2.n1", "west.s1.n2", "top.s1.n3"};
    set_switches(tree, "switch.switch.node");
    coll_topo topo = create(MPI_COMM_WORLD, "");
    static const coll_place sites[] = {{0, 0, 0, 0}, {0, 1, 1, 0}, {1, 2, 2, 0}, {0, 0, 3, 0}};
    harness_assert(places_are(&topo, sites), "sites");
    harness_assert(topo.sites == (world_size() > 2 ? 2 : 1), "number of sites");
    coll_topo_free(&topo);

    static const char *const leaves[] = {"s1.n0", "s2.n1", "s1.n2", "s3.n3"};
    set_switches(leaves, "switch.node");
    topo = create(MPI_COMM_WORLD, "");
    static const coll_place racks[] = {{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 2, 0}, {0, 2, 3, 0}};
    harness_assert(places_are(&topo, racks), "racks");
    coll_topo_free(&topo);
}
END_TEST

/* The name of the last host's switch is too long for the usual message. */
START_TEST(long_names_take_another_message) {
    enum { LONG = 900 };
    static char address[LONG + sizeof ".node"];
    bool last = world() % 4 == (world_size() - 1) % 4;
    memset(address, 's', LONG);
    strcpy(address + (last ? LONG : 1), ".node");
    setenv("SLURM_TOPOLOGY_ADDR", address, 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.node", 1);
    coll_topo topo = create(MPI_COMM_WORLD, "");
    harness_assert(topo.racks == least(2, world_size()), "%d racks", topo.racks);
    coll_topo_free(&topo);
}
END_TEST

START_TEST(odd_slurm_settings_mean_one_rack) {
    static const char *const broken[] = {"top", "", "top", "."};
    static const coll_place expected[] = {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 3, 0}};
    static const char *const patterns[] = {"switch.switch.node", "node", "", "swi"};
    for (int i = 0; i < 4; i++) {
        set_switches(broken, patterns[i]);
        coll_topo topo = create(MPI_COMM_WORLD, "");
        harness_assert(places_are(&topo, expected) && topo.racks == 1, "%s", patterns[i]);
        coll_topo_free(&topo);
    }
}
END_TEST

/*
 * NUMA domains are numbered in the order in which the ranks of the node use them, whatever the
 * system's numbers are.
 */
START_TEST(numa_domains_are_numbered_on_each_node) {
    enum { NODES = 3, EACH = 8, ALL = NODES * EACH };
    static const int domain[NODES][EACH] = {
        {4, 1, 4, 0, 1, 0, 4, 2}, {7, 7, 7, 7, 7, 7, 7, 7}, {1, 0, 1, 0, 0, 1, 0, 1}};
    static const int number[NODES][EACH] = {
        {0, 1, 0, 2, 1, 2, 0, 3}, {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 1, 0, 1, 0}};
    coll_rank_info *reports = calloc(ALL, sizeof *reports);
    const coll_rank_infos all = {.first = (const char *)reports, .stride = sizeof *reports};
    coll_topo topo;
    ck_assert_ptr_nonnull(reports);
    for (int rank = 0; rank < ALL; rank++)
        reports[rank] = (coll_rank_info){.node = (uint64_t)(rank % NODES),
                                         .numa = domain[rank % NODES][rank / NODES]};
    ck_assert(coll_topo_make(&all, ALL, &topo));
    ck_assert_int_eq(topo.nodes, NODES);
    for (int rank = 0; rank < ALL; rank++)
        ck_assert_int_eq(topo.places[rank].numa, number[rank % NODES][rank / NODES]);
    coll_topo_free(&topo);
    free(reports);
}
END_TEST

/* The synthetic machine has four cores, and no rank is bound. */
START_TEST(crowding_counts_the_ranks_and_the_job) {
    int cores = least(4, coll_cores_get()->quota);
    ck_assert_int_eq(coll_cores_get()->node, 4);
    ck_assert_int_eq(coll_cores_count(coll_cores_get()->bound), 4);
    ck_assert_int_eq(coll_cores_get()->numa, 0);
    for (int rank = 0; rank < RANKS_MOST; rank++)
        hosts[rank] = "n0";
    coll_topo topo = create(MPI_COMM_WORLD, "");
    harness_assert(topo.cores_per_node == cores, "%d cores", topo.cores_per_node);
    harness_assert(topo.most_ranks_per_node == world_size(), "ranks");
    harness_assert(topo.crowded == (world_size() > cores), "crowded");
    coll_topo_free(&topo);

    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "5", 1);
    topo = create(MPI_COMM_SELF, "");
    harness_assert(topo.most_ranks_per_node == 1 && topo.crowded, "a fuller job");
    coll_topo_free(&topo);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
    topo = create(MPI_COMM_SELF, "");
    harness_assert(!topo.crowded, "one rank");
    coll_topo_free(&topo);
}
END_TEST

static Suite *suite(void) {
    setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:2", 1);
    Suite *all = suite_create("topo");
    TCase *tests = tcase_create("topo");
    tcase_add_checked_fixture(tests, clear_environment, NULL);
    tcase_add_test(tests, nodes_are_numbered_and_named_without_a_file);
    tcase_add_test(tests, a_reversed_half_is_numbered_by_its_own_ranks);
    tcase_add_test(tests, racks_and_sites_come_from_the_file);
    tcase_add_test(tests, a_part_is_what_its_ranks_would_discover);
    tcase_add_test(tests, a_job_is_discovered_once);
    tcase_add_test(tests, a_change_on_one_rank_is_discovered);
    tcase_add_test(tests, long_names_take_another_message);
    tcase_add_test(tests, all_ranks_get_the_same_error);
    tcase_add_test(tests, hosts_without_addresses_cannot_be_measured);
    tcase_add_test(tests, a_network_without_a_profile_is_measured_and_kept);
    tcase_add_test(tests, racks_and_sites_come_from_slurm);
    tcase_add_test(tests, odd_slurm_settings_mean_one_rack);
    tcase_add_test(tests, numa_domains_are_numbered_on_each_node);
    tcase_add_test(tests, crowding_counts_the_ranks_and_the_job);
    suite_add_tcase(all, tests);
    return all;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 7 8 free:2", suite);
}

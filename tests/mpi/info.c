/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the information that the library returns about itself, and profiles of communicators:
 * COLL_PROFILE is obeyed, a bad profile is the same error on all ranks, and the search finds the
 * right file.
 */
#include "config.h"

#include "coll.h"
#include "coll_tools.h"
#include "lib/tuning/state.h"
#include "tests/support/harness.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int world_rank, world_ranks;
static char folder[] = "/tmp/coll-info-XXXXXX";

#define LEVEL "level rack latency_s 0.0625 overhead_s 0.25 per_byte_s 0.5\n"

/* Writes, on rank 0, a profile of HOST (NULL means this host) with BODY to PATH. */
static void write_profile(const char *path, const char *host, const char *body) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(name, &length);
    if (world_rank == 0) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fprintf(file, "libcoll-profile 3\ndate 2026-11-20T07:13:54Z\nhosts %s\n%s",
                host ? host : name, body);
        fclose(file);
    }
}

static MPI_Comm fresh(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* Describes a new communicator whose rank 0 alone has COLL_PROFILE set to PATH. */
static int describe(const char *path, COLL_Description *description) {
    static char source[COLL_PROFILE_SOURCE];
    MPI_Comm comm = fresh();
    if (world_rank == 0 && path)
        setenv("COLL_PROFILE", path, 1);
    int code = COLL_Describe(comm, description);
    unsetenv("COLL_PROFILE");
    if (code == MPI_SUCCESS) /* this text belongs to the communicator */
        snprintf(source, sizeof source, "%s", description->profile);
    MPI_Comm_free(&comm);
    description->profile = source;
    return code;
}

/* Every wait mode that a rank can be told is reported. */
START_TEST(the_manner_of_waiting_is_described) {
    for (int i = 0; i < COLL_WAIT_MANNERS; i++) {
        const char *name = coll_wait_manners[i];
        COLL_Description d;
        MPI_Comm comm = fresh();
        if (world_rank == 0)
            setenv("COLL_WAIT", name, 1);
        int code = COLL_Describe(comm, &d);
        unsetenv("COLL_WAIT");
        harness_assert(code == MPI_SUCCESS && strcmp(d.wait, name) == 0, "%s", name);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Sets COLL_TIMEOUT to TEXT. Sets *SECONDS to the time-out of a new communicator. */
static int time_out(const char *text, double *seconds) {
    COLL_Description d = {.timeout = -1};
    MPI_Comm comm = fresh();
    if (world_rank == 0)
        setenv("COLL_TIMEOUT", text, 1);
    int code = COLL_Describe(comm, &d);
    unsetenv("COLL_TIMEOUT");
    MPI_Comm_free(&comm);
    *seconds = d.timeout;
    return code;
}

START_TEST(seconds_are_read_whatever_the_locale) {
    static const char *const bad[] = {"2,5",  "-1",    "nan", "inf", "1e308",
                                      "1e10", "0x1p3", "5s",  " 1",  "1e999"};
    for (int comma = 0; comma < 2; comma++) {
        double seconds;
        char expected[100];
        int code = time_out("2.5", &seconds);
        harness_assert(code == MPI_SUCCESS && seconds == 2.5, "2.5: %g %s", seconds,
                       harness_text(code));
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            code = time_out(bad[i], &seconds);
            snprintf(expected, sizeof expected,
                     "COLL_TIMEOUT=%s: must be seconds, 0 to 1000000000, as 2.5", bad[i]);
            harness_assert(harness_class(code) == MPI_ERR_ARG &&
                               strcmp(harness_text(code), expected) == 0,
                           "%s: %s", bad[i], harness_text(code));
        }
        if (!comma && !harness_agree(harness_comma()))
            break;
    }
    harness_point();
}
END_TEST

/* Programs also read the trace, so its numbers always have decimal points. */
START_TEST(traces_are_written_whatever_the_locale) {
    MPI_Comm comm = fresh();
    int value = 1;
    char text[4096] = "";
    FILE *file = tmpfile();
    bool comma = harness_agree(harness_comma()), good = file != NULL;
    if (comma && good) {
        int before = dup(STDERR_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        setenv("COLL_TRACE", "1", 1);
        good = COLL_Bcast(&value, 1, MPI_INT, 0, comm) == MPI_SUCCESS;
        unsetenv("COLL_TRACE");
        dup2(before, STDERR_FILENO);
        close(before);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        const char *seconds = strstr(text, " seconds=");
        good = good && (world_rank > 0 || world_ranks == 1 || (seconds && seconds[10] == '.'));
    }
    harness_assert(good, "%s", text);
    fclose(file);
    harness_point();
    MPI_Comm_free(&comm);
}
END_TEST

static bool has_level(const COLL_Description *d) {
    const COLL_Cost *rack = &d->cost[COLL_LEVEL_RACK];
    return d->measured[COLL_LEVEL_RACK] && !d->measured[COLL_LEVEL_NODE] &&
           rack->latency == 0.0625 && rack->overhead == 0.25 && rack->per_byte == 0.5 &&
           d->cost[COLL_LEVEL_NODE].latency ==
               coll_profile_builtin()->level[COLL_LEVEL_NODE].latency;
}

START_TEST(the_named_profile_is_obeyed) {
    char path[100];
    COLL_Description d;
    snprintf(path, sizeof path, "%s/good", folder);
    write_profile(path, NULL, LEVEL "end\n");
    int code = describe(path, &d);
    harness_assert(code == MPI_SUCCESS, "%s", harness_text(code));
    harness_assert(has_level(&d) && strcmp(d.profile, path) == 0, "values");
    code = describe("built-in", &d);
    harness_assert(code == MPI_SUCCESS && !d.measured[COLL_LEVEL_RACK], "built-in: %s",
                   harness_text(code));
}
END_TEST

START_TEST(bad_profiles_are_the_same_error_everywhere) {
    static const struct {
        const char *name, *host, *body, *words;
    } cases[] = {
        {"cut", NULL, LEVEL, "/cut, line 4: the file is truncated"},
        {"negative", NULL, "level rack latency_s -1 overhead_s 1 per_byte_s 1\nend\n",
         "/negative, line 4: latency_s -1 is not within"},
        {"foreign", "elsewhere[0-9]", LEVEL "end\n",
         "/foreign, line 3: measured on other hosts (elsewhere[0-9]), not on "},
        {"missing", NULL, NULL, "/missing: no such file; measure one by coll-profile"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[100];
        COLL_Description d;
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        if (cases[i].body)
            write_profile(path, cases[i].host, cases[i].body);
        int code = describe(path, &d);
        const char *text = harness_text(code);
        harness_assert(harness_class(code) == MPI_ERR_FILE && strstr(text, cases[i].words),
                       "%s: \"%s\"", cases[i].name, text);
    }
}
END_TEST

/* A profile of these hosts is used, one of others is skipped, and a damaged one is an error. */
START_TEST(the_search_finds_the_right_file) {
    char path[100];
    COLL_Description d;
    snprintf(path, sizeof path, "%s/libcoll", folder);
    if (world_rank == 0)
        mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/libcoll/profile", folder);
    setenv("XDG_CONFIG_HOME", folder, 1);
    harness_another_job();

    int code = describe(NULL, &d);
    harness_assert(code == MPI_SUCCESS && strcmp(d.profile, path) != 0, "no file: %s",
                   harness_text(code));
    write_profile(path, "elsewhere", LEVEL "end\n");
    harness_another_job();
    code = describe(NULL, &d);
    harness_assert(code == MPI_SUCCESS && strcmp(d.profile, path) != 0, "foreign: %s",
                   harness_text(code));
    write_profile(path, NULL, LEVEL "end\n");
    harness_another_job();
    code = describe(NULL, &d);
    harness_assert(code == MPI_SUCCESS && has_level(&d), "found: %s", harness_text(code));
    write_profile(path, NULL, LEVEL);
    harness_another_job();
    code = describe(NULL, &d);
    harness_assert(code != MPI_SUCCESS &&
                       strstr(harness_text(code), "profile, line 4: the file is truncated"),
                   "damaged: \"%s\"", harness_text(code));
    unsetenv("XDG_CONFIG_HOME");
}
END_TEST

START_TEST(written_profiles_are_read_back) {
    MPI_Comm comm = fresh();
    char path[100];
    COLL_Profile profile = {
        .cost = {[COLL_LEVEL_RACK] = {.latency = 0.0625, .overhead = 0.25, .per_byte = 0.5}},
        .measured = {[COLL_LEVEL_RACK] = 1}};
    COLL_Profile nothing = profile;
    memset(nothing.measured, 0, sizeof nothing.measured);
    COLL_Description d;
    snprintf(path, sizeof path, "%s/written", folder);
    int code = COLL_Describe(comm, &d);
    harness_assert(code == MPI_SUCCESS, "state");
    if (world_rank == 0)
        code = COLL_Profile_write(path, comm, &profile);
    harness_assert(code == MPI_SUCCESS, "written");
    code = describe(path, &d);
    harness_assert(code == MPI_SUCCESS && has_level(&d) && d.nodes == 1 &&
                       strcmp(d.profile, path) == 0,
                   "%s", harness_text(code));

    bool good = COLL_Profile_write(path, comm, &nothing) != MPI_SUCCESS;
    profile.cost[COLL_LEVEL_RACK].latency = 0;
    good = good && COLL_Profile_write(path, comm, &profile) != MPI_SUCCESS;
    profile.cost[COLL_LEVEL_RACK].latency = 1;
    good = good && COLL_Profile_write("/dev/null", comm, &profile) != MPI_SUCCESS;
    good = good && COLL_Profile_write("/nonexistent/p", comm, &profile) != MPI_SUCCESS;
    harness_assert(good, "refusals");
    code = describe(path, &d);
    harness_assert(code == MPI_SUCCESS && has_level(&d), "refusals leave the file alone: %s",
                   harness_text(code));
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(places_are_those_of_the_state) {
    MPI_Comm comm = fresh();
    COLL_Place *places = calloc((size_t)world_ranks, sizeof *places);
    coll_comm *state;
    ck_assert_ptr_nonnull(places);
    bool good =
        COLL_Places(comm, places) == MPI_SUCCESS && coll_comm_get(comm, &state) == MPI_SUCCESS;
    for (int i = 0; good && i < world_ranks; i++)
        good = places[i].node == 0 && places[i].rack == 0 && places[i].site == 0 &&
               places[i].numa == coll_state_of(state)->topo.places[i].numa &&
               strcmp(places[i].host, coll_state_of(state)->topo.hosts[0]) == 0;
    harness_assert(good, "places");
    free(places);
    MPI_Comm_free(&comm);
}
END_TEST

/* 2 sites of 2 racks (rounded up) of 3 nodes (rounded up) of at most 4 ranks. */
START_TEST(imagined_ranks_are_spread_as_the_real_ones) {
    const coll_topo now = {.ranks = 20,
                           .sites = 2,
                           .racks = 3,
                           .nodes = 7,
                           .most_ranks_per_node = 4,
                           .cores_per_node = 2};
    coll_topo topo;
    ck_assert_int_eq(coll_topo_imagine(&now, 25, &topo), MPI_SUCCESS);
    ck_assert_int_eq(topo.ranks, 25);
    ck_assert_int_eq(topo.nodes, 7);
    ck_assert_int_eq(topo.racks, 3);
    ck_assert_int_eq(topo.sites, 2);
    ck_assert_int_eq(topo.most_ranks_per_node, 4);
    const coll_place *at = topo.places;
    ck_assert(at[3].node == at[0].node && at[4].node != at[3].node && at[4].rack == at[3].rack);
    ck_assert(at[12].rack != at[11].rack && at[12].site == at[11].site);
    ck_assert(at[24].site != at[23].site);
    coll_topo_free(&topo);
    ck_assert_int_eq(coll_topo_imagine(&now, 3, &topo), MPI_SUCCESS);
    ck_assert_int_eq(topo.nodes, 1);
    ck_assert_int_eq(topo.most_ranks_per_node, 3);
    coll_topo_free(&topo);

    const coll_topo alone = {
        .ranks = 1, .sites = 1, .racks = 1, .nodes = 1, .most_ranks_per_node = 1};
    ck_assert_int_eq(coll_topo_imagine(&alone, 25, &topo), MPI_SUCCESS);
    ck_assert(topo.nodes == 25 && topo.racks == 1 && topo.sites == 1);
    ck_assert(topo.places[24].node == 24 && topo.places[24].rack == 0);
    coll_topo_free(&topo);
}
END_TEST

enum { MOST = 32 };

static int explain(int bytes, int root, int ranks, MPI_Comm comm, COLL_Candidate all[],
                   int *count) {
    const COLL_Question question = {
        .operation = "bcast", .bytes = bytes, .root = root, .ranks = ranks};
    return COLL_Explain_question(&question, comm, all, MOST, count);
}

START_TEST(other_numbers_of_ranks_are_explained) {
    COLL_Candidate now[MOST], same[MOST], many[MOST];
    int count, count_same, count_many;
    MPI_Comm comm = fresh();
    bool good = COLL_Explain("bcast", 1 << 20, 0, comm, now, MOST, &count) == MPI_SUCCESS;
    good = good && explain(1 << 20, 0, world_ranks, comm, same, &count_same) == MPI_SUCCESS;
    good = good && explain(1 << 20, 99, 100 * world_ranks, comm, many, &count_many) == MPI_SUCCESS;
    harness_assert(good && count == count_same && count == count_many, "explained");
    int chosen = 0;
    for (int i = 0; i < count; i++) {
        good = good && now[i].predicted == same[i].predicted && now[i].chosen == same[i].chosen;
        good = good && (!many[i].applicable || many[i].predicted > now[i].predicted);
        chosen += many[i].chosen;
    }
    harness_assert(good && chosen == 1, "predictions");
    int code = explain(1, 5, 5, comm, now, &count);
    harness_assert(harness_class(code) == MPI_ERR_ROOT, "root beyond the end");
    code = explain(1, 0, -1, comm, now, &count);
    harness_assert(harness_class(code) == MPI_ERR_ARG, "negative ranks");
    MPI_Comm_free(&comm);
}
END_TEST

/* Writes the profile BODY to the file NAME, sets PLAYED to the simulated bcasts on 8 hosts with it,
 * and returns their number. */
static int play(const char *name, const char *body, COLL_Candidate played[], int most) {
    const COLL_Question question = {.operation = "bcast",
                                    .bytes = 1 << 20,
                                    .ranks = 8 * world_ranks,
                                    .racks = 1,
                                    .events = 100000};
    char path[200];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_profile(path, NULL, body);
    MPI_Comm comm = fresh();
    if (world_rank == 0)
        setenv("COLL_PROFILE", path, 1);
    int code = COLL_Explain_question(&question, comm, played, most, &count);
    unsetenv("COLL_PROFILE");
    harness_assert(code == MPI_SUCCESS, "explained: %s", harness_text(code));
    MPI_Comm_free(&comm);
    return count;
}

/* Simulated links use no curves of a profile, as predictions don't. */
START_TEST(links_are_played_without_curves) {
    COLL_Candidate plain[MOST], curved[MOST];
    int count = play("plain", LEVEL "end\n", plain, MOST);
    play("curved", LEVEL "curve rack gs error 0 at 1 1000 1048576 1000000\nend\n", curved, MOST);
    for (int i = 0; i < count; i++)
        harness_assert(plain[i].played == curved[i].played &&
                           plain[i].host_bytes == curved[i].host_bytes,
                       "%s: %g and %g s", plain[i].spec, plain[i].played, curved[i].played);
}
END_TEST

START_TEST(names_end_where_they_should) {
    ck_assert_str_eq(COLL_Operation_name(0), "bcast");
    ck_assert_ptr_null(COLL_Operation_name(-1));
    ck_assert_ptr_null(COLL_Operation_name(COLL_OPERATIONS));
    ck_assert_str_eq(COLL_Level_name(COLL_LEVEL_WIDE), "wide");
    ck_assert_ptr_null(COLL_Level_name(-1));
    ck_assert_ptr_null(COLL_Level_name(COLL_LEVELS));
    ck_assert_str_eq(COLL_Settings()->name, "COLL_BCAST");
}
END_TEST

static void make_folder(void) {
    if (world_rank == 0)
        ck_assert_ptr_nonnull(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void remove_folder(void) {
    static const char *const names[] = {"good",  "cut",    "negative",        "foreign", "written",
                                        "plain", "curved", "libcoll/profile", "libcoll", ""};
    for (size_t i = 0; world_rank == 0 && i < sizeof names / sizeof *names; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

static Suite *info(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("info");
    TCase *tests = tcase_create("info");
    tcase_add_unchecked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, the_manner_of_waiting_is_described);
    tcase_add_test(tests, seconds_are_read_whatever_the_locale);
    tcase_add_test(tests, traces_are_written_whatever_the_locale);
    tcase_add_test(tests, the_named_profile_is_obeyed);
    tcase_add_test(tests, bad_profiles_are_the_same_error_everywhere);
    tcase_add_test(tests, the_search_finds_the_right_file);
    tcase_add_test(tests, written_profiles_are_read_back);
    tcase_add_test(tests, places_are_those_of_the_state);
    tcase_add_test(tests, imagined_ranks_are_spread_as_the_real_ones);
    tcase_add_test(tests, other_numbers_of_ranks_are_explained);
    tcase_add_test(tests, links_are_played_without_curves);
    tcase_add_test(tests, names_end_where_they_should);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 5", info);
}

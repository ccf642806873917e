/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests profile files: exact values; every error with its line; written files are read back; and
 * mutated files are good profiles or refused.
 */
#include "config.h"

#include "lib/base/pack_buffer.h"
#include "lib/cost/profile.h"
#include "lib/cost/profilefile.h"
#include "lib/topology/tcp_info.h"
#include "tests/support/harness.h"
#include "tests/support/mutate.h"
#include "tools/profile/benefit.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD "libcoll-profile 3\ndate 2026-11-20T07:13:54Z\nhosts n[0-3],login1\n"
#define RACK "level rack latency_s 4.125e-05 overhead_s 5e-06 per_byte_s 8.5e-09\n"
#define SITE                                                                                       \
    "level site latency_s 62.5e-6 overhead_s 0.000005 per_byte_s 1e-8 "                            \
    "buffer_bytes 61440 together_bytes_per_s 2e8 per_rank_s 1.5e-06\n"

#define CURVE "curve rack L error 0.03125 at 1 3e-05 1024 4.5e-5 65536 0.0005\n"
#define COPY "copy Mmtm error 0 at 64 2e-8\n"
#define TRIAL "trial rack bcast chain 16 at 512 1.5 0.5 8192 0.75 0.25\n"

static const char WHOLE[] = HEAD "# a comment\n\n" RACK SITE "hosts m7\n" CURVE COPY TRIAL "end\n";

static char problem[COLL_TEXTFILE_PROBLEM];

static bool parse_bytes(const char *text, size_t length, coll_profilefile *file) {
    char *copy = malloc(length + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    memset(problem, 1, sizeof problem);
    bool parsed = coll_profilefile_parse("p", copy, length, file, problem);
    free(copy);
    return parsed;
}

static bool parse(const char *text, coll_profilefile *file) {
    return parse_bytes(text, strlen(text), file);
}

START_TEST(values_are_exact) {
    coll_profilefile file;
    ck_assert_msg(parse(WHOLE, &file), "%s", problem);
    ck_assert_str_eq(file.date, "2026-11-20T07:13:54Z");
    ck_assert_str_eq(file.hosts, "n[0-3],login1,m7");
    ck_assert_int_eq(file.hosts_line, 3);
    for (int level = 0; level < COLL_LEVELS; level++)
        ck_assert(file.values.measured[level] ==
                  (level == COLL_LEVEL_RACK || level == COLL_LEVEL_SITE));
    ck_assert(file.values.cost[COLL_LEVEL_RACK].latency == 4.125e-05);
    ck_assert(file.values.cost[COLL_LEVEL_RACK].overhead == 5e-06);
    ck_assert(file.values.cost[COLL_LEVEL_RACK].per_byte == 8.5e-09);
    ck_assert(file.values.cost[COLL_LEVEL_SITE].latency == 62.5e-6);
    ck_assert(file.values.cost[COLL_LEVEL_SITE].overhead == 5e-06);
    ck_assert(file.values.cost[COLL_LEVEL_SITE].per_byte == 1e-8);
    ck_assert(file.values.cost[COLL_LEVEL_SITE].buffer == 61440);
    ck_assert(file.values.cost[COLL_LEVEL_SITE].together == 2e8);
    ck_assert(file.values.cost[COLL_LEVEL_SITE].per_rank == 1.5e-6);
    ck_assert(file.values.cost[COLL_LEVEL_RACK].buffer == 0);
    const COLL_Curve *transfer = &file.values.cost[COLL_LEVEL_RACK].curve[COLL_TRANSFER];
    ck_assert(transfer->knots == 3 && transfer->error == 0.03125);
    ck_assert(transfer->bytes[1] == 1024 && transfer->seconds[1] == 4.5e-5);
    ck_assert(transfer->bytes[2] == 65536 && transfer->seconds[2] == 0.0005);
    ck_assert_int_eq(file.values.cost[COLL_LEVEL_RACK].curve[COLL_SEND_GAP].knots, 0);
    ck_assert_int_eq(file.values.copy[COLL_COPY_MEMORY_TO_MEMORY].knots, 1);
    ck_assert(file.values.copy[COLL_COPY_MEMORY_TO_MEMORY].seconds[0] == 2e-8);
    coll_profilefile_free(&file);
}
END_TEST

START_TEST(harmless_variations_are_accepted) {
    static const char *const good[] = {
        HEAD RACK "end",
        HEAD "\t" RACK "  end \t\n",
        HEAD "level numa per_byte_s 1e-13 latency_s 100 overhead_s 1e-9\nend\n",
        HEAD RACK "end\n# after the end\n\n",
        "libcoll-profile 3 \n" RACK "hosts a\ndate 2026-11-20T07:13:54Z\nend\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        coll_profilefile file;
        ck_assert_msg(parse(good[i], &file), "%s", problem);
        coll_profilefile_free(&file);
    }
}
END_TEST

START_TEST(hosts_are_recognised) {
    coll_profilefile file;
    ck_assert(parse(WHOLE, &file));
    ck_assert(coll_profilefile_has_host(&file, "n0"));
    ck_assert(coll_profilefile_has_host(&file, "n3.cluster.org"));
    ck_assert(coll_profilefile_has_host(&file, "m7"));
    ck_assert(!coll_profilefile_has_host(&file, "n4"));
    ck_assert(!coll_profilefile_has_host(&file, "n"));
    coll_profilefile_free(&file);
}
END_TEST

#define AT(knots) HEAD RACK "curve rack gs error 0 at " knots "\nend\n"
#define LEVEL(latency, overhead, per_byte)                                                         \
    HEAD "level rack latency_s " latency " overhead_s " overhead " per_byte_s " per_byte "\nend\n"

static const struct {
    const char *text, *words;
} refused[] = {
    {"", "line 1: the file is truncated"},
    {"\n", "line 1: not a profile"},
    {"libcoll-profil", "line 1: not a profile"},
    {"libcoll-profile\n", "line 1: version ''"},
    {"libcoll-profile 1\n", "line 1: version '1' where this library reads 3"},
    {"libcoll-profile 3 beta\n", "line 1: 'beta' is too much"},
    {"libcoll-profile 3\n", "line 1: the file is truncated"},
    {HEAD RACK, "line 4: the file is truncated: it lacks its last line 'end'"},
    {HEAD RACK "en", "line 5: unknown word 'en'; known: date, hosts, level, curve, copy, "
                     "end"},
    {HEAD "end\n", "line 4: the file ends without any level"},
    {HEAD RACK "end\nend\n", "line 6: 'end' comes after the end"},
    {HEAD RACK "end of it\n", "line 5: 'of' is too much"},
    {HEAD RACK RACK "end\n", "line 5: level rack is there already"},
    {"libcoll-profile 3\nhosts a\n" RACK "end\n", "line 4: the file ends without a date"},
    {"libcoll-profile 3\ndate 2026-11-20T07:13:54Z\n" RACK "end\n",
     "line 4: the file ends without hosts"},
    {HEAD "date 2026-11-20T07:13:54Z\n", "line 4: a second date"},
    {"libcoll-profile 3\ndate yesterday\n", "line 2: date 'yesterday' is not like"},
    {"libcoll-profile 3\ndate\n", "line 2: date '' is not like"},
    {"libcoll-profile 3\nhosts\n", "line 2: no name in the hosts ''"},
    {"libcoll-profile 3\nhosts n[0-\n", "line 2: "},
    {"libcoll-profile 3\nhosts a b\n", "line 2: 'b' is too much"},
    {HEAD "level\n", "line 4: unknown level ''; known: numa, node, rack, site, wide"},
    {HEAD "level moon latency_s 1\n", "line 4: unknown level 'moon'"},
    {HEAD "level rack\n", "line 4: level rack has no latency_s"},
    {HEAD "level rack latency_s 1e-5 overhead_s 1e-6\n", "line 4: level rack has no per_byte_s"},
    {HEAD "level rack latency_s 1e-5 latency_s 1e-5\n", "line 4: latency_s is there twice"},
    {HEAD "level rack bandwidth 1e9\n", "line 4: unknown key 'bandwidth'; known: latency_s"},
    {HEAD "level rack latency_s\n", "line 4: latency_s '' is not a number"},
    {LEVEL("nan", "1e-6", "1e-9"), "line 4: latency_s 'nan' is not a number"},
    {LEVEL("1e-5", "inf", "1e-9"), "line 4: overhead_s 'inf' is not a number"},
    {LEVEL("1e-5", "1e-6", "0x1p-30"), "line 4: per_byte_s '0x1p-30' is not a number"},
    {LEVEL("1e-5x", "1e-6", "1e-9"), "line 4: latency_s '1e-5x' is not a number"},
    {LEVEL("1,5", "1e-6", "1e-9"), "line 4: latency_s '1,5' is not a number"},
    {LEVEL("1-5", "1e-6", "1e-9"), "line 4: latency_s '1-5' is not a number"},
    {LEVEL("-1e-5", "1e-6", "1e-9"), "line 4: latency_s -1e-05 is not within 1e-09 to 100"},
    {LEVEL("1e-5", "0", "1e-9"), "line 4: overhead_s 0 is not within 1e-09 to 100"},
    {LEVEL("1e-5", "1e-6", "1e308"), "line 4: per_byte_s 1e+308 is not within 1e-13 to 1"},
    {LEVEL("1e999", "1e-6", "1e-9"), "line 4: latency_s inf is not within 1e-09 to 100"},
    {LEVEL("9e-10", "1e-6", "1e-9"), "line 4: latency_s 9e-10 is not within"},
    {LEVEL("101", "1e-6", "1e-9"), "line 4: latency_s 101 is not within"},
    {LEVEL("1e-5", "1e-6", "9e-14"), "line 4: per_byte_s 9e-14 is not within"},
    {LEVEL("1e-5", "1e-6", "1.1"), "line 4: per_byte_s 1.1 is not within"},
    {HEAD RACK "level site latency_s 1 overhead_s 1 per_byte_s 1 buffer_bytes -1\n",
     "line 5: buffer_bytes -1 is not within 0 to 1e+15"},
    {HEAD RACK "level site latency_s 1 overhead_s 1 per_byte_s 1 per_rank_s 1e308\n",
     "line 5: per_rank_s 1e+308 is not within 0 to 100"},
    {HEAD CURVE RACK, "line 4: a curve of level 'rack', whose own line is not above"},
    {HEAD RACK "curve site L error 0 at 1 1\n", "line 5: a curve of level 'site'"},
    {HEAD RACK "curve moon L error 0 at 1 1\n", "line 5: a curve of level 'moon'"},
    {HEAD RACK "curve rack\n", "line 5: unknown curve ''; known: Os, gs, L, gr, Or, Ur"},
    {HEAD RACK CURVE CURVE, "line 6: L is there already"},
    {HEAD RACK "curve rack L\n", "line 5: L needs the error of its fit"},
    {HEAD RACK "curve rack L error\n", "line 5: L needs the error of its fit"},
    {HEAD RACK "curve rack L error -1 at 1 1\n", "line 5: error -1 of L is not within 0 to 100"},
    {HEAD RACK "curve rack L error 0\n", "line 5: L needs the word 'at'"},
    {AT(""), "line 5: gs has too few or too many knots"},
    {AT("1"), "line 5: '' is no number; knots of gs are pairs of bytes and seconds"},
    {AT("1 x"), "line 5: 'x' is no number"},
    {AT("1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9"), "line 5: gs has more than 8 knots"},
    {AT("1 1e-5 1 2e-5"), "line 5: gs has a size that is not above the one before"},
    {AT("2 1e-5 1 2e-5"), "line 5: gs has a size that is not above the one before"},
    {AT("1 2e-5 2 1e-5"), "line 5: gs has a time below the one before"},
    {AT("1 -2e-5"), "line 5: gs has a time that is not within 0 to 1e6 s"},
    {AT("1 1e308"), "line 5: gs has a time that is not within 0 to 1e6 s"},
    {AT("-1 1e-5"), "line 5: gs has a size that is not within 0 to 1e12"},
    {AT("1e308 1e-5"), "line 5: gs has a size that is not within 0 to 1e12"},
    {HEAD RACK "copy Mctx error 0 at 1 1\n", "line 5: unknown copy 'Mctx'; known: Mctc, Mctm"},
    {HEAD RACK COPY COPY, "line 6: Mmtm is there already"},
    {HEAD "\x7f"
          "ELF\n",
     "line 4: byte 0x7f is not plain text"},
    {HEAD "\xff\xfe\n", "line 4: byte 0xff is not plain text"},
    {"libcoll-profile 3\r\n", "line 1: byte 0x0d is not plain text"},
};

START_TEST(bad_files_are_refused_with_their_line) {
    coll_profilefile file;
    ck_assert_msg(!parse(refused[_i].text, &file), "accepted: %s", refused[_i].text);
    ck_assert_msg(strncmp(problem, "profile p, ", 11) == 0 && strstr(problem, refused[_i].words),
                  "\"%s\" is not in \"%s\"", refused[_i].words, problem);
    ck_assert_ptr_null(file.hosts);
}
END_TEST

START_TEST(nul_bytes_and_long_lines_are_refused) {
    coll_profilefile file;
    char text[2000] = HEAD;
    size_t head = strlen(text);
    ck_assert(!parse_bytes(text, head + 1, &file));
    ck_assert_str_eq(problem, "profile p, line 4: byte 0x00 is not plain text; give a file of "
                              "coll-profile");
    memset(text + head, '#', 1023);
    strcpy(text + head + 1023, "\n" RACK "end\n");
    ck_assert_msg(parse(text, &file), "%s", problem);
    coll_profilefile_free(&file);
    memset(text + head, '#', 1024);
    ck_assert(!parse(text, &file));
    ck_assert_str_eq(problem, "profile p, line 4: longer than 1023 characters; split or remove it");
}
END_TEST

START_TEST(files_that_cannot_be_read) {
    coll_profilefile file;
    ck_assert(!coll_profilefile_read("/nonexistent/p", &file, problem));
    ck_assert_str_eq(problem, "");
    ck_assert(!coll_profilefile_read("/", &file, problem));
    ck_assert_str_eq(problem, "cannot read profile /: Is a directory; set COLL_PROFILE to a file "
                              "of coll-profile");
    ck_assert(!coll_profilefile_read("/dev/zero", &file, problem));
    ck_assert_str_eq(problem, "cannot read profile /dev/zero: not a regular file; set "
                              "COLL_PROFILE to a file of coll-profile");
}
END_TEST

static bool same_curve(const COLL_Curve *one, const COLL_Curve *other) {
    bool same = one->knots == other->knots && one->error == other->error;
    for (int i = 0; i < one->knots && same; i++)
        same = one->bytes[i] == other->bytes[i] && one->seconds[i] == other->seconds[i];
    return same;
}

/* Checks that each of many host names is written, wrapped over lines, and values to six digits. */
static void check_what_is_written(void) {
    enum { HOSTS = 500 };
    static char names[HOSTS][16];
    const char *hosts[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
        snprintf(names[i], sizeof names[i], "host-%d", i * 7);
        hosts[i] = names[i];
    }
    static const COLL_Curve gap = {2, 0.125, {1, 1 << 20}, {1.5e-6, 0.25}};
    const COLL_Profile values = {.copy = {[COLL_COPY_CACHE_TO_MEMORY] = gap},
                                 .cost = {[COLL_LEVEL_NODE] = {.latency = 1.5e-6,
                                                               .overhead = 2.25e-7,
                                                               .per_byte = 3.125e-10},
                                          [COLL_LEVEL_WIDE] = {.latency = 0.0625,
                                                               .overhead = 1e-9,
                                                               .per_byte = 1,
                                                               .wake = 3e-5,
                                                               .per_rank = 2.5e-6,
                                                               .together = 1.25e8,
                                                               .buffer = 61440,
                                                               .curve = {[COLL_SEND_GAP] = gap}}},
                                 .measured = {[COLL_LEVEL_NODE] = true, [COLL_LEVEL_WIDE] = true}};
    const time_t begin = time(NULL);
    char path[] = "/tmp/coll-profile-XXXXXX";
    coll_profilefile back;
    close(mkstemp(path));
    ck_assert_int_eq(coll_profilefile_write(path, false, &values, hosts, HOSTS, problem), 0);
    ck_assert_msg(coll_profilefile_read(path, &back, problem), "%s", problem);
    ck_assert_int_eq(unlink(path), 0);
    struct tm date = {.tm_sec = 0};
    ck_assert_ptr_nonnull(strptime(back.date, "%Y-%m-%dT%H:%M:%SZ", &date));
    ck_assert(timegm(&date) >= begin && timegm(&date) <= time(NULL));
    for (int i = 0; i < HOSTS; i++)
        ck_assert(coll_profilefile_has_host(&back, hosts[i]));
    ck_assert(!coll_profilefile_has_host(&back, "host-1"));
    for (int level = 0; level < COLL_LEVELS; level++) {
        ck_assert(back.values.measured[level] == values.measured[level]);
        const COLL_Cost *one = &back.values.cost[level], *other = &values.cost[level];
        ck_assert(one->latency == other->latency && one->overhead == other->overhead &&
                  one->per_byte == other->per_byte && one->wake == other->wake &&
                  one->per_rank == other->per_rank && one->together == other->together &&
                  one->buffer == other->buffer);
        for (int i = 0; i < COLL_PARAMETERS; i++)
            ck_assert(same_curve(&one->curve[i], &other->curve[i]));
    }
    for (int i = 0; i < COLL_COPIES; i++)
        ck_assert(same_curve(&back.values.copy[i], &values.copy[i]));
    coll_profilefile_free(&back);
}

START_TEST(what_is_written_is_read_back) {
    check_what_is_written();
}
END_TEST

START_TEST(names_that_cannot_be_read_back_are_not_written) {
    static const char *const names[] = {"", "a b", "a,b", "n[0-1]", "#a"};
    static const char path[] = "/tmp/coll-profile-never-written";
    const COLL_Profile values = {
        .cost = {[COLL_LEVEL_NODE] = {.latency = 1e-6, .overhead = 1e-7, .per_byte = 1e-9}},
        .measured = {[COLL_LEVEL_NODE] = true}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_msg(coll_profilefile_write(path, false, &values, &names[i], 1, problem) != 0 &&
                          strncmp(problem, "host name ", 10) == 0,
                      "%s: %s", names[i], problem);
        ck_assert_int_ne(access(path, F_OK), 0);
    }
}
END_TEST

START_TEST(mutated_files_are_parsed_or_refused_cleanly) {
    static const char bytes[] = "[],-#\n\t 0123456789.eE+nrackend\0\x80\xff";
    generator g = {1};
    int good = 0, bad = 0;
    for (int round = 0; round < 20000; round++) {
        size_t length = strlen(WHOLE);
        char *text = mutate(WHOLE, &length, bytes, sizeof bytes - 1, &g);
        coll_profilefile file;
        bool parsed = parse_bytes(text, length, &file);
        free(text);
        if (parsed) {
            good++;
            coll_profilefile_has_host(&file, "n4.cluster.org");
            for (int level = 0; level < COLL_LEVELS; level++) {
                char fault[100];
                ck_assert(!file.values.measured[level] ||
                          !coll_profilefile_fault(&file.values.cost[level], fault, sizeof fault));
            }
            coll_profilefile_free(&file);
        } else {
            bad++;
            ck_assert_ptr_nonnull(memchr(problem, '\0', sizeof problem));
            ck_assert_int_eq(strncmp(problem, "profile p, line ", 16), 0);
        }
    }
    ck_assert_int_gt(good, 300);
    ck_assert_int_gt(bad, 1000);
}
END_TEST

/* The program's numbers have a decimal comma here. */
START_TEST(the_locale_does_not_matter) {
    coll_profilefile file;
    if (!harness_comma())
        return;
    ck_assert_msg(parse(WHOLE, &file), "%s", problem);
    ck_assert(file.values.cost[COLL_LEVEL_RACK].latency == 4.125e-05);
    coll_profilefile_free(&file);
    check_what_is_written();
    harness_point();
}
END_TEST

/* Sends PROFILE as rank 0 does, and returns the profile that another rank receives. */
static coll_profile carried(const coll_profile *profile) {
    coll_profile sent = *profile, received = {.measured = {false}};
    coll_pack_buffer packed = {.bytes = NULL};
    coll_profile_carry(&packed, &sent);
    ck_assert(!packed.failed);
    coll_pack_buffer pack = coll_pack_buffer_open(packed.bytes);
    coll_profile_carry(&pack, &received);
    ck_assert(!pack.failed);
    coll_pack_buffer_free(&packed);
    return received;
}

/* Short round trips keep the built-in latencies; long ones scale them by a power of two. */
START_TEST(round_trips_set_the_latency) {
    static const struct {
        double round_trip, times;
    } cases[] = {{0, 1},      {50e-6, 1},   {80e-6, 1},   {110e-6, 1},  {120e-6, 2},
                 {600e-6, 8}, {2.6e-3, 32}, {3.5e-3, 32}, {3.7e-3, 64}, {10, 1 << 10}};
    const coll_profile *builtin = coll_profile_builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        coll_profile profile = *builtin;
        coll_profile_set_round_trip(&profile, cases[i].round_trip);
        const coll_profile other = carried(&profile);
        for (int level = 0; level < COLL_LEVELS; level++) {
            const bool between_hosts = level == COLL_LEVEL_RACK || level == COLL_LEVEL_SITE;
            ck_assert(profile.level[level].latency ==
                      builtin->level[level].latency * (between_hosts ? cases[i].times : 1));
            ck_assert(other.level[level].latency == profile.level[level].latency);
            ck_assert(other.level[level].per_byte == builtin->level[level].per_byte);
        }
        ck_assert(coll_profile_is_builtin(&other));
    }
}
END_TEST

START_TEST(latencies_are_set_unless_measured) {
    const coll_cost *builtin = coll_profile_builtin()->level;
    const double ratio = builtin[COLL_LEVEL_SITE].latency / builtin[COLL_LEVEL_RACK].latency;
    static const struct { double rack, site; } cases[] = {{2e-3, 3e-3}, {2e-3, 0}, {0, 3e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double rack = cases[i].rack, site = cases[i].site;
        coll_profile profile = *coll_profile_builtin();
        coll_profile_set_latencies(&profile, rack, site);
        ck_assert_double_eq_tol(profile.level[COLL_LEVEL_RACK].latency,
                                rack > 0 ? rack : site / ratio, 1e-12);
        ck_assert_double_eq_tol(profile.level[COLL_LEVEL_SITE].latency,
                                site > 0 ? site : rack * ratio, 1e-12);
        ck_assert(profile.level[COLL_LEVEL_WIDE].latency == builtin[COLL_LEVEL_WIDE].latency);
    }
    coll_profile profile = *coll_profile_builtin();
    coll_profile_set_latencies(&profile, 0, 0);
    ck_assert(profile.level[COLL_LEVEL_RACK].latency == builtin[COLL_LEVEL_RACK].latency);
    snprintf(profile.source, sizeof profile.source, "a file");
    coll_profile_set_latencies(&profile, 2e-3, 3e-3);
    ck_assert(profile.level[COLL_LEVEL_RACK].latency == builtin[COLL_LEVEL_RACK].latency);
    profile.only_rates = true;
    coll_profile_set_latencies(&profile, 2e-3, 3e-3);
    ck_assert(profile.level[COLL_LEVEL_RACK].latency == 2e-3);
}
END_TEST

START_TEST(rates_of_a_job_are_set_between_hosts) {
    const coll_network_rates rates = {.link = 1e6, .together = 6e6, .per_rank = 4e-6};
    for (int racks = 1; racks <= 2; racks++) {
        const coll_topo topo = {.ranks = 4, .nodes = 4, .racks = racks, .sites = 1};
        coll_profile job = *coll_profile_builtin();
        coll_profile_set_rates(&job, &topo, &rates);
        const coll_profile other = carried(&job);
        const coll_cost *rack = &other.level[COLL_LEVEL_RACK],
                        *site = &other.level[COLL_LEVEL_SITE];
        ck_assert(rack->per_byte == 1e-6 && rack->per_rank == 4e-6 && site->per_rank == 4e-6);
        ck_assert(site->together == (racks == 1 ? 0 : 6e6) && site->per_byte == 1e-6);
        ck_assert(other.only_rates && other.measured[COLL_LEVEL_RACK] &&
                  other.measured[COLL_LEVEL_SITE] == (racks == 2));
        ck_assert(other.level[COLL_LEVEL_NODE].per_rank == 0);
    }
}
END_TEST

START_TEST(measured_profiles_are_carried_whole) {
    coll_profile profile = *coll_profile_builtin();
    snprintf(profile.source, sizeof profile.source, "a file");
    profile.level[COLL_LEVEL_RACK].per_byte = 0.5;
    profile.measured[COLL_LEVEL_RACK] = true;
    const coll_profile other = carried(&profile);
    ck_assert_str_eq(other.source, profile.source);
    ck_assert(other.measured[COLL_LEVEL_RACK] && other.level[COLL_LEVEL_RACK].per_byte == 0.5);
    ck_assert(!coll_profile_is_builtin(&other));
}
END_TEST

/* Writes a profile whose one level is LINE, and loads it for one host in each of two racks. */
static coll_profile loaded(const char *line) {
    char path[] = "profile-XXXXXX", *hosts[] = {"n0", "n1"};
    const coll_topo topo = {.ranks = 2, .nodes = 2, .racks = 2, .sites = 1, .hosts = hosts};
    coll_profile profile;
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_gt(dprintf(file, "%s%send\n", HEAD, line), 0);
    close(file);
    coll_profile_load(path, &topo, &profile, problem);
    ck_assert_msg(!*problem, "%s", problem);
    ck_assert_int_eq(unlink(path), 0);
    return profile;
}

START_TEST(a_level_without_figures_has_those_of_its_neighbour) {
    const coll_profile by_rack = loaded(RACK), by_site = loaded(SITE),
                       *builtin = coll_profile_builtin();
    const coll_cost *rack = &by_rack.level[COLL_LEVEL_RACK],
                    *site = &by_rack.level[COLL_LEVEL_SITE];
    ck_assert(site->latency == rack->latency && site->per_byte == rack->per_byte);
    ck_assert(site->together == 2 / rack->per_byte);
    ck_assert(!by_rack.measured[COLL_LEVEL_SITE]);
    rack = &by_site.level[COLL_LEVEL_RACK], site = &by_site.level[COLL_LEVEL_SITE];
    ck_assert(rack->latency == site->latency && rack->buffer == site->buffer);
    ck_assert(rack->together == 0 && site->together == 2e8);
    ck_assert(by_site.level[COLL_LEVEL_WIDE].latency == builtin->level[COLL_LEVEL_WIDE].latency);
}
END_TEST

/* Opens a connection of this host to itself, which has no information on other hosts. */
START_TEST(connections_of_one_host_have_no_round_trip) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0);
    ck_assert(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    ck_assert(connect(other, (struct sockaddr *)&at, size) == 0);
    ck_assert(coll_tcp_info_round_trip() == 0);
    close(other);
    close(listener);
}
END_TEST

/* Reading from the master of a pseudo-terminal returns the text that the slave wrote, and then an
 * error, because nobody has the slave open. */
START_TEST(a_trace_with_a_read_error_is_refused) {
    static const char account[] = "coll: account ranks=2 dcps=0 Tcomp=1 Tcoll=1 Tpoint=0 "
                                  "Tserved=1 Tstarted=0 Tcpu=1\n";
    int master = posix_openpt(O_RDWR | O_NOCTTY), own = dup(STDIN_FILENO), ranks = 0;
    ck_assert(master >= 0 && own >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_eq(write(slave, account, sizeof account - 1), sizeof account - 1);
    close(slave);
    dup2(master, STDIN_FILENO);
    benefit_times times;
    app_problem refused_for = {""};
    bool read = benefit_read_trace("-", &times, &ranks, &refused_for);
    dup2(own, STDIN_FILENO);
    clearerr(stdin);
    close(own);
    close(master);
    ck_assert_int_eq(ranks, 2);
    ck_assert_str_eq(refused_for.text, "-: Input/output error");
    ck_assert(!read);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("profile");
    TCase *tests = tcase_create("profile");
    tcase_add_test(tests, values_are_exact);
    tcase_add_test(tests, harmless_variations_are_accepted);
    tcase_add_test(tests, hosts_are_recognised);
    tcase_add_loop_test(tests, bad_files_are_refused_with_their_line, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, nul_bytes_and_long_lines_are_refused);
    tcase_add_test(tests, files_that_cannot_be_read);
    tcase_add_test(tests, what_is_written_is_read_back);
    tcase_add_test(tests, names_that_cannot_be_read_back_are_not_written);
    tcase_add_test(tests, mutated_files_are_parsed_or_refused_cleanly);
    tcase_add_test(tests, the_locale_does_not_matter);
    tcase_add_test(tests, round_trips_set_the_latency);
    tcase_add_test(tests, latencies_are_set_unless_measured);
    tcase_add_test(tests, rates_of_a_job_are_set_between_hosts);
    tcase_add_test(tests, measured_profiles_are_carried_whole);
    tcase_add_test(tests, a_level_without_figures_has_those_of_its_neighbour);
    tcase_add_test(tests, connections_of_one_host_have_no_round_trip);
    tcase_add_test(tests, a_trace_with_a_read_error_is_refused);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

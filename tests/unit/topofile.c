/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the parser of topology.conf, topology.yaml and their host lists: what it reads, what it
 * refuses, and mutated input.
 */
#include "config.h"

#include "lib/base/textfile.h"
#include "lib/topology/hostlist.h"
#include "lib/topology/topofile.h"
#include "tests/support/harness.h"
#include "tests/support/mutate.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char TWO_SITES[] = "# two sites\n"
                                "SwitchName=rack0 Nodes=n[0-3,7,010-012],login1 LinkSpeed=1000\r\n"
                                "switchname = rack1  NODES = \"n[4-6]\" Colour=blue # comment\n"
                                "\n"
                                "  SwitchName=core Switches=rack[0-1]\n"
                                "SwitchName=away Nodes=far[0-9],\\ # goes on\n"
                                "x[1-2]y[08-11].cluster.org\n"
                                "Switches=core SwitchName=top";

static coll_topofile *parse_bytes(const char *text, size_t length, char *problem) {
    char *copy = malloc(length + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return coll_topofile_parse(strdup("t.conf"), copy, length, problem);
}

static coll_topofile *parse(const char *text) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    coll_topofile *file = parse_bytes(text, strlen(text), problem);
    ck_assert_msg(file != NULL, "%s", problem);
    ck_assert_str_eq(problem, "");
    return file;
}

static bool found(coll_topofile *file, const char *host, int *rack, int *site) {
    char problem[COLL_TEXTFILE_PROBLEM];
    return coll_topofile_find(file, host, rack, site, problem);
}

/* Returns whether A and B are in one rack. Sets *SITES to whether they are at one site. */
static bool together(coll_topofile *file, const char *a, const char *b, bool *sites) {
    int rack[2], site[2];
    ck_assert_msg(found(file, a, &rack[0], &site[0]), "%s", a);
    ck_assert_msg(found(file, b, &rack[1], &site[1]), "%s", b);
    *sites = site[0] == site[1];
    return rack[0] == rack[1];
}

START_TEST(racks_and_sites_are_found) {
    coll_topofile *file = parse(TWO_SITES);
    bool site;
    int rack, which;
    ck_assert(found(file, "x1y09.cluster.org", &rack, &which) && rack == 0 && which == 0);
    ck_assert(found(file, "n4", &rack, &which) && rack == 1 && which == 1);
    ck_assert(found(file, "n0", &rack, &which) && rack == 2 && which == 1);
    ck_assert(together(file, "n0", "n3", &site) && site);
    ck_assert(together(file, "n0", "n7", &site) && site);
    ck_assert(together(file, "n0", "n012", &site) && site);
    ck_assert(together(file, "n0", "login1", &site) && site);
    ck_assert(together(file, "n4", "n6", &site) && site);
    ck_assert(!together(file, "n0", "n4", &site) && site);
    ck_assert(!together(file, "n0", "far5", &site) && !site);
    ck_assert(together(file, "far0", "x2y08.cluster.org", &site) && site);
    coll_topofile_free(file);
}
END_TEST

START_TEST(hosts_that_no_rack_lists_are_not_found) {
    static const char *const strangers[] = {"n8",    "n10", "n0010",   "n",     "N0",
                                            "n00",   "",    "login",   "far10", "x1y8",
                                            "x3y08", "x1y", "login12", "n-1"};
    coll_topofile *file = parse(TWO_SITES);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        int rack, site;
        ck_assert_msg(!found(file, strangers[i], &rack, &site), "%s", strangers[i]);
    }
    char problem[COLL_TEXTFILE_PROBLEM];
    int rack, site;
    ck_assert(!coll_topofile_find(file, "n8", &rack, &site, problem));
    ck_assert_str_eq(problem, "host n8 is in no rack of topology file t.conf; add it to the Nodes= "
                              "of its switch");
    char longest[400];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ck_assert(!found(file, longest, &rack, &site));
    coll_topofile_free(file);
}
END_TEST

START_TEST(domains_are_stripped_where_one_side_has_none) {
    coll_topofile *file = parse("SwitchName=a Nodes=n[1-2],m1.a.org\n"
                                "SwitchName=b Nodes=m1.b.org,n2.cluster.org");
    int rack, site, other;
    ck_assert(found(file, "n1", &rack, &site));
    ck_assert(found(file, "n1.cluster.org", &other, &site));
    ck_assert_int_eq(rack, other);
    ck_assert(found(file, "n2", &other, &site));
    ck_assert_int_eq(rack, other);
    ck_assert(found(file, "m1.a.org", &other, &site));
    ck_assert_int_eq(rack, other);
    ck_assert(found(file, "n2.cluster.org", &other, &site));
    ck_assert_int_ne(rack, other);
    ck_assert(!found(file, "m1.c.org", &other, &site));
    ck_assert(!found(file, "n3.cluster.org", &other, &site));
    char problem[COLL_TEXTFILE_PROBLEM];
    ck_assert(!coll_topofile_find(file, "m1", &rack, &site, problem));
    ck_assert_str_eq(problem, "host m1 is in two racks of topology file t.conf, a (line 1) and b "
                              "(line 2); remove it from one");
    coll_topofile_free(file);
}
END_TEST

START_TEST(racks_without_switches_above_are_one_site) {
    coll_topofile *file = parse("SwitchName=a Nodes=a[0-1]\nSwitchName=b Nodes=b[0-1]\n");
    bool site;
    ck_assert(!together(file, "a0", "b1", &site));
    ck_assert(site);
    coll_topofile_free(file);
}
END_TEST

START_TEST(huge_ranges_cost_nothing) {
    coll_topofile *file = parse("SwitchName=a Nodes=n[0-999999999],m[000-999999999][0-999999999]");
    int rack, site;
    ck_assert(found(file, "n999999999", &rack, &site));
    ck_assert(!found(file, "n1000000000", &rack, &site));
    ck_assert(found(file, "m0001", &rack, &site));
    ck_assert(!found(file, "m001", &rack, &site));
    coll_topofile_free(file);
}
END_TEST

START_TEST(a_host_in_one_rack_twice_is_fine) {
    coll_topofile *file = parse("SwitchName=a Nodes=n[0-3,2],n1");
    int rack, site;
    ck_assert(found(file, "n1", &rack, &site));
    coll_topofile_free(file);
}
END_TEST

/*
 * Returns the racks and sites of HOSTS in FILE, numbered as they are found: "0/0 1/0". Frees FILE.
 */
static const char *places(coll_topofile *file, const char *const hosts[], const char *note) {
    static char text[200];
    *text = '\0';
    for (int i = 0; hosts[i]; i++) {
        int rack, site;
        char problem[COLL_TEXTFILE_PROBLEM] = "";
        ck_assert_msg(coll_topofile_find(file, hosts[i], &rack, &site, problem), "%s", problem);
        sprintf(text + strlen(text), "%s%d/%d", i ? " " : "", rack, site);
    }
    ck_assert_str_eq(coll_topofile_note(file), note);
    coll_topofile_free(file);
    return text;
}

#define PLACES(text, note, ...) places(parse(text), (const char *const[]){__VA_ARGS__, NULL}, note)

/* Tests the fat tree of Slurm's guide, and two such trees that are not connected. */
START_TEST(leaves_below_several_spines_are_one_site) {
    ck_assert_str_eq(PLACES("SwitchName=s0 Nodes=tux[0-3] LinkSpeed=900\n"
                            "SwitchName=s1 Nodes=tux[4-7] LinkSpeed=900\n"
                            "SwitchName=s4 Switches=s[0-1] LinkSpeed=1800\n"
                            "SwitchName=s5 Switches=s[0-1] LinkSpeed=1800\n",
                            "it is no tree, as s0 is below s4 and s5: switches that are connected "
                            "are one site",
                            "tux0", "tux5", "tux3"),
                     "0/0 1/0 0/0");
    ck_assert_str_eq(PLACES("SwitchName=a0 Nodes=a0\nSwitchName=a1 Nodes=a1\n"
                            "SwitchName=a2 Nodes=a2\nSwitchName=b Nodes=b\n"
                            "SwitchName=x Switches=a[0-1]\nSwitchName=y Switches=a[1-2]\n"
                            "SwitchName=z Switches=b\n",
                            "it is no tree, as a1 is below x and y: switches that are connected "
                            "are one site",
                            "a0", "a1", "a2", "b"),
                     "0/0 1/0 2/0 3/1");
    ck_assert_str_eq(PLACES("SwitchName=a Switches=b\nSwitchName=b Switches=a Nodes=n\n", "", "n"),
                     "0/0");
}
END_TEST

/*
 * Tests the format of "scontrol show topology", in which upper switches also list the hosts below.
 */
START_TEST(hosts_of_switches_above_are_in_the_racks_below) {
    ck_assert_str_eq(PLACES("SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3],login "
                            "Switches=s[0-1]\n"
                            "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n"
                            "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]\n",
                            "", "n0", "n2", "n1", "login"),
                     "0/0 1/0 0/0 2/0");
}
END_TEST

START_TEST(hosts_of_several_racks_are_in_the_first) {
    ck_assert_str_eq(PLACES("SwitchName=z Nodes=n[0-1]\nSwitchName=a Nodes=n[0-2]\n",
                            "n0 is in both z and a: the first is used", "n0", "n1", "n2"),
                     "0/0 0/0 1/0");
}
END_TEST

START_TEST(blocks_are_racks) {
    ck_assert_str_eq(PLACES("BlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n[2-3]\n"
                            "BlockSizes=2,4\n",
                            "", "n0", "n2", "n1"),
                     "0/0 1/0 0/0");
    ck_assert_str_eq(PLACES("BlockName=b Nodes=n[0-3]\nSwitchName=s Nodes=n[0-1]\n"
                            "SwitchName=t Nodes=n[2-3]\nSwitchName=u Switches=s,t\n",
                            "its blocks are ignored because it has switches", "n0", "n2"),
                     "0/0 1/0");
}
END_TEST

START_TEST(a_bare_root_is_one_rack) {
    ck_assert_str_eq(
        PLACES("SwitchName=root\n", "it lists no hosts: all are in one rack", "n0", "n1"),
        "0/0 0/0");
    ck_assert_str_eq(PLACES("\xef\xbb\xbfSwitchName=root\nSwitchName=a Nodes=n0\n", "", "n0"),
                     "0/0");
}
END_TEST

static const char YAML[] = "# by hand\n"
                           "---\n"
                           "- topology: flat\n"
                           "  cluster_default: false\n"
                           "  flat: true\n"
                           "- topology: 'main'   # this one\n"
                           "  cluster_default: true\n"
                           "  tree:\n"
                           "    switches:\n"
                           "      - switch: core\n"
                           "        children: s[1-2]\n"
                           "      - switch: \"s1\"\n"
                           "        nodes: node[01-02],login#1 # two\r\n"
                           "      - nodes: node[03-04]\n"
                           "        switch: s2\n"
                           "        link_speed: 900\n"
                           "      -\n"
                           "        switch: away\n"
                           "        nodes: far\n"
                           "- topology: blocks\n"
                           "  block:\n"
                           "    block_sizes:\n"
                           "    - 2\n"
                           "    - 4\n"
                           "    blocks:\n"
                           "    - block: b1\n"
                           "      nodes: node[01-04]\n"
                           "...\n"
                           "anything\n";

#ifdef HAVE_YAML
START_TEST(yaml_is_read) {
    ck_assert_str_eq(PLACES(YAML, "of its 3 topologies 'main' is used", "node01", "node03",
                            "node02", "login#1", "far", "node04"),
                     "0/0 1/0 0/0 0/0 2/1 1/0");
    const char *blocks = strstr(YAML, "- topology: blocks");
    ck_assert_str_eq(PLACES("- topology: b\n  block:\n    block_sizes: [2, 4]\n    blocks:\n"
                            "    - block: b1\n      nodes: n[1-2]\n    - block: b2\n"
                            "      nodes: n[3-4]\n",
                            "", "n1", "n3", "n2"),
                     "0/0 1/0 0/0");
    ck_assert_str_eq(PLACES(blocks, "", "node01", "node04"), "0/0 0/0");
    ck_assert_str_eq(PLACES("- {topology: t, tree: {switches: [{switch: a, nodes: \"n[1-2]\"},\n"
                            "  {switch: b, nodes: &more n3}, {switch: c, nodes: n4}]}}\n"
                            "- topology: *more\n",
                            "of its 2 topologies 't' is used", "n1", "n3", "n4", "n2"),
                     "0/0 1/0 2/0 0/0");
    ck_assert_str_eq(PLACES("- topology: f\n  flat: true\n",
                            "it lists no hosts: all are in one rack", "n1", "n3"),
                     "0/0 0/0");
    ck_assert_str_eq(PLACES("- topology: a\n  torus3d:\n    toruses:\n    - torus: t\n"
                            "      nodes: n[1-9]\n",
                            "it lists no hosts: all are in one rack", "n1"),
                     "0/0");
}
END_TEST
#endif

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(files_are_included) {
    char folder[] = "/tmp/coll-topofile-XXXXXX", path[64], other[64], text[200];
    char problem[COLL_TEXTFILE_PROBLEM], expected[COLL_TEXTFILE_PROBLEM];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/topology.conf", folder);
    snprintf(other, sizeof other, "%s/racks", folder);
    write_file(path, "include racks # beside\nSwitchName=top Switches=a,b\nSwitchName=c Nodes=n3");
    write_file(other, "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n");
    coll_topofile *file = coll_topofile_read(path, problem);
    ck_assert_msg(file != NULL, "%s", problem);
    ck_assert_str_eq(places(file, (const char *const[]){"n1", "n2", "n3", NULL}, ""),
                     "0/0 1/0 2/1");
    snprintf(text, sizeof text, "SwitchName=a Nodes=n1\n\nInclude \"%s\"", other);
    write_file(path, text);
    ck_assert_ptr_null(coll_topofile_read(path, problem));
    snprintf(expected, sizeof expected,
             "topology file %s, line 1: switch a is there already, in line 1 of %s; rename or "
             "remove one",
             other, path);
    ck_assert_str_eq(problem, expected);
    write_file(other, "\nInclude topology.conf\n");
    ck_assert_ptr_null(coll_topofile_read(path, problem));
    ck_assert_ptr_nonnull(strstr(problem, "more than 1000 files are included; does one include "
                                          "itself?"));
    unlink(other);

    write_file(path, "SwitchName=a Nodes=n1\n");
    snprintf(other, sizeof other, "%s/topology.yaml", folder);
    write_file(other, YAML);
    file = coll_topofile_read(path, problem);
    ck_assert_msg(file != NULL, "%s", problem);
    ck_assert_str_eq(coll_topofile_note(file), "Slurm itself reads the topology.yaml next to it");
    coll_topofile_free(file);
#ifdef HAVE_YAML
    file = coll_topofile_read(other, problem);
    ck_assert_msg(file != NULL, "%s", problem);
    ck_assert_str_eq(coll_topofile_note(file), "of its 3 topologies 'main' is used");
    coll_topofile_free(file);
#endif
    unlink(path);
    unlink(other);
    rmdir(folder);
}
END_TEST

static const char *const mutated[] = {
    TWO_SITES,
#ifdef HAVE_YAML
    YAML,
#endif
};

struct refused {
    const char *text, *problem;
};

static const struct refused refused[] = {
    {"", "line 1: the file ends without a switch; add SwitchName=NAME Nodes=LIST"},
    {"# nothing\n\n", "line 2: the file ends without a switch; add SwitchName=NAME Nodes=LIST"},
    {"Nodes=n1", "line 1: no SwitchName=; write SwitchName=NAME Nodes=LIST or Switches=LIST"},
    {"SwitchName=a Nodes=n1\nrubbish",
     "line 2: KEY=VALUE expected at 'rubbish'; write SwitchName=NAME Nodes=LIST or SwitchName=NAME "
     "Switches=LIST"},
    {"SwitchName=a Nodes=",
     "line 1: KEY=VALUE expected at 'Nodes='; write SwitchName=NAME Nodes=LIST or SwitchName=NAME "
     "Switches=LIST"},
    {"SwitchName=a Nodes=\"n1",
     "line 1: KEY=VALUE expected at 'Nodes=\"n1'; write SwitchName=NAME Nodes=LIST or "
     "SwitchName=NAME Switches=LIST"},
    {"SwitchName=a Nodes=n1 nodes=n2", "line 1: nodes= is there twice; keep one"},
    {"SwitchName=a[0-1] Nodes=n1",
     "line 1: bad switch name 'a[0-1]'; use a short name without [ ] , = \""},
    {"SwitchName=a Nodes=n[0-3",
     "line 1: a bad bracket in the list 'n[0-3' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[3-0]",
     "line 1: a bad bracket in the list 'n[3-0]' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[]",
     "line 1: a bad bracket in the list 'n[]' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[1,]",
     "line 1: a bad bracket in the list 'n[1,]' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[1-]",
     "line 1: a bad bracket in the list 'n[1-]' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[[1]]",
     "line 1: a bad bracket in the list 'n[[1]]' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[a-c]",
     "line 1: a bad bracket in the list 'n[a-c]' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n[0-9999999999999999999]",
     "line 1: a bad bracket in the list 'n[0-9999999999999999999]' of switch a; write it like "
     "n[0-3,7],login1"},
    {"SwitchName=a Nodes=n1]",
     "line 1: a stray ']', '=', '\"' or space in the list 'n1]' of switch a; write it like "
     "n[0-3,7],login1"},
    {"SwitchName=a Nodes=\"n1, n2\"",
     "line 1: a stray ']', '=', '\"' or space in the list 'n1, n2' of switch a; write it like "
     "n[0-3,7],login1"},
    {"SwitchName=a Nodes=n1,,n2",
     "line 1: an empty name in the list 'n1,,n2' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=a Nodes=n1,",
     "line 1: an empty name in the list 'n1,' of switch a; write it like n[0-3,7],login1"},
    {"SwitchName=b Nodes=n2\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n3",
     "line 3: switch b is there already, in line 1; rename or remove one"},
    {"SwitchName=a Nodes=n1\nSwitchName=top Switches=a,b",
     "line 2: switch top lists switch b, which the file does not have; add switch b or remove it "
     "here"},
    {"SwitchName=a0 Nodes=n1\nSwitchName=top Switches=a[0-999999999]",
     "line 2: switch top lists switch a1, which the file does not have; add switch a1 or remove it "
     "here"},
    {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a,a",
     "line 2: switch b lists switch a twice; list it once"},
    {"Include nosuch.conf\nSwitchName=a Nodes=n1",
     "line 1: the included file nosuch.conf cannot be read: No such file or directory; correct its "
     "name or remove the line"},
    {"BlockName=a Nodes=n1\nBlockName=a Nodes=n2",
     "line 2: block a is there already, in line 1; rename or remove one"},
    {"SwitchName=a Nodes=n1,\\\n",
     "line 1: the file ends where a backslash continues the line; is it complete?"},
    {"SwitchName=a Nodes=n1\n\x7f"
     "ELF\x02",
     "line 2: byte 0x7f is not text; give a text file"},
};

#ifdef HAVE_YAML
static const struct refused refused_yaml[] = {
    {"---\n",
     "line 1: there is no list of topologies; write it as for Slurm: - topology: NAME, and "
     "tree: or block: below"},
    {"- topology: t\n\tflat: true",
     "line 2: no YAML: found a tab character that violates indentation; write a list of topologies "
     "as for Slurm"},
    {"- topology: t\n  flat",
     "line 3: no YAML: could not find expected ':'; write a list of topologies as for Slurm"},
    {"- topology: t\n\n  name: \xff",
     "line 3: no YAML: invalid leading UTF-8 octet; write a list of topologies as for Slurm"},
    {"[]", "line 1: there is no list of topologies; write it as for Slurm: - topology: NAME, and "
           "tree: or block: below"},
    {"- topology: t\n  tree: s",
     "line 2: tree: has no list of switches; write switches: below it, and a list"},
    {"- topology: t\n  block:\n    - b",
     "line 3: block: has no list of blocks; write blocks: below it, and a list"},
    {"- topology: t\n  tree:\n    switches:\n    - s",
     "line 4: switch: and nodes: expected; write it as for Slurm"},
    {"- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes: \"n1",
     "line 5: no YAML: found unexpected end of stream; write a list of topologies as for Slurm"},
    {"- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes:\n      - n1",
     "line 5: nodes: needs a text; write it like n[0-3,7], in quotes within { }"},
    {"- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes:\n",
     "line 5: nodes: needs a text; write it like n[0-3,7], in quotes within { }"},
    {"- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n      nodes: n2",
     "line 6: nodes: is there twice; keep one"},
    {"- topology: t\n  block:\n    blocks:\n    - nodes: n1",
     "line 4: a block without a name; add block: NAME"},
    {"- topology: t\n  block:\n    blocks:\n    - block: b\n      nodes: n[1",
     "line 4: a bad bracket in the list 'n[1' of block b; write it like n[0-3,7],login1"},
};
#else
static const struct refused refused_yaml[] = {
    {"- topology: t", "line 1: this libcoll was built without libyaml, which reads topology.yaml; "
                      "give a topology.conf, or build with libyaml"},
};
#endif

static void check_refused(const struct refused *file) {
    char problem[COLL_TEXTFILE_PROBLEM], expected[2 * COLL_TEXTFILE_PROBLEM];
    ck_assert_ptr_null(parse_bytes(file->text, strlen(file->text), problem));
    snprintf(expected, sizeof expected, "topology file t.conf, %s", file->problem);
    ck_assert_str_eq(problem, expected);
}

START_TEST(bad_files_are_refused_with_line_and_remedy) {
    check_refused(&refused[_i]);
}
END_TEST

START_TEST(bad_yaml_is_refused_with_line_and_remedy) {
    check_refused(&refused_yaml[_i]);
}
END_TEST

START_TEST(nul_bytes_and_missing_files_are_refused) {
    char problem[COLL_TEXTFILE_PROBLEM];
    ck_assert_ptr_null(parse_bytes("SwitchName=a\0Nodes=b", 20, problem));
    ck_assert_str_eq(problem,
                     "topology file t.conf, line 1: byte 0x00 is not text; give a text file");
    ck_assert_ptr_null(coll_topofile_read("/nonexistent/t.conf", problem));
    ck_assert_str_eq(problem, "cannot read topology file /nonexistent/t.conf: No such file or "
                              "directory; set COLL_TOPOLOGY to a readable file");
    ck_assert_ptr_null(coll_topofile_read("/", problem));
    ck_assert_str_eq(problem, "cannot read topology file /: Is a directory; set COLL_TOPOLOGY to a "
                              "readable file");
    ck_assert_ptr_null(coll_topofile_read("/dev/zero", problem));
    ck_assert_str_eq(problem, "cannot read topology file /dev/zero: not a regular file; set "
                              "COLL_TOPOLOGY to a readable file");
}
END_TEST

/*
 * Reads a complete file, one that is a byte too long, a missing one, a pipe without a writer, and
 * an endless stream.
 */
START_TEST(reading_a_file_ends) {
    enum { MOST = 100000 };
    char folder[] = "/tmp/coll-textfile-XXXXXX", path[64], *text;
    size_t length;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < MOST; i++)
        fputc('x', file);
    fflush(file);
    ck_assert_int_eq(coll_textfile_read(path, MOST, &text, &length), 0);
    ck_assert_uint_eq(length, MOST);
    ck_assert_uint_eq(strlen(text), MOST);
    free(text);
    fputc('x', file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(coll_textfile_read(path, MOST, &text, &length), EFBIG);
    ck_assert_ptr_null(text);
    unlink(path);
    ck_assert_int_eq(coll_textfile_read(path, MOST, &text, &length), ENOENT);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(coll_textfile_read(path, MOST, &text, &length), EINVAL);
    ck_assert_str_eq(coll_textfile_fault(EINVAL), "not a regular file");
    unlink(path);
    rmdir(folder);

    FILE *endless = fopen("/dev/zero", "r");
    ck_assert_ptr_nonnull(endless);
    ck_assert_int_eq(coll_textfile_take(endless, MOST, &text, &length), EFBIG);
    ck_assert_ptr_null(text);
    fclose(endless);
}
END_TEST

START_TEST(a_deep_chain_of_switches_is_one_site) {
    enum { DEPTH = 100000, LINE = 64 };
    char *text = malloc((size_t)DEPTH * LINE);
    ck_assert_ptr_nonnull(text);
    size_t used = (size_t)sprintf(text, "SwitchName=s0 Nodes=n0\n");
    for (int i = 1; i < DEPTH; i++)
        used += (size_t)sprintf(text + used, "SwitchName=s%d Switches=s%d\n", i, i - 1);
    sprintf(text + used, "SwitchName=other Nodes=n1");
    coll_topofile *file = parse(text);
    bool site;
    ck_assert(!together(file, "n0", "n1", &site));
    ck_assert(!site);
    coll_topofile_free(file);
    free(text);
}
END_TEST

typedef struct collection {
    char names[4096][32];
    int count;
} collection;

static bool collect(const char *name, void *context) {
    collection *all = context;
    ck_assert_int_lt(all->count, 4096);
    snprintf(all->names[all->count++], sizeof all->names[0], "%s", name);
    return true;
}

static bool holds(const collection *all, const char *name) {
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return true;
    return false;
}

/* A host list matches exactly the names to which it expands. */
START_TEST(matching_agrees_with_expansion) {
    static const char *const lists[] = {"n[0-12]",      "n[00-12]",        "n[8-12,1,007]",
                                        "n[0-1][0-12]", "n[0-11][00-03]x", "n1,n[5-6],x",
                                        "[0-99]",       "[9-10][9-10][1]", "n[0,0,00,1-2]"};
    static collection all;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        all.count = 0;
        ck_assert_ptr_null(coll_hostlist_fault(lists[i]));
        ck_assert(coll_hostlist_visit(lists[i], collect, &all));
        for (int j = 0; j < all.count; j++)
            ck_assert_msg(coll_hostlist_has(lists[i], all.names[j]), "%s in %s", all.names[j],
                          lists[i]);
        static const char *const formats[] = {"n%d", "n%02d", "n%03d", "%d", "n%dx", "n%03dx"};
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
            for (int number = 0; number < 1200; number++) {
                char name[32];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                snprintf(name, sizeof name, formats[f], number);
#pragma GCC diagnostic pop
                ck_assert_msg(coll_hostlist_has(lists[i], name) == holds(&all, name), "%s in %s",
                              name, lists[i]);
            }
    }
    all.count = 0;
    coll_hostlist_visit("n[8-11,003],m", collect, &all);
    static const char *const expected[] = {"n8", "n9", "n10", "n11", "n003", "m"};
    ck_assert_int_eq(all.count, 6);
    for (int i = 0; i < 6; i++)
        ck_assert_str_eq(all.names[i], expected[i]);
}
END_TEST

START_TEST(mutated_files_are_parsed_or_refused_cleanly) {
    static const char bytes[] = "[],-=#\\\"\n: 0123456789asnSwitchName\0\x80\xff";
    generator g = {1};
    int good = 0, bad = 0;
    for (int round = 0; round < 20000; round++) {
        size_t length = strlen(mutated[_i]);
        char *text = mutate(mutated[_i], &length, bytes, sizeof bytes - 1, &g);
        char problem[COLL_TEXTFILE_PROBLEM];
        memset(problem, 1, sizeof problem);
        coll_topofile *file = parse_bytes(text, length, problem);
        free(text);
        if (file) {
            int rack = -1, site = -1;
            good++;
            if (coll_topofile_find(file, "n4.cluster.org", &rack, &site, problem))
                ck_assert(rack >= 0 && site >= 0);
            coll_topofile_free(file);
        } else {
            bad++;
            ck_assert_ptr_nonnull(memchr(problem, '\0', sizeof problem));
            ck_assert_int_eq(strncmp(problem, "topology file t.conf, line ", 27), 0);
        }
    }
    ck_assert_int_gt(good, 1000);
    ck_assert_int_gt(bad, 1000);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("topofile");
    TCase *tests = tcase_create("topofile");
    tcase_add_test(tests, racks_and_sites_are_found);
    tcase_add_test(tests, hosts_that_no_rack_lists_are_not_found);
    tcase_add_test(tests, domains_are_stripped_where_one_side_has_none);
    tcase_add_test(tests, racks_without_switches_above_are_one_site);
    tcase_add_test(tests, leaves_below_several_spines_are_one_site);
    tcase_add_test(tests, hosts_of_switches_above_are_in_the_racks_below);
    tcase_add_test(tests, hosts_of_several_racks_are_in_the_first);
    tcase_add_test(tests, blocks_are_racks);
    tcase_add_test(tests, a_bare_root_is_one_rack);
#ifdef HAVE_YAML
    tcase_add_test(tests, yaml_is_read);
#endif
    tcase_add_test(tests, files_are_included);
    tcase_add_test(tests, huge_ranges_cost_nothing);
    tcase_add_test(tests, a_host_in_one_rack_twice_is_fine);
    tcase_add_loop_test(tests, bad_files_are_refused_with_line_and_remedy, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_loop_test(tests, bad_yaml_is_refused_with_line_and_remedy, 0,
                        (int)(sizeof refused_yaml / sizeof refused_yaml[0]));
    tcase_add_test(tests, nul_bytes_and_missing_files_are_refused);
    tcase_add_test(tests, reading_a_file_ends);
    tcase_add_test(tests, a_deep_chain_of_switches_is_one_site);
    tcase_add_test(tests, matching_agrees_with_expansion);
    tcase_add_loop_test(tests, mutated_files_are_parsed_or_refused_cleanly, 0,
                        (int)(sizeof mutated / sizeof *mutated));
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}

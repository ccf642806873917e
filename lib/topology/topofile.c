/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topofile.h"

#include "lib/base/c_locale.h"
#include "lib/base/textfile.h"
#include "lib/topology/hostlist.h"
#include "lib/topology/topofile_parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char SPACES[] = " \t\r\v\f";

enum {
    NONE = -1,
    MOST_BYTES = 64 * 1024 * 1024, /* enough for a million racks */
    MOST_INCLUDED = 1000           /* files; if there are more, a file probably includes itself */
};

const coll_lines *coll_topofile_line(coll_topofile *file, int line) {
    file->lines.line = line;
    return &file->lines;
}

/* Returns the place of a problem: the line of ENTRY. */
static const coll_lines *at_entry(coll_topofile *file, const coll_switch *entry) {
    file->lines.path = entry->path;
    return coll_topofile_line(file, entry->line);
}

void coll_topofile_add_note(coll_topofile *file, const char *format, ...) {
    size_t used = strlen(file->note);
    if (used)
        used += (size_t)snprintf(file->note + used, sizeof file->note - used, "; ");
    if (used >= sizeof file->note)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(file->note + used, sizeof file->note - used, format, arguments);
    va_end(arguments);
}

bool coll_topofile_append(coll_topofile *file, const coll_switch *entry) {
    if (file->count == file->capacity) {
        int capacity = file->capacity ? 2 * file->capacity : 64;
        coll_switch *more = realloc(file->switches, (size_t)capacity * sizeof *more);
        if (!more)
            return coll_refuse(coll_topofile_line(file, entry->line), "out of memory");
        file->switches = more;
        file->capacity = capacity;
    }
    file->switches[file->count++] = *entry;
    return true;
}

/* Refuses text with control characters other than white space. */
static bool check_text(coll_topofile *file, const char *text, size_t length) {
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 127 || (c < ' ' && (!c || (c != '\n' && !strchr(SPACES, c)))))
            return coll_refuse(coll_topofile_line(file, line),
                               "byte 0x%02x is not text; give a text file", c);
        line += c == '\n';
    }
    return true;
}

/* Returns whether TEXT is a topology.yaml: it begins with '-', '[' or '{', as no line of a
 * topology.conf does. */
static bool is_yaml(const char *text) {
    while (*text && strchr(" \t\r\v\f\n#", *text))
        text += *text == '#' ? strcspn(text, "\n") : 1;
    return *text && strchr("-[{", *text);
}

/*
 * Parses LENGTH bytes of TEXT from the file PATH and appends its switches. FILE takes ownership of
 * both strings.
 */
static bool parse_source(coll_topofile *file, char *path, char *text, size_t length) {
    static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark */
    coll_topofile_source *more =
        realloc(file->sources, (size_t)(file->source_count + 1) * sizeof *more);
    if (more) {
        file->sources = more;
        more[file->source_count++] = (coll_topofile_source){path, text, NULL};
    }
    char *problem = file->lines.problem;
    file->lines = (coll_lines){"topology file", path, text, text + length, 0, problem};
    if (!more) {
        coll_refuse(&file->lines, "out of memory");
        free(path);
        free(text);
        return false;
    }
    if (!check_text(file, text, length))
        return false;
    file->lines.line = 0;
    if (strncmp(text, mark, strlen(mark)) == 0)
        file->lines.next += strlen(mark);
    return is_yaml(file->lines.next) ? coll_topology_yaml_parse(file)
                                     : coll_topology_conf_parse(file);
}

/*
 * Returns the path of the file NAME; a relative NAME is resolved against the directory of PATH. The
 * caller frees the result. Returns NULL if out of memory.
 */
static char *resolve_path(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    const int folder = *name == '/' || !slash ? 0 : (int)(slash + 1 - path);
    char *joined;
    return asprintf(&joined, "%.*s%s", folder, path, name) < 0 ? NULL : joined;
}

bool coll_topofile_include(coll_topofile *file, const char *name, int line) {
    const coll_lines before = file->lines;
    if (file->source_count > MOST_INCLUDED)
        return coll_refuse(coll_topofile_line(file, line),
                           "more than %d files are included; does one include itself?",
                           MOST_INCLUDED);
    char *path = resolve_path(before.path, name), *text = NULL;
    size_t length = 0;
    int error = path ? coll_textfile_read(path, MOST_BYTES, &text, &length) : ENOMEM;
    if (error) {
        free(path);
        return coll_refuse(coll_topofile_line(file, line),
                           "the included file %.60s cannot be read: %s; correct its name or remove "
                           "the line",
                           name, coll_textfile_fault(error));
    }
    if (!parse_source(file, path, text, length))
        return false;
    file->lines = before;
    return true;
}

/* --- hierarchy --- */

static const char *kind_of(const coll_switch *entry) {
    return entry->is_block ? "block" : "switch";
}

static bool check_list(coll_topofile *file, const coll_switch *entry, const char *list) {
    const char *fault = list ? coll_hostlist_fault(list) : NULL;
    return !fault ||
           coll_refuse(at_entry(file, entry),
                       "%s in the list '%.30s' of %s %.30s; write it like n[0-3,7],login1", fault,
                       list, kind_of(entry), entry->name);
}

static bool check_entry(coll_topofile *file, const coll_switch *entry) {
    if (!entry->name)
        return coll_refuse(at_entry(file, entry), "a %s without a name; add %s: NAME",
                           kind_of(entry), kind_of(entry));
    if (strpbrk(entry->name, "[],=\"") || strlen(entry->name) > COLL_HOSTLIST_NAME)
        return coll_refuse(at_entry(file, entry),
                           "bad %s name '%.30s'; use a short name without [ ] , = \"",
                           kind_of(entry), entry->name);
    return check_list(file, entry, entry->nodes) && check_list(file, entry, entry->switches);
}

/*
 * Removes the blocks if switches list hosts, else the switches: Slurm uses either one or the other.
 */
static void drop_blocks(coll_topofile *file) {
    bool switched = false;
    for (int i = 0; i < file->count; i++)
        switched |= !file->switches[i].is_block && file->switches[i].nodes;
    int kept = 0;
    for (int i = 0; i < file->count; i++)
        if (file->switches[i].is_block != switched)
            file->switches[kept++] = file->switches[i];
    if (switched && kept < file->count)
        coll_topofile_add_note(file, "its blocks are ignored because it has switches");
    file->count = kept;
}

static bool check_entries(coll_topofile *file) {
    for (int i = 0; i < file->count; i++)
        if (!check_entry(file, &file->switches[i]))
            return false;
    drop_blocks(file);
    for (int i = 0; i < file->count; i++) {
        coll_switch *entry = &file->switches[i];
        entry->parent = entry->lister = NONE;
        entry->joined = i;
        file->listing |= entry->nodes != NULL;
    }
    if (!file->listing)
        coll_topofile_add_note(file, "it lists no hosts: all are in one rack");
    return true;
}

static int by_name(const void *a, const void *b) {
    const coll_switch *one = *(coll_switch *const *)a, *other = *(coll_switch *const *)b;
    int order = strcmp(one->name, other->name);
    return order ? order : (one > other) - (one < other);
}

static bool sort_switches(coll_topofile *file) {
    file->by_name = malloc(((size_t)file->count + 1) * sizeof(coll_switch *));
    if (!file->by_name)
        return coll_refuse(coll_topofile_line(file, 0), "out of memory");
    for (int i = 0; i < file->count; i++)
        file->by_name[i] = &file->switches[i];
    qsort(file->by_name, (size_t)file->count, sizeof(coll_switch *), by_name);
    for (int i = 1; i < file->count; i++) {
        const coll_switch *one = file->by_name[i - 1], *other = file->by_name[i];
        if (strcmp(one->name, other->name) == 0)
            return coll_refuse(at_entry(file, other),
                               "%s %.30s is there already, in line %d%s%.40s; rename or remove one",
                               kind_of(one), one->name, one->line,
                               one->path == other->path ? "" : " of ",
                               one->path == other->path ? "" : one->path);
    }
    return true;
}

static int compare_name(const void *name, const void *element) {
    return strcmp(name, (*(coll_switch *const *)element)->name);
}

/* Returns the switch that represents the site of switch AT (union-find with path compression). */
static int site_of(coll_topofile *file, int at) {
    coll_switch *all = file->switches;
    for (; all[at].joined != at; at = all[at].joined)
        all[at].joined = all[all[at].joined].joined;
    return at;
}

typedef struct child_context {
    coll_topofile *file;
    int parent;
} child_context;

/*
 * Makes switch NAME a child of the parent. If the parent's list repeats a switch, that is an error,
 * so that a malicious list can't be visited forever.
 */
static bool add_child(const char *name, void *context) {
    const child_context *pair = context;
    coll_topofile *file = pair->file;
    const coll_switch *parent = &file->switches[pair->parent];
    coll_switch *const *listed =
        bsearch(name, file->by_name, (size_t)file->count, sizeof *listed, compare_name);
    coll_switch *child = listed ? *listed : NULL;
    if (!child)
        return coll_refuse(at_entry(file, parent),
                           "switch %.30s lists switch %.30s, which the file does not have; add "
                           "switch %.30s or remove it here",
                           parent->name, name, name);
    if (child->lister == pair->parent)
        return coll_refuse(at_entry(file, parent),
                           "switch %.30s lists switch %.30s twice; list it once", parent->name,
                           name);
    if (child->parent != NONE && !file->said_spines) {
        file->said_spines = true;
        coll_topofile_add_note(
            file,
            "it is no tree, as %.30s is below %.30s and %.30s: switches that are connected are one "
            "site",
            name, file->switches[child->parent].name, parent->name);
    }
    if (child->parent == NONE)
        child->parent = pair->parent;
    child->lister = pair->parent;
    file->switches[site_of(file, (int)(child - file->switches))].joined =
        site_of(file, pair->parent);
    return true;
}

static bool link_switches(coll_topofile *file) {
    for (int i = 0; i < file->count; i++) {
        if (!file->switches[i].switches)
            continue;
        file->layered = true;
        child_context pair = {file, i};
        if (!coll_hostlist_visit(file->switches[i].switches, add_child, &pair))
            return false;
    }
    return true;
}

coll_topofile *coll_topofile_parse(char *path, char *text, size_t length, char *problem) {
    coll_topofile *file = calloc(1, sizeof *file);
    if (!file || !path || !text) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "topology file: out of memory");
        free(file);
        free(path);
        free(text);
        return NULL;
    }
    file->lines.problem = problem;
    locale_t before = coll_c_locale_begin();
    bool good = parse_source(file, path, text, length);
    good = good && check_entries(file) && sort_switches(file) && link_switches(file);
    coll_c_locale_end(before);
    if (good)
        return file;
    coll_topofile_free(file);
    return NULL;
}

/* Notes a topology.yaml next to a topology.conf. libcoll uses the file that the user names. */
static void compare_with_slurm(coll_topofile *file) {
    const char *path = file->sources[0].path, *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "topology.conf") != 0)
        return;
    char *other = resolve_path(path, "topology.yaml");
    if (other && access(other, F_OK) == 0)
        coll_topofile_add_note(file, "Slurm itself reads the topology.yaml next to it");
    free(other);
}

coll_topofile *coll_topofile_read(const char *path, char *problem) {
    char *text;
    size_t length;
    int error = coll_textfile_read(path, MOST_BYTES, &text, &length);
    if (error) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "cannot read topology file %.100s: %s; set COLL_TOPOLOGY to a readable file", path,
                 coll_textfile_fault(error));
        return NULL;
    }
    coll_topofile *file = coll_topofile_parse(strdup(path), text, length, problem);
    if (file)
        compare_with_slurm(file);
    return file;
}

void coll_topofile_free(coll_topofile *file) {
    if (!file)
        return;
    for (int i = 0; i < file->source_count; i++) {
        coll_topology_yaml_free(&file->sources[i]);
        free(file->sources[i].path);
        free(file->sources[i].text);
    }
    free(file->sources);
    free(file->by_name);
    free(file->switches);
    free(file);
}

const char *coll_topofile_note(const coll_topofile *file) {
    return file->note;
}

typedef bool matcher(const char *list, const char *host);

/* Returns whether ENTRY lists hosts and, if ABOVE is true, also switches; if ABOVE is false, no
 * switches. */
static bool is_rack(const coll_switch *entry, bool above) {
    return entry->nodes && (entry->switches != NULL) == above;
}

/*
 * Finds the first two racks in the file whose lists name HOST according to NAMES, NONE if there are
 * fewer. "scontrol show topology" lists a host at its leaf switch and at every switch above it. So
 * a switch that lists other switches counts as a rack only if no leaf switch lists the host.
 */
static void find_racks(const coll_topofile *file, const char *host, matcher *names, int found[2]) {
    int count = 0;
    found[0] = found[1] = NONE;
    for (int above = 0; above < 2 && !count; above++)
        for (int i = 0; i < file->count && count < 2; i++)
            if (is_rack(&file->switches[i], above) && names(file->switches[i].nodes, host))
                found[count++] = i;
}

/* Returns *NUMBER - 1, after setting *NUMBER to the next number if it is 0. */
static int assign_number(int *number, int *next) {
    if (!*number)
        *number = ++*next;
    return *number - 1;
}

bool coll_topofile_find(coll_topofile *file, const char *host, int *rack, int *site,
                        char *problem) {
    int found[2];
    if (!file->listing) {
        *rack = *site = 0;
        return true;
    }
    find_racks(file, host, coll_hostlist_has, found);
    const bool exact = found[0] != NONE;
    if (!exact)
        find_racks(file, host, coll_hostlist_has_short, found);
    if (found[0] == NONE) {
        snprintf(
            problem, COLL_TEXTFILE_PROBLEM,
            "host %.60s is in no rack of topology file %.80s; add it to the Nodes= of its switch",
            host, file->sources[0].path);
        return false;
    }
    coll_switch *mine = &file->switches[found[0]];
    const coll_switch *other = found[1] == NONE ? NULL : &file->switches[found[1]];
    if (other && !exact) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "host %.40s is in two racks of topology file %.80s, %.20s (line %d) and %.20s "
                 "(line %d); remove it from one",
                 host, file->sources[0].path, mine->name, mine->line, other->name, other->line);
        return false;
    }
    if (other && !file->said_racks) {
        file->said_racks = true;
        coll_topofile_add_note(file, "%.60s is in both %.30s and %.30s: the first is used", host,
                               mine->name, other->name);
    }
    *rack = assign_number(&mine->rack_number, &file->racks);
    *site = 0;
    if (file->layered)
        *site = assign_number(&file->switches[site_of(file, found[0])].site_number, &file->sites);
    return true;
}

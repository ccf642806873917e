/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topofile.h"

#include "lib/base/c_locale.h"
#include "lib/base/textfile.h"
#include "lib/topology/hostlist.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char SPACES[] = " \t\r\v\f";
static const char KEY_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_.";

enum {
    NONE = -1,
    MOST_BYTES = 64 * 1024 * 1024, /* enough for a million racks */
    MOST_INCLUDED = 1000,          /* files; a file with more includes itself */
    MOST_LEVELS = 16,              /* nesting of YAML */
    NOTE = 200
};

/* A switch or a block. Strings point into the texts. */
typedef struct switch_line {
    const char *name;
    const char *nodes;    /* its host list, or NULL */
    const char *switches; /* the list of switches below it, or NULL */
    const char *path;     /* the file that contains it */
    int line;
    bool is_block;
    int topology; /* in topology.yaml: number of the topology that it belongs to */
    int parent;   /* the first switch that lists it, or NONE */
    int lister;   /* the last switch that lists it, or NONE */
    /* union-find link to another switch of the same site, or itself; see site_of */
    int joined;
    int rack_number, site_number; /* numbered from 1 when first found; 0: not yet */
} switch_line;

/* A file's path and text. */
typedef struct source {
    char *path, *text;
} source;

struct coll_topofile {
    coll_lines lines; /* reading position, and place of a problem */
    source *sources;  /* the file and the files that it includes */
    int source_count;
    switch_line *switches;
    int count, room;
    switch_line **by_name;
    bool layered;     /* some switch lists other switches */
    bool listing;     /* some switch or block lists hosts */
    int racks, sites; /* number of those found so far */
    bool said_spines, said_racks;
    char note[NOTE];
};

/* Returns the place of a problem: LINE of the current file. */
static const coll_lines *in_line(coll_topofile *file, int line) {
    file->lines.line = line;
    return &file->lines;
}

/* Returns the place of a problem: the line of ENTRY. */
static const coll_lines *at_entry(coll_topofile *file, const switch_line *entry) {
    file->lines.path = entry->path;
    return in_line(file, entry->line);
}

/* Adds a message to the note about how the file was interpreted, unless *SAID; sets *SAID. */
__attribute__((format(printf, 3, 4))) static void add_note(coll_topofile *file, bool *said,
                                                           const char *format, ...) {
    size_t used = strlen(file->note);
    if (*said)
        return;
    *said = true;
    if (used)
        used += (size_t)snprintf(file->note + used, sizeof file->note - used, "; ");
    if (used >= sizeof file->note)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(file->note + used, sizeof file->note - used, format, arguments);
    va_end(arguments);
}

/*
 * Returns the next line with its continuation lines, without comments; NULL at the end. Sets
 * *UNENDED if the text ends after a continuation backslash.
 */
static char *next_line(coll_lines *lines, bool *unended) {
    if (!*lines->next)
        return NULL;
    char *start = lines->next;
    char *end = start;
    *unended = true;
    while (*unended && *lines->next) {
        char *from = lines->next;
        size_t kept = strcspn(from, "#\n");
        lines->next += kept + strcspn(from + kept, "\n");
        lines->next += *lines->next == '\n';
        lines->line++;
        while (kept && strchr(SPACES, from[kept - 1]))
            kept--;
        *unended = kept && from[kept - 1] == '\\';
        kept -= *unended;
        memmove(end, from, kept);
        end += kept;
    }
    *end = '\0';
    return start;
}

/*
 * Splits KEY=VALUE off *AT and terminates both by NUL. Returns false, with nothing changed, if
 * there is none.
 */
static bool split_pair(char **at, char **key, char **value) {
    char *key_end = *at + strspn(*at, KEY_CHARACTERS);
    char *equals = key_end + strspn(key_end, SPACES);
    if (key_end == *at || *equals != '=')
        return false;
    char *start = equals + 1 + strspn(equals + 1, SPACES);
    bool quoted = *start == '"';
    start += quoted;
    char *end = start + strcspn(start, quoted ? "\"" : SPACES);
    if (end == start || (quoted && !*end))
        return false;
    *key = *at;
    *value = start;
    *at = *end ? end + 1 : end;
    *key_end = *end = '\0';
    return true;
}

/* Returns the member of ENTRY that KEY sets, or NULL if KEY is ignored. */
static const char **member_of(switch_line *entry, const char *key) {
    const bool is_block = strcasecmp(key, "BlockName") == 0;
    entry->is_block |= is_block;
    if (is_block || strcasecmp(key, "SwitchName") == 0)
        return &entry->name;
    if (strcasecmp(key, "Nodes") == 0)
        return &entry->nodes;
    if (strcasecmp(key, "Switches") == 0)
        return &entry->switches;
    return NULL;
}

static bool parse_pairs(coll_topofile *file, char *line, switch_line *entry) {
    for (char *at = line; *at; at += strspn(at, SPACES)) {
        char *key, *value;
        if (!split_pair(&at, &key, &value))
            return coll_refuse(in_line(file, entry->line),
                               "KEY=VALUE expected at '%.30s'; write SwitchName=NAME Nodes=LIST or "
                               "SwitchName=NAME Switches=LIST",
                               at);
        const char **place = member_of(entry, key);
        if (!place)
            continue;
        if (*place)
            return coll_refuse(in_line(file, entry->line), "%.30s= is there twice; keep one", key);
        *place = value;
    }
    if (!entry->name && (entry->nodes || entry->switches))
        return coll_refuse(in_line(file, entry->line),
                           "no SwitchName=; write SwitchName=NAME Nodes=LIST or Switches=LIST");
    return true;
}

static bool append_switch(coll_topofile *file, const switch_line *entry) {
    if (file->count == file->room) {
        int room = file->room ? 2 * file->room : 64;
        switch_line *more = realloc(file->switches, (size_t)room * sizeof *more);
        if (!more)
            return coll_refuse(in_line(file, entry->line), "out of memory");
        file->switches = more;
        file->room = room;
    }
    file->switches[file->count++] = *entry;
    return true;
}

static bool include_file(coll_topofile *file, const char *name, int line);

/* Returns the file name of a line "Include FILE", terminated by NUL; NULL for any other line. */
static char *included_by(char *line) {
    static const char word[] = "include";
    const size_t length = strlen(word);
    if (strncasecmp(line, word, length) != 0 || !line[length] || !strchr(SPACES, line[length]))
        return NULL;
    char *name = line + length + strspn(line + length, SPACES);
    bool quoted = *name == '"';
    name += quoted;
    size_t end = strcspn(name, quoted ? "\"" : SPACES);
    return *name && *name != '=' ? (name[end] = '\0', name) : NULL;
}

static bool parse_conf(coll_topofile *file) {
    coll_lines *lines = &file->lines;
    bool unended;
    int last = 0;
    for (char *line; (line = next_line(lines, &unended)); last = lines->line) {
        switch_line entry = {.path = lines->path, .line = last + 1};
        if (unended)
            return coll_refuse(
                in_line(file, entry.line),
                "the file ends where a backslash continues the line; is it complete?");
        line += strspn(line, SPACES);
        const char *name = included_by(line);
        if (name) {
            if (!include_file(file, name, entry.line))
                return false;
        } else if (!parse_pairs(file, line, &entry) ||
                   (entry.name && !append_switch(file, &entry))) {
            return false;
        }
    }
    if (!file->count && file->source_count == 1)
        return coll_refuse(in_line(file, last ? last : 1),
                           "the file ends without a switch; add SwitchName=NAME Nodes=LIST");
    return true;
}

/* --- topology.yaml --- */

/* The open levels of nesting at the start of a line: list items and keys, by their columns. */
typedef struct yaml_level {
    int column;
    const char *key; /* NULL: a list item */
} yaml_level;

typedef struct yaml {
    coll_topofile *file;
    yaml_level levels[MOST_LEVELS];
    int depth;
    int topologies;   /* topologies begun so far */
    int chosen;       /* the number of the cluster's default topology, or NONE */
    const char *name; /* name of the topology begun last, or NULL */
    const char *first_name, *default_name;
    switch_line entry; /* the current entry; its topology is 0 if there is none */
} yaml;

/* Returns whether the open levels are PATH, such as "-/tree/switches/-". */
static bool is_at(const yaml *y, const char *path) {
    for (int i = 0; i < y->depth; i++) {
        const char *key = y->levels[i].key ? y->levels[i].key : "-";
        size_t length = strlen(key);
        if (strncmp(path, key, length) != 0 || path[length] != (i == y->depth - 1 ? '\0' : '/'))
            return false;
        path += length + 1;
    }
    return y->depth > 0;
}

static bool close_entry(yaml *y) {
    const bool open = y->entry.topology > 0;
    const bool good = !open || append_switch(y->file, &y->entry);
    y->entry.topology = 0;
    return good;
}

static bool open_level(yaml *y, int column, const char *key) {
    if (y->depth == MOST_LEVELS)
        return coll_refuse(in_line(y->file, y->file->lines.line),
                           "nested too deeply; write a list of topologies as for Slurm");
    y->levels[y->depth++] = (yaml_level){column, key};
    return true;
}

/* Begins a list item at COLUMN. */
static bool open_item(yaml *y, int column) {
    while (y->depth && (y->levels[y->depth - 1].column > column ||
                        (y->levels[y->depth - 1].column == column && !y->levels[y->depth - 1].key)))
        y->depth--;
    if (!open_level(y, column, NULL))
        return false;
    const bool is_block = is_at(y, "-/block/blocks/-");
    if (is_at(y, "-")) {
        y->topologies++;
        y->name = NULL;
    } else if (!is_block && !is_at(y, "-/tree/switches/-")) {
        return true;
    }
    if (!close_entry(y))
        return false;
    if (!is_at(y, "-"))
        y->entry = (switch_line){.path = y->file->lines.path,
                                 .line = y->file->lines.line,
                                 .is_block = is_block,
                                 .topology = y->topologies};
    return true;
}

/*
 * Returns the value at AT without comment, quotes and spaces; NULL if it is not a plain or quoted
 * value on one line.
 */
static char *strip_value(char *at) {
    at += strspn(at, SPACES);
    if (*at == '"' || *at == '\'') {
        char *end = strchr(at + 1, *at);
        if (!end || !strchr(" \t\r#", end[1]) || *(end + 1 + strspn(end + 1, SPACES)) == ':')
            return NULL;
        *end = '\0';
        return at + 1;
    }
    if (*at && strchr("&*!|>{}%@`", *at))
        return NULL;
    char *end = at;
    for (; *end && (*end != '#' || (end > at && !strchr(SPACES, end[-1]))); end++) {
    }
    while (end > at && strchr(SPACES, end[-1]))
        end--;
    *end = '\0';
    return at;
}

/*
 * Enters VALUE if the current key is one that counts: names of switches, blocks and topologies;
 * hosts; children.
 */
static bool enter_value(yaml *y, char *value) {
    if (is_at(y, "-/topology"))
        y->name = value;
    if (y->topologies == 1)
        y->first_name = y->name;
    if (is_at(y, "-/cluster_default") && strcasecmp(value, "true") == 0 && y->chosen == NONE) {
        y->chosen = y->topologies;
        y->default_name = y->name;
    }
    const char **place = NULL;
    if (is_at(y, "-/tree/switches/-/switch") || is_at(y, "-/block/blocks/-/block"))
        place = &y->entry.name;
    if (is_at(y, "-/tree/switches/-/nodes") || is_at(y, "-/block/blocks/-/nodes"))
        place = &y->entry.nodes;
    if (is_at(y, "-/tree/switches/-/children"))
        place = &y->entry.switches;
    if (!place)
        return true;
    const char *key = y->levels[y->depth - 1].key;
    const coll_lines *here = in_line(y->file, y->file->lines.line);
    if (*place)
        return coll_refuse(here, "%.30s: is there twice; keep one", key);
    if (!*value)
        return coll_refuse(here, "nothing follows %.30s: in its line; write it like n[0-3,7]", key);
    *place = value;
    return true;
}

static bool parse_yaml_line(yaml *y, char *line) {
    const coll_lines *here = &y->file->lines;
    char *at = line + strspn(line, " ");
    bool is_item = false;
    if (*at == '\t')
        return coll_refuse(here, "a tab indents the line; use spaces");
    while (*at == '-' && (!at[1] || strchr(SPACES, at[1]))) {
        if (!open_item(y, (int)(at - line)))
            return false;
        is_item = true;
        at++;
        at += strspn(at, SPACES);
    }
    if (!*at || *at == '#')
        return true;
    char *key = at, *end = at + strspn(at, KEY_CHARACTERS);
    if (end == key || *end != ':' || (end[1] && !strchr(SPACES, end[1])))
        return is_item || coll_refuse(here,
                                      "KEY: VALUE expected at '%.30s'; write a list of topologies "
                                      "as for Slurm",
                                      at);
    *end = '\0';
    while (y->depth && y->levels[y->depth - 1].column >= key - line)
        y->depth--;
    char *value = strip_value(end + 1);
    if (!value)
        return coll_refuse(here, "'%.30s' cannot be read here; write %.30s: and a plain value",
                           end + 1 + strspn(end + 1, SPACES), key);
    return open_level(y, (int)(key - line), key) && enter_value(y, value);
}

/* Removes the switches of all topologies but the chosen one. */
static void select_topology(yaml *y) {
    coll_topofile *file = y->file;
    int kept = 0;
    for (int i = 0; i < file->count; i++)
        if (file->switches[i].topology == y->chosen)
            file->switches[kept++] = file->switches[i];
    file->count = kept;
}

static bool parse_yaml(coll_topofile *file) {
    yaml y = {.file = file, .chosen = NONE};
    coll_lines *lines = &file->lines;
    size_t length;
    for (char *line; (line = coll_lines_next(lines, &length));) {
        line[strcspn(line, "\r")] = '\0';
        bool begins = strncmp(line, "---", 3) == 0, ends = strncmp(line, "...", 3) == 0;
        if (ends || (begins && y.topologies))
            break; /* Slurm reads only the first document */
        if (!begins && !parse_yaml_line(&y, line))
            return false;
    }
    if (!close_entry(&y))
        return false;
    if (!y.topologies)
        return coll_refuse(in_line(file, lines->line ? lines->line : 1),
                           "there is no list of topologies; write it as for Slurm: - topology: "
                           "NAME, and tree: or block: below");
    const char *name = y.chosen == NONE ? y.first_name : y.default_name;
    if (y.chosen == NONE)
        y.chosen = 1;
    select_topology(&y);
    bool said = y.topologies == 1;
    add_note(file, &said, "of its %d topologies '%.60s' is used", y.topologies, name ? name : "");
    return true;
}

/* --- all files --- */

/* Refuses text with control characters other than white space. */
static bool check_text(coll_topofile *file, const char *text, size_t length) {
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 127 || (c < ' ' && (!c || (c != '\n' && !strchr(SPACES, c)))))
            return coll_refuse(in_line(file, line), "byte 0x%02x is not text; give a text file", c);
        line += c == '\n';
    }
    return true;
}

/* Returns whether TEXT is a topology.yaml; no line of a topology.conf begins like one. */
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
    source *more = realloc(file->sources, (size_t)(file->source_count + 1) * sizeof *more);
    if (more) {
        file->sources = more;
        more[file->source_count++] = (source){path, text};
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
    return is_yaml(file->lines.next) ? parse_yaml(file) : parse_conf(file);
}

/*
 * Returns NAME, relative to the directory of PATH, for the caller to free; NULL if out of memory.
 */
static char *resolve_path(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = *name == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
    char *joined = malloc(folder + strlen(name) + 1);
    if (joined) {
        memcpy(joined, path, folder);
        strcpy(joined + folder, name);
    }
    return joined;
}

/* Reads the file NAME, which LINE of the current file includes. */
static bool include_file(coll_topofile *file, const char *name, int line) {
    const coll_lines before = file->lines;
    if (file->source_count > MOST_INCLUDED)
        return coll_refuse(in_line(file, line),
                           "more than %d files are included; does one include itself?",
                           MOST_INCLUDED);
    char *path = resolve_path(before.path, name), *text = NULL;
    size_t length = 0;
    int error = path ? coll_textfile_read(path, MOST_BYTES, &text, &length) : ENOMEM;
    if (error) {
        free(path);
        return coll_refuse(in_line(file, line),
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

static const char *kind_of(const switch_line *entry) {
    return entry->is_block ? "block" : "switch";
}

static bool check_list(coll_topofile *file, const switch_line *entry, const char *list) {
    const char *fault = list ? coll_hostlist_fault(list) : NULL;
    return !fault ||
           coll_refuse(at_entry(file, entry),
                       "%s in the list '%.30s' of %s %.30s; write it like n[0-3,7],login1", fault,
                       list, kind_of(entry), entry->name);
}

static bool check_entry(coll_topofile *file, const switch_line *entry) {
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
    bool switched = false, said = false;
    for (int i = 0; i < file->count; i++)
        switched |= !file->switches[i].is_block && file->switches[i].nodes;
    int kept = 0;
    for (int i = 0; i < file->count; i++) {
        if (file->switches[i].is_block && switched)
            add_note(file, &said, "its blocks are ignored because it has switches");
        if (file->switches[i].is_block != switched)
            file->switches[kept++] = file->switches[i];
    }
    file->count = kept;
}

static bool check_entries(coll_topofile *file) {
    int i = 0;
    while (i < file->count && check_entry(file, &file->switches[i]))
        i++;
    if (i < file->count)
        return false;
    drop_blocks(file);
    for (i = 0; i < file->count; i++) {
        switch_line *entry = &file->switches[i];
        entry->parent = entry->lister = NONE;
        entry->joined = i;
        file->listing |= entry->nodes != NULL;
    }
    bool said = file->listing;
    add_note(file, &said, "it lists no hosts: all are in one rack");
    return true;
}

static int by_name(const void *a, const void *b) {
    const switch_line *one = *(switch_line *const *)a, *other = *(switch_line *const *)b;
    int order = strcmp(one->name, other->name);
    return order ? order : (one > other) - (one < other);
}

static bool sort_switches(coll_topofile *file) {
    file->by_name = malloc(((size_t)file->count + 1) * sizeof(switch_line *));
    if (!file->by_name)
        return coll_refuse(in_line(file, 0), "out of memory");
    for (int i = 0; i < file->count; i++)
        file->by_name[i] = &file->switches[i];
    qsort(file->by_name, (size_t)file->count, sizeof(switch_line *), by_name);
    for (int i = 1; i < file->count; i++) {
        const switch_line *one = file->by_name[i - 1], *other = file->by_name[i];
        if (strcmp(one->name, other->name) == 0)
            return coll_refuse(at_entry(file, other),
                               "%s %.30s is there already, in line %d%s%.40s; rename or remove one",
                               kind_of(one), one->name, one->line,
                               one->path == other->path ? "" : " of ",
                               one->path == other->path ? "" : one->path);
    }
    return true;
}

static switch_line *find_switch(const coll_topofile *file, const char *name) {
    for (int low = 0, high = file->count; low < high;) {
        int middle = low + (high - low) / 2;
        int order = strcmp(name, file->by_name[middle]->name);
        if (order == 0)
            return file->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Returns the switch that represents the site of switch AT (union-find with path compression). */
static int site_of(coll_topofile *file, int at) {
    switch_line *all = file->switches;
    for (; all[at].joined != at; at = all[at].joined)
        all[at].joined = all[all[at].joined].joined;
    return at;
}

typedef struct child_context {
    coll_topofile *file;
    int parent;
} child_context;

/*
 * Makes switch NAME a child of the parent. A switch listed twice is an error, so that hostile lists
 * end early.
 */
static bool add_child(const char *name, void *context) {
    const child_context *pair = context;
    coll_topofile *file = pair->file;
    const switch_line *parent = &file->switches[pair->parent];
    switch_line *child = find_switch(file, name);
    if (!child)
        return coll_refuse(at_entry(file, parent),
                           "switch %.30s lists switch %.30s, which the file does not have; add "
                           "switch %.30s or remove it here",
                           parent->name, name, name);
    if (child->lister == pair->parent)
        return coll_refuse(at_entry(file, parent),
                           "switch %.30s lists switch %.30s twice; list it once", parent->name,
                           name);
    if (child->parent == NONE)
        child->parent = pair->parent;
    else
        add_note(
            file, &file->said_spines,
            "it is no tree, as %.30s is below %.30s and %.30s: switches that are connected are one "
            "site",
            name, file->switches[child->parent].name, parent->name);
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

/* Parses TEXT; takes ownership of PATH and TEXT. */
static coll_topofile *parse_owned(char *path, char *text, size_t length, char *problem) {
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

coll_topofile *coll_topofile_parse(const char *path, const char *text, size_t length,
                                   char *problem) {
    char *copy = malloc(length + 1);
    if (copy) {
        if (length)
            memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return parse_owned(strdup(path), copy, length, problem);
}

/* Notes a topology.yaml next to a topology.conf. libcoll uses the file that the user names. */
static void compare_with_slurm(coll_topofile *file) {
    const char *path = file->sources[0].path, *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "topology.conf") != 0)
        return;
    char *other = resolve_path(path, "topology.yaml");
    bool said = !other || access(other, F_OK) != 0;
    add_note(file, &said, "Slurm itself reads the topology.yaml next to it");
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
    coll_topofile *file = parse_owned(strdup(path), text, length, problem);
    if (file)
        compare_with_slurm(file);
    return file;
}

void coll_topofile_free(coll_topofile *file) {
    if (!file)
        return;
    for (int i = 0; i < file->source_count; i++) {
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

/* Returns whether ENTRY lists hosts and, if ABOVE, also lists switches, else lists none. */
static bool is_rack(const switch_line *entry, bool above) {
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
    switch_line *mine = &file->switches[found[0]];
    const switch_line *other = found[1] == NONE ? NULL : &file->switches[found[1]];
    if (other && !exact) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "host %.40s is in two racks of topology file %.80s, %.20s (line %d) and %.20s "
                 "(line %d); remove it from one",
                 host, file->sources[0].path, mine->name, mine->line, other->name, other->line);
        return false;
    }
    if (other)
        add_note(file, &file->said_racks, "%.60s is in both %.30s and %.30s: the first is used",
                 host, mine->name, other->name);
    *rack = assign_number(&mine->rack_number, &file->racks);
    *site = 0;
    if (file->layered)
        *site = assign_number(&file->switches[site_of(file, found[0])].site_number, &file->sites);
    return true;
}

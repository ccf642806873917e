#include "config.h"

#include "lib/place/topofile.h"

#include "lib/base/plain.h"
#include "lib/base/textfile.h"
#include "lib/place/hostlist.h"

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
    MOST_BYTES = 64 * 1024 * 1024, /* a million racks; more is some other file */
    MOST_INCLUDED = 1000,          /* files; more include themselves */
    MOST_LEVELS = 16,              /* of YAML, one in another */
    NOTE = 200
};

/* A switch, or a block. Strings point into the texts. */
typedef struct switch_line {
    const char *name;
    const char *nodes;    /* its hosts, or NULL */
    const char *switches; /* the switches below it, or NULL */
    const char *path;     /* the file that it is in */
    int line;
    bool is_block;
    int topology;                 /* of topology.yaml: which of them it is part of */
    int parent;                   /* the first switch that lists it, or NONE */
    int lister;                   /* the last switch that lists it, or NONE */
    int joined;                   /* another switch of the same site, or itself; see site_of */
    int rack_number, site_number; /* as they were found, from 1; 0: not yet */
} switch_line;

/* A file's path and text. */
typedef struct source {
    char *path, *text;
} source;

struct coll_topofile {
    coll_lines lines; /* of a problem */
    source *sources;  /* the file, and those that it includes */
    int source_count;
    switch_line *switches;
    int count, room;
    switch_line **by_name;
    bool layered;     /* some switch is above others */
    bool listing;     /* some switch or block lists hosts */
    int racks, sites; /* found */
    bool said_spines, said_racks;
    char note[NOTE];
};

/* The place of a problem: line LINE of the file that is being read. */
static const coll_lines *in_line(coll_topofile *file, int line) {
    file->lines.line = line;
    return &file->lines;
}

/* The place of a problem: the line of ENTRY. */
static const coll_lines *at_entry(coll_topofile *file, const switch_line *entry) {
    file->lines.path = entry->path;
    return in_line(file, entry->line);
}

/* Adds to the note, once for each SAID, how the file was understood. */
__attribute__((format(printf, 3, 4))) static void say(coll_topofile *file, bool *said,
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
 * The next line, with what continues it, without comments. NULL at the end. UNENDED: the text ends
 * where the line should go on.
 */
static char *take_line(coll_lines *lines, bool *unended) {
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

/* Splits KEY=VALUE off *AT, both ended by NUL; false, with nothing changed, where there is none. */
static bool take_pair(char **at, char **key, char **value) {
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

/* Where the value of KEY belongs, or NULL for keys without a meaning here. */
static const char **value_of(switch_line *entry, const char *key) {
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
        if (!take_pair(&at, &key, &value))
            return coll_refuse(in_line(file, entry->line),
                               "KEY=VALUE expected at '%.30s'; write SwitchName=NAME Nodes=LIST or "
                               "SwitchName=NAME Switches=LIST",
                               at);
        const char **place = value_of(entry, key);
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

static bool append(coll_topofile *file, const switch_line *entry) {
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

static bool include(coll_topofile *file, const char *name, int line);

/* The file that a line "Include FILE" names, ended by NUL, or NULL. */
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
    for (char *line; (line = take_line(lines, &unended)); last = lines->line) {
        switch_line entry = {.path = lines->path, .line = last + 1};
        if (unended)
            return coll_refuse(
                in_line(file, entry.line),
                "the file ends where a backslash continues the line; is it complete?");
        line += strspn(line, SPACES);
        const char *name = included_by(line);
        if (name) {
            if (!include(file, name, entry.line))
                return false;
        } else if (!parse_pairs(file, line, &entry) || (entry.name && !append(file, &entry))) {
            return false;
        }
    }
    if (!file->count && file->source_count == 1)
        return coll_refuse(in_line(file, last ? last : 1),
                           "the file ends without a switch; add SwitchName=NAME Nodes=LIST");
    return true;
}

/* --- topology.yaml --- */

/* What is open where a line begins: items of lists, and keys, by their columns. */
typedef struct yaml_level {
    int column;
    const char *key; /* NULL: an item */
} yaml_level;

typedef struct yaml {
    coll_topofile *file;
    yaml_level levels[MOST_LEVELS];
    int depth;
    int topologies;   /* begun */
    int chosen;       /* the one that is the cluster's default, or NONE */
    const char *name; /* of the topology that was begun last, or NULL */
    const char *first_name, *default_name;
    switch_line entry; /* of no topology while there is none */
} yaml;

/* True when the open levels are PATH, such as "-/tree/switches/-". */
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
    const bool good = !open || append(y->file, &y->entry);
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

/* Begins the list item at COLUMN. */
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

/* Cuts the comment, quotes and spaces off the value at AT; NULL where it is none of one line. */
static char *take_value(char *at) {
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

/* The names of switches in a tree, of blocks, and of topologies; their hosts and children. */
static bool take_key(yaml *y, char *value) {
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
    char *value = take_value(end + 1);
    if (!value)
        return coll_refuse(here, "'%.30s' cannot be read here; write %.30s: and a plain value",
                           end + 1 + strspn(end + 1, SPACES), key);
    return open_level(y, (int)(key - line), key) && take_key(y, value);
}

/* Keeps what is of the chosen topology. */
static void keep_chosen(yaml *y) {
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
            break; /* Slurm reads one document */
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
    keep_chosen(&y);
    bool said = y.topologies == 1;
    say(file, &said, "of its %d topologies '%.60s' counts", y.topologies, name ? name : "");
    return true;
}

/* --- all files --- */

/* Text has no control characters but white space. */
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

/* True for the text of a topology.yaml; no line of a topology.conf begins so. */
static bool is_yaml(const char *text) {
    while (*text && strchr(" \t\r\v\f\n#", *text))
        text += *text == '#' ? strcspn(text, "\n") : 1;
    return *text && strchr("-[{", *text);
}

/* Parses LENGTH bytes of TEXT, of the file PATH; both then belong to FILE. Switches are appended.
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

/* NAME, where it is relative beside the file PATH, for the caller to free. NULL without memory. */
static char *beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = *name == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
    char *joined = malloc(folder + strlen(name) + 1);
    if (joined) {
        memcpy(joined, path, folder);
        strcpy(joined + folder, name);
    }
    return joined;
}

/* Reads the file called NAME, which LINE of the one that is being read includes. */
static bool include(coll_topofile *file, const char *name, int line) {
    const coll_lines before = file->lines;
    if (file->source_count > MOST_INCLUDED)
        return coll_refuse(in_line(file, line),
                           "more than %d files are included; does one include itself?",
                           MOST_INCLUDED);
    char *path = beside(before.path, name), *text = NULL;
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

/* --- what is below what --- */

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

/* Slurm takes either switches or blocks: blocks don't count where there are switches of hosts. */
static void drop_blocks(coll_topofile *file) {
    bool switched = false, said = false;
    for (int i = 0; i < file->count; i++)
        switched |= !file->switches[i].is_block && file->switches[i].nodes;
    int kept = 0;
    for (int i = 0; i < file->count; i++) {
        if (file->switches[i].is_block && switched)
            say(file, &said, "its blocks do not count beside its switches");
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
    say(file, &said, "it lists no hosts: all are in one rack");
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

/* The switch that stands for all that are joined with switch AT. */
static int site_of(coll_topofile *file, int at) {
    switch_line *all = file->switches;
    for (; all[at].joined != at; at = all[at].joined)
        all[at].joined = all[all[at].joined].joined;
    return at;
}

typedef struct adoption {
    coll_topofile *file;
    int parent;
} adoption;

/* Puts switch NAME below the parent, once, so that hostile lists end early. */
static bool adopt(const char *name, void *context) {
    const adoption *pair = context;
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
        say(file, &file->said_spines,
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
        adoption pair = {file, i};
        if (!coll_hostlist_visit(file->switches[i].switches, adopt, &pair))
            return false;
    }
    return true;
}

/* Takes PATH and TEXT over. */
static coll_topofile *parse(char *path, char *text, size_t length, char *problem) {
    coll_topofile *file = calloc(1, sizeof *file);
    if (!file || !path || !text) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "topology file: out of memory");
        free(file);
        free(path);
        free(text);
        return NULL;
    }
    file->lines.problem = problem;
    locale_t before = coll_plain_begin();
    bool good = parse_source(file, path, text, length);
    good = good && check_entries(file) && sort_switches(file) && link_switches(file);
    coll_plain_end(before);
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
    return parse(strdup(path), copy, length, problem);
}

/* Notes a topology.yaml beside a topology.conf. The file that the user names counts. */
static void compare_with_slurm(coll_topofile *file) {
    const char *path = file->sources[0].path, *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "topology.conf") != 0)
        return;
    char *other = beside(path, "topology.yaml");
    bool said = !other || access(other, F_OK) != 0;
    say(file, &said, "Slurm itself reads topology.yaml beside it");
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
    coll_topofile *file = parse(strdup(path), text, length, problem);
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

/* True for a switch that lists hosts, and others below it where it is one ABOVE others. */
static bool is_rack(const switch_line *entry, bool above) {
    return entry->nodes && (entry->switches != NULL) == above;
}

/*
 * Finds the racks whose lists name HOST in the manner of NAMES: the first two in the file, NONE for
 * those that there are not. "scontrol show topology" writes the hosts of a switch at those above it
 * as well, so those with switches below count only where no other lists the host.
 */
static void find_racks(const coll_topofile *file, const char *host, matcher *names, int found[2]) {
    int count = 0;
    found[0] = found[1] = NONE;
    for (int above = 0; above < 2 && !count; above++)
        for (int i = 0; i < file->count && count < 2; i++)
            if (is_rack(&file->switches[i], above) && names(file->switches[i].nodes, host))
                found[count++] = i;
}

/* The NUMBER of a rack or site; a new one is the NEXT. */
static int numbered(int *number, int *next) {
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
        say(file, &file->said_racks, "%.60s is in both %.30s and %.30s: the first counts", host,
            mine->name, other->name);
    *rack = numbered(&mine->rack_number, &file->racks);
    *site = 0;
    if (file->layered)
        *site = numbered(&file->switches[site_of(file, found[0])].site_number, &file->sites);
    return true;
}

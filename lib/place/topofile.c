#include "config.h"

#include "lib/place/topofile.h"

#include "lib/base/plain.h"
#include "lib/base/textfile.h"
#include "lib/place/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char SPACES[] = " \t\r\v\f";
static const char KEY_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_.";

enum {
    NONE = -1,
    CLIMBING = -2,                /* a switch whose site is being looked for */
    MOST_BYTES = 64 * 1024 * 1024 /* a million racks; more is some other file */
};

typedef struct switch_line {
    const char *name;
    const char *nodes;    /* its hosts, or NULL: then it has */
    const char *switches; /* the switches below it */
    int line;
    int parent;                   /* the switch above, or NONE */
    int site;                     /* the topmost switch above */
    int rack_number, site_number; /* as they were found, from 1; 0: not yet */
} switch_line;

struct coll_topofile {
    coll_lines lines; /* of a problem */
    char *path;
    char *text; /* names and lists point into it */
    switch_line *switches;
    int count, room;
    bool layered;     /* some switch is above others */
    int racks, sites; /* found */
};

/* The place of a problem: line LINE. */
static const coll_lines *in_line(coll_topofile *file, int line) {
    file->lines.line = line;
    return &file->lines;
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
    if (strcasecmp(key, "SwitchName") == 0)
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
    return true;
}

static bool check_entry(coll_topofile *file, const switch_line *entry) {
    if (!entry->name)
        return coll_refuse(in_line(file, entry->line),
                           "no SwitchName=; write SwitchName=NAME Nodes=LIST or Switches=LIST");
    if (strpbrk(entry->name, "[],=\"") || strlen(entry->name) > COLL_HOSTLIST_NAME)
        return coll_refuse(in_line(file, entry->line),
                           "bad switch name '%.30s'; use a short name without [ ] , = \"",
                           entry->name);
    if (entry->nodes && entry->switches)
        return coll_refuse(
            in_line(file, entry->line),
            "switch %.30s has both Nodes= and Switches=; put its hosts into a switch of "
            "their own",
            entry->name);
    if (!entry->nodes && !entry->switches)
        return coll_refuse(in_line(file, entry->line),
                           "switch %.30s has neither Nodes= nor Switches=; add what is below it",
                           entry->name);
    const char *list = entry->nodes ? entry->nodes : entry->switches;
    const char *fault = coll_hostlist_fault(list);
    if (fault)
        return coll_refuse(in_line(file, entry->line),
                           "%s in the list '%.30s' of switch %.30s; write it like n[0-3,7],login1",
                           fault, list, entry->name);
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

static bool parse_lines(coll_topofile *file) {
    coll_lines *lines = &file->lines;
    bool unended;
    int last = 0;
    for (char *line; (line = take_line(lines, &unended)); last = lines->line) {
        switch_line entry = {.line = last + 1, .parent = NONE, .site = NONE};
        if (unended)
            return coll_refuse(
                in_line(file, entry.line),
                "the file ends where a backslash continues the line; is it complete?");
        line += strspn(line, SPACES);
        if (*line && (!parse_pairs(file, line, &entry) || !check_entry(file, &entry) ||
                      !append(file, &entry)))
            return false;
    }
    if (!file->count)
        return coll_refuse(in_line(file, last ? last : 1),
                           "the file ends without a switch; add SwitchName=NAME Nodes=LIST");
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const switch_line *)a)->name, ((const switch_line *)b)->name);
}

static bool sort_switches(coll_topofile *file) {
    qsort(file->switches, (size_t)file->count, sizeof *file->switches, by_name);
    for (int i = 1; i < file->count; i++) {
        const switch_line *one = &file->switches[i - 1], *other = &file->switches[i];
        if (by_name(one, other) == 0)
            return coll_refuse(in_line(file, one->line > other->line ? one->line : other->line),
                               "switch %.30s is there already, in line %d; rename or remove one",
                               one->name, one->line < other->line ? one->line : other->line);
    }
    return true;
}

typedef struct adoption {
    coll_topofile *file;
    int parent;
} adoption;

/*
 * Puts switch NAME below the parent. Each switch can be adopted but once, so hostile lists end
 * early.
 */
static bool adopt(const char *name, void *context) {
    adoption *pair = context;
    coll_topofile *file = pair->file;
    const switch_line *parent = &file->switches[pair->parent];
    switch_line key = {.name = name};
    switch_line *child =
        bsearch(&key, file->switches, (size_t)file->count, sizeof *file->switches, by_name);
    if (!child)
        return coll_refuse(in_line(file, parent->line),
                           "switch %.30s lists switch %.30s, which the file does not have; add a "
                           "SwitchName=%.30s line or remove it here",
                           parent->name, name, name);
    if (child->parent != NONE)
        return coll_refuse(in_line(file, parent->line),
                           "switch %.30s is listed here and in line %d already; list it once",
                           child->name, file->switches[child->parent].line);
    child->parent = pair->parent;
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

/* Climbs from switch START to the top, or to a switch whose site is known. */
static bool find_site(coll_topofile *file, int start) {
    switch_line *at = file->switches;
    int top = start;
    while (at[top].parent != NONE && at[top].site == NONE) {
        at[top].site = CLIMBING;
        top = at[top].parent;
        if (at[top].site == CLIMBING)
            return coll_refuse(
                in_line(file, at[top].line),
                "switch %.30s is below itself; take it out of the Switches= of %.30s", at[top].name,
                at[at[top].parent].name);
    }
    int site = at[top].parent == NONE ? top : at[top].site;
    at[top].site = site;
    for (int i = start; i != top; i = at[i].parent)
        at[i].site = site;
    return true;
}

static bool find_sites(coll_topofile *file) {
    for (int i = 0; i < file->count; i++)
        if (!find_site(file, i))
            return false;
    return true;
}

/* Text has no control characters but white space. */
static bool check_text(coll_topofile *file, size_t length) {
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)file->text[i];
        if (c == 127 || (c < ' ' && (!c || (c != '\n' && !strchr(SPACES, c)))))
            return coll_refuse(in_line(file, line), "byte 0x%02x is not text; give a text file", c);
        line += c == '\n';
    }
    return true;
}

coll_topofile *coll_topofile_parse(const char *path, const char *text, size_t length,
                                   char *problem) {
    coll_topofile *file = calloc(1, sizeof *file);
    if (file) {
        file->path = strdup(path);
        file->text = malloc(length + 1);
    }
    if (!file || !file->path || !file->text) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "topology file %.80s: out of memory", path);
        coll_topofile_free(file);
        return NULL;
    }
    if (length)
        memcpy(file->text, text, length);
    file->text[length] = '\0';
    file->lines =
        (coll_lines){"topology file", file->path, file->text, file->text + length, 0, problem};
    locale_t before = coll_plain_begin();
    bool good = check_text(file, length) && parse_lines(file) && sort_switches(file) &&
                link_switches(file) && find_sites(file);
    coll_plain_end(before);
    if (good)
        return file;
    coll_topofile_free(file);
    return NULL;
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
    coll_topofile *file = coll_topofile_parse(path, text, length, problem);
    free(text);
    return file;
}

void coll_topofile_free(coll_topofile *file) {
    if (!file)
        return;
    free(file->switches);
    free(file->text);
    free(file->path);
    free(file);
}

typedef bool matcher(const char *list, const char *host);

/* The rack from switch START on whose list names HOST in the manner of NAMES, or NONE. */
static int rack_of(const coll_topofile *file, int start, const char *host, matcher *names) {
    for (int i = start; i < file->count; i++)
        if (file->switches[i].nodes && names(file->switches[i].nodes, host))
            return i;
    return NONE;
}

/* The NUMBER of a rack or site; a new one is the NEXT. */
static int numbered(int *number, int *next) {
    if (!*number)
        *number = ++*next;
    return *number - 1;
}

bool coll_topofile_find(coll_topofile *file, const char *host, int *rack, int *site,
                        char *problem) {
    matcher *manner = coll_hostlist_has;
    int found = rack_of(file, 0, host, manner);
    if (found == NONE) {
        manner = coll_hostlist_has_short;
        found = rack_of(file, 0, host, manner);
    }
    if (found == NONE) {
        snprintf(
            problem, COLL_TEXTFILE_PROBLEM,
            "host %.60s is in no rack of topology file %.80s; add it to the Nodes= of its switch",
            host, file->path);
        return false;
    }
    int other = rack_of(file, found + 1, host, manner);
    if (other != NONE) {
        const switch_line *a = &file->switches[found], *b = &file->switches[other];
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "host %.40s is in two racks of topology file %.80s, %.20s (line %d) and %.20s "
                 "(line %d); remove it from one",
                 host, file->path, a->name, a->line, b->name, b->line);
        return false;
    }
    *rack = numbered(&file->switches[found].rack_number, &file->racks);
    *site = 0;
    if (file->layered)
        *site = numbered(&file->switches[file->switches[found].site].site_number, &file->sites);
    return true;
}

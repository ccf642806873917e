/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses Slurm's topology.conf. */
#include "config.h"

#include "lib/topology/topofile_parse.h"

#include <string.h>
#include <strings.h>

static const char SPACES[] = " \t\r\v\f";
static const char KEY_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_.";

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
static const char **member_of(coll_switch *entry, const char *key) {
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

static bool parse_pairs(coll_topofile *file, char *line, coll_switch *entry) {
    for (char *at = line; *at; at += strspn(at, SPACES)) {
        char *key, *value;
        if (!split_pair(&at, &key, &value))
            return coll_refuse(coll_topofile_line(file, entry->line),
                               "KEY=VALUE expected at '%.30s'; write SwitchName=NAME Nodes=LIST or "
                               "SwitchName=NAME Switches=LIST",
                               at);
        const char **place = member_of(entry, key);
        if (!place)
            continue;
        if (*place)
            return coll_refuse(coll_topofile_line(file, entry->line),
                               "%.30s= is there twice; keep one", key);
        *place = value;
    }
    if (!entry->name && (entry->nodes || entry->switches))
        return coll_refuse(coll_topofile_line(file, entry->line),
                           "no SwitchName=; write SwitchName=NAME Nodes=LIST or Switches=LIST");
    return true;
}

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

bool coll_topology_conf_parse(coll_topofile *file) {
    coll_lines *lines = &file->lines;
    bool unended;
    int last = 0;
    for (char *line; (line = next_line(lines, &unended)); last = lines->line) {
        coll_switch entry = {.path = lines->path, .line = last + 1};
        if (unended)
            return coll_refuse(
                coll_topofile_line(file, entry.line),
                "the file ends where a backslash continues the line; is it complete?");
        line += strspn(line, SPACES);
        const char *name = included_by(line);
        if (name) {
            if (!coll_topofile_include(file, name, entry.line))
                return false;
        } else if (!parse_pairs(file, line, &entry) ||
                   (entry.name && !coll_topofile_append(file, &entry))) {
            return false;
        }
    }
    if (!file->count && file->source_count == 1)
        return coll_refuse(coll_topofile_line(file, last ? last : 1),
                           "the file ends without a switch; add SwitchName=NAME Nodes=LIST");
    return true;
}

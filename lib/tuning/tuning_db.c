/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/tuning_db.h"

#include "lib/base/c_locale.h"
#include "lib/base/cachefile.h"
#include "lib/base/hash.h"
#include "lib/base/textfile.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FIRST_LINE[] = "libcoll-learnt 3";

enum {
    MOST_BYTES = 1 << 20, /* of the file: libcoll writes no larger file */
    MOST = 2000           /* entries; beyond that the oldest are dropped */
};

/* Entries, oldest first. */
typedef struct entries {
    coll_tuning_entry *at;
    int count;
} entries;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entries known; /* to this process */
static bool has_read;

char *coll_tuning_db_path(void) {
    return coll_cachefile_path("learnt");
}

uint64_t coll_tuning_db_placement(const coll_topo *topo) {
    uint64_t placement = COLL_HASH_NOTHING;
    for (int rank = 0; rank < topo->ranks; rank++) {
        const coll_place *place = &topo->places[rank];
        const char *host = topo->hosts[place->node];
        placement = coll_hash(placement, host, strlen(host) + 1);
        placement = coll_hash(placement, &place->rack, sizeof place->rack);
    }
    return placement;
}

/* --- Entries --- */

static coll_tuning_entry *find_entry(const entries *all, const coll_tuning_entry *like) {
    for (coll_tuning_entry *one = all->at; one < all->at + all->count; one++)
        if (one->placement == like->placement && one->bytes == like->bytes &&
            strcmp(one->operation, like->operation) == 0 &&
            strcmp(one->algorithm, like->algorithm) == 0)
            return one;
    return NULL;
}

/* Adds WHAT as the newest entry. Drops the entry that WHAT replaces or, if there is none and there
 * are MOST entries, the oldest. Returns false without memory. */
static bool add_entry(entries *all, const coll_tuning_entry *what) {
    coll_tuning_entry *old = find_entry(all, what);
    if (!old && all->count == MOST)
        old = all->at;
    if (!old) {
        coll_tuning_entry *more = realloc(all->at, (size_t)(all->count + 1) * sizeof *more);
        if (!more)
            return false;
        all->at = more;
        old = &all->at[all->count++];
    }
    coll_tuning_entry *last = &all->at[all->count - 1];
    memmove(old, old + 1, (size_t)(last - old) * sizeof *old);
    *last = *what;
    return true;
}

/* --- The file --- */

static bool read_word(const coll_lines *at, char **rest, const char *what, char *into,
                      size_t size) {
    const char *word = coll_word(rest);
    if (!*word || strlen(word) >= size)
        return coll_refuse(at, "'%.30s' is no %s; delete the file", word, what);
    strcpy(into, word);
    return true;
}

static bool read_number(const coll_lines *at, char **rest, const char *what, double most,
                        double *value) {
    const char *word = coll_word(rest);
    return (coll_c_locale_number(word, value) && *value > 0 && *value <= most) ||
           coll_refuse(at, "'%.30s' is no %s; delete the file", word, what);
}

static bool read_placement(const coll_lines *at, char **rest, uint64_t *placement) {
    enum { DIGITS = 16 };
    const char *word = coll_word(rest);
    if (strlen(word) != DIGITS || strspn(word, "0123456789abcdef") != DIGITS)
        return coll_refuse(at, "'%.30s' is no placement; delete the file", word);
    *placement = strtoull(word, NULL, 16);
    return true;
}

static bool parse_line(const coll_lines *at, char *line, coll_tuning_entry *one) {
    double ranks, bytes;
    if (!read_placement(at, &line, &one->placement) ||
        !read_number(at, &line, "number of ranks", 1 << 30, &ranks) ||
        !read_word(at, &line, "host", one->host, sizeof one->host) ||
        !read_word(at, &line, "operation", one->operation, sizeof one->operation) ||
        !read_number(at, &line, "size", 1e18, &bytes) ||
        !read_word(at, &line, "algorithm", one->algorithm, sizeof one->algorithm) ||
        !read_number(at, &line, "time", 1e6, &one->seconds))
        return false;
    one->ranks = (int)ranks;
    one->bytes = (size_t)bytes;
    return coll_words_ended(at, line);
}

/* Returns whether a file that begins with the line FIRST has times that were measured in another
 * way. */
static bool is_old(const char *first) {
    return strcmp(first, "libcoll-learnt 1") == 0 || strcmp(first, "libcoll-learnt 2") == 0;
}

static bool parse_file(coll_lines *at, entries *found) {
    size_t length;
    const char *first = coll_lines_next(at, &length);
    if (first && is_old(first))
        return true;
    if (!first || strcmp(first, FIRST_LINE) != 0)
        return coll_refuse(at, "it must begin with '%s'; delete it", FIRST_LINE);
    char *line;
    while ((line = coll_lines_next(at, &length))) {
        coll_tuning_entry one = {.ranks = 0};
        if (*line == '#' || strspn(line, " \t") == length)
            continue;
        if (strlen(line) != length)
            return coll_refuse(at, "a byte of 0; delete the file");
        if (!parse_line(at, line, &one))
            return false;
        if (!add_entry(found, &one))
            return coll_refuse(at, "no memory");
    }
    return true;
}

/* Returns the entries of the file at PATH, which the caller frees; none if there is no file. If the
 * file is damaged, PROBLEM says why. */
static entries read_file(const char *path, char problem[COLL_TEXTFILE_PROBLEM]) {
    entries found = {0};
    char *text;
    size_t length;
    coll_lines at = {.kind = "file", .path = path, .problem = problem};
    *problem = '\0';
    int error = coll_textfile_read(path, MOST_BYTES, &text, &length);
    if (error == ENOENT || error == ENOTDIR)
        return found;
    at.next = text;
    at.end = text ? text + length : NULL;
    bool good =
        error ? coll_refuse(&at, "%s", coll_textfile_fault(error)) : parse_file(&at, &found);
    free(text);
    if (good)
        return found;
    free(found.at);
    return (entries){0};
}

static bool print_entries(FILE *stream, const void *context) {
    const entries *all = context;
    fprintf(stream,
            "%s\n# What calls took while programs ran. coll-info learnt --forget deletes it.\n"
            "# placement, ranks, first host, operation, size, algorithm, seconds\n",
            FIRST_LINE);
    for (const coll_tuning_entry *one = all->at; one < all->at + all->count; one++)
        coll_c_locale_print(stream, "%016" PRIx64 " %d %s %s %zu %s %.4g\n", one->placement,
                            one->ranks, one->host, one->operation, one->bytes, one->algorithm,
                            one->seconds);
    return true;
}

/* Reads the file, once in this process. The caller holds the lock. */
static void read_once(void) {
    char problem[COLL_TEXTFILE_PROBLEM];
    char *path = has_read ? NULL : coll_tuning_db_path();
    has_read = true;
    if (!path)
        return;
    entries found = read_file(path, problem);
    if (*problem)
        fprintf(stderr, "coll: the times learnt in earlier runs are ignored: %s\n", problem);
    for (int i = 0; i < found.count; i++)
        if (!find_entry(&known, &found.at[i]))
            (void)add_entry(&known, &found.at[i]);
    free(found.at);
    free(path);
}

/* Adds the COUNT entries of WHAT. Returns false without memory. */
static bool add_entries(entries *all, const coll_tuning_entry what[], int count) {
    bool good = true;
    for (int i = 0; i < count; i++)
        good = add_entry(all, &what[i]) && good;
    return good;
}

/* Reads the file again, since another job may have changed it, and writes it with WHAT added.
 * Returns 0 or an errno. */
static int update_file(const coll_tuning_entry what[], int count) {
    char ignored[COLL_TEXTFILE_PROBLEM];
    char *path = coll_tuning_db_path();
    if (!path)
        return ENOENT;
    entries all = read_file(path, ignored);
    int error = add_entries(&all, what, count)
                    ? coll_cachefile_write(path, print_entries, &all, false)
                    : ENOMEM;
    free(all.at);
    free(path);
    return error;
}

double coll_tuning_db_find(const coll_tuning_entry *like) {
    pthread_mutex_lock(&lock);
    read_once();
    const coll_tuning_entry *found = find_entry(&known, like);
    double seconds = found ? found->seconds : 0;
    pthread_mutex_unlock(&lock);
    return seconds;
}

int coll_tuning_db_keep(const coll_tuning_entry what[], int count, bool in_file) {
    pthread_mutex_lock(&lock);
    (void)add_entries(&known, what, count); /* without memory it will be tuned again */
    int error = in_file ? update_file(what, count) : 0;
    pthread_mutex_unlock(&lock);
    return error;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/profilefile.h"

#include "lib/base/c_locale.h"
#include "lib/base/cachefile.h"
#include "lib/base/textfile.h"
#include "lib/cost/cost.h"
#include "lib/topology/hostlist.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char FIRST_WORD[] = "libcoll-profile", VERSION[] = "3";

enum {
    MOST_LINE = 1023,     /* characters */
    MOST_BYTES = 1 << 20, /* ten thousand host names; a larger file is no profile */
    HOSTS_COLUMNS = 90,   /* lines of hosts are wrapped here */
    NEEDED = 3,           /* the first keys are required; the others default to 0 */
    KEYS = 7
};

/* The keys of a level's line, and bounds of plausible values. */
static const struct {
    const char *name;
    size_t offset;
    double lowest, highest;
} keys[KEYS] = {
    {"latency_s", offsetof(COLL_Cost, latency), 1e-9, 100},
    {"overhead_s", offsetof(COLL_Cost, overhead), 1e-9, 100},
    {"per_byte_s", offsetof(COLL_Cost, per_byte), 1e-13, 1},
    {"wake_s", offsetof(COLL_Cost, wake), 0, 100},
    {"per_rank_s", offsetof(COLL_Cost, per_rank), 0, 100},
    {"together_bytes_per_s", offsetof(COLL_Cost, together), 0, 1e15},
    {"buffer_bytes", offsetof(COLL_Cost, buffer), 0, 1e15},
};

static double *value_of(COLL_Cost *cost, int key) {
    return (double *)((char *)cost + keys[key].offset);
}

/* The largest valid error of a fit. */
static const double MOST_ERROR = 100;

/* A file being parsed, in place. */
typedef struct parser {
    coll_lines at;
    coll_profilefile *file;
    bool ended;
} parser;

static bool is_date(const char *text) {
    static const char shape[] = "0000-00-00T00:00:00Z";
    if (strlen(text) != sizeof shape - 1)
        return false;
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    return true;
}

static bool parse_date(parser *p, char *rest) {
    char *date = coll_word(&rest);
    if (*p->file->date)
        return coll_refuse(&p->at, "a second date; keep one");
    if (!is_date(date))
        return coll_refuse(&p->at, "date '%.30s' is not like 2026-11-20T07:13:54Z", date);
    snprintf(p->file->date, sizeof p->file->date, "%s", date);
    return coll_words_ended(&p->at, rest);
}

/* Appends this line's list of hosts to the list of earlier lines. */
static bool parse_hosts(parser *p, char *rest) {
    coll_profilefile *file = p->file;
    char *list = coll_word(&rest);
    const char *fault = *list ? coll_hostlist_fault(list) : "no name";
    if (fault)
        return coll_refuse(&p->at, "%s in the hosts '%.30s'; write them like n[0-3,7],login1",
                           fault, list);
    size_t before = file->hosts ? strlen(file->hosts) : 0, added = strlen(list);
    char *joined = realloc(file->hosts, before + added + 2);
    if (!joined)
        return coll_refuse(&p->at, "out of memory");
    file->hosts = joined;
    if (before)
        joined[before++] = ',';
    else
        file->hosts_line = p->at.line;
    memcpy(joined + before, list, added + 1);
    return coll_words_ended(&p->at, rest);
}

static const char *name_of_key(int key) {
    return key < KEYS ? keys[key].name : NULL;
}

/* Returns the index at which NAME_OF returns NAME, or at which it returns NULL if there is no such
 * name. */
static int find_name(const char *(*name_of)(int), const char *name) {
    int i = 0;
    while (name_of(i) && strcmp(name_of(i), name) != 0)
        i++;
    return i;
}

static bool parse_level(parser *p, char *rest) {
    const char *name = coll_word(&rest);
    const int level = find_name(COLL_Level_name, name);
    if (level == COLL_LEVELS)
        return coll_refuse(&p->at, "unknown level '%.30s'; known: numa, node, rack, site, wide",
                           name);
    if (p->file->values.measured[level])
        return coll_refuse(&p->at, "level %s is there already; keep one", name);

    COLL_Cost *cost = &p->file->values.cost[level];
    bool seen[KEYS] = {false};
    for (char *word; *(word = coll_word(&rest));) {
        int key = find_name(name_of_key, word);
        if (key == KEYS)
            return coll_refuse(&p->at,
                               "unknown key '%.30s'; known: latency_s, overhead_s, per_byte_s, "
                               "wake_s, per_rank_s, together_bytes_per_s, buffer_bytes",
                               word);
        if (seen[key])
            return coll_refuse(&p->at, "%s is there twice; keep one", word);
        seen[key] = true;
        char *text = coll_word(&rest);
        if (!coll_c_locale_number(text, value_of(cost, key)))
            return coll_refuse(&p->at, "%s '%.30s' is not a number like 4.1e-05", keys[key].name,
                               text);
    }
    for (int key = 0; key < NEEDED; key++)
        if (!seen[key])
            return coll_refuse(&p->at, "level %s has no %s; measure again by coll-profile", name,
                               keys[key].name);
    char fault[100];
    if (coll_profilefile_fault(cost, fault, sizeof fault))
        return coll_refuse(&p->at, "%s; measure again by coll-profile", fault);
    p->file->values.measured[level] = true;
    return true;
}

/* Parses the rest of a line, "error 0.03 at 1 3.1e-05 1024 4.2e-05", for the curve NAME. */
static bool parse_curve(parser *p, char *rest, const char *name, COLL_Curve *curve) {
    COLL_Curve read = {.knots = 0};
    char *text = NULL;
    if (curve->knots)
        return coll_refuse(&p->at, "%s is there already; keep one", name);
    if (strcmp(coll_word(&rest), "error") != 0 ||
        !coll_c_locale_number(text = coll_word(&rest), &read.error))
        return coll_refuse(&p->at, "%s needs the error of its fit, as in 'error 0.03'", name);
    if (!(read.error >= 0 && read.error <= MOST_ERROR))
        return coll_refuse(&p->at, "error %g of %s is not within 0 to %g", read.error, name,
                           MOST_ERROR);
    if (strcmp(coll_word(&rest), "at") != 0)
        return coll_refuse(&p->at, "%s needs the word 'at' before its knots", name);
    for (; *(text = coll_word(&rest)); read.knots++) {
        if (read.knots == COLL_KNOTS)
            return coll_refuse(&p->at, "%s has more than %d knots; measure again", name,
                               COLL_KNOTS);
        if (!coll_c_locale_number(text, &read.bytes[read.knots]) ||
            !coll_c_locale_number(text = coll_word(&rest), &read.seconds[read.knots]))
            return coll_refuse(&p->at,
                               "'%.30s' is no number; knots of %s are pairs of bytes and seconds",
                               text, name);
    }
    const char *fault = coll_curve_fault(&read);
    if (fault)
        return coll_refuse(&p->at, "%s has %s; measure again by coll-profile", name, fault);
    *curve = read;
    return true;
}

static bool parse_level_curve(parser *p, char *rest) {
    const char *name = coll_word(&rest);
    int level = find_name(COLL_Level_name, name);
    if (level == COLL_LEVELS || !p->file->values.measured[level])
        return coll_refuse(&p->at, "a curve of level '%.30s', whose own line is not above", name);
    name = coll_word(&rest);
    const int parameter = find_name(COLL_Parameter_name, name);
    if (parameter < COLL_PARAMETERS)
        return parse_curve(p, rest, name, &p->file->values.cost[level].curve[parameter]);
    return coll_refuse(&p->at, "unknown curve '%.30s'; known: Os, gs, L, gr, Or, Ur", name);
}

static bool parse_copy(parser *p, char *rest) {
    const char *name = coll_word(&rest);
    const int copy = find_name(COLL_Copy_name, name);
    if (copy < COLL_COPIES)
        return parse_curve(p, rest, name, &p->file->values.copy[copy]);
    return coll_refuse(&p->at, "unknown copy '%.30s'; known: Mctc, Mctm, Mmtm", name);
}

/* Skips algorithms' times, which earlier versions measured; jobs now tune while they run. */
static bool skip_trial(parser *p, char *rest) {
    (void)p, (void)rest;
    return true;
}

static bool parse_end(parser *p, char *rest) {
    p->ended = true;
    return coll_words_ended(&p->at, rest);
}

static bool parse_first(parser *p, char *rest) {
    const char *word = coll_word(&rest);
    if (strcmp(word, FIRST_WORD) != 0)
        return coll_refuse(&p->at,
                           "not a profile, which begins with '%s %s'; make one by coll-profile",
                           FIRST_WORD, VERSION);
    const char *version = coll_word(&rest);
    if (strcmp(version, VERSION) != 0)
        return coll_refuse(&p->at,
                           "version '%.30s' where this library reads %s; measure again by its "
                           "coll-profile",
                           version, VERSION);
    return coll_words_ended(&p->at, rest);
}

static bool parse_line(parser *p, char *line) {
    static const struct {
        const char *word;
        bool (*parse)(parser *p, char *rest);
    } kinds[] = {{"date", parse_date},   {"hosts", parse_hosts},
                 {"level", parse_level}, {"curve", parse_level_curve},
                 {"copy", parse_copy},   {"trial", skip_trial},
                 {"end", parse_end}};
    if (p->at.line == 1)
        return parse_first(p, line);
    const char *word = coll_word(&line);
    if (!*word || *word == '#')
        return true;
    if (p->ended)
        return coll_refuse(&p->at, "'%.30s' comes after the end; remove one of them", word);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0)
            return kinds[i].parse(p, line);
    return coll_refuse(&p->at, "unknown word '%.30s'; known: date, hosts, level, curve, copy, end",
                       word);
}

/* Checks that a line is not too long and has only printable ASCII characters and tabs. */
static bool check_line(const parser *p, const char *line, size_t length) {
    if (length > MOST_LINE)
        return coll_refuse(&p->at, "longer than %d characters; split or remove it", MOST_LINE);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < ' ' && byte != '\t') || byte > 126)
            return coll_refuse(&p->at, "byte 0x%02x is not plain text; give a file of coll-profile",
                               byte);
    }
    return true;
}

static bool has_level(const COLL_Profile *values) {
    int level = 0;
    while (level < COLL_LEVELS && !values->measured[level])
        level++;
    return level < COLL_LEVELS;
}

static bool check_whole(parser *p) {
    p->at.line += !p->at.line;
    if (!p->ended)
        return coll_refuse(&p->at,
                           "the file is truncated: it lacks its last line 'end'; measure again");
    if (!*p->file->date)
        return coll_refuse(
            &p->at, "the file ends without a date; add a line like date 2026-11-20T07:13:54Z");
    if (!p->file->hosts)
        return coll_refuse(&p->at,
                           "the file ends without hosts; add a line like hosts n[0-3,7],login1");
    return has_level(&p->file->values) ||
           coll_refuse(&p->at, "the file ends without any level; measure again by coll-profile");
}

static bool parse_text(parser *p) {
    size_t length;
    for (char *line; (line = coll_lines_next(&p->at, &length));)
        if (!check_line(p, line, length) || !parse_line(p, line))
            return false;
    return check_whole(p);
}

bool coll_profilefile_parse(const char *path, char *text, size_t length, coll_profilefile *file,
                            char *problem) {
    parser p = {{"profile", path, text, text + length, 0, problem}, file, false};
    *file = (coll_profilefile){.hosts = NULL};
    locale_t before = coll_c_locale_begin();
    bool good = parse_text(&p);
    coll_c_locale_end(before);
    if (!good)
        coll_profilefile_free(file);
    return good;
}

bool coll_profilefile_read(const char *path, coll_profilefile *file, char *problem) {
    char *text;
    size_t length;
    int error = coll_textfile_read(path, MOST_BYTES, &text, &length);
    bool good = !error && coll_profilefile_parse(path, text, length, file, problem);
    free(text);
    if (error == ENOENT || error == ENOTDIR)
        *problem = '\0';
    else if (error)
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "cannot read profile %.100s: %s; set COLL_PROFILE to a file of coll-profile", path,
                 coll_textfile_fault(error));
    return good;
}

void coll_profilefile_free(coll_profilefile *file) {
    free(file->hosts);
    *file = (coll_profilefile){.hosts = NULL};
}

bool coll_profilefile_has_host(const coll_profilefile *file, const char *host) {
    return coll_hostlist_has(file->hosts, host) || coll_hostlist_has_short(file->hosts, host);
}

static bool curve_fault(const COLL_Curve *curve, const char *name, char *problem, size_t size) {
    const char *fault = curve->knots ? coll_curve_fault(curve) : NULL;
    if (fault)
        snprintf(problem, size, "%s has %s", name, fault);
    return fault;
}

bool coll_profilefile_fault(const COLL_Cost *cost, char *problem, size_t size) {
    COLL_Cost copy = *cost;
    for (int key = 0; key < KEYS; key++) {
        double value = *value_of(&copy, key);
        if (value >= keys[key].lowest && value <= keys[key].highest)
            continue;
        snprintf(problem, size, "%s %g is not within %g to %g", keys[key].name, value,
                 keys[key].lowest, keys[key].highest);
        return true;
    }
    for (int i = 0; i < COLL_PARAMETERS; i++)
        if (curve_fault(&cost->curve[i], COLL_Parameter_name(i), problem, size))
            return true;
    return false;
}

/* Checks that HOST, written to a profile, is read back as one and the same name. */
static bool check_host(const char *host, char *problem) {
    if (*host && strlen(host) <= COLL_HOSTLIST_NAME && !strpbrk(host, "[],# \t") &&
        !coll_hostlist_fault(host))
        return true;
    snprintf(problem, COLL_TEXTFILE_PROBLEM, "host name '%.60s' can't stand in a profile", host);
    return false;
}

static void print_hosts(FILE *stream, const char *const hosts[], int count) {
    int column = 0;
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(hosts[i]);
        bool wrap = !column || column + length > HOSTS_COLUMNS;
        fputs(!column ? "hosts " : wrap ? "\nhosts " : ",", stream);
        fputs(hosts[i], stream);
        column = (wrap ? 6 : column + 1) + length;
    }
    fputc('\n', stream);
}

/* Writes the rest of the line that names CURVE. */
static void print_curve(FILE *stream, const COLL_Curve *curve) {
    fprintf(stream, " error %.3g at", curve->error);
    for (int i = 0; i < curve->knots; i++)
        fprintf(stream, " %.10g %.6g", curve->bytes[i], curve->seconds[i]);
    fputc('\n', stream);
}

static void print_level(FILE *stream, int level, COLL_Cost cost) {
    fprintf(stream, "level %s", COLL_Level_name(level));
    for (int key = 0; key < KEYS; key++)
        if (key < NEEDED || *value_of(&cost, key) > 0)
            fprintf(stream, " %s %.6g", keys[key].name, *value_of(&cost, key));
    fputc('\n', stream);
    for (int i = 0; i < COLL_PARAMETERS; i++)
        if (cost.curve[i].knots) {
            fprintf(stream, "curve %s %s", COLL_Level_name(level), COLL_Parameter_name(i));
            print_curve(stream, &cost.curve[i]);
        }
}

/* Prints the current date in UTC. */
static void print_date(FILE *stream) {
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fprintf(stream, "date %s\n", date);
}

/* The contents of a file to be written. */
typedef struct contents {
    const COLL_Profile *values;
    const char *const *hosts;
    int count;
} contents;

static bool print_contents(FILE *stream, const void *context) {
    const contents *of = context;
    const COLL_Profile *values = of->values;
    locale_t before = coll_c_locale_begin();
    fprintf(stream, "%s %s\n", FIRST_WORD, VERSION);
    print_date(stream);
    print_hosts(stream, of->hosts, of->count);
    for (int level = 0; level < COLL_LEVELS; level++)
        if (values->measured[level])
            print_level(stream, level, values->cost[level]);
    for (int i = 0; i < COLL_COPIES; i++)
        if (values->copy[i].knots) {
            fprintf(stream, "copy %s", COLL_Copy_name(i));
            print_curve(stream, &values->copy[i]);
        }
    fputs("end\n", stream);
    coll_c_locale_end(before);
    return true;
}

static bool check_values(const COLL_Profile *values, char *problem) {
    char fault[100];
    if (!has_level(values)) {
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "a profile without any level");
        return false;
    }
    for (int level = 0; level < COLL_LEVELS; level++)
        if (values->measured[level] &&
            coll_profilefile_fault(&values->cost[level], fault, sizeof fault)) {
            snprintf(problem, COLL_TEXTFILE_PROBLEM, "level %s: %s", COLL_Level_name(level), fault);
            return false;
        }
    for (int i = 0; i < COLL_COPIES; i++)
        if (curve_fault(&values->copy[i], COLL_Copy_name(i), problem, COLL_TEXTFILE_PROBLEM))
            return false;
    return true;
}

int coll_profilefile_write(const char *path, bool cached, const COLL_Profile *values,
                           const char *const hosts[], int count, char *problem) {
    const contents of = {values, hosts, count};
    *problem = '\0';
    bool good = check_values(values, problem);
    for (int i = 0; i < count && good; i++)
        good = check_host(hosts[i], problem);
    if (!good)
        return EINVAL;
    return cached ? coll_cachefile_write(path, print_contents, &of, false)
                  : coll_cachefile_replace(path, 0666, print_contents, &of, true);
}

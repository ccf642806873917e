#include "config.h"

#include "lib/cost/profilefile.h"

#include "lib/base/plain.h"
#include "lib/base/textfile.h"
#include "lib/cost/cost.h"
#include "lib/cost/trials.h"
#include "lib/place/hostlist.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char SPACES[] = " \t";
static const char FIRST_WORD[] = "libcoll-profile", VERSION[] = "3";

enum {
    MOST_LINE = 1023,     /* characters */
    MOST_BYTES = 1 << 20, /* the names of ten thousand hosts; more is some other file */
    HOSTS_COLUMNS = 90,   /* where lines of hosts are wrapped */
    NEEDED = 3,           /* of the keys; the others are 0 where they are missing */
    KEYS = 7
};

/* What a level's line holds, and between which bounds anything real lies. */
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

/* Of a fit: it is no fit where the curve is wrong by more. */
static const double MOST_ERROR = 100;

/* A file being parsed; lines are taken from TEXT in place. */
typedef struct parser {
    const char *path;
    coll_profilefile *file;
    char *text, *next;
    int line;
    bool ended;
    char *problem;
} parser;

/* Writes the error text; false, for the caller to return. */
__attribute__((format(printf, 2, 3))) static bool refuse(const parser *p, const char *format, ...) {
    int used = snprintf(p->problem, COLL_PROFILEFILE_PROBLEM, "profile %.80s, line %d: ", p->path,
                        p->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->problem + used, (size_t)(COLL_PROFILEFILE_PROBLEM - used), format, arguments);
    va_end(arguments);
    return false;
}

/* The word at *REST, ended by NUL; *REST then follows it. "" at the end of the line. */
static char *take_word(char **rest) {
    char *word = *rest + strspn(*rest, SPACES);
    char *end = word + strcspn(word, SPACES);
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool check_end_of_line(const parser *p, char *rest) {
    char *word = take_word(&rest);
    return !*word || refuse(p, "'%.30s' is too much; remove it", word);
}

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
    char *date = take_word(&rest);
    if (*p->file->date)
        return refuse(p, "a second date; keep one");
    if (!is_date(date))
        return refuse(p, "date '%.30s' is not like 2026-11-20T07:13:54Z", date);
    snprintf(p->file->date, sizeof p->file->date, "%s", date);
    return check_end_of_line(p, rest);
}

/* Joins the list to those of earlier lines. */
static bool parse_hosts(parser *p, char *rest) {
    coll_profilefile *file = p->file;
    char *list = take_word(&rest);
    const char *fault = *list ? coll_hostlist_fault(list) : "no name";
    if (fault)
        return refuse(p, "%s in the hosts '%.30s'; write them like n[0-3,7],login1", fault, list);
    size_t before = file->hosts ? strlen(file->hosts) : 0, added = strlen(list);
    char *joined = realloc(file->hosts, before + added + 2);
    if (!joined)
        return refuse(p, "out of memory");
    file->hosts = joined;
    if (before)
        joined[before++] = ',';
    else
        file->hosts_line = p->line;
    memcpy(joined + before, list, added + 1);
    return check_end_of_line(p, rest);
}

static int find_level(const char *name) {
    int level = 0;
    while (level < COLL_LEVELS && strcmp(COLL_Level_name(level), name) != 0)
        level++;
    return level;
}

static bool take_level(parser *p, char **rest, int *level) {
    const char *name = take_word(rest);
    *level = find_level(name);
    return *level < COLL_LEVELS ||
           refuse(p, "unknown level '%.30s'; known: numa, node, rack, site, wide", name);
}

static int find_key(const char *name) {
    int key = 0;
    while (key < KEYS && strcmp(keys[key].name, name) != 0)
        key++;
    return key;
}

static bool parse_level(parser *p, char *rest) {
    int level;
    if (!take_level(p, &rest, &level))
        return false;
    const char *name = COLL_Level_name(level);
    if (p->file->measured[level])
        return refuse(p, "level %s is there already; keep one", name);

    COLL_Cost *cost = &p->file->level[level];
    bool seen[KEYS] = {false};
    for (char *word; *(word = take_word(&rest));) {
        int key = find_key(word);
        if (key == KEYS)
            return refuse(p,
                          "unknown key '%.30s'; known: latency_s, overhead_s, per_byte_s, "
                          "wake_s, per_rank_s, together_bytes_per_s, buffer_bytes",
                          word);
        if (seen[key])
            return refuse(p, "%s is there twice; keep one", word);
        seen[key] = true;
        char *text = take_word(&rest);
        if (!coll_plain_number(text, value_of(cost, key)))
            return refuse(p, "%s '%.30s' is not a number like 4.1e-05", keys[key].name, text);
    }
    for (int key = 0; key < NEEDED; key++)
        if (!seen[key])
            return refuse(p, "level %s has no %s; measure again by coll-profile", name,
                          keys[key].name);
    char fault[100];
    if (coll_profilefile_fault(cost, fault, sizeof fault))
        return refuse(p, "%s; measure again by coll-profile", fault);
    p->file->measured[level] = true;
    return true;
}

/* The rest of a line, "error 0.03 at 1 3.1e-05 1024 4.2e-05", for a curve that is called NAME. */
static bool parse_curve(parser *p, char *rest, const char *name, COLL_Curve *curve) {
    COLL_Curve read = {.knots = 0};
    char *text = NULL;
    if (curve->knots)
        return refuse(p, "%s is there already; keep one", name);
    if (strcmp(take_word(&rest), "error") != 0 ||
        !coll_plain_number(text = take_word(&rest), &read.error))
        return refuse(p, "%s needs the error of its fit, as in 'error 0.03'", name);
    if (!(read.error >= 0 && read.error <= MOST_ERROR))
        return refuse(p, "error %g of %s is not within 0 to %g", read.error, name, MOST_ERROR);
    if (strcmp(take_word(&rest), "at") != 0)
        return refuse(p, "%s needs the word 'at' before its knots", name);
    for (; *(text = take_word(&rest)); read.knots++) {
        if (read.knots == COLL_KNOTS)
            return refuse(p, "%s has more than %d knots; measure again", name, COLL_KNOTS);
        if (!coll_plain_number(text, &read.bytes[read.knots]) ||
            !coll_plain_number(text = take_word(&rest), &read.seconds[read.knots]))
            return refuse(p, "'%.30s' is no number; knots of %s are pairs of bytes and seconds",
                          text, name);
    }
    const char *fault = coll_curve_fault(&read);
    if (fault)
        return refuse(p, "%s has %s; measure again by coll-profile", name, fault);
    *curve = read;
    return true;
}

static bool parse_level_curve(parser *p, char *rest) {
    const char *name = take_word(&rest);
    int level = find_level(name);
    if (level == COLL_LEVELS || !p->file->measured[level])
        return refuse(p, "a curve of level '%.30s', whose own line is not above", name);
    name = take_word(&rest);
    for (int i = 0; i < COLL_PARAMETERS; i++)
        if (strcmp(COLL_Parameter_name(i), name) == 0)
            return parse_curve(p, rest, name, &p->file->level[level].curve[i]);
    return refuse(p, "unknown curve '%.30s'; known: Os, gs, L, gr, Or, Ur", name);
}

static bool parse_copy(parser *p, char *rest) {
    const char *name = take_word(&rest);
    for (int i = 0; i < COLL_COPIES; i++)
        if (strcmp(COLL_Copy_name(i), name) == 0)
            return parse_curve(p, rest, name, &p->file->copy[i]);
    return refuse(p, "unknown copy '%.30s'; known: Mctc, Mctm, Mmtm", name);
}

/* The number of ranks of a trial, and the word "at" behind it. */
static bool parse_ranks(parser *p, char **rest, COLL_Trial *read) {
    double ranks = 0;
    char *text = take_word(rest);
    if (!coll_plain_number(text, &ranks) || !(ranks >= 2 && ranks <= 1 << 24) ||
        ranks != floor(ranks))
        return refuse(p, "'%.30s' is no number of ranks, at least 2", text);
    read->ranks = (int)ranks;
    return strcmp(take_word(rest), "at") == 0 ||
           refuse(p, "a trial needs the word 'at' before its sizes");
}

static bool is_there(const coll_profilefile *file, const COLL_Trial *t) {
    for (int i = 0; i < file->trials; i++) {
        const COLL_Trial *other = &file->trial[i];
        if (other->level == t->level && other->ranks == t->ranks &&
            strcmp(other->operation, t->operation) == 0 &&
            strcmp(other->algorithm, t->algorithm) == 0)
            return true;
    }
    return false;
}

static bool take_name(parser *p, char **rest, char *name, size_t size) {
    const char *word = take_word(rest);
    return snprintf(name, size, "%s", word) < (int)size ||
           refuse(p, "'%.60s' is too long for a name", word);
}

static bool parse_trial(parser *p, char *rest) {
    coll_profilefile *file = p->file;
    COLL_Trial read = {.knots = 0};
    char *text;
    int level;
    if (!take_level(p, &rest, &level) ||
        !take_name(p, &rest, read.operation, sizeof read.operation) ||
        !take_name(p, &rest, read.algorithm, sizeof read.algorithm) ||
        !parse_ranks(p, &rest, &read))
        return false;
    read.level = (COLL_Level)level;
    for (; *(text = take_word(&rest)); read.knots++) {
        if (read.knots == COLL_TRIAL_KNOTS)
            return refuse(p, "more than %d sizes; measure again", COLL_TRIAL_KNOTS);
        if (!coll_plain_number(text, &read.bytes[read.knots]) ||
            !coll_plain_number(text = take_word(&rest), &read.seconds[read.knots]) ||
            !coll_plain_number(text = take_word(&rest), &read.model[read.knots]))
            return refuse(p, "'%.30s' is no number; a trial has bytes, seconds and the model's",
                          text);
    }
    const char *fault = coll_trial_fault(&read);
    if (fault)
        return refuse(p, "the trial has %s; measure again by coll-profile", fault);
    if (is_there(file, &read))
        return refuse(p, "this trial is there already; keep one");
    if (file->trials == COLL_TRIALS)
        return refuse(p, "more than %d trials; measure again", COLL_TRIALS);
    file->trial[file->trials++] = read;
    return true;
}

static bool parse_end(parser *p, char *rest) {
    p->ended = true;
    return check_end_of_line(p, rest);
}

static bool parse_first(parser *p, char *rest) {
    const char *word = take_word(&rest);
    if (strcmp(word, FIRST_WORD) != 0)
        return refuse(p, "not a profile, which begins with '%s %s'; make one by coll-profile",
                      FIRST_WORD, VERSION);
    const char *version = take_word(&rest);
    if (strcmp(version, VERSION) != 0)
        return refuse(p,
                      "version '%.30s' where this library reads %s; measure again by its "
                      "coll-profile",
                      version, VERSION);
    return check_end_of_line(p, rest);
}

static bool parse_line(parser *p, char *line) {
    static const struct {
        const char *word;
        bool (*parse)(parser *p, char *rest);
    } kinds[] = {{"date", parse_date},   {"hosts", parse_hosts},
                 {"level", parse_level}, {"curve", parse_level_curve},
                 {"copy", parse_copy},   {"trial", parse_trial},
                 {"end", parse_end}};
    if (p->line == 1)
        return parse_first(p, line);
    const char *word = take_word(&line);
    if (!*word || *word == '#')
        return true;
    if (p->ended)
        return refuse(p, "'%.30s' comes after the end; remove one of them", word);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0)
            return kinds[i].parse(p, line);
    return refuse(p, "unknown word '%.30s'; known: date, hosts, level, curve, copy, trial, end",
                  word);
}

/* Splits the next line off, LENGTH bytes before END; text has no control characters but tabs. */
static bool take_line(parser *p, char *end, char **line) {
    char *start = p->next, *stop = memchr(start, '\n', (size_t)(end - start));
    if (!stop)
        stop = end;
    p->line++;
    if (stop - start > MOST_LINE)
        return refuse(p, "longer than %d characters; split or remove it", MOST_LINE);
    for (char *c = start; c < stop; c++) {
        unsigned char byte = (unsigned char)*c;
        if ((byte < ' ' && byte != '\t') || byte > 126)
            return refuse(p, "byte 0x%02x is not plain text; give a file of coll-profile", byte);
    }
    p->next = stop < end ? stop + 1 : end;
    *stop = '\0';
    *line = start;
    return true;
}

static bool check_whole(parser *p) {
    bool measured = false;
    for (int level = 0; level < COLL_LEVELS; level++)
        measured = measured || p->file->measured[level];
    p->line += !p->line;
    if (!p->ended)
        return refuse(p, "the file is truncated: it lacks its last line 'end'; measure again");
    if (!*p->file->date)
        return refuse(p, "the file ends without a date; add a line like date 2026-11-20T07:13:54Z");
    if (!p->file->hosts)
        return refuse(p, "the file ends without hosts; add a line like hosts n[0-3,7],login1");
    return measured || refuse(p, "the file ends without any level; measure again by coll-profile");
}

static bool parse_text(parser *p, size_t length) {
    char *end = p->text + length, *line = NULL;
    while (p->next < end)
        if (!take_line(p, end, &line) || !parse_line(p, line))
            return false;
    return check_whole(p);
}

bool coll_profilefile_parse(const char *path, const char *text, size_t length,
                            coll_profilefile *file, char *problem) {
    parser p = {.path = path, .file = file, .problem = problem};
    *file = (coll_profilefile){.hosts = NULL};
    locale_t before = coll_plain_begin();
    p.text = p.next = malloc(length + 1);
    bool good = p.text;
    if (good) {
        memcpy(p.text, text, length);
        p.text[length] = '\0';
        good = parse_text(&p, length);
    } else
        snprintf(problem, COLL_PROFILEFILE_PROBLEM, "profile %.80s: out of memory", path);
    free(p.text);
    coll_plain_end(before);
    if (!good)
        coll_profilefile_free(file);
    return good;
}

coll_profilefile_state coll_profilefile_read(const char *path, coll_profilefile *file,
                                             char *problem) {
    char *text;
    size_t length;
    int error = coll_textfile_read(path, MOST_BYTES, &text, &length);
    bool good = !error && coll_profilefile_parse(path, text, length, file, problem);
    free(text);
    if (error == ENOENT || error == ENOTDIR)
        return COLL_PROFILEFILE_ABSENT;
    if (error)
        snprintf(problem, COLL_PROFILEFILE_PROBLEM,
                 "cannot read profile %.100s: %s; set COLL_PROFILE to a file of coll-profile", path,
                 coll_textfile_fault(error));
    return good ? COLL_PROFILEFILE_GOOD : COLL_PROFILEFILE_BAD;
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

/* A name that the parser reads back as this one host. */
static bool check_host(const char *host, char *problem) {
    if (*host && strlen(host) <= COLL_HOSTLIST_NAME && !strpbrk(host, "[],# \t") &&
        !coll_hostlist_fault(host))
        return true;
    snprintf(problem, COLL_PROFILEFILE_PROBLEM, "host name '%.60s' can't stand in a profile", host);
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

/* Ends the line that names CURVE. */
static void print_curve(FILE *stream, const COLL_Curve *curve) {
    fprintf(stream, " error %.3g at", curve->error);
    for (int i = 0; i < curve->knots; i++)
        fprintf(stream, " %.10g %.6g", curve->bytes[i], curve->seconds[i]);
    fputc('\n', stream);
}

static void print_curves(FILE *stream, const coll_profilefile *file, int level) {
    for (int i = 0; i < COLL_PARAMETERS; i++) {
        const COLL_Curve *curve = &file->level[level].curve[i];
        if (!curve->knots)
            continue;
        fprintf(stream, "curve %s %s", COLL_Level_name(level), COLL_Parameter_name(i));
        print_curve(stream, curve);
    }
}

static void print_copies(FILE *stream, const coll_profilefile *file) {
    for (int i = 0; i < COLL_COPIES; i++)
        if (file->copy[i].knots) {
            fprintf(stream, "copy %s", COLL_Copy_name(i));
            print_curve(stream, &file->copy[i]);
        }
}

static void print_trials(FILE *stream, const coll_profilefile *file) {
    for (int i = 0; i < file->trials; i++) {
        const COLL_Trial *t = &file->trial[i];
        fprintf(stream, "trial %s %s %s %d at", COLL_Level_name(t->level), t->operation,
                t->algorithm, t->ranks);
        for (int k = 0; k < t->knots; k++)
            fprintf(stream, " %.10g %.4g %.4g", t->bytes[k], t->seconds[k], t->model[k]);
        fputc('\n', stream);
    }
}

static void print_levels(FILE *stream, const coll_profilefile *file) {
    for (int level = 0; level < COLL_LEVELS; level++) {
        if (!file->measured[level])
            continue;
        COLL_Cost cost = file->level[level];
        fprintf(stream, "level %s", COLL_Level_name(level));
        for (int key = 0; key < KEYS; key++)
            if (key < NEEDED || *value_of(&cost, key) > 0)
                fprintf(stream, " %s %.6g", keys[key].name, *value_of(&cost, key));
        fputc('\n', stream);
        print_curves(stream, file, level);
    }
}

bool coll_profilefile_print(FILE *stream, const coll_profilefile *file, const char *const hosts[],
                            int count, char *problem) {
    for (int i = 0; i < count; i++)
        if (!check_host(hosts[i], problem))
            return false;
    locale_t before = coll_plain_begin();
    fprintf(stream, "%s %s\ndate %s\n", FIRST_WORD, VERSION, file->date);
    print_hosts(stream, hosts, count);
    print_levels(stream, file);
    print_copies(stream, file);
    print_trials(stream, file);
    fputs("end\n", stream);
    coll_plain_end(before);
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/matrix.h"

#include "lib/base/c_locale.h"
#include "lib/topology/hostlist.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_BYTES = 1 << 20 }; /* enough for ten thousand hosts; a longer file is no matrix */

/* The longest plausible latency in seconds. */
static const double LONGEST = 60;

#define SPACES " \t\r\v\f"
enum { MOST_CELLS = HLOT_SITES + 1 }; /* of a line, including the name of its site */

typedef struct parser {
    coll_lines at;
    hlot_matrix *matrix;
    int rows;
    bool labelled; /* rows begin with the names of their sites */
    /* The line of names. The first row of numbers shows whether the first cell is a site's name. */
    char *header[MOST_CELLS];
    int header_cells, header_line;
    bool has_unit;
    double unit; /* s */
} parser;

/* Returns CELL without the spaces and the quotation marks around it. */
static char *trim_cell(char *cell) {
    cell += strspn(cell, SPACES);
    size_t length = strlen(cell);
    while (length && strchr(SPACES, cell[length - 1]))
        length--;
    if (length > 1 && cell[0] == '"' && cell[length - 1] == '"') {
        cell++;
        length -= 2;
    }
    cell[length] = '\0';
    return cell;
}

/*
 * Splits LINE into CELLS at its semicolons; if it has none, at its commas; if it has neither, at
 * its spaces. Returns how many cells there are, or MOST_CELLS + 1 if there are more than fit.
 */
static int split_line(char *line, char *cells[MOST_CELLS]) {
    const char *mark = strchr(line, ';') ? ";" : strchr(line, ',') ? "," : NULL;
    int count = 0;
    for (char *rest = line; rest && count <= MOST_CELLS; count++) {
        char *cell = mark ? strsep(&rest, mark) : coll_word(&rest);
        if (!mark && !*cell)
            break;
        if (count < MOST_CELLS)
            cells[count] = trim_cell(cell);
    }
    return count;
}

static bool is_latency(const char *cell) {
    double number;
    return strcmp(cell, "-") == 0 || coll_c_locale_number(cell, &number);
}

/* Parses a unit such as "0.1ms" or "us". */
static bool parse_unit(parser *p, char *cells[], int count) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const char *word = count > 1 ? cells[1] : "";
    if (p->rows || p->has_unit)
        return coll_refuse(&p->at, "the unit must stand once, before the numbers");
    size_t digits = strspn(word, "0123456789.");
    char number[32] = "1";
    if (digits && digits < sizeof number)
        snprintf(number, sizeof number, "%.*s", (int)digits, word);
    double size = 0;
    bool good = digits < sizeof number && coll_c_locale_number(number, &size);
    p->unit = 0;
    for (size_t i = 0; good && i < sizeof units / sizeof *units; i++)
        if (strcmp(word + digits, units[i].name) == 0)
            p->unit = size * units[i].seconds;
    if (p->unit <= 0)
        return coll_refuse(
            &p->at, "unit '%.30s' is none of us, ms, s or a number of them like 0.1ms", word);
    p->has_unit = true;
    for (int i = 2; i < count; i++)
        if (*cells[i])
            return coll_refuse(&p->at, "'%.30s' is too much; remove it", cells[i]);
    return true;
}

static bool is_name(const char *word) {
    size_t length = strlen(word);
    if (length >= HLOT_NAME || !isalpha((unsigned char)*word) || strcasecmp(word, "nan") == 0 ||
        strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)word[i]) && !strchr("_-.", word[i]))
            return false;
    return true;
}

static bool refuse_sites(const parser *p) {
    return coll_refuse(&p->at, "more than %d sites; join those that are near each other",
                       HLOT_SITES);
}

static bool set_name(parser *p, int site, const char *name) {
    if (!is_name(name))
        return coll_refuse(&p->at, "'%.30s' is neither a number nor the name of a site", name);
    if (hlot_matrix_find(p->matrix, name) >= 0)
        return coll_refuse(&p->at, "two sites are called '%.30s'; rename one", name);
    strcpy(p->matrix->names[site], name);
    return true;
}

/* Sets the sites' names from the header, without its first cell if CORNER is 1. */
static bool set_names_from_header(parser *p, int corner) {
    const int line = p->at.line, sites = p->header_cells - corner;
    p->at.line = p->header_line;
    bool good = sites <= HLOT_SITES || refuse_sites(p);
    p->matrix->sites = good ? sites : 0;
    for (int site = 0; site < sites && good; site++)
        good = set_name(p, site, p->header[corner + site]);
    p->at.line = line;
    return good;
}

/* Determines from the first row, CELLS, how many sites there are and what they are called. */
static bool begin_rows(parser *p, char *cells[], int count) {
    p->labelled = !is_latency(cells[0]);
    const int numbers = count - p->labelled;
    if (p->matrix->sites)
        return true;
    if (p->header_cells)
        return set_names_from_header(p,
                                     !*p->header[0] || (p->labelled && p->header_cells == count));
    if (numbers > HLOT_SITES)
        return refuse_sites(p);
    p->matrix->sites = numbers;
    for (int site = 0; site < numbers && !p->labelled; site++)
        snprintf(p->matrix->names[site], HLOT_NAME, "site%d", site);
    return true;
}

/* Sets the site's name from its row's first cell, or checks it against the header. */
static bool parse_label(parser *p, const char *label) {
    const char *name = p->matrix->names[p->rows];
    if (!*name)
        return set_name(p, p->rows, label);
    if (strcmp(label, name) == 0)
        return true;
    return coll_refuse(&p->at,
                       "this row must begin with its site's name '%.30s', and begins with '%.30s'",
                       name, label);
}

static bool parse_latency(const parser *p, const char *word, double *latency) {
    bool is_way = strcmp(word, "-") != 0;
    if (is_way && !coll_c_locale_number(word, latency))
        return coll_refuse(
            &p->at, "'%.30s' is not a number; write a latency, or - if there is no link", word);
    *latency = is_way ? *latency * p->unit : INFINITY;
    if (*latency < 0)
        return coll_refuse(&p->at, "%.30s is negative; a latency is at least 0", word);
    if (is_way && *latency > LONGEST)
        return coll_refuse(&p->at, "%.30s is more than %g s; is the unit right?", word, LONGEST);
    return true;
}

static bool parse_row(parser *p, char *cells[], int count) {
    hlot_matrix *matrix = p->matrix;
    double row[HLOT_SITES];
    if (!p->rows && !begin_rows(p, cells, count))
        return false;
    if (p->rows == matrix->sites)
        return coll_refuse(&p->at, "more rows than the %d sites; the matrix must be square",
                           matrix->sites);
    if (p->labelled && !parse_label(p, *cells++))
        return false;
    count -= p->labelled;
    if (count != matrix->sites)
        return coll_refuse(&p->at, "%d numbers for %d sites; the matrix must be square", count,
                           matrix->sites);
    for (int to = 0; to < count; to++)
        if (!parse_latency(p, cells[to], &row[to]))
            return false;
    matrix->within |= row[p->rows] > 0 && row[p->rows] < INFINITY;
    row[p->rows] = 0;
    memcpy(matrix->latency[p->rows++], row, (size_t)count * sizeof *row);
    return true;
}

static bool parse_hosts(parser *p, char *rest) {
    const char *name = coll_word(&rest), *list = coll_word(&rest);
    if (p->header_cells && !p->matrix->sites && !set_names_from_header(p, !*p->header[0]))
        return false;
    int site = hlot_matrix_find(p->matrix, name);
    if (site < 0)
        return coll_refuse(&p->at, "hosts of '%.30s': no site has this name", name);
    if (p->matrix->hosts[site])
        return coll_refuse(&p->at, "a second list of hosts for '%.30s'; join the two", name);
    const char *fault = *list ? coll_hostlist_fault(list) : "no name";
    if (fault)
        return coll_refuse(&p->at, "%s in the hosts '%.30s'; write them like n[0-3,7],login1",
                           fault, list);
    p->matrix->hosts[site] = strdup(list);
    return p->matrix->hosts[site] ? coll_words_ended(&p->at, rest)
                                  : coll_refuse(&p->at, "out of memory");
}

/*
 * Returns whether the line of CELLS contains the sites' names. Its first cell may be any text that
 * is not a number.
 */
static bool is_header(char *cells[], int count) {
    double number;
    return !coll_c_locale_number(cells[0], &number) && !is_latency(cells[count > 1]);
}

static bool parse_line(parser *p, char *line) {
    char *cells[MOST_CELLS];
    line[strcspn(line, "#")] = '\0';
    line += strspn(line, SPACES);
    if (!line[strspn(line, SPACES ",;")])
        return true;
    if (strncmp(line, "hosts", 5) == 0 && strchr(SPACES, line[5]))
        return parse_hosts(p, line + 5);
    int count = split_line(line, cells);
    if (count > MOST_CELLS)
        return refuse_sites(p);
    if (strcmp(cells[0], "unit") == 0)
        return parse_unit(p, cells, count);
    if (p->header_cells || p->rows || !is_header(cells, count))
        return parse_row(p, cells, count);
    memcpy(p->header, cells, (size_t)count * sizeof *cells);
    p->header_cells = count;
    p->header_line = p->at.line;
    return true;
}

static bool check_whole(parser *p) {
    int lists = 0;
    p->at.line += !p->at.line;
    if (!p->rows)
        return coll_refuse(&p->at, "there is no matrix in this file");
    if (p->rows < p->matrix->sites)
        return coll_refuse(&p->at, "%d rows for %d sites; the matrix must be square", p->rows,
                           p->matrix->sites);
    for (int site = 0; site < p->matrix->sites; site++)
        lists += p->matrix->hosts[site] != NULL;
    for (int site = 0; lists && site < p->matrix->sites; site++)
        if (!p->matrix->hosts[site])
            return coll_refuse(&p->at,
                               "no hosts for '%.30s'; give the hosts of all sites, or of none",
                               p->matrix->names[site]);
    return true;
}

static bool parse_text(parser *p) {
    /* the byte order mark with which spreadsheets begin UTF-8 files */
    static const char byte_order[] = "\xEF\xBB\xBF";
    size_t length;
    if (strncmp(p->at.next, byte_order, strlen(byte_order)) == 0)
        p->at.next += strlen(byte_order);
    for (char *line; (line = coll_lines_next(&p->at, &length));) {
        if (strlen(line) != length)
            return coll_refuse(&p->at, "byte 0x00 is not text; give a text file");
        if (!parse_line(p, line))
            return false;
    }
    return check_whole(p);
}

bool hlot_matrix_parse(const char *path, char *text, size_t length, hlot_matrix *matrix,
                       char *problem) {
    parser p = {.at = {"matrix file", path, text, text + length, 0, problem},
                .matrix = matrix,
                .unit = 1e-3};
    *matrix = (hlot_matrix){.sites = 0};
    locale_t before = coll_c_locale_begin();
    bool good = parse_text(&p);
    coll_c_locale_end(before);
    if (!good)
        hlot_matrix_free(matrix);
    return good;
}

bool hlot_matrix_read(const char *path, bool or_input, hlot_matrix *matrix, char *problem) {
    char *text;
    size_t length;
    int error = or_input && strcmp(path, "-") == 0
                    ? coll_textfile_take(stdin, MOST_BYTES, &text, &length)
                    : coll_textfile_read(path, MOST_BYTES, &text, &length);
    bool good = !error && hlot_matrix_parse(path, text, length, matrix, problem);
    free(text);
    if (error)
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "cannot read the matrix file %.100s: %s", path,
                 coll_textfile_fault(error));
    return good;
}

void hlot_matrix_free(hlot_matrix *matrix) {
    for (int site = 0; site < HLOT_SITES; site++)
        free(matrix->hosts[site]);
    *matrix = (hlot_matrix){.sites = 0};
}

void hlot_matrix_print(FILE *stream, const hlot_matrix *matrix, const char *note) {
    locale_t before = coll_c_locale_begin();
    if (note)
        fprintf(stream, "# %s\n", note);
    fputs("unit ms\n", stream);
    for (int site = 0; site < matrix->sites; site++)
        fprintf(stream, "%s%10s", site ? " " : "", matrix->names[site]);
    fputc('\n', stream);
    for (int from = 0; from < matrix->sites; from++) {
        for (int to = 0; to < matrix->sites; to++) {
            double latency = from == to ? 0 : matrix->latency[from][to];
            fputs(to ? " " : "", stream);
            if (latency < INFINITY)
                fprintf(stream, "%10.9g", latency * 1e3);
            else
                fprintf(stream, "%10s", "-");
        }
        fputc('\n', stream);
    }
    for (int site = 0; site < matrix->sites; site++)
        if (matrix->hosts[site])
            fprintf(stream, "hosts %s %s\n", matrix->names[site], matrix->hosts[site]);
    coll_c_locale_end(before);
}

int hlot_matrix_find_host(const hlot_matrix *matrix, const char *host) {
    for (int site = 0; site < matrix->sites; site++)
        if (matrix->hosts[site] && coll_hostlist_has(matrix->hosts[site], host))
            return site;
    for (int site = 0; site < matrix->sites; site++)
        if (matrix->hosts[site] && coll_hostlist_has_short(matrix->hosts[site], host))
            return site;
    return -1;
}

int hlot_matrix_find(const hlot_matrix *matrix, const char *name) {
    for (int site = 0; site < matrix->sites; site++)
        if (strcmp(matrix->names[site], name) == 0)
            return site;
    return -1;
}

static bool assign_rows_in_order(const coll_lines *file, const hlot_matrix *matrix, int sites,
                                 int rows[]) {
    if (matrix->sites != sites)
        return coll_refuse(file, "%d sites, but the ranks are at %d; add lines of hosts",
                           matrix->sites, sites);
    for (int site = 0; site < sites; site++)
        rows[site] = site;
    return true;
}

/*
 * Determines the row of each site from its hosts. All hosts of a site must belong to one row, and
 * no two sites to the same row.
 */
static bool assign_rows_by_hosts(const coll_lines *file, const hlot_matrix *matrix,
                                 const coll_topo *topo, int rows[]) {
    for (int site = 0; site < topo->sites; site++)
        rows[site] = -1;
    for (int rank = 0; rank < topo->ranks; rank++) {
        const char *host = topo->hosts[topo->places[rank].node];
        int site = topo->places[rank].site, row = hlot_matrix_find_host(matrix, host);
        if (row < 0)
            return coll_refuse(file, "host %.60s is in none of its lines of hosts; add it", host);
        bool good = rows[site] < 0 || rows[site] == row;
        for (int other = 0; other < topo->sites; other++)
            good = good && (other == site || rows[other] != row);
        if (!good)
            return coll_refuse(
                file,
                "host %.60s is at %.40s, but COLL_TOPOLOGY has other sites; correct one of them",
                host, matrix->names[row]);
        rows[site] = row;
    }
    return true;
}

/*
 * Checks that every site can be reached from every other. The error names the first pair without a
 * path.
 */
static bool check_reach(const coll_lines *file, const hlot_matrix *matrix, const int rows[],
                        int sites, hlot_latencies latency) {
    hlot_network network = {.sites = sites};
    memcpy(network.latency, latency, sizeof network.latency);
    for (int root = 0; root < sites; root++) {
        bool lost[HLOT_SITES];
        if (!hlot_unreachable(&network, root, lost))
            continue;
        int site = 0;
        while (!lost[site])
            site++;
        return coll_refuse(file, "there is no path from %.40s to %.40s", matrix->names[rows[root]],
                           matrix->names[rows[site]]);
    }
    return true;
}

bool hlot_matrix_of(const char *path, const coll_topo *topo, hlot_latencies latency,
                    char *problem) {
    const coll_lines file = {.kind = "matrix file", .path = path, .problem = problem};
    hlot_matrix matrix;
    int rows[HLOT_SITES], sites = topo->sites;
    if (!hlot_matrix_read(path, false, &matrix, problem))
        return false;
    bool good = matrix.hosts[0] ? assign_rows_by_hosts(&file, &matrix, topo, rows)
                                : assign_rows_in_order(&file, &matrix, sites, rows);
    for (int from = 0; from < sites && good; from++)
        for (int to = 0; to < sites; to++)
            latency[from][to] = matrix.latency[rows[from]][rows[to]];
    good = good && check_reach(&file, &matrix, rows, sites, latency);
    hlot_matrix_free(&matrix);
    return good;
}

#include "config.h"

#include "app/cli.h"

#include "app/output.h"
#include "lib/base/plain.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool cli_parse_size(const char *text, uint64_t *value) {
    static const char units[] = "KMGT";
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno)
        return false;
    int shift = 0;
    if (*end) {
        const char *unit = strchr(units, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
        if (!unit || end[1])
            return false;
        shift = 10 * (int)(unit - units + 1);
    }
    if (number > UINT64_MAX >> shift)
        return false;
    *value = (uint64_t)number << shift;
    return true;
}

bool cli_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value) {
    errno = 0;
    char *end;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < lowest || number > highest)
        return false;
    *value = number;
    return true;
}

bool cli_parse_number(const char *text, double *value) {
    double number;
    if (!coll_plain_number(text, &number) || !isfinite(number))
        return false;
    *value = number;
    return true;
}

bool cli_take_number(struct problem *problem, const char *option, const char *text, double lowest,
                     double highest, double *value) {
    return (cli_parse_number(text, value) && *value >= lowest && *value <= highest) ||
           cli_refuse(problem, "--%s %s: a number from %g to %g is needed", option, text, lowest,
                      highest);
}

double cli_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool cli_refuse(cli_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!*problem->text)
        vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return false;
}

bool cli_refuse_code(cli_problem *problem, int code) {
    char text[MPI_MAX_ERROR_STRING] = "MPI error";
    int length;
    MPI_Error_string(code, text, &length);
    return cli_refuse(problem, "%s", text);
}

enum { OPTIONS_MOST = 64 };

int cli_next_option(cli_problem *problem, const char *program, int argc, char **argv,
                    const struct option *known) {
    static bool given[OPTIONS_MOST]; /* by the place in KNOWN; a program reads one command line */
    int place = 0;
    opterr = 0; /* the problem is told once, by one rank */
    int option = getopt_long(argc, argv, ":", known, &place);
    if (option == ':')
        cli_refuse(problem, "option %s needs a value", argv[optind - 1]);
    if (option == '?')
        cli_refuse(problem, "unknown option %s; %s --help lists them", argv[optind - 1], program);
    if (option == ':' || option == '?')
        return CLI_REFUSED;
    if (option == -1 || known[place].has_arg == no_argument || place >= OPTIONS_MOST)
        return option;
    if (given[place]) {
        cli_refuse(problem, "--%s given twice", known[place].name);
        return CLI_REFUSED;
    }
    given[place] = true;
    return option;
}

void cli_agree(MPI_Comm comm, const char *program, const char *problem) {
    int rank, first, mine;
    MPI_Comm_rank(comm, &rank);
    mine = *problem ? rank : INT_MAX;
    if (MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        MPI_Abort(comm, 1);
    if (first == INT_MAX)
        return;
    if (first == rank)
        fprintf(stderr, "%s: %s\n", program, problem);
    MPI_Finalize();
    exit(EXIT_FAILURE);
}

MPI_Comm cli_begin(int *argc, char ***argv, const char *program, const char *problem) {
    MPI_Comm comm;
    int provided;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        exit(EXIT_FAILURE);
    cli_agree(MPI_COMM_WORLD, program, problem);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

int cli_end(MPI_Comm *comm) {
    MPI_Comm_free(comm);
    MPI_Finalize();
    return EXIT_SUCCESS;
}

void cli_abort(MPI_Comm comm, const char *program, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program, text);
    output_abandon();
    MPI_Abort(comm, EXIT_FAILURE);
    abort();
}

void cli_json_begin(cli_json *json, FILE *file) {
    json->file = file;
    json->first = true;
    if (file)
        fputc('{', file);
}

static void json_string(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void json_key(cli_json *json, const char *key) {
    if (!json->first)
        fputs(", ", json->file);
    json->first = false;
    json_string(json->file, key);
    fputs(": ", json->file);
}

void cli_json_text(cli_json *json, const char *key, const char *value) {
    if (!json->file)
        return;
    json_key(json, key);
    json_string(json->file, value);
}

void cli_json_integer(cli_json *json, const char *key, int64_t value) {
    if (!json->file)
        return;
    json_key(json, key);
    fprintf(json->file, "%lld", (long long)value);
}

void cli_json_number(cli_json *json, const char *key, double value) {
    if (!json->file)
        return;
    json_key(json, key);
    if (isfinite(value))
        coll_plain_print(json->file, "%.9g", value);
    else
        fputs("null", json->file);
}

void cli_json_end(cli_json *json) {
    if (json->file)
        fputs("}\n", json->file);
}

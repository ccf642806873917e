/* What the programs share: sizes on the command line, one clear error line, tables and JSON. */
#ifndef COLL_APP_CLI_H
#define COLL_APP_CLI_H

#include "app/problem.h"

#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Reads "4096", "64K", "16M", "1G", "2T" (powers of 1024); false unless all of TEXT is a size. */
bool cli_parse_size(const char *text, uint64_t *value);

/* Reads a decimal integer within [lowest, highest]; false unless all of TEXT is one. */
bool cli_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value);

/* Reads a finite decimal number; false unless all of TEXT is one. */
bool cli_parse_number(const char *text, double *value);

/*
 * The number TEXT of the option --OPTION, which must be within [lowest, highest]; else false, and
 * PROBLEM says so.
 */
bool cli_take_number(struct problem *problem, const char *option, const char *text, double lowest,
                     double highest, double *value);

/*
 * Seconds of this host's monotonic clock. Not MPI_Wtime, which may count from each process's own
 * start, and in steps of 10 ns.
 */
double cli_seconds(void);

/* What is wrong on this rank; "" for nothing. */
typedef struct problem cli_problem;

/* Keeps the formatted text, or that of MPI's error CODE; the first one counts. Returns false. */
bool cli_refuse(cli_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool cli_refuse_code(cli_problem *problem, int code);

/*
 * The next of the long options KNOWN on the command line, which getopt(3) walks: its code, with its
 * value in optarg, or CLI_LAST_OPTION when only operands are left, from argv[optind] on.
 * CLI_REFUSED for an unknown option, a missing value or a second one: PROBLEM then says so.
 */
enum { CLI_LAST_OPTION = -1, CLI_REFUSED = -2 };
int cli_next_option(cli_problem *problem, const char *program, int argc, char **argv,
                    const struct option *known);

/*
 * Ends the program when any rank of COMM has an error, alike on all ranks: collective. PROBLEM is
 * this rank's error text, "" for none. The lowest rank with a problem prints one line
 * "PROGRAM: PROBLEM" to stderr, then all ranks finalize MPI and exit with status 1. Returns when no
 * rank has a problem. Call it wherever one rank alone may fail, so that none waits for ever.
 */
void cli_agree(MPI_Comm comm, const char *program, const char *problem);

/*
 * Begins MPI, for threads of which one alone calls it, and ends the program as cli_agree does where
 * PROBLEM says what is wrong with the command line. Returns a duplicate of MPI_COMM_WORLD whose
 * errors come back, so that they can become one clear line. cli_end frees it and ends MPI; it
 * returns main's EXIT_SUCCESS.
 */
MPI_Comm cli_begin(int *argc, char ***argv, const char *program, const char *problem);
int cli_end(MPI_Comm *comm);

/*
 * Ends the program at once from one rank, where the other ranks can't be told in good order: prints
 * "PROGRAM: text" to stderr and calls MPI_Abort(comm, 1).
 */
_Noreturn void cli_abort(MPI_Comm comm, const char *program, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * JSON lines: one object a line. Begin one, add members in order, end it. Strings are escaped;
 * numbers that JSON can't write (NaN, infinities) become null. FILE may be NULL: nothing happens.
 */
typedef struct cli_json {
    FILE *file;
    bool first;
} cli_json;
void cli_json_begin(cli_json *json, FILE *file);
void cli_json_text(cli_json *json, const char *key, const char *value);
void cli_json_integer(cli_json *json, const char *key, int64_t value);
void cli_json_number(cli_json *json, const char *key, double value);
void cli_json_end(cli_json *json);

#endif

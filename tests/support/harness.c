/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "tests/support/harness.h"

#include "lib/base/error.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <locale.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Raises Check's time limit for a test, 4 s, which is too short for a busy machine. Check reads it
 * for each TCase.
 */
__attribute__((constructor)) static void allow_time(void) {
    setenv("CK_DEFAULT_TIMEOUT", "600", 0);
}

bool harness_wants(const char *test) {
    const char *wanted = getenv("COLL_TEST_CASE");
    return !wanted || strcmp(wanted, test) == 0;
}

int harness_unit(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool harness_proves(const char *how_much) {
    const char *wanted = getenv("PROVE");
    return wanted && strcmp(wanted, how_much) == 0;
}

/* Yields the core while it waits, which MPICH 4.0 never does. */
bool harness_agree(bool good) {
    int mine = good, all = 0, done = 0;
    MPI_Request request;
    PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD, &request);
    while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        sched_yield();
    return all;
}

bool harness_holds(bool good) {
    if (!harness_agree(good) && good)
        sleep(60);
    return good;
}

/* Tests without MPI use Check's own function. */
#undef _ck_assert_failed

void harness_failed(const char *file, int line, const char *expression, const char *message, ...) {
    char text[2048];
    va_list arguments;
    int begun = 0, rank = 0;
    snprintf(text, sizeof text, "%s", expression);
    va_start(arguments, message);
    if (message)
        vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    PMPI_Initialized(&begun);
    if (!begun)
        _ck_assert_failed(file, line, expression, "%s", text);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, text);
    usleep(200000); /* output that is on its way to mpirun may be lost when the job ends */
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

int harness_class(int code) {
    return coll_error_class(code);
}

const char *harness_text(int code) {
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    *text = '\0';
    if (code != MPI_SUCCESS)
        PMPI_Error_string(code, text, &length);
    return text;
}

/* Prints the function and line of ADDRESS, after the number of this RANK. */
static void print_line_of(const void *address, int rank) {
    Dl_info where;
    char command[512], line[512];
    if (!dladdr(address, &where))
        return;
    snprintf(command, sizeof command, "addr2line -sfpe '%s' %#tx", where.dli_fname,
             (const char *)address - (const char *)where.dli_fbase);
    FILE *lines = popen(command, "r");
    while (lines && fgets(line, sizeof line, lines))
        fprintf(stderr, "rank %d: %s", rank, line);
    if (lines)
        pclose(lines);
}

/*
 * Prints the stack of this rank, when the test's time is over (tests/support/launch). Waits for the
 * other ranks to do the same, and ends the job. A signal handler may not call all of these
 * functions, but the rank hangs in any case.
 */
static void print_stack(int signal) {
    (void)signal;
    int rank = 0;
    void *stack[64];
    int depth = backtrace(stack, (int)(sizeof stack / sizeof *stack));
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < depth; i++)
        print_line_of(stack[i], rank);
    sleep(5);
    _exit(EXIT_FAILURE);
}

static int run(bool threads, int argc, char **argv, const char *ranks, Suite *(*suite)(void)) {
    if (argc > 1 && strcmp(argv[1], "--ranks") == 0) {
        puts(ranks);
        return EXIT_SUCCESS;
    }
    int rank, provided;
    if (threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv); /* at the thread level that tests/support/launch sets */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGUSR1, print_stack);

    SRunner *runner = srunner_create(suite());
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, rank == 0 ? CK_NORMAL : CK_SILENT);
    bool good = harness_agree(srunner_ntests_failed(runner) == 0);
    srunner_free(runner);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

void harness_skip(const char *part) {
    printf("skipped: %s\n", part);
}

static int number_of(MPI_Comm comm) {
#ifdef COLL_MPI_ABI
    return PMPI_Comm_toint(comm);
#else
    return PMPI_Comm_c2f(comm);
#endif
}

/*
 * Returns whether the MPI library assigns the lowest free number. MPICH assigns the one that was
 * freed last.
 */
static bool gives_the_lowest_number(MPI_Comm comm) {
    MPI_Comm first, second, third;
    PMPI_Comm_dup(comm, &first);
    PMPI_Comm_dup(comm, &second);
    int lowest = number_of(first);
    PMPI_Comm_free(&first);
    PMPI_Comm_free(&second);
    PMPI_Comm_dup(comm, &third);
    bool gives = number_of(third) == lowest;
    PMPI_Comm_free(&third);
    return gives;
}

int harness_next_communicator(MPI_Comm comm) {
    static enum { UNKNOWN, LOWEST, ANY } given;
    if (given == UNKNOWN) {
        given = gives_the_lowest_number(comm) ? LOWEST : ANY;
        if (given == ANY)
            harness_skip("communicators left behind, which this MPI library's numbers don't tell");
    }
    if (given == ANY)
        return 0;
    MPI_Comm copy;
    PMPI_Comm_dup(comm, &copy);
    int number = number_of(copy);
    PMPI_Comm_free(&copy);
    return number;
}

/* Writes a locale with the numbers of C.utf8, but with a decimal comma. */
static bool write_comma(const char *path) {
    char numbers[4096];
    FILE *from = fopen("/usr/lib/locale/C.utf8/LC_NUMERIC", "rb");
    size_t size = from ? fread(numbers, 1, sizeof numbers, from) : 0;
    if (from)
        fclose(from);
    FILE *to = size ? fopen(path, "wb") : NULL;
    if (!to)
        return false;
    for (size_t i = 0; i < size; i++)
        fputc(numbers[i] == '.' ? ',' : numbers[i], to);
    return fclose(to) == 0;
}

void harness_another_job(void) {
    static int processes = 1;
    char text[16];
    snprintf(text, sizeof text, "%d", ++processes);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", text, 1);
}

bool harness_comma(void) {
    char folder[] = "/tmp/coll-locale-XXXXXX", locale[64], path[128], text[8] = "";
    if (!mkdtemp(folder))
        return false;
    snprintf(locale, sizeof locale, "%s/comma", folder);
    snprintf(path, sizeof path, "%s/LC_NUMERIC", locale);
    setenv("LOCPATH", folder, 1);
    if (mkdir(locale, 0700) == 0 && write_comma(path) && setlocale(LC_NUMERIC, "comma"))
        snprintf(text, sizeof text, "%.1f", 0.5);
    unsetenv("LOCPATH");
    unlink(path);
    rmdir(locale);
    rmdir(folder);
    bool good = strcmp(text, "0,5") == 0;
    if (!good)
        harness_skip("no C.utf8 to make a locale with a decimal comma from");
    return good;
}

void harness_point(void) {
    setlocale(LC_ALL, "C");
}

int harness_main(int argc, char **argv, const char *ranks, Suite *(*suite)(void)) {
    return run(false, argc, argv, ranks, suite);
}

int harness_main_threads(int argc, char **argv, const char *ranks, Suite *(*suite)(void)) {
    return run(true, argc, argv, ranks, suite);
}

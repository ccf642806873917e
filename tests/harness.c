#include "tests/harness.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int harness_unit(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool harness_agree(bool good) {
    int mine = good, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

int harness_class(int code) {
    int error_class;
    PMPI_Error_class(code, &error_class);
    return error_class;
}

const char *harness_text(int code) {
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    *text = '\0';
    if (code != MPI_SUCCESS)
        PMPI_Error_string(code, text, &length);
    return text;
}

static int run(int level, int argc, char **argv, const char *ranks, Suite *(*suite)(void)) {
    if (argc > 1 && strcmp(argv[1], "--ranks") == 0) {
        puts(ranks);
        return EXIT_SUCCESS;
    }
    int rank, provided;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    SRunner *runner = srunner_create(suite());
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, rank == 0 ? CK_NORMAL : CK_SILENT);
    bool good = harness_agree(srunner_ntests_failed(runner) == 0);
    srunner_free(runner);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int harness_main(int argc, char **argv, const char *ranks, Suite *(*suite)(void)) {
    return run(MPI_THREAD_SINGLE, argc, argv, ranks, suite);
}

int harness_main_threads(int argc, char **argv, const char *ranks, Suite *(*suite)(void)) {
    return run(MPI_THREAD_MULTIPLE, argc, argv, ranks, suite);
}

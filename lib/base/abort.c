/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/abort.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef OPEN_MPI
static const bool launcher_is_told = true;
#else
static const bool launcher_is_told = false;
#endif

/* If FILE is a pipe, waits until all that was written to it has been read, at most a second. */
static void wait_until_read(int file) {
    enum { TRIES = 1000 };
    const struct timespec millisecond = {.tv_nsec = 1000000};
    struct stat found;
    int unread;
    if (fstat(file, &found) != 0 || !S_ISFIFO(found.st_mode))
        return;
    for (int i = 0; i < TRIES && ioctl(file, FIONREAD, &unread) == 0 && unread > 0; i++)
        nanosleep(&millisecond, NULL);
}

_Noreturn void coll_abort(void) {
    /*
     * Do not flush all streams: a thread that is reading a stream, such as stdin, holds its lock.
     */
    fflush(stdout);
    fflush(stderr);
    wait_until_read(STDERR_FILENO);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE); /* MPI_Abort of MPICH 4.2 sends a message and returns */
}

/* Returns whether COMM's handler is MPI_ERRORS_ARE_FATAL and MPI_COMM_WORLD can be aborted. */
static bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler;
    int world = 0;
    if (PMPI_Initialized(&world) != MPI_SUCCESS || !world ||
        PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
    bool fatal = handler == MPI_ERRORS_ARE_FATAL;
    PMPI_Errhandler_free(&handler);
    return fatal;
}

void coll_abort_by_handler(MPI_Comm comm, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (launcher_is_told || !is_fatal(comm) ||
        PMPI_Error_string(code, text, &length) != MPI_SUCCESS) {
        PMPI_Comm_call_errhandler(comm, code);
        return;
    }
    fprintf(stderr, "coll: fatal error: %s\n", text);
    coll_abort();
}

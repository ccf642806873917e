/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/library.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool coll_library_is_speaker(void) {
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "MPI_LOCALRANKID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (getenv(ranks[i]))
            return strcmp(getenv(ranks[i]), "0") == 0;
    return true;
}

/*
 * Sets *NAME to the name of the file that contains this code ("libcoll.so.0") and returns the
 * length of its part before the dot.
 */
static int file_name(const char **name) {
    static const char something;
    Dl_info info;
    *name = "libcoll";
    if (dladdr(&something, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        *name = slash ? slash + 1 : info.dli_fname;
    }
    return (int)strcspn(*name, ".");
}

void coll_library_check(const char *built) {
    enum { LONGEST = 1 << 14 }; /* MPICH writes up to 8 KB, whatever Open MPI's header allows */
    static char running[LONGEST];
    int length = 0;
    if (PMPI_Get_library_version(running, &length) != MPI_SUCCESS ||
        strncmp(running, built, strlen(built)) == 0)
        return;
    running[strcspn(running, ",\n")] = '\0';
    const char *name;
    length = file_name(&name);
    if (coll_library_is_speaker())
        fprintf(stderr,
                "%.*s: built for %s, but the program runs with %s: build libcoll with that one's "
                "mpicc\n",
                length, name, built, running);
    else
        sleep(10); /* give the reporting rank time to print before this rank's exit ends the job */
    fflush(stderr);
    _exit(1); /* skip the program's atexit handlers */
}

#if defined PIC && defined COLL_MPI_LIBRARY
__attribute__((constructor)) static void check_when_loaded(void) {
    coll_library_check(COLL_MPI_LIBRARY);
}
#endif

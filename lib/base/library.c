/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/library.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool coll_library_is_speaker(void) {
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "MPI_LOCALRANKID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (getenv(ranks[i]))
            return strcmp(getenv(ranks[i]), "0") == 0;
    return true;
}

enum { LONGEST = 1 << 14 }; /* MPICH writes up to 8 KB, whatever Open MPI's header allows */

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

bool coll_library_differs(const char *built, const char *consequence) {
    static char running[LONGEST];
    int length = 0;
    if (PMPI_Get_library_version(running, &length) != MPI_SUCCESS ||
        strncmp(running, built, strlen(built)) == 0)
        return false;
    if (!coll_library_is_speaker())
        return true;
    running[strcspn(running, ",\n")] = '\0';
    const char *name;
    length = file_name(&name);
    fprintf(stderr,
            "%.*s: %sbuilt for %s, but the program runs with %s: build libcoll with that one's "
            "mpicc\n",
            length, name, consequence, built, running);
    fflush(stderr);
    return true;
}

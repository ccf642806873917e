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

/* bytes for the MPI library's version: MPICH writes up to 8K, whatever Open MPI's header allows */
enum { LONGEST = 1 << 14 };

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

/*
 * Returns the version of the MPI ABI that the running MPI library has, or 0 if it has its own ABI.
 * A library with the MPI ABI may be loaded only because libcoll needs it, while the program uses
 * another MPI library.
 */
static int running_abi(void) {
    int (*get_version)(int *, int *), major = 0, minor;
    void *running = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    Dl_info library, abi;
    *(void **)&get_version = dlsym(RTLD_DEFAULT, "PMPI_Abi_get_version");
    bool known = running && get_version && dladdr(running, &library) &&
                 dladdr(*(void **)&get_version, &abi) && library.dli_fbase == abi.dli_fbase &&
                 get_version(&major, &minor) == MPI_SUCCESS;
    return known && major > 0 ? major : 0;
}

static bool fits(const char *built, const char *running) {
#ifdef COLL_MPI_ABI
    (void)built, (void)running;
    return running_abi() == MPI_ABI_VERSION;
#else
    return strncmp(running, built, strlen(built)) == 0 && running_abi() == 0;
#endif
}

bool coll_library_differs(const char *built, const char *consequence) {
    static char running[LONGEST];
    int length = 0;
    if (PMPI_Get_library_version(running, &length) != MPI_SUCCESS || fits(built, running))
        return false;
    if (!coll_library_is_speaker())
        return true;
    running[strcspn(running, ",\n")] = '\0';
    const char *name;
    length = file_name(&name);
    bool abi = running_abi() != 0;
    fprintf(stderr, "%.*s: %sbuilt for %s, but the program runs with %s%s: %s\n", length, name,
            consequence, built, abi ? "the MPI ABI of " : "", running,
            abi ? "configure libcoll --with-mpi-abi" : "build libcoll with that one's mpicc");
    fflush(stderr);
    return true;
}

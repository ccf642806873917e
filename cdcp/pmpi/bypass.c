/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If a program opens a library with dlopen and looks up a function in it with dlsym, it gets that
 * library's function: preloaded libraries aren't searched. Python's ctypes and Julia call MPI this
 * way.
 */
#include "config.h"

#include "cdcp/pmpi/bypass.h"

#include "lib/base/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic bool ruled_out;
static pid_t loaded_in; /* a forked child inherits this state, and must not print */

void coll_bypass_ruled_out(void) {
    ruled_out = true;
}

/* A search for one of the loaded MPI libraries. */
typedef struct search {
    int left; /* number of MPI libraries to skip */
    char path[PATH_MAX];
} search;

static int find_mpi_library(struct dl_phdr_info *object, size_t bytes, void *data) {
    (void)bytes;
    search *found = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *file = slash ? slash + 1 : object->dlpi_name;
    if (strncmp(file, "libmpi", strlen("libmpi")) != 0 || found->left-- > 0)
        return 0;
    snprintf(found->path, sizeof found->path, "%s", object->dlpi_name);
    return 1;
}

/* Returns whether MPI has been initialised in the library at PATH or in one on which it depends. */
static bool is_initialised(const char *path) {
    int (*initialized)(int *);
    int flag = 0;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    *(void **)&initialized = dlsym(library, "PMPI_Initialized");
    bool known = initialized && initialized(&flag) == 0;
    dlclose(library);
    return known && flag;
}

static const char *own_path(void) {
    Dl_info info;
    return dladdr(&loaded_in, &info) && info.dli_fname ? info.dli_fname : "libcoll_pmpi.so";
}

__attribute__((constructor)) static void note_process(void) {
    loaded_in = getpid();
}

__attribute__((destructor)) static void report_bypass(void) {
    if (ruled_out || getpid() != loaded_in || !coll_library_is_speaker())
        return;
    search found;
    for (int i = 0; found.left = i, dl_iterate_phdr(find_mpi_library, &found); i++) {
        if (!is_initialised(found.path))
            continue;
        fprintf(stderr,
                "libcoll_pmpi: did nothing for this program, which opens %s itself by dlopen: have "
                "it open %s in its place\n",
                found.path, own_path());
        return;
    }
}

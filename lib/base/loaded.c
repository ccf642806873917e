/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends a program that loads the shared libcoll with another MPI library than the one it was built
 * for. A static libcoll is linked together with its MPI library.
 */
#include "config.h"

#include "lib/base/library.h"

#include <unistd.h>

#if defined PIC && defined COLL_MPI_LIBRARY
__attribute__((constructor)) static void check_when_loaded(void) {
    if (!coll_library_differs(COLL_MPI_LIBRARY, ""))
        return;
    if (!coll_library_is_speaker())
        sleep(10); /* give the reporting rank time to print before this rank's exit ends the job */
    _exit(1);      /* skip the program's atexit handlers */
}
#endif

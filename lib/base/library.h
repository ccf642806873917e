/* Which MPI library the program runs with: libcoll's handles are those of the one it was built for.
 */
#ifndef COLL_LIB_BASE_LIBRARY_H
#define COLL_LIB_BASE_LIBRARY_H

#include <stdbool.h>

/*
 * Ends the process, with one line for the whole job, unless the MPI library's name for itself
 * begins with BUILT. Before MPI_Init, too. libcoll.so does so for the library it was built for when
 * it is loaded; a static one is linked with its MPI library by whoever links it.
 */
void coll_library_check(const char *built);

/* Whether this rank is the one that speaks for the job: without MPI, by the launcher's variables.
 */
bool coll_library_is_speaker(void);

#endif

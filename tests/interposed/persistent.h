/* The persistent allreduce by the name that the MPI library has for it. */
#ifndef TESTS_INTERPOSED_PERSISTENT_H
#define TESTS_INTERPOSED_PERSISTENT_H

#include "config.h"

#include <mpi.h>

#ifdef HAVE_MPI_ALLREDUCE_INIT
#define ALLREDUCE_INIT MPI_Allreduce_init
#else
#include <mpi-ext.h>
#define ALLREDUCE_INIT MPIX_Allreduce_init
#endif

/*
 * What MPICH 4.0 and 4.2 lack for persistent collectives: those that aren't started may be among
 * the requests that are waited for (there this waits forever), and MPI_Testall takes one that
 * completes (there this is an error).
 */
#ifdef MPICH
enum { WAITED_FOR_INACTIVE = 0, TESTED_WITH_OTHERS = 0 };
#else
enum { WAITED_FOR_INACTIVE = 1, TESTED_WITH_OTHERS = 1 };
#endif

#endif

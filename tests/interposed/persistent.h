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

#endif

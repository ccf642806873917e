/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines the name of the persistent allreduce in this MPI library. */
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
 * MPICH 4.0 and 4.2 do not support two things for persistent collectives: waiting for requests that
 * include inactive ones waits forever, and MPI_Testall returns an error when one completes.
 */
#ifdef MPICH
enum { WAITED_FOR_INACTIVE = 0, TESTED_WITH_OTHERS = 0 };
#else
enum { WAITED_FOR_INACTIVE = 1, TESTED_WITH_OTHERS = 1 };
#endif

#endif

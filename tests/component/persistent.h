/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines the names of persistent collectives in this MPI library. */
#ifndef TESTS_COMPONENT_PERSISTENT_H
#define TESTS_COMPONENT_PERSISTENT_H

#include "config.h"

#include <mpi.h>

#ifdef HAVE_MPI_ALLREDUCE_INIT
#define INIT(name) MPI_##name##_init
#else
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#endif

#endif

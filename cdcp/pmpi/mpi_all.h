/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that the MPI library declares, including extensions. generate.awk reads it, too. */
#ifndef COLL_CDCP_PMPI_MPI_ALL_H
#define COLL_CDCP_PMPI_MPI_ALL_H

#include <mpi.h>

/* Extensions, which Open MPI has in a separate header that needs mpi.h first. */
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#endif

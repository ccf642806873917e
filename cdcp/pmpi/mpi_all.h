/* All that the MPI library declares, its extensions included; generate.awk reads it too. */
#ifndef COLL_CDCP_PMPI_MPI_ALL_H
#define COLL_CDCP_PMPI_MPI_ALL_H

#include <mpi.h>

/* Extensions that Open MPI keeps apart; it needs the other first. */
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#endif

/* All that the MPI library declares, its extensions included; generate.awk reads it too. */
#ifndef COLL_CDCP_PMPI_MPI_ALL_H
#define COLL_CDCP_PMPI_MPI_ALL_H

#include <mpi.h>

/* It needs the other first. */
#include <mpi-ext.h>

#endif

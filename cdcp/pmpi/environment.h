/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrects the launcher's environment variables, from which programs read their rank and the number
 * of ranks.
 */
#ifndef COLL_CDCP_PMPI_ENVIRONMENT_H
#define COLL_CDCP_PMPI_ENVIRONMENT_H

#include <mpi.h>

/*
 * Changes the launcher's environment variables, which count the ranks of MPI_COMM_WORLD, to the
 * values for APP, the communicator that stands for MPI_COMM_WORLD. Sets no variable that is unset.
 * Collective over APP.
 */
int coll_environment_correct(MPI_Comm app);

#endif

/* The launcher's environment variables, from which programs read their rank and their ranks'
 * number. */
#ifndef COLL_CDCP_PMPI_ENVIRONMENT_H
#define COLL_CDCP_PMPI_ENVIRONMENT_H

#include <mpi.h>

/*
 * Corrects the launcher's environment variables, which count the ranks of MPI_COMM_WORLD, to what
 * APP says, the communicator in its place. Sets no variable that is unset. Collective over APP.
 */
int coll_environment_correct(MPI_Comm app);

#endif

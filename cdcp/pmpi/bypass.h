/* Programs that libcoll_pmpi was preloaded for, and yet doesn't reach. */
#ifndef COLL_CDCP_PMPI_BYPASS_H
#define COLL_CDCP_PMPI_BYPASS_H

/*
 * Notes that the program's MPI_Init has come to libcoll_pmpi. At the exit of a process that
 * initialised MPI and never came here, one rank of the job says so.
 */
void coll_bypass_ruled_out(void);

#endif

#include "config.h"

#include "kmeans/points/agree.h"

#include <limits.h>

bool km_mpi(struct problem *problem, int code) {
    if (code == MPI_SUCCESS)
        return true;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        return problem_set(problem, "MPI error %d", code);
    return problem_set(problem, "%s", text);
}

bool km_agree(struct problem *problem, MPI_Comm comm) {
    int rank, first, mine = INT_MAX;
    if (!km_mpi(problem, MPI_Comm_rank(comm, &rank)))
        return false;
    if (problem->text[0])
        mine = rank;
    if (!km_mpi(problem, MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm)))
        return false;
    if (first == INT_MAX)
        return true;
    km_mpi(problem, MPI_Bcast(problem->text, sizeof problem->text, MPI_CHAR, first, comm));
    return false;
}

#include "config.h"

#include "kmeans/points/agree.h"

#include <limits.h>
#include <string.h>

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

bool km_agree_sum(struct problem *problem, uint64_t *values, int count, MPI_Comm comm) {
    uint64_t all[1 + KM_AGREE_MOST] = {problem->text[0] != '\0'};
    memcpy(all + 1, values, (size_t)count * sizeof *values);
    if (!km_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, all, 1 + count, MPI_UINT64_T, MPI_SUM, comm)))
        return false;
    memcpy(values, all + 1, (size_t)count * sizeof *values);
    return all[0] == 0 || km_agree(problem, comm);
}

bool km_agree_most(struct problem *problem, double *values, int count, MPI_Comm comm) {
    double all[1 + KM_AGREE_MOST] = {problem->text[0] != '\0'};
    memcpy(all + 1, values, (size_t)count * sizeof *values);
    if (!km_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, all, 1 + count, MPI_DOUBLE, MPI_MAX, comm)))
        return false;
    memcpy(values, all + 1, (size_t)count * sizeof *values);
    return all[0] == 0 || km_agree(problem, comm);
}

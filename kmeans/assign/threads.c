/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/assign/threads.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* Counts, for each processor, the ranks of the node that may use it. */
static bool count_users(const cpu_set_t *mine, int users[CPU_SETSIZE], MPI_Comm comm,
                        app_problem *problem) {
    MPI_Comm node;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        users[cpu] = CPU_ISSET(cpu, mine) != 0;
    if (!app_mpi(problem, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node)))
        return false;
    bool good =
        app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, users, CPU_SETSIZE, MPI_INT, MPI_SUM, node));
    MPI_Comm_free(&node);
    return good;
}

bool km_default_threads(MPI_Comm comm, int *threads, app_problem *problem) {
    cpu_set_t mine;
    int users[CPU_SETSIZE];
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine))
        app_refuse(problem, "can't tell the processors of this rank (%s); give --threads",
                   strerror(errno));
    if (!app_agree(problem, comm))
        return false;
    double share = 0;
    if (count_users(&mine, users, comm, problem))
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &mine))
                share += 1.0 / users[cpu];
    *threads = share >= 1 ? (int)(share + 1e-6) : 1;
    return app_agree(problem, comm);
}

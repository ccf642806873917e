/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/pmpi/environment.h"

#include "lib/base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const world_ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
static const char *const world_sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
static const char *const local_ranks[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK",
                                          "MPI_LOCALRANKID", NULL};
static const char *const local_sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};

/* Sets the variables in NAMES that exist already to VALUE. NULL ends NAMES. */
static int set_existing(const char *const names[], int value) {
    char text[20];
    snprintf(text, sizeof text, "%d", value);
    for (int i = 0; names[i]; i++)
        if (getenv(names[i]) && setenv(names[i], text, 1) != 0)
            return coll_error(MPI_ERR_NO_MEM, "no memory to set %s", names[i]);
    return MPI_SUCCESS;
}

static int set_rank_and_size(const char *const ranks[], const char *const sizes[], MPI_Comm comm) {
    int rank, size;
    int code = PMPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(comm, &size);
    if (code == MPI_SUCCESS)
        code = set_existing(ranks, rank);
    return code == MPI_SUCCESS ? set_existing(sizes, size) : code;
}

/*
 * If OMPI_UNIVERSE_SIZE equals the size of MPI_COMM_WORLD, sets it to the number of application
 * ranks. A larger universe is not changed.
 */
static int correct_universe(MPI_Comm app) {
    static const char *const universe[] = {"OMPI_UNIVERSE_SIZE", NULL};
    const char *slots = getenv(universe[0]), *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    int size;
    if (!slots || !ranks || strcmp(slots, ranks) != 0)
        return MPI_SUCCESS;
    int code = PMPI_Comm_size(app, &size);
    return code == MPI_SUCCESS ? set_existing(universe, size) : code;
}

int coll_environment_correct(MPI_Comm app) {
    MPI_Comm node;
    int code = correct_universe(app);
    if (code == MPI_SUCCESS)
        code = set_rank_and_size(world_ranks, world_sizes, app);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_split_type(app, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (code != MPI_SUCCESS)
        return code;
    code = set_rank_and_size(local_ranks, local_sizes, node);
    int freed = PMPI_Comm_free(&node);
    return code == MPI_SUCCESS ? freed : code;
}

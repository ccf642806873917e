/* SPDX-License-Identifier: BSD-3-Clause */
#include "ompi/transport.h"

#include "ompi/structures.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * These tags are at the end of the range that Open MPI reserves for the collectives of hcoll. hcoll
 * uses the range from the other end, and doesn't run together with libcoll.
 */
enum { TAGS = 1 << 15, LAST_TAG = -INT_MAX };
static int first_tag;

static int mpi_error_of(int code) {
    return code == OMPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int send_message(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                        MPI_Comm comm, MPI_Request *request) {
    return mpi_error_of(MCA_PML_CALL(isend(buffer, (size_t)count, type, peer, first_tag - tag,
                                           MCA_PML_BASE_SEND_STANDARD, comm, request)));
}

static int receive_message(void *buffer, int count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm, MPI_Request *request) {
    return mpi_error_of(
        MCA_PML_CALL(irecv(buffer, (size_t)count, type, peer, first_tag - tag, comm, request)));
}

static int world_ranks(MPI_Comm comm, int ranks[]) {
    for (int rank = 0; rank < ompi_comm_size(comm); rank++) {
        opal_process_name_t process = ompi_group_get_proc_name(comm->c_local_group, rank);
        if (process.jobid != OMPI_PROC_MY_NAME->jobid)
            return 0;
        ranks[rank] = (int)process.vpid;
    }
    return 1;
}

const COLL_Transport *libcoll_transport(libcoll_tags which, char text[], size_t size) {
    static const COLL_Transport transport = {
        .isend = send_message, .irecv = receive_message, .world_ranks = world_ranks};
    char version[8192] = "", built[32]; /* other MPI libraries have longer texts than Open MPI */
    int length;
    (void)PMPI_Get_library_version(version, &length);
    snprintf(built, sizeof built, "Open MPI v%d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
             OMPI_RELEASE_VERSION);
    size_t end = strlen(built);
    bool same = strncmp(version, built, end) == 0 && !isdigit((unsigned char)version[end]);
    if (!same || libcoll_differing_structure()) {
        snprintf(text, size, "built for %s, and this is %.*s: build libcoll with this MPI library",
                 built, (int)strcspn(version, ",\n"), version);
        return NULL;
    }
    first_tag = LAST_TAG + (1 + (int)which) * TAGS;
    return &transport;
}

bool libcoll_tags_fit(void) {
    return mca_pml.pml_max_tag >= -LAST_TAG;
}

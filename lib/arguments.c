#include "config.h"

#include "lib/arguments.h"

#include "lib/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

int coll_check_bcast(const void *buffer, MPI_Count count, MPI_Datatype type, int root, int ranks) {
    if (buffer == MPI_IN_PLACE)
        return coll_error(MPI_ERR_BUFFER, "broadcast: MPI_IN_PLACE is no buffer");
    if (count < 0)
        return coll_error(MPI_ERR_COUNT, "broadcast of %lld elements", (long long)count);
    if (type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "broadcast of a null datatype");
    if (root < 0 || root >= ranks)
        return coll_error(MPI_ERR_ROOT, "broadcast from root %d of %d ranks", root, ranks);
    return MPI_SUCCESS;
}

int coll_check_gather(const void *buffer, MPI_Count count, MPI_Datatype type,
                      const coll_blocks_layout *layout, int root, const coll_comm *comm) {
    if (root < 0 || root >= comm->ranks)
        return coll_error(MPI_ERR_ROOT, "gather at root %d of %d ranks", root, comm->ranks);
    bool is_root = comm->rank == root;
    if (buffer == MPI_IN_PLACE && !is_root)
        return coll_error(MPI_ERR_BUFFER, "gather: MPI_IN_PLACE at rank %d, which is not the root",
                          comm->rank);
    if (buffer != MPI_IN_PLACE && count < 0)
        return coll_error(MPI_ERR_COUNT, "gather of %lld elements", (long long)count);
    if (buffer != MPI_IN_PLACE && type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "gather of a null datatype");
    if (!is_root)
        return MPI_SUCCESS;
    if (layout->buffer == MPI_IN_PLACE)
        return coll_error(MPI_ERR_BUFFER, "gather into MPI_IN_PLACE, which is no buffer");
    if (layout->type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "gather into a null datatype");
    for (int rank = 0; rank < comm->ranks; rank++) {
        MPI_Count length = layout->counts ? layout->counts[rank] : layout->count;
        if (length < 0)
            return coll_error(MPI_ERR_COUNT, "gather of %lld elements from rank %d",
                              (long long)length, rank);
    }
    return MPI_SUCCESS;
}

int coll_check_own(size_t bytes, size_t block) {
    return bytes <= block
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_TRUNCATE, "gather: %zu bytes of the root into a block of %zu",
                            bytes, block);
}

int coll_too_many(void) {
    return coll_error(MPI_ERR_COUNT,
                      "more than %d elements go neither over an intercommunicator nor nonblocking "
                      "by the MPI library; for the latter call COLL_Bcast or COLL_Bcast_init once, "
                      "so that libcoll knows the communicator",
                      INT_MAX);
}

/* The ranks whose blocks this one gathers, if it is the root. */
static int senders_of(int root, MPI_Comm comm, int *senders) {
    int inter, rank, code = PMPI_Comm_test_inter(comm, &inter);
    *senders = 0;
    if (code == MPI_SUCCESS && inter)
        return root == MPI_ROOT ? PMPI_Comm_remote_size(comm, senders) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_rank(comm, &rank);
    return code == MPI_SUCCESS && rank == root ? PMPI_Comm_size(comm, senders) : code;
}

int coll_int_counts(const coll_blocks_layout *layout, MPI_Count send_count, int root, MPI_Comm comm,
                    int **counts, int **places) {
    int senders, code = senders_of(root, comm, &senders);
    if (code != MPI_SUCCESS)
        return code;
    *counts = malloc((2 * (size_t)senders + 1) * sizeof **counts);
    if (!*counts)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %d counts", senders);
    *places = *counts + senders;
    bool fits = send_count <= INT_MAX;
    for (int rank = 0; rank < senders; rank++) {
        MPI_Count count = layout->counts[rank];
        MPI_Aint place = layout->places[rank];
        fits = fits && count <= INT_MAX && place <= INT_MAX && place >= INT_MIN;
        (*counts)[rank] = (int)count;
        (*places)[rank] = (int)place;
    }
    if (!fits)
        free(*counts);
    return fits ? MPI_SUCCESS : coll_too_many();
}

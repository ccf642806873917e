/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of cdcp/pmpi/collectives.c that take counts, which MPI 4 has in two forms. That
 * file includes this one once for MPI_X, with COUNT and PLACE (a displacement) as int, and once for
 * MPI_X_c, with MPI_Count and MPI_Aint. FORM appends _c to a name in the second case.
 */

int FORM(MPI_Allreduce)(const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm) {
    coll_dcp_request *served;
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_collective);
    const uint64_t began = coll_report_begin();
    int code = coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served);
    if (code == MPI_SUCCESS && !served && is_registered_now(comm))
        code = coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served);
    if (served || code != MPI_SUCCESS)
        code = wait_for_served(code, served, comm);
    else if (coll_routed[COLL_OPERATION_ALLREDUCE])
        code = COLL_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    else
        code = FORM(PMPI_Allreduce)(sendbuf, recvbuf, count, type, op, comm);
    END_BLOCKING(ALLREDUCE, (count, type, EVEN));
    coll_account_leave(kind_of_whole(COLL_ACCOUNT_served, count, type, op));
    return code;
}

/* Returns the sum of the counts for all ranks of COMM; 0 for an intercommunicator. */
static MPI_Count FORM(sum_of)(const COUNT counts[], MPI_Comm comm) {
    MPI_Count sum = 0;
    int ranks = 0;
    if (!counts || !coll_world_is_intra(comm) || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < ranks; i++)
        sum += counts[i];
    return sum;
}
#define SUM_OF(counts) FORM(sum_of)(counts, comm)

/*
 * Returns the size in bytes of the blocks for all ranks of COMM together; 0 for an
 * intercommunicator.
 */
static MPI_Count FORM(bytes_of)(const COUNT counts[], const MPI_Datatype types[], MPI_Comm comm) {
    MPI_Count sum = 0, size;
    int ranks = 0;
    if (!counts || !coll_world_is_intra(comm) || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < ranks; i++)
        if (counts[i] > 0 && PMPI_Type_size_x(types[i], &size) == MPI_SUCCESS)
            sum += counts[i] * size;
    return sum;
}

/* Returns the count for this rank of COMM; 0 for an intercommunicator. */
static MPI_Count FORM(own_of)(const COUNT counts[], MPI_Comm comm) {
    int rank = 0;
    if (!counts || !coll_world_is_intra(comm) || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return 0;
    return counts[rank];
}
#define SENDS_BLOCK                                                                                \
    sendbuf == MPI_IN_PLACE ? FORM(own_of)(recvcounts, comm) : sendcount,                          \
        sendbuf == MPI_IN_PLACE ? recvtype : sendtype

/* Converts MANY of the program's COUNTS and PLACES (which may be NULL) to *MADE; the caller frees
 * made->counts. */
static int FORM(convert_many)(vectors *made, int many, const COUNT counts[], const PLACE places[],
                              MPI_Comm comm) {
    if (!counts && many > 0)
        return coll_raise(comm, coll_error(MPI_ERR_COUNT, "null pointer for counts"));
    enum { EACH_BYTES = sizeof *made->counts + sizeof *made->places + sizeof *made->types };
    made->counts = malloc((size_t)many * EACH_BYTES + 1);
    if (!made->counts)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for %d counts", many));
    made->many = many;
    made->places = (MPI_Aint *)(made->counts + many);
    made->types = (MPI_Datatype *)(made->places + many);
    for (int i = 0; i < many; i++) {
        made->counts[i] = counts[i];
        made->places[i] = places ? places[i] : 0;
    }
    return MPI_SUCCESS;
}

/*
 * Converts counts and displacements, one of each for every rank of COMM. Does nothing unless these
 * lists are NEEDED on this rank, since otherwise they may be invalid.
 */
static int FORM(convert_vectors)(vectors *made, bool needed, const COUNT counts[],
                                 const PLACE places[], MPI_Comm comm) {
    int ranks;
    if (!needed)
        return MPI_SUCCESS;
    int code = PMPI_Comm_size(comm, &ranks);
    return code == MPI_SUCCESS ? FORM(convert_many)(made, ranks, counts, places, comm) : code;
}

/*
 * Converts counts and displacements, one of each for every neighbour from which this rank receives
 * if RECEIVES, else for every neighbour to which it sends.
 */
static int FORM(convert_edges)(vectors *made, bool receives, const COUNT counts[],
                               const PLACE places[], MPI_Comm comm) {
    int in, out, code = coll_graph_degrees(comm, &in, &out);
    return code == MPI_SUCCESS ? FORM(convert_many)(made, receives ? in : out, counts, places, comm)
                               : coll_raise(comm, code);
}

/* --- The collectives with counts, except the neighbourhood collectives --- */

#define REDUCTION_PARAMETERS                                                                       \
    const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype type, MPI_Op op
#define REDUCTION sendbuf, recvbuf, count, type, op
OTHER_FORMS(Allreduce, Iallreduce, ALLREDUCE, (count, type, EVEN), (REDUCTION_PARAMETERS, ),
            (REDUCTION, ), kind_of_whole(COLL_ACCOUNT_started, count, type, op),
            coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served),
            coll_dcp_prepare(sendbuf, recvbuf, count, type, op, comm, &served), op,
            KEEP(true, type), (REDUCTION, ))

ALL_FORMS(Bcast, Ibcast, BCAST, (count, type, EVEN_ROOTED),
          (void *buffer, COUNT count, MPI_Datatype type, int root, ), (buffer, count, type, root, ),
          kind_of_whole(COLL_ACCOUNT_started, count, type, MPI_OP_NULL),
          coll_dcp_post_bcast(buffer, count, type, root, comm, &served), NOT_SERVED, MPI_OP_NULL,
          KEEP(true, type), (buffer, count, type, root, ))

#define BLOCKS_PARAMETERS                                                                          \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,   \
        MPI_Datatype recvtype
#define BLOCKS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
ALL_FORMS(Alltoall, Ialltoall, ALLTOALL, (SENDS, EVEN), (BLOCKS_PARAMETERS, ), (BLOCKS, ),
          kind_of_blocks(recvcount, recvtype, MPI_OP_NULL, comm),
          coll_dcp_post_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                 &served),
          NOT_SERVED, MPI_OP_NULL, (KEEP(sendbuf != MPI_IN_PLACE, sendtype), KEEP(true, recvtype)),
          (BLOCKS, ))

ALL_FORMS(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER, (count, type, EVEN),
          (REDUCTION_PARAMETERS, ), (REDUCTION, ), kind_of_blocks(count, type, op, comm),
          coll_dcp_post_reduce_scatter(sendbuf, recvbuf, count, type, op, comm, &served),
          NOT_SERVED, op, KEEP(true, type), (REDUCTION, ))

/*
 * Returns the first of COUNTS if all of COMM's ranks have the same count. Returns -1, which DCPs
 * don't take, if counts differ, and if neither dedicated processors nor the account need the count.
 */
static MPI_Count FORM(common_count)(const COUNT counts[], MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm) {
    int ranks;
    if (!coll_account_on && !coll_dcp_takes_reduce_scatter(0, type, op, comm))
        return -1;
    if (!counts || comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return -1;
    for (int i = 1; i < ranks; i++)
        if (counts[i] != counts[0])
            return -1;
    return counts[0];
}

ALL_FORMS(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, (SUM_OF(recvcounts), type, UNEVEN),
          (const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype type,
           MPI_Op op, ),
          (sendbuf, recvbuf, recvcounts, type, op, ),
          kind_of_blocks(FORM(common_count)(recvcounts, type, op, comm), type, op, comm),
          coll_dcp_post_reduce_scatter(sendbuf, recvbuf,
                                       FORM(common_count)(recvcounts, type, op, comm), type, op,
                                       comm, &served),
          NOT_SERVED, op, (KEEP(true, type), CONVERT(from, true, recvcounts, NULL)),
          (sendbuf, recvbuf, from.counts, type, op, ))

ALL_FORMS(Reduce, Ireduce, REDUCE, (count, type, EVEN_ROOTED), (REDUCTION_PARAMETERS, int root, ),
          (REDUCTION, root, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, op,
          KEEP(true, type), (REDUCTION, root, ))

ALL_FORMS(Scan, Iscan, SCAN, (count, type, EVEN), (REDUCTION_PARAMETERS, ), (REDUCTION, ),
          COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, op, KEEP(true, type), (REDUCTION, ))

ALL_FORMS(Exscan, Iexscan, EXSCAN, (count, type, EVEN), (REDUCTION_PARAMETERS, ), (REDUCTION, ),
          COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, op, KEEP(true, type), (REDUCTION, ))

/* A type is kept only if it is significant on this rank. */
ALL_FORMS(Gather, Igather, GATHER, (SENDS, EVEN_ROOTED), (BLOCKS_PARAMETERS, int root, ),
          (BLOCKS, root, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(sendbuf != MPI_IN_PLACE, sendtype), KEEP(is_at(root, comm), recvtype)),
          (BLOCKS, root, ))

ALL_FORMS(Scatter, Iscatter, SCATTER, (RECEIVES, EVEN_ROOTED), (BLOCKS_PARAMETERS, int root, ),
          (BLOCKS, root, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(is_at(root, comm), sendtype), KEEP(recvbuf != MPI_IN_PLACE, recvtype)),
          (BLOCKS, root, ))

ALL_FORMS(Allgather, Iallgather, ALLGATHER, (SENDS, EVEN), (BLOCKS_PARAMETERS, ), (BLOCKS, ),
          COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(sendbuf != MPI_IN_PLACE, sendtype), KEEP(true, recvtype)), (BLOCKS, ))

#define GATHERV_PARAMETERS                                                                         \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,                    \
        const COUNT recvcounts[], const PLACE displs[], MPI_Datatype recvtype
#define GATHERV sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define OUR_GATHERV sendbuf, sendcount, sendtype, recvbuf, from.counts, from.places, recvtype
ALL_FORMS(Gatherv, Igatherv, GATHER, (SENDS_OWN, UNEVEN_ROOTED), (GATHERV_PARAMETERS, int root, ),
          (GATHERV, root, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(sendbuf != MPI_IN_PLACE, sendtype), KEEP(is_at(root, comm), recvtype),
           CONVERT(from, is_at(root, comm), recvcounts, displs)),
          (OUR_GATHERV, root, ))

ALL_FORMS(Allgatherv, Iallgatherv, ALLGATHER, (SENDS_BLOCK, UNEVEN), (GATHERV_PARAMETERS, ),
          (GATHERV, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(sendbuf != MPI_IN_PLACE, sendtype), KEEP(true, recvtype),
           CONVERT(from, true, recvcounts, displs)),
          (OUR_GATHERV, ))

ALL_FORMS(Scatterv, Iscatterv, SCATTER, (RECEIVES_OWN, UNEVEN_ROOTED),
          (const void *sendbuf, const COUNT sendcounts[], const PLACE displs[],
           MPI_Datatype sendtype, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype,
           int root, ),
          (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, ),
          COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(is_at(root, comm), sendtype), KEEP(recvbuf != MPI_IN_PLACE, recvtype),
           CONVERT(to, is_at(root, comm), sendcounts, displs)),
          (sendbuf, to.counts, to.places, sendtype, recvbuf, recvcount, recvtype, root, ))

#define ALLTOALLV_PARAMETERS                                                                       \
    const void *sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype sendtype,   \
        void *recvbuf, const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype
#define ALLTOALLV sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define OUR_ALLTOALLV                                                                              \
    sendbuf, to.counts, to.places, sendtype, recvbuf, from.counts, from.places, recvtype
ALL_FORMS(Alltoallv, Ialltoallv, ALLTOALL,
          (SUM_OF(sendbuf == MPI_IN_PLACE ? recvcounts : sendcounts),
           sendbuf == MPI_IN_PLACE ? recvtype : sendtype, UNEVEN),
          (ALLTOALLV_PARAMETERS, ), (ALLTOALLV, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED,
          MPI_OP_NULL,
          (KEEP(sendbuf != MPI_IN_PLACE, sendtype), KEEP(true, recvtype),
           CONVERT(to, sendbuf != MPI_IN_PLACE, sendcounts, sdispls),
           CONVERT(from, true, recvcounts, rdispls)),
          (OUR_ALLTOALLV, ))

#define ALLTOALLW_PARAMETERS(place)                                                                \
    const void *sendbuf, const COUNT sendcounts[], const place sdispls[],                          \
        const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[],                   \
        const place rdispls[], const MPI_Datatype recvtypes[]
#define ALLTOALLW sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
#define OUR_ALLTOALLW                                                                              \
    sendbuf, to.counts, to.places, to.types, recvbuf, from.counts, from.places, from.types
ALL_FORMS(Alltoallw, Ialltoallw, ALLTOALL,
          (sendbuf == MPI_IN_PLACE ? FORM(bytes_of)(recvcounts, recvtypes, comm)
                                   : FORM(bytes_of)(sendcounts, sendtypes, comm),
           MPI_BYTE, UNEVEN),
          (ALLTOALLW_PARAMETERS(PLACE), ), (ALLTOALLW, ), COLL_ACCOUNT_collective, NOT_SERVED,
          NOT_SERVED, MPI_OP_NULL,
          (CONVERT_TYPED(to, sendbuf != MPI_IN_PLACE, sendcounts, sdispls, sendtypes),
           CONVERT_TYPED(from, true, recvcounts, rdispls, recvtypes)),
          (OUR_ALLTOALLW, ))

/* --- The neighbourhood collectives --- */

ALL_FORMS(Neighbor_allgather, Ineighbor_allgather, NEIGHBOR_ALLGATHER, (sendcount, sendtype, EVEN),
          (BLOCKS_PARAMETERS, ), (BLOCKS, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED,
          MPI_OP_NULL, (KEEP(true, sendtype), KEEP(true, recvtype)), (BLOCKS, ))

ALL_FORMS(Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOR_ALLTOALL, (sendcount, sendtype, EVEN),
          (BLOCKS_PARAMETERS, ), (BLOCKS, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED,
          MPI_OP_NULL, (KEEP(true, sendtype), KEEP(true, recvtype)), (BLOCKS, ))

ALL_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, NEIGHBOR_ALLGATHER,
          (sendcount, sendtype, UNEVEN), (GATHERV_PARAMETERS, ), (GATHERV, ),
          COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED, MPI_OP_NULL,
          (KEEP(true, sendtype), KEEP(true, recvtype),
           CONVERT_EDGES(from, true, recvcounts, displs)),
          (OUR_GATHERV, ))

ALL_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOR_ALLTOALL, (0, MPI_BYTE, UNEVEN),
          (ALLTOALLV_PARAMETERS, ), (ALLTOALLV, ), COLL_ACCOUNT_collective, NOT_SERVED, NOT_SERVED,
          MPI_OP_NULL,
          (KEEP(true, sendtype), KEEP(true, recvtype),
           CONVERT_EDGES(to, false, sendcounts, sdispls),
           CONVERT_EDGES(from, true, recvcounts, rdispls)),
          (OUR_ALLTOALLV, ))

ALL_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_ALLTOALL, (0, MPI_BYTE, UNEVEN),
          (ALLTOALLW_PARAMETERS(MPI_Aint), ), (ALLTOALLW, ), COLL_ACCOUNT_collective, NOT_SERVED,
          NOT_SERVED, MPI_OP_NULL,
          (CONVERT_TYPED_EDGES(to, false, sendcounts, sdispls, sendtypes),
           CONVERT_TYPED_EDGES(from, true, recvcounts, rdispls, recvtypes)),
          (OUR_ALLTOALLW, ))

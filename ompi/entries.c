/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that Open MPI calls: blocking, nonblocking and persistent ones of each operation.
 * They differ only in their arguments.
 */
#include "ompi/component.h"

#include <stdlib.h>

/* Counts and displacements in libcoll's types, and a copy of the datatypes of blocks. */
typedef struct vectors {
    size_t sends, receives; /* the lengths of the lists */
    MPI_Count *send_counts, *receive_counts;
    MPI_Aint *send_places, *receive_places;
    MPI_Datatype *send_types, *receive_types; /* set by add_types */
} vectors;

static void convert_list(int many, const int counts[], const int places[], MPI_Count wide_counts[],
                         MPI_Aint wide_places[]) {
    for (int i = 0; i < many; i++) {
        wide_counts[i] = counts ? counts[i] : 0;
        wide_places[i] = counts && places ? places[i] : 0;
    }
}

/*
 * Converts Open MPI's counts and displacements to *WIDE: lists of SENDS and of RECEIVES elements.
 * Reallocates *MEMORY, which then contains the converted lists. Counts that are NULL are not
 * significant on this rank, and become 0.
 */
static int convert_lists(vectors *wide, void **memory, int sends, const int send_counts[],
                         const int send_places[], int receives, const int receive_counts[],
                         const int receive_places[]) {
    const size_t sent = (size_t)sends, received = (size_t)receives;
    enum { EACH_BYTES = sizeof(MPI_Count) + sizeof(MPI_Aint) + sizeof(MPI_Datatype) };
    void *room = realloc(*memory, (sent + received) * EACH_BYTES + 1);
    if (!room)
        return OMPI_ERR_OUT_OF_RESOURCE;
    wide->sends = sent;
    wide->receives = received;
    wide->send_counts = *memory = room;
    wide->receive_counts = wide->send_counts + sent;
    wide->send_places = (MPI_Aint *)(wide->receive_counts + received);
    wide->receive_places = wide->send_places + sent;
    wide->send_types = (MPI_Datatype *)(wide->receive_places + received);
    wide->receive_types = wide->send_types + sent;
    convert_list(sends, send_counts, send_places, wide->send_counts, wide->send_places);
    convert_list(receives, receive_counts, receive_places, wide->receive_counts,
                 wide->receive_places);
    return MPI_SUCCESS;
}

/* Converts counts and displacements, one of each for every rank of a communicator. */
static int convert_vectors(vectors *wide, void **memory, int ranks, const int send_counts[],
                           const int send_places[], const int receive_counts[],
                           const int receive_places[]) {
    return convert_lists(wide, memory, ranks, send_counts, send_places, ranks, receive_counts,
                         receive_places);
}
#define WIDEN(...) convert_vectors(&wide, memory, ompi_comm_size(comm), __VA_ARGS__)

/* Converts counts and displacements, one of each for every neighbour on COMM. */
static int convert_edges(vectors *wide, void **memory, MPI_Comm comm, const int send_counts[],
                         const int send_places[], const int receive_counts[],
                         const int receive_places[]) {
    int in, out, code = COLL_Degrees(comm, &in, &out);
    return code == MPI_SUCCESS ? convert_lists(wide, memory, out, send_counts, send_places, in,
                                               receive_counts, receive_places)
                               : code;
}
#define WIDEN_EDGES(...) convert_edges(&wide, memory, comm, __VA_ARGS__)

/*
 * Copies the datatypes of blocks to WIDE, unless CODE, the result of the conversion, is an error.
 * A nonblocking call needs the copy: Open MPI's Fortran functions free their arrays when they
 * return. Returns CODE.
 */
static int add_types(int code, vectors *wide, MPI_Datatype const send_types[],
                     MPI_Datatype const receive_types[]) {
    for (size_t i = 0; code == MPI_SUCCESS && i < wide->sends; i++)
        wide->send_types[i] = send_types ? send_types[i] : MPI_DATATYPE_NULL;
    for (size_t i = 0; code == MPI_SUCCESS && i < wide->receives; i++)
        wide->receive_types[i] = receive_types[i];
    return code;
}

/*
 * Converts counts, displacements (here MPI_Aint) and datatypes, one of each for every neighbour on
 * COMM.
 */
static int convert_typed_edges(vectors *wide, void **memory, MPI_Comm comm, const int send_counts[],
                               const MPI_Aint send_places[], MPI_Datatype const send_types[],
                               const int receive_counts[], const MPI_Aint receive_places[],
                               MPI_Datatype const receive_types[]) {
    const int code = convert_edges(wide, memory, comm, send_counts, NULL, receive_counts, NULL);
    for (size_t i = 0; code == MPI_SUCCESS && i < wide->sends; i++)
        wide->send_places[i] = send_places[i];
    for (size_t i = 0; code == MPI_SUCCESS && i < wide->receives; i++)
        wide->receive_places[i] = receive_places[i];
    return add_types(code, wide, send_types, receive_types);
}
#define NOTHING_TO_WIDEN MPI_SUCCESS

/*
 * Returns whether a nonblocking call may be one of Open MPI's own. Open MPI agrees on the numbers
 * of new communicators with nonblocking calls on their parents; for MPI_Comm_idup these come at
 * times that differ by rank, between any calls of the program. They can't be distinguished from the
 * program's calls, but they have only one or two integers. So libcoll runs no nonblocking bcast,
 * allreduce or reduce of so few bytes. All ranks know the number of bytes, whatever their
 * datatypes.
 */
static bool is_agreement(int count, MPI_Datatype type) {
    enum { MOST = 2 * sizeof(int) };
    size_t size = 0;
    ompi_datatype_type_size(type, &size);
    return (size_t)count * size <= MOST;
}
#define NO_AGREEMENT false
#define NO_OP (MPI_OP_NULL, MPI_DATATYPE_NULL)
#define REDUCES (op, type)

/*
 * Returns whether Open MPI has made TYPE for its own use, for files and intercommunicators. MPI's
 * functions can't decode such a type. The result is the same on all ranks.
 */
static bool is_inner(MPI_Datatype type) {
    return type && !ompi_datatype_is_predefined(type) && !type->args;
}
#define NO_TYPE false
/*
 * Whether is_inner holds for the type of the data. SENT is for operations in which all ranks send,
 * SCATTERED for operations in which the root sends.
 */
#define SENT is_inner(send == MPI_IN_PLACE ? receive_type : send_type)
#define SCATTERED is_inner(ompi_comm_rank(comm) == root ? send_type : receive_type)

/*
 * Defines the three entries of a function, which Open MPI's table calls FUNCTION and libcoll NAME;
 * OPERATION is the operation it belongs to. The entries have PARAMETERS and pass ARGUMENTS to the
 * previous function. INNER tells whether is_inner holds for the types, AGREEMENT whether the call
 * may be an agreement of Open MPI. KEPT are the MPI_Op and the datatype of a reduction, to which
 * requests keep references. WIDENING converts arguments; then libcoll is called with LIBCOLL.
 * AMOUNT is for END_RECORDING. Lists are in parentheses.
 */
#define ENTRIES(function, name, operation, parameters, arguments, inner, agreement, kept,          \
                widening, libcoll, amount)                                                         \
    static int run_##function(EACH parameters MPI_Comm comm, mca_coll_base_module_t *base) {       \
        libcoll_module *module = (libcoll_module *)base;                                           \
        void **memory = &module->vectors;                                                          \
        vectors wide;                                                                              \
        int code = MPI_SUCCESS;                                                                    \
        if ((inner) || libcoll_passes(module, LIBCOLL_##operation) ||                              \
            libcoll_asks_and_passes(module, LIBCOLL_##operation, comm, &code)) {                   \
            int before = libcoll_blocked;                                                          \
            const uint64_t began = begin_recording();                                              \
            libcoll_blocked = libcoll_inside;                                                      \
            code = module->below.coll_##function(EACH arguments comm,                              \
                                                 module->below.coll_##function##_module);          \
            libcoll_blocked = before;                                                              \
            if (began)                                                                             \
                END_RECORDING(operation, false, amount);                                           \
            return code;                                                                           \
        }                                                                                          \
        (void)memory, (void)wide;                                                                  \
        if (code == MPI_SUCCESS)                                                                   \
            code = widening;                                                                       \
        if (code != MPI_SUCCESS)                                                                   \
            return code;                                                                           \
        libcoll_enter();                                                                           \
        code = COLL_##name(EACH libcoll comm);                                                     \
        libcoll_leave();                                                                           \
        return code;                                                                               \
    }                                                                                              \
    static int start_##function(EACH parameters MPI_Comm comm, ompi_request_t **request,           \
                                mca_coll_base_module_t *base) {                                    \
        libcoll_module *module = (libcoll_module *)base;                                           \
        int code = MPI_SUCCESS;                                                                    \
        if ((inner) || (agreement) || libcoll_passes(module, LIBCOLL_##operation) ||               \
            libcoll_asks_and_passes(module, LIBCOLL_##operation, comm, &code)) {                   \
            const uint64_t began = begin_recording();                                              \
            code = module->below.coll_i##function(EACH arguments comm, request,                    \
                                                  module->below.coll_i##function##_module);        \
            if (began)                                                                             \
                END_RECORDING(operation, true, amount);                                            \
            if (code == MPI_SUCCESS)                                                               \
                libcoll_end_in_time(comm, "MPI_I" #function, __builtin_return_address(0),          \
                                    request);                                                      \
            return code;                                                                           \
        }                                                                                          \
        if (code != MPI_SUCCESS)                                                                   \
            return code;                                                                           \
        MAKE_REQUEST(false, kept, widening,                                                        \
                     COLL_I##function(EACH libcoll comm, &made->under_way));                       \
    }                                                                                              \
    static int init_##function(EACH parameters MPI_Comm comm, struct ompi_info_t *info,            \
                               ompi_request_t **request, mca_coll_base_module_t *base) {           \
        libcoll_module *module = (libcoll_module *)base;                                           \
        int code = MPI_SUCCESS;                                                                    \
        if ((inner) || libcoll_passes(module, LIBCOLL_##operation) ||                              \
            libcoll_asks_and_passes(module, LIBCOLL_##operation, comm, &code))                     \
            return module->below.coll_##function##_init(                                           \
                EACH arguments comm, info, request, module->below.coll_##function##_init_module);  \
        if (code != MPI_SUCCESS)                                                                   \
            return code;                                                                           \
        MAKE_REQUEST(true, kept, widening,                                                         \
                     COLL_##name##_init(EACH libcoll comm, MPI_INFO_NULL, &made->under_way));      \
    }
#define EACH(...) __VA_ARGS__

/* Begins the recording of a call that is passed on. Returns 0 if the call is not recorded. */
static inline uint64_t begin_recording(void) {
    return libcoll_reports && libcoll_inside == 0 ? COLL_Report_begin() : 0;
}

/*
 * Ends the recording of a call of OPERATION, which is nonblocking if STARTED. AMOUNT is a
 * COLL_Report_amount in parentheses: the count and the type of this rank's data or block, and EVEN,
 * EVEN_ROOTED, UNEVEN or UNEVEN_ROOTED.
 */
#define END_RECORDING(operation, started, amount)                                                  \
    COLL_Report_end(began, code, libcoll_report_numbers[LIBCOLL_##operation], started,             \
                    &(COLL_Report_amount){EACH amount}, comm)
#define EVEN -1, false
#define EVEN_ROOTED root, false
#define UNEVEN -1, true
#define UNEVEN_ROOTED root, true
#define WHOLE count, type
/*
 * Count and type of data of this rank. SENDS: the data that the rank sends; if the send buffer is
 * MPI_IN_PLACE, the receive arguments describe it. RECEIVES: the data that the rank receives; if
 * the receive buffer is MPI_IN_PLACE, the send arguments describe it.
 */
#define SENDS                                                                                      \
    send == MPI_IN_PLACE ? receive_count : send_count,                                             \
        send == MPI_IN_PLACE ? receive_type : send_type
#define RECEIVES                                                                                   \
    receive == MPI_IN_PLACE ? send_count : receive_count,                                          \
        receive == MPI_IN_PLACE ? send_type : receive_type
#define SENDS_OWN send == MPI_IN_PLACE ? 0 : send_count, send == MPI_IN_PLACE ? MPI_BYTE : send_type
#define SENDS_BLOCK                                                                                \
    send == MPI_IN_PLACE ? counts[ompi_comm_rank(comm)] : send_count,                              \
        send == MPI_IN_PLACE ? receive_type : send_type
#define SENDS_ALL                                                                                  \
    send == MPI_IN_PLACE ? sum_of(receive_counts, comm) : sum_of(send_counts, comm),               \
        send == MPI_IN_PLACE ? receive_type : send_type

/* Returns the sum of the counts for all ranks of COMM. */
static MPI_Count sum_of(const int counts[], struct ompi_communicator_t *comm) {
    MPI_Count sum = 0;
    for (int i = 0; i < ompi_comm_size(comm); i++)
        sum += counts[i];
    return sum;
}

/* Returns the size in bytes of the blocks for all ranks of COMM together. */
static MPI_Count bytes_of(const int counts[], MPI_Datatype const types[],
                          struct ompi_communicator_t *comm) {
    MPI_Count sum = 0;
    size_t size;
    for (int i = 0; i < ompi_comm_size(comm); i++) {
        ompi_datatype_type_size(types[i], &size);
        sum += counts[i] * (MPI_Count)size;
    }
    return sum;
}

#define MAKE_REQUEST(persistent, kept, widening, call)                                             \
    do {                                                                                           \
        libcoll_request *made = libcoll_request_make(comm, persistent, EACH kept);                 \
        if (!made)                                                                                 \
            return OMPI_ERR_OUT_OF_RESOURCE;                                                       \
        void **memory = &made->vectors;                                                            \
        vectors wide;                                                                              \
        (void)memory, (void)wide;                                                                  \
        int result = widening;                                                                     \
        libcoll_enter();                                                                           \
        if (result == MPI_SUCCESS)                                                                 \
            result = call;                                                                         \
        libcoll_leave();                                                                           \
        return libcoll_request_hand_out(made, result, request);                                    \
    } while (0)

ENTRIES(bcast, Bcast, bcast, (void *buffer, int count, MPI_Datatype type, int root, ),
        (buffer, count, type, root, ), is_inner(type), is_agreement(count, type), NO_OP,
        NOTHING_TO_WIDEN, (buffer, count, type, root, ), (WHOLE, EVEN_ROOTED))

ENTRIES(barrier, Barrier, barrier, (), (), NO_TYPE, NO_AGREEMENT, NO_OP, NOTHING_TO_WIDEN, (),
        (0, MPI_BYTE, EVEN))

#define REDUCTION_PARAMETERS                                                                       \
    (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, )
#define REDUCTION (send, receive, count, type, op, )
ENTRIES(allreduce, Allreduce, allreduce, REDUCTION_PARAMETERS, REDUCTION, is_inner(type),
        is_agreement(count, type), REDUCES, NOTHING_TO_WIDEN, REDUCTION, (WHOLE, EVEN))
ENTRIES(reduce_scatter_block, Reduce_scatter_block, reduce_scatter, REDUCTION_PARAMETERS, REDUCTION,
        is_inner(type), NO_AGREEMENT, REDUCES, NOTHING_TO_WIDEN, REDUCTION, (WHOLE, EVEN))
ENTRIES(scan, Scan, scan, REDUCTION_PARAMETERS, REDUCTION, is_inner(type), NO_AGREEMENT, REDUCES,
        NOTHING_TO_WIDEN, REDUCTION, (WHOLE, EVEN))
ENTRIES(exscan, Exscan, exscan, REDUCTION_PARAMETERS, REDUCTION, is_inner(type), NO_AGREEMENT,
        REDUCES, NOTHING_TO_WIDEN, REDUCTION, (WHOLE, EVEN))

ENTRIES(reduce, Reduce, reduce,
        (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root, ),
        (send, receive, count, type, op, root, ), is_inner(type), is_agreement(count, type),
        REDUCES, NOTHING_TO_WIDEN, (send, receive, count, type, op, root, ), (WHOLE, EVEN_ROOTED))

ENTRIES(reduce_scatter, Reduce_scatter, reduce_scatter,
        (const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op, ),
        (send, receive, counts, type, op, ), is_inner(type), NO_AGREEMENT, REDUCES,
        WIDEN(NULL, NULL, counts, NULL), (send, receive, wide.receive_counts, type, op, ),
        (sum_of(counts, comm), type, UNEVEN))

#define BLOCKS_PARAMETERS                                                                          \
    const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,    \
        MPI_Datatype receive_type
#define BLOCKS send, send_count, send_type, receive, receive_count, receive_type
ENTRIES(allgather, Allgather, allgather, (BLOCKS_PARAMETERS, ), (BLOCKS, ), SENT, NO_AGREEMENT,
        NO_OP, NOTHING_TO_WIDEN, (BLOCKS, ), (SENDS, EVEN))
ENTRIES(alltoall, Alltoall, alltoall, (BLOCKS_PARAMETERS, ), (BLOCKS, ), SENT, NO_AGREEMENT, NO_OP,
        NOTHING_TO_WIDEN, (BLOCKS, ), (SENDS, EVEN))
ENTRIES(gather, Gather, gather, (BLOCKS_PARAMETERS, int root, ), (BLOCKS, root, ), SENT,
        NO_AGREEMENT, NO_OP, NOTHING_TO_WIDEN, (BLOCKS, root, ), (SENDS, EVEN_ROOTED))
ENTRIES(scatter, Scatter, scatter, (BLOCKS_PARAMETERS, int root, ), (BLOCKS, root, ), SCATTERED,
        NO_AGREEMENT, NO_OP, NOTHING_TO_WIDEN, (BLOCKS, root, ), (RECEIVES, EVEN_ROOTED))

#define GATHERV_PARAMETERS                                                                         \
    const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],   \
        const int places[], MPI_Datatype receive_type
#define GATHERV send, send_count, send_type, receive, counts, places, receive_type
#define WIDE_GATHERV                                                                               \
    send, send_count, send_type, receive, wide.receive_counts, wide.receive_places, receive_type
ENTRIES(gatherv, Gatherv, gather, (GATHERV_PARAMETERS, int root, ), (GATHERV, root, ), SENT,
        NO_AGREEMENT, NO_OP,
        WIDEN(NULL, NULL, root == ompi_comm_rank(comm) ? counts : NULL, places),
        (WIDE_GATHERV, root, ), (SENDS_OWN, UNEVEN_ROOTED))
ENTRIES(allgatherv, Allgatherv, allgather, (GATHERV_PARAMETERS, ), (GATHERV, ), SENT, NO_AGREEMENT,
        NO_OP, WIDEN(NULL, NULL, counts, places), (WIDE_GATHERV, ), (SENDS_BLOCK, UNEVEN))

ENTRIES(scatterv, Scatterv, scatter,
        (const void *send, const int counts[], const int places[], MPI_Datatype send_type,
         void *receive, int receive_count, MPI_Datatype receive_type, int root, ),
        (send, counts, places, send_type, receive, receive_count, receive_type, root, ), SCATTERED,
        NO_AGREEMENT, NO_OP,
        WIDEN(root == ompi_comm_rank(comm) ? counts : NULL, places, NULL, NULL),
        (send, wide.send_counts, wide.send_places, send_type, receive, receive_count, receive_type,
         root, ),
        (receive == MPI_IN_PLACE ? 0 : receive_count,
         receive == MPI_IN_PLACE ? MPI_BYTE : receive_type, UNEVEN_ROOTED))

#define ALLTOALLV_PARAMETERS                                                                       \
    const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,    \
        void *receive, const int receive_counts[], const int receive_places[],                     \
        MPI_Datatype receive_type
#define ALLTOALLV                                                                                  \
    send, send_counts, send_places, send_type, receive, receive_counts, receive_places, receive_type
#define WIDE_ALLTOALLV                                                                             \
    send, wide.send_counts, wide.send_places, send_type, receive, wide.receive_counts,             \
        wide.receive_places, receive_type
ENTRIES(alltoallv, Alltoallv, alltoall, (ALLTOALLV_PARAMETERS, ), (ALLTOALLV, ), SENT, NO_AGREEMENT,
        NO_OP,
        WIDEN(send == MPI_IN_PLACE ? NULL : send_counts, send_places, receive_counts,
              receive_places),
        (WIDE_ALLTOALLV, ), (SENDS_ALL, UNEVEN))

#define ALLTOALLW_PARAMETERS(place)                                                                \
    const void *send, const int send_counts[], const place send_places[],                          \
        MPI_Datatype const send_types[], void *receive, const int receive_counts[],                \
        const place receive_places[], MPI_Datatype const receive_types[]
#define ALLTOALLW                                                                                  \
    send, send_counts, send_places, send_types, receive, receive_counts, receive_places,           \
        receive_types
#define WIDE_ALLTOALLW                                                                             \
    send, wide.send_counts, wide.send_places, wide.send_types, receive, wide.receive_counts,       \
        wide.receive_places, wide.receive_types
/* Open MPI itself doesn't call alltoallw, so its types are never inner ones. */
ENTRIES(alltoallw, Alltoallw, alltoall, (ALLTOALLW_PARAMETERS(int), ), (ALLTOALLW, ), NO_TYPE,
        NO_AGREEMENT, NO_OP,
        add_types(WIDEN(send == MPI_IN_PLACE ? NULL : send_counts, send_places, receive_counts,
                        receive_places),
                  &wide, send == MPI_IN_PLACE ? NULL : send_types, receive_types),
        (WIDE_ALLTOALLW, ),
        (send == MPI_IN_PLACE ? bytes_of(receive_counts, receive_types, comm)
                              : bytes_of(send_counts, send_types, comm),
         MPI_BYTE, UNEVEN))

ENTRIES(neighbor_allgather, Neighbor_allgather, neighbor_allgather, (BLOCKS_PARAMETERS, ),
        (BLOCKS, ), is_inner(send_type), NO_AGREEMENT, NO_OP, NOTHING_TO_WIDEN, (BLOCKS, ),
        (send_count, send_type, EVEN))
ENTRIES(neighbor_alltoall, Neighbor_alltoall, neighbor_alltoall, (BLOCKS_PARAMETERS, ), (BLOCKS, ),
        is_inner(send_type), NO_AGREEMENT, NO_OP, NOTHING_TO_WIDEN, (BLOCKS, ),
        (send_count, send_type, EVEN))
ENTRIES(neighbor_allgatherv, Neighbor_allgatherv, neighbor_allgather, (GATHERV_PARAMETERS, ),
        (GATHERV, ), is_inner(send_type), NO_AGREEMENT, NO_OP,
        WIDEN_EDGES(NULL, NULL, counts, places), (WIDE_GATHERV, ), (send_count, send_type, UNEVEN))
ENTRIES(neighbor_alltoallv, Neighbor_alltoallv, neighbor_alltoall, (ALLTOALLV_PARAMETERS, ),
        (ALLTOALLV, ), is_inner(send_type), NO_AGREEMENT, NO_OP,
        WIDEN_EDGES(send_counts, send_places, receive_counts, receive_places), (WIDE_ALLTOALLV, ),
        (0, MPI_BYTE, UNEVEN))
ENTRIES(neighbor_alltoallw, Neighbor_alltoallw, neighbor_alltoall,
        (ALLTOALLW_PARAMETERS(MPI_Aint), ), (ALLTOALLW, ), NO_TYPE, NO_AGREEMENT, NO_OP,
        convert_typed_edges(&wide, memory, comm, send_counts, send_places, send_types,
                            receive_counts, receive_places, receive_types),
        (WIDE_ALLTOALLW, ), (0, MPI_BYTE, UNEVEN))

void libcoll_set_functions(mca_coll_base_module_t *base) {
#define SET(function)                                                                              \
    base->coll_##function = run_##function;                                                        \
    base->coll_i##function = start_##function;                                                     \
    base->coll_##function##_init = init_##function;
    LIBCOLL_FUNCTIONS(SET)
#undef SET
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that libcoll takes. Dedicated processors, if there are any, take small allreduces
 * and some small nonblocking collectives. libcoll's algorithms take the other calls if COLL_WRAP or
 * the operations' settings ask for it. The MPI library takes the rest.
 */
#include "config.h"

#include "cdcp/dcp.h"
#include "cdcp/dcp_model.h"
#include "cdcp/operands.h"
#include "cdcp/pmpi/account.h"
#include "cdcp/pmpi/collectives.h"
#include "cdcp/pmpi/mpi_all.h"
#include "cdcp/pmpi/nonblocking.h"
#include "cdcp/pmpi/requests.h"
#include "cdcp/pmpi/world.h"
#include "coll.h"
#include "lib/base/error.h"
#include "lib/report/record.h"
#include "lib/topology/graph.h"

#include <stdlib.h>

bool coll_routed[COLL_OPERATIONS];

/*
 * Returns the kind of a call: SUCH if dedicated processors would serve the call in any job without
 * COLL_DCP_LIMIT, because its data fits the smallest limit that the cost model can choose. The call
 * has COUNT elements for each of BLOCKS ranks, and reduces unless OP is MPI_OP_NULL.
 */
static coll_account_kind kind_if_served(coll_account_kind such, MPI_Count count, int blocks,
                                        MPI_Datatype type, MPI_Op op) {
    const MPI_Count limit = COLL_MODEL_LIMIT_LEAST;
    int size;
    if (!coll_account_on || count < 0 || type == MPI_DATATYPE_NULL ||
        (op != MPI_OP_NULL && coll_operands_code(type, op) < 0) ||
        PMPI_Type_size(type, &size) != MPI_SUCCESS || count > limit)
        return COLL_ACCOUNT_collective;
    return count * blocks * size <= limit ? such : COLL_ACCOUNT_collective;
}

static coll_account_kind kind_of_whole(coll_account_kind such, MPI_Count count, MPI_Datatype type,
                                       MPI_Op op) {
    return kind_if_served(such, count, 1, type, op);
}

static coll_account_kind kind_of_blocks(MPI_Count count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
    int ranks = 1;
    if (coll_account_on && (comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS))
        return COLL_ACCOUNT_collective;
    return kind_if_served(COLL_ACCOUNT_started, count, ranks, type, op);
}

/*
 * Registers COMM in its first blocking allreduce, if MPI_Comm_idup has created it: nonblocking
 * calls may not wait for the other ranks, so COMM has got no number. Returns whether COMM was
 * registered now.
 */
static bool is_registered_now(MPI_Comm comm) {
    return !coll_dcp_knows(comm) && coll_raise(comm, coll_dcp_register(comm)) == MPI_SUCCESS;
}

/* Waits for SERVED unless it is NULL. CODE is the result of the post. Raises errors on COMM. */
static int wait_for_served(int code, coll_dcp_request *served, MPI_Comm comm) {
    if (served) {
        coll_account_served();
        coll_report_served();
        code = coll_dcp_wait(&served, &comm);
    }
    return coll_raise(comm, code);
}

/*
 * Notes REQUEST, which the MPI library has started for a collective that counts as KIND. CODE is
 * the result of the start. Returns CODE.
 */
static int note_request(int code, MPI_Request *request, coll_account_kind kind) {
    if (code == MPI_SUCCESS && kind == COLL_ACCOUNT_started)
        coll_account_note(*request);
    return code;
}

/*
 * Ends the recording of a call that began at BEGAN and has returned CODE. AMOUNT is a
 * COLL_Report_amount, in parentheses: the count and the type of this rank's data or block, and
 * EVEN, EVEN_ROOTED, UNEVEN or UNEVEN_ROOTED. AMOUNT may be invalid if the call has failed.
 */
#define EACH(...) __VA_ARGS__
#define END_RECORDING(operation, kind, amount)                                                     \
    do {                                                                                           \
        if (began && code == MPI_SUCCESS)                                                          \
            coll_report_end(began, code, COLL_OPERATION_##operation, kind,                         \
                            &(COLL_Report_amount){EACH amount}, comm);                             \
        else if (began)                                                                            \
            coll_report_end_wait(began, NULL);                                                     \
    } while (0)

#define END_BLOCKING(operation, amount) END_RECORDING(operation, COLL_REPORT_BLOCKING, amount)

#define EVEN -1, false
#define EVEN_ROOTED root, false
#define UNEVEN -1, true
#define UNEVEN_ROOTED root, true

/*
 * Count and type of data of this rank. SENDS: the data that the rank sends; if the send buffer is
 * MPI_IN_PLACE, the receive arguments describe it. RECEIVES: the data that the rank receives; if
 * the receive buffer is MPI_IN_PLACE, the send arguments describe it. SENDS_OWN and RECEIVES_OWN:
 * the same, but nothing if the data is in place.
 */
#define SENDS                                                                                      \
    sendbuf == MPI_IN_PLACE ? recvcount : sendcount, sendbuf == MPI_IN_PLACE ? recvtype : sendtype
#define RECEIVES                                                                                   \
    recvbuf == MPI_IN_PLACE ? sendcount : recvcount, recvbuf == MPI_IN_PLACE ? sendtype : recvtype
#define SENDS_OWN                                                                                  \
    sendbuf == MPI_IN_PLACE ? 0 : sendcount, sendbuf == MPI_IN_PLACE ? MPI_BYTE : sendtype
#define RECEIVES_OWN                                                                               \
    recvbuf == MPI_IN_PLACE ? 0 : recvcount, recvbuf == MPI_IN_PLACE ? MPI_BYTE : recvtype

/*
 * Counts and displacements of MANY blocks in libcoll's types, and copies of the datatypes if each
 * block has a datatype.
 */
typedef struct vectors {
    int many;
    MPI_Count *counts;
    MPI_Aint *places;
    MPI_Datatype *types; /* set by keep_types */
} vectors;

/*
 * Copies TYPES to MADE. Unless RECORD is NULL, replaces each derived type by a duplicate that
 * RECORD owns.
 */
static int keep_types(vectors *made, coll_nonblocking *record, const MPI_Datatype types[]) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < made->many && code == MPI_SUCCESS; i++) {
        made->types[i] = types[i];
        if (record)
            code = coll_nonblocking_keep_type(record, &made->types[i]);
    }
    return code;
}

static void copy_places(vectors *made, const MPI_Aint places[]) {
    for (int i = 0; i < made->many; i++)
        made->places[i] = places[i];
}

/*
 * Returns whether libcoll runs OPERATION on COMM. Calls on intercommunicators go directly to the
 * MPI library, because libcoll would only pass them on.
 */
static bool is_routed(coll_operation operation, MPI_Comm comm) {
    return coll_routed[operation] && coll_world_is_intra(comm);
}

static bool is_at(int root, MPI_Comm comm) {
    int rank = MPI_PROC_NULL;
    return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/*
 * Parts of a PREPARATION, separated by commas. KEEP lets the program free a type, unless the call
 * blocks. CONVERT sets VECTOR, which is TO or FROM, to the converted counts and displacements.
 * ADD_TYPES adds types to it. KEEP and CONVERT do nothing unless NEEDED is true. If CODE is an
 * error, all of them do nothing.
 */
#define KEEP(needed, type)                                                                         \
    (code = code == MPI_SUCCESS && record && (needed)                                              \
                ? coll_raise(comm, coll_nonblocking_keep_type(record, &type))                      \
                : code)
#define CONVERT(vector, needed, counts, places)                                                    \
    (code = code == MPI_SUCCESS ? FORM(convert_vectors)(&vector, needed, counts, places, comm)     \
                                : code)
#define CONVERT_EDGES(vector, receives, counts, places)                                            \
    (code = code == MPI_SUCCESS ? FORM(convert_edges)(&vector, receives, counts, places, comm)     \
                                : code)

#define CONVERT_TYPED(vector, needed, counts, places, types)                                       \
    (CONVERT(vector, needed, counts, places), ADD_TYPES(vector, types))
/* In MPI's neighbourhood collectives with a type for each block, displacements are MPI_Aint. */
#define CONVERT_TYPED_EDGES(vector, receives, counts, places, types)                               \
    (CONVERT_EDGES(vector, receives, counts, NULL), copy_places(&vector, places),                  \
     ADD_TYPES(vector, types))
#define ADD_TYPES(vector, types)                                                                   \
    (code = code == MPI_SUCCESS ? coll_raise(comm, keep_types(&vector, record, types)) : code)

/*
 * Evaluates PREPARATION and then CREATE, the call of libcoll that starts or prepares the operation.
 * Sets *REQUEST and CODE. OP is the reduction's MPI_Op, or MPI_OP_NULL.
 */
#define CREATE_REQUEST(op, preparation, create)                                                    \
    do {                                                                                           \
        vectors to = {.many = 0}, from = {.many = 0};                                              \
        coll_nonblocking *record;                                                                  \
        code = coll_raise(comm, coll_nonblocking_create(op, &record));                             \
        if (!record)                                                                               \
            break;                                                                                 \
        preparation;                                                                               \
        record->counts[0] = to.counts;                                                             \
        record->counts[1] = from.counts;                                                           \
        if (code == MPI_SUCCESS)                                                                   \
            code = create;                                                                         \
        if (code == MPI_SUCCESS)                                                                   \
            *request = coll_requests_handle(record);                                               \
        else                                                                                       \
            coll_nonblocking_free(record);                                                         \
    } while (0)

/*
 * Defines MPI_NAME, MPI_INAME and MPI_NAME_init. The arguments are those of OTHER_FORMS (below).
 * libcoll runs MPI_NAME if OPERATION is routed, else the MPI library does.
 */
#define ALL_FORMS(name, iname, operation, amount, parameters, arguments, kind, post, prepare, op,  \
                  preparation, ours)                                                               \
    int FORM(MPI_##name)(EACH parameters MPI_Comm comm) {                                          \
        vectors to = {.many = 0}, from = {.many = 0};                                              \
        coll_nonblocking *const record = NULL;                                                     \
        int code = MPI_SUCCESS;                                                                    \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_collective);                                               \
        const uint64_t began = coll_report_begin();                                                \
        const bool routed = is_routed(COLL_OPERATION_##operation, comm);                           \
        if (routed)                                                                                \
            preparation;                                                                           \
        if (code == MPI_SUCCESS)                                                                   \
            code = routed ? COLL_##name(EACH ours comm) : FORM(PMPI_##name)(EACH arguments comm);  \
        END_BLOCKING(operation, amount);                                                           \
        free(to.counts);                                                                           \
        free(from.counts);                                                                         \
        coll_account_leave(COLL_ACCOUNT_collective);                                               \
        return code;                                                                               \
    }                                                                                              \
    OTHER_FORMS(name, iname, operation, amount, parameters, arguments, kind, post, prepare, op,    \
                preparation, ours)

/*
 * Defines MPI_INAME and MPI_NAME_init. PARAMETERS are the parameters before the communicator.
 * ARGUMENTS are the arguments for the MPI library; OURS are the arguments for libcoll, after
 * PREPARATION. These lists are in parentheses, and end with a comma unless they are empty. A
 * nonblocking call counts as KIND, and in the report as OPERATION with AMOUNT. POST and PREPARE let
 * dedicated processors take a call and set SERVED.
 */
#define OTHER_FORMS(name, iname, operation, amount, parameters, arguments, kind, post, prepare,    \
                    op, preparation, ours)                                                         \
    int FORM(MPI_##iname)(EACH parameters MPI_Comm comm, MPI_Request * request) {                  \
        coll_dcp_request *served = NULL;                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        const coll_account_kind counts_as = kind;                                                  \
        const uint64_t began = coll_report_begin();                                                \
        coll_account_enter(counts_as);                                                             \
        int code = request ? post : MPI_SUCCESS;                                                   \
        if (served) {                                                                              \
            coll_account_served();                                                                 \
            coll_report_served();                                                                  \
            *request = coll_requests_handle(served);                                               \
        } else if (code != MPI_SUCCESS) {                                                          \
            coll_raise(comm, code);                                                                \
        } else if (request && coll_nonblocking_takes(COLL_OPERATION_##operation, comm)) {          \
            CREATE_REQUEST(op, preparation, COLL_##iname(EACH ours comm, &record->request));       \
        } else {                                                                                   \
            code = note_request(FORM(PMPI_##iname)(EACH arguments comm, request), request,         \
                                counts_as);                                                        \
        }                                                                                          \
        END_RECORDING(operation, COLL_REPORT_NONBLOCKING, amount);                                 \
        coll_account_leave(counts_as);                                                             \
        return code;                                                                               \
    }                                                                                              \
    PERSISTENT_FORM(name, operation, parameters, arguments, prepare, op, preparation, ours)
#define NOT_SERVED MPI_SUCCESS

#define DEFINE_PERSISTENT_FORM(name, operation, parameters, arguments, prepare, op, preparation,   \
                               ours)                                                               \
    int FORM(MPI(name))(EACH parameters MPI_Comm comm, MPI_Info info, MPI_Request * request) {     \
        coll_dcp_request *served = NULL;                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        int code = request ? prepare : MPI_SUCCESS;                                                \
        if (served)                                                                                \
            *request = coll_requests_handle(served);                                               \
        else if (code != MPI_SUCCESS)                                                              \
            coll_raise(comm, code);                                                                \
        else if (request && coll_nonblocking_prepares(COLL_OPERATION_##operation, comm))           \
            CREATE_REQUEST(op, preparation,                                                        \
                           COLL_##name##_init(EACH ours comm, MPI_INFO_NULL, &record->request));   \
        else                                                                                       \
            code = FORM(PMPI(name))(EACH arguments comm, info, request);                           \
        return code;                                                                               \
    }
/* The names of persistent calls: MPI 4's, or Open MPI's earlier ones. */
#if defined HAVE_MPI_ALLREDUCE_INIT
#define PERSISTENT_FORM(...) DEFINE_PERSISTENT_FORM(__VA_ARGS__)
#define MPI(name) MPI_##name##_init
#define PMPI(name) PMPI_##name##_init
#elif defined HAVE_MPIX_ALLREDUCE_INIT
#define PERSISTENT_FORM(...) DEFINE_PERSISTENT_FORM(__VA_ARGS__)
#define MPI(name) MPIX_##name##_init
#define PMPI(name) PMPIX_##name##_init
#else
#define PERSISTENT_FORM(...)
#endif

/* --- The entry points --- */

#define COUNT int
#define PLACE int
#define FORM(name) name
#include "cdcp/pmpi/collective_entries.h"

ALL_FORMS(Barrier, Ibarrier, BARRIER, (0, MPI_BYTE, EVEN), (), (), COLL_ACCOUNT_collective,
          NOT_SERVED, NOT_SERVED, MPI_OP_NULL, (void)record, ())

/* MPI 4's forms with large counts. */
#ifdef HAVE_MPI_ALLREDUCE_C
#undef COUNT
#undef PLACE
#undef FORM
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define FORM(name) WITH_C(name)
#define WITH_C(name) name##_c
#include "cdcp/pmpi/collective_entries.h"
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls on communicators that need more than a replacement of MPI_COMM_WORLD. The communicator
 * that stands for MPI_COMM_WORLD comes from MPI_Comm_split, so it has no name and none of the
 * attributes that the MPI library gives MPI_COMM_WORLD.
 */
#include "config.h"

#include "cdcp/pmpi/world.h"

#include "cdcp/client_comm.h"
#include "cdcp/pmpi/collectives.h"
#include "lib/base/comm.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The attribute that marks the communicator that stands for MPI_COMM_WORLD, and this communicator's
 * duplicates.
 */
static int mark = MPI_KEYVAL_INVALID;

int coll_world_dress(MPI_Comm app) {
    int code = PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &mark, NULL);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_attr(app, mark, NULL);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_name(app, "MPI_COMM_WORLD");
    return code;
}

static bool is_predefined(int keyval) {
    return keyval == MPI_TAG_UB || keyval == MPI_HOST || keyval == MPI_IO ||
           keyval == MPI_WTIME_IS_GLOBAL || keyval == MPI_APPNUM || keyval == MPI_UNIVERSE_SIZE;
}

/* Only MPI_COMM_WORLD has MPI_LASTUSEDCODE; duplicates have the other attributes too. */
MPI_Comm coll_world_holder(MPI_Comm comm, int keyval) {
    if (coll_dcp_substituted.app == MPI_COMM_NULL)
        return comm;
    comm = coll_dcp_comm(comm);
    if (keyval == MPI_LASTUSEDCODE)
        return coll_world_shown(comm);
    if (!is_predefined(keyval) || comm == MPI_COMM_NULL)
        return comm;
    void *value;
    int marked = 0;
    PMPI_Comm_get_attr(comm, mark, &value, &marked);
    return marked ? coll_dcp_substituted.world : comm;
}

/*
 * A nonblocking call may not wait for other ranks, so communicators are set up for libcoll when
 * they are created. Later calls don't report an error of the set-up: a nonblocking one would go to
 * the MPI library on this rank alone.
 */
static int set_up(MPI_Comm made) {
    int ranks = 1;
    if (!coll_routes_any(coll_routed) || !coll_world_is_intra(made) ||
        PMPI_Comm_size(made, &ranks) != MPI_SUCCESS || ranks == 1)
        return MPI_SUCCESS;
    coll_comm *own;
    return coll_comm_get(made, &own);
}

int coll_world_made(int code, MPI_Comm made) {
    if (code == MPI_SUCCESS)
        code = coll_raise(made, coll_dcp_register(made));
    if (code == MPI_SUCCESS)
        code = coll_raise(made, set_up(made));
    return code;
}

int MPI_Comm_free(MPI_Comm *comm) {
    return coll_client_comm_free_by(PMPI_Comm_free, comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm) {
    return coll_client_comm_free_by(PMPI_Comm_disconnect, comm);
}

int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag) {
    return PMPI_Comm_get_attr(coll_world_holder(comm, keyval), keyval, value, flag);
}

#if HAVE_DECL_MPI_ATTR_GET
int MPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag) {
    return PMPI_Attr_get(coll_world_holder(comm, keyval), keyval, value, flag);
}
#endif

/*
 * Errors without a communicator are raised on the real MPI_COMM_WORLD, so MPI_COMM_WORLD must get
 * the same handler.
 */
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    comm = coll_dcp_comm(comm);
    int code = PMPI_Comm_set_errhandler(comm, handler);
    MPI_Comm shown = coll_world_shown(comm);
    if (code == MPI_SUCCESS && shown != comm)
        code = PMPI_Comm_set_errhandler(shown, handler);
    return code;
}

/* For MPI_COMM_WORLD, aborts the real one, to end the dedicated processors too. */
int MPI_Abort(MPI_Comm comm, int status) {
    return PMPI_Abort(coll_world_shown(comm), status);
}

/*
 * The program must get the constant that is Fortran's handle of MPI_COMM_WORLD, not the handle of
 * the substitute. In MPICH 4.0 the handles of C and Fortran are the same.
 */
#if HAVE_DECL_MPI_COMM_C2F && !defined MPI_Comm_c2f
MPI_Fint MPI_Comm_c2f(MPI_Comm comm) {
    return PMPI_Comm_c2f(coll_world_shown(comm));
}
#endif

/* The integer of the MPI ABI, which its Fortran bindings use. */
#if HAVE_DECL_MPI_COMM_TOINT
int MPI_Comm_toint(MPI_Comm comm) {
    return PMPI_Comm_toint(coll_world_shown(comm));
}
#endif

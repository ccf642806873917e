/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran with Open MPI. A call in mpif.h, use mpi or use mpi_f08 converts handles to C with
 * PMPI_Comm_f2c and then calls PMPI_X, which doors.c.in redirects to our MPI_X. This file has
 * PMPI_Comm_f2c, and the few functions of Open MPI's Fortran bindings that don't call PMPI_X,
 * because they look up attributes in the communicator itself or store Fortran's callbacks.
 *
 * mpif.h and use mpi call mpi_x_; mpi_f08 calls pmpi_x_ or ompi_x_f, whichever Open MPI declares.
 */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"
#include "cdcp/pmpi/world.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Sets BELOW to the MPI library's own function NAME. */
#define FIND_BELOW(below, name) (*(void **)&(below) = dlsym(RTLD_NEXT, name))

/* Declares another name of a function in this file. */
#define ALSO_CALLED(function) __attribute__((alias(#function)))

/* While this is set, Fortran's MPI_COMM_WORLD is not replaced. */
static _Thread_local bool world_is_literal;

MPI_Comm PMPI_Comm_f2c(MPI_Fint comm) {
    static MPI_Comm (*below)(MPI_Fint);
    if (!below)
        FIND_BELOW(below, "PMPI_Comm_f2c");
    return world_is_literal ? below(comm) : coll_dcp_comm(below(comm));
}

typedef void get_attribute(MPI_Fint *comm, MPI_Fint *keyval, void *value, MPI_Fint *flag,
                           MPI_Fint *code);
get_attribute mpi_comm_get_attr_, mpi_attr_get_;
get_attribute pmpi_comm_get_attr_ ALSO_CALLED(mpi_comm_get_attr_);

/* Calls the library's own function NAME on the communicator that has the attribute. */
static void get_from_holder(const char *name, MPI_Fint *comm, MPI_Fint *keyval, void *value,
                            MPI_Fint *flag, MPI_Fint *code) {
    get_attribute *below;
    FIND_BELOW(below, name);
    MPI_Comm holder = coll_world_holder(PMPI_Comm_f2c(*comm), *keyval);
    MPI_Fint world = PMPI_Comm_c2f(MPI_COMM_WORLD);
    world_is_literal = holder == MPI_COMM_WORLD;
    below(world_is_literal ? &world : comm, keyval, value, flag, code);
    world_is_literal = false;
}

void mpi_comm_get_attr_(MPI_Fint *comm, MPI_Fint *keyval, void *value, MPI_Fint *flag,
                        MPI_Fint *code) {
    get_from_holder("mpi_comm_get_attr_", comm, keyval, value, flag, code);
}

void mpi_attr_get_(MPI_Fint *comm, MPI_Fint *keyval, void *value, MPI_Fint *flag, MPI_Fint *code) {
    get_from_holder("mpi_attr_get_", comm, keyval, value, flag, code);
}

/* Returns the Fortran handle that the program sees for COMM. */
static MPI_Fint shown_handle(MPI_Fint comm) {
    MPI_Fint app = PMPI_Comm_c2f(coll_dcp_substituted.app);
    return comm == app ? PMPI_Comm_c2f(MPI_COMM_WORLD) : comm;
}

typedef void error_function(MPI_Fint *comm, MPI_Fint *code, ...);
typedef void create_handler(error_function *function, MPI_Fint *handler, MPI_Fint *code);
create_handler ompi_comm_create_errhandler_f;
create_handler mpi_comm_create_errhandler_ ALSO_CALLED(ompi_comm_create_errhandler_f);

static void on_error(MPI_Fint *comm, MPI_Fint *code, ...) {
    MPI_Fint seen = shown_handle(*comm);
    error_function *function = (error_function *)coll_callbacks_handler(PMPI_Comm_f2c(*comm));
    if (function)
        function(&seen, code);
}

void ompi_comm_create_errhandler_f(error_function *function, MPI_Fint *handler, MPI_Fint *code) {
    create_handler *below;
    FIND_BELOW(below, "ompi_comm_create_errhandler_f");
    bool substituted = coll_dcp_substituted.app != MPI_COMM_NULL;
    MPI_Fint failed;
    code = code ? code : &failed;
    below(substituted ? on_error : function, handler, code);
    if (*code == MPI_SUCCESS && substituted)
        *code =
            coll_callbacks_keep_handler(PMPI_Errhandler_f2c(*handler), (coll_function *)function);
}

/*
 * Values and extra states of attributes are MPI_Aints, but MPI_Fints in MPI-1's calls. Pointers to
 * values are passed on unchanged. The extra state that the library gets is the number of a record;
 * the program's callbacks get the program's extra state.
 */
typedef void copy_function(MPI_Fint *comm, MPI_Fint *keyval, void *extra, void *from, void *to,
                           MPI_Fint *flag, MPI_Fint *code);
typedef void delete_function(MPI_Fint *comm, MPI_Fint *keyval, void *value, void *extra,
                             MPI_Fint *code);
typedef void create_keyval(copy_function *copy, delete_function *delete, MPI_Fint *keyval,
                           void *extra, MPI_Fint *code);
create_keyval ompi_comm_create_keyval_f, mpi_keyval_create_;
create_keyval mpi_comm_create_keyval_ ALSO_CALLED(ompi_comm_create_keyval_f);

static void on_copy(MPI_Fint *comm, MPI_Fint *keyval, void *extra, void *from, void *to,
                    MPI_Fint *flag, MPI_Fint *code) {
    coll_callbacks_attribute *attribute = coll_callbacks_attribute_at(*(MPI_Fint *)extra);
    MPI_Fint seen = shown_handle(*comm);
    ((copy_function *)attribute->copy)(&seen, keyval, &attribute->fortran_extra, from, to, flag,
                                       code);
}

static void on_delete(MPI_Fint *comm, MPI_Fint *keyval, void *value, void *extra, MPI_Fint *code) {
    coll_callbacks_attribute *attribute = coll_callbacks_attribute_at(*(MPI_Fint *)extra);
    MPI_Fint seen = shown_handle(*comm);
    ((delete_function *)attribute->delete)(&seen, keyval, value, &attribute->fortran_extra, code);
}

/*
 * Creates a keyval with the MPI library's function NAME, whose EXTRA state is a Fortran integer of
 * BYTES bytes.
 */
static void create_keyval_below(const char *name, size_t bytes, copy_function *copy,
                                delete_function *delete, MPI_Fint *keyval, void *extra,
                                MPI_Fint *code) {
    create_keyval *below;
    FIND_BELOW(below, name);
    if (coll_dcp_substituted.app == MPI_COMM_NULL) {
        below(copy, delete, keyval, extra, code);
        return;
    }
    coll_callbacks_attribute given = {.copy = (coll_function *)copy,
                                      .delete = (coll_function *)delete};
    memcpy(&given.fortran_extra, extra, bytes);
    coll_callbacks_attribute *attribute = coll_callbacks_keep_attribute(given);
    coll_callbacks_integer number = {0};
    if (attribute)
        number.narrow = attribute->number;
    if (attribute)
        below(on_copy, on_delete, keyval, &number, code);
    else if (code)
        *code = MPI_ERR_NO_MEM;
}

void ompi_comm_create_keyval_f(copy_function *copy, delete_function *delete, MPI_Fint *keyval,
                               void *extra, MPI_Fint *code) {
    create_keyval_below("ompi_comm_create_keyval_f", sizeof(MPI_Aint), copy, delete, keyval, extra,
                        code);
}

void mpi_keyval_create_(copy_function *copy, delete_function *delete, MPI_Fint *keyval, void *extra,
                        MPI_Fint *code) {
    create_keyval_below("mpi_keyval_create_", sizeof(MPI_Fint), copy, delete, keyval, extra, code);
}

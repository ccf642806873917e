/*
 * Fortran. In all of mpif.h, use mpi and use mpi_f08 a call becomes C's handles by PMPI_Comm_f2c
 * and then PMPI_X, which doors.c.in leads to our MPI_X. Here are PMPI_Comm_f2c and the few calls
 * that Open MPI's Fortran makes past that road: attributes are looked up in the communicator
 * itself, and callbacks are kept as Fortran's.
 *
 * mpi_x_ is what mpif.h and use mpi call; mpi_f08 calls pmpi_x_ or ompi_x_f, whichever Open MPI
 * declares for it.
 */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"
#include "cdcp/pmpi/world.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The MPI library's own function NAME. */
#define FIND_BELOW(below, name) (*(void **)&(below) = dlsym(RTLD_NEXT, name))

/* Another name of a function here. */
#define ALSO_CALLED(function) __attribute__((alias(#function)))

/* While it is set, Fortran's MPI_COMM_WORLD is MPI_COMM_WORLD. */
static _Thread_local bool literally;

MPI_Comm PMPI_Comm_f2c(MPI_Fint comm) {
    static MPI_Comm (*below)(MPI_Fint);
    if (!below)
        FIND_BELOW(below, "PMPI_Comm_f2c");
    return literally ? below(comm) : coll_dcp_comm(below(comm));
}

typedef void get_attribute(MPI_Fint *comm, MPI_Fint *keyval, void *value, MPI_Fint *flag,
                           MPI_Fint *code);
get_attribute mpi_comm_get_attr_, mpi_attr_get_;
get_attribute pmpi_comm_get_attr_ ALSO_CALLED(mpi_comm_get_attr_);

/* The library's own call NAME, on the communicator that has the attribute. */
static void get_from_holder(const char *name, MPI_Fint *comm, MPI_Fint *keyval, void *value,
                            MPI_Fint *flag, MPI_Fint *code) {
    get_attribute *below;
    FIND_BELOW(below, name);
    MPI_Comm holder = coll_world_holder(PMPI_Comm_f2c(*comm), *keyval);
    MPI_Fint world = PMPI_Comm_c2f(MPI_COMM_WORLD);
    literally = holder == MPI_COMM_WORLD;
    below(literally ? &world : comm, keyval, value, flag, code);
    literally = false;
}

void mpi_comm_get_attr_(MPI_Fint *comm, MPI_Fint *keyval, void *value, MPI_Fint *flag,
                        MPI_Fint *code) {
    get_from_holder("mpi_comm_get_attr_", comm, keyval, value, flag, code);
}

void mpi_attr_get_(MPI_Fint *comm, MPI_Fint *keyval, void *value, MPI_Fint *flag, MPI_Fint *code) {
    get_from_holder("mpi_attr_get_", comm, keyval, value, flag, code);
}

/* What the program knows Fortran's handle COMM by. */
static MPI_Fint shown(MPI_Fint comm) {
    MPI_Fint app = PMPI_Comm_c2f(coll_dcp_substituted.app);
    return comm == app ? PMPI_Comm_c2f(MPI_COMM_WORLD) : comm;
}

typedef void error_function(MPI_Fint *comm, MPI_Fint *code, ...);
typedef void create_handler(error_function *function, MPI_Fint *handler, MPI_Fint *code);
create_handler ompi_comm_create_errhandler_f;
create_handler mpi_comm_create_errhandler_ ALSO_CALLED(ompi_comm_create_errhandler_f);

static void on_error(MPI_Fint *comm, MPI_Fint *code, ...) {
    MPI_Fint seen = shown(*comm);
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
 * Attributes' values and extra states are MPI_Aints, those of MPI-1's calls MPI_Fints: pointers to
 * either go through here as they are. The library is given the number of a record as extra state.
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
    MPI_Fint seen = shown(*comm);
    ((copy_function *)attribute->copy)(&seen, keyval, &attribute->fortran_extra, from, to, flag,
                                       code);
}

static void on_delete(MPI_Fint *comm, MPI_Fint *keyval, void *value, void *extra, MPI_Fint *code) {
    coll_callbacks_attribute *attribute = coll_callbacks_attribute_at(*(MPI_Fint *)extra);
    MPI_Fint seen = shown(*comm);
    ((delete_function *)attribute->delete)(&seen, keyval, value, &attribute->fortran_extra, code);
}

/* By the library's own call NAME, where integers for addresses have so many BYTES. */
static void create(const char *name, size_t bytes, copy_function *copy, delete_function *delete,
                   MPI_Fint *keyval, void *extra, MPI_Fint *code) {
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
    create("ompi_comm_create_keyval_f", sizeof(MPI_Aint), copy, delete, keyval, extra, code);
}

void mpi_keyval_create_(copy_function *copy, delete_function *delete, MPI_Fint *keyval, void *extra,
                        MPI_Fint *code) {
    create("mpi_keyval_create_", sizeof(MPI_Fint), copy, delete, keyval, extra, code);
}

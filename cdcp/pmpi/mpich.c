/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran and C++ with MPICH. Their functions call C's functions with the same handles, so the
 * calls reach the wrapper like the calls of a C program. Only attributes and callbacks differ:
 * after the program has created a key or handler, the binding gives the library functions of its
 * own, which call the program's functions in the program's language. The library gets functions of
 * ours instead, which pass on the communicator that the program sees.
 */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"
#include "cdcp/pmpi/world.h"

#include <dlfcn.h>

/* Sets BELOW to the MPI library's own function NAME. */
#define FIND_BELOW(below, name) (*(void **)&(below) = dlsym(RTLD_NEXT, name))

/* KIND is the kind of the attribute's value: a pointer, or an integer of some width. */
int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int kind);
int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int kind);

int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int kind) {
    int (*below)(MPI_Comm, int, void *, int *, int);
    FIND_BELOW(below, "MPII_Comm_get_attr");
    return below(coll_world_holder(comm, keyval), keyval, value, flag, kind);
}

int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int kind) {
    int (*below)(MPI_Comm, int, void *, int);
    FIND_BELOW(below, "MPII_Comm_set_attr");
    return below(coll_dcp_comm(comm), keyval, value, kind);
}

typedef int copy_by(coll_function *copy, MPI_Comm comm, int keyval, void *extra, int kind,
                    void *from, void **to, int *flag);
typedef int delete_by(coll_function *delete, MPI_Comm comm, int keyval, int kind, void *value,
                      void *extra);

static int copy_shown(coll_function *ours, MPI_Comm comm, int keyval, void *extra, int kind,
                      void *from, void **to, int *flag) {
    (void)ours;
    const coll_callbacks_attribute *attribute = extra;
    return ((copy_by *)attribute->copy_by)(attribute->copy, coll_world_shown(comm), keyval,
                                           attribute->c_extra, kind, from, to, flag);
}

static int delete_shown(coll_function *ours, MPI_Comm comm, int keyval, int kind, void *value,
                        void *extra) {
    (void)ours;
    const coll_callbacks_attribute *attribute = extra;
    return ((delete_by *)attribute->delete_by)(attribute->delete, coll_world_shown(comm), keyval,
                                               kind, value, attribute->c_extra);
}

/* MPICH also calls this for keys of datatypes and windows, which have no record. */
void MPII_Keyval_set_proxy(int keyval, copy_by *copy, delete_by *delete);
void MPII_Keyval_set_proxy(int keyval, copy_by *copy, delete_by *delete) {
    void (*below)(int, copy_by *, delete_by *);
    FIND_BELOW(below, "MPII_Keyval_set_proxy");
    coll_callbacks_attribute *attribute = coll_callbacks_attribute_of(keyval);
    if (!attribute) {
        below(keyval, copy, delete);
        return;
    }
    attribute->copy_by = (coll_function *)copy;
    attribute->delete_by = (coll_function *)delete;
    below(keyval, copy_shown, delete_shown);
}

/*
 * In C++, MPICH calls handlers through a function of the binding. HANDLE is a communicator if KIND
 * is 0.
 */
typedef void call_by(int kind, int *handle, int *code, coll_function *function);

static call_by *call_in_cplusplus;

static void call_shown_in_cplusplus(int kind, int *handle, int *code, coll_function *function) {
    int shown = kind == 0 ? coll_world_shown(*handle) : *handle;
    call_in_cplusplus(kind, &shown, code, coll_callbacks_behind(function));
}

void MPII_Errhandler_set_cxx(MPI_Errhandler handler, call_by *call);
void MPII_Errhandler_set_cxx(MPI_Errhandler handler, call_by *call) {
    void (*below)(MPI_Errhandler, call_by *);
    FIND_BELOW(below, "MPII_Errhandler_set_cxx");
    call_in_cplusplus = call;
    below(handler, call_shown_in_cplusplus);
}

/* Functions of MPI-1, which MPICH has in addition to their successors. */
int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
    return MPI_Comm_create_errhandler(function, handler);
}

int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) {
    return MPI_Comm_set_errhandler(comm, handler);
}

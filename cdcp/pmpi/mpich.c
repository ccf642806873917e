/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran and C++ with MPICH. Their calls are C's with the same handles, so they reach the wrapper
 * like those of a C program. Only attributes and callbacks differ: after the program has created a
 * key or handler, the binding gives the library functions that call the program's in its language.
 * The library gets functions of ours instead, which pass on the communicator that the program sees.
 */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"
#include "cdcp/pmpi/world.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The MPI library's own function NAME. */
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
 * Error handlers. While MPICH calls one, it holds the communicator's lock, so it can't be asked
 * which handler it is. So each function of the program gets a stand-in of ours. When all stand-ins
 * are in use, further functions are called directly and see MPICH's communicator.
 */
enum { STAND_INS = 16 };
static coll_function *_Atomic functions[STAND_INS];

static void call_shown(int i, MPI_Comm *comm, int *code) {
    MPI_Comm shown = coll_world_shown(*comm);
    ((MPI_Comm_errhandler_function *)functions[i])(&shown, code);
}

#define STAND_IN(i)                                                                                \
    static void stand_in_##i(MPI_Comm *comm, int *code, ...) {                                     \
        call_shown(i, comm, code);                                                                 \
    }
#define EACH(do_)                                                                                  \
    do_(0) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6) do_(7) do_(8) do_(9) do_(10) do_(11) do_(12)  \
        do_(13) do_(14) do_(15)
EACH(STAND_IN)
#define NAME(i) stand_in_##i,
static MPI_Comm_errhandler_function *const stand_ins[STAND_INS] = {EACH(NAME)};

static MPI_Comm_errhandler_function *stand_in(coll_function *function) {
    for (int i = 0; i < STAND_INS; i++) {
        coll_function *there = NULL;
        if (atomic_compare_exchange_strong(&functions[i], &there, function) || there == function)
            return stand_ins[i];
    }
    return (MPI_Comm_errhandler_function *)function;
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
    bool substituted = coll_dcp_substituted.app != MPI_COMM_NULL && function;
    return PMPI_Comm_create_errhandler(substituted ? stand_in((coll_function *)function) : function,
                                       handler);
}

/*
 * In C++, MPICH calls handlers through a function of the binding. HANDLE is a communicator's if
 * KIND is 0.
 */
typedef void call_by(int kind, int *handle, int *code, coll_function *function);

static call_by *call_in_cplusplus;

static void call_shown_in_cplusplus(int kind, int *handle, int *code, coll_function *function) {
    int shown = kind == 0 ? coll_world_shown(*handle) : *handle;
    for (int i = 0; i < STAND_INS; i++)
        if (function == (coll_function *)stand_ins[i])
            function = functions[i];
    call_in_cplusplus(kind, &shown, code, function);
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

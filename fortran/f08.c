/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fortran/f08.h"

#include "coll_component.h"

#include <stdio.h>
#include <stdlib.h>

/* Addresses of Fortran's constants, which differ from C's. */
static _Atomic(void *) in_place_f, bottom_f;

void coll_f08_learn(const CFI_cdesc_t *in_place, const CFI_cdesc_t *bottom) {
    bottom_f = bottom->base_addr;
    in_place_f = in_place->base_addr;
}

void *coll_f08_address(const CFI_cdesc_t *buffer) {
    if (!in_place_f)
        coll_f08_tell();
    if (buffer->base_addr == in_place_f)
        return MPI_IN_PLACE;
    return buffer->base_addr == bottom_f ? MPI_BOTTOM : buffer->base_addr;
}

static void set_ierror(MPI_Fint *ierror, int code) {
    if (ierror)
        *ierror = code;
}

/* --- Calls --- */

static int raise_error(MPI_Comm comm, int code) {
    MPI_Comm_call_errhandler(comm, code);
    return code;
}

/*
 * Raises the error that a buffer of NAME has gaps: the compiler would free its contiguous copy
 * before the operation is complete.
 */
static int refuse_gaps(const char *name, MPI_Comm comm) {
    char text[MPI_MAX_ERROR_STRING];
    int code;
    snprintf(text, sizeof text,
             "%s: an array section with gaps can't be the buffer of an operation that is started; "
             "copy it to an array, or describe it by a datatype",
             name);
    /* As in lib/base/error.c: MPICH 4.0 accepts texts only for codes above MPI_ERR_LASTCODE. */
    if (MPI_Add_error_code(MPI_ERR_BUFFER, &code) != MPI_SUCCESS)
        code = MPI_ERR_BUFFER;
    else if (code <= MPI_ERR_LASTCODE)
        code += MPI_ERR_LASTCODE + 1;
    if (code != MPI_ERR_BUFFER)
        MPI_Add_error_string(code, text);
    return raise_error(comm, code);
}

/* Sets *LENGTH to the length of a list if it is significant on this rank of COMM, else to 0. */
static int find_length(MPI_Comm comm, MPI_Fint root, int *length) {
    int between, rank, code = MPI_Comm_test_inter(comm, &between);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = between && root != COLL_F08_OWN ? MPI_Comm_remote_size(comm, length)
                                               : MPI_Comm_size(comm, length);
    if (code == MPI_SUCCESS && root != COLL_F08_ALL && root != COLL_F08_OWN &&
        root != (between ? MPI_ROOT : rank))
        *length = 0;
    return code;
}

int coll_f08_open(coll_f08_call *call, const char *name, const CFI_cdesc_t *first,
                  const CFI_cdesc_t *second, MPI_Fint comm_f, MPI_Fint root, int lists) {
    *call = (coll_f08_call){0};
    MPI_Comm comm = MPI_Comm_f2c(comm_f);
    if ((first && !CFI_is_contiguous(first)) || (second && !CFI_is_contiguous(second)))
        return refuse_gaps(name, comm);
    if (lists == 0 || comm == MPI_COMM_NULL)
        return MPI_SUCCESS;
    int code = root == COLL_F08_NEIGHBORS ? COLL_Degrees(comm, &call->receives, &call->sends)
                                          : find_length(comm, root, &call->receives);
    if (root != COLL_F08_NEIGHBORS)
        call->sends = call->receives;
    if (code != MPI_SUCCESS || (call->sends == 0 && call->receives == 0))
        return code;
    const size_t longer = (size_t)(call->sends > call->receives ? call->sends : call->receives);
    call->memory = malloc((size_t)lists * longer * sizeof(MPI_Count));
    call->next = call->memory;
    return call->memory ? MPI_SUCCESS : raise_error(comm, MPI_ERR_NO_MEM);
}

void coll_f08_close(coll_f08_call *call, coll_f08_request *request, int code, MPI_Fint *ierror) {
    if (request && code == MPI_SUCCESS) {
        request->kept = call->memory;
    } else {
        free(call->memory);
        if (request)
            *request = (coll_f08_request){0};
    }
    set_ierror(ierror, code);
}

/*
 * Converts the LENGTH elements of FROM with CONVERT and stores them as the next list of CALL, whose
 * elements have type TYPE. Returns that list.
 */
#define COPY(type, convert)                                                                        \
    type *list = (type *)(void *)call->next;                                                       \
    for (int i = 0; i < length; i++)                                                               \
        list[i] = convert(from[i]);                                                                \
    if (list)                                                                                      \
        call->next += (size_t)length * sizeof(MPI_Count);                                          \
    return list
#define UNCHANGED(number) number

const MPI_Count *coll_f08_counts_int(coll_f08_call *call, int length, const MPI_Fint from[]) {
    COPY(MPI_Count, UNCHANGED);
}

const MPI_Count *coll_f08_counts_large(coll_f08_call *call, int length, const MPI_Count from[]) {
    COPY(MPI_Count, UNCHANGED);
}

const MPI_Aint *coll_f08_places_int(coll_f08_call *call, int length, const MPI_Fint from[]) {
    COPY(MPI_Aint, UNCHANGED);
}

const MPI_Aint *coll_f08_places_large(coll_f08_call *call, int length, const MPI_Aint from[]) {
    COPY(MPI_Aint, UNCHANGED);
}

const MPI_Datatype *coll_f08_types(coll_f08_call *call, int length, const MPI_Fint from[]) {
    COPY(MPI_Datatype, MPI_Type_f2c);
}

/* --- Requests --- */

/* Frees REQUEST's lists once the request itself is gone. */
static void free_lists_if_complete(coll_f08_request *request) {
    if (request->coll)
        return;
    free(request->kept);
    request->kept = NULL;
}

void coll_f08_start(coll_f08_request *request, MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Start(&request->coll));
}

void coll_f08_wait(coll_f08_request *request, MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Wait(&request->coll));
    free_lists_if_complete(request);
}

void coll_f08_test(coll_f08_request *request, MPI_Fint *flag, MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Test(&request->coll, flag));
    free_lists_if_complete(request);
}

void coll_f08_waitall(const MPI_Fint *count, coll_f08_request requests[], MPI_Fint *ierror) {
    int first = MPI_SUCCESS;
    for (int i = 0; i < *count; i++) {
        int code = COLL_Wait(&requests[i].coll);
        free_lists_if_complete(&requests[i]);
        first = first == MPI_SUCCESS ? code : first;
    }
    set_ierror(ierror, first);
}

void coll_f08_request_free(coll_f08_request *request, MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Request_free(&request->coll));
    free_lists_if_complete(request);
}

void coll_f08_dcp_wait(coll_f08_request *request, MPI_Fint *ierror) {
    set_ierror(ierror, DCP_Wait(&request->dcp));
}

void coll_f08_dcp_test(coll_f08_request *request, MPI_Fint *flag, MPI_Fint *ierror) {
    set_ierror(ierror, DCP_Test(&request->dcp, flag));
}

/* --- The rest --- */

void coll_f08_set(const MPI_Fint *comm, const char *operation, const char *spec, MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Set(MPI_Comm_f2c(*comm), operation, spec));
}

void coll_f08_pool_add(COLL_Pool *const *pool, const int64_t *key, const CFI_cdesc_t *value,
                       MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Pool_add(*pool, (uint64_t)*key, value->base_addr));
}

void coll_f08_aggregate(COLL_Pool *const *pool, const MPI_Fint *root, const MPI_Fint *comm,
                        COLL_Aggregate_stats *stats, MPI_Fint *ierror) {
    set_ierror(ierror, COLL_Aggregate(*pool, *root, MPI_Comm_f2c(*comm), stats));
}

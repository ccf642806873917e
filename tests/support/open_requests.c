/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/open_requests.h"

#include <mpi.h>
#include <stdatomic.h>

static atomic_int begun;

int open_requests(void) {
    return atomic_load(&begun);
}

static int count(int n, const MPI_Request requests[]) {
    int live = 0;
    for (int i = 0; i < n; i++)
        live += requests[i] != MPI_REQUEST_NULL;
    return live;
}

/* Subtracts the requests of an array that were active BEFORE a call and are no longer active. */
static int settle(int before, int n, const MPI_Request requests[], int code) {
    atomic_fetch_sub(&begun, before - count(n, requests));
    return code;
}

static int begin(MPI_Request *request, int code) {
    atomic_fetch_add(&begun, code == MPI_SUCCESS ? count(1, request) : 0);
    return code;
}

int PMPI_Isend(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request) {
    return begin(request, MPI_Isend(buffer, n, type, to, tag, comm, request));
}

int PMPI_Irecv(void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Request *request) {
    return begin(request, MPI_Irecv(buffer, n, type, from, tag, comm, request));
}

int PMPI_Ibcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm,
                MPI_Request *request) {
    return begin(request, MPI_Ibcast(buffer, n, type, root, comm, request));
}

int PMPI_Iallreduce(const void *from, void *into, int n, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request) {
    return begin(request, MPI_Iallreduce(from, into, n, type, op, comm, request));
}

int PMPI_Igather(const void *from, int sent, MPI_Datatype type, void *into, int taken,
                 MPI_Datatype taken_type, int root, MPI_Comm comm, MPI_Request *request) {
    return begin(request,
                 MPI_Igather(from, sent, type, into, taken, taken_type, root, comm, request));
}

int PMPI_Igatherv(const void *from, int sent, MPI_Datatype type, void *into, const int taken[],
                  const int places[], MPI_Datatype taken_type, int root, MPI_Comm comm,
                  MPI_Request *request) {
    return begin(request, MPI_Igatherv(from, sent, type, into, taken, places, taken_type, root,
                                       comm, request));
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    return begin(request, MPI_Ibarrier(comm, request));
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    int before = count(1, request);
    return settle(before, 1, request, MPI_Wait(request, status));
}

int PMPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
    int before = count(n, requests);
    return settle(before, n, requests, MPI_Waitany(n, requests, index, status));
}

int PMPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    int before = count(n, requests);
    return settle(before, n, requests, MPI_Waitall(n, requests, statuses));
}

int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    int before = count(1, request);
    return settle(before, 1, request, MPI_Test(request, done, status));
}

int PMPI_Testany(int n, MPI_Request requests[], int *index, int *done, MPI_Status *status) {
    int before = count(n, requests);
    return settle(before, n, requests, MPI_Testany(n, requests, index, done, status));
}

int PMPI_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    int before = count(n, requests);
    return settle(before, n, requests, MPI_Testsome(n, requests, done, indices, statuses));
}

int PMPI_Testall(int n, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    int before = count(n, requests);
    return settle(before, n, requests, MPI_Testall(n, requests, done, statuses));
}

int PMPI_Request_free(MPI_Request *request) {
    int before = count(1, request);
    return settle(before, 1, request, MPI_Request_free(request));
}

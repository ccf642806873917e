/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/request_pool.h"

#include "lib/base/error.h"

#include <sys/mman.h>

/*
 * Addresses are reserved for this number of requests. Memory is used only for as many as have been
 * in use at once.
 */
enum { MOST = 1 << 17 };

coll_dcp_range coll_dcp_arena;

static coll_dcp_request *requests, *unused;
static int used, allowed; /* number of different requests used so far in this job; largest number
                             in use at a time */

void *coll_request_reserve(size_t bytes, coll_dcp_range *range) {
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    *range = (coll_dcp_range){.base = (uintptr_t)base, .size = bytes};
    return base;
}

int coll_request_open(int most) {
    unused = NULL;
    used = 0;
    allowed = most < MOST ? most : MOST;
    if (!requests)
        requests = coll_request_reserve(MOST * sizeof *requests, &coll_dcp_arena);
    return requests ? MPI_SUCCESS
                    : coll_error(MPI_ERR_NO_MEM, "no room for the requests of collectives");
}

int coll_request_take(coll_dcp_request **request) {
    *request = unused;
    if (unused)
        unused = unused->next;
    else if (used < allowed)
        *request = &requests[used++];
    else
        return coll_error(MPI_ERR_NO_MEM, "more than %d collectives under way at once", allowed);
    return MPI_SUCCESS;
}

void coll_request_give_back(coll_dcp_request *request) {
    request->next = unused;
    unused = request;
}

int coll_request_number(const coll_dcp_request *request) {
    return (int)(request - requests);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/request_table.h"

#include "watch/communicators.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

/* Hash table in which a newer request replaces an older one in the same slot. */
enum { PLACES = 2048 };
static struct {
    MPI_Request request;
    watch_awaited what;
} places[PLACES];

static size_t place_of(MPI_Request request) {
    return watch_handle_hash((uintptr_t)request) % PLACES;
}

/*
 * Returns whether REQUEST is null or stands for a complete operation. MPICH uses built-in requests,
 * recognizable by their leading bits, for all operations that are complete when their call returns.
 */
static bool is_nothing(MPI_Request request) {
#if defined MPICH || defined COLL_MPI_ABI
    return !request || request == MPI_REQUEST_NULL || (uintptr_t)request >> 30 == 1;
#else
    return !request || request == MPI_REQUEST_NULL;
#endif
}

void watch_request_table_note(MPI_Request request, const watch_awaited *what) {
    if (is_nothing(request))
        return;
    size_t place = place_of(request);
    __atomic_store_n(&places[place].request, (MPI_Request)0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    places[place].what = *what;
    __atomic_store_n(&places[place].request, request, __ATOMIC_RELEASE);
}

bool watch_request_table_find(MPI_Request request, watch_awaited *what) {
    size_t place = place_of(request);
    if (__atomic_load_n(&places[place].request, __ATOMIC_ACQUIRE) != request)
        return false;
    *what = places[place].what;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&places[place].request, __ATOMIC_RELAXED) == request;
}

int watch_request_table_list(uint64_t address, uint32_t count, watch_awaited list[], int room) {
    enum { MOST = 256 };
    MPI_Request requests[MOST];
    const bool too_many = count > MOST;
    if (too_many)
        count = MOST;
    /*
     * Let the kernel read the requests: if their memory is gone, the kernel returns an error, but a
     * plain read would crash the program.
     */
    struct iovec to = {requests, count * sizeof *requests};
    struct iovec from = {(void *)(uintptr_t)address, count * sizeof *requests};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    int found = 0;
    size_t i = 0;
    for (; got > 0 && i < (size_t)got / sizeof *requests && found < room; i++) {
        if (is_nothing(requests[i]))
            continue;
        watch_awaited what = {.known = 0};
        if (!watch_request_table_find(requests[i], &what))
            what = (watch_awaited){.known = 0};
        list[found++] = what;
    }
    if (found > 0 && (too_many || i < count))
        list[found - 1].known = 0;
    return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is preloaded to make waiting ranks of MPICH yield their cores, which those of MPICH 4.0 never do.
 * They poll UCX all the time, and this file yields in the poll.
 *
 * It also makes them leave MPI_Finalize. Ranks of MPICH 4.0 and 4.1 wait there until others have
 * seen that they disconnect, which these never do while they wait in MPI_Finalize themselves
 * (github.com/pmodels/mpich, pull request 6596). UCX disconnects at its end anyway.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void *worker);
unsigned ucp_worker_progress(void *worker) {
    static unsigned (*below)(void *);
    if (!below)
        *(void **)&below = dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned news = below(worker);
    if (news == 0)
        sched_yield();
    return news;
}

void *ucp_disconnect_nb(void *endpoint);
void *ucp_disconnect_nb(void *endpoint) {
    (void)endpoint;
    return NULL; /* tells MPICH that the request is complete */
}

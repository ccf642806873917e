/*
 * Preloaded, it has ranks of MPICH that wait offer their core to others, which those of MPICH 4.0
 * never do. They ask UCX all the time whether there is anything new.
 *
 * It also has them leave MPI_Finalize: there those of 4.0 and 4.1 wait until others have seen that
 * they disconnect, which these never do once they wait for all in MPI_Finalize themselves
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
    return NULL; /* it is done */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces a header of Open MPI 5.0 that Debian doesn't install, although installed headers include
 * it. Defines the functions of POSIX threads that these headers need.
 */
#ifndef COLL_OMPI_THREADS_PTHREADS_THREADS_H
#define COLL_OMPI_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

static inline void opal_thread_yield(void) {
    (void)sched_yield();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces a header of Open MPI 5.0 that Debian doesn't install, although installed headers include
 * it. Defines the thread-specific data that these headers need, with POSIX threads.
 */
#ifndef COLL_OMPI_THREADS_PTHREADS_TSD_H
#define COLL_OMPI_THREADS_PTHREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_get(opal_tsd_key_t key, void **value) {
    *value = pthread_getspecific(key);
    return 0;
}

#endif

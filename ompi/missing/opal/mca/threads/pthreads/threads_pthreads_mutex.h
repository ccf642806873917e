/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces a header of Open MPI 5.0 that Debian doesn't install, although installed headers include
 * it. Defines the mutexes and conditions that these headers need, with POSIX threads.
 */
#ifndef COLL_OMPI_THREADS_PTHREADS_MUTEX_H
#define COLL_OMPI_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

/* Open MPI's headers create no recursive mutexes. */
static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
                                                  bool recursive) {
    return recursive ? -1 : pthread_mutex_init(mutex, NULL);
}

static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex) {
    return pthread_mutex_trylock(mutex);
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *mutex) {
    (void)pthread_mutex_lock(mutex);
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *mutex) {
    (void)pthread_mutex_unlock(mutex);
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *mutex) {
    (void)pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *condition) {
    return pthread_cond_init(condition, NULL);
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *condition) {
    (void)pthread_cond_signal(condition);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *condition) {
    (void)pthread_cond_destroy(condition);
}

#endif

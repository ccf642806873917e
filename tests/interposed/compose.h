/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_INTERPOSED_COMPOSE_H
#define TESTS_INTERPOSED_COMPOSE_H

#include <mpi.h>

/* An MPI_User_function: composes maps x -> a x + b, pairs of ints, which does not commute. */
static void compose(void *first, void *into, int *count, MPI_Datatype *type) {
    int *f = first, *g = into;
    (void)type;
    for (int i = 0; i < 2 * *count; i += 2) {
        g[i + 1] = (g[i] * f[i + 1] + g[i + 1]) % 10007;
        g[i] = g[i] * f[i] % 10007;
    }
}

#endif

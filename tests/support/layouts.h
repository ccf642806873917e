/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that tests of collectives share: data described in many ways, and ranks on imagined
 * nodes.
 */
#ifndef COLL_TESTS_SUPPORT_LAYOUTS_H
#define COLL_TESTS_SUPPORT_LAYOUTS_H

#include <mpi.h>
#include <stddef.h>

/* A way to describe N bytes of payload: COUNT elements of TYPE in a buffer of SPAN bytes. */
typedef struct layout {
    const char *name;
    MPI_Datatype type;
    int count;
    size_t span;
} layout;

enum { UNIT = 12, LAYOUTS = 5 }; /* all layouts except bytes have multiples of 12 bytes */

/* Returns layout KIND for UNITS x 12 bytes. End it with forget. */
layout describe(int kind, int units);
void forget(layout *l);

/* Fills BYTES with data that depends on SEED. */
void fill(unsigned char *bytes, size_t count, unsigned seed);

/* Pretends that the ranks of COMM are scattered over nodes and racks, as many as there are ranks at
 * most. None is empty. */
void pretend_layout(MPI_Comm comm, int nodes, int racks);

/*
 * Pretends that the ranks of COMM are scattered over SITES sites of two nodes each. All of them
 * have this host's address.
 */
void pretend_sites(MPI_Comm comm, int sites);

#endif

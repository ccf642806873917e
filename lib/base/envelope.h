/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The envelope of a datatype. MPI_Type_get_envelope fails, and by default ends the program, for
 * types that were made by MPI 4's constructors with large counts, such as MPI_Type_contiguous_c.
 */
#ifndef COLL_LIB_BASE_ENVELOPE_H
#define COLL_LIB_BASE_ENVELOPE_H

#include <mpi.h>

/* A datatype's constructor, and the numbers of its arguments of each kind. */
typedef struct coll_envelope {
    int combiner;
    MPI_Count integers, addresses, large_counts, types;
} coll_envelope;

static inline int coll_envelope_get(MPI_Datatype type, coll_envelope *envelope) {
#ifdef HAVE_MPI_ALLREDUCE_C
    return PMPI_Type_get_envelope_c(type, &envelope->integers, &envelope->addresses,
                                    &envelope->large_counts, &envelope->types, &envelope->combiner);
#else
    int integers, addresses, types;
    int code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &envelope->combiner);
    if (code != MPI_SUCCESS)
        return code;
    envelope->integers = integers;
    envelope->addresses = addresses;
    envelope->large_counts = 0;
    envelope->types = types;
    return code;
#endif
}

#endif

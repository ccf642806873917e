/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the sizes of structures in Open MPI's headers with their sizes in its library. */
#ifndef COLL_OMPI_STRUCTURES_H
#define COLL_OMPI_STRUCTURES_H

#include "ompi/openmpi.h"

#include <stddef.h>

/*
 * Returns the name of a structure that has another size in the library, or NULL if there is none.
 * Needs no MPI_Init.
 */
static inline const char *libcoll_differing_structure(void) {
#define COMPARE(structure)                                                                         \
    if (structure##_class.cls_sizeof != sizeof(structure))                                         \
        return #structure;
    COMPARE(ompi_communicator_t)
    COMPARE(ompi_group_t)
    COMPARE(ompi_datatype_t)
    COMPARE(ompi_request_t)
    COMPARE(mca_coll_base_module_t)
#undef COMPARE
    /* There may be more memory than the library needs. */
    if (ompi_coll_base_nbc_request_t_class.cls_sizeof > sizeof(ompi_coll_base_nbc_request_t))
        return "ompi_coll_base_nbc_request_t";
    return NULL;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What is particular to Open MPI 5.0. open_mpi_4.h defines the same for Open MPI 4.1. */
#ifndef COLL_OMPI_OPEN_MPI_5_H
#define COLL_OMPI_OPEN_MPI_5_H

#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/accelerator/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Open MPI 4.1 doesn't have these symbols, but can load the component nevertheless. The component
 * then says for which Open MPI it was built, and takes no part.
 */
#pragma weak PMIx_Get
#pragma weak PMIx_Put
#pragma weak PMIx_Value_free
#pragma weak opal_accelerator_base_selected_component
#pragma weak opal_pmix_convert_jobid

#define LIBCOLL_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0

/*
 * Publishes BYTES of DATA as KEY to the other processes, in MPI_Init before they exchange
 * addresses.
 */
static inline void libcoll_publish(char *key, void *data, size_t bytes) {
    int code;
    OPAL_MODEX_SEND_STRING(code, PMIX_GLOBAL, key, data, bytes);
    (void)code; /* processes that get no data stand aside */
}

/* Returns whether the program may have buffers in the memory of a GPU. */
static inline bool libcoll_has_gpu(void) {
    const char *found = opal_accelerator_base_selected_component.base_version.mca_component_name;
    return *found && strcmp(found, "null") != 0;
}

#endif

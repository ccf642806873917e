/* SPDX-License-Identifier: BSD-3-Clause */
/* What is particular to Open MPI 4.1. open_mpi_5.h defines the same for Open MPI 5.0. */
#ifndef COLL_OMPI_OPEN_MPI_4_H
#define COLL_OMPI_OPEN_MPI_4_H

#include "ompi/mca/rte/rte.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/runtime/opal_params.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Open MPI 5.0 doesn't have these symbols, but can load the component nevertheless. The component
 * then says for which Open MPI it was built, and takes no part.
 */
#pragma weak ompi_group_get_proc_ptr_raw
#pragma weak opal_pmix
#pragma weak opal_value_t_class
#pragma weak orte_process_info

#define LIBCOLL_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0

/*
 * Publishes BYTES of DATA as KEY to the other processes, in MPI_Init before they exchange
 * addresses.
 */
static inline void libcoll_publish(char *key, void *data, size_t bytes) {
    int code;
    if (opal_pmix.put) /* NULL if components are only listed, as by ompi_info */
        OPAL_MODEX_SEND_STRING(code, OPAL_PMIX_GLOBAL, key, data, bytes);
    (void)code; /* processes that get no data stand aside */
}

/* Returns whether the program may have buffers in the memory of a GPU. */
static inline bool libcoll_has_gpu(void) {
    void *driver = opal_cuda_support ? dlopen("libcuda.so.1", RTLD_LAZY) : NULL;
    if (driver)
        dlclose(driver);
    return driver;
}

#endif

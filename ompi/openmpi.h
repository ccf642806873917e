/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal headers of Open MPI that the component needs. They define many of config.h's macros,
 * so the component's sources don't include config.h.
 */
#ifndef COLL_OMPI_OPENMPI_H
#define COLL_OMPI_OPENMPI_H

#include "ompi_config.h"

#include "mpi.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/hook/base/base.h"
#include "ompi/mca/hook/hook.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/btl/base/base.h"
#include "opal/runtime/opal_progress.h"

#if OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1
#include "ompi/open_mpi_4.h"
#elif OMPI_MAJOR_VERSION == 5 && OMPI_MINOR_VERSION == 0
#include "ompi/open_mpi_5.h"
#else
#error the component is for Open MPI 4.1 and 5.0
#endif

/*
 * The base class of collectives' requests, in which Open MPI's calls keep types, operations and
 * arrays alive. It is defined in ompi/mca/coll/base/coll_base_util.h, which needs a header that
 * isn't installed. Releases of Open MPI keep different DATA; structures.h checks that there is
 * enough memory for it.
 */
struct ompi_coll_base_nbc_request_t {
    ompi_request_t super;
    union {
        ompi_request_complete_fn_t req_complete_cb;
        ompi_request_free_fn_t req_free;
    } cb;
    void *req_complete_cb_data;
    void *data[16];
};
typedef struct ompi_coll_base_nbc_request_t ompi_coll_base_nbc_request_t;
OBJ_CLASS_DECLARATION(ompi_coll_base_nbc_request_t);

#endif

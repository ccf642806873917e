/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that configure runs on one process, to check that Open MPI's library has the structures
 * that its headers declare. Compares sizes, and reads members whose values are also known from
 * elsewhere. Writes the name of a structure that differs to conftest.out and fails.
 */
#include "ompi/structures.h"

#include "ompi/operations.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_derived(const void *object, const opal_class_t *base) {
    const opal_class_t *class = ((const opal_object_t *)object)->obj_class;
    while (class && class != base)
        class = class->cls_parent;
    return class;
}

/* Returns whether each function of the communicator is also in the table of its module. */
static bool tables_agree(struct ompi_communicator_t *comm) {
#define COMPARE(entry)                                                                             \
    if (comm->c_coll->coll_##entry &&                                                              \
        (!is_derived(comm->c_coll->coll_##entry##_module, &mca_coll_base_module_t_class) ||        \
         comm->c_coll->coll_##entry##_module->coll_##entry != comm->c_coll->coll_##entry))         \
        return false;
#define KINDS(function) COMPARE(function) COMPARE(i##function) COMPARE(function##_init)
    LIBCOLL_FUNCTIONS(KINDS)
#undef KINDS
#undef COMPARE
    return comm->c_coll->coll_bcast && comm->c_coll->coll_ibcast && comm->c_coll->coll_bcast_init;
}

static bool communicator_agrees(struct ompi_communicator_t *comm) {
    return is_derived(comm->c_local_group, &ompi_group_t_class) && comm->c_my_rank == 0 &&
           ompi_comm_size(comm) == 1 && !OMPI_COMM_IS_INTER(comm) &&
           comm->c_local_group->grp_proc_count == 1 && comm->c_local_group->grp_my_rank == 0 &&
           ompi_group_get_proc_name(comm->c_local_group, 0).vpid == 0;
}

static bool type_agrees(void) {
    MPI_Datatype made;
    bool same = ompi_datatype_is_predefined(MPI_INT) && !MPI_INT->args &&
                PMPI_Type_contiguous(3, MPI_INT, &made) == MPI_SUCCESS;
    return same && !ompi_datatype_is_predefined(made) && made->args &&
           made->super.size == 3 * sizeof(int) && PMPI_Type_free(&made) == MPI_SUCCESS;
}

/*
 * Returns whether a persistent request, with which this process receives from itself, has the
 * expected members.
 */
static bool request_agrees(void) {
    int value = 0;
    MPI_Request made;
    bool same = PMPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &made) == MPI_SUCCESS &&
                made->req_persistent && made->req_state == OMPI_REQUEST_INACTIVE &&
                made->req_type == OMPI_REQUEST_PML && made->req_mpi_object.comm == MPI_COMM_SELF &&
                made->req_start && made->req_free;
    same = same && PMPI_Start(&made) == MPI_SUCCESS && !REQUEST_COMPLETE(made) &&
           made->req_state == OMPI_REQUEST_ACTIVE &&
           PMPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF) == MPI_SUCCESS &&
           PMPI_Wait(&made, MPI_STATUS_IGNORE) == MPI_SUCCESS && REQUEST_COMPLETE(made);
    return same && made->req_state == OMPI_REQUEST_INACTIVE &&
           PMPI_Request_free(&made) == MPI_SUCCESS;
}

static bool network_agrees(void) {
    int *last_tag, found;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last_tag, &found);
    if (!found || mca_pml.pml_max_tag != *last_tag ||
        strcmp(mca_pml_base_selected_component.pmlm_version.mca_type_name, "pml") != 0)
        return false;
    opal_list_t *modules = dlsym(RTLD_DEFAULT, "mca_btl_base_modules_initialized");
    mca_btl_base_selected_module_t *one;
    OPAL_LIST_FOREACH(one, modules, mca_btl_base_selected_module_t)
    if (strcmp(one->btl_component->btl_version.mca_type_name, "btl") != 0)
        return false;
    return true;
}

int main(void) {
    const char *differs = libcoll_differing_structure();
    (void)setenv("OMPI_MCA_ess_singleton_isolated", "1", 1); /* or Open MPI 4.1 starts a daemon */
    alarm(60);
    if (!differs && PMPI_Init(NULL, NULL) != MPI_SUCCESS)
        return 2;
    if (!differs && !communicator_agrees(MPI_COMM_WORLD))
        differs = "ompi_communicator_t";
    if (!differs && !tables_agree(MPI_COMM_WORLD))
        differs = "mca_coll_base_module_t";
    if (!differs && !type_agrees())
        differs = "ompi_datatype_t";
    if (!differs && !request_agrees())
        differs = "ompi_request_t";
    if (!differs && !network_agrees())
        differs = "mca_pml_base_module_t or mca_btl_base_component_t";
    if (!differs)
        return PMPI_Finalize();
    FILE *file = fopen("conftest.out", "w");
    if (file) {
        fputs(differs, file);
        fclose(file);
    }
    return 1;
}

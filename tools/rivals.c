#include "config.h"

#include "tools/rivals.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char algorithm_variable[] = "coll_tuned_bcast_algorithm";
static const char segment_variable[] = "coll_tuned_bcast_algorithm_segmentsize";

/* The numbers by which Open MPI 4.1's tuned component knows its broadcasts. */
static const struct {
    int number;
    const char *name;
    bool segmented;
} algorithms[] = {
    {1, "linear", false},
    {2, "chain", true},
    {3, "pipeline", true},
    {4, "split_binary", true},
    {5, "binary", true},
    {6, "binomial", true},
    {7, "knomial", true},
    {8, "scatter_allgather", false},
    {9, "scatter_allgather_ring", false},
};

/* Components with broadcasts of their own, which Open MPI doesn't use unless it is asked. */
static const char *const components[] = {"han", "adapt"};

static const int segment_sizes[] = {0, 1 << 10, 4 << 10, 8 << 10, 32 << 10, 128 << 10};

void rivals_prepare(void) {
    /* Without a forced algorithm the rules stay those of the default. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    /* Components of priority 0 are never there; at 1 they are, but nobody takes them unasked. */
    setenv("OMPI_MCA_coll_han_priority", "1", 0);
    setenv("OMPI_MCA_coll_adapt_priority", "1", 0);
}

#ifdef HAVE_MPI_T_INIT_THREAD
/* Writes an integer control variable of the MPI library; false where it has none of that name. */
static bool write_variable(const char *name, int value) {
    int index, count;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool good = count == 1 && MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return good;
}

static bool force(int algorithm, int segment) {
    return write_variable(algorithm_variable, algorithm) &&
           write_variable(segment_variable, segment);
}
#else
static bool force(int algorithm, int segment) {
    (void)algorithm, (void)segment;
    return false;
}
#endif

static int run_forced(const contender *c, void *buffer, size_t bytes, int root) {
    return bytes > INT_MAX ? MPI_ERR_COUNT : MPI_Bcast(buffer, (int)bytes, MPI_BYTE, root, c->comm);
}

static int run_ibcast(const contender *c, void *buffer, size_t bytes, int root) {
    if (bytes > INT_MAX)
        return MPI_ERR_COUNT;
    MPI_Request request;
    int code = MPI_Ibcast(buffer, (int)bytes, MPI_BYTE, root, c->comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static int add_forced(contender_list *list, MPI_Comm comm, size_t a, int segment) {
    char name[CONTENDER_NAME], params[CONTENDER_PARAMS];
    snprintf(name, sizeof name, "ompi_%s", algorithms[a].name);
    snprintf(params, sizeof params, "segment=%d", segment);
    return contender_add(list, CONTENDER_RIVAL, name, algorithms[a].segmented ? params : "",
                         run_forced, comm);
}

/* Adds MPI_Bcast on a communicator whose collectives are those of COMPONENT, as far as it has them.
 */
static int add_component(contender_list *list, MPI_Comm comm, const char *component) {
    char name[CONTENDER_NAME];
    snprintf(name, sizeof name, "ompi_%s", component);
    int code = contender_add(list, CONTENDER_RIVAL, name, "", run_forced, comm);
    if (code != MPI_SUCCESS)
        return code;

    /* The preference is not passed on to duplicates: this one must be made with it. */
    MPI_Comm *own = &list->at[list->count - 1].comm;
    MPI_Info info;
    code = MPI_Comm_free(own);
    if (code == MPI_SUCCESS)
        code = MPI_Info_create(&info);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Info_set(info, "ompi_comm_coll_preference", component);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup_with_info(comm, info, own);
    MPI_Info_free(&info);
    return code;
}

int rivals_add_bcast(contender_list *list, MPI_Comm comm, int *forced) {
    int provided, code = MPI_SUCCESS;
    *forced = 0;
#ifdef HAVE_MPI_T_INIT_THREAD
    code = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (code != MPI_SUCCESS)
        return code;
#endif
    (void)provided;
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        size_t sizes = algorithms[a].segmented ? sizeof segment_sizes / sizeof *segment_sizes : 1;
        for (size_t s = 0; s < sizes && code == MPI_SUCCESS; s++)
            if (force(algorithms[a].number, segment_sizes[s])) {
                code = add_forced(list, comm, a, segment_sizes[s]);
                ++*forced;
            }
    }
    force(0, 0);
#ifdef HAVE_MPI_T_INIT_THREAD
    MPI_T_finalize();
#endif
    for (size_t i = 0; i < sizeof components / sizeof *components && code == MPI_SUCCESS; i++)
        code = add_component(list, comm, components[i]);
    if (code == MPI_SUCCESS)
        code = contender_add(list, CONTENDER_RIVAL, "ibcast", "", run_ibcast, comm);
    return code;
}

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

static const int segment_sizes[] = {0, 1 << 10, 4 << 10, 8 << 10, 32 << 10, 128 << 10};

void rivals_prepare(void) {
    /* Without a forced algorithm the rules stay those of the default. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
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
    if (code == MPI_SUCCESS)
        code = contender_add(list, CONTENDER_RIVAL, "ibcast", "", run_ibcast, comm);
    return code;
}

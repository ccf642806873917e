/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/rivals.h"

#include "app/agreement.h"

#include <stdio.h>
#include <stdlib.h>

static const int segment_sizes[] = {0, 1 << 10, 4 << 10, 8 << 10, 32 << 10, 128 << 10};

void rivals_prepare(void) {
    /* With dynamic rules but no forced algorithm, Open MPI chooses as by default. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    /* Components of priority 0 are unavailable; with priority 1 they are only used on request. */
    setenv("OMPI_MCA_coll_han_priority", "1", 0);
    setenv("OMPI_MCA_coll_adapt_priority", "1", 0);
}

#ifdef HAVE_MPI_T_INIT_THREAD
/*
 * Writes an integer control variable of coll/tuned; returns false if there is no such variable or
 * it is constant.
 */
static bool write_variable(const char *collective, const char *suffix, int value) {
    int index, count;
    char name[100];
    snprintf(name, sizeof name, "coll_tuned_%s_algorithm%s", collective, suffix);
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool good = count == 1 && MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return good;
}

#else
static bool write_variable(const char *collective, const char *suffix, int value) {
    (void)collective, (void)suffix, (void)value;
    return false;
}
#endif

static bool force_algorithm(const operation *op, int algorithm, int segment) {
    bool forced = write_variable(op->name, "", algorithm);
    bool segmented =
        write_variable(op->name, "_segmentsize", segment); /* not every operation has it */
    return forced && (segmented || segment == 0);
}

static int add_forced(contender_list *list, MPI_Comm comm, const operation_forced *algorithm,
                      int segment) {
    char name[CONTENDER_NAME], params[CONTENDER_PARAMS];
    snprintf(name, sizeof name, "ompi_%s", algorithm->name);
    snprintf(params, sizeof params, "segment=%d", segment);
    return contender_add(list, CONTENDER_RIVAL, name, algorithm->segmented ? params : "",
                         operation_native, comm);
}

#ifdef OPEN_MPI
/*
 * Adds a contender whose communicator takes its collectives from COMPONENT, which Open MPI uses
 * only on request.
 */
static int add_component(contender_list *list, MPI_Comm comm, const char *component) {
    char name[CONTENDER_NAME];
    snprintf(name, sizeof name, "ompi_%s", component);
    int code = contender_add(list, CONTENDER_RIVAL, name, "", operation_native, comm);
    if (code != MPI_SUCCESS)
        return code;

    /* Duplicates don't inherit the preference, so this communicator is created with it. */
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
#endif

int rivals_add(contender_list *list, const operation *op, MPI_Comm comm) {
    int code = MPI_SUCCESS;
#ifdef HAVE_MPI_T_INIT_THREAD
    int level, provided;
    code = MPI_Query_thread(&level); /* Open MPI's MPI_T_init_thread sets it for the process */
    if (code == MPI_SUCCESS)
        code = MPI_T_init_thread(level, &provided);
    if (code != MPI_SUCCESS)
        return code;
#endif
    for (int number = 1; op->forced[number - 1].name; number++) {
        const operation_forced *algorithm = &op->forced[number - 1];
        if (algorithm->for_two && app_ranks(comm) != 2)
            continue;
        size_t sizes = algorithm->segmented ? sizeof segment_sizes / sizeof *segment_sizes : 1;
        for (size_t s = 0; s < sizes && code == MPI_SUCCESS; s++)
            if (force_algorithm(op, number, segment_sizes[s]))
                code = add_forced(list, comm, algorithm, segment_sizes[s]);
    }
    force_algorithm(op, 0, 0);
#ifdef HAVE_MPI_T_INIT_THREAD
    MPI_T_finalize();
#endif
#ifdef OPEN_MPI
    if (code == MPI_SUCCESS && op->han)
        code = add_component(list, comm, "han");
    if (code == MPI_SUCCESS && op->adapt)
        code = add_component(list, comm, "adapt");
#endif
    if (code == MPI_SUCCESS)
        code = contender_add(list, CONTENDER_RIVAL, op->nonblocking, "", operation_native, comm);
    if (code == MPI_SUCCESS)
        list->at[list->count - 1].nonblocking = true;
    return code;
}

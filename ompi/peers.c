/*
 * What the processes of a job know of each other before their first message: a line of each that
 * travels with the addresses which MPI_Init exchanges.
 */
#include "ompi/component.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char KEY[] = "coll.libcoll";

/* Text, which all versions and byte orders read alike. */
typedef struct line {
    char identity[32]; /* equal where calls can go together */
    char patience[32];
    char gpu[8]; /* whether its buffers may be a GPU's */
} line;

static line describe(int64_t patience, bool gpu) {
    static const uint16_t number = 1;
    unsigned char first;
    line told = {.identity = "", .patience = "", .gpu = ""};
    memcpy(&first, &number, 1);
    snprintf(told.identity, sizeof told.identity, "%d.%d.%d, %s", COLL_MAJOR, COLL_MINOR,
             COLL_RELEASE, first ? "little-endian" : "big-endian");
    snprintf(told.patience, sizeof told.patience, "%" PRId64, patience);
    snprintf(told.gpu, sizeof told.gpu, "%d", gpu);
    return told;
}

void libcoll_tell(int64_t patience, bool gpu) {
    line told = describe(patience, gpu);
    int code;
    if (opal_pmix.put) /* where programs are only asked what there is nobody listens */
        OPAL_MODEX_SEND_STRING(code, OPAL_PMIX_GLOBAL, (char *)KEY, &told, sizeof told);
    (void)code; /* who hears nothing stands aside */
}

static bool hear(const opal_process_name_t *process, line *told) {
    void *data = NULL;
    size_t bytes = 0;
    int code;
    OPAL_MODEX_RECV_STRING(code, KEY, process, &data, &bytes);
    bool heard = code == OPAL_SUCCESS && bytes == sizeof *told;
    if (heard)
        memcpy(told, data, bytes);
    free(data);
    return heard;
}

static bool is_one_job(struct ompi_communicator_t *comm) {
    for (int rank = 0; rank < ompi_comm_size(comm); rank++)
        if (ompi_group_get_proc_name(comm->c_local_group, rank).jobid != OMPI_PROC_MY_NAME->jobid)
            return false;
    return true;
}

int64_t libcoll_patience_of(struct ompi_communicator_t *comm) {
    static _Thread_local struct {
        opal_process_name_t process;
        int64_t patience;
        bool known;
    } last; /* to hear takes as long as a message, and many communicators have the same rank 0 */
    if (!is_one_job(comm))
        return 0;
    opal_process_name_t process = ompi_group_get_proc_name(comm->c_local_group, 0);
    if (!last.known || memcmp(&last.process, &process, sizeof process) != 0) {
        line told;
        last.process = process;
        last.patience = hear(&process, &told) ? strtoll(told.patience, NULL, 10) : -1;
        last.known = true;
    }
    return last.patience;
}

libcoll_fit libcoll_fit_of(struct ompi_communicator_t *comm) {
    line own = describe(0, false), told;
    if (!is_one_job(comm))
        return LIBCOLL_FITS;
    for (int rank = 0; rank < ompi_comm_size(comm); rank++) {
        opal_process_name_t process = ompi_group_get_proc_name(comm->c_local_group, rank);
        if (!hear(&process, &told) || strcmp(told.identity, own.identity) != 0)
            return LIBCOLL_STRANGER;
        if (strcmp(told.gpu, own.gpu) != 0)
            return LIBCOLL_GPU;
    }
    return LIBCOLL_FITS;
}

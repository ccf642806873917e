/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a job know of each other before their first message. Each process publishes
 * a record. MPI_Init exchanges the records together with the processes' addresses.
 */
#include "ompi/component.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "coll.libcoll" /* Open MPI takes it as a char * */

/*
 * The record of a process. It is text, which has the same meaning for all versions and byte orders.
 */
typedef struct record {
    char identity[32]; /* equal if processes can use libcoll together */
    char gpu[8];       /* whether its buffers may be in GPU memory */
    char takes_part[8];
    char one_host[8];
    char reports[8];
    char records[8];
} record;

static record make_record(const libcoll_word *word) {
    static const uint16_t number = 1;
    unsigned char first;
    record told = {.identity = ""};
    memcpy(&first, &number, 1);
    snprintf(told.identity, sizeof told.identity, "%d.%d.%d, %s", COLL_MAJOR, COLL_MINOR,
             COLL_RELEASE, first ? "little-endian" : "big-endian");
    snprintf(told.gpu, sizeof told.gpu, "%d", word->gpu);
    snprintf(told.takes_part, sizeof told.takes_part, "%d", word->takes_part);
    snprintf(told.one_host, sizeof told.one_host, "%d", word->one_host);
    snprintf(told.reports, sizeof told.reports, "%d", word->reports);
    snprintf(told.records, sizeof told.records, "%d", word->records);
    return told;
}

void libcoll_tell(const libcoll_word *word) {
    record told = make_record(word);
    libcoll_publish(KEY, &told, sizeof told);
}

static bool receive_record(const opal_process_name_t *process, record *told) {
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

static opal_process_name_t process_of(int rank) {
    return (opal_process_name_t){.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = (uint32_t)rank};
}

const libcoll_word *libcoll_first_word(void) {
    static libcoll_word word;
    static bool known;
    record told;
    opal_process_name_t first = process_of(0);
    if (!known && receive_record(&first, &told))
        word = (libcoll_word){.takes_part = atoi(told.takes_part),
                              .one_host = atoi(told.one_host),
                              .reports = atoi(told.reports),
                              .records = atoi(told.records)};
    known = true;
    return &word;
}

libcoll_fit libcoll_find_fit(int ranks) {
    record own = make_record(&(libcoll_word){.gpu = false}), told;
    for (int rank = 0; rank < ranks; rank++) {
        opal_process_name_t process = process_of(rank);
        if (!receive_record(&process, &told) || strcmp(told.identity, own.identity) != 0)
            return LIBCOLL_STRANGER;
        if (strcmp(told.gpu, own.gpu) != 0)
            return LIBCOLL_GPU;
    }
    return LIBCOLL_FITS;
}

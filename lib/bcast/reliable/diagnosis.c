/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/diagnosis.h"

#include "lib/base/error.h"

#include <stdio.h>

int coll_diagnosis_suspect(const coll_diagnosis *diagnosis, int root) {
    if (diagnosis->fault == COLL_FAULT_SILENT || diagnosis->from == root)
        return diagnosis->who;
    return diagnosis->from;
}

static const char *host_of(const coll_topo *topo, int rank) {
    return topo->hosts[topo->places[rank].node];
}

/* Writes the silent ranks to TEXT, such as "rank 3 on n3, rank 4 on n4 (and 2 more)". */
static void name_silent(const coll_diagnosis *diagnosis, const coll_topo *topo, char *text,
                        size_t size) {
    int length =
        snprintf(text, size, "rank %d on %s", diagnosis->who, host_of(topo, diagnosis->who));
    int named = 0;
    for (; named < diagnosis->more && named < COLL_DIAGNOSIS_ALSO && length < (int)size; named++)
        length += snprintf(text + length, size - (size_t)length, ", rank %d on %s",
                           diagnosis->also[named], host_of(topo, diagnosis->also[named]));
    if (diagnosis->more > named && length < (int)size)
        snprintf(text + length, size - (size_t)length, " (and %d more)", diagnosis->more - named);
}

int coll_diagnosis_error(const coll_diagnosis *diagnosis, const coll_topo *topo, unsigned tries) {
    const char *host = host_of(topo, diagnosis->who);
    char tried[32] = "", silent[160];
    if (tries > 1)
        snprintf(tried, sizeof tried, ", %u tries", tries);
    if (diagnosis->fault == COLL_FAULT_SILENT) {
        name_silent(diagnosis, topo, silent, sizeof silent);
        return coll_error(
            MPI_ERR_OTHER,
            "%s silent for %.1f s%s; see what keeps it, or raise COLL_TIMEOUT (seconds)", silent,
            diagnosis->seconds, tried);
    }
    if (diagnosis->fault == COLL_FAULT_MEMORY)
        return coll_error(MPI_ERR_NO_MEM, "rank %d on %s has no memory for another try",
                          diagnosis->who, host);
    if (diagnosis->fault == COLL_FAULT_STUCK)
        return coll_error(
            MPI_ERR_OTHER,
            "nothing from rank %d on %s to rank %d on %s for %.1f s%s; see what keeps "
            "it, or raise COLL_TIMEOUT (seconds)",
            diagnosis->from, host_of(topo, diagnosis->from), diagnosis->who, host,
            diagnosis->seconds, tried);
    return coll_error(
        MPI_ERR_OTHER,
        "segment %llu from rank %d on %s was corrupt at rank %d on %s%s; check memory "
        "and network of both",
        (unsigned long long)diagnosis->segment, diagnosis->from, host_of(topo, diagnosis->from),
        diagnosis->who, host, tried);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/diagnosis.h"

#include "lib/base/error.h"

#include <stdio.h>

int coll_diagnosis_suspect(const coll_diagnosis *blame, int root) {
    if (blame->fault == COLL_FAULT_SILENT || blame->from == root)
        return blame->who;
    return blame->from;
}

static const char *host_of(const coll_topo *topo, int rank) {
    return topo->hosts[topo->places[rank].node];
}

/* "rank 3 on n3, rank 4 on n4 (and 2 more)" */
static void name_silent(const coll_diagnosis *blame, const coll_topo *topo, char *text,
                        size_t size) {
    int length = snprintf(text, size, "rank %d on %s", blame->who, host_of(topo, blame->who));
    int named = 0;
    for (; named < blame->more && named < COLL_DIAGNOSIS_ALSO && length < (int)size; named++)
        length += snprintf(text + length, size - (size_t)length, ", rank %d on %s",
                           blame->also[named], host_of(topo, blame->also[named]));
    if (blame->more > named && length < (int)size)
        snprintf(text + length, size - (size_t)length, " (and %d more)", blame->more - named);
}

int coll_diagnosis_error(const coll_diagnosis *blame, const coll_topo *topo, unsigned tries) {
    const char *host = host_of(topo, blame->who);
    char tried[32] = "", silent[160];
    if (tries > 1)
        snprintf(tried, sizeof tried, ", %u tries", tries);
    if (blame->fault == COLL_FAULT_SILENT) {
        name_silent(blame, topo, silent, sizeof silent);
        return coll_error(
            MPI_ERR_OTHER,
            "%s silent for %.1f s%s; see what keeps it, or raise COLL_TIMEOUT (seconds)", silent,
            blame->seconds, tried);
    }
    if (blame->fault == COLL_FAULT_STUCK)
        return coll_error(
            MPI_ERR_OTHER,
            "nothing from rank %d on %s to rank %d on %s for %.1f s%s; see what keeps "
            "it, or raise COLL_TIMEOUT (seconds)",
            blame->from, host_of(topo, blame->from), blame->who, host, blame->seconds, tried);
    return coll_error(
        MPI_ERR_OTHER,
        "segment %llu from rank %d on %s was corrupt at rank %d on %s%s; check memory "
        "and network of both",
        (unsigned long long)blame->segment, blame->from, host_of(topo, blame->from), blame->who,
        host, tried);
}

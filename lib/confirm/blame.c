#include "config.h"

#include "lib/confirm/blame.h"

#include "lib/error.h"

#include <stdio.h>

int coll_blame_suspect(const coll_blame *blame, int root) {
    if (blame->fault == COLL_FAULT_SILENT || blame->from == root)
        return blame->who;
    return blame->from;
}

static const char *host_of(const coll_topo *topo, int rank) {
    return topo->hosts[topo->places[rank].node];
}

int coll_blame_error(const coll_blame *blame, const coll_topo *topo, unsigned tries) {
    const char *host = host_of(topo, blame->who);
    char more[32] = "", tried[32] = "";
    if (blame->more)
        snprintf(more, sizeof more, " (and %d more)", blame->more);
    if (tries > 1)
        snprintf(tried, sizeof tried, ", %u tries", tries);
    if (blame->fault == COLL_FAULT_SILENT)
        return coll_error(MPI_ERR_OTHER,
                          "rank %d on %s%s silent for %.1f s%s; see what keeps it, or raise "
                          "COLL_TIMEOUT (seconds)",
                          blame->who, host, more, blame->seconds, tried);
    if (blame->fault == COLL_FAULT_STUCK)
        return coll_error(
            MPI_ERR_OTHER,
            "nothing from rank %d on %s to rank %d on %s for %.1f s%s; see what keeps "
            "it, or raise COLL_TIMEOUT (seconds)",
            blame->from, host_of(topo, blame->from), blame->who, host, blame->seconds, tried);
    return coll_error(MPI_ERR_OTHER,
                      "chunk %llu from rank %d on %s was corrupt at rank %d on %s%s; check memory "
                      "and network of both",
                      (unsigned long long)blame->chunk, blame->from, host_of(topo, blame->from),
                      blame->who, host, tried);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/latency_monitor.h"

#include "lib/base/error.h"
#include "lib/base/ticks.h"

#include <stdlib.h>
#include <string.h>

/* The time between two broadcasts of rank 0, with which it may begin rounds of probes; seconds. */
static const double NAP = 20e-3;

int latency_monitor_open(latency_monitor *o, MPI_Comm comm) {
    coll_comm *state;
    *o = (latency_monitor){.comm = comm};
    unsetenv("COLL_LATENCIES"); /* with a file of latencies they would not be measured */
    int code = MPI_Comm_rank(comm, &o->rank);
    if (code == MPI_SUCCESS)
        code = coll_comm_get(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    const coll_topo *topo = &coll_state_of(state)->topo;
    if (!hlot_site_state_possible(topo))
        return coll_error(MPI_ERR_TOPOLOGY,
                          "the ranks are at %d site%s, and 2 to %d are needed; set COLL_TOPOLOGY",
                          topo->sites, topo->sites == 1 ? "" : "s", HLOT_SITES);
    return hlot_site_state_get(state, true, &o->site_state);
}

/* What rank 0 broadcasts: whether to continue, and the round that it begins, or 0. */
enum { MORE, ROUND, WORDS };

static int run_round(latency_monitor *o, uint32_t word[WORDS]) {
    int code = MPI_SUCCESS;
    if (o->rank == 0)
        code = hlot_latency_begin(o->site_state->latency, &word[ROUND]);
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(word, WORDS, MPI_UINT32_T, 0, o->comm);
    return code == MPI_SUCCESS ? hlot_latency_take_part(o->site_state->latency, word[ROUND], 0)
                               : code;
}

int latency_monitor_run(latency_monitor *o, double seconds) {
    uint32_t word[WORDS] = {1, 0};
    double began = MPI_Wtime();
    int code = MPI_SUCCESS;
    while (word[MORE] && code == MPI_SUCCESS) {
        coll_sleep(NAP);
        word[MORE] = MPI_Wtime() - began < seconds;
        code = run_round(o, word);
    }
    return code;
}

/* Appends HOST to the list of a site. Returns false if memory is short. */
static bool add_host(char **list, const char *host) {
    size_t before = *list ? strlen(*list) : 0, added = strlen(host);
    char *joined = realloc(*list, before + added + 2);
    if (!joined)
        return false;
    *list = joined;
    if (before)
        joined[before++] = ',';
    memcpy(joined + before, host, added + 1);
    return true;
}

bool latency_monitor_read(const latency_monitor *o, hlot_matrix *matrix) {
    const coll_topo *topo = &o->site_state->state->topo;
    bool good = true;
    *matrix = (hlot_matrix){.sites = topo->sites};
    memcpy(matrix->latency, *hlot_latency_known(o->site_state->latency, NULL),
           sizeof matrix->latency);
    for (int site = 0; site < topo->sites; site++)
        snprintf(matrix->names[site], HLOT_NAME, "site%d", site);
    for (int rank = 0, next = 0; rank < topo->ranks && good; rank++) {
        const coll_place *place = &topo->places[rank];
        if (place->node < next)
            continue;
        next = place->node + 1;
        good = add_host(&matrix->hosts[place->site], topo->hosts[place->node]);
    }
    if (!good)
        hlot_matrix_free(matrix);
    return good;
}

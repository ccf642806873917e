#include "config.h"

#include "hlot/byhand.h"

#include "lib/base/textfile.h"

#include <string.h>

static bool take_rows_in_order(const coll_lines *file, const hlot_matrix *matrix, int sites,
                               int rows[]) {
    if (matrix->sites != sites)
        return coll_refuse(file, "%d sites where the ranks are at %d; give it lines of hosts",
                           matrix->sites, sites);
    for (int site = 0; site < sites; site++)
        rows[site] = site;
    return true;
}

/* The hosts of a site must be of one row, and no two sites of the same. */
static bool take_rows_by_hosts(const coll_lines *file, const hlot_matrix *matrix,
                               const coll_topo *topo, int rows[]) {
    for (int site = 0; site < topo->sites; site++)
        rows[site] = -1;
    for (int rank = 0; rank < topo->ranks; rank++) {
        const char *host = topo->hosts[topo->places[rank].node];
        int site = topo->places[rank].site, row = hlot_matrix_find_host(matrix, host);
        if (row < 0)
            return coll_refuse(file, "host %.60s is in none of its lines of hosts; add it", host);
        bool good = rows[site] < 0 || rows[site] == row;
        for (int other = 0; other < topo->sites; other++)
            good = good && (other == site || rows[other] != row);
        if (!good)
            return coll_refuse(
                file, "host %.60s is at %.40s, but not so by COLL_TOPOLOGY; correct one of them",
                host, matrix->names[row]);
        rows[site] = row;
    }
    return true;
}

/* Every site must be reached from every other; names the first that is not. */
static bool check_reach(const coll_lines *file, const hlot_matrix *matrix, const int rows[],
                        int sites, hlot_latencies latency) {
    hlot_network network = {.sites = sites};
    memcpy(network.latency, latency, sizeof network.latency);
    for (int root = 0; root < sites; root++) {
        bool lost[HLOT_SITES];
        if (!hlot_unreachable(&network, root, lost))
            continue;
        int site = 0;
        while (!lost[site])
            site++;
        return coll_refuse(file, "there is no path from %.40s to %.40s", matrix->names[rows[root]],
                           matrix->names[rows[site]]);
    }
    return true;
}

bool hlot_byhand_read(const char *path, const coll_topo *topo, hlot_latencies latency,
                      char *problem) {
    const coll_lines file = {.kind = "matrix file", .path = path, .problem = problem};
    hlot_matrix matrix;
    int rows[HLOT_SITES], sites = topo->sites;
    if (!hlot_matrix_read(path, &matrix, problem))
        return false;
    bool good = matrix.hosts[0] ? take_rows_by_hosts(&file, &matrix, topo, rows)
                                : take_rows_in_order(&file, &matrix, sites, rows);
    for (int from = 0; from < sites && good; from++)
        for (int to = 0; to < sites; to++)
            latency[from][to] = matrix.latency[rows[from]][rows[to]];
    good = good && check_reach(&file, &matrix, rows, sites, latency);
    hlot_matrix_free(&matrix);
    return good;
}

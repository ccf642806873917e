#include "config.h"

#include "hlot/report.h"

#include "app/cli.h"
#include "app/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const double MS = 1e3; /* in a second */

static void print_time(FILE *stream, double seconds, int width) {
    if (seconds < INFINITY)
        fprintf(stream, " %*.3f", width, seconds * MS);
    else
        fprintf(stream, " %*s", width, "-");
}

void hlot_report_matrix(FILE *stream, const hlot_matrix *matrix, const int groups[]) {
    fprintf(stream, "# latencies in ms, from row to column\n%-12s", "");
    for (int site = 0; site < matrix->sites; site++)
        fprintf(stream, " %9.9s", matrix->names[site]);
    fputs(groups ? "  group\n" : "\n", stream);
    for (int from = 0; from < matrix->sites; from++) {
        fprintf(stream, "%-12.12s", matrix->names[from]);
        for (int to = 0; to < matrix->sites; to++)
            print_time(stream, from == to ? 0 : matrix->latency[from][to], 9);
        if (groups)
            fprintf(stream, "  %5d", groups[from]);
        fputc('\n', stream);
    }
}

void hlot_report_levels(FILE *stream, const hlot_matrix *matrix, const int groups[]) {
    int count = 0;
    for (int site = 0; site < matrix->sites; site++)
        count = groups[site] >= count ? groups[site] + 1 : count;
    bool light = count < matrix->sites;
    fprintf(stream,
            "# levels\n"
            "heavy wide area  %d group%s of sites: latency-optimal tree\n"
            "light wide area  %s\n"
            "local network    within a site: by the table of broadcasts, least predicted time\n"
            "node             shared memory or the host's TCP: the MPI library's own\n",
            count, count == 1 ? "" : "s",
            light ? "sites of one group: flat" : "none: every site is a group by itself");
}

static void print_below(FILE *stream, const hlot_matrix *matrix, const hlot_tree *tree,
                        const double arrival[], int site, int depth) {
    const int *children;
    int parent = tree->parent[site], count = hlot_tree_children(tree, site, &children);
    fprintf(stream, "%*s%-*.*s %10.3f", 2 * depth, "", 30 - 2 * depth, 30 - 2 * depth,
            matrix->names[site], arrival[site] * MS);
    if (parent >= 0)
        fprintf(stream, "   %.3f from %s", matrix->latency[parent][site] * MS,
                matrix->names[parent]);
    fputc('\n', stream);
    for (int i = 0; i < count; i++)
        print_below(stream, matrix, tree, arrival, children[i], depth < 12 ? depth + 1 : depth);
}

void hlot_report_tree(FILE *stream, const hlot_matrix *matrix, const hlot_tree *tree,
                      const double arrival[], const char *heading) {
    fprintf(stream, "# %s\n%-30s %10s   %s\n", heading, "site", "arrival_ms", "link_ms");
    print_below(stream, matrix, tree, arrival, tree->root, 0);
}

void hlot_report_kinds(FILE *stream, const hlot_network *network, int root, FILE *json) {
    hlot_tree tree;
    double times[HLOT_KINDS];
    fprintf(stream, "%-10s %12s %9s %9s\n", "tree", "total_ms", "vs_flat", "children");
    for (int kind = 0; kind < HLOT_KINDS; kind++)
        times[kind] = hlot_tree_make(network, (hlot_kind)kind, root, &tree);
    for (int kind = 0; kind < HLOT_KINDS; kind++) {
        const int *children;
        hlot_tree_make(network, (hlot_kind)kind, root, &tree);
        int count = hlot_tree_children(&tree, root, &children);
        double gain = times[kind] < INFINITY ? times[HLOT_FLAT] / times[kind] : 0;
        fprintf(stream, "%-10s", hlot_kind_name((hlot_kind)kind));
        print_time(stream, times[kind], 12);
        fprintf(stream, " %9.3f %9d\n", gain, count);
        cli_json line;
        cli_json_begin(&line, json);
        cli_json_text(&line, "tree", hlot_kind_name((hlot_kind)kind));
        cli_json_number(&line, "total_ms", times[kind] * MS);
        cli_json_number(&line, "vs_flat", gain);
        cli_json_integer(&line, "root_children", count);
        cli_json_end(&line);
    }
}

/* --- random matrices --- */

/* More than 0 and at most 1. */
static double lot(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 33) + 1) / 2147483648.0;
}

static void make_random(uint64_t *state, int most, bool with_gap, hlot_network *network) {
    network->sites = 2 + (int)((most - 1) * lot(state)) % (most - 1);
    for (int from = 0; from < network->sites; from++)
        for (int to = 0; to < network->sites; to++)
            network->latency[from][to] = 5e-3 * pow(lot(state), -1 / 1.2);
    network->gap = with_gap ? 1e-5 * pow(10, 3 * lot(state)) : 0;
    network->segments = with_gap ? floor(pow(2, 6 * lot(state))) : 1;
}

/* What one matrix gave: how many times as fast. */
enum { HLOT_TO_FLAT, PLUS_TO_FLAT, PLUS_TO_BEST, GAINS };

static bool compare_one(const hlot_network *network, double gains[GAINS]) {
    double times[HLOT_KINDS], best = INFINITY;
    hlot_tree tree;
    for (int kind = 0; kind < HLOT_KINDS; kind++) {
        times[kind] = hlot_tree_make(network, (hlot_kind)kind, 0, &tree);
        if (kind != HLOT_PLUS)
            best = fmin(best, times[kind]);
    }
    gains[HLOT_TO_FLAT] = times[HLOT_FLAT] / times[HLOT_PAPER];
    gains[PLUS_TO_FLAT] = times[HLOT_FLAT] / times[HLOT_PLUS];
    gains[PLUS_TO_BEST] = best / times[HLOT_PLUS];
    const double rounding = 1 + 1e-12;
    return (network->gap > 0 || times[HLOT_PAPER] <= times[HLOT_FLAT] * rounding) &&
           times[HLOT_PLUS] <= best;
}

static void print_gains(FILE *stream, const char *what, const char *model, double gains[],
                        int count, FILE *json) {
    static const double shares[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    static const char *const keys[] = {"least", "p5", "p25", "median", "p75", "p95", "most"};
    cli_json line;
    stats_sort(gains, count);
    fprintf(stream, "%-28s %-12s", what, model);
    cli_json_begin(&line, json);
    cli_json_text(&line, "ratio", what);
    cli_json_text(&line, "model", model);
    cli_json_integer(&line, "matrices", count);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double gain = stats_quantile(gains, count, shares[i]);
        fprintf(stream, " %8.3f", gain);
        cli_json_number(&line, keys[i], gain);
    }
    fputc('\n', stream);
    cli_json_end(&line);
}

bool hlot_report_random(FILE *stream, int count, int sites, uint64_t seed, FILE *json) {
    static const char *const names[GAINS] = {"hlot over flat", "hlot+ over flat",
                                             "hlot+ over best other"};
    int half = (count + 1) / 2, bad = 0;
    double *gains = malloc((size_t)half * GAINS * sizeof *gains);
    if (!gains)
        return false;
    fprintf(stream,
            "# %d random matrices of 2 to %d sites; how many times as fast, in the model\n"
            "%-28s %-12s %8s %8s %8s %8s %8s %8s %8s\n",
            2 * half, sites, "ratio", "model", "least", "p5", "p25", "median", "p75", "p95",
            "most");
    for (int with_gap = 0; with_gap < 2; with_gap++) {
        for (int i = 0; i < half; i++) {
            hlot_network network;
            double each[GAINS];
            make_random(&seed, sites, with_gap, &network);
            bad += !compare_one(&network, each);
            for (int gain = 0; gain < GAINS; gain++)
                gains[gain * half + i] = each[gain];
        }
        for (int gain = 0; gain < GAINS; gain++)
            print_gains(stream, names[gain], with_gap ? "with gaps" : "latencies",
                        gains + gain * half, half, json);
    }
    fprintf(stream, "# where hlot was slower than flat by latencies, or hlot+ than any: %d\n", bad);
    free(gains);
    return bad == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/hlot_report.h"

#include "app/drawer.h"
#include "app/json.h"

#include <math.h>
#include <string.h>

static const double MS = 1e3; /* milliseconds in a second */

static void print_time(double seconds, int width) {
    if (seconds < INFINITY)
        printf(" %*.3f", width, seconds * MS);
    else
        printf(" %*s", width, "-");
}

void hlot_report_matrix(const hlot_matrix *matrix, const int groups[]) {
    printf("# latencies in ms, from row to column\n%-12s", "");
    for (int site = 0; site < matrix->sites; site++)
        printf(" %9.9s", matrix->names[site]);
    fputs(groups ? "  group\n" : "\n", stdout);
    for (int from = 0; from < matrix->sites; from++) {
        printf("%-12.12s", matrix->names[from]);
        for (int to = 0; to < matrix->sites; to++)
            print_time(from == to ? 0 : matrix->latency[from][to], 9);
        if (groups)
            printf("  %5d", groups[from]);
        putchar('\n');
    }
}

void hlot_report_levels(const hlot_matrix *matrix, const int groups[]) {
    int count = 0;
    for (int site = 0; site < matrix->sites; site++)
        count = groups[site] >= count ? groups[site] + 1 : count;
    bool light = count < matrix->sites;
    printf("# levels\n"
           "heavy wide area  %d group%s of sites: latency-optimal tree\n"
           "light wide area  %s\n"
           "local network    within a site: by the table of broadcasts, least predicted time\n"
           "node             shared memory or the host's TCP: the MPI library's own\n",
           count, count == 1 ? "" : "s",
           light ? "sites of one group: flat" : "none: every site is a group by itself");
}

static void print_subtree(const hlot_matrix *matrix, const hlot_tree *tree, const double arrival[],
                          int site, int depth) {
    const int *children;
    int parent = tree->parent[site], count = hlot_tree_children(tree, site, &children);
    printf("%*s%-*.*s %10.3f", 2 * depth, "", 30 - 2 * depth, 30 - 2 * depth, matrix->names[site],
           arrival[site] * MS);
    if (parent >= 0)
        printf("   %.3f from %s", matrix->latency[parent][site] * MS, matrix->names[parent]);
    putchar('\n');
    for (int i = 0; i < count; i++)
        print_subtree(matrix, tree, arrival, children[i], depth < 12 ? depth + 1 : depth);
}

void hlot_report_tree(const hlot_matrix *matrix, const hlot_tree *tree, const double arrival[],
                      const char *heading) {
    printf("# %s\n%-30s %10s   %s\n", heading, "site", "arrival_ms", "link_ms");
    print_subtree(matrix, tree, arrival, tree->root, 0);
}

void hlot_report_kinds(const hlot_network *network, int root, FILE *json) {
    hlot_tree tree;
    double times[HLOT_KINDS];
    printf("%-10s %12s %9s %9s\n", "tree", "total_ms", "vs_flat", "children");
    for (int kind = 0; kind < HLOT_KINDS; kind++)
        times[kind] = hlot_tree_make(network, (hlot_kind)kind, root, &tree);
    for (int kind = 0; kind < HLOT_KINDS; kind++) {
        const int *children;
        hlot_tree_make(network, (hlot_kind)kind, root, &tree);
        int count = hlot_tree_children(&tree, root, &children);
        double gain = times[kind] < INFINITY ? times[HLOT_FLAT] / times[kind] : 0;
        printf("%-10s", hlot_kind_name(kind));
        print_time(times[kind], 12);
        printf(" %9.3f %9d\n", gain, count);
        app_json(json, app_json_text("tree", hlot_kind_name(kind)),
                 app_json_number("total_ms", times[kind] * MS), app_json_number("vs_flat", gain),
                 app_json_integer("root_children", count));
    }
}

bool hlot_report_study(const hlot_tree_quality_settings *settings, FILE *json,
                       app_problem *problem) {
    hlot_tree_quality qualities[HLOT_KINDS];
    if (!hlot_tree_quality_run(settings, qualities))
        return app_refuse(problem, "out of memory for %d networks", settings->networks);
    printf("# %d random networks of %d sites, compared with the best %s\n%-10s %9s %9s %9s\n",
           settings->networks, settings->sites,
           settings->sites <= HLOT_EXHAUSTED ? "of all trees" : "of these", "tree", "median",
           "worst", "best_in");
    for (int kind = 0; kind < HLOT_KINDS; kind++) {
        const hlot_tree_quality *q = &qualities[kind];
        printf("%-10s %9.3f %9.3f %9d\n", hlot_kind_name(kind), q->median, q->worst, q->best);
        app_json(json, app_json_integer("sites", settings->sites),
                 app_json_text("tree", hlot_kind_name(kind)), app_json_number("median", q->median),
                 app_json_number("worst", q->worst), app_json_integer("best_in", q->best),
                 app_json_integer("networks", settings->networks));
    }
    return true;
}

/*
 * Writes the tree in graphviz's language: sites are boxes, and groups of several sites are framed.
 */
static void write_dot(FILE *stream, const void *context) {
    const hlot_drawing *drawing = context;
    const hlot_tree *tree = drawing->tree;
    const hlot_matrix *matrix = drawing->matrix;
    const int *groups = drawing->groups;
    fprintf(stream,
            "digraph tree {\n"
            "  label=\"%s\"; labelloc=t; fontname=\"Helvetica\"; bgcolor=white;\n"
            "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eaf2fb\", "
            "fontname=\"Helvetica\"];\n"
            "  edge [fontname=\"Helvetica\", fontsize=11];\n",
            drawing->title);
    for (int group = 0; group < tree->sites; group++) {
        int members = 0;
        for (int site = 0; site < tree->sites; site++)
            members += groups[site] == group;
        if (members > 1)
            fprintf(stream, "  subgraph cluster%d { label=\"\"; style=dashed;\n", group);
        for (int site = 0; site < tree->sites; site++)
            if (groups[site] == group)
                fprintf(stream, "  s%d [label=\"%s\\n%.4g ms\"%s];\n", site, matrix->names[site],
                        drawing->arrival[site] * 1e3,
                        site == tree->root ? ", fillcolor=\"#ffe2a8\", penwidth=2" : "");
        if (members > 1)
            fputs("  }\n", stream);
    }
    for (int i = 1; i < tree->sites; i++) {
        int site = tree->order[i], parent = tree->parent[site];
        fprintf(stream, "  s%d -> s%d [label=\" %.4g\"];\n", parent, site,
                matrix->latency[parent][site] * 1e3);
    }
    fputs("}\n", stream);
}

bool hlot_draw(const char *path, const hlot_drawing *drawing, app_problem *problem) {
    static const app_drawer svg = {"dot", "dot -Tsvg", "graphviz", false};
    static const app_drawer png = {"dot", "dot -Tpng", "graphviz", true};
    const char *dot = strrchr(path, '.');
    bool is_svg = dot && strcmp(dot, ".svg") == 0, is_png = dot && strcmp(dot, ".png") == 0;
    if (!is_svg && !is_png)
        return app_refuse(problem, "%s: can't be drawn: the name must end in .svg or .png", path);
    return app_draw(is_svg ? &svg : &png, path, write_dot, drawing, problem);
}

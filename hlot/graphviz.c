#include "config.h"

#include "hlot/graphviz.h"

#include "app/drawer.h"

#include <string.h>

/* The tree in the language of graphviz: sites as boxes, groups of several around them. */
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

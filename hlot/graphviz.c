#include "config.h"

#include "hlot/graphviz.h"

#include "app/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The tree in the language of graphviz: sites as boxes, groups of several around them. */
static void print_dot(FILE *stream, const hlot_matrix *matrix, const hlot_tree *tree,
                      const double arrival[], const int groups[], const char *title) {
    fprintf(stream,
            "digraph tree {\n"
            "  label=\"%s\"; labelloc=t; fontname=\"Helvetica\"; bgcolor=white;\n"
            "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eaf2fb\", "
            "fontname=\"Helvetica\"];\n"
            "  edge [fontname=\"Helvetica\", fontsize=11];\n",
            title);
    for (int group = 0; group < tree->sites; group++) {
        int members = 0;
        for (int site = 0; site < tree->sites; site++)
            members += groups[site] == group;
        if (members > 1)
            fprintf(stream, "  subgraph cluster%d { label=\"\"; style=dashed;\n", group);
        for (int site = 0; site < tree->sites; site++)
            if (groups[site] == group)
                fprintf(stream, "  s%d [label=\"%s\\n%.4g ms\"%s];\n", site, matrix->names[site],
                        arrival[site] * 1e3,
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

/* Starts dot, which writes FORMAT to the file TARGET; *INPUT is what it reads. 0 or an errno. */
static int start_dot(const char *format, int target, FILE **input, pid_t *child) {
    int ends[2];
    char option[16];
    char *arguments[] = {"dot", option, NULL};
    posix_spawn_file_actions_t actions;
    snprintf(option, sizeof option, "-T%s", format);
    if (pipe(ends))
        return errno;
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_adddup2(&actions, target, 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int error = posix_spawnp(child, "dot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    *input = error ? NULL : fdopen(ends[1], "w");
    if (!*input)
        close(ends[1]);
    return error;
}

static bool refuse(struct problem *problem, const char *path, const char *what) {
    return problem_set(problem, "%s: can't be drawn: %s", path, what);
}

static bool finish_dot(FILE *input, pid_t child) {
    int status = 0;
    bool good = input && fflush(input) == 0;
    if (input)
        fclose(input);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool draw_to(const struct output *picture, const char *format, const hlot_matrix *matrix,
                    const hlot_tree *tree, const double arrival[], const int groups[],
                    const char *title, struct problem *problem) {
    const char *path = picture->path;
    FILE *input;
    pid_t child;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int error = start_dot(format, fileno(picture->file), &input, &child);
    if (error == ENOENT)
        return refuse(problem, path,
                      "graphviz's dot is missing; install the Debian package "
                      "graphviz");
    if (error)
        return refuse(problem, path, strerror(error));
    sigaction(SIGPIPE, &ignore, &before); /* dot may end early; its status tells */
    if (input)
        print_dot(input, matrix, tree, arrival, groups, title);
    bool good = finish_dot(input, child);
    sigaction(SIGPIPE, &before, NULL);
    return good || refuse(problem, path, "graphviz's dot failed");
}

bool hlot_draw(const char *path, const hlot_matrix *matrix, const hlot_tree *tree,
               const double arrival[], const int groups[], const char *title,
               struct problem *problem) {
    struct output picture;
    const char *dot = strrchr(path, '.');
    if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0))
        return refuse(problem, path, "the name must end in .svg or .png");
    if (!output_open(&picture, path, problem))
        return false;
    bool good = draw_to(&picture, dot + 1, matrix, tree, arrival, groups, title, problem) &&
                output_commit(&picture, problem);
    output_discard(&picture);
    return good;
}

#include "config.h"

#include "app/gnuplot.h"

#include "app/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool gnuplot_check(struct problem *problem) {
    return !system("command -v gnuplot >/dev/null 2>&1") ||
           problem_set(problem, "gnuplot not found; install the Debian package gnuplot-nox");
}

/* The name goes to gnuplot through the environment, so that no character of it means anything. */
static FILE *start(const struct output *output, struct problem *problem) {
    signal(SIGPIPE, SIG_IGN); /* where it ends early the picture isn't whole, which is seen */
    FILE *gnuplot =
        setenv("PICTURE", output_name(output), 1) ? NULL : popen("gnuplot >\"$PICTURE\"", "w");
    if (!gnuplot)
        problem_set(problem, "%s: can't start gnuplot: %s", output->path, strerror(errno));
    return gnuplot;
}

/* Whether the file is a PNG to its last chunk; of a pipe nobody can tell. */
static bool is_whole(const struct output *output) {
    char end[8] = "";
    if (!output->temporary)
        return true;
    FILE *file = fopen(output->temporary, "rb");
    bool good = file && !fseek(file, -8, SEEK_END) && fread(end, 1, 8, file) == 8;
    if (file)
        fclose(file);
    return good && !memcmp(end, "IEND", 4);
}

static bool end(FILE *gnuplot, const struct output *output, struct problem *problem) {
    int status = pclose(gnuplot);
    return (status == 0 && is_whole(output)) ||
           problem_set(problem, "%s: gnuplot could not draw it", output->path);
}

bool gnuplot_draw(const char *path, void (*write)(FILE *gnuplot, const void *context),
                  const void *context, struct problem *problem) {
    struct output picture;
    if (!gnuplot_check(problem) || !output_open(&picture, path, problem))
        return false;
    FILE *gnuplot = start(&picture, problem);
    if (gnuplot)
        write(gnuplot, context);
    bool good = gnuplot && end(gnuplot, &picture, problem) && output_commit(&picture, problem);
    output_discard(&picture);
    return good;
}

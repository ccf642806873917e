/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-info learnt: shows or deletes what programs have learnt while they ran. Without MPI. */
#include "config.h"

#include "tools/commands.h"

#include "app/options.h"
#include "app/output.h"

#include <coll_tools.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: coll-info learnt [--forget]\n"
    "\n"
    "Shows what programs of this user have learnt while they ran; later runs use it. Each line\n"
    "has a placement of ranks, an operation, a size (which stands for sizes up to twice that),\n"
    "an algorithm, and the seconds that calls took with it. The fastest algorithm is used.\n";

static app_problem problem;

static bool print_file(FILE *from, const char *path) {
    char block[4096];
    size_t bytes;
    printf("# %s\n", path);
    while ((bytes = fread(block, 1, sizeof block, from)) > 0)
        fwrite(block, 1, bytes, stdout);
    if (ferror(from))
        return app_refuse(&problem, "%s can't be read: %s", path, strerror(errno));
    return app_output_flush_stdout(&problem);
}

static bool show_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT) {
        printf("# %s: nothing has been learnt\n", path);
        return app_output_flush_stdout(&problem);
    }
    if (!file)
        return app_refuse(&problem, "%s can't be read: %s", path, strerror(errno));
    bool good = print_file(file, path);
    fclose(file);
    return good;
}

static bool delete_file(const char *path) {
    return unlink(path) == 0 || errno == ENOENT ||
           app_refuse(&problem, "%s can't be deleted: %s", path, strerror(errno));
}

int learnt_main(int argc, char **argv) {
    bool forgets = false;
    const app_option table[] = {
        {"forget", NULL,
         "delete the file, so that programs learn again, for example after a change of the network",
         .flag = &forgets},
    };
    const app_command line = {"coll-info learnt", usage, NULL, APP_TABLE(table)};
    bool good = app_parse(&line, argc, argv, &problem);
    char *path = good ? COLL_Learnt_file() : NULL;
    if (good && !path)
        good = app_refuse(
            &problem, "there is no directory for what programs learn: set HOME or XDG_CACHE_HOME");
    if (good)
        good = forgets ? delete_file(path) : show_file(path);
    free(path);
    if (!good)
        fprintf(stderr, "coll-info: %s\n", problem.text);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

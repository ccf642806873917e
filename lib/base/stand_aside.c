/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/stand_aside.h"

#include "lib/base/library.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_libcoll(const char *path) {
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "libcoll_", strlen("libcoll_")) == 0;
}

/*
 * Removes libcoll's libraries from LD_PRELOAD. Returns false if there was none, or after an error.
 */
static bool remove_from_preloads(void) {
    const char *list = getenv("LD_PRELOAD");
    char *words = list ? strdup(list) : NULL, *kept = list ? calloc(strlen(list) + 1, 1) : NULL;
    char *rest = NULL, *end = kept;
    bool found = false;
    if (words && kept)
        for (char *word = strtok_r(words, ": ", &rest); word; word = strtok_r(NULL, ": ", &rest)) {
            if (is_libcoll(word))
                found = true;
            else
                end += sprintf(end, "%s%s", end > kept ? ":" : "", word);
        }
    bool removed = found && (*kept ? setenv("LD_PRELOAD", kept, 1) : unsetenv("LD_PRELOAD")) == 0;
    free(words);
    free(kept);
    return removed;
}

void coll_stand_aside(const char *built, char **argv) {
    char program[PATH_MAX];
    if (!coll_library_differs(built, "stands aside: "))
        return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0 && remove_from_preloads()) {
        program[length] = '\0';
        execv(program, argv);
    }
    _exit(1);
}

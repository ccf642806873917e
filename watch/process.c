/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool watch_process_read(int pid, watch_process_facts *facts) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    /* Search from the end: the program's name before this ')' may itself contain ')'. */
    char *rest = strrchr(text, ')');
    watch_process_facts found;
    /* The state is the 3rd field, the parent the 4th, the start time the 22nd. */
    if (!rest ||
        sscanf(rest + 1,
               " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%" SCNu64,
               &found.state, &found.parent, &found.started) != 3)
        return false;
    *facts = found;
    return true;
}

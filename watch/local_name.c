/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/local_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the number of process PID in its own PID namespace: the last number in the line NSpid. */
static int number_in_own_namespace(int pid) {
    char path[64], line[256];
    int number = pid;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "NSpid:", 6) == 0)
            number = atoi(strrchr(line, '\t') ? strrchr(line, '\t') : line + 6);
    if (file)
        fclose(file);
    return number;
}

size_t watch_local_name(int pid, struct sockaddr_un *name) {
    char path[64];
    struct stat space = {.st_ino = 0};
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    /* Containers that share a network may have processes with the same number. */
    snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
    if (stat(path, &space) != 0)
        space.st_ino = 0;
    /* A leading zero byte makes it an abstract name, outside the file system. */
    int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "coll-watch-%d-%llu",
                          number_in_own_namespace(pid), (unsigned long long)space.st_ino);
    return offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length;
}

#include "config.h"

#include "watch/local_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* PID as its own namespace numbers it: the last of the line NSpid. */
static int own_number(int pid) {
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
    /* Containers that share a network have processes of the same number. */
    snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
    if (stat(path, &space) != 0)
        space.st_ino = 0;
    /* It begins with a 0: a name that no file has. */
    int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "coll-watch-%d-%llu",
                          own_number(pid), (unsigned long long)space.st_ino);
    return offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length;
}

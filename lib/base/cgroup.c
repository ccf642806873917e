/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads the first line of DIRECTORY/NAME; returns false if there is none. */
static bool read_line(const char *directory, const char *name, char *line, int size) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool good = fgets(line, size, file) != NULL;
    fclose(file);
    return good;
}

/*
 * Returns the processors that one group grants, 0 if it has no limit. cpu.max is cgroup version 2,
 * cpu.cfs_* are version 1.
 */
static double grant_of(const char *directory) {
    char line[64];
    double quota = 0, period = 0;
    if (read_line(directory, "cpu.max", line, sizeof line)) {
        if (sscanf(line, "%lf %lf", &quota, &period) != 2) /* "max 100000" */
            return 0;
    } else {
        if (!read_line(directory, "cpu.cfs_quota_us", line, sizeof line) ||
            sscanf(line, "%lf", &quota) != 1)
            return 0;
        if (!read_line(directory, "cpu.cfs_period_us", line, sizeof line) ||
            sscanf(line, "%lf", &period) != 1)
            return 0;
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

/*
 * Returns the smallest grant among the group at MOUNT/PATH and its ancestors, 0 if none has a
 * limit. In a container PATH may be the host's path, which does not exist here, but some of its
 * ancestors do. Overwrites PATH.
 */
static double least_grant(const char *mount, char *path) {
    double least = 0;
    for (;;) {
        char directory[PATH_MAX];
        if (snprintf(directory, sizeof directory, "%s%s", mount, path) < (int)sizeof directory) {
            double grant = grant_of(directory);
            if (grant > 0 && (least <= 0 || grant < least))
                least = grant;
        }
        char *slash = strrchr(path, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Returns whether WORD is in the comma-separated LIST. */
static bool list_contains(const char *list, const char *word) {
    for (;; list++) {
        size_t length = strcspn(list, ",");
        if (length == strlen(word) && strncmp(list, word, length) == 0)
            return true;
        list += length;
        if (!*list)
            return false;
    }
}

double coll_cgroup_processors(const char *membership, const char *mount) {
    FILE *file = fopen(membership, "r");
    if (!file)
        return 0;
    double least = 0;
    char line[PATH_MAX], root[PATH_MAX];
    /* HIERARCHY:CONTROLLERS:PATH; version 2 has no CONTROLLERS */
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        if (*controllers && !list_contains(controllers, "cpu"))
            continue;
        if (snprintf(root, sizeof root, "%s%s", mount, *controllers ? "/cpu" : "") >=
            (int)sizeof root)
            continue;
        double grant = least_grant(root, path);
        if (grant > 0 && (least <= 0 || grant < least))
            least = grant;
    }
    fclose(file);
    return least;
}

#include "config.h"

#include "app/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *app_path_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash          ? strdup(".")
           : slash == path ? strdup("/")
                           : strndup(path, (size_t)(slash - path));
}

/* Where the link at PATH leads; NULL with errno, EINVAL or ENOENT where PATH is no link. */
static char *read_link(const char *path) {
    char to[PATH_MAX], *joined = NULL;
    ssize_t length = readlink(path, to, sizeof to);
    if (length < 0)
        return NULL;
    if (to[0] == '/')
        return strndup(to, (size_t)length);
    const char *slash = strrchr(path, '/');
    int before = slash ? (int)(slash - path) + 1 : 0;
    return asprintf(&joined, "%.*s%.*s", before, path, (int)length, to) < 0 ? NULL : joined;
}

char *app_path_follow(const char *path) {
    enum { LINKS_MOST = 40 }; /* as in the kernel */
    char *at = strdup(path);
    for (int links = 0; at && links < LINKS_MOST; links++) {
        char *next = read_link(at);
        if (!next && errno != ENOMEM)
            return at;
        free(at);
        at = next;
    }
    if (at)
        errno = ELOOP;
    free(at);
    return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/cachefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *coll_cachefile_path(const char *name) {
    const char *home = getenv("XDG_CACHE_HOME"), *below = "";
    if (!home || *home != '/') { /* the XDG specification says to ignore relative paths */
        home = getenv("HOME");
        below = "/.cache";
    }
    if (!home || *home != '/')
        return NULL;
    size_t room = strlen(home) + strlen(name) + 32;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s%s/libcoll/%s", home, below, name);
    return path;
}

/* Creates all directories that lead to PATH's last component. */
static int make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int error = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        *slash = '/';
        if (error)
            return error;
    }
    return 0;
}

/*
 * Creates a new file next to PATH and opens it for writing; writes the name of the new file to
 * SCRATCH, which has ROOM bytes. Returns the descriptor, or -1.
 */
static int create_temporary(const char *path, mode_t mode, char *scratch, size_t room) {
    int file = -1;
    for (int i = 0; file < 0 && (i == 0 || (errno == EEXIST && i < 100)); i++) {
        snprintf(scratch, room, "%s.%ld-%d.part", path, (long)getpid(), i);
        file = open(scratch, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    return file;
}

/* Flushes STREAM, to the disk if LASTING, and closes it. Returns 0 or an errno. */
static int flush_and_close(FILE *stream, bool lasting) {
    int error = ferror(stream) ? EIO : 0;
    if (fflush(stream) || (lasting && fsync(fileno(stream))))
        error = errno;
    if (fclose(stream) && !error)
        error = errno;
    return error;
}

int coll_cachefile_replace(const char *path, mode_t mode, coll_printer *print, const void *context,
                           bool lasting) {
    size_t room = strlen(path) + 64;
    char *scratch = malloc(room);
    if (!scratch)
        return ENOMEM;
    int file = create_temporary(path, mode, scratch, room);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    int error = stream ? 0 : errno;
    if (stream) {
        bool good = print(stream, context);
        error = flush_and_close(stream, lasting);
        error = good ? error : ECANCELED;
    } else if (file >= 0) {
        close(file);
    }
    if (!error && rename(scratch, path) != 0)
        error = errno;
    if (file >= 0 && error)
        unlink(scratch);
    free(scratch);
    return error;
}

int coll_cachefile_write(const char *path, coll_printer *print, const void *context, bool lasting) {
    char *directories = strdup(path);
    int error = directories ? make_directories(directories) : ENOMEM;
    free(directories);
    return error ? error : coll_cachefile_replace(path, 0600, print, context, lasting);
}

#include "config.h"

#include "lib/base/cachefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *coll_cachefile_path(const char *name) {
    const char *home = getenv("XDG_CACHE_HOME"), *below = "";
    if (!home || *home != '/') { /* others are to be ignored, says the standard */
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

/* Makes all directories above the last name of PATH. */
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

/* Sees what was written to STREAM through, and closes it. */
static int finish(FILE *stream, bool lasting) {
    int error = ferror(stream) ? EIO : 0;
    if (fflush(stream) || (lasting && fsync(fileno(stream))))
        error = errno;
    if (fclose(stream) && !error)
        error = errno;
    return error;
}

int coll_cachefile_write(const char *path, void (*print)(FILE *stream, const void *context),
                         const void *context, bool lasting) {
    size_t room = strlen(path) + 8;
    char *scratch = malloc(room);
    if (!scratch)
        return ENOMEM;
    snprintf(scratch, room, "%s.XXXXXX", path);
    int error = make_directories(scratch);
    int file = error ? -1 : mkstemp(scratch);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream) {
        print(stream, context);
        error = finish(stream, lasting);
    } else if (!error) {
        error = errno;
    }
    if (!stream && file >= 0)
        close(file);
    if (!error && rename(scratch, path) != 0)
        error = errno;
    if (file >= 0 && error)
        unlink(scratch);
    free(scratch);
    return error;
}

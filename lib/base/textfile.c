#include "config.h"

#include "lib/base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What keeps the open FILE from being read, or 0. */
static int judge(int file, size_t most) {
    struct stat status;
    if (fstat(file, &status))
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return EINVAL;
    return (uintmax_t)status.st_size > most ? EFBIG : 0;
}

int coll_textfile_open(const char *path, size_t most, FILE **stream) {
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* a pipe may not wait */
    if (file < 0)
        return errno;
    int error = judge(file, most);
    *stream = error ? NULL : fdopen(file, "r");
    if (!error && !*stream)
        error = errno;
    if (error)
        close(file);
    return error;
}

int coll_textfile_take(FILE *stream, size_t most, char **text, size_t *length) {
    size_t room = 0;
    int error = 0;
    *text = NULL;
    *length = 0;
    do {
        room = room ? 2 * room : 1 << 16;
        char *more = realloc(*text, room);
        if (!more) {
            error = ENOMEM;
            break;
        }
        *text = more;
        *length += fread(*text + *length, 1, room - 1 - *length, stream);
        if (ferror(stream))
            error = errno ? errno : EIO;
        else if (*length > most)
            error = EFBIG;
    } while (!error && *length == room - 1);
    if (error) {
        free(*text);
        *text = NULL;
        return error;
    }
    (*text)[*length] = '\0';
    return 0;
}

int coll_textfile_read(const char *path, size_t most, char **text, size_t *length) {
    FILE *stream;
    *text = NULL;
    int error = coll_textfile_open(path, most, &stream);
    if (error)
        return error;
    error = coll_textfile_take(stream, most, text, length);
    fclose(stream);
    return error;
}

const char *coll_textfile_fault(int error) {
    return error == EINVAL  ? "not a regular file"
           : error == EFBIG ? "too large for a file of this kind"
                            : strerror(error);
}

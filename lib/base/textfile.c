/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the error that prevents reading the open FILE, or 0. */
static int check_file(int file, size_t most) {
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
    /* O_NONBLOCK: opening a pipe must not block */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return errno;
    int error = check_file(file, most);
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

char *coll_lines_next(coll_lines *lines, size_t *length) {
    if (lines->next >= lines->end)
        return NULL;
    char *line = lines->next, *stop = memchr(line, '\n', (size_t)(lines->end - line));
    lines->line++;
    lines->next = stop ? stop + 1 : lines->end;
    stop = stop ? stop : lines->end;
    *stop = '\0';
    *length = (size_t)(stop - line);
    return line;
}

bool coll_refuse(const coll_lines *lines, const char *format, ...) {
    int used =
        snprintf(lines->problem, COLL_TEXTFILE_PROBLEM, "%s %.80s", lines->kind, lines->path);
    if (lines->line)
        used += snprintf(lines->problem + used, (size_t)(COLL_TEXTFILE_PROBLEM - used), ", line %d",
                         lines->line);
    used += snprintf(lines->problem + used, (size_t)(COLL_TEXTFILE_PROBLEM - used), ": ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(lines->problem + used, (size_t)(COLL_TEXTFILE_PROBLEM - used), format, arguments);
    va_end(arguments);
    return false;
}

char *coll_word(char **rest) {
    static const char spaces[] = " \t\r\v\f";
    char *word = *rest + strspn(*rest, spaces);
    char *end = word + strcspn(word, spaces);
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

bool coll_words_ended(const coll_lines *lines, char *rest) {
    const char *word = coll_word(&rest);
    return !*word || coll_refuse(lines, "'%.30s' is too much; remove it", word);
}

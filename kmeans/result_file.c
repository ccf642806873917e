#include "config.h"

#include "kmeans/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_writable_directory(const char *path, struct problem *problem) {
    const char *slash = strrchr(path, '/');
    char *directory = !slash          ? strdup(".")
                      : slash == path ? strdup("/")
                                      : strndup(path, (size_t)(slash - path));
    if (!directory)
        return problem_set(problem, "%s: out of memory", path);
    bool good = true;
    struct stat about;
    if (stat(directory, &about))
        good = problem_set(problem, "%s: can't be written: directory %s: %s", path, directory,
                           strerror(errno));
    else if (!S_ISDIR(about.st_mode))
        good = problem_set(problem, "%s: can't be written: %s is no directory", path, directory);
    else if (access(directory, W_OK | X_OK))
        good = problem_set(problem, "%s: can't be written: directory %s: %s", path, directory,
                           strerror(errno));
    free(directory);
    return good;
}

bool result_file_check(const char *path, const char *const *inputs, size_t count,
                       struct problem *problem) {
    struct stat about, input;
    if (!is_writable_directory(path, problem))
        return false;
    if (stat(path, &about))
        return errno == ENOENT ||
               problem_set(problem, "%s: can't be written: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return problem_set(problem, "%s: can't be written: it is there and no regular file", path);
    for (size_t i = 0; i < count; i++)
        if (stat(inputs[i], &input) == 0 && input.st_dev == about.st_dev &&
            input.st_ino == about.st_ino)
            return problem_set(problem, "%s: can't be written: it is also read, as points", path);
    return true;
}

bool result_file_open(result_file *output, const char *path, struct problem *problem) {
    static const char suffix[] = ".XXXXXX";
    *output = (result_file){.path = path};
    char *temporary = malloc(strlen(path) + sizeof suffix);
    if (!temporary)
        return problem_set(problem, "%s: out of memory", path);
    strcpy(temporary, path);
    strcat(temporary, suffix);
    output->file = mkstemp(temporary);
    if (output->file < 0) {
        free(temporary);
        return problem_set(problem, "%s: can't be written: %s", path, strerror(errno));
    }
    output->temporary = temporary;
    /* A file past the size limit is an error like a full disk, not the end of the program. */
    signal(SIGXFSZ, SIG_IGN);
    /* mkstemp makes files private; these get the permissions of any other new file. */
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(output->file, 0666 & ~mask))
        return problem_set(problem, "%s: %s", path, strerror(errno));
    return true;
}

bool result_file_write(result_file *output, const void *data, size_t bytes,
                       struct problem *problem) {
    const char *at = data;
    while (bytes > 0) {
        ssize_t done = write(output->file, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return problem_set(problem, "%s: can't be written: %s", output->path, strerror(errno));
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

bool result_file_finish(result_file *output, struct problem *problem) {
    bool good = fsync(output->file) == 0;
    int error = errno;
    if (close(output->file) && good) {
        good = false;
        error = errno;
    }
    output->file = -1;
    return good || problem_set(problem, "%s: can't be written: %s", output->path, strerror(error));
}

bool result_file_keep(result_file *output, struct problem *problem) {
    if (rename(output->temporary, output->path))
        return problem_set(problem, "%s: can't be written: %s", output->path, strerror(errno));
    free(output->temporary);
    output->temporary = NULL;
    return true;
}

void result_file_discard(result_file *output) {
    if (!output->temporary)
        return;
    if (output->file >= 0)
        close(output->file);
    unlink(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
}

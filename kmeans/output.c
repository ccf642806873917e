#include "config.h"

#include "kmeans/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

/* What a signal must remove before it ends the program. */
static char *volatile unfinished[OUTPUT_MOST];

static void remove_and_end(int number) {
    for (int i = 0; i < OUTPUT_MOST; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void) {
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction now;
        /* What is ignored (nohup) stays so. */
        if (!sigaction(ending_signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            signal(ending_signals[i], remove_and_end);
    }
    /* A file past the size limit is an error like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
}

/* Puts NAME in the place of KNOWN among the unfinished, which may be NULL for none. */
static bool exchange(const char *known, char *name) {
    int i = 0;
    while (i < OUTPUT_MOST && unfinished[i] != known)
        i++;
    if (i == OUTPUT_MOST)
        return false;
    unfinished[i] = name;
    return true;
}

static void forget(struct output *output) {
    exchange(output->temporary, NULL);
    free(output->temporary);
    output->temporary = NULL;
}

/* The directory of PATH, to be freed, or NULL. */
static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash          ? strdup(".")
           : slash == path ? strdup("/")
                           : strndup(path, (size_t)(slash - path));
}

static bool check_directory(const char *path, struct problem *problem) {
    struct stat about;
    char *directory = directory_of(path);
    if (!directory)
        return problem_set(problem, "%s: out of memory", path);
    bool good = true;
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

bool output_check(const char *path, const char *const *inputs, size_t count,
                  struct problem *problem) {
    struct stat about, input;
    if (!check_directory(path, problem))
        return false;
    if (stat(path, &about))
        return errno == ENOENT ||
               problem_set(problem, "%s: can't be written: %s", path, strerror(errno));
    /* Renaming onto a device or a directory's name would be no writing to it. */
    if (!S_ISREG(about.st_mode))
        return problem_set(problem, "%s: can't be written: it is there and no regular file", path);
    for (size_t i = 0; i < count; i++)
        if (stat(inputs[i], &input) == 0 && input.st_dev == about.st_dev &&
            input.st_ino == about.st_ino)
            return problem_set(problem, "%s: can't be written: it is also read, as points", path);
    return true;
}

bool output_failed(const struct output *output, struct problem *problem) {
    return problem_set(problem, "%s: can't be written: %s", output->path, strerror(errno));
}

/* Creates the temporary file, with the permissions that the user's umask gives. */
static bool create(struct output *output, struct problem *problem) {
    mode_t mask = umask(0);
    umask(mask);
    int descriptor = mkstemp(output->temporary);
    if (descriptor < 0)
        return output_failed(output, problem);
    if (!exchange(NULL, output->temporary))
        errno = EMFILE;
    else if (!fchmod(descriptor, 0666 & ~mask))
        output->file = fdopen(descriptor, "wb");
    if (output->file)
        return true;
    output_failed(output, problem);
    close(descriptor);
    unlink(output->temporary);
    return false;
}

bool output_open(struct output *output, const char *path, struct problem *problem) {
    static const char suffix[] = ".XXXXXX";
    *output = (struct output){.path = path};
    if (!output_check(path, NULL, 0, problem))
        return false;
    size_t size = strlen(path) + sizeof suffix;
    output->temporary = malloc(size);
    if (!output->temporary)
        return problem_set(problem, "%s: out of memory", path);
    snprintf(output->temporary, size, "%s%s", path, suffix);
    watch_signals();
    if (create(output, problem))
        return true;
    forget(output);
    return false;
}

bool output_write(struct output *output, const void *data, size_t bytes, struct problem *problem) {
    return fwrite(data, 1, bytes, output->file) == bytes || output_failed(output, problem);
}

bool output_finish(struct output *output, struct problem *problem) {
    bool good = !fflush(output->file) && !ferror(output->file) && !fsync(fileno(output->file));
    if (!good)
        output_failed(output, problem);
    if (fclose(output->file) && good)
        good = output_failed(output, problem);
    output->file = NULL;
    return good;
}

/* A new name is for good when its directory is on disk. Where directories can't be synchronised
 * there is nothing more to do. */
static void sync_directory(const char *path) {
    char *directory = directory_of(path);
    int file = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        fsync(file);
        close(file);
    }
    free(directory);
}

bool output_keep(struct output *output, struct problem *problem) {
    if (rename(output->temporary, output->path))
        return output_failed(output, problem);
    forget(output);
    sync_directory(output->path);
    return true;
}

bool output_commit(struct output *output, struct problem *problem) {
    return output_finish(output, problem) && output_keep(output, problem);
}

void output_discard(struct output *output) {
    if (!output->temporary)
        return;
    if (output->file)
        fclose(output->file);
    output->file = NULL;
    unlink(output->temporary);
    forget(output);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

/*
 * The temporary files to be removed before the program ends, and the process that created them: a
 * child, which inherits a copy of this list, must not remove them.
 */
static char *volatile unfinished[APP_OUTPUT_MOST];
static pid_t owner;

void app_output_abandon(void) {
    for (int i = 0; i < APP_OUTPUT_MOST; i++)
        if (unfinished[i] && getpid() == owner)
            unlink(unfinished[i]);
}

static void remove_and_end(int number) {
    app_output_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

static void install_handlers(void) {
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction now;
        /* Ignored signals (nohup) stay ignored. */
        if (!sigaction(ending_signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            signal(ending_signals[i], remove_and_end);
    }
    /* Exceeding the file size limit becomes a write error, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    if (!owner)
        atexit(app_output_abandon);
    owner = getpid();
}

/*
 * Replaces KNOWN in the list of temporary files by NAME; NULL means a free entry. Returns false if
 * KNOWN is not in the list.
 */
static bool replace_entry(const char *known, char *name) {
    int i = 0;
    while (i < APP_OUTPUT_MOST && unfinished[i] != known)
        i++;
    if (i == APP_OUTPUT_MOST)
        return false;
    unfinished[i] = name;
    return true;
}

static void release_names(app_output *output) {
    if (output->temporary)
        replace_entry(output->temporary, NULL);
    free(output->temporary);
    free(output->target);
    output->temporary = output->target = NULL;
}

static bool refuse_path(const char *path, const char *why, app_problem *problem) {
    return app_refuse(problem, "%s: can't be written: %s", path, why);
}

/*
 * Gets the state of the file at PATH; the mode is 0 if there is no such file. Refuses directories.
 */
static bool get_state(const char *path, struct stat *about, app_problem *problem) {
    *about = (struct stat){.st_mode = 0};
    if (!*path)
        return app_refuse(problem, "the name of a file to be written is empty");
    if (stat(path, about) && errno != ENOENT)
        return refuse_path(path, strerror(errno), problem);
    return !S_ISDIR(about->st_mode) || refuse_path(path, "it is a directory", problem);
}

/* Returns the descriptor of standard output or error if ABOUT describes its file; else -1. */
static int own_stream(const struct stat *about) {
    struct stat own;
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++)
        if (!fstat(stream, &own) && own.st_dev == about->st_dev && own.st_ino == about->st_ino)
            return stream;
    return -1;
}

/*
 * Returns why a file in DIRECTORY can't be created or replaced, or NULL if it can; OLD is the
 * existing file's state.
 */
static const char *replacement_error(const char *directory, const struct stat *old) {
    struct stat about;
    if (stat(directory, &about))
        return strerror(errno);
    if (!S_ISDIR(about.st_mode))
        return "not a directory";
    if (access(directory, W_OK | X_OK))
        return strerror(errno);
    /* In a sticky directory such as /tmp, only the owner may replace a file. */
    uid_t self = geteuid();
    if ((about.st_mode & S_ISVTX) && old->st_mode && self && self != about.st_uid &&
        self != old->st_uid)
        return "the file is another user's";
    return NULL;
}

static bool check_target(const char *path, const char *target, const struct stat *old,
                         app_problem *problem) {
    char *directory = app_path_directory(target);
    if (!directory)
        return app_refuse(problem, "%s: out of memory", path);
    const char *why = replacement_error(directory, old);
    if (why)
        app_refuse(problem, "%s: can't be written: directory %s: %s", path, directory, why);
    free(directory);
    return !why;
}

/*
 * Checks PATH. *TARGET becomes the path of the file to replace, to be freed; NULL if PATH is to be
 * written directly.
 */
static bool check_path(const char *path, struct stat *old, char **target, app_problem *problem) {
    *target = NULL;
    if (!get_state(path, old, problem))
        return false;
    if (old->st_mode && own_stream(old) < 0 && access(path, W_OK))
        return refuse_path(path, strerror(errno), problem);
    const bool is_replaced = !old->st_mode || (S_ISREG(old->st_mode) && own_stream(old) < 0);
    if (!is_replaced)
        return true;
    *target = app_path_follow(path);
    if (!*target)
        return refuse_path(path, strerror(errno), problem);
    return check_target(path, *target, old, problem);
}

bool app_output_check(const char *path, app_problem *problem) {
    struct stat old;
    char *target;
    bool good = check_path(path, &old, &target, problem);
    free(target);
    return good;
}

bool app_output_failed(const app_output *output, app_problem *problem) {
    return refuse_path(output->path, strerror(errno), problem);
}

/*
 * A part of each temporary name. Temporary names are hidden, so that programs that read a whole
 * directory skip incomplete files.
 */
static const char mark[] = ".coll-";
enum { RANDOM = 6, BASE_MOST = 200 }; /* lengths of parts of a temporary name */

static char *temporary_name(const char *target) {
    char *name = NULL;
    const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
    return asprintf(&name, "%.*s.%.*s%sXXXXXX", (int)(base - target), target, BASE_MOST, base,
                    mark) < 0
               ? NULL
               : name;
}

bool app_output_is_temporary(const char *name, const char *path) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char *made = temporary_name(path);
    if (!made)
        return false;
    const char *slash = strrchr(made, '/'), *base = slash ? slash + 1 : made;
    size_t stem = strlen(base) - RANDOM;
    bool alike = strlen(name) == stem + RANDOM && !strncmp(name, base, stem) &&
                 strspn(name + stem, letters) == RANDOM;
    free(made);
    return alike;
}

/* Creates the temporary file with the permissions of the OLD file or those of the umask. */
static bool create_temporary(app_output *output, const struct stat *old, app_problem *problem) {
    mode_t mask = umask(0);
    umask(mask);
    int descriptor = mkostemp(output->temporary, O_CLOEXEC);
    if (descriptor < 0)
        return app_output_failed(output, problem);
    mode_t mode = old->st_mode ? old->st_mode & 0777 : 0666 & ~mask;
    if (old->st_mode && fchown(descriptor, old->st_uid, old->st_gid))
        errno = 0; /* only root may change a file's owner; otherwise the file stays this user's */
    if (!replace_entry(NULL, output->temporary))
        errno = EMFILE;
    else if (!fchmod(descriptor, mode))
        output->file = fdopen(descriptor, "wb");
    if (output->file)
        return true;
    app_output_failed(output, problem);
    close(descriptor);
    unlink(output->temporary);
    return false;
}

/* Opens a path that is to be written directly. */
static bool open_directly(app_output *output, const struct stat *about, app_problem *problem) {
    int stream = own_stream(about);
    int descriptor = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0)
                                 : open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    output->file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!output->file) {
        app_output_failed(output, problem);
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    if (stream >= 0) { /* line-buffered, so that other output can't split lines */
        fflush(stdout);
        setvbuf(stdout, NULL, _IOLBF, 0);
        setvbuf(output->file, NULL, _IOLBF, 0);
    }
    return true;
}

bool app_output_open(app_output *output, const char *path, app_problem *problem) {
    struct stat old;
    *output = (app_output){.path = path};
    if (!path)
        return true;
    bool good = check_path(path, &old, &output->target, problem);
    if (good && !output->target)
        return open_directly(output, &old, problem);
    output->temporary = good ? temporary_name(output->target) : NULL;
    if (good && !output->temporary)
        good = app_refuse(problem, "%s: out of memory", path);
    if (good)
        install_handlers();
    if (good && create_temporary(output, &old, problem))
        return true;
    release_names(output);
    return false;
}

const char *app_output_name(const app_output *output) {
    return output->temporary ? output->temporary : output->path;
}

bool app_output_write(app_output *output, const void *data, size_t bytes, app_problem *problem) {
    return fwrite(data, 1, bytes, output->file) == bytes || app_output_failed(output, problem);
}

bool app_output_finish(app_output *output, app_problem *problem) {
    if (!output->file)
        return true;
    errno = 0;
    bool good = !fflush(output->file) && !ferror(output->file) &&
                (!output->temporary || !fsync(fileno(output->file)));
    if (!errno)
        errno = EIO; /* an earlier write failed */
    if (!good)
        app_output_failed(output, problem);
    if (fclose(output->file) && good)
        good = app_output_failed(output, problem);
    output->file = NULL;
    return good;
}

bool app_output_flush_stdout(app_problem *problem) {
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return true;
    /* The reason why an earlier write failed is not known any more. */
    return app_refuse(problem, "the output can't be written%s%s", errno ? ": " : "",
                      errno ? strerror(errno) : "");
}

/*
 * Makes the rename of a file to PATH durable by writing its directory to disk. If the file system
 * can't synchronise directories, nothing more can be done.
 */
static void sync_directory(const char *path) {
    char *directory = app_path_directory(path);
    int file = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        fsync(file);
        close(file);
    }
    free(directory);
}

bool app_output_keep(app_output *output, app_problem *problem) {
    if (!output->temporary)
        return true;
    if (rename(output->temporary, output->target))
        return app_output_failed(output, problem);
    sync_directory(output->target);
    release_names(output);
    return true;
}

bool app_output_commit(app_output *output, app_problem *problem) {
    return app_output_finish(output, problem) && app_output_keep(output, problem);
}

void app_output_discard(app_output *output) {
    if (output->file)
        fclose(output->file);
    output->file = NULL;
    if (output->temporary)
        unlink(output->temporary);
    release_names(output);
}

char *app_path_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash          ? strdup(".")
           : slash == path ? strdup("/")
                           : strndup(path, (size_t)(slash - path));
}

/*
 * Returns the target of the link at PATH; NULL with errno, which is EINVAL or ENOENT if PATH is no
 * link.
 */
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

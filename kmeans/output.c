#include "config.h"

#include "kmeans/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

/* What a signal must remove before it ends the program. */
static char *volatile unfinished;

static void remove_and_end(int number) {
    if (unfinished)
        unlink(unfinished);
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

static void forget(struct output *output) {
    unfinished = NULL;
    free(output->temporary);
    output->temporary = NULL;
    output->file = NULL;
}

bool output_failed(const struct output *output, struct problem *problem) {
    return problem_set(problem, "%s: cannot be written: %s", output->path, strerror(errno));
}

/* Creates the temporary file, with the permissions that the user's umask gives. */
static bool create(struct output *output, struct problem *problem) {
    mode_t mask = umask(0);
    umask(mask);
    int descriptor = mkstemp(output->temporary);
    if (descriptor < 0)
        return output_failed(output, problem);
    unfinished = output->temporary;
    if (!fchmod(descriptor, 0666 & ~mask))
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
    struct stat about;
    output->file = NULL;
    output->path = path;
    output->temporary = NULL;
    /* Renaming onto a device or a directory's name would be no writing to it. */
    if (!stat(path, &about) && !S_ISREG(about.st_mode))
        return problem_set(problem, "%s: is not a regular file", path);
    size_t size = strlen(path) + sizeof suffix;
    output->temporary = malloc(size);
    if (!output->temporary)
        return problem_set(problem, "out of memory");
    snprintf(output->temporary, size, "%s%s", path, suffix);
    watch_signals();
    if (create(output, problem))
        return true;
    forget(output);
    return false;
}

bool output_commit(struct output *output, struct problem *problem) {
    bool written = !fflush(output->file) && !ferror(output->file);
    if (!written)
        output_failed(output, problem);
    if (fclose(output->file) && written)
        written = output_failed(output, problem);
    if (written && rename(output->temporary, output->path))
        written = output_failed(output, problem);
    if (!written)
        unlink(output->temporary);
    forget(output);
    return written;
}

void output_discard(struct output *output) {
    if (!output->file)
        return;
    fclose(output->file);
    unlink(output->temporary);
    forget(output);
}

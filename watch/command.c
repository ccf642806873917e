/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/command.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The first shell ends at once. It leaves the command to a second shell, which is no child of the
 * program's process: the program may wait for its own children.
 */
static char shell[] = "sh", option[] = "-c";
static char script[] =
    "(sh -c \"$1\" <&3 3<&- || echo \"coll: COLL_WATCH_ON_HANG: exit status $? of: $1\" >&2) &";

/* The command must not be watched itself. */
static const char preload[] = "LD_PRELOAD=";

extern char **environ;

/* Returns a list of the environment's strings without LD_PRELOAD. The caller frees the list, but
 * not the strings. Returns NULL if memory is short. */
static char **environment_of_command(void) {
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **copy = malloc((count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i <= count; i++)
        if (!environ[i] || strncmp(environ[i], preload, sizeof preload - 1) != 0)
            copy[kept++] = environ[i];
    return copy;
}

/* Returns a file in memory with TEXT, to be read from its start. On errors returns -1, with errno
 * set. */
static int file_with(const char *text, size_t length) {
    const int file = memfd_create("coll-watch-report", MFD_CLOEXEC);
    if (file >= 0 && write(file, text, length) == (ssize_t)length && lseek(file, 0, SEEK_SET) == 0)
        return file;
    const int error = errno;
    if (file >= 0)
        close(file);
    errno = error;
    return -1;
}

int watch_command_run(const char *command, const char *text, size_t length) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    char *copy = strdup(command), **environment = environment_of_command();
    char *const arguments[] = {shell, option, script, shell, copy, NULL};
    const int file = file_with(text, length);
    int error = file < 0 ? errno : copy && environment ? 0 : ENOMEM;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    /* This thread blocks all signals, but the command must not. The command has a process group of
     * its own, so that it continues if mpirun ends the job by signals to the process groups of the
     * ranks. */
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, file, 3);
    if (error == 0)
        error = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error == 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    free(environment);
    free(copy);
    if (file >= 0)
        close(file);
    return error;
}

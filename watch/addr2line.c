/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/addr2line.h"

#include "watch/ticks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Maximum total time of all runs of addr2line for one report; lines not found by then are left out.
 */
static const uint64_t PATIENCE = 250000000; /* ns */

/*
 * Starts addr2line for the COUNT places in CHOSEN, all in FILE. Returns the descriptor of its
 * output, or -1.
 */
static int start_addr2line(const char *file, const watch_place *const chosen[], int count,
                           pid_t *child) {
    static char name[] = "addr2line", base_names[] = "-s", of_file[] = "-e";
    char offsets[WATCH_LINES][24];
    char *words[4 + WATCH_LINES + 1] = {name, base_names, of_file, (char *)(uintptr_t)file};
    int ends[2];
    for (int i = 0; i < count; i++) {
        /* A return address points behind its call, perhaps to the next line. */
        snprintf(offsets[i], sizeof offsets[i], "0x%" PRIx64, chosen[i]->offset - 1);
        words[4 + i] = offsets[i];
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(child, name, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (started)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* Reads OUTPUT as text until it ends or until the time UNTIL. */
static void read_all(int output, char *text, size_t size, uint64_t until) {
    size_t length = 0;
    struct pollfd waited = {.fd = output, .events = POLLIN};
    for (uint64_t now = coll_nanoseconds(); now < until && length + 1 < size;
         now = coll_nanoseconds()) {
        if (poll(&waited, 1, (int)((until - now) / 1000000) + 1) <= 0)
            break;
        ssize_t got = read(output, text + length, size - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = '\0';
}

/* Copies addr2line's output for a place to LINE if it is "file.c:12" and not "??:0". */
static void copy_known_line(const char *said, watch_source_line line) {
    size_t length = strcspn(said, "\n (");
    const char *colon = memchr(said, ':', length);
    bool known = colon && said[0] != '?' && colon[1] != '?' && colon[1] != '0';
    if (known && length < sizeof(watch_source_line))
        snprintf(line, sizeof(watch_source_line), "%.*s", (int)length, said);
}

void watch_addr2line_find(const watch_place *const places[], watch_source_line lines[], int count) {
    uint64_t until = coll_nanoseconds() + PATIENCE;
    bool done[WATCH_LINES] = {false};
    count = count < WATCH_LINES ? count : WATCH_LINES;
    for (int i = 0; i < count; i++)
        lines[i][0] = '\0';
    for (int first = 0; first < count; first++) {
        const watch_place *chosen[WATCH_LINES];
        int whose[WATCH_LINES], found = 0;
        char text[WATCH_LINES * sizeof(watch_source_line)];
        pid_t child;
        if (done[first] || !places[first]->file[0])
            continue;
        for (int i = first; i < count; i++) {
            if (strcmp(places[i]->file, places[first]->file) != 0)
                continue;
            done[i] = true;
            whose[found] = i;
            chosen[found++] = places[i];
        }
        int output = start_addr2line(places[first]->file, chosen, found, &child);
        if (output < 0)
            continue;
        read_all(output, text, sizeof text, until);
        close(output);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        const char *said = text;
        for (int i = 0; i < found && strchr(said, '\n'); i++, said = strchr(said, '\n') + 1)
            copy_known_line(said, lines[whose[i]]);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-watch: asks the watchers of a running job what its ranks do, through a process of the job on
 * this host. It needs no MPI.
 */
#include "config.h"

#include "app/options.h"
#include "app/output.h"
#include "watch/local_name.h"
#include "watch/process.h"
#include "watch/record.h"
#include "watch/ticks.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char program[] = "coll-watch";

struct command {
    app_words job;
    bool json, top;
    double every;
    int count;
};

static bool parse_options(int argc, char **argv, struct command *command, app_problem *problem) {
    const app_option table[] = {
        {"json", NULL, "the report as a line of JSON", .flag = &command->json},
        {"top", NULL, "a live view: calls and bytes a second, and the share of time in MPI",
         .flag = &command->top},
        {"every", "SECONDS", "interval between two updates of --top", .number = &command->every,
         .least = 0.1, .most = 3600},
        {"count", "N", "end --top after N updates; 0: when the job ends",
         .integer = &command->count, .most = INT_MAX},
        {.operands = &command->job, .most = 1},
    };
    const app_command line = {program,
                              "coll-watch [OPTION...] JOB - what the ranks of a running MPI job "
                              "do, and why they don't go on\n"
                              "\n"
                              "  JOB: the number of a process on this host: of mpirun, or of any "
                              "rank. The job must have been\n"
                              "  started with COLL_WATCH set, as by coll-run --watch 60.",
                              NULL, APP_TABLE(table)};
    return app_parse(&line, argc, argv, problem);
}

/* --- Finding a process of the job --- */

/*
 * Connects to the watcher of process PID. Returns the socket, or -1. For a stopped process the
 * kernel would accept the connection, but nobody would answer.
 */
static int connect_to(int pid) {
    static const struct timeval patience = {.tv_sec = 60};
    struct sockaddr_un name;
    struct ucred peer = {.pid = 0};
    watch_process_facts facts;
    socklen_t length = sizeof peer;
    if (!watch_process_read(pid, &facts) || watch_process_is_stopped(&facts))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t name_length = watch_local_name(pid, &name);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    /* Any process may listen under any name: ask the kernel which one does. */
    if (connect(fd, (struct sockaddr *)&name, (socklen_t)name_length) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == pid)
        return fd;
    close(fd);
    return -1;
}

static bool is_descendant_of(int pid, int from) {
    enum { DEEPEST = 64 };
    for (int i = 0; i < DEEPEST && pid > 1; i++) {
        if (pid == from)
            return true;
        watch_process_facts facts;
        pid = watch_process_read(pid, &facts) ? facts.parent : -1;
    }
    return false;
}

/* Connects to the watcher of PID or of one of its descendants. Returns the socket, or -1. */
static int find_watcher(int pid) {
    int found = connect_to(pid);
    DIR *processes = found < 0 ? opendir("/proc") : NULL;
    const struct dirent *entry;
    while (processes && found < 0 && (entry = readdir(processes))) {
        int other = atoi(entry->d_name);
        if (other > 0 && other != pid && is_descendant_of(other, pid))
            found = connect_to(other);
    }
    if (processes)
        closedir(processes);
    return found;
}

/* --- Asking --- */

/* Returns the answer to QUESTION, which the caller frees, or NULL. */
static char *ask_watcher(int pid, const char *question, app_problem *problem) {
    char *answer = NULL;
    size_t length = 0;
    char part[4096];
    ssize_t got = -1;
    int fd = find_watcher(pid);
    if (fd < 0) {
        app_refuse(problem,
                   "%d: no running process of a watched job on this host: give the number of "
                   "mpirun or of a "
                   "rank that was started by coll-run --watch, as the user who started it",
                   pid);
        return NULL;
    }
    FILE *stream = open_memstream(&answer, &length);
    if (stream && send(fd, question, strlen(question), MSG_NOSIGNAL) == (ssize_t)strlen(question))
        while ((got = recv(fd, part, sizeof part, 0)) > 0)
            fwrite(part, 1, (size_t)got, stream);
    if (stream)
        fclose(stream);
    close(fd);
    if (got == 0 && length > 0)
        return answer;
    free(answer);
    app_refuse(problem, "%d: the job has ended, or does not answer", pid);
    return NULL;
}

/* --- The live view --- */

/* A line that watch_report_sample writes. */
struct sample {
    int fate; /* watch_fate */
    uint64_t calls, bytes, inside, age, lasts;
    char does[200];
};

static size_t read_samples(char *text, struct sample **samples) {
    size_t count = 0, room = 0;
    char *rest = NULL;
    *samples = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (count == room) {
            room = 2 * room + 16;
            struct sample *grown = realloc(*samples, room * sizeof **samples);
            if (!grown)
                break;
            *samples = grown;
        }
        struct sample *one = &(*samples)[count];
        *one = (struct sample){.fate = 0};
        if (sscanf(line,
                   "%*d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %199[^\n]",
                   &one->fate, &one->calls, &one->bytes, &one->inside, &one->age, &one->lasts,
                   one->does) >= 6)
            count++;
    }
    return count;
}

static double per_second(uint64_t now, uint64_t before, double seconds) {
    return seconds > 0 && now > before ? (double)(now - before) / seconds : 0;
}

/* No imbalance is printed if ranks compute for less than this fraction of the time on average. */
static const double HARDLY = 0.01;

/* Prints a line per rank: what it did since BEFORE or, if BEFORE is NULL, since MPI_Init. */
static void print_samples(const struct sample *now, const struct sample *before, size_t count) {
    double most = 0, sum = 0;
    int answers = 0;
    printf("%5s %12s %12s %7s %9s  %s\n", "rank", "calls/s", "MB/s", "in MPI", "for", "does");
    for (size_t i = 0; i < count; i++) {
        static const struct sample none;
        if (now[i].fate != WATCH_ANSWERS) {
            printf("%5zu %12s %12s %7s %9s  %.100s\n", i, "-", "-", "-", "-", now[i].does);
            continue;
        }
        const struct sample *last = before ? &before[i] : &none;
        double seconds = (double)(now[i].age - last->age) * 1e-9;
        double share = seconds > 0 ? per_second(now[i].inside, last->inside, seconds) * 1e-9 : 0;
        share = share > 1 ? 1 : share;
        answers++;
        sum += 1 - share;
        most = 1 - share > most ? 1 - share : most;
        printf("%5zu %12.0f %12.2f %6.1f%% %7.1f s  %.100s\n", i,
               per_second(now[i].calls, last->calls, seconds),
               per_second(now[i].bytes, last->bytes, seconds) * 1e-6, share * 100,
               (double)now[i].lasts * 1e-9, now[i].does);
    }
    if (sum > HARDLY * answers)
        printf("imbalance: the rank that computes longest does so for %.2f times the mean\n",
               most / (sum / answers));
}

static bool show_top(int pid, const struct command *command, app_problem *problem) {
    struct sample *before = NULL;
    size_t before_count = 0;
    for (int look = 0; command->count == 0 || look < command->count; look++) {
        char *answer = ask_watcher(pid, "sample\n", problem);
        struct sample *now;
        if (!answer)
            break;
        size_t count = read_samples(answer, &now);
        free(answer);
        if (isatty(STDOUT_FILENO))
            printf("\033[H\033[2J"); /* clear the screen */
        print_samples(now, before && before_count == count ? before : NULL, count);
        fflush(stdout);
        free(before);
        before = now;
        before_count = count;
        if (look + 1 != command->count)
            coll_sleep(command->every);
    }
    bool shown = before != NULL;
    free(before);
    if (shown) /* the job has ended: no error */
        problem->text[0] = '\0';
    return shown;
}

int main(int argc, char **argv) {
    struct command command = {.every = 2};
    app_problem problem = {""};
    int64_t pid = 0;
    parse_options(argc, argv, &command, &problem);
    if (!problem.text[0] && command.job.count != 1)
        app_refuse(&problem, "which job? coll-watch PID, of mpirun or of a rank; see --help");
    if (!problem.text[0] && !app_parse_integer(command.job.words[0], 1, INT_MAX, &pid))
        app_refuse(&problem, "%s: the number of a process is needed", command.job.words[0]);
    if (!problem.text[0] && command.top)
        show_top((int)pid, &command, &problem);
    else if (!problem.text[0]) {
        char *answer = ask_watcher((int)pid, command.json ? "json\n" : "report\n", &problem);
        if (answer)
            fputs(answer, stdout);
        free(answer);
    }
    app_words_free(&command.job);
    app_output_flush_stdout(&problem);
    if (problem.text[0]) {
        fprintf(stderr, "%s: %s\n", program, problem.text);
        return 2;
    }
    return EXIT_SUCCESS;
}

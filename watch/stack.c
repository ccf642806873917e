/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 48, PATIENCE = 200 * 1000 * 1000 /* ns */ };

static void *frames[DEPTH];
static volatile int depth;
static sem_t stack_taken;
static bool ready;

static int signal_number(void) {
    return SIGRTMAX - 3;
}

static void handle_signal(int number) {
    (void)number;
    depth = backtrace(frames, DEPTH);
    sem_post(&stack_taken);
}

void watch_stack_begin(void) {
    struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, before;
    backtrace(frames, DEPTH); /* loads libgcc */
    ready = sem_init(&stack_taken, 0, 0) == 0 && sigaction(signal_number(), NULL, &before) == 0 &&
            before.sa_handler == SIG_DFL && sigaction(signal_number(), &action, NULL) == 0;
}

/* System calls that a signal ends early even with SA_RESTART. */
static const struct {
    long number;
    const char *name;
} fragile[] = {
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_pause, "pause"},
    {SYS_epoll_wait, "epoll_wait"},
#endif
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_rt_sigtimedwait, "sigtimedwait"},
    {SYS_rt_sigsuspend, "sigsuspend"},
    {SYS_semtimedop, "semtimedop"},
};

/* Returns the name of the fragile system call in which THREAD is, or NULL. */
static const char *fragile_call(int thread) {
    char path[64], line[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    FILE *file = fopen(path, "re");
    bool got = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    if (!got || *line == 'r') /* the thread is running */
        return NULL;
    long number = strtol(line, NULL, 10);
    for (size_t i = 0; i < sizeof fragile / sizeof *fragile; i++)
        if (fragile[i].number == number)
            return fragile[i].name;
    return NULL;
}

void watch_stack_name(uint64_t address, watch_place *place) {
    Dl_info info;
    *place = (watch_place){.offset = address};
    if (!dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname)
        return;
    place->offset = address - (uintptr_t)info.dli_fbase;
    snprintf(place->file, sizeof place->file, "%s", info.dli_fname);
    if (info.dli_sname)
        snprintf(place->function, sizeof place->function, "%s", info.dli_sname);
    if (place->file[0] == '/')
        return;
    /* dladdr names the program itself as it was started, which may be a relative path. */
    ssize_t length = readlink("/proc/self/exe", place->file, sizeof place->file - 1);
    place->file[length > 0 ? length : 0] = '\0';
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool watch_stack_is_mpi(const watch_place *place) {
    static const char *const names[] = {"libmpi",  "libopen-", "libcoll",  "mca_",
                                        "libpmix", "libevent", "libhwloc", "libpmpi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base_name(place->file), names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

int watch_stack_take(int thread, watch_place places[], int room, char asleep[WATCH_NAME]) {
    const char *call = fragile_call(thread);
    snprintf(asleep, WATCH_NAME, "%s", call ? call : "");
    if (call || !ready)
        return 0;
    while (sem_trywait(&stack_taken) == 0)
        ; /* discard a result that came too late */
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (syscall(SYS_tgkill, getpid(), thread, signal_number()) != 0 ||
        sem_timedwait(&stack_taken, &until) != 0)
        return 0;
    int found = 0;
    /* The first two frames are the signal handler and the kernel's return from it. */
    for (int i = 2; i < depth && found < room; i++) {
        watch_stack_name((uintptr_t)frames[i], &places[found]);
        if (!watch_stack_is_mpi(&places[found]))
            found++;
    }
    return found;
}

void watch_stack_print(const watch_place *place, const char *line, char *text, int size) {
    const char *function = place->function[0] ? place->function : NULL;
    if (*line)
        snprintf(text, (size_t)size, "%s%s%s", function ? function : "", function ? " at " : "",
                 line);
    else if (function)
        snprintf(text, (size_t)size, "%s of %s", function, base_name(place->file));
    else if (place->file[0])
        snprintf(text, (size_t)size, "%s+0x%" PRIx64, base_name(place->file), place->offset);
    else
        snprintf(text, (size_t)size, "0x%" PRIx64, place->offset);
}

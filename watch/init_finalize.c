/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The beginning and the end of a watched program. In MPI_Init the ranks exchange the addresses of
 * their watchers; the watchers run until MPI_Finalize returns. A rank that exits or aborts earlier
 * announces its end.
 */
#include "config.h"

#include "lib/base/preloaded.h"
#include "lib/base/stand_aside.h"
#include "watch/check.h"
#include "watch/files.h"
#include "watch/recorder.h"
#include "watch/settings.h"
#include "watch/signature.h"
#include "watch/ticks.h"
#include "watch/timeline.h"
#include "watch/watcher.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The MPI library that this one is built for. */
#ifdef OPEN_MPI
static const char library[] = "Open MPI";
#elif defined COLL_MPI_LIBRARY
static const char library[] = COLL_MPI_LIBRARY;
#else /* configure could not run programs: any library is taken for the right one */
static const char library[] = "";
#endif

/* The loader passes the program's arguments to constructors. */
__attribute__((constructor)) static void check_when_loaded(int argc, char **argv) {
    (void)argc;
    coll_stand_aside(library, argv);
}

static watch_settings settings;
static watch_peer *peers;
static pid_t process;

/* Finds the next definition of NAME after the one in this library. */
#define FIND_BELOW(below, name) (*(void **)&(below) = dlsym(RTLD_NEXT, name))

/* Ends all ranks; rank 0 prints PROBLEM. */
_Noreturn static void end_with_problem(const char *problem, int rank) {
    if (rank == 0)
        fprintf(stderr, "coll: %s\n", problem);
    PMPI_Finalize();
#ifdef OPEN_MPI
    fflush(stderr);
    _exit(1);
#else
    exit(1); /* MPICH's launcher takes an exit without the atexit functions for a success */
#endif
}

static bool is_same_on_all_ranks(uint64_t number) {
    uint64_t both[2] = {number, ~number}, least[2];
    return PMPI_Allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS &&
           least[0] == ~least[1];
}

/*
 * Chooses the address for the watcher: that of the loopback interface if all ranks are on one host,
 * otherwise that on the job's network. Returns false if there is none.
 */
static bool choose_address(struct in_addr *address) {
    char name[64] = "";
    gethostname(name, sizeof name - 1);
    address->s_addr = htonl(INADDR_LOOPBACK);
    return is_same_on_all_ranks(watch_host_id(name)) || watch_host_address(address);
}

static bool is_true_on_all_ranks(int good) {
    int all_good = 0;
    return PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS &&
           all_good;
}

/*
 * Exchanges the addresses of all watchers, and rank 0's new secret. Returns false if this fails on
 * some rank.
 */
static bool exchange_addresses(int rank, int ranks, bool opened, watch_peer *self,
                               watch_secret *secret) {
    peers = calloc((size_t)ranks, sizeof *peers);
    return is_true_on_all_ranks(opened && peers && (rank != 0 || watch_auth_make_secret(secret))) &&
           PMPI_Allgather(self, sizeof *self, MPI_BYTE, peers, sizeof *peers, MPI_BYTE,
                          MPI_COMM_WORLD) == MPI_SUCCESS &&
           PMPI_Bcast(secret, sizeof *secret, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* Returns whether watchers can reach one another by TCP. Each rank tries to reach the next rank. */
static bool can_reach_next_rank(int rank, int ranks) {
    return is_true_on_all_ranks(watch_watcher_reaches(&peers[(rank + 1) % ranks]));
}

/*
 * Makes the watchers communicate through files if all ranks share the directory of the settings.
 * Returns whether they do.
 */
static bool share_directory(int rank, int ranks, const watch_secret *secret) {
    bool named = watch_files_begin(settings.directory, secret, rank, rank == 0);
    bool shared = is_true_on_all_ranks(named) && is_true_on_all_ranks(watch_files_shared());
    if (rank == 0)
        watch_files_unmark();
    if (!shared)
        return false;
    for (int i = 0; i < ranks; i++)
        peers[i].port = 0;
    watch_files_use();
    return true;
}

static void announce_exit(int status, void *unused) {
    (void)unused;
    if (watch_on && getpid() == process)
        watch_watcher_leave(status);
}

static void stop_in_forked_process(void) {
    watch_on = false;
    watch_watcher_forked();
}

static void start_watching(uint64_t init_ticks) {
    int rank = 0, ranks = 1;
    watch_peer self;
    watch_secret secret;
    struct in_addr address;
    if (coll_preloaded_barrier("libcoll_watch.so", COLL_PRELOADED_WATCH) != MPI_SUCCESS)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    watch_settings_read(&settings); /* only rank 0's settings count */
    PMPI_Bcast(&settings, sizeof settings, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (settings.problem[0])
        end_with_problem(settings.problem, rank);
    if (settings.seconds == 0)
        return;
    bool by_tcp = choose_address(&address) && !settings.by_files;
    bool opened = watch_watcher_open(by_tcp ? &address : NULL, &self);
    bool talk = exchange_addresses(rank, ranks, opened, &self, &secret) &&
                (can_reach_next_rank(rank, ranks) || share_directory(rank, ranks, &secret));
    if (!talk && rank == 0)
        fprintf(stderr,
                "coll: COLL_WATCH: the watchers can't reach one another by TCP, nor do all hosts "
                "share %s: no reports; set COLL_WATCH_DIR to a directory that they share\n",
                settings.directory);
    process = getpid();
    watch_signature_begin();
    if (watch_comm_begin() != MPI_SUCCESS)
        return;
    watch_checks = settings.check;
    if (watch_checks)
        watch_check_prepare(MPI_COMM_WORLD, watch_comm_find(MPI_COMM_WORLD));
    watch_recorder_begin(init_ticks);
    pthread_atfork(NULL, NULL, stop_in_forked_process);
    on_exit(announce_exit, NULL);
    watch_on = true;
    if (talk && !watch_watcher_start(&settings, rank, ranks, peers, &secret))
        fprintf(stderr, "coll: COLL_WATCH: rank %d can't start its watcher's thread\n", rank);
}

static int init_watched(int (*below)(int *, char ***), int *argc, char ***argv) {
    watch_ticks_begin();
    uint64_t began = coll_ticks();
    int code = below(argc, argv);
    if (code == MPI_SUCCESS)
        start_watching(began);
    return code;
}

static int init_thread_watched(int (*below)(int *, char ***, int, int *), int *argc, char ***argv,
                               int required, int *provided) {
    watch_ticks_begin();
    uint64_t began = coll_ticks();
    int code = below(argc, argv, required, provided);
    if (code == MPI_SUCCESS)
        start_watching(began);
    return code;
}

static int finalize_watched(int (*below)(void)) {
    if (!watch_on)
        return below();
    watch_inside = true;
    if (settings.trace[0] || settings.picture[0])
        watch_timeline_write(settings.trace, settings.picture);
    watch_record *record = watch_recorder_finalize();
    int code = below();
    __atomic_store_n(&record->ended, coll_ticks(), __ATOMIC_RELEASE);
    watch_on = watch_inside = false;
    watch_watcher_end();
    free(peers);
    peers = NULL;
    return code;
}

int MPI_Init(int *argc, char ***argv) {
    int (*below)(int *, char ***);
    FIND_BELOW(below, "MPI_Init");
    return init_watched(below, argc, argv);
}

int PMPI_Init(int *argc, char ***argv) {
    int (*below)(int *, char ***);
    FIND_BELOW(below, "PMPI_Init");
    return init_watched(below, argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*below)(int *, char ***, int, int *);
    FIND_BELOW(below, "MPI_Init_thread");
    return init_thread_watched(below, argc, argv, required, provided);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*below)(int *, char ***, int, int *);
    FIND_BELOW(below, "PMPI_Init_thread");
    return init_thread_watched(below, argc, argv, required, provided);
}

int MPI_Finalize(void) {
    int (*below)(void);
    FIND_BELOW(below, "MPI_Finalize");
    return finalize_watched(below);
}

int PMPI_Finalize(void) {
    int (*below)(void);
    FIND_BELOW(below, "PMPI_Finalize");
    return finalize_watched(below);
}

#ifdef OPEN_MPI
/* Open MPI calls this after an error in a call; it ends all ranks without any further notice. */
int ompi_mpi_abort(struct ompi_communicator_t *comm, int code);
int ompi_mpi_abort(struct ompi_communicator_t *comm, int code) {
    int (*below)(struct ompi_communicator_t *, int);
    FIND_BELOW(below, "ompi_mpi_abort");
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (watch_on && watch_inside) {
        PMPI_Error_string(code, text, &length);
        watch_watcher_failed(text);
    }
    return below(comm, code);
}
#endif

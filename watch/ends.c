/*
 * The beginning and the end of a watched program: MPI_Init, after which ranks tell one another
 * where their watchers listen, and MPI_Finalize, to whose end they stay. And what ends it
 * otherwise.
 */
#include "config.h"

#include "lib/base/preloaded.h"
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

static watch_settings settings;
static watch_peer *peers;
static pid_t process;

/* The definition of NAME that comes after ours. */
#define FIND_BELOW(below, name) (*(void **)&(below) = dlsym(RTLD_NEXT, name))

/* Rank 0 speaks, all end. */
_Noreturn static void refuse(const char *problem, int rank) {
    if (rank == 0)
        fprintf(stderr, "coll: %s\n", problem);
    PMPI_Finalize();
    fflush(stderr);
    _exit(1);
}

static bool same_everywhere(uint64_t number) {
    uint64_t both[2] = {number, ~number}, least[2];
    return PMPI_Allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS &&
           least[0] == ~least[1];
}

/* Ranks of one host talk over the loopback interface, others over that of the job. */
static bool choose_address(struct in_addr *address) {
    char name[64] = "";
    gethostname(name, sizeof name - 1);
    address->s_addr = htonl(INADDR_LOOPBACK);
    return same_everywhere(watch_host_id(name)) || watch_host_address(address);
}

static bool agreed(int good) {
    int all_good = 0;
    return PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS &&
           all_good;
}

/* Everybody's watcher becomes known to everybody. False: some rank has none. */
static bool exchange(int rank, int ranks, bool opened, watch_peer *self, watch_secret *secret) {
    peers = calloc((size_t)ranks, sizeof *peers);
    return agreed(opened && peers && (rank != 0 || watch_secret_make(secret))) &&
           PMPI_Allgather(self, sizeof *self, MPI_BYTE, peers, sizeof *peers, MPI_BYTE,
                          MPI_COMM_WORLD) == MPI_SUCCESS &&
           PMPI_Bcast(secret, sizeof *secret, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* Whether watchers reach one another by TCP: each tries the next one. */
static bool reach_others(int rank, int ranks) {
    return agreed(watch_watcher_reaches(&peers[(rank + 1) % ranks]));
}

/* Has watchers talk through files, if all ranks share the directory of the settings. */
static bool share_directory(int rank, int ranks, const watch_secret *secret) {
    bool named = watch_files_begin(settings.directory, secret, rank, rank == 0);
    bool shared = agreed(named) && agreed(watch_files_shared());
    if (rank == 0)
        watch_files_unmark();
    if (!shared)
        return false;
    for (int i = 0; i < ranks; i++)
        peers[i].port = 0;
    watch_files_use();
    return true;
}

static void on_exit_of_program(int status, void *unused) {
    (void)unused;
    if (watch_on && getpid() == process)
        watch_watcher_leave(status);
}

static void in_forked(void) {
    watch_on = false;
    watch_watcher_forked();
}

static void start(uint64_t init_ticks) {
    int rank = 0, ranks = 1;
    watch_peer self;
    watch_secret secret;
    struct in_addr address;
    if (coll_preloaded_barrier("libcoll_watch.so", COLL_PRELOADED_WATCH) != MPI_SUCCESS)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!watch_settings_read(&settings))
        settings.seconds = -1; /* rank 0's settings are those of all */
    PMPI_Bcast(&settings, sizeof settings, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (settings.problem[0])
        refuse(settings.problem, rank);
    if (settings.seconds == 0)
        return;
    bool by_tcp = choose_address(&address) && !settings.by_files;
    bool opened = watch_watcher_open(by_tcp ? &address : NULL, &self);
    bool talk = exchange(rank, ranks, opened, &self, &secret) &&
                (reach_others(rank, ranks) || share_directory(rank, ranks, &secret));
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
        watch_check_prepare(watch_comm_find(MPI_COMM_WORLD));
    watch_recorder_begin(init_ticks);
    pthread_atfork(NULL, NULL, in_forked);
    on_exit(on_exit_of_program, NULL);
    watch_on = true;
    if (talk && !watch_watcher_start(&settings, rank, ranks, peers, &secret))
        fprintf(stderr, "coll: COLL_WATCH: rank %d has no thread to watch with\n", rank);
}

static int init(int (*below)(int *, char ***), int *argc, char ***argv) {
    watch_ticks_begin();
    uint64_t began = watch_ticks();
    int code = below(argc, argv);
    if (code == MPI_SUCCESS)
        start(began);
    return code;
}

static int init_thread(int (*below)(int *, char ***, int, int *), int *argc, char ***argv,
                       int required, int *provided) {
    watch_ticks_begin();
    uint64_t began = watch_ticks();
    int code = below(argc, argv, required, provided);
    if (code == MPI_SUCCESS)
        start(began);
    return code;
}

static int finalize(int (*below)(void)) {
    if (!watch_on)
        return below();
    watch_inside = true;
    if (settings.trace[0] || settings.picture[0])
        watch_timeline_write(settings.trace, settings.picture);
    watch_record *record = watch_recorder_finalize();
    int code = below();
    __atomic_store_n(&record->ended, watch_ticks(), __ATOMIC_RELEASE);
    watch_on = watch_inside = false;
    watch_watcher_end();
    free(peers);
    peers = NULL;
    return code;
}

int MPI_Init(int *argc, char ***argv) {
    int (*below)(int *, char ***);
    FIND_BELOW(below, "MPI_Init");
    return init(below, argc, argv);
}

int PMPI_Init(int *argc, char ***argv) {
    int (*below)(int *, char ***);
    FIND_BELOW(below, "PMPI_Init");
    return init(below, argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*below)(int *, char ***, int, int *);
    FIND_BELOW(below, "MPI_Init_thread");
    return init_thread(below, argc, argv, required, provided);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*below)(int *, char ***, int, int *);
    FIND_BELOW(below, "PMPI_Init_thread");
    return init_thread(below, argc, argv, required, provided);
}

int MPI_Finalize(void) {
    int (*below)(void);
    FIND_BELOW(below, "MPI_Finalize");
    return finalize(below);
}

int PMPI_Finalize(void) {
    int (*below)(void);
    FIND_BELOW(below, "PMPI_Finalize");
    return finalize(below);
}

/* Open MPI's own way out after an error in a call, which ends all ranks without another word. */
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

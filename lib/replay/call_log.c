/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/replay/call_log.h"

#include "lib/algorithm/operations.h"
#include "lib/base/error.h"
#include "lib/base/hash.h"
#include "lib/base/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The messages to a rank, and their bytes. */
typedef struct sum {
    uint64_t messages, bytes;
} sum;

static atomic_bool is_open;
static FILE *file;
static char path[4096 + 32];
static int peers;
static sum *sent; /* what this process has sent to each rank */
static uint64_t calls;
static int64_t latest;

/* Returns a number that is the same in all processes of this job; 0 if the launcher does not name
 * the job. */
static uint64_t job_number(void) {
    const char *name = getenv("PMIX_NAMESPACE");
    return name ? coll_hash(COLL_HASH_NOTHING, name, strlen(name)) : 0;
}

/* Opens the file PATH, which must not exist. Sets errno. */
static FILE *create(void) {
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *created = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (descriptor >= 0 && !created)
        close(descriptor);
    return created;
}

int coll_call_log_open(const char *directory, int rank, int ranks) {
    char host[256] = "";
    if (snprintf(path, sizeof path, "%s/rank.%d", directory, rank) >= (int)sizeof path)
        return coll_error(MPI_ERR_ARG, "COLL_RECORD is too long a path");
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return coll_error(MPI_ERR_FILE, "COLL_RECORD=%.150s: can't be created: %s", directory,
                          strerror(errno));
    (void)gethostname(host, sizeof host - 1);
    sent = calloc((size_t)ranks, sizeof *sent);
    file = sent ? create() : NULL;
    if (!file && errno == EEXIST)
        return coll_error(MPI_ERR_FILE,
                          "COLL_RECORD=%.150s: has a record already; name another directory",
                          directory);
    if (!file)
        return coll_error(MPI_ERR_FILE, "COLL_RECORD: %.150s: %s", path, strerror(errno));
    peers = ranks;
    fprintf(file, "coll-record %d\nrank %d of %d job %" PRIx64 " host %s\n", COLL_CALL_LOG_VERSION,
            rank, ranks, job_number(), *host ? host : "unknown");
    latest = (int64_t)coll_ticks();
    is_open = true;
    return MPI_SUCCESS;
}

bool coll_call_log_is_open(void) {
    return is_open;
}

void coll_call_log_comm(uint64_t id, int ranks, const int members[]) {
    fprintf(file, "comm %" PRIx64 " ", id);
    for (int i = 0, last; i < ranks; i = last + 1) {
        for (last = i; last + 1 < ranks && members[last + 1] == members[last] + 1;)
            last++;
        fprintf(file, "%d", members[i]);
        if (last > i)
            fprintf(file, "-%d", members[last]);
        fputc(last + 1 < ranks ? ',' : '\n', file);
    }
}

void coll_call_log_call(uint64_t comm, bool started, const coll_recorded_call *call) {
    /*
     * Calls of several threads may overlap. Then a call is taken to begin no earlier than the end
     * of the call that was written before it.
     */
    const int64_t from = call->entered > latest ? call->entered : latest,
                  to = call->left > from ? call->left : from;
    fprintf(file, "%s %s %" PRIx64 " %s %d %" PRIu64 " %" PRId64 " %" PRId64 "\n",
            started ? "start" : "call", coll_operations[call->operation].name, comm,
            call->uneven ? "uneven" : "even", call->root, call->bytes, from - latest, to - from);
    latest = to;
    calls++;
}

void coll_call_log_sent(int to, uint64_t bytes) {
    sent[to].messages++;
    sent[to].bytes += bytes;
}

void coll_call_log_close(int site, int rack, double nanoseconds_per_tick, uint64_t lost) {
    is_open = false;
    for (int to = 0; to < peers; to++)
        if (sent[to].messages > 0)
            fprintf(file, "sent %d %" PRIu64 " %" PRIu64 "\n", to, sent[to].messages,
                    sent[to].bytes);
    if (rack >= 0)
        fprintf(file, "place %d %d\n", site, rack);
    /* In integers, as the program's locale may have another decimal point. */
    fprintf(file, "end %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64 "\n", calls,
            (uint64_t)(nanoseconds_per_tick * 1e6), (int64_t)coll_ticks() - latest, lost);
    const bool failed = ferror(file);
    if (fclose(file) != 0 || failed)
        fprintf(stderr, "coll: COLL_RECORD: %s is not complete: %s\n", path, strerror(errno));
    free(sent);
}

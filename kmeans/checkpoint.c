/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/checkpoint.h"

#include "app/checksum.h"
#include "app/output.h"
#include "kmeans/points/random.h"
#include "kmeans/points/rows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "collkm3";

/* The header of the file, in this machine's own representation. */
typedef struct header {
    char magic[sizeof magic];
    uint64_t bytes; /* bytes of the whole file */
    km_identity identity;
    km_step step;
    uint64_t moved;    /* summed over all ranks */
    uint64_t checksum; /* of the members above */
} header;

/* A checkpoint being written, to OUTPUT, or read, from FILE. */
typedef struct checkpoint_stream {
    const char *path;
    size_t k;
    app_output output;
    FILE *file;
    uint32_t checksum; /* of the bytes so far */
} checkpoint_stream;

static uint64_t file_bytes(const km_identity *identity) {
    return sizeof(header) + identity->bytes + identity->total * sizeof(uint32_t) + sizeof(uint32_t);
}

static bool write_bytes(checkpoint_stream *to, const void *data, size_t bytes,
                        app_problem *problem) {
    to->checksum = app_checksum(to->checksum, data, bytes);
    return app_output_write(&to->output, data, bytes, problem);
}

static bool read_bytes(checkpoint_stream *from, void *data, size_t bytes, app_problem *problem) {
    if (fread(data, 1, bytes, from->file) != bytes)
        return app_refuse(problem, "%s: can't be read: %s", from->path,
                          ferror(from->file) ? strerror(errno) : "it ends early");
    from->checksum = app_checksum(from->checksum, data, bytes);
    return true;
}

static bool write_clusters(uint32_t *clusters, size_t count, void *to, app_problem *problem) {
    return write_bytes(to, clusters, count * sizeof *clusters, problem);
}

static bool read_clusters(uint32_t *clusters, size_t count, void *context, app_problem *problem) {
    checkpoint_stream *from = context;
    if (!read_bytes(from, clusters, count * sizeof *clusters, problem))
        return false;
    for (size_t i = 0; i < count; i++)
        if (clusters[i] != KM_NO_CLUSTER && (clusters[i] & ~KM_PENDING) >= from->k)
            return app_refuse(problem, "%s: is damaged: there is no cluster %" PRIu32, from->path,
                              clusters[i] & ~KM_PENDING);
    return true;
}

/*
 * Returns whether the file NAME in the directory holds the beginning of a checkpoint, or nothing
 * yet.
 */
static bool is_begun(const km_checkpoint *checkpoint, const char *name) {
    char first[sizeof magic];
    struct stat about;
    int file = openat(checkpoint->lock, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t count =
        fstat(file, &about) || !S_ISREG(about.st_mode) ? -1 : read(file, first, sizeof first);
    close(file);
    return count == 0 || (count == sizeof first && !memcmp(first, magic, sizeof magic));
}

/* Removes unfinished checkpoints that killed runs have left. */
static void remove_unfinished(const km_checkpoint *checkpoint) {
    struct dirent *entry;
    DIR *listing = opendir(checkpoint->directory);
    while (listing && (entry = readdir(listing)))
        if (app_output_is_temporary(entry->d_name, checkpoint->path) &&
            is_begun(checkpoint, entry->d_name))
            unlinkat(checkpoint->lock, entry->d_name, 0);
    if (listing)
        closedir(listing);
}

/*
 * Locks the directory, because two runs would replace each other's checkpoints. The lock ends with
 * the process, even if that is killed.
 */
static bool lock_directory(km_checkpoint *checkpoint, app_problem *problem) {
    if (mkdir(checkpoint->directory, 0777) && errno != EEXIST)
        return app_refuse(problem, "%s: can't be made: %s", checkpoint->directory, strerror(errno));
    checkpoint->lock = open(checkpoint->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (checkpoint->lock < 0)
        return app_refuse(problem, "%s: is no directory for checkpoints: %s", checkpoint->directory,
                          strerror(errno));
    /* On file systems without locks, the run continues without a lock. */
    if (flock(checkpoint->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return app_refuse(problem, "%s: is in use by another run", checkpoint->directory);
    return app_output_check(checkpoint->path, problem);
}

char *km_checkpoint_path(const char *directory) {
    char *path = NULL;
    return asprintf(&path, "%s/checkpoint", directory) < 0 ? NULL : path;
}

bool km_checkpoint_open(km_checkpoint *checkpoint, const char *directory, bool *found,
                        MPI_Comm comm, app_problem *problem) {
    int rank = app_rank(comm), there = 0;
    *checkpoint = (km_checkpoint){.directory = directory, .lock = -1};
    checkpoint->path = km_checkpoint_path(directory);
    if (!checkpoint->path) {
        app_refuse(problem, "out of memory");
    } else if (rank == 0) {
        if (lock_directory(checkpoint, problem)) {
            remove_unfinished(checkpoint);
            there = access(checkpoint->path, F_OK) == 0;
        }
    }
    if (!app_agree(problem, comm))
        return false;
    app_mpi(problem, MPI_Bcast(&there, 1, MPI_INT, 0, comm));
    *found = there;
    return app_agree(problem, comm);
}

void km_checkpoint_close(km_checkpoint *checkpoint) {
    free(checkpoint->path);
    if (checkpoint->lock >= 0)
        close(checkpoint->lock);
    *checkpoint = (km_checkpoint){.lock = -1};
}

static bool write_header(checkpoint_stream *to, const km_identity *identity, const km_state *state,
                         uint64_t moved, app_problem *problem) {
    header head;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, magic, sizeof magic);
    head.bytes = file_bytes(identity);
    head.identity = *identity;
    head.step = state->step;
    head.moved = moved;
    head.checksum = app_checksum(0, &head, offsetof(header, checksum));
    return write_bytes(to, &head, sizeof head, problem) &&
           write_bytes(to, state->centroids, identity->bytes, problem);
}

static bool write_end(checkpoint_stream *to, app_problem *problem) {
    uint32_t checksum = to->checksum;
    return app_output_write(&to->output, &checksum, sizeof checksum, problem) &&
           app_output_commit(&to->output, problem);
}

bool km_checkpoint_write(const km_checkpoint *checkpoint, const km_identity *identity,
                         const km_points *points, const km_state *state, MPI_Comm comm,
                         app_problem *problem) {
    int rank = app_rank(comm);
    uint64_t moved = 0;
    checkpoint_stream to = {.path = checkpoint->path};
    app_mpi(problem, MPI_Reduce(&state->moved, &moved, 1, MPI_UINT64_T, MPI_SUM, 0, comm));
    if (rank == 0 && app_output_open(&to.output, checkpoint->path, problem))
        write_header(&to, identity, state, moved, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if (km_rows_collect(state->nearest, 1, points, comm, write_clusters, &to, problem) &&
            rank == 0)
            write_end(&to, problem);
        good = app_agree(problem, comm);
    }
    app_output_discard(&to.output);
    return good;
}

/* Returns the type of the centroids in a checkpoint. */
static const char *type_of(const km_identity *identity) {
    return identity->bytes == identity->k * identity->dim ? "bytes" : "float";
}

/*
 * Returns whether the checkpoint is of this clustering; if not, the problem names the difference.
 */
static bool check_identity(const km_identity *saved, const km_identity *ours, const char *path,
                           app_problem *problem) {
    if (saved->total != ours->total || saved->dim != ours->dim)
        return app_refuse(problem,
                          "%s: is of %" PRIu64 " points of %" PRIu64 " features, these are %" PRIu64
                          " of %" PRIu64,
                          path, saved->total, saved->dim, ours->total, ours->dim);
    if (saved->k != ours->k)
        return app_refuse(problem, "%s: is of --k %" PRIu64 ", not %" PRIu64, path, saved->k,
                          ours->k);
    if (saved->bytes != ours->bytes)
        return app_refuse(problem, "%s: is of --centroids-as %s, not %s", path, type_of(saved),
                          type_of(ours));
    if (saved->seed != ours->seed)
        return app_refuse(problem, "%s: is of --seed %" PRIu64 ", not %" PRIu64, path, saved->seed,
                          ours->seed);
    if (strcmp(saved->start, ours->start) != 0)
        return app_refuse(problem, "%s: is of --start %s, not %s", path, saved->start, ours->start);
    if (saved->fingerprint != ours->fingerprint)
        return app_refuse(problem, "%s: is of other points, weights or --metric than these", path);
    return true;
}

/* Reads and checks the header only. */
static bool read_header(checkpoint_stream *from, const km_identity *identity, header *head,
                        app_problem *problem) {
    struct stat about;
    if (fstat(fileno(from->file), &about))
        return app_refuse(problem, "%s: can't be read: %s", from->path, strerror(errno));
    if ((uint64_t)about.st_size < sizeof *head)
        return app_refuse(problem, "%s: is no whole checkpoint: it has only %" PRId64 " bytes",
                          from->path, (int64_t)about.st_size);
    if (!read_bytes(from, head, sizeof *head, problem))
        return false;
    if (memcmp(head->magic, magic, sizeof magic) != 0)
        return app_refuse(problem, "%s: is no checkpoint of this version of coll-kmeans",
                          from->path);
    if (head->checksum != app_checksum(0, head, offsetof(header, checksum)))
        return app_refuse(problem, "%s: is damaged: its header's checksum is wrong", from->path);
    if (!check_identity(&head->identity, identity, from->path, problem))
        return false;
    if (head->bytes != (uint64_t)about.st_size || head->bytes != file_bytes(identity))
        return app_refuse(problem, "%s: is damaged: it has %" PRId64 " bytes of %" PRIu64,
                          from->path, (int64_t)about.st_size, head->bytes);
    return true;
}

static bool read_end(checkpoint_stream *from, app_problem *problem) {
    uint32_t expected = from->checksum, checksum;
    if (!read_bytes(from, &checksum, sizeof checksum, problem))
        return false;
    return checksum == expected ||
           app_refuse(problem, "%s: is damaged: its checksum is wrong", from->path);
}

static bool open_stream(checkpoint_stream *from, app_problem *problem) {
    from->file = fopen(from->path, "rb");
    return from->file || app_refuse(problem, "%s: can't be read: %s", from->path, strerror(errno));
}

bool km_checkpoint_read(const km_checkpoint *checkpoint, const km_identity *identity,
                        const km_points *points, km_state *state, MPI_Comm comm,
                        app_problem *problem) {
    int rank = app_rank(comm);
    header head;
    checkpoint_stream from = {.path = checkpoint->path, .k = identity->k};
    if (rank == 0 && open_stream(&from, problem) && read_header(&from, identity, &head, problem))
        read_bytes(&from, state->centroids, identity->bytes, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if (km_rows_spread(state->nearest, points, comm, read_clusters, &from, problem) &&
            rank == 0)
            read_end(&from, problem);
        good = app_agree(problem, comm);
    }
    if (from.file)
        fclose(from.file);
    if (!good)
        return false;
    app_mpi(problem, MPI_Bcast(&head.step, sizeof head.step, MPI_BYTE, 0, comm));
    state->step = head.step;
    state->moved = rank == 0 ? head.moved : 0;
    return app_agree(problem, comm);
}

bool km_fingerprint(const km_points *points, int threads, MPI_Comm comm, uint64_t *fingerprint,
                    app_problem *problem) {
    uint64_t sum = 0;
    size_t bytes = km_row_bytes(points);
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (size_t i = 0; i < points->rows; i++) {
        uint32_t checksum = app_checksum(0, points->data + i * bytes, bytes);
        sum += km_mix(km_mix(points->first + i + 1) ^ checksum);
        if (points->weights)
            sum += km_mix(km_mix(points->first + i + 1) + points->weights[i]);
    }
    /* Real points may be equal in stored form and still differ in scale or offsets. */
    for (size_t d = 0; points->real.used && points->first == 0 && d < points->dim; d++) {
        double kept[] = {points->real.offsets[d], points->real.scale};
        sum += km_mix(km_mix(d) ^ app_checksum(0, kept, sizeof kept));
    }
    /*
     * Points whose rows have length 1 anyway are equal for both metrics, but their centroids
     * differ.
     */
    if (points->real.unit && points->first == 0)
        sum += km_mix(points->dim);
    *fingerprint = sum;
    return app_agree_sum(problem, fingerprint, 1, comm);
}

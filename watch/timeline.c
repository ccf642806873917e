/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/timeline.h"

#include "lib/base/c_locale.h"
#include "watch/calls.h"
#include "watch/format.h"
#include "watch/ring.h"
#include "watch/signature.h"
#include "watch/ticks.h"
#include "watch/timeline_svg.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Returns the nanoseconds from the tick FROM until TO, modulo 2^64. TO is usually earlier, but may
 * be later in a call of another thread.
 */
static uint64_t nanoseconds_between(uint64_t from, uint64_t to, double per_tick) {
    return (uint64_t)(int64_t)((double)(int64_t)(to - from) * per_tick);
}

/*
 * Lists this rank's latest calls that have ended, the oldest first, with times in nanoseconds of
 * the system's clock. Leaves out MPI_Init: next to such a long call, the others would be too short
 * to see.
 */
static uint32_t list_calls(watch_record list[WATCH_RING]) {
    struct timespec time;
    uint32_t count = 0;
    int init = watch_call_named("MPI_Init");
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t ticks = coll_ticks();
    double per_tick = watch_ticks_nanoseconds();
    uint64_t now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    uint64_t latest = watch_ring_latest();
    for (uint64_t serial = latest > WATCH_RING ? latest - WATCH_RING + 1 : 1; serial <= latest;
         serial++) {
        watch_record *record = &list[count];
        if (!watch_ring_read(serial, record) || !record->ended || record->call == init)
            continue;
        record->begun = now + nanoseconds_between(ticks, record->begun, per_tick);
        record->ended = now + nanoseconds_between(ticks, record->ended, per_tick);
        count++;
    }
    return count;
}

static void report_unwritable_file(const char *setting, const char *path) {
    fprintf(stderr, "coll: %s=%s: can't be written: %s; make room, or name another file\n", setting,
            path, strerror(errno));
}

static FILE *open_file(const char *path, const char *setting) {
    FILE *file = path[0] ? fopen(path, "we") : NULL;
    if (path[0] && !file)
        report_unwritable_file(setting, path);
    return file;
}

static void close_file(FILE *file, const char *path, const char *setting) {
    if (!file)
        return;
    bool whole = fflush(file) == 0 && !ferror(file);
    if (!whole)
        report_unwritable_file(setting, path);
    if (fclose(file) != 0 && whole)
        report_unwritable_file(setting, path);
}

/* Writes one complete event of Chrome's format; times in microseconds. */
static void write_event(FILE *file, const watch_record *record, int rank, uint64_t origin) {
    static const char *const sorts[] = {
        [WATCH_PLAIN] = "other",   [WATCH_COLLECTIVE] = "collective", [WATCH_SEND] = "point",
        [WATCH_RECEIVE] = "point", [WATCH_EXCHANGE] = "point",        [WATCH_PROBE] = "point",
        [WATCH_REQUESTS] = "wait", [WATCH_START] = "point",           [WATCH_NOTE] = "other"};
    char words[256];
    watch_text text = watch_text_in(words, sizeof words);
    watch_append_call(&text, record);
    fprintf(file,
            ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"name\": \"%s\", \"cat\": \"%s\", "
            "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"call\": \"%s\", \"number\": %u, "
            "\"communicator\": \"%llx\"}}",
            rank, watch_calls[record->call].name, sorts[watch_calls[record->call].waits],
            (double)(record->begun - origin) * 1e-3, (double)(record->ended - record->begun) * 1e-3,
            words, record->number, (unsigned long long)record->comm);
}

static void write_rank(FILE *file, const watch_record list[], uint32_t count, int rank,
                       uint64_t origin) {
    fprintf(file,
            "%s{\"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": \"thread_name\", \"args\": "
            "{\"name\": \"rank %d\"}}",
            rank ? ",\n" : "", rank, rank);
    for (uint32_t i = 0; i < count; i++)
        write_event(file, &list[i], rank, origin);
}

/*
 * Sends all calls to rank 0, which writes them. Rank 0 receives the calls of one rank at a time, so
 * it needs memory for one rank only.
 */
static int collect_calls(MPI_Comm comm, int rank, int ranks, watch_record list[], uint32_t count,
                         FILE *trace, watch_timeline_svg *drawing) {
    /* the earliest beginning, and the complement of the latest end */
    uint64_t span[2] = {UINT64_MAX, UINT64_MAX}, all[2];
    for (const watch_record *record = list; record < list + count; record++) {
        span[0] = record->begun < span[0] ? record->begun : span[0];
        span[1] = ~record->ended < span[1] ? ~record->ended : span[1];
    }
    int code = PMPI_Allreduce(span, all, 2, MPI_UINT64_T, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return code;
    if (rank != 0)
        return PMPI_Send(list, (int)(count * sizeof *list), MPI_BYTE, 0, 0, comm);
    watch_timeline_svg_begin(drawing, ranks, all[0], ~all[1]);
    for (int from = 0; from < ranks && code == MPI_SUCCESS; from++) {
        MPI_Status status;
        int bytes = (int)(count * sizeof *list);
        if (from > 0) {
            code =
                PMPI_Recv(list, WATCH_RING * (int)sizeof *list, MPI_BYTE, from, 0, comm, &status);
            if (code == MPI_SUCCESS)
                code = PMPI_Get_count(&status, MPI_BYTE, &bytes);
        }
        count = code == MPI_SUCCESS ? (uint32_t)((size_t)bytes / sizeof *list) : 0;
        if (trace)
            write_rank(trace, list, count, from, all[0]);
        watch_timeline_svg_rank(drawing, from, list, count);
    }
    return code;
}

void watch_timeline_write(const char *trace, const char *picture) {
    MPI_Comm comm;
    int rank = 0, ranks = 0;
    watch_record *list = malloc(WATCH_RING * sizeof *list);
    uint32_t count = list ? list_calls(list) : 0;
    int good = list != NULL, all_good = 0;
    /* MPI_Comm_dup would call the copy functions of the program's attributes. */
    if (PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm) != MPI_SUCCESS) {
        free(list);
        return;
    }
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, comm);
    if (!all_good && rank == 0)
        fprintf(stderr, "coll: watch: no memory for a timeline\n");
    if (all_good) {
        locale_t before = coll_c_locale_begin();
        FILE *trace_file = rank == 0 ? open_file(trace, "COLL_WATCH_TRACE") : NULL;
        FILE *picture_file = rank == 0 ? open_file(picture, "COLL_WATCH_SVG") : NULL;
        watch_timeline_svg drawing = {.file = picture_file};
        if (trace_file)
            fprintf(trace_file, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
        collect_calls(comm, rank, ranks, list, count, trace_file, &drawing);
        watch_timeline_svg_end(&drawing);
        if (trace_file)
            fprintf(trace_file, "\n]}\n");
        close_file(trace_file, trace, "COLL_WATCH_TRACE");
        close_file(picture_file, picture, "COLL_WATCH_SVG");
        coll_c_locale_end(before);
    }
    PMPI_Comm_free(&comm);
    free(list);
}

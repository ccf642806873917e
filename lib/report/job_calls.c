/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/job_calls.h"

#include "lib/base/comm.h"
#include "lib/base/ticks.h"
#include "lib/replay/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All ranks together keep at most MOST calls, but each rank may keep LEAST. */
enum { MOST = 1 << 18, LEAST = 64 };

/* A communicator, and its calls of which all ranks' parts are known. */
typedef struct known_comm {
    uint64_t id;
    coll_job_group group; /* the members that have calls here */
    int joined;           /* how many these are */
    uint64_t from, to;    /* the calls that all these members have kept: FROM to TO - 1 */
} known_comm;

typedef struct kept_call {
    int comm;
    uint64_t number;
    coll_recorded_call part;
} kept_call;

typedef struct kept_calls {
    size_t count;
    kept_call *of;
} kept_calls;

struct coll_job_calls {
    int ranks, comm_count;
    known_comm *comms;
    kept_calls *kept; /* of each rank */
};

coll_job_calls *coll_job_calls_make(int ranks) {
    coll_job_calls *all = calloc(1, sizeof *all);
    kept_calls *kept = calloc((size_t)ranks, sizeof *kept);
    if (!all || !kept) {
        free(all);
        free(kept);
        return NULL;
    }
    *all = (coll_job_calls){.ranks = ranks, .kept = kept};
    return all;
}

void coll_job_calls_free(coll_job_calls *all) {
    if (!all)
        return;
    for (int rank = 0; rank < all->ranks; rank++)
        free(all->kept[rank].of);
    for (int i = 0; i < all->comm_count; i++)
        free(all->comms[i].group.members);
    free(all->comms);
    free(all->kept);
    free(all);
}

/* Returns the index of the communicator of SERIES; -1 if out of memory. */
static int find_comm(coll_job_calls *all, const coll_job_series *series) {
    int i = 0;
    while (i < all->comm_count &&
           (all->comms[i].id != series->comm || all->comms[i].group.ranks != series->ranks))
        i++;
    if (i < all->comm_count)
        return i;
    known_comm *more = realloc(all->comms, (size_t)(i + 1) * sizeof *more);
    if (!more)
        return -1;
    all->comms = more;
    all->comms[i] = (known_comm){.id = series->comm,
                                 .group = {.ranks = (int)series->ranks,
                                           .members = calloc((size_t)series->ranks, sizeof(int))},
                                 .to = UINT64_MAX};
    if (!all->comms[i].group.members)
        return -1;
    all->comm_count++;
    return i;
}

bool coll_job_calls_add(coll_job_calls *all, int rank, size_t left, const coll_job_series *series,
                        const coll_recorded_call parts[]) {
    const size_t share = (size_t)(MOST / all->ranks > LEAST ? MOST / all->ranks : LEAST);
    kept_calls *own = &all->kept[rank];
    const int comm = find_comm(all, series);
    if (comm < 0)
        return false;
    const size_t room = (share - own->count) / left, given = (size_t)series->count,
                 count = given < room ? given : room;
    kept_call *more = realloc(own->of, (own->count + count + 1) * sizeof *more);
    if (!more)
        return false;
    own->of = more;
    known_comm *known = &all->comms[comm];
    const uint64_t end = series->first + given, from = end - count;
    known->joined++;
    known->group.members[series->place] = rank;
    known->from = from > known->from ? from : known->from;
    known->to = end < known->to ? end : known->to;
    for (size_t i = 0; i < count; i++) {
        const kept_call one = {comm, from + i, parts[given - count + i]};
        /* On other ranks the call may not have failed. */
        if (one.part.operation == COLL_RECORDED_FAILURE && known->from <= one.number)
            known->from = one.number + 1;
        own->of[own->count++] = one;
    }
    return true;
}

/* --- A record of these calls --- */

static bool is_known(const coll_job_calls *all, const kept_call *call) {
    const known_comm *comm = &all->comms[call->comm];
    return comm->joined == comm->group.ranks && call->number >= comm->from &&
           call->number < comm->to && call->part.row >= 0 &&
           !coll_operations[call->part.operation].neighbors &&
           call->part.operation != COLL_OPERATION_AGGREGATE;
}

static int by_entry(const void *a, const void *b) {
    const coll_recorded_call *one = &((const kept_call *)a)->part,
                             *other = &((const kept_call *)b)->part;
    return (one->entered > other->entered) - (one->entered < other->entered);
}

/*
 * Sets OWN to the known calls of RANK. The time before the first of them counts from START, in ns.
 */
static bool record_rank(const coll_job_calls *all, int rank, int64_t start, coll_job_rank *own) {
    kept_calls *kept = &all->kept[rank];
    own->calls = malloc((kept->count + 1) * sizeof *own->calls);
    if (!own->calls)
        return false;
    if (kept->count > 0)
        qsort(kept->of, kept->count, sizeof *kept->of, by_entry);
    for (size_t i = 0; i < kept->count; i++) {
        const coll_recorded_call *part = &kept->of[i].part;
        if (!is_known(all, &kept->of[i]))
            continue;
        own->calls[own->call_count++] =
            (coll_job_call){.operation = part->operation,
                            .comm = kept->of[i].comm,
                            .row = part->row,
                            .root = part->root,
                            .uneven = part->uneven,
                            .bytes = (size_t)part->bytes,
                            .before = 1e-9 * fmax(0, (double)(part->entered - start)),
                            .inside = 1e-9 * (double)(part->left - part->entered)};
        start = part->left;
    }
    return true;
}

/* Returns the time, in ns, at which the first known call began. */
static int64_t first_entry(const coll_job_calls *all) {
    int64_t first = INT64_MAX;
    for (int rank = 0; rank < all->ranks; rank++)
        for (size_t i = 0; i < all->kept[rank].count; i++)
            if (is_known(all, &all->kept[rank].of[i]) && all->kept[rank].of[i].part.entered < first)
                first = all->kept[rank].of[i].part.entered;
    return first;
}

/* Returns a record of the calls, which the caller frees; NULL if it can't be made. The record takes
 * the members of ALL's communicators. */
static COLL_Record *make_record(coll_job_calls *all) {
    const size_t comms = (size_t)all->comm_count + 1;
    COLL_Record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->ranks = all->ranks;
    record->of = calloc((size_t)all->ranks, sizeof *record->of);
    record->comm_groups = calloc(comms, sizeof *record->comm_groups);
    record->groups = calloc(comms, sizeof *record->groups);
    bool good = record->of && record->comm_groups && record->groups;
    for (int i = 0; i < all->comm_count && good; i++) {
        record->comm_groups[i] = i;
        record->groups[i] = all->comms[i].group;
        all->comms[i].group.members = NULL;
        record->comm_count = record->group_count = i + 1;
    }
    const int64_t start = good ? first_entry(all) : 0;
    for (int rank = 0; rank < all->ranks && good; rank++)
        good = record_rank(all, rank, start, &record->of[rank]);
    if (good && coll_job_unify(record) == MPI_SUCCESS)
        return record;
    COLL_Record_free(record);
    return NULL;
}

/* --- The replay --- */

enum { RAN, NATIVE, WAYS };

/* The replayed calls of a row of the report, as sums of all ranks: how many, the recorded and the
 * replayed seconds in them, and the seconds if all ranks entered each call at the same time. */
typedef struct row_times {
    double calls, recorded, seconds[WAYS], alone[WAYS];
} row_times;

typedef struct replay {
    coll_cluster cluster;
    const coll_report_row *rows;
    row_times *times;      /* of each row */
    double *now[WAYS];     /* of each rank: when it left its last call, s */
    double *starts, *ends; /* of the members of a group */
    double deadline;
} replay;

/* Returns the algorithm that ran CALL, according to ROW. */
static const coll_algorithm *algorithm_of(const coll_report_row *row, const coll_job_call *call) {
    const coll_algorithm *const *table = coll_operations[call->operation].table;
    for (int i = 0; table[i]; i++)
        if (strcmp(table[i]->name, row->algorithm) == 0)
            return table[i];
    return table[0];
}

static int replay_one_way(replay *of, int way, const coll_algorithm *algorithm,
                          const coll_job_group *group, coll_job_call *const calls[]) {
    coll_cluster_choice *choice = coll_cluster_choose(&of->cluster, group, calls[0], algorithm);
    if (!choice)
        return MPI_ERR_NO_MEM;
    const int code = coll_cluster_replay(choice, calls, of->now[way], of->starts, of->ends);
    const double alone = coll_cluster_time_alone(choice, calls[0]->bytes);
    for (int i = 0; i < group->ranks && code == MPI_SUCCESS; i++) {
        row_times *times = &of->times[calls[i]->row];
        times->seconds[way] += of->ends[i] - of->starts[i];
        times->alone[way] += alone;
    }
    return code;
}

/* Replays a call both ways, unless the time is over. */
static int replay_call(void *context, const coll_job_group *group, coll_job_call *const calls[]) {
    replay *of = context;
    const coll_operation_info *info = &coll_operations[calls[0]->operation];
    const coll_report_row *row = &of->rows[calls[0]->row];
    const coll_algorithm *ran = algorithm_of(row, calls[0]);
    if (coll_monotonic() > of->deadline)
        return MPI_SUCCESS;
    int code = replay_one_way(of, RAN, ran, group, calls);
    if (code == MPI_SUCCESS)
        code =
            replay_one_way(of, NATIVE, info->table[0]->native ? info->table[0] : ran, group, calls);
    for (int i = 0; i < group->ranks && code == MPI_SUCCESS; i++) {
        row_times *times = &of->times[calls[i]->row];
        times->calls++;
        times->recorded += calls[i]->inside;
    }
    return code;
}

/* Replays RECORD, and sets TIMES. */
static bool replay_record(const COLL_Record *record, double limit, const coll_topo *topo,
                          const coll_profile *profile, const coll_report_row rows[],
                          row_times times[]) {
    const size_t ranks = (size_t)record->ranks;
    double *memory = calloc((WAYS + 2) * ranks, sizeof *memory);
    if (!memory)
        return false;
    replay of = {.cluster = {.record = record, .topo = *topo, .profile = *profile},
                 .rows = rows,
                 .times = times,
                 .now = {memory, memory + ranks},
                 .starts = memory + 2 * ranks,
                 .ends = memory + 3 * ranks,
                 .deadline = coll_monotonic() + limit};
    const int code = coll_job_walk(record, replay_call, &of);
    of.cluster.topo = (coll_topo){.ranks = 0}; /* the caller's */
    coll_cluster_free(&of.cluster);
    free(memory);
    return code == MPI_SUCCESS;
}

/* The whole replay: how the two ways compare with what was recorded and estimated. */
typedef struct findings {
    double share; /* fraction of the replayed seconds that counts; below 1 if the calls took less */
    double kept;  /* fraction of the single calls' savings that is not lost by waiting */
} findings;

/* Returns the seconds that the calls of TIMES take longer with the MPI library's own algorithm. */
static double difference(const row_times *times) {
    return times->seconds[NATIVE] - times->seconds[RAN];
}

/* Returns the seconds that the calls of TIMES save if each is alone; less in proportion if the
 * calls took less than estimated. If they took more, the rest is waiting, which no algorithm
 * shortens. */
static double saved_alone(const row_times *times) {
    const double ran = times->alone[RAN], longer = times->alone[NATIVE] - ran;
    if (!isfinite(longer))
        return difference(times); /* there is no estimate of a call alone */
    return longer * (ran > 0 ? fmin(times->recorded / ran, 1) : 1);
}

/*
 * The fraction of the replay's loss by waiting that counts. Programs lose less than the replay
 * says, since there each rank computes as long as in the run, however long it has waited. They lose
 * more than nothing, since their ranks do wait for one another. What measured programs lost was
 * between the two, or nearly so (docs/report.md).
 */
static const double LOST = 0.5;

/* Returns the estimated seconds that the replayed calls of TIMES have saved: the savings of each
 * call alone, moved by the fraction LOST towards SHARE times the savings in the replay. */
static double saved_together(const row_times *times, double share) {
    const double alone = saved_alone(times);
    return alone + LOST * (share * difference(times) - alone);
}

static findings compare(int count, const row_times times[]) {
    double recorded = 0, ran = 0, together = 0, alone = 0;
    for (int i = 0; i < count; i++) {
        recorded += times[i].recorded;
        ran += times[i].seconds[RAN];
    }
    /* If the calls took longer than the replay says, the difference is waiting for something that
     * is not replayed. */
    const double share = ran > recorded ? recorded / ran : 1;
    for (int i = 0; i < count; i++) {
        together += saved_together(&times[i], share);
        alone += saved_alone(&times[i]);
    }
    return (findings){share, alone > 0 ? fmin(fmax(together / alone, 0), 1) : 1};
}

/* Returns SAVED, but at least minus the time of ROW's calls, since the MPI library's own algorithm
 * can't take less than 0 s. */
static double within_reason(const coll_report_row *row, double saved) {
    return fmax(saved, -row->inside);
}

/* Sets the savings of ROW, which has no estimate, to the difference between the two ways, scaled
 * from the replayed calls to all calls. */
static void take_difference(coll_report_row *row, const row_times *times, double share) {
    const double by = share * row->calls / times->calls,
                 middle = within_reason(row, by * difference(times)),
                 within = COLL_REPORT_PREDICTED_WITHIN * by *
                          (times->seconds[NATIVE] + times->seconds[RAN]);
    row->source = COLL_REPORT_ESTIMATED;
    row->estimated = row->calls;
    row->saved = (coll_report_range){middle - within, middle, middle + within};
}

/*
 * Replaces the savings of ROW, which are estimates of single calls. For the replayed calls they
 * become what these calls have saved together; of the estimate for the other calls, the fraction
 * FOUND->kept remains. The range keeps its width, except for a row of the MPI library's own calls,
 * whose range had no width and gets one.
 */
static void move_to_replay(coll_report_row *row, const row_times *times, const findings *found) {
    const double single = row->saved.middle, replayed = times->calls / row->calls,
                 whole =
                     saved_together(times, found->share) + (1 - replayed) * found->kept * single,
                 moved = within_reason(row, whole) - single,
                 within = row->source == COLL_REPORT_NATIVE
                              ? COLL_REPORT_PREDICTED_WITHIN * fabs(moved)
                              : 0;
    coll_report_range_add(&row->saved, &(coll_report_range){moved - within, moved, moved + within});
}

/*
 * Sets the savings of ROW from the replay, unless autotuning has measured them or DCPs ran the
 * calls.
 */
static void set_saved(coll_report_row *row, const row_times *times, const findings *found) {
    if (row->source == COLL_REPORT_MEASURED || row->source == COLL_REPORT_MIXED ||
        strcmp(row->algorithm, COLL_REPORT_DCP) == 0 || times->calls == 0)
        return;
    if (row->source == COLL_REPORT_UNKNOWN)
        take_difference(row, times, found->share);
    else
        move_to_replay(row, times, found);
}

bool coll_job_calls_replay(coll_job_calls *all, double limit, const coll_topo *topo,
                           const coll_profile *profile, int count, coll_report_row rows[]) {
    row_times *times = calloc((size_t)count + 1, sizeof *times);
    COLL_Record *record = times ? make_record(all) : NULL;
    const bool good = record && replay_record(record, limit, topo, profile, rows, times);
    const findings found = good ? compare(count, times) : (findings){0, 0};
    for (int i = 0; i < count && good; i++)
        set_saved(&rows[i], &times[i], &found);
    COLL_Record_free(record);
    free(times);
    return good;
}

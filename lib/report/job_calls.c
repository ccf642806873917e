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

/* The calls of a communicator, FROM to TO - 1, that every rank with calls on it has kept. */
typedef struct kept_range {
    int joined; /* how many ranks have sent calls on the communicator */
    int64_t from, to;
} kept_range;

struct coll_job_calls {
    bool incomplete;
    /* Until the replay, BEFORE and INSIDE of a call are the times, in ns, at which the rank entered
     * and left it, and NUMBER counts the calls on the communicator. Each communicator has a group
     * of its own. */
    COLL_Record *record;
    kept_range *kept; /* of each communicator */
};

coll_job_calls *coll_job_calls_make(int ranks) {
    coll_job_calls *all = calloc(1, sizeof *all);
    COLL_Record *record = calloc(1, sizeof *record);
    coll_job_rank *of = calloc((size_t)ranks, sizeof *of);
    if (!all || !record || !of) {
        free(all);
        free(record);
        free(of);
        return NULL;
    }
    *record = (COLL_Record){.ranks = ranks, .of = of};
    all->record = record;
    return all;
}

void coll_job_calls_free(coll_job_calls *all) {
    if (!all)
        return;
    COLL_Record_free(all->record);
    free(all->kept);
    free(all);
}

/* Returns the index of the communicator of SERIES, which is added if it is new; -1 if out of
 * memory. */
static int find_comm(coll_job_calls *all, const coll_job_series *series) {
    COLL_Record *record = all->record;
    int i = 0;
    while (i < record->comm_count &&
           (record->comms[i].id != series->comm || record->groups[i].ranks != series->ranks))
        i++;
    if (i < record->comm_count)
        return i;
    const size_t count = (size_t)i;
    coll_job_comm *comm = coll_job_add_element((void **)&record->comms, count, sizeof *comm);
    coll_job_group *group = coll_job_add_element((void **)&record->groups, count, sizeof *group);
    kept_range *kept = coll_job_add_element((void **)&all->kept, count, sizeof *kept);
    int *members = calloc((size_t)series->ranks, sizeof *members);
    if (!comm || !group || !kept || !members) {
        free(members);
        return -1;
    }
    *comm = (coll_job_comm){.id = series->comm, .group = i};
    *group = (coll_job_group){.ranks = (int)series->ranks, .members = members};
    *kept = (kept_range){.to = INT64_MAX};
    record->comm_count = record->group_count = i + 1;
    return i;
}

bool coll_job_calls_add(coll_job_calls *all, int rank, size_t left, const coll_job_series *series,
                        const coll_recorded_call parts[]) {
    const int ranks = all->record->ranks;
    const size_t share = (size_t)(MOST / ranks > LEAST ? MOST / ranks : LEAST);
    coll_job_rank *own = &all->record->of[rank];
    const int comm = find_comm(all, series);
    if (comm < 0) {
        all->incomplete = true;
        return false;
    }
    kept_range *kept = &all->kept[comm];
    const int64_t room = (int64_t)((share - own->call_count) / left),
                  count = series->count < room ? series->count : room,
                  end = (int64_t)series->first + series->count, from = end - count;
    kept->joined++;
    all->record->groups[comm].members[series->place] = rank;
    kept->from = from > kept->from ? from : kept->from;
    kept->to = end < kept->to ? end : kept->to;
    for (int64_t number = from; number < end; number++) {
        const coll_recorded_call *part = &parts[series->count - (end - number)];
        coll_job_call *call =
            coll_job_add_element((void **)&own->calls, own->call_count, sizeof *call);
        if (!call) {
            all->incomplete = true;
            return false;
        }
        *call = (coll_job_call){.operation = part->operation,
                                .comm = comm,
                                .number = number,
                                .row = part->row,
                                .root = part->root,
                                .uneven = part->uneven,
                                .bytes = (size_t)part->bytes,
                                .before = (double)part->entered,
                                .inside = (double)part->left};
        own->call_count++;
        /* On other ranks the call may not have failed, so neither it nor earlier calls are
         * replayed. */
        if (part->operation == COLL_RECORDED_FAILURE && kept->from <= number)
            kept->from = number + 1;
    }
    return true;
}

/* --- The replay --- */

static bool is_known(const coll_job_calls *all, const coll_job_call *call) {
    const kept_range *kept = &all->kept[call->comm];
    return kept->joined == coll_job_group_of(all->record, call)->ranks &&
           call->number >= kept->from && call->number < kept->to && call->row >= 0 &&
           !coll_operations[call->operation].neighbors &&
           call->operation != COLL_OPERATION_AGGREGATE;
}

static int by_entry(const void *a, const void *b) {
    const coll_job_call *one = a, *other = b;
    return (one->before > other->before) - (one->before < other->before);
}

/* Leaves only the known calls in the record, in their order, and converts their times. Returns
 * false if the ranks' calls do not match, or if out of memory. */
static bool complete_record(coll_job_calls *all) {
    COLL_Record *record = all->record;
    double start = INFINITY; /* ns: when a rank entered the first known call */
    for (coll_job_rank *own = record->of; own < record->of + record->ranks; own++) {
        size_t known = 0;
        for (size_t i = 0; i < own->call_count; i++)
            if (is_known(all, &own->calls[i]))
                own->calls[known++] = own->calls[i];
        own->call_count = known;
        if (known > 0) {
            qsort(own->calls, known, sizeof *own->calls, by_entry);
            start = fmin(start, own->calls->before);
        }
    }
    for (coll_job_rank *own = record->of; own < record->of + record->ranks; own++) {
        double now = start;
        for (size_t i = 0; i < own->call_count; i++) {
            coll_job_call *call = &own->calls[i];
            const double entered = call->before, left = call->inside;
            call->before = 1e-9 * fmax(0, entered - now);
            call->inside = 1e-9 * (left - entered);
            now = left;
        }
    }
    return coll_job_unify(record) == MPI_SUCCESS;
}

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

/* Returns the seconds that the calls of TIMES save if all ranks enter each call at the same time;
 * less in proportion if the calls took less than estimated. If they took more, the rest is waiting,
 * which no algorithm shortens. */
static double saved_alone(const row_times *times) {
    const double ran = times->alone[RAN], longer = times->alone[NATIVE] - ran;
    if (!isfinite(longer))
        return difference(times); /* there is no estimate of a call alone */
    return longer * (ran > 0 ? fmin(times->recorded / ran, 1) : 1);
}

/*
 * In the replay, ranks lose a part of the savings of single calls by waiting for one another. This
 * fraction of that loss counts. Programs lose less than the replay says, since in the replay each
 * rank computes as long as in the run, however long it has waited. They lose more than nothing,
 * since their ranks do wait for one another. What measured programs lost was between the two, or
 * nearly so (docs/report.md).
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
 * Sets the savings of ROW from the replay, unless autotuning has measured some of them or DCPs ran
 * the calls.
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
    const bool good = times && !all->incomplete && complete_record(all) &&
                      replay_record(all->record, limit, topo, profile, rows, times);
    const findings found = good ? compare(count, times) : (findings){0, 0};
    for (int i = 0; i < count && good; i++)
        set_saved(&rows[i], &times[i], &found);
    free(times);
    return good;
}

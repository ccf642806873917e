/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates the time of a recorded job on a cluster (COLL_Replay). */
#include "config.h"

#include "lib/base/error.h"
#include "lib/replay/cluster.h"
#include "lib/tuning/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDED, LIBCOLL, NATIVE, WAYS };

/* A replay under way. */
typedef struct replay {
    coll_cluster cluster;
    double *now[WAYS]; /* of each rank: when it left its last call, s */
    double *starts, *ends;
    COLL_Replay_row *rows;
    int row_count;
    COLL_Replay_sum *sum;
} replay;

/* Returns the row for calls like CALL, or NULL if there are too many rows. */
static COLL_Replay_row *find_row(replay *of, const coll_job_call *call) {
    const char *name = coll_operations[call->operation].name;
    const size_t bytes = call->bytes ? coll_class_bytes(coll_size_class(call->bytes)) : 0;
    int i = 0;
    while (i < of->row_count && (of->rows[i].operation != name || of->rows[i].bytes != bytes))
        i++;
    if (i == COLL_REPLAY_ROWS)
        return NULL;
    if (i == of->row_count)
        of->rows[of->row_count++] = (COLL_Replay_row){.operation = name, .bytes = bytes};
    return &of->rows[i];
}

/* Adds CALLS, one for each member of GROUP, to all times: as recorded, with libcoll's choice, and
 * with the MPI library's own algorithm. */
static int replay_call(void *context, const coll_job_group *group, coll_job_call *const calls[]) {
    replay *of = context;
    COLL_Replay_row *row = find_row(of, calls[0]);
    const coll_algorithm *native = coll_operations[calls[0]->operation].table[0];
    coll_cluster_choice *choices[WAYS] = {
        [LIBCOLL] = coll_cluster_choose(&of->cluster, group, calls[0], NULL),
        [NATIVE] = coll_cluster_choose(&of->cluster, group, calls[0], native)};
    const coll_cluster_choice *own = choices[LIBCOLL];
    double seconds[WAYS] = {0}; /* the sum of the members, divided by the ranks of the job */
    int code = MPI_SUCCESS;
    if (!own || !choices[NATIVE])
        return coll_error(MPI_ERR_NO_MEM, "no memory to choose algorithms");
    for (int i = 0; i < group->ranks; i++) {
        seconds[RECORDED] += calls[i]->inside / of->cluster.record->ranks;
        of->now[RECORDED][group->members[i]] += calls[i]->before + calls[i]->inside;
    }
    for (int way = LIBCOLL; way < WAYS && code == MPI_SUCCESS; way++) {
        code = coll_cluster_replay(choices[way], calls, of->now[way], of->starts, of->ends);
        for (int i = 0; i < group->ranks; i++)
            seconds[way] += (of->ends[i] - of->starts[i]) / of->cluster.record->ranks;
    }
    for (int way = 0; way < WAYS; way++)
        of->sum->collectives[way] += seconds[way];
    if (code != MPI_SUCCESS || !row)
        return code;
    const char *name = own->algorithm ? own->algorithm->name : "native";
    if (row->calls > 0 && strcmp(row->algorithm, name) != 0)
        name = "several";
    snprintf(row->algorithm, sizeof row->algorithm, "%s", name);
    row->calls++;
    row->recorded += seconds[RECORDED];
    row->libcoll += seconds[LIBCOLL];
    row->native += seconds[NATIVE];
    return MPI_SUCCESS;
}

static int by_time(const void *a, const void *b) {
    const COLL_Replay_row *x = a, *y = b;
    const double one = fmax(x->libcoll, x->native), other = fmax(y->libcoll, y->native);
    return (one < other) - (one > other);
}

/* Sums up the results after all calls. */
static void finish_sum(replay *of) {
    const COLL_Record *record = of->cluster.record;
    COLL_Replay_sum *sum = of->sum;
    for (int rank = 0; rank < record->ranks; rank++) {
        const coll_job_rank *own = &record->of[rank];
        for (int way = 0; way < WAYS; way++)
            sum->run[way] = fmax(sum->run[way], of->now[way][rank] + own->after);
        for (size_t i = 0; i < own->sent_count; i++)
            sum->sent += own->sent[i].bytes;
        sum->skipped += own->skipped;
    }
    sum->ranks = record->ranks;
    sum->hosts = of->cluster.topo.nodes;
    sum->racks = of->cluster.topo.racks;
    sum->sites = of->cluster.topo.sites;
    snprintf(sum->profile, sizeof sum->profile, "%s", of->cluster.profile.source);
    qsort(of->rows, (size_t)of->row_count, sizeof *of->rows, by_time);
}

int COLL_Replay(const COLL_Record *record, const COLL_Cluster *cluster, COLL_Replay_row rows[],
                int *count, COLL_Replay_sum *sum) {
    const size_t ranks = (size_t)record->ranks;
    double *memory = calloc((WAYS + 2) * ranks, sizeof *memory);
    replay of = {.rows = rows, .sum = sum, .starts = memory, .ends = memory + ranks};
    if (!memory)
        return coll_error(MPI_ERR_NO_MEM, "no memory to replay %zu ranks", ranks);
    for (int way = 0; way < WAYS; way++)
        of.now[way] = memory + (size_t)(2 + way) * ranks;
    *sum = (COLL_Replay_sum){0};
    int code = coll_cluster_make(record, cluster, &of.cluster);
    if (code == MPI_SUCCESS)
        code = coll_job_walk(record, replay_call, &of);
    if (code == MPI_SUCCESS) {
        finish_sum(&of);
        *count = of.row_count;
    }
    coll_cluster_free(&of.cluster);
    free(memory);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/check.h"

#include "lib/base/abort.h"
#include "watch/calls.h"
#include "watch/diagnosis.h"
#include "watch/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD = 16 };

/* The smallest and the largest value of a number over all ranks that have this number. Both must be
 * equal. */
typedef struct bounds {
    uint64_t least, most;
} bounds;

/*
 * What the ranks compare, using an allreduce. This allreduce also completes small allreduces and
 * barriers: their data is part of the message, so the comparison costs hardly more than the call
 * itself.
 */
typedef struct comparison {
    bounds call, bytes, sort;
    unsigned char payload[PAYLOAD];
} comparison;

bool watch_checks;

static MPI_Datatype comparison_type = MPI_DATATYPE_NULL;
static MPI_Op compare = MPI_OP_NULL;
/* the call whose data is part of the comparison, or NULL */
static _Thread_local const watch_call *payload_call;

static void merge_bounds(const bounds *in, bounds *into) {
    into->least = in->least < into->least ? in->least : into->least;
    into->most = in->most > into->most ? in->most : into->most;
}

static bounds bounds_of(bool has, uint64_t number) {
    return has ? (bounds){number, number} : (bounds){UINT64_MAX, 0};
}

static bool is_single_value(const bounds *range) {
    return range->least >= range->most;
}

static bool all_agree(const comparison *all) {
    return is_single_value(&all->call) && is_single_value(&all->bytes) &&
           is_single_value(&all->sort);
}

static void combine_comparisons(void *in, void *into, int *length, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *length; i++) {
        const comparison *one = (const comparison *)in + i;
        comparison *all = (comparison *)into + i;
        merge_bounds(&one->call, &all->call);
        merge_bounds(&one->bytes, &all->bytes);
        merge_bounds(&one->sort, &all->sort);
        if (payload_call && all_agree(all))
            PMPI_Reduce_local(one->payload, all->payload, payload_call->count, payload_call->type,
                              payload_call->op);
    }
}

static int create_type_and_op(void) {
    int code = PMPI_Type_contiguous(sizeof(comparison), MPI_BYTE, &comparison_type);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_commit(&comparison_type);
    if (code == MPI_SUCCESS)
        code = PMPI_Op_create(combine_comparisons, 1, &compare);
    return code;
}

void watch_check_prepare(MPI_Comm comm, watch_comm *place) {
    int inter = 0, all_ready = 0;
    if (!comm || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        inter)
        return;
    int ready = place && (compare != MPI_OP_NULL || create_type_and_op() == MPI_SUCCESS);
    /* MPI_Comm_dup would call the copy functions of the program's attributes. */
    if (PMPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all_ready)
        PMPI_Comm_split(comm, 0, place->info.rank, &place->checking);
}

void watch_check_release(watch_comm *comm) {
    if (comm && comm->checking != MPI_COMM_NULL)
        PMPI_Comm_free(&comm->checking);
}

/* --- Reporting a mismatch --- */

/* Prints the diagnosis. STATES has one record of each rank of COMM. */
static void print_mismatch(const watch_state states[], int ranks, const watch_comm *comm) {
    watch_diagnosis *diagnosis = malloc(sizeof *diagnosis);
    if (diagnosis && watch_diagnose(states, ranks, UINT64_MAX, diagnosis) && diagnosis->count > 0)
        fprintf(stderr, "coll: watch: %s%s\n", diagnosis->findings[0].text,
                comm->info.id == WATCH_WORLD ? "" : " (ranks of this communicator)");
    else
        fprintf(stderr, "coll: watch: the ranks of a communicator make different calls\n");
    free(diagnosis);
}

/*
 * Exchanges the records of all ranks and prints the diagnosis on one rank. Collective over COMM.
 */
static int report_mismatch(const watch_comm *comm, const watch_record *record) {
    int ranks = comm->info.size;
    watch_record mine = *record, *records = calloc((size_t)ranks, sizeof *records);
    watch_state *states = calloc((size_t)ranks, sizeof *states);
    watch_comm_info info = comm->info;
    mine.open = 1;
    info.calls = record->number;
    int code = records && states ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, records, sizeof mine, MPI_BYTE,
                              comm->checking);
    for (int i = 0; i < ranks && code == MPI_SUCCESS; i++)
        states[i] = (watch_state){
            .head = {.rank = i, .records = 1, .comms = 1}, .records = &records[i], .comms = &info};
    if (code == MPI_SUCCESS && comm->info.rank == 0)
        print_mismatch(states, ranks, comm);
    /* The error that follows may end the job: wait until the diagnosis is printed. */
    if (code == MPI_SUCCESS)
        code = PMPI_Barrier(comm->checking);
    free(records);
    free(states);
    return code;
}

/* --- Comparing --- */

/*
 * Returns whether the comparison can also compute the result of CALL. All ranks whose calls agree
 * get the same answer.
 */
static bool can_carry_data(const watch_call *call) {
    bool is_dense = call->op != MPI_MAXLOC && call->op != MPI_MINLOC;
    return call->recvbuf && call->record->op && is_dense &&
           watch_signature_sort(&call->record->data) && call->record->data.bytes <= PAYLOAD;
}

int watch_check(watch_call *call) {
    const watch_comm *comm = call->place;
    const watch_record *record = call->record;
    const watch_call_kind *kind = &watch_calls[record->call];
    if (!comm || comm->checking == MPI_COMM_NULL)
        return MPI_SUCCESS;
    uint64_t what = watch_mix(record->call, kind->rooted ? (uint64_t)(uint32_t)record->peer : 0);
    uint32_t sort = watch_signature_sort(&record->data);
    comparison own = {.call = bounds_of(true, watch_mix(what, kind->reduces ? record->op : 0)),
                      .bytes =
                          bounds_of(watch_signature_has_size(&record->data), record->data.bytes),
                      .sort = bounds_of(sort != 0, sort)};
    comparison all;
    bool carries_data = can_carry_data(call);
    if (carries_data)
        memcpy(own.payload, call->sendbuf == MPI_IN_PLACE ? call->recvbuf : call->sendbuf,
               record->data.bytes);
    payload_call = carries_data ? call : NULL;
    int code = PMPI_Allreduce(&own, &all, 1, comparison_type, compare, comm->checking);
    payload_call = NULL;
    if (code != MPI_SUCCESS)
        return code;
    if (!all_agree(&all)) {
        code = report_mismatch(comm, record);
        if (code != MPI_SUCCESS)
            return code;
        watch_inside = false; /* MPI calls in the program's error handler are the program's own */
        coll_abort_by_handler(call->comm, MPI_ERR_ARG);
        watch_inside = true;
        return MPI_ERR_ARG;
    }
    if (carries_data)
        memcpy(call->recvbuf, all.payload, record->data.bytes);
    call->done = carries_data || strcmp(watch_calls[call->id].name, "MPI_Barrier") == 0;
    return MPI_SUCCESS;
}

#include "config.h"

#include "watch/check.h"

#include "watch/calls.h"
#include "watch/diagnosis.h"
#include "watch/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CARGO = 16 };

/* A number of which all ranks must have the same, but for those that have none. */
typedef struct poll {
    uint64_t least, most;
} poll;

/*
 * What ranks compare, by an allreduce. Small allreduces and barriers are done with it: the data
 * ride along, so that the comparison costs them hardly more than the call itself.
 */
typedef struct ballot {
    poll call, bytes, sort;
    unsigned char cargo[CARGO];
} ballot;

bool watch_checks;

static MPI_Datatype ballot_type = MPI_DATATYPE_NULL;
static MPI_Op compare = MPI_OP_NULL;
static _Thread_local const watch_call *riding; /* whose data ride along, or NULL */

static void count(const poll *in, poll *into) {
    into->least = in->least < into->least ? in->least : into->least;
    into->most = in->most > into->most ? in->most : into->most;
}

static poll vote(bool has, uint64_t number) {
    return has ? (poll){number, number} : (poll){UINT64_MAX, 0};
}

static bool is_unanimous(const poll *votes) {
    return votes->least >= votes->most;
}

static bool agrees(const ballot *all) {
    return is_unanimous(&all->call) && is_unanimous(&all->bytes) && is_unanimous(&all->sort);
}

static void combine(void *in, void *into, int *length, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *length; i++) {
        const ballot *one = (const ballot *)in + i;
        ballot *all = (ballot *)into + i;
        count(&one->call, &all->call);
        count(&one->bytes, &all->bytes);
        count(&one->sort, &all->sort);
        if (riding && agrees(all))
            PMPI_Reduce_local(one->cargo, all->cargo, riding->count, riding->type, riding->op);
    }
}

static int begin(void) {
    int code = PMPI_Type_contiguous(sizeof(ballot), MPI_BYTE, &ballot_type);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_commit(&ballot_type);
    if (code == MPI_SUCCESS)
        code = PMPI_Op_create(combine, 1, &compare);
    return code;
}

int watch_check_prepare(watch_comm *comm) {
    if (!comm || comm->info.inter)
        return MPI_SUCCESS;
    int code = compare == MPI_OP_NULL ? begin() : MPI_SUCCESS;
    /* A duplicate would copy the program's attributes, which it would see. */
    return code == MPI_SUCCESS ? PMPI_Comm_split(comm->handle, 0, comm->info.rank, &comm->checking)
                               : code;
}

void watch_check_release(watch_comm *comm) {
    if (comm && comm->checking != MPI_COMM_NULL)
        PMPI_Comm_free(&comm->checking);
}

/* --- Who calls what --- */

/* One rank says it, by what all have told one another: STATES has one record each. */
static void say(const watch_state states[], int ranks, const watch_comm *comm) {
    watch_diagnosis *diagnosis = malloc(sizeof *diagnosis);
    if (diagnosis && watch_diagnose(states, ranks, UINT64_MAX, diagnosis) && diagnosis->count > 0)
        fprintf(stderr, "coll: watch: %s%s\n", diagnosis->findings[0].text,
                comm->info.id == WATCH_WORLD ? "" : " (by its own ranks)");
    else
        fprintf(stderr, "coll: watch: the ranks of a communicator make different calls\n");
    free(diagnosis);
}

/* Collective: all ranks know that they differ. */
static int tell(const watch_comm *comm, const watch_record *record) {
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
        say(states, ranks, comm);
    /* An error may end the job: not before it is said why. */
    if (code == MPI_SUCCESS)
        code = PMPI_Barrier(comm->checking);
    free(records);
    free(states);
    return code;
}

/* --- Comparing --- */

static bool is_barrier(const watch_call *call) {
    return strcmp(watch_calls[call->id].name, "MPI_Barrier") == 0;
}

/* Whether the result of CALL can come with the comparison; the same on all ranks that agree. */
static bool can_ride(const watch_call *call) {
    bool is_dense = call->op != MPI_MAXLOC && call->op != MPI_MINLOC;
    return call->recvbuf && call->record->op && is_dense &&
           watch_signature_sort(&call->record->data) && call->record->data.bytes <= CARGO;
}

int watch_check(watch_call *call) {
    const watch_comm *comm = call->place;
    const watch_record *record = call->record;
    const watch_call_kind *kind = &watch_calls[record->call];
    if (!comm || comm->checking == MPI_COMM_NULL)
        return MPI_SUCCESS;
    uint64_t what = watch_mix(record->call, kind->rooted ? (uint64_t)(uint32_t)record->peer : 0);
    uint32_t sort = watch_signature_sort(&record->data);
    ballot own = {.call = vote(true, watch_mix(what, kind->reduces ? record->op : 0)),
                  .bytes = vote(watch_signature_has_size(&record->data), record->data.bytes),
                  .sort = vote(sort != 0, sort)};
    ballot all;
    bool rides = can_ride(call);
    if (rides)
        memcpy(own.cargo, call->sendbuf == MPI_IN_PLACE ? call->recvbuf : call->sendbuf,
               record->data.bytes);
    riding = rides ? call : NULL;
    int code = PMPI_Allreduce(&own, &all, 1, ballot_type, compare, comm->checking);
    riding = NULL;
    if (code != MPI_SUCCESS)
        return code;
    if (!agrees(&all)) {
        code = tell(comm, record);
        if (code != MPI_SUCCESS)
            return code;
        watch_inside = false; /* what the handler calls is the program's */
        PMPI_Comm_call_errhandler(call->comm, MPI_ERR_ARG);
        watch_inside = true;
        return MPI_ERR_ARG;
    }
    if (rides)
        memcpy(call->recvbuf, all.cargo, record->data.bytes);
    call->done = rides || is_barrier(call);
    return MPI_SUCCESS;
}

#include "config.h"

#include "lib/gather/intake.h"

#include "lib/algorithm/line.h"
#include "lib/schedule/plan.h"

enum { REQUESTS = COLL_SUPPLY_REQUESTS };

void coll_supply_open(coll_supply *supply, const coll_gather_call *call, const coll_credit *credit,
                      void *memory) {
    size_t bytes = call->mine->bytes;
    int place = coll_line_of(call->comm, call->shape)->position - 1;
    *supply = (coll_supply){.call = call,
                            .segment = coll_least(credit->segment, bytes),
                            .unasked = coll_intake_unasked(call, credit, place, bytes),
                            .grant = memory};
    if (!coll_data_in_place(call->mine))
        supply->memory = (char *)(supply->grant + 1);
    for (int i = 0; i < REQUESTS; i++) {
        supply->requests[i] = MPI_REQUEST_NULL;
        supply->peers[i] = call->root;
    }
}

static int await_grant(coll_supply *s) {
    if (s->allowed == s->call->mine->bytes)
        return MPI_SUCCESS;
    s->active++;
    return PMPI_Irecv(s->grant, 1, MPI_UINT64_T, s->call->root, COLL_TAG_GRANT,
                      s->call->comm->private, &s->requests[0]);
}

/* Sends the next segment by request I. */
static int send_segment(coll_supply *s, int i) {
    const coll_data *data = s->call->mine;
    size_t length = coll_least(data->bytes - s->sent, s->segment);
    char *segment = s->memory ? s->memory + (size_t)(i - 1) * s->segment : NULL;
    const void *bytes = coll_data_read(data, s->sent, length, segment);
    s->sent += length;
    s->active++;
    return PMPI_Isend(bytes, (int)length, MPI_BYTE, s->call->root, COLL_TAG_GATHER,
                      s->call->comm->private, &s->requests[i]);
}

static int send_allowed(coll_supply *s) {
    int code = MPI_SUCCESS;
    for (int i = 1; i < REQUESTS && s->sent < s->allowed && code == MPI_SUCCESS; i++)
        if (s->requests[i] == MPI_REQUEST_NULL)
            code = send_segment(s, i);
    return code;
}

int coll_supply_start(coll_supply *supply) {
    supply->sent = 0;
    supply->allowed = supply->unasked;
    int code = await_grant(supply);
    return code == MPI_SUCCESS ? send_allowed(supply) : code;
}

/* COUNT requests are complete. */
static int take(coll_supply *s, int count) {
    int code = MPI_SUCCESS;
    s->active -= count;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        if (s->completed[i] == 0) {
            s->allowed = (size_t)*s->grant;
            code = await_grant(s);
        }
    return code == MPI_SUCCESS ? send_allowed(s) : code;
}

int coll_supply_advance(coll_supply *supply, bool *moved) {
    int count = 0;
    if (supply->active == 0)
        return MPI_SUCCESS;
    int code =
        PMPI_Testsome(REQUESTS, supply->requests, &count, supply->completed, supply->statuses);
    if (code != MPI_SUCCESS)
        return coll_wait_error(code, count, supply->statuses);
    *moved = *moved || count > 0;
    return take(supply, count);
}

int coll_supply_finish(coll_supply *supply) {
    int code = MPI_SUCCESS;
    while (supply->active > 0 && code == MPI_SUCCESS) {
        int count;
        code = coll_wait_some(&supply->call->comm->wait, REQUESTS, supply->requests, supply->peers,
                              &count, supply->completed, supply->statuses);
        if (code == MPI_SUCCESS)
            code = take(supply, count);
    }
    return code;
}

void coll_supply_abandon(coll_supply *supply) {
    coll_wait_abandon(REQUESTS, supply->requests);
    supply->active = 0;
}
